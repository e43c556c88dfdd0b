// What kernels access: the first six ask for as many sectors of 32 bytes as ncu counts on an H200. It is counted twice, by
// cpu_cuda_watch and for CPU_CUDA_PICTURE.
#include "../../check.h"
#include <cpu_seen.h>
#ifndef __CPU_CUDA__
#error this macro tells the stand-in
#endif

const int N = 1 << 16, SIDE = 256;

__global__ void add(const float *a, const float *b, float *c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i] + b[i];
}

template <int STEP> __global__ void stride(const float *a, float *c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[STEP * i];
}

__global__ void four(const float4 *a, float4 *c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i];
}

__global__ void gather(const float *a, const int *index, float *c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[index[i]];
}

__global__ void transpose(const float *a, float *c)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    c[x * SIDE + y] = a[y * SIDE + x];
}

__device__ int total;

__global__ void through_shared(float *to, const float *from, size_t n) // which is not counted
{
    __shared__ float s[256];
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    s[threadIdx.x] = from[i];
    to[i] = s[threadIdx.x];
}
__global__ void alone(float *to, const float *from, int n)
{
    if (blockIdx.x == 0 && threadIdx.x == 0)
        for (int i = 0; i < n; i++)
            to[i] = from[i];
}
__global__ void count()
{
    atomicAdd(&total, 1);
}
__global__ void look(volatile float *x)
{
    x[threadIdx.x] = x[threadIdx.x] + 1;
}
__global__ void some(volatile float *x) // all lanes in one block, half of them in the next
{
    if (threadIdx.x % 2 || blockIdx.x % 2)
        (void)x[0];
}
__global__ void nothing() {}

// An access in the source is one, wherever g++ would move or split it.
__global__ void conditions(float4 *a, int n)
{
    int i = threadIdx.x;
    float4 v = a[i]; // whole
    v.x = 1;
    if (i < n)
        v.y = a[i + 32].w; // eight
    float w = a[i + 64].x; // part
    if (i < n)
        v.z = w;
    a[i] = v; // back
}

static struct cpu_cuda_seen seen;

static void report(const char *name)
{
    cpu_cuda_watch(NULL, 0);
    printf("%s: %lld %lld %lld, %lld %lld %lld, %lld %lld\n", name, seen.launches, seen.blocks,
           seen.threads, seen.reads, seen.writes, seen.atomics, seen.sectors, seen.most);
    seen = {};
}

#define WATCH(name, ...) \
    do { \
        cpu_cuda_watch(&seen, 1); \
        __VA_ARGS__; \
        report(name); \
    } while (0)

int main(void)
{
    static int h_index[N];
    unsigned random = 1;
    for (int i = 0; i < N; i++) {
        random = random * 1664525u + 1013904223u;
        h_index[i] = (int)(random >> 16);
    }
    float *a, *b, *c;
    int *index;
    CHECK(cudaMalloc(&a, 32 * N * sizeof(float)));
    CHECK(cudaMalloc(&b, N * sizeof(float)));
    CHECK(cudaMalloc(&c, 4 * N * sizeof(float)));
    CHECK(cudaMalloc(&index, sizeof h_index));
    CHECK(cudaMemset(a, 0, 32 * N * sizeof(float)));
    CHECK(cudaMemset(b, 0, N * sizeof(float)));
    CHECK(cudaMemcpy(index, h_index, sizeof h_index, cudaMemcpyHostToDevice));
    conditions<<<1, 32>>>((float4 *)a, 8); // before it is watched
    WATCH("add", add<<<N / 256, 256>>>(a, b, c));
    WATCH("stride<2>", stride<2><<<N / 256, 256>>>(a, c));
    WATCH("stride<32>", stride<32><<<N / 256, 256>>>(a, c));
    WATCH("four", four<<<N / 256, 256>>>((float4 *)a, (float4 *)c));
    WATCH("gather", gather<<<N / 256, 256>>>(a, index, c));
    WATCH("transpose", transpose<<<dim3(SIDE / 32, SIDE / 8), dim3(32, 8)>>>(a, c));
    WATCH("twice", through_shared<<<2, 256>>>(c, a, N), through_shared<<<N / 256, 256>>>(c, a, N));
    WATCH("more, less", add<<<1, 256>>>(a, b, c), through_shared<<<1, 256>>>(c, a, 256));
    WATCH("alone", alone<<<2, 32>>>(c, a, 1000));
    WATCH("count", count<<<64, 128>>>());
    WATCH("look", look<<<1, 32>>>(b));
    WATCH("some", some<<<64, 32>>>(b));
    WATCH("nothing", nothing<<<dim3(3, 2), dim3(4, 4)>>>());
    cpu_cuda_watch(&seen, 0);
    through_shared<<<1u << 25, 256>>>(NULL, NULL, (size_t)1 << 33);
    through_shared<<<1, 2048>>>(b, a, N);
    printf("%d\n", cudaGetLastError());
    report("without threads");
    count<<<64, 128>>>();
    report("after");
    cpu_cuda_watch(&seen, LAST_BLOCK);
    const size_t before = (((size_t)1 << 33) - 256) * sizeof(float); // bytes that are not there
    through_shared<<<1u << 25, 256>>>((float *)((size_t)c - before), (float *)((size_t)a - before),
                                      (size_t)1 << 33);
    report("last block");
    int h;
    CHECK(cudaMemcpyFromSymbol(&h, total, sizeof h));
    printf("%d\n", h);
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(c));
    CHECK(cudaFree(index));
}
