// The library of exercise pinned: it is given.
#include "library.cuh"
#include "pinned.h"

INTERFACE int pinned_allocate(void **data, size_t bytes)
{
    *data = NULL;
    return cudaMallocHost(data, bytes > 0 ? bytes : 1); // also an empty array has an address
}

INTERFACE int pinned_free(void *data)
{
    return cudaFreeHost(data);
}

ERROR_WORDS(pinned_error_name, pinned_error_text)
