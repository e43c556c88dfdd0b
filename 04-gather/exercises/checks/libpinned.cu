// The library of exercise 9, pinned: it is given.
#include "check.h"

#pragma GCC visibility push(default)
#include "pinned.h"
#pragma GCC visibility pop

extern "C" int pinned_allocate(void **data, size_t bytes)
{
    *data = NULL;
    return cudaMallocHost(data, bytes > 0 ? bytes : 1); // also an empty array has an address
}

extern "C" int pinned_free(void *data)
{
    return cudaFreeHost(data);
}

extern "C" const char *pinned_error_name(int code)
{
    return cudaGetErrorName((cudaError_t)code);
}

extern "C" const char *pinned_error_text(int code)
{
    return cudaGetErrorString((cudaError_t)code);
}
