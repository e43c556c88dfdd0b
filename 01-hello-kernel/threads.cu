// Which thread is this one? 2 blocks of 4 threads, and the element of an array each would own.
// Build: make threads
// Run:   ./threads
#include "check.h"

__global__ void PrintThread(void)
{
    // threads of the blocks before this one, and those before it in its block
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    printf("block %u of %u, thread %u of %u: element %u\n", blockIdx.x, gridDim.x, threadIdx.x,
           blockDim.x, i);
}

int main(void)
{
    PrintThread<<<2, 4>>>();
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    return 0;
}
