// Exercise rows: whole rows of a source with two dimensions.
// Check: make exercises EXERCISE=rows

const int THREADS = 256; // a block

// result[i, :] = source[index[i], :]: row i of the result is row index[i] of the source. A row has `columns` elements.
// The rows lie one behind the other. Thread k writes element number k of the result, which has rows * columns elements.
// Source and result may have more elements than an int counts.
__global__ void GatherRows(const float *source, int columns, const int *index, int rows,
                           float *result)
{
    size_t k = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    // YOUR LINES, about 4: in which row and column is element k? Where does the source have the element for it?
    if (k < (size_t)rows * columns) {
        size_t row = k / columns, column = k % columns;
        result[k] = source[(size_t)index[row] * columns + column];
    }
    // END OF YOUR LINES
}

// How many blocks are needed, with a thread for each of so many elements?
size_t blocks_for(size_t elements)
{
    size_t blocks = 0;
    // YOUR LINES, about 1: there may be more elements than an int counts, and THREADS does not always divide them.
    blocks = (elements + THREADS - 1) / THREADS;
    // END OF YOUR LINES
    return blocks;
}
