// A library of a learner's: halves n floats.
#include "check.h"
#pragma GCC visibility push(default)
#include "mine.h"
#pragma GCC visibility pop

__global__ void HalfKernel(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] /= 2;
}

extern "C" int half(float *x, int n)
{
    cudaError_t error = cudaSuccess;
    float *d_x = NULL;
    CHECK_GOTO(error, cudaMalloc(&d_x, n * sizeof *x), cleanup);
    CHECK_GOTO(error, cudaMemcpy(d_x, x, n * sizeof *x, cudaMemcpyHostToDevice), cleanup);
    HalfKernel<<<(n + 255) / 256, 256>>>(d_x, n);
    CHECK_GOTO(error, cudaGetLastError(), cleanup);
    CHECK_GOTO(error, cudaMemcpy(x, d_x, n * sizeof *x, cudaMemcpyDeviceToHost), cleanup);
cleanup:
    cudaFree(d_x);
    return error;
}
