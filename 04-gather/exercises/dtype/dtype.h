// The C interface of libdtype.so: result[i] = source[index[i]] for 0 <= i < n, on the GPU, for two types of elements.
// The source has `size` elements, and all indices are from 0 to size - 1. All arrays are in host memory.
// Returns the first error, or 0.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

int gather_float32(const float *source, int size, const int *index, int n, float *result);
int gather_float64(const double *source, int size, const int *index, int n, double *result);

const char *gather_error_name(int code);
const char *gather_error_text(int code);

#ifdef __cplusplus
}
#endif
