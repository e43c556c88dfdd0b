// Exercise stride: a few threads, and many elements.
// Check: make exercises EXERCISE=stride

// Adds 1 to each of n elements, with any number of blocks and threads: each thread takes an element, then the one that
// is as many elements further on as the grid has threads, and so on.
__global__ void AddOne(int *x, int n)
{
    // YOUR LINES, about 3: a for loop.
    int threads_in_grid = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads_in_grid)
        x[i] += 1;
    // END OF YOUR LINES
}
