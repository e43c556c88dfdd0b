// Gather for arrays anywhere: what the device cannot reach is pinned, or copied, for one call.
// Build: make libgather.so
// Run:   ./gather_c, or from Python: see gather.pyx
#include "check.h"
#include <mutex>

#pragma GCC visibility push(default)
#include "gather.cuh"
#pragma GCC visibility pop
#include "gather_launch.cuh"

#define NO_BAD_INDEX (~0ull)
static __device__ unsigned long long smallest_bad; // position of a bad index
#define CHUNK_BYTES ((size_t)64 << 20)             // of a source that the device has no room for

// True if the device can reach what is there: its own memory, or pinned.
static bool is_reachable(const void *start, size_t bytes)
{
    cudaPointerAttributes attributes;
    for (const char *end : {(const char *)start, (const char *)start + bytes - 1}) {
        cudaError_t error = cudaPointerGetAttributes(&attributes, end);
        if (error != cudaSuccess || attributes.type == cudaMemoryTypeUnregistered) {
            cudaGetLastError();
            return false;
        }
    }
    return true;
}

// Uploads a source that the device cannot reach, and launches: all at once, or a chunk at a time if the
// device has no room for it. *d_source: what is to be freed.
static int upload_and_launch(gather_job job, unsigned long long *first_bad, void **d_source)
{
    cudaStream_t stream = (cudaStream_t)job.stream;
    const char *source = (const char *)job.source;
    size_t chunk = job.M;
    int error = cudaMallocAsync(d_source, chunk * job.element_bytes, stream);
    if (error == cudaErrorMemoryAllocation && chunk > CHUNK_BYTES / job.element_bytes) {
        cudaGetLastError();
        chunk = CHUNK_BYTES / job.element_bytes;
        error = cudaMallocAsync(d_source, CHUNK_BYTES, stream);
    }
    job.source = *d_source;
    for (size_t first = 0; first < job.M && error == cudaSuccess; first += chunk) {
        size_t count = job.M - first < chunk ? job.M - first : chunk;
        error = cudaMemcpyAsync(*d_source, source + first * job.element_bytes,
                                count * job.element_bytes, cudaMemcpyHostToDevice, stream);
        if (error == cudaSuccess)
            error = gather_launch_part(&job, first, count, first_bad);
    }
    return error;
}

// The source for one call: where it is, pinned if need be, or uploaded.
static int take_from(const gather_job *job, unsigned long long *first_bad, void **pinned,
                     void **d_source)
{
    size_t bytes = job->M * job->element_bytes;
    bool in_place = is_reachable(job->source, bytes);
    // Few indices: the kernel reads the source where it is, which takes pinning it for this call. Many:
    // all of it goes to the device. What tips the scale was measured: see README.md.
    if (!in_place && job->N < bytes / 20) {
        if (cudaHostRegister((void *)job->source, bytes, cudaHostRegisterDefault) == cudaSuccess)
            *pinned = (void *)job->source;
        cudaGetLastError(); // what cannot be pinned, as a read-only file, is uploaded
    }
    if (in_place || *pinned)
        return gather_launch_part(job, 0, job->M, first_bad);
    return upload_and_launch(*job, first_bad, d_source);
}

#define TRY(call) CHECK_GOTO(error, call, cleanup)

extern "C" int gather(const gather_job *job, size_t *first_bad)
{
    // One at a time: while a source is pinned for one call, another must not rely on that.
    static std::mutex lock;
    std::lock_guard<std::mutex> locked(lock);

    int error = cudaSuccess, last;
    gather_job d_job = *job; // with arrays that the device can reach
    cudaStream_t stream = (cudaStream_t)job->stream;
    void *d_index = NULL, *d_result = NULL, *d_source = NULL, *pinned = NULL, *d_bad = NULL;
    size_t index_bytes = job->N * job->index_bytes, result_bytes = job->N * job->element_bytes;
    unsigned long long bad = NO_BAD_INDEX;

    if (job->N == 0)
        return cudaSuccess;
    if (!gather_is_valid(job) || !first_bad)
        return cudaErrorInvalidValue;
    if (job->mode == GATHER_RAISE) {
        TRY(cudaGetSymbolAddress(&d_bad, smallest_bad));
        TRY(cudaMemsetAsync(d_bad, 0xff, sizeof bad, stream)); // NO_BAD_INDEX
    }
    if (!is_reachable(job->index, index_bytes)) {
        TRY(cudaMallocAsync(&d_index, index_bytes, stream));
        TRY(cudaMemcpyAsync(d_index, job->index, index_bytes, cudaMemcpyHostToDevice, stream));
        d_job.index = d_index;
    }
    if (!is_reachable(job->result, result_bytes)) {
        TRY(cudaMallocAsync(&d_result, result_bytes, stream));
        d_job.result = d_result;
    }
    TRY(take_from(&d_job, (unsigned long long *)d_bad, &pinned, &d_source));
    if (d_bad)
        TRY(cudaMemcpyAsync(&bad, d_bad, sizeof bad, cudaMemcpyDeviceToHost, stream));
    TRY(cudaStreamSynchronize(stream));
    if (d_result && bad == NO_BAD_INDEX)
        TRY(cudaMemcpyAsync(job->result, d_result, result_bytes, cudaMemcpyDeviceToHost, stream));

cleanup:
    for (void *scratch : {d_index, d_result, d_source})
        if (scratch)
            cudaFreeAsync(scratch, stream);
    last = cudaStreamSynchronize(stream); // before the memory goes that is in use
    if (pinned)
        cudaHostUnregister(pinned);
    error = error ? error : last;
    if (error != cudaSuccess) {
        cudaGetLastError(); // the return value tells it: it is not left for somebody else to find
        return error;
    }
    *first_bad = (size_t)bad;
    return bad == NO_BAD_INDEX ? 0 : -1;
}

// ---- Memory

// What a failed call leaves behind for cudaGetLastError() is removed: the return value tells it.
static int status(cudaError_t error)
{
    if (error != cudaSuccess)
        cudaGetLastError();
    return error;
}

extern "C" int gather_device_allocate(void **pointer, size_t bytes)
{
    return status(cudaMalloc(pointer, bytes));
}

extern "C" int gather_device_free(void *pointer)
{
    return status(cudaFree(pointer));
}

extern "C" int gather_pinned_allocate(void **pointer, size_t bytes)
{
    return status(cudaMallocHost(pointer, bytes));
}

extern "C" int gather_pinned_free(void *pointer)
{
    return status(cudaFreeHost(pointer));
}

extern "C" int gather_pin(void *pointer, size_t bytes)
{
    return status(cudaHostRegister(pointer, bytes, cudaHostRegisterDefault));
}

extern "C" int gather_unpin(void *pointer)
{
    return status(cudaHostUnregister(pointer));
}

extern "C" int gather_copy(void *to, const void *from, size_t bytes, void *stream)
{
    cudaError_t error = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, (cudaStream_t)stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize((cudaStream_t)stream);
    return status(error);
}

extern "C" int gather_wait_for(void *stream, void *other)
{
    cudaEvent_t event;
    cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    if (error != cudaSuccess)
        return status(error);
    error = cudaEventRecord(event, (cudaStream_t)other);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent((cudaStream_t)stream, event, 0);
    cudaEventDestroy(event); // it goes when it is no longer needed
    return status(error);
}

extern "C" const char *gather_error_name(int code)
{
    return cudaGetErrorName((cudaError_t)code);
}

extern "C" const char *gather_error_text(int code)
{
    return cudaGetErrorString((cudaError_t)code);
}
