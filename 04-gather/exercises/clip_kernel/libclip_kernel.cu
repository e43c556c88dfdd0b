// Exercise clip_kernel: the kernel, and the C function that calls it. The interface, clip_kernel/clip_kernel.h, is given.
// Check: make exercises EXERCISE=clip_kernel
#include "check.h" // CHECK_GOTO

#pragma GCC visibility push(default)
#include "clip_kernel.h"
#pragma GCC visibility pop

const int THREADS = 256; // a block

// result[i] = x[i], but low if x[i] is smaller, and high if x[i] is larger, for n elements. NaN ("not a number",
// as 0.0 / 0.0 is) stays NaN: it is neither smaller nor larger than any number.
__global__ void Clip(const float *x, float low, float high, float *result, size_t n)
{
    // YOUR LINES, about 3: the element of this thread, if there is one.
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        result[i] = x[i] < low ? low : x[i] > high ? high : x[i];
    // END OF YOUR LINES
}

// The same for arrays on the host. Returns the first error, or 0; an error is not left for somebody else to find.
extern "C" int clip(const float *x, float low, float high, float *result, size_t n)
{
    cudaError_t error = cudaSuccess;
    float *d_x = NULL, *d_result = NULL;
    size_t bytes = n * sizeof(float), blocks = (n + THREADS - 1) / THREADS;

    if (n == 0)
        return cudaSuccess;
    CHECK_GOTO(error, cudaMalloc(&d_x, bytes), cleanup);
    CHECK_GOTO(error, cudaMalloc(&d_result, bytes), cleanup);
    CHECK_GOTO(error, cudaMemcpy(d_x, x, bytes, cudaMemcpyHostToDevice), cleanup);
    cudaGetLastError(); // an older error, somebody else's, is not this launch's
    // YOUR LINES, about 3: launch the kernel, with so many blocks. Was the launch accepted? Copy the result back.
    Clip<<<blocks, THREADS>>>(d_x, low, high, d_result, n);
    CHECK_GOTO(error, cudaGetLastError(), cleanup);
    CHECK_GOTO(error, cudaMemcpy(result, d_result, bytes, cudaMemcpyDeviceToHost), cleanup);
    // END OF YOUR LINES

cleanup:
    cudaFree(d_result);
    cudaFree(d_x);
    if (error != cudaSuccess)
        cudaGetLastError();
    return error;
}
