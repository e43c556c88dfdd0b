// Gather for arrays anywhere: what the device cannot reach is pinned, or copied, for one call.
// Build: make libgather.so
// Run:   ./gather_c, or from Python: see gather.pyx
#include "check.h"

#pragma GCC visibility push(default)
#include "gather.cuh"
#pragma GCC visibility pop
#include "gather_launch.cuh"

#define TRY(call) CHECK_GOTO(error, call, cleanup)
#define NO_BAD_INDEX (~0ull)
#define MAX_DEVICES 64
#define CHUNK_BYTES ((size_t)64 << 20) // of a source that the device has no room for
#define KEPT_BYTES ((size_t)64 << 20)  // of scratch memory, from one call to the next

std::mutex gather_lock;
static __device__ unsigned long long smallest_bad; // position of a bad index

// The address at which the device reaches what is there: in its own memory, or pinned. Else NULL.
// *over_bus becomes true if it is the host's memory.
static void *device_address(const void *start, size_t bytes, bool *over_bus)
{
    cudaPointerAttributes first, last;
    if (cudaPointerGetAttributes(&first, start) != cudaSuccess ||
        cudaPointerGetAttributes(&last, (const char *)start + bytes - 1) != cudaSuccess) {
        cudaGetLastError();
        return NULL;
    }
    if (first.type == cudaMemoryTypeUnregistered || last.type == cudaMemoryTypeUnregistered)
        return NULL;
    if (first.type == cudaMemoryTypeHost)
        *over_bus = true;
    return first.devicePointer;
}

// Scratch memory on the device, in the stream's order, to be given back with cudaFreeAsync. The pool
// keeps up to KEPT_BYTES of it: to get them anew for every call takes as long as a small gather. A
// device without pools does that.
static int allocate_scratch(void **scratch, size_t bytes, cudaStream_t stream)
{
    static cudaMemPool_t pools[MAX_DEVICES];
    int device, error = cudaGetDevice(&device);
    if (error == cudaSuccess && device >= MAX_DEVICES)
        error = cudaErrorInvalidDevice;
    if (error == cudaSuccess && !pools[device]) {
        cudaMemPool_t pool = NULL;
        cudaMemPoolProps properties = {};
        unsigned long long kept = KEPT_BYTES;
        properties.allocType = cudaMemAllocationTypePinned;
        properties.location.type = cudaMemLocationTypeDevice;
        properties.location.id = device;
        error = cudaMemPoolCreate(&pool, &properties);
        if (error == cudaSuccess)
            error = cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept);
        if (error == cudaSuccess)
            pools[device] = pool;
        else if (pool)
            cudaMemPoolDestroy(pool);
    }
    if (error == cudaSuccess)
        error = cudaMallocFromPoolAsync(scratch, bytes, pools[device], stream);
    if (error == cudaErrorNotSupported) {
        cudaGetLastError();
        error = cudaMalloc(scratch, bytes);
    }
    return error;
}

// Uploads a source that the device cannot reach, and launches: all at once, or a chunk at a time if the
// device has no room for it. *d_source: what is to be freed.
static int upload_and_launch(gather_job job, bool over_bus, unsigned long long *first_bad,
                             void **d_source)
{
    cudaStream_t stream = (cudaStream_t)job.stream;
    const char *source = (const char *)job.source;
    size_t chunk = job.M;
    int error = allocate_scratch(d_source, chunk * job.element_bytes, stream);
    if (error == cudaErrorMemoryAllocation && chunk > CHUNK_BYTES / job.element_bytes) {
        cudaGetLastError();
        chunk = CHUNK_BYTES / job.element_bytes;
        error = allocate_scratch(d_source, CHUNK_BYTES, stream);
    }
    job.source = *d_source;
    for (size_t first = 0; first < job.M && error == cudaSuccess; first += chunk) {
        size_t count = job.M - first < chunk ? job.M - first : chunk;
        error = cudaMemcpyAsync(*d_source, source + first * job.element_bytes,
                                count * job.element_bytes, cudaMemcpyHostToDevice, stream);
        if (error == cudaSuccess)
            error = gather_launch_part(&job, first, count, over_bus, first_bad);
    }
    return error;
}

// The source for one call: where it is, pinned if need be, or uploaded.
static int take_from(gather_job job, bool over_bus, unsigned long long *first_bad, void **pinned,
                     void **d_source)
{
    size_t bytes = job.M * job.element_bytes;
    bool source_over_bus; // random reads: there it does not matter how many threads there are
    void *in_place = device_address(job.source, bytes, &source_over_bus);
    // Few indices: the kernel reads the source where it is, which takes pinning it for this call. Many:
    // all of it goes to the device. On an H200 the two take equally long at about one index for
    // every 20 bytes of source (against_N in bench.json).
    if (!in_place && job.N < bytes / 20) {
        if (cudaHostRegister((void *)job.source, bytes, cudaHostRegisterDefault) == cudaSuccess) {
            *pinned = (void *)job.source;
            in_place = device_address(job.source, bytes, &source_over_bus);
        }
        cudaGetLastError(); // what cannot be pinned, as a read-only file, is uploaded
    }
    if (!in_place)
        return upload_and_launch(job, over_bus, first_bad, d_source);
    job.source = in_place;
    return gather_launch_part(&job, 0, job.M, over_bus, first_bad);
}

extern "C" int gather(const gather_job *job, size_t *first_bad)
{
    unsigned long long bad = NO_BAD_INDEX, *flag = NULL, *d_bad = NULL;
    bool over_bus = false; // index or result
    bool flag_over_bus;
    gather_job d_job = *job; // with addresses on the device
    cudaStream_t stream = (cudaStream_t)job->stream;
    void *d_index = NULL, *d_result = NULL, *d_source = NULL, *pinned = NULL;
    size_t index_bytes = job->N * job->index_bytes, result_bytes = job->N * job->element_bytes;

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
    int devices;
    TRY(cudaGetDeviceCount(&devices));
    if (devices > 1 && stream)
        TRY(gather_wait_for(stream, stream)); // then error 400, invalid resource handle

    // Where the kernel writes the position of a bad index, if there is one. The caller's flag is gone
    // if somebody has called cudaDeviceReset(): then the device has to do.
    if (job->flag && device_address(job->flag, sizeof *job->flag, &flag_over_bus)) {
        flag = d_bad = job->flag;
        *flag = NO_BAD_INDEX;
    } else if (job->mode == GATHER_RAISE) {
        TRY(cudaGetSymbolAddress((void **)&d_bad, smallest_bad));
        TRY(cudaMemsetAsync(d_bad, 0xff, sizeof bad, stream)); // NO_BAD_INDEX
    }
    d_job.index = device_address(job->index, index_bytes, &over_bus);
    if (!d_job.index) {
        TRY(allocate_scratch(&d_index, index_bytes, stream));
        TRY(cudaMemcpyAsync(d_index, job->index, index_bytes, cudaMemcpyHostToDevice, stream));
        d_job.index = d_index;
    }
    d_job.result = device_address(job->result, result_bytes, &over_bus);
    if (!d_job.result) {
        TRY(allocate_scratch(&d_result, result_bytes, stream));
        d_job.result = d_result;
    }
    TRY(take_from(d_job, over_bus, d_bad, &pinned, &d_source));
    if (d_bad && !flag)
        TRY(cudaMemcpyAsync(&bad, d_bad, sizeof bad, cudaMemcpyDeviceToHost, stream));
    TRY(cudaStreamSynchronize(stream));
    if (flag)
        bad = *(volatile unsigned long long *)flag;
    if (d_result && bad == NO_BAD_INDEX) {
        TRY(cudaMemcpyAsync(job->result, d_result, result_bytes, cudaMemcpyDeviceToHost, stream));
        TRY(cudaStreamSynchronize(stream));
    }

cleanup:
    for (void *scratch : {d_index, d_result, d_source})
        if (scratch && cudaFreeAsync(scratch, stream) != cudaSuccess)
            cudaFree(scratch); // no pools, or the stream is not one: this waits for the device
    if (error != cudaSuccess)
        cudaStreamSynchronize(stream); // before the memory goes that is in use
    if (pinned)
        cudaHostUnregister(pinned);
    if (error != cudaSuccess) {
        cudaGetLastError(); // the return value tells it: it is not left for somebody else to find
        return error;
    }
    *first_bad = (size_t)bad;
    return bad == NO_BAD_INDEX ? 0 : -1;
}
