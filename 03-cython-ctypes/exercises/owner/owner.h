// The C interface of libowner.so.
#pragma once
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// These return 0, or the code of the CUDA call that failed.
int owner_allocate(float **d_x, size_t n);            // n floats on the GPU; n = 0 is an error
int owner_fill(float *d_x, size_t n, float value);    // all become value
int owner_read(float *x, const float *d_x, size_t n); // to the host
int owner_free(float *d_x);                           // NULL is fine, twice is an error
// owner_free may return the error of an earlier call, as cudaFree does. The memory is freed all the same.

// A code's name, "cudaErrorMemoryAllocation", and text, "out of memory".
const char *owner_error_name(int code);
const char *owner_error_text(int code);

#ifdef __cplusplus
}
#endif
