// Exercise transpose: rows become columns, and both sides of the copy are coalesced.
// Check: make exercises EXERCISE=transpose

const int TILE = 16; // a block has TILE x TILE threads

// result, of `columns` rows and `rows` columns: its element (column, row) = element (row, column) of x. The grid has a
// block for each tile of x, blockIdx.x along its columns.
__global__ void Transpose(const float *x, int rows, int columns, float *result)
{
    // YOUR LINES, about 9: a tile in shared memory. The threads of a warp read numbers side by side, and they write
    // numbers side by side.
    __shared__ float tile[TILE][TILE];
    int first_column = blockIdx.x * TILE, first_row = blockIdx.y * TILE;
    int column = first_column + threadIdx.x, row = first_row + threadIdx.y;
    if (row < rows && column < columns)
        tile[threadIdx.y][threadIdx.x] = x[row * columns + column];
    __syncthreads();
    row = first_row + threadIdx.x;
    column = first_column + threadIdx.y;
    if (row < rows && column < columns)
        result[column * rows + row] = tile[threadIdx.x][threadIdx.y];
    // END OF YOUR LINES
}
