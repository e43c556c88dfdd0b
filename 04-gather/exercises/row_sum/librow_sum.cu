// Exercise row_sum: a result of another shape, from the kernel to Python. The interface, row_sum/row_sum.h, is given.
// Check: make exercises EXERCISE=row_sum
#include "library.cuh"
#include "row_sum.h"

const int THREADS = 256; // a block

// result[r] = the sum of row r. The grid has a block for each row.
__global__ void RowSum(const float *x, size_t columns, float *result)
{
    // YOUR LINES, about 12: a row may have fewer columns than the block has threads, or many more. Its first element is
    // element blockIdx.x * columns of x, and columns is a size_t.
    __shared__ float part[THREADS];
    int t = threadIdx.x;
    float mine = 0;
    for (size_t i = t; i < columns; i += THREADS)
        mine += x[blockIdx.x * columns + i];
    part[t] = mine;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half)
            part[t] += part[t + half];
    }
    if (t == 0)
        result[blockIdx.x] = part[0];
    // END OF YOUR LINES
}

INTERFACE int row_sum(const float *x, size_t rows, size_t columns, float *result)
{
    cudaError_t error = cudaSuccess;
    float *d_x = NULL, *d_result = NULL;
    // YOUR LINES, about 2: the bytes of x, and those of the result.
    size_t bytes = rows * columns * sizeof(float);
    size_t result_bytes = rows * sizeof(float);
    // END OF YOUR LINES

    CHECK_GOTO(error, cudaMalloc(&d_x, bytes), cleanup);
    CHECK_GOTO(error, cudaMalloc(&d_result, result_bytes), cleanup);
    CHECK_GOTO(error, cudaMemcpy(d_x, x, bytes, cudaMemcpyHostToDevice), cleanup);
    RowSum<<<(unsigned int)rows, THREADS>>>(d_x, columns, d_result);
    CHECK_GOTO(error, cudaGetLastError(), cleanup);
    CHECK_GOTO(error, cudaMemcpy(result, d_result, result_bytes, cudaMemcpyDeviceToHost), cleanup);

cleanup:
    cudaFree(d_result);
    cudaFree(d_x);
    return error;
}

ERROR_WORDS(row_sum_error_name, row_sum_error_text)
