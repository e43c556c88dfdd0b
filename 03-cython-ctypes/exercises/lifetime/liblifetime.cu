// The library of exercise lifetime: memory on the GPU, and the sum of what is there.
#include "library.cuh"

// *device = new memory on the GPU, with the n floats at x. Returns 0, or the code of the CUDA call that failed.
INTERFACE int copy_in(void **device, const float *x, size_t n)
{
    float *d_x = NULL;
    cudaError_t error = cudaMalloc(&d_x, n * sizeof(float));
    if (error == cudaSuccess)
        error = cudaMemcpy(d_x, x, n * sizeof(float), cudaMemcpyHostToDevice);
    if (error != cudaSuccess)
        cudaFree(d_x);
    else
        *device = d_x;
    return status(error);
}

INTERFACE int release(void *device)
{
    return status(cudaFree(device));
}

__global__ void Sum(const float *x, size_t n, float *sum)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(sum, x[i]);
}

// *result = the sum of the n floats at d_x, which is memory on the GPU. n is at least 1.
INTERFACE int sum(const float *d_x, size_t n, float *result)
{
    cudaError_t error = cudaSuccess;
    float *d_sum = NULL;

    CHECK_GOTO(error, cudaMalloc(&d_sum, sizeof(float)), cleanup);
    CHECK_GOTO(error, cudaMemset(d_sum, 0, sizeof(float)), cleanup);
    Sum<<<(unsigned int)((n - 1) / 256 + 1), 256>>>(d_x, n, d_sum);
    CHECK_GOTO(error, cudaGetLastError(), cleanup);
    CHECK_GOTO(error, cudaMemcpy(result, d_sum, sizeof(float), cudaMemcpyDeviceToHost), cleanup);

cleanup:
    cudaFree(d_sum);
    return status(error);
}

ERROR_WORDS(error_name, error_text)
