// Exercise element: each thread finds its element.
// Check: make exercises EXERCISE=element

// numbers[i] = 1000 * block + thread, where i is the number of the element: the first block has the first elements,
// the second block those behind them, and so on. There is an element for each thread.
__global__ void Number(int *numbers)
{
    // YOUR LINES, about 2: which element is this thread's? Write to it.
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    numbers[i] = 1000 * blockIdx.x + threadIdx.x;
    // END OF YOUR LINES
}
