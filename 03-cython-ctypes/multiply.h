// The C interface of libmultiply.so: result = a * b, element by element, and memory on the device.
// Every function returns 0, or the code of the CUDA call that failed (a cudaError_t, positive).
// Nothing is printed, the process never ends here.
#pragma once
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// result[i] = a[i] * b[i] for 0 <= i < n. All three: n floats in host memory; result may be a or b,
// and is written only if all went well (as far as the last copy itself). Nothing stays allocated.
int multiply(const float *a, const float *b, float *result, size_t n);

// The same for arrays in device memory. Only launches: whoever reads the result waits for it.
int multiply_on_device(const float *d_a, const float *d_b, float *d_result, size_t n);

// n floats of device memory: got, given back (NULL is fine), written from the host, read by it.
int device_allocate(float **d_x, size_t n);
int device_free(float *d_x);
int device_write(float *d_x, const float *x, size_t n);
int device_read(float *x, const float *d_x, size_t n);
int device_wait(void); // until all that was launched has run

// A code's name, "cudaErrorMemoryAllocation", and text, "out of memory".
const char *multiply_error_name(int code);
const char *multiply_error_text(int code);

#ifdef __cplusplus
}
#endif
