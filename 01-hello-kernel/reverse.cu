// The threads of a block work together: each block reverses its 256 numbers, by way of shared memory.
// Build: make reverse
// Run:   ./reverse, then ./reverse no_barrier
#include "check.h"
#include <string.h>

#define THREADS 256 // a block
#define BLOCKS 4

__global__ void Reverse(int *x)
{
    __shared__ int part[THREADS]; // one for each block; all threads of the block see it
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    part[t] = x[i];
    __syncthreads(); // nobody goes on until all threads of the block are here
    x[i] = part[THREADS - 1 - t];
}

// Without the barrier a thread may read what the other thread has not written yet.
__global__ void ReverseTooEarly(int *x)
{
    __shared__ int part[THREADS];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    part[t] = x[i];
    x[i] = part[THREADS - 1 - t];
}

int main(int argc, char **argv)
{
    const int n = BLOCKS * THREADS;
    int x[n], *d_x, right = 0;
    for (int i = 0; i < n; i++)
        x[i] = i;

    CHECK(cudaMalloc(&d_x, sizeof x));
    CHECK(cudaMemcpy(d_x, x, sizeof x, cudaMemcpyHostToDevice));
    if (argc > 1 && strcmp(argv[1], "no_barrier") == 0)
        ReverseTooEarly<<<BLOCKS, THREADS>>>(d_x);
    else
        Reverse<<<BLOCKS, THREADS>>>(d_x);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(x, d_x, sizeof x, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_x));

    for (int i = 0; i < n; i++)
        right += x[i] == i / THREADS * THREADS + THREADS - 1 - i % THREADS;
    printf("%d of %d right\n", right, n);
    return right == n ? 0 : 1;
}
