// One core at work, for block.c, which gives it blocks, and threads.c, which runs the threads of a block.
#pragma once
#include "runtime.h"
#include <setjmp.h>

enum { GUARD = 64 << 10, STACK = 640 << 10, WARP = 32 }; // GUARD: a page at least

struct fiber {       // a stack, and the threads that run on it
    jmp_buf context; // where it goes on
    jmp_buf end;     // where a thread goes that must not go on
    char *stack;
    uint3 thread;
    unsigned number; // of the thread, in the block
    enum { NEW, READY, SPINS, AT_BARRIER, IN_WARP, WHO_IS_ACTIVE, ENDED } state;
    const char *file, *what; // where it waits, and for what
    int line;
    unsigned mask;      // IN_WARP: the lanes that it waits for; then those that came
    uint64_t value;     // what it gives to the others of the warp or block
    uint64_t *given;    // where to put what they gave
    bool orders_memory; // they see what each has written
    void *asan;
};

struct core {
    const struct cpu_launch *launch;
    jmp_buf scheduler;
    struct fiber *fibers, *current;
    struct fiber *of_thread[1024]; // by number; NULL: it has ended before the first fiber
    char *stacks, *shared_limit;
    unsigned long seed;        // CPU_CUDA_SEED, or 0
    unsigned long block, stop; // the one that runs, and where the blocks of this core end
    unsigned threads;          // of a block
    unsigned position;         // of the thread that runs, in the block's order
    bool has_fibers;           // this block
    unsigned long round;       // in which all of its fibers have run a while
    unsigned count;            // of the last barrier: the threads whose value was not 0
    unsigned waiting;          // and all threads
    bool is_stuck;             // all threads of the block wait for another block
    const void *asan_stack;
    size_t asan_bytes;
    void *asan;
};
extern __thread struct core *cpu_core __attribute__((tls_model("initial-exec")));

// block.c
unsigned long cpu_shuffled(unsigned long i, unsigned long n, unsigned long salt);
void cpu_choose_thread(unsigned position);
bool cpu_begin_block(void);
bool cpu_share_blocks(void);
void cpu_core_gets_on(bool yes);
bool cpu_no_core_gets_on(void);

// threads.c
void cpu_run_threads(void); // of the blocks of this core, from the first thread of one on
