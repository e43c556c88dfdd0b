// The memory that gather() needs besides its arrays, and where arrays are.
// Build: make libgather.so
// Run:   ./gather_c, or from Python: see gather.pyx
#include "check.h"

#pragma GCC visibility push(default)
#include "gather.cuh"
#pragma GCC visibility pop
#include "gather_launch.cuh"

#define MAX_DEVICES 64
#define KEPT_BYTES ((size_t)64 << 20) // of device memory, from one call to the next

std::mutex gather_lock;
Scratch *gather_scratch[2];
static cudaMemPool_t pools[MAX_DEVICES];

int gather_reach(const void *start, size_t bytes, void **address, bool *on_host)
{
    cudaPointerAttributes first, last;
    cudaError_t error = cudaPointerGetAttributes(&first, start);
    if (error == cudaSuccess)
        error = cudaPointerGetAttributes(&last, (const char *)start + bytes - 1);
    if (error != cudaSuccess)
        return error;
    bool is_ordinary =
        first.type == cudaMemoryTypeUnregistered || last.type == cudaMemoryTypeUnregistered;
    *address = is_ordinary ? NULL : first.devicePointer;
    if (on_host)
        *on_host = is_ordinary || first.type == cudaMemoryTypeHost;
    return cudaSuccess;
}

// *ours: false too if somebody has called cudaDeviceReset(); then another's memory may be at that address.
static int is_ours(Scratch *&scratch, bool *ours)
{
    void *address = NULL;
    bool on_host = false;
    int error = scratch ? gather_reach(scratch, sizeof *scratch, &address, &on_host) : cudaSuccess;
    *ours = error == cudaSuccess && address && on_host && scratch->owner == &scratch;
    return error;
}

static void free_scratch(void) // when the process ends, if nobody is in gather()
{
    std::unique_lock<std::mutex> locked(gather_lock, std::try_to_lock);
    for (Scratch *&scratch : gather_scratch) {
        bool ours = false;
        if (locked && is_ours(scratch, &ours) == cudaSuccess && ours) {
            cudaFreeHost(scratch);
            scratch = NULL;
        }
    }
}

int gather_make_scratch(void)
{
    static bool is_registered;
    if (!is_registered)
        is_registered = atexit(free_scratch) == 0;
    for (Scratch *&scratch : gather_scratch) {
        bool ours;
        int error = is_ours(scratch, &ours);
        if (error == cudaSuccess && !ours) {
            error = cudaMallocHost((void **)&scratch, sizeof *scratch);
            if (error == cudaSuccess)
                scratch->owner = &scratch;
            else
                scratch = NULL;
            // A cudaDeviceReset() has destroyed the pool of its device; which that is, is not known.
            for (cudaMemPool_t &pool : pools)
                pool = NULL;
        }
        if (error != cudaSuccess)
            return error;
    }
    return cudaSuccess;
}

// The pool keeps up to KEPT_BYTES: to get them anew for every call takes as long as a small gather. A
// device without pools does that.
int gather_allocate(void **pointer, size_t bytes, cudaStream_t stream)
{
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
        error = cudaMallocFromPoolAsync(pointer, bytes, pools[device], stream);
    if (error == cudaErrorNotSupported) {
        cudaGetLastError();
        error = cudaMalloc(pointer, bytes);
    }
    return error;
}
