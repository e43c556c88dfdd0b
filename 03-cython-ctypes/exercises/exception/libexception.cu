// The library of exercise exception: device memory, and a kernel that fills it. Each function returns 0, or the code of
// CUDA call that failed.
#include "library.cuh"

__global__ void Fill(float *x, size_t n, float value)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = value;
}

INTERFACE int allocate(float **d_x, size_t n)
{
    *d_x = NULL;
    return status(cudaMalloc(d_x, n * sizeof(float)));
}

INTERFACE int fill(float *d_x, size_t n, float value)
{
    Fill<<<(unsigned int)(n / 256 + 1), 256>>>(d_x, n, value);
    return cudaGetLastError();
}

INTERFACE int read_back(float *x, const float *d_x, size_t n)
{
    return status(cudaMemcpy(x, d_x, n * sizeof(float), cudaMemcpyDeviceToHost));
}

INTERFACE int release(float *d_x)
{
    return status(cudaFree(d_x));
}

ERROR_WORDS(error_name, error_text)
