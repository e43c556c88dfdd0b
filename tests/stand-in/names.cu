// Calls and functions that programs from elsewhere use: what they return, and what comes out.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <cuda_profiler_api.h>

__global__ void Arithmetic(float *f, int *n, float third)
{
    f[0] = __fadd_rn(third, 1e8f);
    f[1] = __fsub_rn(__fmul_rn(third, third), 1 / 9.f);
    f[2] = __fmaf_rn(third, third, -1 / 9.f);
    f[3] = __fdiv_rn(1, third);
    f[4] = __fsqrt_rn(third);
    f[5] = (float)__dadd_rn(third, 1e-9);
    f[6] = __saturatef(third + 1) + __saturatef(-third);
    f[7] = __int2float_rn(16777217);
    f[8] = sinpif(third + 1.166666666f) + cospif(0);
    f[9] = rsqrtf(4) + rcbrtf(8);
    n[0] = __float2int_rn(2.5f) * 1000 + __float2int_rz(-2.5f) * 100 + __float2int_ru(2.5f) * 10 +
           __float2int_rd(-2.5f);
    n[1] = __float2int_rz(third * 1e20f);
    n[2] = __mul24(-3, 5) + __mulhi(1 << 30, 12) + (int)__umulhi(1u << 31, 6);
    n[3] = (int)(__sad(-5, 7, 1) + __usad(5, 7, 1));
    n[4] = (int)__brev(6);
    n[5] = (int)__byte_perm(0x03020100, 0x07060504, 0x1643);
    n[6] = (int)(__funnelshift_l(0x80000001, 0xF, 4) ^ __funnelshift_r(0x80000001, 0xF, 4));
    n[7] = __clz(1) + __ffs(8) + __popc(255) + __popcll(1ull << 40) + __clzll(1);
    n[8] = (int)__float_as_uint(third);
    n[9] = min(3, 2) + max(3u, 4u) + (int)umin(7, 8);
}

__global__ void WithNaN(float *f, float nan)
{
    f[0] = min(nan, 1.f), f[1] = min(2.f, nan), f[2] = max(nan, 3.f), f[3] = max(4.f, nan);
    f[4] = min((double)nan, 5.), f[5] = max(6., (double)nan);
    f[6] = min(nan, 7.), f[7] = max((double)nan, 8.f);
}

__global__ void Scoped(int *n, unsigned short *s)
{
    atomicAdd_block(&n[0], 1);
    atomicMax_system(&n[1], (int)threadIdx.x);
    atomicExch(&n[2], 3);
    atomicCAS(&n[3], 0, 5);
    if (threadIdx.x == 0)
        atomicCAS(s, (unsigned short)0, (unsigned short)7);
    atomicInc((unsigned *)&n[4], 9);
    if (clock64() < 0)
        __trap();
    __nanosleep(10);
}

__global__ void LastWord(int *out, int words)
{
    extern __shared__ int s[];
    if (threadIdx.x == 0)
        s[words - 1] = words;
    __syncthreads();
    *out = s[words - 1];
}

static char order[8];
static void note(void *letter)
{
    strncat(order, (char *)letter, 1);
}

#define SHOW(call) printf("%-70s %s\n", #call, cudaGetErrorName(call))

int main(void)
{
    float *f, hf[10];
    int *n, hn[10], count, words = 25000;
    unsigned short *s;
    cudaMalloc(&f, sizeof hf), cudaMalloc(&n, sizeof hn), cudaMalloc(&s, 4);
    cudaMemset(n, 0, sizeof hn), cudaMemset(s, 0, 4);

    Arithmetic<<<1, 1>>>(f, n, 1 / 3.f);
    SHOW(cudaMemcpy(hf, f, sizeof hf, cudaMemcpyDeviceToHost));
    SHOW(cudaMemcpy(hn, n, sizeof hn, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 10; i++)
        printf("%.9g %d\n", hf[i], hn[i]);
    WithNaN<<<1, 1>>>(f, NAN);
    cudaMemcpy(hf, f, sizeof hf, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 8; i++)
        printf("%g ", hf[i]);
    printf("\n");

    cudaMemset(n, 0, sizeof hn);
    Scoped<<<1, 100>>>(n, s);
    cudaMemcpy(hn, n, sizeof hn, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 5; i++)
        printf("%d ", hn[i]);
    cudaMemcpy(hn, s, 4, cudaMemcpyDeviceToHost);
    printf("%d\n", hn[0]);

    LastWord<<<1, 32, 100000>>>(n, words);
    SHOW(cudaGetLastError());
    SHOW(cudaFuncSetAttribute(LastWord, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20));
    cudaGetLastError();
    SHOW(cudaFuncSetAttribute(LastWord, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
    LastWord<<<1, 32, 100000>>>(n, words);
    SHOW(cudaGetLastError());
    SHOW(cudaMemcpy(&count, n, sizeof count, cudaMemcpyDeviceToHost));
    printf("%d\n", count);
    LastWord<<<1, 32, 100016>>>(n, words);
    SHOW(cudaGetLastError());
    SHOW(cudaFuncSetCacheConfig(LastWord, cudaFuncCachePreferShared));
    cudaFuncAttributes attributes;
    SHOW(cudaFuncGetAttributes(&attributes, LastWord));
    printf("%d %d\n", attributes.maxThreadsPerBlock, attributes.maxDynamicSharedSizeBytes);
    SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&count, LastWord, 1024, 0));
    printf("%d\n", count > 0);
    int grid = 0, block = 0;
    SHOW(cudaOccupancyMaxPotentialBlockSize(&grid, &block, Scoped));
    printf("%d %d\n", grid > 0, block);

    cudaStream_t stream;
    int least, greatest;
    SHOW(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    printf("%d %d\n", least, greatest);
    SHOW(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest));
    SHOW(cudaLaunchHostFunc(stream, note, (void *)"a"));
    SHOW(cudaLaunchHostFunc(stream, note, (void *)"b"));
    SHOW(cudaLaunchHostFunc(stream, NULL, NULL));
    SHOW(cudaStreamSynchronize(stream));
    SHOW(cudaStreamDestroy(stream));
    printf("%s\n", order);

    cudaPitchedPtr box;
    cudaExtent extent = make_cudaExtent(3 * sizeof(int), 2, 2);
    int h[12], back[12] = {};
    for (int i = 0; i < 12; i++)
        h[i] = i * i;
    SHOW(cudaMalloc3D(&box, extent));
    SHOW(cudaMemset3D(box, 0, extent));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(h, 3 * sizeof(int), 3, 2);
    copy.dstPtr = box;
    copy.extent = extent;
    copy.kind = cudaMemcpyHostToDevice;
    SHOW(cudaMemcpy3D(&copy));
    copy.srcPtr = box;
    copy.srcPos = make_cudaPos(sizeof(int), 1, 0);
    copy.dstPtr = make_cudaPitchedPtr(back, 3 * sizeof(int), 3, 2);
    copy.extent = make_cudaExtent(2 * sizeof(int), 1, 2);
    copy.kind = cudaMemcpyDeviceToHost;
    SHOW(cudaMemcpy3D(&copy));
    for (int i = 0; i < 12; i++)
        printf("%d ", back[i]);
    printf("\n");

    int *managed;
    cudaMallocManaged(&managed, 4096);
    cudaMemLocation place = {cudaMemLocationTypeDevice, 0};
    SHOW(cudaMemPrefetchAsync(managed, 4096, place, 0));
    SHOW(cudaMemPrefetchAsync(managed, 0, place, 0));
    SHOW(cudaMemAdvise(managed, 4096, cudaMemAdviseSetReadMostly, place));
    cudaGetLastError();
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaProfilerStart());
    SHOW(cudaProfilerStop());
    cudaFree(box.ptr), cudaFree(managed), cudaFree(f), cudaFree(n), cudaFree(s);
    return 0;
}
