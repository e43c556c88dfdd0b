#include "cuda_index.cuh"
int main(void)
{
    return Gather(0, 0, 0, 0, 0);
}
