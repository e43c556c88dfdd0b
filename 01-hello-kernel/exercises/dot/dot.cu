// Exercise dot: a sum over arrays of any length.
// Check: make exercises EXERCISE=dot

const int THREADS = 256; // a block
const int MOST_BLOCKS = 512;

// *result += x[0] * y[0] + ... + x[n - 1] * y[n - 1], by any number of blocks of THREADS threads.
__global__ void Dot(const float *x, const float *y, int n, float *result)
{
    // YOUR LINES, about 15: each thread adds up its products; the block adds up what its threads have, in shared memory;
    // one thread of each block adds the block's sum to *result.
    __shared__ float part[THREADS];
    int t = threadIdx.x;
    float mine = 0;
    for (int i = blockIdx.x * THREADS + t; i < n; i += gridDim.x * THREADS)
        mine += x[i] * y[i];
    part[t] = mine;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half)
            part[t] += part[t + half];
    }
    if (t == 0)
        atomicAdd(result, part[0]);
    // END OF YOUR LINES
}

// *result = the dot product of x and y. All pointers are to the device's memory. Returns the first CUDA call's error.
cudaError_t dot(const float *x, const float *y, int n, float *result)
{
    // YOUR LINES, about 6: as many blocks as n needs, but at most MOST_BLOCKS; *result has any value before.
    int blocks = (n + THREADS - 1) / THREADS;
    if (blocks > MOST_BLOCKS)
        blocks = MOST_BLOCKS;
    cudaError_t error = cudaMemset(result, 0, sizeof *result);
    if (error == cudaSuccess && n > 0) {
        Dot<<<blocks, THREADS>>>(x, y, n, result);
        error = cudaGetLastError();
    }
    return error;
    // END OF YOUR LINES
}
