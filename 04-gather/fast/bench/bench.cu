// What bench.py needs from CUDA: a clock on the device, a copy, and the article's Gather.
// Build: make libbench.so
// Run:   make bench (on a GPU only)
#include "../gather.h"
#include "check.h"

#define INTERFACE extern "C" __attribute__((visibility("default")))

// ---- The clock: events on the default stream, where everybody's work is put

static cudaEvent_t start, stop;

// Keeps the device busy while the host lines up what is to be timed. So the device goes from one kernel
// to the next, and the time that Python takes to launch them is not measured.
__global__ void Busy(long long cycles)
{
    long long begin = clock64();
    while (clock64() - begin < cycles) {
    }
}

INTERFACE void clock_start(void)
{
    if (!start) {
        CHECK(cudaEventCreate(&start));
        CHECK(cudaEventCreate(&stop));
    }
    Busy<<<1, 1>>>(5000000); // some 3 ms
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(start));
}

// Milliseconds since clock_start() on the device, when all work given to it since has been done.
INTERFACE float clock_stop(void)
{
    float milliseconds;
    CHECK(cudaEventRecord(stop));
    CHECK(cudaEventSynchronize(stop));
    CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
    return milliseconds;
}

INTERFACE void wait(void)
{
    CHECK(cudaDeviceSynchronize());
}

// `calls` launches of 4-byte elements and indices, from a loop in C: what a call from Python is compared with.
INTERFACE void launch(const float *source, size_t M, const int *index, float *result, size_t N,
                      enum gather_mode mode, unsigned long long *first_bad, int calls)
{
    struct gather_job job = {
        {NULL, (void *)source}, {NULL, (void *)index}, {NULL, result}, 1, N, M, 4, 4, mode, NULL};
    for (int i = 0; i < calls; i++)
        CHECK((cudaError_t)gather_launch(&job, first_bad));
}

#if __has_include(<thrust/gather.h>) // comes with the CUDA Toolkit
#include <thrust/execution_policy.h>
#include <thrust/gather.h>
INTERFACE void thrust_gather(const float *source, const int *index, float *result, size_t N)
{
    thrust::gather(thrust::cuda::par_nosync, index, index + N, source, result);
}
#endif

// ---- A copy on the device, and what the kernels are compared with

INTERFACE void copy_on_device(void *to, const void *from, size_t bytes)
{
    CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice));
}

// 4 * N bytes each way at the same time, between the device and pinned memory: what PCIe takes at least.
INTERFACE void both_ways(void *device_to, const void *host_from, void *host_to,
                         const void *device_from, size_t bytes)
{
    static cudaStream_t up, down;
    if (!up) {
        CHECK(cudaStreamCreate(&up));
        CHECK(cudaStreamCreate(&down));
    }
    CHECK(cudaMemcpyAsync(device_to, host_from, bytes, cudaMemcpyHostToDevice, up));
    CHECK(cudaMemcpyAsync(host_to, device_from, bytes, cudaMemcpyDeviceToHost, down));
    CHECK(cudaStreamSynchronize(up));
    CHECK(cudaStreamSynchronize(down));
}

// ---- The article's Gather: allocates, uploads the result too, looks at no index, and resets the device

__global__ void ArticleKernel(const float *source, const int *index, float *res, int N)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        res[i] = source[index[i]];
}

INTERFACE void article_gather(const float *source, const int *index, float *res, int N, int M)
{
    float *d_source, *d_res;
    int *d_index;
    CHECK(cudaMalloc(&d_source, M * sizeof(float)));
    CHECK(cudaMalloc(&d_index, N * sizeof(int)));
    CHECK(cudaMalloc(&d_res, N * sizeof(float)));
    CHECK(cudaMemcpy(d_source, source, M * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_index, index, N * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_res, res, N * sizeof(float), cudaMemcpyHostToDevice));
    ArticleKernel<<<(N + 255) / 256, 256>>>(d_source, d_index, d_res, N);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(res, d_res, N * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_res));
    CHECK(cudaFree(d_index));
    CHECK(cudaFree(d_source));
    CHECK(cudaDeviceReset());
}

// ---- A simple kernel without a check of the index, to see what the check costs

__global__ void UncheckedKernel(const float *source, const int4 *index, float4 *res, int fours)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < fours) {
        int4 j = index[i];
        res[i] = make_float4(source[j.x], source[j.y], source[j.z], source[j.w]);
    }
}

INTERFACE void gather_unchecked(const float *source, const int *index, float *res, int N)
{
    UncheckedKernel<<<(N / 4 + 255) / 256, 256>>>(source, (const int4 *)index, (float4 *)res,
                                                  N / 4);
    CHECK(cudaGetLastError());
}
