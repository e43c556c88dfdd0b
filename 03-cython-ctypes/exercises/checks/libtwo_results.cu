// The library of exercise 3: x + y and x - y, in one call.
#include "check.h"

#pragma GCC visibility push(default)
#include "two_results.h"
#pragma GCC visibility pop

// What came with the last call, for the check.
__attribute__((visibility("default"))) struct seen {
    const float *x, *y, *sum, *difference;
    size_t n;
} two_results_seen;

__global__ void SumAndDifference(const float *x, const float *y, float *sum, float *difference,
                                 size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        sum[i] = x[i] + y[i];
        difference[i] = x[i] - y[i];
    }
}

extern "C" int sum_and_difference(const float *x, const float *y, float *sum, float *difference,
                                  size_t n)
{
    two_results_seen = {x, y, sum, difference, n};
    if (n == 0)
        return cudaErrorInvalidValue;
    cudaError_t error = cudaSuccess;
    size_t bytes = n * sizeof(float);
    float *d_x = NULL, *d_y = NULL, *d_sum = NULL, *d_difference = NULL;

    CHECK_GOTO(error, cudaMalloc(&d_x, bytes), cleanup);
    CHECK_GOTO(error, cudaMalloc(&d_y, bytes), cleanup);
    CHECK_GOTO(error, cudaMalloc(&d_sum, bytes), cleanup);
    CHECK_GOTO(error, cudaMalloc(&d_difference, bytes), cleanup);
    CHECK_GOTO(error, cudaMemcpy(d_x, x, bytes, cudaMemcpyHostToDevice), cleanup);
    CHECK_GOTO(error, cudaMemcpy(d_y, y, bytes, cudaMemcpyHostToDevice), cleanup);
    SumAndDifference<<<(unsigned int)((n - 1) / 256 + 1), 256>>>(d_x, d_y, d_sum, d_difference, n);
    CHECK_GOTO(error, cudaGetLastError(), cleanup);
    CHECK_GOTO(error, cudaMemcpy(sum, d_sum, bytes, cudaMemcpyDeviceToHost), cleanup);
    CHECK_GOTO(error, cudaMemcpy(difference, d_difference, bytes, cudaMemcpyDeviceToHost), cleanup);

cleanup:
    cudaFree(d_difference);
    cudaFree(d_sum);
    cudaFree(d_y);
    cudaFree(d_x);
    cudaGetLastError(); // what a failed call leaves behind: the return value tells it
    return error;
}

extern "C" const char *two_results_error_name(int code)
{
    return cudaGetErrorName((cudaError_t)code);
}

extern "C" const char *two_results_error_text(int code)
{
    return cudaGetErrorString((cudaError_t)code);
}
