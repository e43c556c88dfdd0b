// Exercise 4, stride: a few threads, and many elements.
// Check: make exercises EXERCISE=stride

// Adds 1 to each of n elements, with any number of blocks and threads: each thread takes an element, then the one that
// is as many elements further on as the grid has threads, and so on.
__global__ void AddOne(int *x, int n)
{
    // YOUR LINES, about 3: a for loop.
    // END OF YOUR LINES
}
