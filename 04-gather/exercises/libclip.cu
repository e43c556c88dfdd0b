// Exercise 5, clip: the kernel, and the C function that calls it.
// Check: make exercises EXERCISE=clip
#include "check.h"

#pragma GCC visibility push(default)
#include "clip.h"
#pragma GCC visibility pop

const int THREADS = 256; // a block

__global__ void Clip(const float *x, float low, float high, float *result, size_t n)
{
    // YOUR LINES, about 3: the element of this thread. NaN is neither smaller nor larger than any number.
    // END OF YOUR LINES
}

extern "C" int clip(const float *x, float low, float high, float *result, size_t n)
{
    cudaError_t error = cudaSuccess;
    float *d_x = NULL, *d_result = NULL;
    size_t bytes = n * sizeof(float);

    if (n == 0)
        return cudaSuccess;
    CHECK_GOTO(error, cudaMalloc(&d_x, bytes), cleanup);
    CHECK_GOTO(error, cudaMalloc(&d_result, bytes), cleanup);
    CHECK_GOTO(error, cudaMemcpy(d_x, x, bytes, cudaMemcpyHostToDevice), cleanup);
    cudaGetLastError(); // an older error, somebody else's, is not this launch's
    // YOUR LINES, about 3: launch the kernel. Was the launch accepted? Copy the result back.
    // END OF YOUR LINES

cleanup:
    cudaFree(d_result);
    cudaFree(d_x);
    if (error != cudaSuccess)
        cudaGetLastError(); // the return value tells it: it is not left for somebody else to find
    return error;
}

extern "C" const char *clip_error_name(int code)
{
    return cudaGetErrorName((cudaError_t)code);
}

extern "C" const char *clip_error_text(int code)
{
    return cudaGetErrorString((cudaError_t)code);
}
