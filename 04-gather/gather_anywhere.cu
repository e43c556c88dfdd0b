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
#define WHOLE_BYTES ((size_t)64 << 20) // a source of so many bytes is not divided

// Gathers from one part of the source, elements first to first + count - 1. job: the caller's addresses,
// for the CPU. d_job: those for the kernel; NULL for an index or a result that it cannot reach. Such an
// index or result goes through the scratch memory, a chunk of the indices at a time. Turn k launches chunk
// k and finishes chunk k - 1, so that the CPU copies one while the device works on the other.
static int gather_part(const gather_job *job, const gather_job *d_job, bool over_bus, size_t first,
                       size_t count, unsigned long long *first_bad)
{
    size_t index_bytes = job->index_bytes, element_bytes = job->element_bytes;
    const char *index = (const char *)job->index, *d_index = (const char *)d_job->index;
    char *result = (char *)job->result, *d_result = (char *)d_job->result;
    // Nothing goes through the scratch memory (but the position of a bad index): one launch for all.
    size_t size = d_index && d_result ? job->N : GATHER_CHUNK;
    for (size_t k = 0, start = 0, before = 0;; k++) {
        Scratch *mine = gather_scratch[k % 2], *other = gather_scratch[(k + 1) % 2];
        gather_job chunk = *d_job;
        // One turn more than there are chunks: then this is 0, and the turn only finishes.
        chunk.N = job->N - start < size ? job->N - start : size;
        chunk.index = d_index ? d_index + start * index_bytes : (char *)mine->index;
        chunk.result = d_result ? d_result + start * element_bytes : (char *)mine->result;
        if (!d_index)
            memcpy(mine->index, index + start * index_bytes, chunk.N * index_bytes);
        // The kernel writes the elements of this part; those of earlier parts have to survive the copy back.
        if (!d_result && first > 0)
            memcpy(mine->result, result + start * element_bytes, chunk.N * element_bytes);
        if (k > 0) {
            int error = cudaStreamSynchronize((cudaStream_t)job->stream);
            if (error != cudaSuccess)
                return error;
            if (other->first_bad != NO_BAD_INDEX) {
                *first_bad = before + other->first_bad;
                return cudaSuccess;
            }
        }
        if (chunk.N > 0) {
            mine->first_bad = NO_BAD_INDEX;
            int error = gather_launch_part(&chunk, first, count, over_bus, &mine->first_bad);
            if (error != cudaSuccess)
                return error;
        }
        if (k > 0 && !d_result)
            memcpy(result + before * element_bytes, other->result,
                   (start - before) * element_bytes);
        if (chunk.N == 0)
            return cudaSuccess;
        before = start;
        start += chunk.N;
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
    while (error == cudaErrorMemoryAllocation && most > WHOLE_BYTES / bytes) {
        cudaGetLastError();
        most /= 2;
        error = gather_allocate(d_source, most * bytes, stream);
    }
    d_job->source = *d_source;
    for (size_t first = 0; first < job->M && error == cudaSuccess && *first_bad == NO_BAD_INDEX;
         first += most) {
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
    bool index_on_host, result_on_host, over_bus;
    cudaStream_t stream = (cudaStream_t)job->stream;
    void *d_index, *d_source, *d_result = NULL, *uploaded = NULL, *pinned = NULL;
    void *source = (void *)job->source;
    size_t source_bytes = job->M * job->element_bytes, result_bytes = job->N * job->element_bytes;
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
    TRY(gather_reach(source, source_bytes, &d_source, NULL));
    over_bus = index_on_host || result_on_host; // the source does not count: its reads are random
    d_job.index = d_index;

    // If the result has to stay as it was when an index is bad, it cannot be copied back a chunk at a time,
    // as a later chunk may have one: it waits on the device. (One chunk alone is looked at before.)
    if (!d_job.result && job->keep_result && job->mode == GATHER_RAISE && job->N > GATHER_CHUNK) {
        TRY(gather_allocate(&d_result, result_bytes, stream));
        d_job.result = d_result;
        over_bus = index_on_host;
    }

    // Few indices: the kernel reads the source where it is, which takes pinning it for this call. Many:
    // all of it goes to the device. On an H200 the two take equally long at about one index for
    // every 20 bytes of source (against_N in bench.json).
    if (!d_source && job->N < source_bytes / 20) {
        if (cudaHostRegister(source, source_bytes, cudaHostRegisterDefault) == cudaSuccess) {
            pinned = source;
            TRY(gather_reach(source, source_bytes, &d_source, NULL));
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
        cudaStreamSynchronize(stream); // before the memory goes; else gather_part has waited
    for (void *memory : {d_result, uploaded})
        if (memory && cudaFreeAsync(memory, stream) != cudaSuccess)
            cudaFree(memory); // no pools, or no such stream: this waits for the device
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
