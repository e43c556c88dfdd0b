// Exercise dot: a sum over arrays of any length, from an empty file. Its test is dot/dot_check.cu.
// Check: make exercises EXERCISE=dot

// YOUR LINES, about 30: a kernel, and cudaError_t dot(const float *x, const float *y, int n, float *result), which sets
// *result to the dot product of x and y, all in the device's memory, and returns the first error of a CUDA call.
const int THREADS = 256; // a block
const int MOST_BLOCKS = 512;

// *result += x[0] * y[0] + ... + x[n - 1] * y[n - 1], by any number of blocks of THREADS threads.
__global__ void Dot(const float *x, const float *y, int n, float *result)
{
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
}

cudaError_t dot(const float *x, const float *y, int n, float *result)
{
    int blocks = (n + THREADS - 1) / THREADS;
    if (blocks > MOST_BLOCKS)
        blocks = MOST_BLOCKS;
    cudaError_t error = cudaMemset(result, 0, sizeof *result);
    if (error == cudaSuccess && n > 0) {
        Dot<<<blocks, THREADS>>>(x, y, n, result);
        error = cudaGetLastError();
    }
    return error;
}
// END OF YOUR LINES
