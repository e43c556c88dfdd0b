// Exercise coalesced: threads side by side take elements side by side.
// Check: make exercises EXERCISE=coalesced

const int EACH = 8; // elements of each thread

// Adds 1 to each of n elements. The grid has a thread for each 8 elements, so each thread takes up to 8 of them.
__global__ void AddOneToEight(float *x, int n)
{
    // YOUR LINES, about 5: which 8 elements are this thread's? The threads of a warp (32 threads that do the same line at
    // the same time) shall take 32 elements that lie side by side, in each step.
    int first = blockIdx.x * blockDim.x * EACH + threadIdx.x;
    for (int k = 0; k < EACH; k++) {
        int i = first + k * blockDim.x;
        if (i < n)
            x[i] += 1;
    }
    // END OF YOUR LINES
}
