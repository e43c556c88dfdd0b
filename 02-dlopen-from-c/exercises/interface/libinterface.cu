// Exercise interface: a library that C programs can use.
// Check: make exercises EXERCISE=interface
// Look:  nm -D --defined-only exercises/.tried/interface/cpu/libinterface.so
#include "check.h"

// YOUR LINES, about 2: this library's interface. dlsym finds these two functions by these names, and nothing else:
//     int raise_all(float *x, int n, float by)
//     const char *raise_error_name(int code)
// Declare both here, before their definitions. What a declaration says of a name is true of its definition too.
extern "C" __attribute__((visibility("default"))) int raise_all(float *x, int n, float by);
extern "C" __attribute__((visibility("default"))) const char *raise_error_name(int code);
// END OF YOUR LINES

#define THREADS 256 // a block

__global__ void RaiseAll(float *x, int n, float by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += by;
}

// How many blocks n elements need. For this library only.
int blocks_for(int n)
{
    return (n - 1) / THREADS + 1;
}

// Adds `by` to each of n floats in host memory. Returns 0, or the code of the CUDA call that failed.
int raise_all(float *x, int n, float by)
{
    cudaError_t error = cudaSuccess;
    float *d_x = NULL;

    if (n == 0)
        return cudaSuccess;
    if (n < 0 || !x)
        return cudaErrorInvalidValue;

    size_t bytes = n * sizeof(float);
    CHECK_GOTO(error, cudaMalloc(&d_x, bytes), cleanup);
    CHECK_GOTO(error, cudaMemcpy(d_x, x, bytes, cudaMemcpyHostToDevice), cleanup);
    RaiseAll<<<blocks_for(n), THREADS>>>(d_x, n, by);
    CHECK_GOTO(error, cudaGetLastError(), cleanup);
    CHECK_GOTO(error, cudaMemcpy(x, d_x, bytes, cudaMemcpyDeviceToHost), cleanup);

cleanup:
    cudaFree(d_x);
    return error;
}

// The name of a code that raise_all() returned.
const char *raise_error_name(int code)
{
    return cudaGetErrorName((cudaError_t)code);
}
