// The device and its limits, launches that are refused, a context that is lost, and what a process has that was forked.
#include "expect.h"
#include <cstdlib>
#include <cuda_profiler_api.h>
#include <math_constants.h>
#include <nvtx3/nvToolsExt.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

__global__ void nop() {}
__global__ void set(int *p) { *p = 7; }
__global__ void last_word(int *out, int words)
{
    extern __shared__ int s[];
    if (threadIdx.x == 0) s[words - 1] = words;
    __syncthreads();
    *out = s[words - 1];
}

static void the_device()
{
    int count = 0, device = 7, least_blocks = 0, block = 0;
    unsigned flags;
    cudaDeviceProp p, wanted = {};
    OK(cudaGetDeviceCount(&count));
    IS(count > 0, true);
    nvtxRangePushA("the device");
    int version = 0;
    size_t heap = 0;
    OK(cudaRuntimeGetVersion(&version));
    IS(version >= 11000, true);
    OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 25));
    OK(cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize));
    IS(heap >= 1 << 25, true);
    nvtxRangePop();
    IS(CUDART_PI_F, 3.141592654f);
    OK(cudaGetDeviceProperties(&p, 0));
    FAILS(cudaErrorInvalidDevice, cudaGetDeviceProperties(&p, 99));
    IS(p.maxThreadsPerBlock, 1024);
    IS(p.maxThreadsDim[0], 1024);
    IS(p.maxThreadsDim[1], 1024);
    IS(p.maxThreadsDim[2], 64);
    IS(p.maxGridSize[0], 2147483647);
    IS(p.maxGridSize[1], 65535);
    IS(p.maxGridSize[2], 65535);
    IS(p.warpSize, 32);
    FAILS(cudaErrorInvalidDevice, cudaSetDevice(99));
    OK(cudaChooseDevice(&device, &wanted));
    IS(device, 0);
    FAILS(cudaErrorInvalidValue, cudaChooseDevice(NULL, &wanted));
    OK(cudaInitDevice(0, 0, 0));
    FAILS(cudaErrorInvalidDevice, cudaInitDevice(99, 0, 0));
    OK(cudaGetDeviceFlags(&flags));
    FAILS(cudaErrorInvalidValue, cudaGetDeviceFlags(NULL));
    OK(cudaProfilerStart());
    OK(cudaProfilerStop());
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&count, last_word, 1024, 0));
    IS(count > 0, true);
    OK(cudaOccupancyMaxPotentialBlockSize(&least_blocks, &block, nop));
    IS(least_blocks > 0, true);
    IS(block, 1024);
}

static void launches()
{
    nop<<<0, 1>>>();
    std::thread([] { OK(cudaGetLastError()); }).join(); // each thread of the host has its own
    GIVES(cudaErrorInvalidValue, cudaPeekAtLastError());
    GIVES(cudaErrorInvalidValue, cudaGetLastError());
    OK(cudaGetLastError());
    REFUSED(nop<<<1, 0>>>());
    REFUSED(nop<<<1, 1025>>>());
    REFUSED(nop<<<1, dim3(1, 1, 65)>>>());
    REFUSED(nop<<<1, dim3(32, 33)>>>());
    REFUSED(nop<<<2147483648u, 1>>>());
    REFUSED(nop<<<dim3(1, 65536), 1>>>());
    REFUSED(nop<<<dim3(1, 1, 65536), 1>>>());
    REFUSED(nop<<<1, 1, 49153>>>());
    nop<<<1, 1024>>>();
    nop<<<1, dim3(1, 1, 64)>>>();
    nop<<<2147483647u, 1>>>();
    nop<<<dim3(1, 65535), 1>>>();
    nop<<<dim3(1, 1, 65535), 1>>>();
    nop<<<1, 1, 49152>>>();
    OK(cudaGetLastError());
    OK(cudaDeviceSynchronize());

    int *n, *managed, words = 25000;
    OK(cudaMallocManaged(&managed, sizeof *managed));
    *managed = 7;
    REFUSED(last_word<<<1, 1025>>>(managed, 1));
    *managed += 1; // nothing runs that could still use it
    IS(*managed, 8);
    OK(cudaFree(managed));
    OK(cudaMalloc(&n, sizeof *n));
    REFUSED(last_word<<<1, 32, 100000>>>(n, words));
    const cudaFuncAttribute most = cudaFuncAttributeMaxDynamicSharedMemorySize;
    FAILS(cudaErrorInvalidValue, cudaFuncSetAttribute(last_word, most, 1 << 20));
    int in_a_block;
    OK(cudaDeviceGetAttribute(&in_a_block, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    FAILS(cudaErrorInvalidValue, cudaFuncSetAttribute(last_word, most, in_a_block + 1));
    OK(cudaFuncSetAttribute(last_word, most, in_a_block));
    last_word<<<1, 32, in_a_block>>>(n, in_a_block / 4);
    HAS(n, {in_a_block / 4});
    OK(cudaFuncSetAttribute(last_word, most, 100000));
    last_word<<<1, 32, 100000>>>(n, words);
    OK(cudaGetLastError());
    HAS(n, {25000});
    REFUSED(last_word<<<1, 32, 100016>>>(n, words));
    OK(cudaFuncSetAttribute(last_word, most, 1000)); // the last call counts
    REFUSED(last_word<<<1, 32, 2000>>>(n, words));
    OK(cudaFuncSetAttribute(last_word, most, 100000));
    OK(cudaFuncSetCacheConfig(last_word, cudaFuncCachePreferShared));
    cudaFuncAttributes attributes;
    OK(cudaFuncGetAttributes(&attributes, last_word));
    IS(attributes.maxThreadsPerBlock, 1024);
    IS(attributes.maxDynamicSharedSizeBytes, 100000);
    OK(cudaFree(n));
}

// ---- Each in a process of its own

static volatile cudaError_t noted;
static void note_status(cudaStream_t, cudaError_t status, void *) { noted = status; }

static void lost_context()
{
    int *d, h = 0;
    OK(cudaMalloc(&d, sizeof *d));
    set<<<1, 1>>>((int *)0x10);
    OK(cudaStreamAddCallback(0, note_status, NULL, 0));
    FAILS(cudaErrorIllegalAddress, cudaDeviceSynchronize());
    for (int i = 0; i < 1000 && !noted; i++) usleep(1000); // by a thread of its own
    IS(noted, cudaErrorIllegalAddress);
    GIVES(cudaErrorIllegalAddress, cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost));
    GIVES(cudaErrorIllegalAddress, cudaFree(d));
    GIVES(cudaErrorIllegalAddress, cudaGetLastError());
    GIVES(cudaErrorIllegalAddress, cudaMalloc(&d, 4));
    OK(cudaDeviceReset()); // whether the last error is still there depends on the driver
    GIVES(cudaErrorDevicesUnavailable, cudaMalloc(&d, 4));
}

static void reset_device()
{
    static char page[4096] __attribute__((aligned(4096)));
    size_t bytes;
    OK(cudaHostRegister(page, sizeof page, 0));
    OK(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
    OK(cudaDeviceReset());
    OK(cudaDeviceGetLimit(&bytes, cudaLimitStackSize));
    IS(bytes, 1024);
    OK(cudaHostRegister(page, sizeof page, 0));
}

static int *of_parent;

static void set_and_read()
{
    int *d, h = 0;
    OK(cudaMalloc(&d, sizeof *d));
    set<<<1, 1>>>(d);
    OK(cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost));
    IS(h, 7);
    OK(cudaFree(d));
}

static void forked_after_use()
{
    const cudaError_t none = cudaErrorInitializationError;
    int *other, h = 0, count = 0;
    cudaStream_t stream;
    cudaDeviceProp properties;
    OK(cudaGetLastError());
    FAILS(none, cudaMalloc(&other, sizeof *other));
    GIVES(none, cudaMemcpy(&h, of_parent, sizeof h, cudaMemcpyDeviceToHost));
    set<<<1, 1>>>(of_parent);
    GIVES(none, cudaGetLastError());
    GIVES(none, cudaDeviceSynchronize());
    GIVES(none, cudaStreamCreate(&stream));
    OK(cudaGetDeviceCount(&count));
    OK(cudaGetDeviceProperties(&properties, 0));
    GIVES(none, cudaSetDevice(0));
    GIVES(none, cudaFree(of_parent));
    GIVES(none, cudaFree(NULL));
    GIVES(none, cudaDeviceReset());
    IS(h, 0);
}

static void in_a_child(void (*function)())
{
    int status = 1;
    if (fork() == 0) {
        function();
        exit(differences != 0);
    }
    wait(&status);
    IS(status, 0);
}

int main(void)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    in_a_child(set_and_read); // forked before: it has CUDA to itself
    in_a_child(lost_context);
    in_a_child(reset_device);
    the_device();
    launches();
    OK(cudaMalloc(&of_parent, sizeof *of_parent));
    set<<<1, 1>>>(of_parent);
    OK(cudaDeviceSynchronize());
    in_a_child(forked_after_use);
    HAS(of_parent, {7});
    OK(cudaFree(of_parent));
    return all_is_well();
}
