// Exercise scatter: gather turned round. Several numbers may go to the same element.
// Check: make exercises EXERCISE=scatter
#include "check.h" // CHECK_GOTO

const int THREADS = 256; // a block

// result[index[i]] becomes larger by value[i], for n numbers: thread i adds value[i], and no other number. The same
// index may come several times. None is negative or too large.
__global__ void ScatterAdd(const float *value, const int *index, int n, float *result)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // YOUR LINES, about 2: one number for each thread that has one. Other threads may have the same index.
    if (i < n)
        atomicAdd(&result[index[i]], value[i]);
    // END OF YOUR LINES
}

// The same for arrays on the host: the result has `size` elements, and what they were is not lost. Returns the first
// error, or 0 (cudaSuccess). After an error, the result is as it was.
int scatter_add(const float *value, const int *index, int n, float *result, int size)
{
    cudaError_t error = cudaSuccess;
    float *d_value = NULL, *d_result = NULL;
    int *d_index = NULL;
    size_t index_bytes = n * sizeof(int);
    size_t value_bytes = n * sizeof(float), result_bytes = size * sizeof(float);

    for (int i = 0; i < n; i++)
        if (index[i] < 0 || index[i] >= size)
            return cudaErrorInvalidValue;
    if (n == 0)
        return cudaSuccess;
    CHECK_GOTO(error, cudaMalloc(&d_value, value_bytes), cleanup);
    CHECK_GOTO(error, cudaMalloc(&d_index, index_bytes), cleanup);
    CHECK_GOTO(error, cudaMalloc(&d_result, result_bytes), cleanup);
    // YOUR LINES, about 3: what has to be on the device before the kernel begins? Each call may fail.
    CHECK_GOTO(error, cudaMemcpy(d_value, value, value_bytes, cudaMemcpyHostToDevice), cleanup);
    CHECK_GOTO(error, cudaMemcpy(d_index, index, index_bytes, cudaMemcpyHostToDevice), cleanup);
    CHECK_GOTO(error, cudaMemcpy(d_result, result, result_bytes, cudaMemcpyHostToDevice), cleanup);
    // END OF YOUR LINES
    ScatterAdd<<<(n - 1) / THREADS + 1, THREADS>>>(d_value, d_index, n, d_result);
    CHECK_GOTO(error, cudaGetLastError(), cleanup);
    CHECK_GOTO(error, cudaMemcpy(result, d_result, result_bytes, cudaMemcpyDeviceToHost), cleanup);

cleanup:
    cudaFree(d_result);
    cudaFree(d_index);
    cudaFree(d_value);
    return error;
}
