// A library for goes_wrong.py: pick() is right and called wrongly; the other two are wrong themselves.
// Build: make libgoes_wrong.so
// Run:   python3 goes_wrong.py
#include "check.h"

#define INTERFACE extern "C" __attribute__((visibility("default")))

__global__ void PickKernel(const float *source, const int *index, float *result, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        result[i] = source[index[i]];
}

// result[i] = source[index[i]] for 0 <= i < n <= 1024. source: m floats. All in host memory.
INTERFACE int pick(const float *source, int m, const int *index, float *result, int n)
{
    cudaError_t error = cudaSuccess;
    float *d_source = NULL, *d_result = NULL;
    int *d_index = NULL;

    CHECK_GOTO(error, cudaMalloc(&d_source, m * sizeof(float)), cleanup);
    CHECK_GOTO(error, cudaMalloc(&d_index, n * sizeof(int)), cleanup);
    CHECK_GOTO(error, cudaMalloc(&d_result, n * sizeof(float)), cleanup);
    CHECK_GOTO(error, cudaMemcpy(d_source, source, m * sizeof(float), cudaMemcpyHostToDevice),
               cleanup);
    CHECK_GOTO(error, cudaMemcpy(d_index, index, n * sizeof(int), cudaMemcpyHostToDevice), cleanup);
    PickKernel<<<1, n>>>(d_source, d_index, d_result, n);
    CHECK_GOTO(error, cudaGetLastError(), cleanup);
    CHECK_GOTO(error, cudaMemcpy(result, d_result, n * sizeof(float), cudaMemcpyDeviceToHost),
               cleanup);

cleanup:
    cudaFree(d_result);
    cudaFree(d_index);
    cudaFree(d_source);
    return error;
}

// Wrong: what it prints stays in C's buffer. fflush(stdout) is missing.
INTERFACE int greet(void)
{
    printf("2: C, in the library\n");
    return 0;
}

__global__ void Nothing(void) {}

// Wrong: CHECK ends the process, whoever that is. A block has at most 1024 threads.
INTERFACE int launch_or_exit(void)
{
    Nothing<<<1, 2000>>>();
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    return 0;
}
