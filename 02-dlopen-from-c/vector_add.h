// The interface of libvector_add.so. The library includes it and its callers do: if the two differ,
// a compiler says so.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// b[i] += a[i] for 0 <= i < n, on the GPU. a and b: n floats each, in host memory.
// Returns 0; or the code of the CUDA call that failed (a cudaError_t), and then b is as it was, unless it was the last copy.
// Nothing stays allocated, nothing is printed, the process never ends here.
// (A function type: `vector_add_function *f` is a pointer to such a function.)
typedef int vector_add_function(const float *a, float *b, int n);

// The name, "cudaErrorNoDevice", or the text, "no CUDA-capable device is detected", of such a code.
typedef const char *vector_add_text_function(int code);

vector_add_function vector_add;
vector_add_text_function vector_add_error_name, vector_add_error_text;

#ifdef __cplusplus
}
#endif
