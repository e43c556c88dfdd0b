// The threads of a block run one after the other, on one stack, until one of them has to wait for others.
// Then each later thread gets a stack of its own, and they take turns.
#include "core.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

__thread struct core *cpu_core;

// AddressSanitizer wants to know when the stack changes
void __sanitizer_start_switch_fiber(void **, const void *, size_t) __attribute__((weak));
void __sanitizer_finish_switch_fiber(void *, const void **, size_t *) __attribute__((weak));

// ---- Fibers. Between stacks it goes by _longjmp, which, other than swapcontext, asks nothing of the kernel.

static void to_scheduler(struct fiber *fiber)
{
    struct core *core = cpu_core;
    if (__sanitizer_start_switch_fiber)
        __sanitizer_start_switch_fiber(&fiber->asan, core->asan_stack, core->asan_bytes);
    if (_setjmp(fiber->context) == 0) _longjmp(core->scheduler, 1);
    if (__sanitizer_finish_switch_fiber)
        __sanitizer_finish_switch_fiber(fiber->asan, &core->asan_stack, &core->asan_bytes);
}

static void to_fiber(struct fiber *fiber, const ucontext_t *first)
{
    struct core *core = cpu_core;
    core->current = fiber;
    if (__sanitizer_start_switch_fiber)
        __sanitizer_start_switch_fiber(&core->asan, fiber->stack, STACK);
    if (_setjmp(core->scheduler) == 0) {
        if (first) setcontext(first);
        _longjmp(fiber->context, 1);
    }
    if (__sanitizer_finish_switch_fiber) __sanitizer_finish_switch_fiber(core->asan, NULL, NULL);
}

static void run_here(void)
{
    do cpu_core->launch->run_threads(cpu_core->launch->body);
    while (!cpu_core->has_fibers && cpu_begin_block());
}

static void fiber_main(void)
{
    struct fiber *fiber = cpu_core->current;
    if (__sanitizer_finish_switch_fiber)
        __sanitizer_finish_switch_fiber(NULL, &cpu_core->asan_stack, &cpu_core->asan_bytes);
    for (;;) {
        if (_setjmp(fiber->end) == 0) run_here();
        fiber->state = ENDED;
        to_scheduler(fiber);
    }
}

static void start(struct fiber *fiber)
{
    ucontext_t first;
    fiber->state = READY;
    if (fiber->stack) {
        to_fiber(fiber, NULL);
        return;
    }
    fiber->stack = cpu_core->stacks + (size_t)(fiber - cpu_core->fibers) * STACK;
    mprotect(fiber->stack, GUARD, PROT_NONE); // what grows beyond its stack faults
    getcontext(&first);
    first.uc_stack.ss_sp = fiber->stack;
    first.uc_stack.ss_size = STACK;
    makecontext(&first, fiber_main, 0);
    to_fiber(fiber, &first);
}

void cpu_leave_kernel(void) { _longjmp(cpu_core->current->end, 1); }

bool cpu_is_end_of_stack(const char *address)
{
    const struct core *core = cpu_core;
    return address >= core->stacks && address < core->stacks + (size_t)core->threads * STACK &&
           (size_t)(address - core->stacks) % STACK < GUARD;
}

// ---- Waiting

// The first thread of a block that waits gives all later ones a fiber.
static void give_fibers(void)
{
    struct core *core = cpu_core;
    if (!core->seed) core->position = cpu_thread_number();
    core->has_fibers = true;
    cpu_cuda_row_end = 0; // from now on a stack ends with its thread
    uint3 me = threadIdx;
    memset(core->of_thread, 0, sizeof core->of_thread);
    unsigned first = core->position;
    for (unsigned i = first; i < core->threads; i++) {
        struct fiber *f = &core->fibers[i - first];
        cpu_choose_thread(i);
        f->thread = threadIdx;
        f->number = cpu_thread_number();
        f->state = NEW;
        core->of_thread[f->number] = f;
    }
    core->position = first;
    threadIdx = me;
}

static struct fiber *fiber_here(const char *what, const char *file, int line)
{
    if (!cpu_running) {
        cpu_say("%s:%d: %s() is only for kernels", file, line, what);
        abort();
    }
    if (!cpu_core->has_fibers) give_fibers();
    struct fiber *fiber = cpu_core->current;
    fiber->what = what;
    fiber->file = file;
    fiber->line = line;
    return fiber;
}

static void wait_as(struct fiber *fiber, unsigned state)
{
    fiber->state = state;
    to_scheduler(fiber);
}

static void fail(const struct fiber *a, const char *why, const struct fiber *b)
{
    const struct cpu_launch *l = cpu_core->launch;
    char other[600] = "";
    if (!cpu_break_context(cudaErrorLaunchFailure)) return;
    if (b)
        snprintf(other, sizeof other, ", thread %u,%u,%u at %s:%d (%s)", b->thread.x, b->thread.y,
                 b->thread.z, b->file, b->line, b->what);
    cpu_say("%s:%d: kernel %s: %s: thread %u,%u,%u at %s:%d (%s)%s", l->file, l->line, l->kernel,
            why, a->thread.x, a->thread.y, a->thread.z, a->file, a->line, a->what, other);
}

// ---- Barriers of a block, which count its votes

static bool release_barrier(unsigned fibers)
{
    struct core *core = cpu_core;
    const struct fiber *one = NULL;
    core->count = core->waiting = 0;
    for (struct fiber *f = core->fibers; f < core->fibers + fibers; f++) {
        if (f->state == ENDED) continue; // those do not count, as on a GPU
        if (one && (f->line != one->line || strcmp(f->file, one->file) != 0))
            fail(one, "threads of a block wait at different places", f);
        one = one ? one : f;
        core->count += f->value != 0;
        core->waiting++;
        f->state = READY;
    }
    cpu_check_waited(-1);
    return one;
}

// __syncthreads() and its votes: how many have come (or ended: those do not count), and how many said yes.
PUBLIC unsigned cpu_cuda_barrier(const char *what, bool yes, unsigned *all, const char *file,
                                 int line)
{
    struct fiber *fiber = fiber_here(what, file, line);
    fiber->value = yes;
    wait_as(fiber, AT_BARRIER);
    if (all) *all = cpu_core->waiting;
    return cpu_core->count;
}

// ---- Warps

static struct fiber *lane(unsigned warp, unsigned i) // NULL if it has ended, or there is none
{
    unsigned number = warp * WARP + i;
    struct fiber *f = number < cpu_core->threads ? cpu_core->of_thread[number] : NULL;
    return f && f->state != ENDED ? f : NULL;
}

// Gives the lanes of a mask what each of them gave, and lets them go on.
static void exchange(unsigned warp, unsigned mask)
{
    uint64_t given[WARP];
    bool orders_memory = false;
    memset(given, FRESH, sizeof given); // of a lane that takes no part
    for (unsigned i = 0; i < WARP; i++) {
        const struct fiber *f = mask >> i & 1 ? lane(warp, i) : NULL;
        if (f) given[i] = f->value;
    }
    for (unsigned i = 0; i < WARP; i++) {
        struct fiber *f = mask >> i & 1 ? lane(warp, i) : NULL;
        if (!f) continue;
        if (f->state == IN_WARP) memcpy(f->given, given, sizeof given);
        f->mask = mask;
        f->state = READY;
        orders_memory = f->orders_memory;
    }
    if (orders_memory) cpu_check_waited((int)warp);
}

// A shuffle, a vote or __syncwarp: waits for all lanes in `mask` that have not ended; then the mask is those
// that came. Of these primitives only __syncwarp orders memory.
PUBLIC void cpu_cuda_warp(const char *what, unsigned *mask, uint64_t value, uint64_t given[WARP],
                          const char *file, int line)
{
    struct fiber *fiber = fiber_here(what, file, line);
    unsigned warp = fiber->number / WARP, here = 0;
    bool is_complete = true;
    fiber->value = value;
    fiber->given = given;
    fiber->mask = *mask;
    fiber->orders_memory = strcmp(what, "__syncwarp") == 0;
    if (!(*mask >> fiber->number % WARP & 1)) {
        fail(fiber, "a thread is not in the mask of what it waits for", NULL);
        cpu_leave_kernel();
    }
    fiber->state = IN_WARP;
    for (unsigned i = 0; i < WARP; i++) {
        const struct fiber *f = *mask >> i & 1 ? lane(warp, i) : NULL;
        if (!f) continue;
        here |= 1u << i;
        is_complete =
            is_complete && f->state == IN_WARP && f->mask == *mask && strcmp(f->what, what) == 0;
    }
    if (is_complete)
        exchange(warp, here);
    else
        to_scheduler(fiber);
    *mask = fiber->mask;
}

// __activemask(): the lanes that come here while all others of the warp wait elsewhere.
PUBLIC unsigned cpu_cuda_active(const char *file, int line)
{
    struct fiber *fiber = fiber_here("__activemask", file, line);
    fiber->value = 0;
    wait_as(fiber, WHO_IS_ACTIVE);
    return fiber->mask;
}

static bool answer_who_is_active(void)
{
    bool has_answered = false;
    for (unsigned warp = 0; warp * WARP < cpu_core->threads; warp++) {
        const struct fiber *first = NULL; // in the source: the others may still come there
        bool is_at_rest = true;
        for (unsigned i = 0; i < WARP; i++) {
            const struct fiber *f = lane(warp, i);
            is_at_rest = is_at_rest && (!f || (f->state != NEW && f->state != READY));
            if (f && f->state == WHO_IS_ACTIVE && (!first || f->line < first->line)) first = f;
        }
        unsigned mask = 0;
        for (unsigned i = 0; first && i < WARP; i++) {
            const struct fiber *f = lane(warp, i);
            mask |= (unsigned)(f && f->state == WHO_IS_ACTIVE && f->line == first->line) << i;
        }
        if (is_at_rest && mask) exchange(warp, mask);
        has_answered = has_answered || (is_at_rest && mask);
    }
    return has_answered;
}

// ---- Spinning: a thread reads the same again and again until another one writes. It lets the others run.

void cpu_spin(void)
{
    struct fiber *fiber = fiber_here("another thread", "a loop", 0);
    wait_as(fiber, SPINS);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// No thread of this block gets on without another block. If no core gets on for a while, none ever will.
static void wait_for_others(double *since)
{
    enum { PATIENCE = 2 }; // seconds
    const struct timespec nap = {0, 50000};
    if (cpu_share_blocks() || *since == 0) *since = seconds();
    nanosleep(&nap, NULL);
    if (seconds() - *since > PATIENCE && cpu_no_core_gets_on() &&
        cpu_break_context(cudaErrorLaunchTimeout))
        cpu_say("%s:%d: kernel %s hangs, and would on a GPU: every thread that is left waits for "
                "another one, in a "
                "loop that reads what nobody writes",
                cpu_core->launch->file, cpu_core->launch->line, cpu_core->launch->kernel);
}

// ---- A block whose first fiber waits

static const struct fiber *find(unsigned fibers, unsigned state)
{
    const struct fiber *f = cpu_core->fibers, *end = f + fibers;
    while (f < end && f->state != state) f++;
    return f < end ? f : NULL;
}

static void finish_block(void)
{
    struct core *core = cpu_core;
    unsigned fibers = core->threads - core->position, idle_rounds = 0;
    double since = 0; // nobody gets on; 0: somebody does
    while (!cpu_context_is_broken()) {
        bool has_run = false, has_spun = false, has_asked = false;
        for (unsigned i = 0; i < fibers && !cpu_context_is_broken(); i++) {
            struct fiber *f = &core->fibers[core->round ? cpu_shuffled(i, fibers, core->round) : i];
            has_asked = has_asked || f->state == WHO_IS_ACTIVE;
            if (f->state != NEW && f->state != READY && f->state != SPINS) continue;
            threadIdx = f->thread;
            if (f->state == NEW)
                start(f);
            else
                to_fiber(f, NULL);
            has_spun = has_spun || f->state == SPINS;
            has_run = has_run || f->state != SPINS;
        }
        core->round++;
        if ((has_asked && answer_who_is_active()) || has_run) {
            cpu_core_gets_on(true);
            idle_rounds = 0;
            since = 0;
        } else if (has_spun) {
            cpu_core_gets_on(false);
            if (++idle_rounds > 3) wait_for_others(&since);
        } else {
            const struct fiber *warp = find(fibers, IN_WARP);
            if (warp)
                fail(warp, "threads of a warp wait for others that do not come",
                     find(fibers, AT_BARRIER));
            else if (!release_barrier(fibers))
                break;
        }
    }
    cpu_core_gets_on(true);
}

void cpu_run_threads(void)
{
    start(&cpu_core->fibers[0]);
    if (cpu_core->has_fibers) finish_block();
}
