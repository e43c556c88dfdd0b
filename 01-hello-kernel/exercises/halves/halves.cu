// Exercise halves: the first step of a sum. A thread adds the number of another thread to its own.
// Check: make exercises EXERCISE=halves

// A block has 256 threads and 256 elements of x. out[128 * block + t] = the sum of two elements of the block: element t,
// and element t + 128, for t = 0 ... 127. Each thread reads one element of x, its own.
__global__ void Halves(const int *x, int *out)
{
    int t = threadIdx.x;
    // YOUR LINES, about 5: an array in shared memory, into which each thread puts its element. Then the first 128 threads
    // add, because then all elements are there.
    __shared__ int part[256];
    part[t] = x[blockIdx.x * 256 + t];
    __syncthreads();
    if (t < 128)
        out[blockIdx.x * 128 + t] = part[t] + part[t + 128];
    // END OF YOUR LINES
}
