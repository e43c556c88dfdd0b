// What kernels do, counted: for the checks of exercises. Only the stand-in has it (#ifdef __CPU_CUDA__), and it counts
// nothing with CPU_CUDA_CHECK=0.
#pragma once

struct cpu_cuda_seen {
    long long launches, blocks, threads; // of all grids
    // By threads, in memory that CUDA knows (not in shared memory). One atomicAdd is one atomic, and nothing else.
    long long reads, writes, atomics;
    long long sectors; // of 32 bytes, for each access of a warp, as a GPU moves them
    long long most;    // of these accesses by one thread in one launch
};

#ifdef __cplusplus
extern "C" {
#endif
// Waits for all work. From then on each launch adds to *seen what it does; NULL ends that. NO_BLOCK: launches are
// checked and counted, but their threads do not run. LAST_BLOCK: of a grid, which may be huge, only the last block runs.
enum { NO_BLOCK, ALL_BLOCKS, LAST_BLOCK };
void cpu_cuda_watch(struct cpu_cuda_seen *seen, int blocks);
#ifdef __cplusplus
}
#endif
