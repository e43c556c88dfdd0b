// The C interface of libgather.so: result = source[index], wherever the three arrays lie, for C, C++
// and Cython. The steps from cuda_index.cu to here are in README.md.
#pragma once
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// What becomes of an index outside the source, in the words of numpy.take. RAISE: an index from -M to
// -1 counts from the end, all others are errors. WRAP: modulo M. CLIP: 0, or M - 1.
enum gather_mode { GATHER_RAISE, GATHER_WRAP, GATHER_CLIP };

// result[i] = source[index[i]] for 0 <= i < N.
struct gather_job {
    const void *source; // M elements
    const void *index;  // N indices
    void *result;       // N elements; must not overlap with the others
    size_t N, M;
    int element_bytes; // 4 or 8, of source and result: of which type they are does not matter
    int index_bytes;   // 4: int32_t, 8: int64_t
    enum gather_mode mode;
    void *stream;    // a cudaStream_t of the current device, or NULL: the default stream
    int keep_result; // for gather() with GATHER_RAISE: if 1, a result in ordinary memory stays as it
                     // was when an index is bad; a large one takes as much memory on the device
};

// Launches the kernel and does not wait. All three arrays have to be where the device can reach them:
// in its own memory, or pinned. first_bad: there too, or NULL if mode is not GATHER_RAISE; it becomes
// the smallest position of a bad index, if that is smaller than what it was.
// Returns 0, or the code of the CUDA call that failed (a cudaError_t, positive).
int gather_launch(const struct gather_job *job, unsigned long long *first_bad);

// The same for arrays anywhere, in ordinary memory too, and waits for the result.
// Returns 0; or a cudaError_t: then the elements of the result are undefined; or -1 if an index is out
// of range, and *first_bad is its position: then they are undefined too, but for keep_result.
// Works on the current device. What is pinned has to be pinned as a whole, by one call; a source may be
// pinned for the time of the call, and copies of a part of it, by others, fail meanwhile. 4 MiB of
// pinned memory stay until the process ends, and up to 64 MiB of the device's for the next call.
// A second thread runs during the call if an index or result of more than 128 Ki is in ordinary memory.
// Nothing is printed, and the process never ends here.
int gather(const struct gather_job *job, size_t *first_bad);

// Memory. device_allocate and pinned_allocate set *pointer; what is pinned, the device can reach.
int gather_device_allocate(void **pointer, size_t bytes);
int gather_device_free(void *pointer);
int gather_pinned_allocate(void **pointer, size_t bytes);
int gather_pinned_free(void *pointer);
int gather_pin(void *pointer, size_t bytes); // existing memory, page-locked until gather_unpin
int gather_unpin(void *pointer);
int gather_copy(void *to, const void *from, size_t bytes, void *stream); // any direction; waits

// For a machine with several devices. gather_device_of: on which the memory is; or ANY, if all reach
// it, as pinned memory; or NONE, if it is not CUDA's. gather_use_device: the current one of this thread.
enum { GATHER_ANY_DEVICE = -1, GATHER_NO_DEVICE = -2 };
int gather_device_count(int *count);
int gather_device_of(const void *pointer, int *device);
int gather_use_device(int device, int *before);

// `stream` waits for all that was given to `other` so far.
int gather_wait_for(void *stream, void *other);

// A code's name, "cudaErrorMemoryAllocation", and text, "out of memory".
const char *gather_error_name(int code);
const char *gather_error_text(int code);

#ifdef __cplusplus
}
#endif
