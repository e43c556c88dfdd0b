// Gather for arrays anywhere: what the device cannot reach is pinned or copied, for one call.
// Build: make libgather.so
// Run:   ./gather_c, or from Python: see gather.pyx
#include "check.h"

#pragma GCC visibility push(default)
#include "gather.cuh"
#pragma GCC visibility pop
#include "gather_launch.cuh"

#define TRY(call) CHECK_GOTO(error, call, cleanup)
#define WHOLE_BYTES ((size_t)64 << 20) // a source of so many bytes is not divided

// Uploads a source that the device cannot reach, and gathers: all at once, or in as many parts as it
// takes if the device has no room for it. *d_source: what is to be freed.
static int upload_and_gather(Part *part, void **d_source, unsigned long long *first_bad)
{
    const gather_job *job = part->job;
    const char *source = (const char *)job->source;
    cudaStream_t stream = (cudaStream_t)job->stream;
    size_t bytes = job->element_bytes, most = job->M;
    int error = gather_allocate(d_source, most * bytes, stream);
    while (error == cudaErrorMemoryAllocation && most > WHOLE_BYTES / bytes) {
        cudaGetLastError();
        most /= 2;
        error = gather_allocate(d_source, most * bytes, stream);
    }
    part->d_job.source = *d_source;
    for (size_t first = 0; first < job->M && error == cudaSuccess && *first_bad == NO_BAD_INDEX;
         first += most) {
        part->first = first;
        part->count = job->M - first < most ? job->M - first : most;
        error = cudaMemcpyAsync(*d_source, source + first * bytes, part->count * bytes,
                                cudaMemcpyHostToDevice, stream);
        if (error == cudaSuccess)
            error = gather_part(part, first_bad);
    }
    return error;
}

extern "C" int gather(const gather_job *job, size_t *first_bad)
{
    unsigned long long bad = NO_BAD_INDEX;
    Part part = {job, *job, false, 0, job->M};
    gather_job &d_job = part.d_job;
    bool index_on_host, result_on_host;
    cudaStream_t stream = (cudaStream_t)job->stream;
    void *d_index, *d_source, *d_result = NULL, *uploaded = NULL, *pinned = NULL;
    void *source = (void *)job->source;
    size_t source_bytes = job->M * job->element_bytes, result_bytes = job->N * job->element_bytes;

    if (job->N == 0)
        return cudaSuccess;
    if (!gather_is_valid(job) || !first_bad)
        return cudaErrorInvalidValue;
    int error = gather_check_process();
    if (error != cudaSuccess)
        return error;
    // One call at a time: while a source is pinned for one, another must not rely on that.
    std::lock_guard<std::mutex> locked(gather_lock);

    TRY(gather_check_stream(stream));
    TRY(gather_make_scratch());
    TRY(gather_reach(job->index, job->N * job->index_bytes, &d_index, &index_on_host));
    TRY(gather_reach(job->result, result_bytes, &d_job.result, &result_on_host));
    TRY(gather_reach(source, source_bytes, &d_source, NULL));
    part.over_bus = index_on_host || result_on_host; // not the source: its reads are random
    d_job.index = d_index;

    // If the result has to stay as it was when an index is bad, it cannot be copied back a chunk at a time,
    // as a later chunk may have one: it waits on the device. (One chunk alone is looked at before.)
    if (!d_job.result && job->keep_result && job->mode == GATHER_RAISE && job->N > GATHER_CHUNK) {
        TRY(gather_allocate(&d_result, result_bytes, stream));
        d_job.result = d_result;
        part.over_bus = index_on_host;
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
        TRY(gather_part(&part, &bad));
    else
        TRY(upload_and_gather(&part, &uploaded, &bad));
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
