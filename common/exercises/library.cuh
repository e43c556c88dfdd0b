// What the libraries share that are given with exercises, such as checks/libowner.cu.
#pragma once
#include "check.h"

#define INTERFACE extern "C" __attribute__((visibility("default")))

// The functions that tell a code's name, "cudaErrorMemoryAllocation", and its text, "out of memory".
#define ERROR_WORDS(error_name, error_text) \
    INTERFACE const char *error_name(int code) \
    { \
        return cudaGetErrorName((cudaError_t)code); \
    } \
    INTERFACE const char *error_text(int code) \
    { \
        return cudaGetErrorString((cudaError_t)code); \
    }

// What a failed call leaves behind for cudaGetLastError() is removed: the return value tells it.
static inline int status(cudaError_t error)
{
    if (error != cudaSuccess)
        cudaGetLastError();
    return error;
}
