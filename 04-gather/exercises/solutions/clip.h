// Exercise 5, clip: the C interface of libclip.so, for C, C++ and Cython.
// Check: make exercises EXERCISE=clip
#pragma once
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// result[i] = x[i], but low if x[i] is smaller, and high if x[i] is larger, for 0 <= i < n, on the GPU. NaN stays NaN.
// Both arrays are in host memory. Returns the first error, or 0.
// YOUR LINES, about 1: the declaration of the function that libclip.cu has.
int clip(const float *x, float low, float high, float *result, size_t n);
// END OF YOUR LINES

const char *clip_error_name(int code);
const char *clip_error_text(int code);

#ifdef __cplusplus
}
#endif
