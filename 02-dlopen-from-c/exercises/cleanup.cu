// Exercise 3, cleanup: the first error is returned, and nothing stays allocated.
// Check: make exercises EXERCISE=cleanup
#include "check.h"

__global__ void Larger(const float *a, const float *b, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = a[i] > b[i] ? a[i] : b[i];
}

// out[i] = the larger one of a[i] and b[i], for n > 0 floats each, in host memory. Returns 0, or the code of the first
// CUDA call that failed. In both cases nothing stays allocated on the device, and nothing is printed.
int larger(const float *a, const float *b, float *out, int n, int threads_in_block)
{
    cudaError_t error = cudaSuccess;
    float *d_a = NULL, *d_b = NULL, *d_out = NULL;
    size_t bytes = n * sizeof(float);
    int blocks = (n - 1) / threads_in_block + 1;

    // YOUR LINES, about 13: memory for d_a, d_b and d_out; a and b are copied to the device; the launch; out is copied
    // back; all is freed. Each call may fail. A launch fails, for example, if a block has 2048 threads.
    // END OF YOUR LINES
    return error;
}
