// What gather.cu, gather_anywhere.cu and gather_memory.cu share.
#pragma once
#include "gather.cuh"
#include <mutex>

// Held by whoever relies on what is pinned, or changes it: gather() pins a source for the time of a call.
extern std::mutex gather_lock;

// 0 if CUDA can be used, else why not. To be asked before the lock: in a process that was forked from
// one that used CUDA nothing works, and the lock may be another thread's that is not there.
int gather_check_process(void);

// False if the job cannot be run: a null pointer, no source, a size or a mode that there is not.
bool gather_is_valid(const gather_job *job);

// Launches for a part of the source: elements first to first + count - 1 are at job->source.
// over_bus: index or result are in the host's memory, and the bus needs fewer threads than the device.
int gather_launch_part(const gather_job *job, size_t first, size_t count, bool over_bus,
                       unsigned long long *first_bad);
