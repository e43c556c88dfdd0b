// Exercise 8, block_sum: the threads of a block work together.
// Check: make exercises EXERCISE=block_sum

// sums[b] = the sum of the elements that the threads of block b have, of the n elements of x. A block has 256 threads.
__global__ void BlockSum(const int *x, int n, int *sums)
{
    // YOUR LINES, about 10: shared memory with a number for each thread: its element, or 0 if it has none. Then the first
    // half of the threads adds the numbers of the second half to its own, then the first quarter those of the second
    // quarter, and so on. Who reads what another thread has written has to wait for it.
    // END OF YOUR LINES
}
