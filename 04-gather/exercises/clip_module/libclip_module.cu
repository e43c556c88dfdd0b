// The library of exercise clip_module: it is given. For the check it also keeps with what clip() was called last.
#include "clip_module.h"
#include "library.cuh"
#include <dlfcn.h>

__attribute__((visibility("default"))) struct Arrived {
    const float *x, *result;
    size_t n;
    int calls, has_gil;
} arrived;

const int THREADS = 256; // a block

__global__ void Clip(const float *x, float low, float high, float *result, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        result[i] = x[i] < low ? low : x[i] > high ? high : x[i];
}

INTERFACE int clip(const float *x, float low, float high, float *result, size_t n)
{
    cudaError_t error = cudaSuccess;
    float *d_x = NULL, *d_result = NULL;
    size_t bytes = n * sizeof(float);
    int (*is_gil_held)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "PyGILState_Check");
    arrived = {x, result, n, arrived.calls + 1, is_gil_held && is_gil_held()};

    CHECK_GOTO(error, cudaMalloc(&d_x, bytes), cleanup);
    CHECK_GOTO(error, cudaMalloc(&d_result, bytes), cleanup);
    CHECK_GOTO(error, cudaMemcpy(d_x, x, bytes, cudaMemcpyHostToDevice), cleanup);
    Clip<<<(n + THREADS - 1) / THREADS, THREADS>>>(d_x, low, high, d_result, n);
    CHECK_GOTO(error, cudaGetLastError(), cleanup);
    CHECK_GOTO(error, cudaMemcpy(result, d_result, bytes, cudaMemcpyDeviceToHost), cleanup);

cleanup:
    cudaFree(d_result);
    cudaFree(d_x);
    return error;
}

ERROR_WORDS(clip_error_name, clip_error_text)
