// A grid in two dimensions: which row and which column of a matrix would each thread own?
// Build: make grid
// Run:   ./grid
#include "check.h"

__global__ void PrintPlace(int columns)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x; // x goes along a row
    int row = blockIdx.y * blockDim.y + threadIdx.y;    // y goes from row to row
    int i = row * columns + column; // in memory the rows lie one after the other
    printf("row %d, column %d: element %2d, block (%u, %u), thread (%u, %u)\n", row, column, i,
           blockIdx.x, blockIdx.y, threadIdx.x, threadIdx.y);
}

int main(void)
{
    const int rows = 4, columns = 6;
    dim3 threads(3, 2); // in a block: 3 along x, 2 along y
    dim3 blocks(columns / threads.x, rows / threads.y);
    PrintPlace<<<blocks, threads>>>(columns);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    return 0;
}
