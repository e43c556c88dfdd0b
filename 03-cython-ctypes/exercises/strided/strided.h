// The C interface of libstrided.so.
#pragma once
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// result[i] = 2 * element i of x, for 0 <= i < n: computed on the GPU. x: n floats in host memory, each `stride` bytes
// behind the one before it (4 bytes or more). result: n floats side by side. Returns 0, or the code of the CUDA call
// that failed.
int doubled(const float *x, size_t stride, size_t n, float *result);

// A code's name, "cudaErrorMemoryAllocation", and text, "out of memory".
const char *strided_error_name(int code);
const char *strided_error_text(int code);

#ifdef __cplusplus
}
#endif
