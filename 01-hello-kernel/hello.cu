// A kernel is a function that the GPU runs, once for each thread of a launch. This one prints.
// Build: make hello
// Run:   ./hello
#include "check.h"

__global__ void HelloKernel(void)
{
    printf("Hello World From GPU!\n");
}

int main(void)
{
    HelloKernel<<<1, 3>>>(); // 1 block of 3 threads

    // A launch returns nothing and does not wait, so both questions are asked here.
    CHECK(cudaGetLastError());      // was the launch accepted?
    CHECK(cudaDeviceSynchronize()); // did the kernel run to its end? (prints what it printed)
    return 0;
}
