// The C interface of libclip_kernel.so, for C, C++ and Cython.
#pragma once
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// result[i] = x[i], but low if x[i] is smaller, and high if x[i] is larger, for 0 <= i < n, on the GPU. NaN stays NaN.
// Both arrays are in host memory. Returns the first error, or 0.
int clip(const float *x, float low, float high, float *result, size_t n);

#ifdef __cplusplus
}
#endif
