// The C interface of libgather.so, with gather_memory.h: result = source[index], wherever the three arrays lie.
// Codes and errors are as in gather_memory.h.
#pragma once
#include "gather_memory.h"

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
}
#endif
