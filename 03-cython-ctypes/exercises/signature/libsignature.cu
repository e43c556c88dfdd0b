// The library of exercise signature: a function whose arguments and result have several types.
#include "library.cuh"

__global__ void Sum(const float *x, size_t n, float *sum)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(sum, x[i]);
}

// The mean of the n floats at x, times scale. *code becomes 0, or the code of the CUDA call that failed.
INTERFACE float mean(const float *x, size_t n, double scale, int *code)
{
    *code = cudaErrorInvalidValue;
    if (n == 0)
        return 0;
    cudaError_t error = cudaSuccess;
    float *d_x = NULL, *d_sum = NULL, sum = 0;

    CHECK_GOTO(error, cudaMalloc(&d_x, n * sizeof(float)), cleanup);
    CHECK_GOTO(error, cudaMalloc(&d_sum, sizeof(float)), cleanup);
    CHECK_GOTO(error, cudaMemcpy(d_x, x, n * sizeof(float), cudaMemcpyHostToDevice), cleanup);
    CHECK_GOTO(error, cudaMemset(d_sum, 0, sizeof(float)), cleanup);
    Sum<<<(unsigned int)((n - 1) / 256 + 1), 256>>>(d_x, n, d_sum);
    CHECK_GOTO(error, cudaGetLastError(), cleanup);
    CHECK_GOTO(error, cudaMemcpy(&sum, d_sum, sizeof(float), cudaMemcpyDeviceToHost), cleanup);

cleanup:
    cudaFree(d_sum);
    cudaFree(d_x);
    *code = status(error);
    return (float)((double)sum / (double)n * scale);
}

ERROR_WORDS(error_name, error_text)
