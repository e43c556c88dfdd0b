// The C interface of libpinned.so, which is given: libpinned.cu.
#pragma once
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// These return 0, or the code of the CUDA call that failed. After a failure *data is NULL.
int pinned_allocate(void **data, size_t bytes); // cudaMallocHost
int pinned_free(void *data);                    // cudaFreeHost; NULL is fine

// The name of an error, "cudaErrorMemoryAllocation", and its text, "out of memory".
const char *pinned_error_name(int code);
const char *pinned_error_text(int code);

#ifdef __cplusplus
}
#endif
