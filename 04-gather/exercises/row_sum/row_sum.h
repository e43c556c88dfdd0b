// The C interface of librow_sum.so, which is given.
#pragma once
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// result[r] = the sum of row r of x, for 0 <= r < rows, on the GPU. x: rows * columns floats in host memory, the rows one
// behind the other; result: rows floats in host memory. rows is at least 1; without a column each sum is 0. Returns the
// first error, or 0.
int row_sum(const float *x, size_t rows, size_t columns, float *result);

// The name of an error, "cudaErrorMemoryAllocation", and its text, "out of memory".
const char *row_sum_error_name(int code);
const char *row_sum_error_text(int code);

#ifdef __cplusplus
}
#endif
