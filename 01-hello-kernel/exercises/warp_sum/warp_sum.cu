// Exercise warp_sum: the threads of a warp hand numbers to each other, without memory and without a barrier.
// Check: make exercises EXERCISE=warp_sum

const int THREADS = 256;  // a block
const unsigned ALL = ~0u; // the threads that take part: a bit for each of the 32 of a warp

// In thread 0 of each warp: the sum of what the 32 threads of this warp have in `mine`. In the others anything.
__device__ int WarpSum(int mine)
{
    // YOUR LINES, about 3: in each step a thread adds what the thread `step` places after it has:
    // __shfl_down_sync(ALL, mine, step).
    for (int step = 16; step > 0; step /= 2)
        mine += __shfl_down_sync(ALL, mine, step);
    return mine;
    // END OF YOUR LINES
}

// *sum += x[0] + ... + x[n - 1]. The grid has at least n threads.
__global__ void Sum(const int *x, int n, int *sum)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // YOUR LINES, about 3: all threads of a warp call WarpSum, and one of them adds the warp's sum to *sum.
    int total = WarpSum(i < n ? x[i] : 0);
    if (threadIdx.x % 32 == 0)
        atomicAdd(sum, total);
    // END OF YOUR LINES
}
