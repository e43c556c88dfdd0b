// The C interface of libaxpy.so. CHANGE: the arguments, here, in axpy.cu and in _axpy.pyx.
#pragma once
#include <stddef.h>

// What is declared here is visible in the library, all else is hidden.
#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

// result[i] = a * x[i] + y[i] for 0 <= i < n. Returns 0, or the code of the CUDA call that failed (a cudaError_t).
// compute: arrays in the host's memory; if a call fails, result is as it was, and nothing stays allocated.
// on_gpu: arrays in the memory of that GPU; works on the default stream, and waits.
int axpy_compute(float a, const float *x, const float *y, float *result, size_t n);
int axpy_on_gpu(int gpu, float a, const float *x, const float *y, float *result, size_t n);

// 0 if there is a GPU that this library runs on; else a code that says why not.
int axpy_available(void);

// A code's name, "cudaErrorMemoryAllocation", and text, "out of memory".
const char *axpy_error_name(int code);
const char *axpy_error_text(int code);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop
