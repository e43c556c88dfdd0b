// A program of a learner's.
#include "check.h"

__global__ void Mine(void)
{
    printf("mine\n");
}

int main(void)
{
    Mine<<<1, 1>>>();
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    return 0;
}
