// Exercise cleanup: the first error is returned, and nothing stays allocated.
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
    CHECK_GOTO(error, cudaMalloc(&d_a, bytes), cleanup);
    CHECK_GOTO(error, cudaMalloc(&d_b, bytes), cleanup);
    CHECK_GOTO(error, cudaMalloc(&d_out, bytes), cleanup);
    CHECK_GOTO(error, cudaMemcpy(d_a, a, bytes, cudaMemcpyHostToDevice), cleanup);
    CHECK_GOTO(error, cudaMemcpy(d_b, b, bytes, cudaMemcpyHostToDevice), cleanup);
    Larger<<<blocks, threads_in_block>>>(d_a, d_b, d_out, n);
    CHECK_GOTO(error, cudaGetLastError(), cleanup);
    CHECK_GOTO(error, cudaDeviceSynchronize(), cleanup);
    CHECK_GOTO(error, cudaMemcpy(out, d_out, bytes, cudaMemcpyDeviceToHost), cleanup);
cleanup:
    cudaFree(d_out);
    cudaFree(d_b);
    cudaFree(d_a);
    // END OF YOUR LINES
    return error;
}
