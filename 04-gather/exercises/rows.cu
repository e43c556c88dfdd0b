// Exercise 3, rows: whole rows of a source with two dimensions.
// Check: make exercises EXERCISE=rows
#include "check.h" // CHECK_GOTO

const int THREADS = 256; // a block

// result[i, :] = source[index[i], :]: row i of the result is row index[i] of the source. A row has `columns` elements.
// The rows lie one behind the other. Thread k writes element number k of the result, which has rows * columns elements.
// Source and result may have more elements than an int counts.
__global__ void GatherRows(const float *source, int columns, const int *index, int rows,
                           float *result)
{
    size_t k = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    // YOUR LINES, about 4: in which row and column is element k? Where does the source have the element for it?
    // END OF YOUR LINES
}

// How many blocks are needed, with a thread for each of so many elements?
size_t blocks_for(size_t elements)
{
    size_t blocks = 0;
    // YOUR LINES, about 1: there may be more elements than an int counts, and THREADS does not always divide them.
    // END OF YOUR LINES
    return blocks;
}

// The same for arrays on the host. The source has source_rows rows. Returns the first error, or 0 (cudaSuccess).
int gather_rows(const float *source, int source_rows, int columns, const int *index, int rows,
                float *result)
{
    cudaError_t error = cudaSuccess;
    float *d_source = NULL, *d_result = NULL;
    int *d_index = NULL;
    size_t elements = (size_t)rows * columns;
    size_t source_bytes = (size_t)source_rows * columns * sizeof(float);
    size_t index_bytes = rows * sizeof(int), result_bytes = elements * sizeof(float);

    for (int i = 0; i < rows; i++)
        if (index[i] < 0 || index[i] >= source_rows)
            return cudaErrorInvalidValue;
    if (elements == 0)
        return cudaSuccess;
    CHECK_GOTO(error, cudaMalloc(&d_source, source_bytes), cleanup);
    CHECK_GOTO(error, cudaMalloc(&d_index, index_bytes), cleanup);
    CHECK_GOTO(error, cudaMalloc(&d_result, result_bytes), cleanup);
    CHECK_GOTO(error, cudaMemcpy(d_source, source, source_bytes, cudaMemcpyHostToDevice), cleanup);
    CHECK_GOTO(error, cudaMemcpy(d_index, index, index_bytes, cudaMemcpyHostToDevice), cleanup);
    GatherRows<<<blocks_for(elements), THREADS>>>(d_source, columns, d_index, rows, d_result);
    CHECK_GOTO(error, cudaGetLastError(), cleanup);
    CHECK_GOTO(error, cudaMemcpy(result, d_result, result_bytes, cudaMemcpyDeviceToHost), cleanup);

cleanup:
    cudaFree(d_result);
    cudaFree(d_index);
    cudaFree(d_source);
    return error;
}
