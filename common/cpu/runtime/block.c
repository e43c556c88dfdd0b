// One core at work: blocks one after the other. The threads of a block run one after the other too,
// on one stack, until one of them waits at a barrier: then each later thread gets a stack of its own.
#include "runtime.h"
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { GUARD = 64 << 10, STACK = 640 << 10, SIGNAL_STACK = 64 << 10 }; // GUARD: a page at least

struct fiber {       // a stack, and the threads that run on it
    jmp_buf context; // where it goes on
    jmp_buf end;     // where a thread goes that must not go on
    char *stack;
    uint3 thread;
    enum { ENDED, WAITING, READY } state;
    const char *file; // where it waits
    int line;
    void *asan;
};

static __thread __attribute__((tls_model("initial-exec"))) struct core {
    const struct cpu_launch *launch;
    jmp_buf scheduler;
    struct fiber *fibers, *current;
    char *stacks, *shared_limit;
    unsigned long seed;        // CPU_CUDA_SEED, or 0
    unsigned long block, stop; // the one that runs, and where the blocks of this core end
    unsigned threads;          // of a block
    unsigned position;         // of the thread that runs, in the block's order
    bool has_barrier;          // this block
    unsigned long phase;       // barriers so far
    const void *asan_stack;
    size_t asan_bytes;
    void *asan;
} * core;

EXPORTED_TO_KERNELS __thread unsigned cpu_cuda_row_end;
EXPORTED_TO_KERNELS __thread void *cpu_cuda_dynamic_shared;

// AddressSanitizer wants to know when the stack changes
void __sanitizer_start_switch_fiber(void **, const void *, size_t) __attribute__((weak));
void __sanitizer_finish_switch_fiber(void *, const void **, size_t *) __attribute__((weak));
void __asan_unpoison_memory_region(void const volatile *, size_t) __attribute__((weak));

// ---- The order of blocks and threads is not to be relied on: CPU_CUDA_SEED=n gives another one.

static unsigned long gcd(unsigned long a, unsigned long b) { return b ? gcd(b, a % b) : a; }

// i -> (a i + b) mod n, with a and n coprime, is a permutation of 0 ... n - 1.
static unsigned long shuffled(unsigned long i, unsigned long n, unsigned long salt)
{
    if (!core->seed || n < 2) return i;
    unsigned long hash = (core->seed * 0x9E3779B97F4A7C15u + salt) * 0xBF58476D1CE4E5B9u;
    unsigned long a = (hash >> 20) % n, b = (hash >> 5) % n;
    while (gcd(a, n) != 1) a = (a + 1) % n;
    return (unsigned long)(((unsigned __int128)a * i + b) % n);
}

static void choose_block(unsigned long block)
{
    unsigned long i = shuffled(block, (unsigned long)gridDim.x * gridDim.y * gridDim.z, 0);
    blockIdx = (uint3){(unsigned)(i % gridDim.x), (unsigned)(i / gridDim.x % gridDim.y),
                       (unsigned)(i / gridDim.x / gridDim.y)};
}

static void choose_thread(unsigned position)
{
    unsigned i = (unsigned)shuffled(position, core->threads, core->block + 1);
    core->position = position;
    threadIdx = (uint3){i % blockDim.x, i / blockDim.x % blockDim.y, i / blockDim.x / blockDim.y};
}

// run_threads, in cuda_runtime.h, goes through a row by itself: the threads that differ in x only, up
// to cpu_cuda_row_end. Then, or after every thread if that is 0, it asks here whether to go on.
PUBLIC bool cpu_cuda_next_row(void)
{
    if (core->has_barrier) return false;
    if (core->seed) {
        if (++core->position == core->threads) return false;
        choose_thread(core->position);
        return true;
    }
    threadIdx.x = 0;
    if (++threadIdx.y < blockDim.y) return true;
    threadIdx.y = 0;
    return ++threadIdx.z < blockDim.z;
}

// ---- Fibers

// Between stacks it goes by _longjmp, which, other than swapcontext, asks nothing of the kernel.
static void to_scheduler(struct fiber *fiber)
{
    if (__sanitizer_start_switch_fiber)
        __sanitizer_start_switch_fiber(&fiber->asan, core->asan_stack, core->asan_bytes);
    if (_setjmp(fiber->context) == 0) _longjmp(core->scheduler, 1);
    if (__sanitizer_finish_switch_fiber)
        __sanitizer_finish_switch_fiber(fiber->asan, &core->asan_stack, &core->asan_bytes);
}

static void to_fiber(struct fiber *fiber, const ucontext_t *first)
{
    core->current = fiber;
    if (__sanitizer_start_switch_fiber)
        __sanitizer_start_switch_fiber(&core->asan, fiber->stack, STACK);
    if (_setjmp(core->scheduler) == 0) {
        if (first) setcontext(first);
        _longjmp(fiber->context, 1);
    }
    if (__sanitizer_finish_switch_fiber) __sanitizer_finish_switch_fiber(core->asan, NULL, NULL);
}

static bool begin_block(void)
{
    struct core *c = core;
    if (cpu_context_is_broken()) return false;
    bool is_next = ++c->block < c->stop; // to the one before; else somewhere in the grid
    if (!is_next && !cpu_take_blocks(&c->block, &c->stop)) return false;
    if (!is_next || c->seed) {
        choose_block(c->block);
        choose_thread(0);
    } else {
        if (++blockIdx.x == gridDim.x) {
            blockIdx.x = 0;
            if (++blockIdx.y == gridDim.y) {
                blockIdx.y = 0;
                blockIdx.z++;
            }
        }
        threadIdx = (uint3){0, 0, 0};
    }
    c->has_barrier = false;
    c->phase = 0;
    cpu_cuda_row_end = c->seed ? 0 : blockDim.x;
    if (c->launch->shared_bytes) { // NaN, as all fresh memory
        char *shared = cpu_cuda_dynamic_shared;
        memset(shared, 0xFF, (size_t)(c->shared_limit - shared));
    }
    return true;
}

static void run_here(void)
{
    do core->launch->run_threads(core->launch->body);
    while (!core->has_barrier && begin_block());
}

static void fiber_main(void)
{
    struct fiber *fiber = core->current;
    if (__sanitizer_finish_switch_fiber)
        __sanitizer_finish_switch_fiber(NULL, &core->asan_stack, &core->asan_bytes);
    for (;;) {
        if (_setjmp(fiber->end) == 0) run_here();
        fiber->state = ENDED;
        to_scheduler(fiber);
    }
}

static void start(struct fiber *fiber)
{
    ucontext_t first;
    if (fiber->stack) {
        to_fiber(fiber, NULL);
        return;
    }
    fiber->stack = core->stacks + (size_t)(fiber - core->fibers) * STACK;
    mprotect(fiber->stack, GUARD, PROT_NONE); // what grows beyond its stack faults
    getcontext(&first);
    first.uc_stack.ss_sp = fiber->stack;
    first.uc_stack.ss_size = STACK;
    makecontext(&first, fiber_main, 0);
    to_fiber(fiber, &first);
}

void cpu_leave_kernel(void) { _longjmp(core->current->end, 1); }

// __syncthreads(). The first one in a block gives all later threads a fiber.
PUBLIC void cpu_cuda_barrier(const char *file, int line)
{
    if (!cpu_running) {
        cpu_say("%s:%d: __syncthreads() is only for kernels", file, line);
        abort();
    }
    struct fiber *fiber = core->current;
    if (!core->has_barrier && !core->seed)
        core->position = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    core->has_barrier = true;
    cpu_cuda_row_end = 0; // from now on a stack ends with its thread
    fiber->thread = threadIdx;
    fiber->state = WAITING;
    fiber->file = file;
    fiber->line = line;
    to_scheduler(fiber);
}

// Releases the barrier if any thread waits at it. Those that have ended do not count, as on a GPU.
static bool release_barrier(unsigned fibers)
{
    const struct fiber *one = NULL;
    for (struct fiber *f = core->fibers; f < core->fibers + fibers; f++) {
        if (f->state != WAITING) continue;
        if (one && (f->line != one->line || strcmp(f->file, one->file) != 0) &&
            cpu_break_context(cudaErrorLaunchFailure))
            cpu_say("%s:%d: kernel %s: threads of a block wait at different barriers, %u,%u,%u at "
                    "%s:%d and %u,%u,%u at %s:%d",
                    core->launch->file, core->launch->line, core->launch->kernel, one->thread.x,
                    one->thread.y, one->thread.z, one->file, one->line, f->thread.x, f->thread.y,
                    f->thread.z, f->file, f->line);
        f->state = READY;
        one = one ? one : f;
    }
    core->phase++;
    return one && !cpu_context_is_broken();
}

// The rest of a block whose first fiber waits at a barrier.
static void finish_block(void)
{
    unsigned first = core->position, fibers = core->threads - first;
    for (unsigned i = 1; i < fibers && !cpu_context_is_broken(); i++) {
        choose_thread(first + i);
        start(&core->fibers[i]);
    }
    while (release_barrier(fibers))
        for (unsigned i = 0; i < fibers && !cpu_context_is_broken(); i++) {
            struct fiber *f = &core->fibers[shuffled(i, fibers, core->phase)];
            if (f->state == READY) {
                threadIdx = f->thread;
                to_fiber(f, NULL);
            }
        }
}

// ---- One core's part of a launch

static void *map(size_t bytes)
{
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

void cpu_run_blocks(const struct cpu_launch *launch)
{
    const char *seed = getenv("CPU_CUDA_SEED");
    struct core this_core = {.launch = launch,
                             .seed = seed ? strtoul(seed, NULL, 10) : 0,
                             .threads = launch->block.x * launch->block.y * launch->block.z};
    size_t stacks = (size_t)this_core.threads * STACK;
    size_t shared = (launch->shared_bytes + GUARD - 1) / GUARD * GUARD;
    char *shared_pages = map(shared + GUARD), *signal_stack = map(SIGNAL_STACK);
    this_core.fibers = calloc(this_core.threads, sizeof *this_core.fibers);
    this_core.stacks = map(stacks);
    stack_t handler = {.ss_sp = signal_stack, .ss_size = SIGNAL_STACK}, before;
    if (this_core.fibers && this_core.stacks && shared_pages && signal_stack) {
        core = &this_core;
        core->shared_limit = shared_pages + shared;
        cpu_cuda_dynamic_shared = core->shared_limit - (launch->shared_bytes + 15) / 16 * 16;
        mprotect(core->shared_limit, GUARD, PROT_NONE);
        sigaltstack(&handler, &before);
        while (begin_block()) {
            start(&core->fibers[0]);
            if (core->has_barrier) finish_block();
        }
        sigaltstack(&before, NULL);
        core = NULL;
    } else if (cpu_break_context(cudaErrorLaunchOutOfResources)) {
        cpu_say("no memory for the stacks of kernel %s", launch->kernel);
    }
    munmap(shared_pages, shared + GUARD);
    munmap(signal_stack, SIGNAL_STACK);
    if (__asan_unpoison_memory_region) __asan_unpoison_memory_region(this_core.stacks, stacks);
    munmap(this_core.stacks, stacks);
    free(this_core.fibers);
}

const char *cpu_shared_limit(void) { return core->shared_limit; }

bool cpu_is_end_of_stack(const char *address)
{
    return address >= core->stacks && address < core->stacks + (size_t)core->threads * STACK &&
           (size_t)(address - core->stacks) % STACK < GUARD;
}
