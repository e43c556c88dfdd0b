// Exercise matrix: rows and columns.
// Check: make exercises EXERCISE=matrix

// Element (row, column) becomes 100 * row + column. The rows lie one behind the other, so that it is element number
// row * columns + column. The threads have two numbers: x for the column, y for the row.
__global__ void Mark(int *matrix, int rows, int columns)
{
    // YOUR LINES, about 4: row and column of this thread, and its element, if it has one.
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows && column < columns)
        matrix[row * columns + column] = 100 * row + column;
    // END OF YOUR LINES
}
