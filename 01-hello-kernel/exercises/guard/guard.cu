// Exercise guard: more threads than elements.
// Check: make exercises EXERCISE=guard

const int THREADS = 256; // a block

__global__ void Scale(float *x, float factor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // YOUR LINES, about 2: x[i] becomes factor * x[i]. Not every thread has an element.
    if (i < n)
        x[i] = factor * x[i];
    // END OF YOUR LINES
}

// Multiplies the n elements of x, which is on the device, by factor.
void scale(float *x, float factor, int n)
{
    int blocks = 1;
    // YOUR LINES, about 1: how many blocks do n elements need? n is not always a multiple of THREADS.
    blocks = (n + THREADS - 1) / THREADS;
    // END OF YOUR LINES
    Scale<<<blocks, THREADS>>>(x, factor, n);
}
