// The library of exercise owner: memory on the GPU.
#include "library.cuh"
#include "owner.h"

__global__ void Fill(float *x, size_t n, float value)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = value;
}

INTERFACE int owner_allocate(float **d_x, size_t n)
{
    *d_x = NULL;
    if (n == 0)
        return cudaErrorInvalidValue;
    return status(cudaMalloc(d_x, n * sizeof(float)));
}

INTERFACE int owner_fill(float *d_x, size_t n, float value)
{
    Fill<<<(unsigned int)((n - 1) / 256 + 1), 256>>>(d_x, n, value);
    return status(cudaGetLastError());
}

INTERFACE int owner_read(float *x, const float *d_x, size_t n)
{
    return status(cudaMemcpy(x, d_x, n * sizeof(float), cudaMemcpyDeviceToHost));
}

INTERFACE int owner_free(float *d_x)
{
    return d_x ? status(cudaFree(d_x)) : cudaSuccess;
}

ERROR_WORDS(owner_error_name, owner_error_text)
