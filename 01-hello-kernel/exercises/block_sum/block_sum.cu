// Exercise block_sum: the threads of a block work together.
// Check: make exercises EXERCISE=block_sum

// sums[b] = the sum of the elements that the threads of block b have, of the n elements of x. A block has 256 threads.
__global__ void BlockSum(const int *x, int n, int *sums)
{
    // YOUR LINES, about 10: shared memory with a number for each thread: its element, or 0 if it has none. Then the first
    // half of the threads adds the numbers of the second half to its own, then the first quarter those of the second
    // quarter, and so on. Who reads what another thread has written has to wait for it.
    __shared__ int part[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    part[t] = i < n ? x[i] : 0;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half)
            part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0)
        sums[blockIdx.x] = part[0];
    // END OF YOUR LINES
}
