// a * x + y on the GPU: a kernel, its launch, and the C functions for arrays on the GPU and in the host's memory.
#include "axpy.h"
#include <cuda_runtime.h>

#define THREADS 256 // a block
#define CHECK_GOTO(error, call, cleanup) \
    do { \
        (error) = (call); \
        if ((error) != cudaSuccess) \
            goto cleanup; \
    } while (0)

__global__ void axpy_kernel(float a, const float *x, const float *y, float *result, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)                       // the last block may have threads without an element
        result[i] = a * x[i] + y[i]; // CHANGE: what is computed
}

// Also waits.
static cudaError_t launch(float a, const float *x, const float *y, float *result, size_t n)
{
    size_t blocks = (n + THREADS - 1) / THREADS;
    if (blocks > 2147483647)
        return cudaErrorInvalidValue;
    cudaGetLastError(); // an older error, somebody else's, is not this call's
    axpy_kernel<<<(unsigned int)blocks, THREADS>>>(a, x, y, result, n);
    cudaError_t error = cudaGetLastError();
    return error == cudaSuccess ? cudaStreamSynchronize(NULL) : error;
}

extern "C" int axpy_on_gpu(int gpu, float a, const float *x, const float *y, float *result,
                           size_t n)
{
    int before = gpu;
    cudaError_t error = cudaSuccess;
    if (n == 0) // CHANGE, in both functions, if there is a result even then, as a sum has
        return cudaSuccess; // no grid may be empty
    CHECK_GOTO(error, cudaGetDevice(&before), cleanup);
    CHECK_GOTO(error, cudaSetDevice(gpu), cleanup);
    CHECK_GOTO(error, launch(a, x, y, result, n), cleanup);
cleanup:
    cudaSetDevice(before);
    cudaGetLastError(); // the return value tells the error: it is not left for somebody else to find
    return error;
}

extern "C" int axpy_compute(float a, const float *x, const float *y, float *result, size_t n)
{
    cudaError_t error = cudaSuccess;
    // CHANGE: an array on the GPU for each of the host's, and the bytes of each, where it is allocated and copied
    float *d_x = NULL, *d_y = NULL, *d_result = NULL;
    size_t x_bytes = n * sizeof *x, y_bytes = n * sizeof *y, result_bytes = n * sizeof *result;
    if (n == 0)
        return cudaSuccess;
    if (!x || !y || !result)
        return cudaErrorInvalidValue;
    CHECK_GOTO(error, cudaMalloc(&d_x, x_bytes), cleanup);
    CHECK_GOTO(error, cudaMalloc(&d_y, y_bytes), cleanup);
    CHECK_GOTO(error, cudaMalloc(&d_result, result_bytes), cleanup);
    CHECK_GOTO(error, cudaMemcpy(d_x, x, x_bytes, cudaMemcpyHostToDevice), cleanup);
    CHECK_GOTO(error, cudaMemcpy(d_y, y, y_bytes, cudaMemcpyHostToDevice), cleanup);
    CHECK_GOTO(error, launch(a, d_x, d_y, d_result, n), cleanup);
    CHECK_GOTO(error, cudaMemcpy(result, d_result, result_bytes, cudaMemcpyDeviceToHost),
               cleanup); // if all went well
cleanup:
    cudaFree(d_result); // cudaFree(NULL) frees nothing
    cudaFree(d_y);
    cudaFree(d_x);
    cudaGetLastError();
    return error;
}

extern "C" int axpy_available(void)
{
    cudaError_t error = cudaFree(NULL); // frees nothing, but needs a GPU and its driver
    cudaGetLastError();
    return error;
}

extern "C" const char *axpy_error_name(int code)
{
    return cudaGetErrorName((cudaError_t)code);
}

extern "C" const char *axpy_error_text(int code)
{
    return cudaGetErrorString((cudaError_t)code);
}
