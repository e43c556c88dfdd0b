// Gather for arrays anywhere: what the device cannot reach is pinned or copied, for one call.
// Build: make libgather.so
// Run:   ./gather_c, or from Python: see gather.pyx
#include "check.h"
#include <string.h>

#pragma GCC visibility push(default)
#include "gather.cuh"
#pragma GCC visibility pop
#include "gather_launch.cuh"

#define TRY(call) CHECK_GOTO(error, call, cleanup)
#define NO_BAD_INDEX (~0ull)           // larger than any position
#define LEAST_BYTES ((size_t)64 << 20) // of a source that the device has no room for, at a time

// Gathers from a part of the source, elements first to first + count - 1. d_job: the job with the
// addresses at which the device reaches the arrays. An index or result that it does not reach is NULL
// there, and goes through the scratch memory, a chunk at a time: while the device works on one chunk, the
// results of the last one and the indices of the next one are copied.
static int gather_part(const gather_job *job, const gather_job *d_job, bool over_bus, size_t first,
                       size_t count, unsigned long long *first_bad)
{
    size_t in = job->index_bytes, out = job->element_bytes;
    const char *index = (const char *)job->index, *d_index = (const char *)d_job->index;
    char *result = (char *)job->result, *d_result = (char *)d_job->result;
    size_t size = d_index && d_result ? job->N : GATHER_CHUNK;
    for (size_t k = 0, last_start = 0;; k++) {
        Scratch *next = gather_scratch[k % 2], *last = gather_scratch[(k + 1) % 2];
        size_t start = k * size < job->N ? k * size : job->N;
        gather_job chunk = *d_job;
        chunk.N = job->N - start < size ? job->N - start : size; // 0 after the last chunk
        chunk.index = d_index ? d_index + start * in : (char *)next->index;
        chunk.result = d_result ? d_result + start * out : (char *)next->result;
        if (!d_index)
            memcpy(next->index, index + start * in, chunk.N * in);
        if (!d_result && first > 0) // what comes from earlier parts is there already
            memcpy(next->result, result + start * out, chunk.N * out);
        if (k > 0) {
            int error = cudaStreamSynchronize((cudaStream_t)job->stream);
            if (error != cudaSuccess)
                return error;
            if (last->first_bad != NO_BAD_INDEX) {
                *first_bad = last_start + last->first_bad;
                return cudaSuccess;
            }
        }
        if (chunk.N > 0) {
            next->first_bad = NO_BAD_INDEX;
            int error = gather_launch_part(&chunk, first, count, over_bus, &next->first_bad);
            if (error != cudaSuccess)
                return error;
        }
        if (k > 0 && !d_result)
            memcpy(result + last_start * out, last->result, (start - last_start) * out);
        if (chunk.N == 0)
            return cudaSuccess;
        last_start = start;
    }
}

// Uploads a source that the device cannot reach, and gathers: all at once, or in as many parts as it
// takes if the device has no room for it. *d_source: what is to be freed.
static int upload_and_gather(const gather_job *job, gather_job *d_job, bool over_bus,
                             void **d_source, unsigned long long *first_bad)
{
    cudaStream_t stream = (cudaStream_t)job->stream;
    const char *source = (const char *)job->source;
    size_t bytes = job->element_bytes, most = job->M;
    int error = gather_allocate(d_source, most * bytes, stream);
    while (error == cudaErrorMemoryAllocation && most > LEAST_BYTES / bytes) {
        cudaGetLastError();
        most /= 2;
        error = gather_allocate(d_source, most * bytes, stream);
    }
    d_job->source = *d_source;
    for (size_t first = 0; first < job->M && !error && *first_bad == NO_BAD_INDEX; first += most) {
        size_t count = job->M - first < most ? job->M - first : most;
        error = cudaMemcpyAsync(*d_source, source + first * bytes, count * bytes,
                                cudaMemcpyHostToDevice, stream);
        if (error == cudaSuccess)
            error = gather_part(job, d_job, over_bus, first, count, first_bad);
    }
    return error;
}

extern "C" int gather(const gather_job *job, size_t *first_bad)
{
    unsigned long long bad = NO_BAD_INDEX;
    gather_job d_job = *job; // with addresses for the device
    bool on_host, index_on_host, result_on_host, over_bus;
    cudaStream_t stream = (cudaStream_t)job->stream;
    void *d_index, *d_source, *d_result = NULL, *uploaded = NULL, *pinned = NULL;
    void *source = (void *)job->source;
    size_t bytes = job->M * job->element_bytes, result_bytes = job->N * job->element_bytes;
    int devices;

    if (job->N == 0)
        return cudaSuccess;
    if (!gather_is_valid(job) || !first_bad)
        return cudaErrorInvalidValue;
    int error = gather_check_process();
    if (error != cudaSuccess)
        return error;
    // One call at a time: while a source is pinned for one, another must not rely on that.
    std::lock_guard<std::mutex> locked(gather_lock);

    // A stream of another device: it would run the kernel there, where these arrays are not.
    TRY(cudaGetDeviceCount(&devices));
    if (devices > 1 && stream)
        TRY(gather_wait_for(stream, stream)); // then error 400, invalid resource handle
    TRY(gather_make_scratch());
    TRY(gather_reach(job->index, job->N * job->index_bytes, &d_index, &index_on_host));
    TRY(gather_reach(job->result, result_bytes, &d_job.result, &result_on_host));
    TRY(gather_reach(source, bytes, &d_source, &on_host));
    over_bus = index_on_host || result_on_host; // the source does not count: its reads are random
    d_job.index = d_index;

    // A bad index in a later chunk: then the result must not have been written. (Of one chunk it is not.)
    if (!d_job.result && job->keep_result && job->mode == GATHER_RAISE && job->N > GATHER_CHUNK) {
        TRY(gather_allocate(&d_result, result_bytes, stream));
        d_job.result = d_result;
    }

    // Few indices: the kernel reads the source where it is, which takes pinning it for this call. Many:
    // all of it goes to the device. On an H200 the two take equally long at about one index for
    // every 20 bytes of source (against_N in bench.json).
    if (!d_source && job->N < bytes / 20) {
        if (cudaHostRegister(source, bytes, cudaHostRegisterDefault) == cudaSuccess) {
            pinned = source;
            TRY(gather_reach(source, bytes, &d_source, &on_host));
        }
        cudaGetLastError(); // what cannot be pinned, as a read-only file, is uploaded
    }
    d_job.source = d_source;
    if (d_source)
        TRY(gather_part(job, &d_job, over_bus, 0, job->M, &bad));
    else
        TRY(upload_and_gather(job, &d_job, over_bus, &uploaded, &bad));
    if (d_result && bad == NO_BAD_INDEX) {
        TRY(cudaMemcpyAsync(job->result, d_result, result_bytes, cudaMemcpyDeviceToHost, stream));
        TRY(cudaStreamSynchronize(stream));
    }

cleanup:
    if (error != cudaSuccess)
        cudaStreamSynchronize(stream); // before the memory goes that is in use
    for (void *memory : {d_result, uploaded})
        if (memory && cudaFreeAsync(memory, stream) != cudaSuccess)
            cudaFree(memory); // no pools, or the stream is not one: this waits for the device
    if (pinned)
        cudaHostUnregister(pinned);
    if (error != cudaSuccess) {
        cudaGetLastError(); // the return value tells it: it is not left for somebody else to find
        return error;
    }
    if (bad == NO_BAD_INDEX)
        return cudaSuccess;
    *first_bad = (size_t)bad;
    return -1;
}
