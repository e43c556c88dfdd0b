// Exercise indices: an index may be negative, and it may be bad.
// Check: make exercises EXERCISE=indices
#include "check.h" // CHECK_GOTO
#include <limits.h>

const int THREADS = 256; // a block

// result[i] = source[index[i]] for n indices: thread i does this for index i, and for no other one. Good indices are
// those from -size to size - 1: size is the number of elements of the source. A negative index counts from the end, so
// that -1 is the last element. For a bad index nothing is read and nothing is written; *first_bad, which is INT_MAX at
// first, becomes the smallest i of a bad index.
__global__ void Gather(const float *source, int size, const int *index, int n, float *result,
                       int *first_bad)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // YOUR LINES, about 9: is there an index i? Is it negative? Is it bad? Other threads may find a bad one as well.
    if (i < n) {
        int j = index[i];
        if (j < 0)
            j += size;
        if (j >= 0 && j < size)
            result[i] = source[j];
        else
            atomicMin(first_bad, i);
    }
    // END OF YOUR LINES
}

// The same for arrays on the host. Returns 0 if all went well, or the first error, which is positive, or a negative
// number that tells the position of the first bad index: -1 for position 0, -2 for position 1, and so on.
int gather(const float *source, int size, const int *index, int n, float *result)
{
    cudaError_t error = cudaSuccess;
    float *d_source = NULL, *d_result = NULL;
    int *d_index = NULL, *d_first_bad = NULL;
    int first_bad = INT_MAX, status = 0;
    size_t source_bytes = size * sizeof(float);
    size_t index_bytes = n * sizeof(int), result_bytes = n * sizeof(float);

    if (n == 0)
        return 0;
    CHECK_GOTO(error, cudaMalloc(&d_source, source_bytes), cleanup);
    CHECK_GOTO(error, cudaMalloc(&d_index, index_bytes), cleanup);
    CHECK_GOTO(error, cudaMalloc(&d_result, result_bytes), cleanup);
    CHECK_GOTO(error, cudaMalloc(&d_first_bad, sizeof first_bad), cleanup);
    CHECK_GOTO(error, cudaMemcpy(d_source, source, source_bytes, cudaMemcpyHostToDevice), cleanup);
    CHECK_GOTO(error, cudaMemcpy(d_index, index, index_bytes, cudaMemcpyHostToDevice), cleanup);
    CHECK_GOTO(error, cudaMemcpy(d_first_bad, &first_bad, sizeof first_bad, cudaMemcpyHostToDevice),
               cleanup);
    Gather<<<(n - 1) / THREADS + 1, THREADS>>>(d_source, size, d_index, n, d_result, d_first_bad);
    CHECK_GOTO(error, cudaGetLastError(), cleanup);
    CHECK_GOTO(error, cudaMemcpy(&first_bad, d_first_bad, sizeof first_bad, cudaMemcpyDeviceToHost),
               cleanup);
    // YOUR LINES, about 2: the status, if there is a bad index.
    if (first_bad != INT_MAX)
        status = -1 - first_bad;
    // END OF YOUR LINES
    if (status == 0)
        CHECK_GOTO(error, cudaMemcpy(result, d_result, result_bytes, cudaMemcpyDeviceToHost),
                   cleanup);

cleanup:
    cudaFree(d_first_bad);
    cudaFree(d_result);
    cudaFree(d_index);
    cudaFree(d_source);
    return error != cudaSuccess ? error : status;
}
