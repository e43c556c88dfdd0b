// The library of exercise strided: 2 * x, for elements that do not lie side by side.
#include "library.cuh"
#include "strided.h"

// What the last call was given, for the check.
__attribute__((visibility("default"))) struct seen {
    const float *x;
    size_t stride, n, calls;
} strided_seen;

__global__ void Double(float *x, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= 2;
}

INTERFACE int doubled(const float *x, size_t stride, size_t n, float *result)
{
    strided_seen = {x, stride, n, strided_seen.calls + 1};
    if (n == 0)
        return cudaErrorInvalidValue;
    cudaError_t error = cudaSuccess;
    const size_t one = sizeof(float);
    float *d_x = NULL;

    CHECK_GOTO(error, cudaMalloc(&d_x, n * one), cleanup);
    // A matrix of n rows, of which the first column is copied: its rows begin `stride` bytes after each other on the
    // host, side by side on the device.
    CHECK_GOTO(error, cudaMemcpy2D(d_x, one, x, stride, one, n, cudaMemcpyHostToDevice), cleanup);
    Double<<<(unsigned int)((n - 1) / 256 + 1), 256>>>(d_x, n);
    CHECK_GOTO(error, cudaGetLastError(), cleanup);
    CHECK_GOTO(error, cudaMemcpy(result, d_x, n * one, cudaMemcpyDeviceToHost), cleanup);

cleanup:
    cudaFree(d_x);
    return status(error);
}

ERROR_WORDS(strided_error_name, strided_error_text)
