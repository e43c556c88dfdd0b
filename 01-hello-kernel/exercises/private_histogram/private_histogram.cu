// Exercise private_histogram: each block counts for itself, in shared memory.
// Check: make exercises EXERCISE=private_histogram

const int THREADS = 256; // a block
const int BINS = 64;     // fewer than the threads of a block

// counts[v] += how often the value v, from 0 to BINS - 1, is among the n values. There may be any number of blocks, of
// THREADS threads.
__global__ void Histogram(const unsigned char *values, int n, int *counts)
{
    // YOUR LINES, about 9: counters of the block, which begin at 0; each value is counted there; and at the end what the
    // block has counted is added to counts.
    __shared__ int own[BINS];
    int t = threadIdx.x;
    if (t < BINS)
        own[t] = 0;
    __syncthreads();
    for (int i = blockIdx.x * THREADS + t; i < n; i += gridDim.x * THREADS)
        atomicAdd(&own[values[i]], 1);
    __syncthreads();
    if (t < BINS && own[t] > 0)
        atomicAdd(&counts[t], own[t]);
    // END OF YOUR LINES
}
