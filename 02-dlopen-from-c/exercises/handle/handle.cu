// Exercise handle: memory on the device that stays there from call to call.
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
    if (!handle)
        return;
    cudaFree(handle->d_sums);
    cudaFree(handle->d_x);
    free(handle);
    // END OF YOUR LINES
}

// Makes *handle, with n > 0 sums, which are 0 at first. Returns 0, or the code of the call that failed; then *handle is
// as it was, and nothing stays allocated.
int total_create(total **handle, int n)
{
    cudaError_t error = cudaSuccess;
    // YOUR LINES, about 11: a new total, with malloc or calloc. If that gives NULL, the code is
    // cudaErrorMemoryAllocation. Then its two arrays. A user may have many handles at a time.
    total *t = (total *)calloc(1, sizeof(total));
    if (!t)
        return cudaErrorMemoryAllocation;
    t->n = n;
    CHECK_GOTO(error, cudaMalloc(&t->d_x, n * sizeof(float)), failed);
    CHECK_GOTO(error, cudaMalloc(&t->d_sums, n * sizeof(float)), failed);
    CHECK_GOTO(error, cudaMemset(t->d_sums, 0, n * sizeof(float)), failed);
    *handle = t;
    return cudaSuccess;
failed:
    total_destroy(t);
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
