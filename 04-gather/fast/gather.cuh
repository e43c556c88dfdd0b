// The C interface of libgather.so: result = source[index], wherever the three arrays lie, for C, C++
// and Cython. Every function returns 0, or the code of the CUDA call that failed (a cudaError_t,
// positive; cudaErrorInvalidValue also for arguments that make no sense). None prints, ends the process,
// or leaves an error for somebody else to find.
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

// What becomes of an index outside the source, in the words of numpy.take. RAISE: an index from -M to
// -1 counts from the end, all others are errors. WRAP: modulo M. CLIP: 0, or M - 1.
enum gather_mode { GATHER_RAISE, GATHER_WRAP, GATHER_CLIP };

// result[i] = source[index[i]] for 0 <= i < N.
struct gather_job {
    struct gather_memory source; // M elements
    struct gather_memory index;  // N indices
    struct gather_memory result; // N elements; must not overlap with the others
    size_t N, M;
    int element_bytes; // 4 or 8, of source and result: of which type they are does not matter
    int index_bytes;   // 4: int32_t, 8: int64_t
    enum gather_mode mode;
    void *stream; // a cudaStream_t of the current device, or NULL: the default stream
};

// Launches the kernel and does not wait. The device has to reach all three arrays. first_bad: where the
// device reaches it too, or NULL if mode is not GATHER_RAISE; it becomes the smallest position of a bad
// index, if that is smaller than what it was.
int gather_launch(const struct gather_job *job, unsigned long long *first_bad);

// The same for arrays anywhere, and waits for the result. What the device does not reach is copied.
// Returns -1 if an index is out of range; *first_bad is its position then. After that, or an error, a
// result in ordinary memory is as it was, unless its copy failed; another one is undefined.
// Each thread that calls this keeps 256 KiB of pinned memory, and the process up to 64 MiB of the
// device's, for the next call.
int gather(const struct gather_job *job, size_t *first_bad);

// Memory. allocate sets *pointer; pin is for memory that exists, and holds until unpin.
int gather_device_allocate(void **pointer, size_t bytes);
int gather_device_free(void *pointer);
int gather_pinned_allocate(void **pointer, size_t bytes);
int gather_pinned_free(void *pointer);
int gather_pin(void *pointer, size_t bytes);
int gather_unpin(void *pointer);
int gather_copy(void *to, const void *from, size_t bytes, void *stream); // any direction; waits

// The number of the current device. And: `stream` waits for all that was given to `other` so far.
int gather_current_device(int *number);
int gather_wait_for(void *stream, void *other);

// A code's name, "cudaErrorMemoryAllocation", and text, "out of memory".
const char *gather_error_name(int code);
const char *gather_error_text(int code);

#ifdef __cplusplus
}
#endif
