// Exercise five_steps: what the host does for a kernel.
// Check: make exercises EXERCISE=five_steps
#include "check.h"

const int THREADS = 256; // a block

// c[i] = a[i] * b[i] for 0 <= i < n; arrays in the device's memory.
__global__ void Multiply(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] * b[i];
}

// The same for arrays in the host's memory. n is at least 1.
void multiply(const float *a, const float *b, float *c, int n)
{
    // YOUR LINES, about 13: room for three arrays on the device, the data of two of them, the launch, the result, and
    // the room is given back. Each CUDA call stands in CHECK, and a launch is asked whether it was accepted.
    size_t bytes = n * sizeof(float);
    float *d_a, *d_b, *d_c;
    CHECK(cudaMalloc(&d_a, bytes));
    CHECK(cudaMalloc(&d_b, bytes));
    CHECK(cudaMalloc(&d_c, bytes));
    CHECK(cudaMemcpy(d_a, a, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_b, b, bytes, cudaMemcpyHostToDevice));
    Multiply<<<(n + THREADS - 1) / THREADS, THREADS>>>(d_a, d_b, d_c, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(c, d_c, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_c));
    CHECK(cudaFree(d_b));
    CHECK(cudaFree(d_a));
    // END OF YOUR LINES
}
