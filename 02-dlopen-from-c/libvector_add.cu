// b += a in a shared library: a function with arguments, which returns its error.
// Build: make libvector_add.so
// Run:   ./vector_add_c
#include "check.h"

// The interface is visible in the library; all else is hidden (-fvisibility=hidden).
#pragma GCC visibility push(default)
#include "vector_add.h"
#pragma GCC visibility pop

#define THREADS 256 // a block

__global__ void VectorAdd(const float *a, float *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x; // no overflow: 2^31 is a multiple of THREADS
    if (i < n)
        b[i] += a[i];
}

extern "C" int vector_add(const float *a, float *b, int n)
{
    cudaError_t error = cudaSuccess;
    float *d_a = NULL, *d_b = NULL;

    if (n == 0)
        return cudaSuccess;
    if (n < 0 || !a || !b)
        return cudaErrorInvalidValue;

    size_t bytes = n * sizeof(float);
    CHECK_GOTO(error, cudaMalloc(&d_a, bytes), cleanup);
    CHECK_GOTO(error, cudaMalloc(&d_b, bytes), cleanup);
    CHECK_GOTO(error, cudaMemcpy(d_a, a, bytes, cudaMemcpyHostToDevice), cleanup);
    CHECK_GOTO(error, cudaMemcpy(d_b, b, bytes, cudaMemcpyHostToDevice), cleanup);

    cudaGetLastError(); // an older error, somebody else's, is not this launch's
    VectorAdd<<<(n - 1) / THREADS + 1, THREADS>>>(d_a, d_b, n);
    CHECK_GOTO(error, cudaGetLastError(), cleanup);
    CHECK_GOTO(error, cudaDeviceSynchronize(), cleanup); // b is written only if all went well
    CHECK_GOTO(error, cudaMemcpy(b, d_b, bytes, cudaMemcpyDeviceToHost), cleanup);

cleanup:
    cudaFree(d_b); // cudaFree(NULL) frees nothing
    cudaFree(d_a);
    if (error != cudaSuccess)
        cudaGetLastError(); // the return value tells it: it is not left for somebody else to find
    return error;
}

extern "C" const char *vector_add_error_name(int code)
{
    return cudaGetErrorName((cudaError_t)code);
}

extern "C" const char *vector_add_error_text(int code)
{
    return cudaGetErrorString((cudaError_t)code);
}
