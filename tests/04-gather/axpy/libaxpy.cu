// a * x + y on the GPU, in a shared library with a C interface: what stage 04 becomes with another operation.
// Build: make libaxpy.so
// Run:   python3 test_axpy.py
#include "check.h"

// The interface is visible in the library; all else is hidden (-fvisibility=hidden).
#pragma GCC visibility push(default)
#include "axpy.h"
#pragma GCC visibility pop

#define THREADS 256 // a block

__global__ void AxpyKernel(float a, const float *x, const float *y, float *res, int N)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x; // no overflow: 2^31 is a multiple of THREADS
    if (i < N)
        res[i] = a * x[i] + y[i];
}

extern "C" int Axpy(float a, const float *x, const float *y, float *res, int N)
{
    cudaError_t error = cudaSuccess;
    float *d_x = NULL, *d_y = NULL, *d_res = NULL;

    if (N == 0)
        return cudaSuccess;
    if (N < 0 || !x || !y || !res)
        return cudaErrorInvalidValue;

    size_t bytes = N * sizeof(float);
    CHECK_GOTO(error, cudaMalloc(&d_x, bytes), cleanup);
    CHECK_GOTO(error, cudaMalloc(&d_y, bytes), cleanup);
    CHECK_GOTO(error, cudaMalloc(&d_res, bytes), cleanup);
    CHECK_GOTO(error, cudaMemcpy(d_x, x, bytes, cudaMemcpyHostToDevice), cleanup);
    CHECK_GOTO(error, cudaMemcpy(d_y, y, bytes, cudaMemcpyHostToDevice), cleanup);

    cudaGetLastError(); // an older error, somebody else's, is not this launch's
    AxpyKernel<<<(N - 1) / THREADS + 1, THREADS>>>(a, d_x, d_y, d_res, N);
    CHECK_GOTO(error, cudaGetLastError(), cleanup);
    CHECK_GOTO(error, cudaDeviceSynchronize(), cleanup); // res is written only if all went well
    CHECK_GOTO(error, cudaMemcpy(res, d_res, bytes, cudaMemcpyDeviceToHost), cleanup);

cleanup:
    cudaFree(d_res); // cudaFree(NULL) does nothing
    cudaFree(d_y);
    cudaFree(d_x);
    if (error != cudaSuccess)
        cudaGetLastError(); // the return value tells it: it is not left for somebody else to find
    return error;
}

extern "C" const char *AxpyErrorName(int code)
{
    return cudaGetErrorName((cudaError_t)code);
}

extern "C" const char *AxpyErrorText(int code)
{
    return cudaGetErrorString((cudaError_t)code);
}
