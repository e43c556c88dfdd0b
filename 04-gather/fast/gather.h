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

// result[o][i] = source[o][index[i]] for 0 <= o < outer and 0 <= i < N. An element is what lies behind the axis
// that is indexed: a number, a struct, or a row of them.
struct gather_job {
    struct gather_memory source; // outer * M elements
    struct gather_memory index;  // N indices
    struct gather_memory result; // outer * N elements; must not overlap with the others
    size_t outer, N, M;          // outer: 1, if the axis is the first one
    size_t element_bytes;        // of any type. 0: only the indices are looked at
    int index_bytes;             // 4: int32_t, 8: int64_t
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

// The way back: source[o][index[i]] += result[o][i], of equal indices each. The numbers lie at multiples of
// their size, and fill the elements (complex numbers are two). A sum of floats may differ in its last digits
// from run to run: in which order they are added is not fixed. Of GATHER_FLOAT32, a GPU adds what is nearer to 0
// than 2^-126 as 0. Over the integers' limits it goes on as in NumPy.
enum gather_number {
    GATHER_FLOAT32,
    GATHER_FLOAT64,
    GATHER_INT32, // or uint32_t
    GATHER_INT64, // or uint64_t
    GATHER_FLOAT16,
    GATHER_BFLOAT16
};
int gather_add_launch(const struct gather_job *job, enum gather_number number);

// For arrays anywhere. After -1 nothing was added. After an error, a source in the host's memory is as it was,
// unless its copy failed.
int gather_add(const struct gather_job *job, enum gather_number number, size_t *first_bad);

#ifdef __cplusplus
}
#endif
