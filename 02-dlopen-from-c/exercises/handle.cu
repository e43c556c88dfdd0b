// Exercise 5, handle: memory on the device that stays there from call to call.
// Check: make exercises EXERCISE=handle
#include "check.h"

#define THREADS 256 // a block

// A user of the library has a pointer to this, the handle: for each call, not to look into it.
struct total {
    int n;
    float *d_x, *d_sums; // n floats each, on the device
};

__global__ void Add(const float *x, float *sums, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        sums[i] += x[i];
}

// Frees the handle and what belongs to it. NULL is allowed, and so is a handle that total_create has not finished.
void total_destroy(total *handle)
{
    // YOUR LINES, about 5: the device's memory with cudaFree, the handle with free.
    // END OF YOUR LINES
}

// Makes *handle, with n > 0 sums, which are 0 at first. Returns 0, or the code of the call that failed; then *handle is
// as it was, and nothing stays allocated.
int total_create(total **handle, int n)
{
    cudaError_t error = cudaSuccess;
    // YOUR LINES, about 11: a new total, with malloc or calloc. If that gives NULL, the code is
    // cudaErrorMemoryAllocation. Then its two arrays. A user may have many handles at a time.
    // END OF YOUR LINES
    return error;
}

// Adds n floats to the sums. It allocates nothing: that takes longer than the kernel.
int total_add(total *handle, const float *x)
{
    int n = handle->n;
    cudaError_t error = cudaMemcpy(handle->d_x, x, n * sizeof(float), cudaMemcpyHostToDevice);
    if (error != cudaSuccess)
        return error;
    Add<<<(n - 1) / THREADS + 1, THREADS>>>(handle->d_x, handle->d_sums, n);
    return cudaGetLastError();
}

// The n sums.
int total_read(const total *handle, float *sums)
{
    return cudaMemcpy(sums, handle->d_sums, handle->n * sizeof(float), cudaMemcpyDeviceToHost);
}
