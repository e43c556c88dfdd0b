// Gather on the GPU: result = source[index], in a shared library with a C interface.
// Build: make libcuda_index.so
// Run:   python3 test_gather.py
#include "check.h"
#include <limits.h>

// The interface is visible in the library; all else is hidden (-fvisibility=hidden).
#pragma GCC visibility push(default)
#include "cuda_index.cuh"
#pragma GCC visibility pop

#define THREADS 256 // a block

// One thread an element. A bad index is not followed; *first_bad tells the first position of one.
__global__ void GatherKernel(const float *source, const int *index, float *res, int N, int M,
                             int *first_bad)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x; // no overflow: 2^31 is a multiple of THREADS
    if (i < N) {
        int j = index[i];
        if (j < 0)
            j += M; // from the end, as in Python
        if (j >= 0 && j < M)
            res[i] = source[j];
        else
            atomicMin(first_bad, i);
    }
}

extern "C" int Gather(const float *source, const int *index, float *res, int N, int M)
{
    cudaError_t error = cudaSuccess;
    float *d_source = NULL, *d_res = NULL;
    int *d_index = NULL, *d_first_bad = NULL;
    int first_bad = INT_MAX;

    if (N == 0)
        return cudaSuccess;
    if (N < 0 || M < 0 || !index || !res || (M > 0 && !source))
        return cudaErrorInvalidValue;

    size_t source_bytes = M * sizeof(float);
    size_t index_bytes = N * sizeof(int), res_bytes = N * sizeof(float);
    CHECK_GOTO(error, cudaMalloc(&d_source, source_bytes), cleanup);
    CHECK_GOTO(error, cudaMalloc(&d_index, index_bytes), cleanup);
    CHECK_GOTO(error, cudaMalloc(&d_res, res_bytes), cleanup);
    CHECK_GOTO(error, cudaMalloc(&d_first_bad, sizeof first_bad), cleanup);
    CHECK_GOTO(error, cudaMemcpy(d_source, source, source_bytes, cudaMemcpyHostToDevice), cleanup);
    CHECK_GOTO(error, cudaMemcpy(d_index, index, index_bytes, cudaMemcpyHostToDevice), cleanup);
    CHECK_GOTO(error, cudaMemcpy(d_first_bad, &first_bad, sizeof first_bad, cudaMemcpyHostToDevice),
               cleanup);

    cudaGetLastError(); // an older error, somebody else's, is not this launch's
    GatherKernel<<<(N - 1) / THREADS + 1, THREADS>>>(d_source, d_index, d_res, N, M, d_first_bad);
    CHECK_GOTO(error, cudaGetLastError(), cleanup);

    // A copy back waits for the kernel, and reports what went wrong in it.
    CHECK_GOTO(error, cudaMemcpy(&first_bad, d_first_bad, sizeof first_bad, cudaMemcpyDeviceToHost),
               cleanup);
    if (first_bad == INT_MAX)
        CHECK_GOTO(error, cudaMemcpy(res, d_res, res_bytes, cudaMemcpyDeviceToHost), cleanup);

cleanup:
    cudaFree(d_first_bad); // cudaFree(NULL) does nothing
    cudaFree(d_res);
    cudaFree(d_index);
    cudaFree(d_source);
    if (error != cudaSuccess) {
        cudaGetLastError(); // the return value tells it: it is not left for somebody else to find
        return error;
    }
    return first_bad == INT_MAX ? 0 : -1 - first_bad;
}

extern "C" const char *GatherErrorName(int code)
{
    return cudaGetErrorName((cudaError_t)code);
}

extern "C" const char *GatherErrorText(int code)
{
    return cudaGetErrorString((cudaError_t)code);
}
