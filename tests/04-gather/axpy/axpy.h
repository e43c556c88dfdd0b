// The C interface of libaxpy.so: a * x + y, for C, C++ and Cython.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// res[i] = a * x[i] + y[i] for 0 <= i < N, on the GPU. x, y and res are N floats each, in host memory; res is written
// only if all went well. Returns 0, or the code of the first CUDA call that failed (a cudaError_t).
int Axpy(float a, const float *x, const float *y, float *res, int N);

// A code of Axpy(): its name, "cudaErrorMemoryAllocation", and text, "out of memory".
const char *AxpyErrorName(int code);
const char *AxpyErrorText(int code);

#ifdef __cplusplus
}
#endif
