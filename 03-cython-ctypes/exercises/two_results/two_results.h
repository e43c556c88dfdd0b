// The C interface of libtwo_results.so.
#pragma once
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// sum[i] = x[i] + y[i], difference[i] = x[i] - y[i] for 0 <= i < n: computed on the GPU. All four: n floats in host
// memory. There has to be an element: n = 0 is an error. Returns 0, or the code of the CUDA call that failed.
int sum_and_difference(const float *x, const float *y, float *sum, float *difference, size_t n);

// A code's name, "cudaErrorMemoryAllocation", and text, "out of memory".
const char *two_results_error_name(int code);
const char *two_results_error_text(int code);

#ifdef __cplusplus
}
#endif
