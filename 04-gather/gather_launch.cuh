// What gather.cu, gather_anywhere.cu, gather_chunks.cu, gather_memory.cu and gather_scratch.cu share.
#pragma once
#include "gather.cuh"
#include <cuda_runtime.h>
#include <mutex>

#define GATHER_CHUNK ((size_t)128 << 10) // indices that go through the scratch memory at a time
#define NO_BAD_INDEX (~0ull)             // larger than any position

// Pinned memory, which host and device reach: for ordinary indices and results on their way, and for
// the position of a bad index.
struct Scratch {
    long long index[GATHER_CHUNK], result[GATHER_CHUNK]; // elements of 8 bytes, or of 4
    unsigned long long first_bad;
    const void *owner; // the pointer to it: &gather_scratch[0], or [1]
};

// The process's, for one call at a time, which has the lock: one for each of its two threads.
extern Scratch *gather_scratch[2];
int gather_make_scratch(void);

// Held by whoever relies on what is pinned, or changes it: gather() pins a source for the time of a call.
extern std::mutex gather_lock;

// 0 if CUDA can be used, else why not. To be asked before the lock: in a process that was forked from
// one that used CUDA nothing works, and the lock may be another thread's that is not there.
int gather_check_process(void);

// 0, or why no work can be put on the stream: it is another device's. A launch would not say so, and run
// the kernel there, where these arrays are not.
int gather_check_stream(void *stream);

// False if the job cannot be run: a null pointer, no source, a size or a mode that there is not.
bool gather_is_valid(const gather_job *job);

// Launches for a part of the source: elements first to first + count - 1 are at job->source.
// over_bus: index or result are in the host's memory, and the bus needs fewer threads than the device.
int gather_launch_part(const gather_job *job, size_t first, size_t count, bool over_bus,
                       unsigned long long *first_bad);

// A call's work on one part of the source, elements first to first + count - 1.
struct Part {
    const gather_job *job; // the caller's addresses, for the CPU
    gather_job d_job;      // those for the kernel; NULL: an index or a result that it cannot reach
    bool over_bus;
    size_t first, count;
};
// Gathers all of the indices that are in the part, and waits for it.
int gather_part(const Part *part, unsigned long long *first_bad);

// *address: where the device reaches what is there, in its own memory or pinned; NULL for ordinary
// memory. *on_host, if not NULL: whether it is the host's memory.
int gather_reach(const void *start, size_t bytes, void **address, bool *on_host);

// Device memory, in the stream's order, to be given back with cudaFreeAsync; with cudaFree if that fails.
int gather_allocate(void **pointer, size_t bytes, cudaStream_t stream);
