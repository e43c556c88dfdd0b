// Where arrays are, memory, streams and error texts, for C, C++ and Cython. Every function returns 0, or
// the code of the CUDA call that failed (a cudaError_t, positive; cudaErrorInvalidValue also for arguments
// that make no sense). None prints, ends the process, or leaves an error for somebody else to find.
#pragma once
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Where an array is. In ordinary memory only the CPU reaches it, on the device only kernels do; what is
// pinned both reach.
struct gather_memory {
    void *host;   // its address for the CPU, or NULL
    void *device; // its address for kernels, or NULL
};

// Fills *memory for the array at `pointer`. *number, if not NULL: the device that it lies on, or -1 if
// it is the host's memory. What is pinned only in part counts as ordinary memory; which CUDA copies only
// if no part of it is pinned. cudaErrorInvalidValue if the device's memory ends before the array does.
int gather_find(struct gather_memory *memory, int *number, const void *pointer, size_t bytes);

// Memory. allocate sets *pointer; pin is for memory that exists, and holds until unpin.
int gather_device_allocate(void **pointer, size_t bytes);
int gather_device_free(void *pointer);
int gather_pinned_allocate(void **pointer, size_t bytes);
int gather_pinned_free(void *pointer);
int gather_pin(void *pointer, size_t bytes);
int gather_unpin(void *pointer);
int gather_copy(void *to, const void *from, size_t bytes, void *stream); // any direction; waits

// Devices: the number of this thread's; another one from now on, *before is the number of the one so far;
// how many there are.
int gather_current_device(int *number);
int gather_use_device(int number, int *before);
int gather_device_count(int *count);

// `stream` waits for all that was given to `other` so far.
int gather_wait_for(void *stream, void *other);

// A code's name, "cudaErrorMemoryAllocation", and text, "out of memory".
const char *gather_error_name(int code);
const char *gather_error_text(int code);

#ifdef __cplusplus
}
#endif
