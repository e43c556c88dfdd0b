// result = a * b, element by element, in a shared library with a C interface.
// Build: make libmultiply.so
// Run:   python3 -c "import numpy as np, multiply; print(multiply.multiply(...))": see multiply.pyx
#include "check.h"
#include <stdint.h>

// The interface is visible in the library; all else is hidden (-fvisibility=hidden).
#pragma GCC visibility push(default)
#include "multiply.h"
#pragma GCC visibility pop

#define THREADS 256 // a block

__global__ void MultiplyKernel(const float *a, const float *b, float *result, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        result[i] = a[i] * b[i];
}

// What a failed call leaves behind for cudaGetLastError() is removed: the return value tells it.
static int status(cudaError_t error)
{
    if (error != cudaSuccess)
        cudaGetLastError();
    return error;
}

extern "C" int multiply_on_device(const float *d_a, const float *d_b, float *d_result, size_t n)
{
    if (n == 0)
        return cudaSuccess;
    size_t blocks = (n - 1) / THREADS + 1;
    if (!d_a || !d_b || !d_result || blocks > 2147483647)
        return cudaErrorInvalidValue;
    cudaGetLastError(); // an older error, somebody else's, is not this launch's
    MultiplyKernel<<<(unsigned int)blocks, THREADS>>>(d_a, d_b, d_result, n);
    return cudaGetLastError();
}

extern "C" int multiply(const float *a, const float *b, float *result, size_t n)
{
    int error = cudaSuccess;
    float *d_a = NULL, *d_b = NULL;

    if (n > 0 && (!a || !b || !result))
        return cudaErrorInvalidValue;
    CHECK_GOTO(error, device_allocate(&d_a, n), cleanup);
    CHECK_GOTO(error, device_allocate(&d_b, n), cleanup);
    CHECK_GOTO(error, device_write(d_a, a, n), cleanup);
    CHECK_GOTO(error, device_write(d_b, b, n), cleanup);
    CHECK_GOTO(error, multiply_on_device(d_a, d_b, d_b, n), cleanup);
    CHECK_GOTO(error, device_wait(), cleanup); // result is written only if all went well
    CHECK_GOTO(error, device_read(result, d_b, n), cleanup);

cleanup:
    device_free(d_b);
    device_free(d_a);
    return error;
}

extern "C" int device_allocate(float **d_x, size_t n)
{
    if (!d_x)
        return cudaErrorInvalidValue;
    *d_x = NULL;
    if (n > SIZE_MAX / sizeof(float))
        return cudaErrorMemoryAllocation;
    return status(cudaMalloc(d_x, n * sizeof(float)));
}

extern "C" int device_free(float *d_x)
{
    return status(cudaFree(d_x));
}

extern "C" int device_write(float *d_x, const float *x, size_t n)
{
    if (n > SIZE_MAX / sizeof(float) || (n > 0 && (!d_x || !x)))
        return cudaErrorInvalidValue;
    return status(cudaMemcpy(d_x, x, n * sizeof(float), cudaMemcpyHostToDevice));
}

extern "C" int device_read(float *x, const float *d_x, size_t n)
{
    if (n > SIZE_MAX / sizeof(float) || (n > 0 && (!d_x || !x)))
        return cudaErrorInvalidValue;
    return status(cudaMemcpy(x, d_x, n * sizeof(float), cudaMemcpyDeviceToHost));
}

extern "C" int device_wait(void)
{
    return status(cudaDeviceSynchronize());
}

extern "C" const char *multiply_error_name(int code)
{
    return cudaGetErrorName((cudaError_t)code);
}

extern "C" const char *multiply_error_text(int code)
{
    return cudaGetErrorString((cudaError_t)code);
}
