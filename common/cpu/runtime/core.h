// One core at work, for block.c, which gives it blocks, and threads.c, which runs the threads of a block.
#pragma once
#include "runtime.h"

enum { WARP = 32, WARPS = 32 };
enum { MOST_CORES = 16 }; // more are added if blocks wait for each other

struct fiber { // a stack, and the threads that run on it
    void *top; // of its stack, where it goes on
    enum { NEW, READY, SPINS, AT_BARRIER, IN_WARP, WHO_IS_ACTIVE, ENDED } state;
    int line; // where it waits, and for what
    const char *file, *what;
    uint64_t value; // what it gives to the others of the warp or block
    uint3 thread;
    unsigned number;    // of the thread, in the block
    char *stack;        // up to here, all that a barrier looks at
    uint64_t *given;    // where to put what the others gave
    unsigned atomics;   // so far, for CPU_CUDA_SEED
    unsigned mask;      // IN_WARP: the lanes that it waits for; then those that came
    bool orders_memory; // they see what each has written
} __attribute__((aligned(64)));

// Cores write into no common line of a cache: with one, kernels with many barriers take twice as long.
struct core {
    // kept from launch to launch
    void *checker; // of ../check
    struct fiber *fibers;
    char *stacks, *shared_limit; // shared_limit: behind it a guard, and a stack for signals
    unsigned room;               // threads for which there are fibers and stacks
    unsigned number;             // 0: who launches

    // of a launch
    const struct cpu_launch *launch;
    void *scheduler;           // the top of its stack
    unsigned long seed;        // CPU_CUDA_SEED, or 0
    unsigned long block, stop; // the one that runs, and where the blocks of this core end
    unsigned threads;          // of a block
    unsigned position;         // of the thread that runs, in the block's order
    bool is_stuck;             // all threads of the block wait for another block

    // of a block in which a thread has waited
    bool has_fibers;
    struct fiber *current;
    struct fiber *of_thread[1024];       // by number; NULL: it has ended before the first fiber
    unsigned count, turn;                // of the fibers; the one whose turn it is
    unsigned ready;                      // those that can go on
    unsigned alive[WARPS], waits[WARPS]; // lanes, as bits: that have not ended, that are IN_WARP
    struct tile {
        unsigned arrived; // threads, of those that wait for each other
        unsigned long round;
    } tiles[WARPS];          // by the first warp
    unsigned long round;     // in which each fiber has had its turn
    bool has_run, has_asked; // some thread: in this round; who is active
    unsigned idle_rounds;    // in which all that were left have spun
    double since;            // when that began; 0: not now
    double host_goes_on;     // until when the host could have changed what it waits for
    unsigned long got_on;    // until then: how often a core did
    unsigned votes, waited;  // of the last barrier: yes, and all
    unsigned spins, spinner; // how often which thread has read the same
    unsigned long draw;      // the last random number, for turns at atomics
} __attribute__((aligned(128)));
extern AT_HAND __thread struct core *cpu_core;

// block.c
unsigned long cpu_shuffled(unsigned long i, unsigned long n, unsigned long salt);
void cpu_choose_thread(unsigned position);
bool cpu_begin_block(void);
bool cpu_share_blocks(bool *is_one_left);
void cpu_add_no_core(void); // as there is no memory for it
void cpu_core_gets_on(bool yes);
bool cpu_no_core_gets_on(void);
unsigned long cpu_times_got_on(void);
void cpu_on_all_cores(const struct cpu_launch *launch,
                      void (*run)(const struct cpu_launch *, struct core *));
