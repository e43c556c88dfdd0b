// The threads of a block run one after the other, on one stack, until one of them has to wait for others.
// Then each later thread gets a stack of its own, and who waits lets the next one run.
#include "core.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { SIGNAL_STACK = 64 << 10 };

// ---- From stack to stack: what a call must not change is kept on the one that is left, and its top in *from

void cpu_switch(void **from, void *to);
#ifdef __x86_64__
enum { KEPT = 8, RETURN = 6 }; // words, with one that is not used; the address to return to
__asm__(".text\n.type cpu_switch, @function\ncpu_switch:\n"
        "push %rbp\n push %rbx\n push %r12\n push %r13\n push %r14\n push %r15\n"
        "mov %rsp, (%rdi)\n mov %rsi, %rsp\n"
        "pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbx\n pop %rbp\n ret\n"
        ".size cpu_switch, . - cpu_switch\n");
#elif defined __aarch64__
enum { KEPT = 20, RETURN = 11 };
__asm__(".text\n.type cpu_switch, %function\ncpu_switch:\n"
        "stp x19, x20, [sp, -160]!\n stp x21, x22, [sp, 16]\n stp x23, x24, [sp, 32]\n"
        "stp x25, x26, [sp, 48]\n stp x27, x28, [sp, 64]\n stp x29, x30, [sp, 80]\n"
        "stp d8, d9, [sp, 96]\n stp d10, d11, [sp, 112]\n stp d12, d13, [sp, 128]\n"
        "stp d14, d15, [sp, 144]\n mov x9, sp\n str x9, [x0]\n mov sp, x1\n"
        "ldp x21, x22, [sp, 16]\n ldp x23, x24, [sp, 32]\n ldp x25, x26, [sp, 48]\n"
        "ldp x27, x28, [sp, 64]\n ldp x29, x30, [sp, 80]\n ldp d8, d9, [sp, 96]\n"
        "ldp d10, d11, [sp, 112]\n ldp d12, d13, [sp, 128]\n ldp d14, d15, [sp, 144]\n"
        "ldp x19, x20, [sp], 160\n ret\n"
        ".size cpu_switch, . - cpu_switch\n");
#else
#error "the CPU stand-in runs on x86-64 and on aarch64"
#endif

static void run_here(void)
{
    do cpu_core->launch->run_threads(cpu_core->launch->body);
    while (!cpu_core->has_fibers && cpu_begin_block());
}

static void go_on(struct fiber *me);
static inline void set_state(struct fiber *f, unsigned state);
static void let_others_go(unsigned warp);

// Not inlined: another thread of the CPU may run the next block on this stack, and on aarch64 g++ keeps the address of
// thread-local variables from one round of a loop to the next.
static __attribute__((noinline)) void run_once(struct fiber *me)
{
    run_here();
    set_state(me, ENDED);
    if (cpu_core->waits[me->number / WARP]) let_others_go(me->number / WARP);
    go_on(me);
}

static void fiber_main(void)
{
    struct fiber *me = cpu_core->current;
    for (;;) run_once(me);
}

static void begin(struct fiber *f)
{
    size_t i = (size_t)(f - cpu_core->fibers); // not all in the same lines of the processor's cache
    f->top = (void **)(f->stack + STACK - i % 64 * 64) - KEPT;
    // What grows beyond its stack faults. For 500 more cores it would be more mappings than Linux gives a process.
    if (cpu_core->number <= MOST_CORES) mprotect(f->stack, GUARD, PROT_NONE);
    ((void (**)(void))f->top)[RETURN] = fiber_main;
}

static void to_fiber(struct fiber *f) // from the scheduler: when a block begins
{
    struct core *core = cpu_core;
    if (!f->top) begin(f);
    core->current = f;
    cpu_switch(&core->scheduler, f->top);
}

static void to_scheduler(void) { cpu_switch(&cpu_core->current->top, cpu_core->scheduler); }

static bool end_round(struct core *core);

// The next thread of the block that can go on, or NULL.
static inline struct fiber *next_fiber(struct core *core)
{
    do
        while (++core->turn < core->count) {
            struct fiber *f = &core->fibers[core->turn];
            if (core->seed && core->round)
                f = &core->fibers[cpu_shuffled(core->turn, core->count, core->round)];
            if (f->state <= SPINS) return f;
        }
    while (core->has_fibers && end_round(core));
    return NULL;
}

// It runs, or if there is none, the scheduler. Nothing comes behind the switch, so that a stack keeps little: a cache
// holds what a thousand of them have on top.
static void go_on(struct fiber *me)
{
    struct core *core = cpu_core;
    struct fiber *next = next_fiber(core);
    if (!next) {
        to_scheduler();
        return;
    }
    next->state = READY;
    threadIdx = next->thread;
    if (next == me) return;
    if (!next->top) begin(next);
    core->current = next;
    cpu_switch(&me->top, next->top);
}

// ---- Waiting

static inline void set_state(struct fiber *f, unsigned state)
{
    struct core *core = cpu_core;
    unsigned warp = f->number / WARP, bit = 1u << f->number % WARP;
    core->ready += (state <= SPINS) - (f->state <= SPINS);
    if (f->state == IN_WARP) core->waits[warp] &= ~bit;
    if (state == IN_WARP) core->waits[warp] |= bit;
    if (state == ENDED) core->alive[warp] &= ~bit;
    f->state = state;
}

static void wait_as(struct fiber *fiber, unsigned state)
{
    set_state(fiber, state);
    if (state != SPINS) cpu_core->has_run = true;
    go_on(fiber);
}

// The first thread of a block that waits gives all later ones a fiber.
static void give_fibers(void)
{
    struct core *core = cpu_core;
    if (!core->seed) core->position = cpu_thread_number();
    uint3 me = threadIdx;
    unsigned first = core->position;
    cpu_cuda_row_end = 0; // from now on a stack ends with its thread
    memset(core->of_thread, 0, core->threads * sizeof core->of_thread[0]);
    memset(core->alive, 0, sizeof core->alive);
    memset(core->waits, 0, sizeof core->waits);
    memset(core->tiles, 0, sizeof core->tiles);
    for (unsigned i = first; i < core->threads; i++) {
        struct fiber *f = &core->fibers[i - first];
        cpu_choose_thread(i);
        f->thread = threadIdx;
        f->number = cpu_thread_number();
        f->state = i == first ? READY : NEW;
        if (core->seed) f->atomics = 0;
        core->of_thread[f->number] = f;
        core->alive[f->number / WARP] |= 1u << f->number % WARP;
    }
    core->has_fibers = true;
    core->count = core->ready = core->threads - first;
    core->turn = core->idle_rounds = 0;
    core->round = 0;
    core->has_run = core->has_asked = false;
    core->since = 0;
    core->position = first;
    threadIdx = me;
}

static const char in_a_loop[] = "a loop"; // in place of a file: what a thread waits in

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

static void fail(const struct fiber *a, const char *why, const struct fiber *b)
{
    const struct cpu_launch *l = cpu_core->launch;
    char launched[400], other[600] = "";
    if (!cpu_break_context(cudaErrorLaunchFailure)) return;
    if (b)
        snprintf(other, sizeof other, ", thread %u,%u,%u at %s:%d (%s)", b->thread.x, b->thread.y,
                 b->thread.z, b->file, b->line, b->what);
    cpu_say("%s: kernel %s: %s: thread %u,%u,%u at %s:%d (%s)%s",
            cpu_launched_at(l, launched, sizeof launched), l->kernel, why, a->thread.x, a->thread.y,
            a->thread.z, a->file, a->line, a->what, other);
}

// ---- Barriers of a block, which count its votes

// False if no thread is left.
static bool release_barrier(void)
{
    struct core *core = cpu_core;
    const struct fiber *one = NULL;
    core->votes = core->waited = 0;
    for (struct fiber *f = core->fibers; f < core->fibers + core->count; f++) {
        if (f->state == ENDED) continue; // those do not count, as on a GPU
        if (one && (f->line != one->line || (f->file != one->file && strcmp(f->file, one->file))))
            fail(one, "threads of a block wait at different places", f);
        one = one ? one : f;
        core->votes += f->value != 0;
        core->waited++;
        f->state = READY;
    }
    core->ready = core->waited;
    CHECKS(waited, -1);
    return one;
}

// __syncthreads() and its votes.
PUBLIC void cpu_cuda_barrier(const char *what, bool yes, const char *file, int line)
{
    struct fiber *fiber = fiber_here(what, file, line);
    fiber->value = yes;
    wait_as(fiber, AT_BARRIER);
}
// Behind it: how many have come (or ended: those do not count), and how many said yes.
PUBLIC unsigned cpu_cuda_votes(unsigned *all)
{
    if (all) *all = cpu_core->waited;
    return cpu_core->votes;
}

// ---- Tiles of several warps

// Waits for all threads of a tile that have not ended; then given has what each of them gave.
PUBLIC void cpu_cuda_tile(const char *what, unsigned size, const void *value, size_t bytes,
                          void *given, const char *file, int line)
{
    struct fiber *fiber = fiber_here(what, file, line);
    struct core *core = cpu_core;
    unsigned first = fiber->number / size * size;
    struct tile *tile = &core->tiles[first / WARP];
    unsigned long round = tile->round;
    fiber->value = (uintptr_t)value; // on its stack, where it stays until all have seen it
    for (int seen = 0; seen < 2; seen++, round++) {
        tile->arrived++;
        while (tile->round == round) {
            unsigned alive = 0;
            for (unsigned w = first / WARP; w < (first + size) / WARP; w++)
                alive += (unsigned)__builtin_popcount(core->alive[w]);
            if (tile->arrived == alive) {
                tile->arrived = 0;
                tile->round++;
                core->has_run = true;
                CHECKS(waited, -1);
            } else {
                wait_as(fiber, SPINS);
            }
        }
        if (given && !seen) memset(given, 0, size * bytes); // of those that have ended
        for (unsigned i = 0; i < size && first + i < core->threads && given && !seen; i++) {
            const struct fiber *f = core->of_thread[first + i];
            if (f && f->state != ENDED)
                memcpy((char *)given + i * bytes, (const void *)f->value, bytes);
        }
    }
}

// ---- Warps

// Gives the lanes of a mask what each of them gave, and lets them go on.
static void exchange(unsigned warp, unsigned mask)
{
    uint64_t given[WARP];
    bool orders_memory = false;
    struct fiber **lanes = &cpu_core->of_thread[warp * WARP];
    memset(given, 0, sizeof given); // of a lane that takes no part, as on an H100
    for (unsigned i = 0; i < WARP; i++)
        if (mask >> i & 1) given[i] = lanes[i]->value;
    for (unsigned i = 0; i < WARP; i++) {
        if (!(mask >> i & 1)) continue;
        if (lanes[i]->state == IN_WARP) memcpy(lanes[i]->given, given, sizeof given);
        lanes[i]->mask = mask;
        set_state(lanes[i], READY);
        orders_memory = lanes[i]->orders_memory;
    }
    if (orders_memory) CHECKS(waited, (int)warp);
}

// Whether all lanes that this one waits for wait for the same.
static bool is_complete(const struct fiber *fiber, unsigned here)
{
    unsigned warp = fiber->number / WARP;
    if (here & ~cpu_core->waits[warp]) return false;
    for (unsigned i = 0; i < WARP; i++) {
        const struct fiber *f = here >> i & 1 ? cpu_core->of_thread[warp * WARP + i] : NULL;
        if (f && (f->mask != fiber->mask || strcmp(f->what, fiber->what) != 0)) return false;
    }
    return true;
}

// A lane has ended: those go on that have waited for no other.
static __attribute__((noinline)) void let_others_go(unsigned warp)
{
    for (unsigned i = 0; i < WARP && cpu_core->waits[warp]; i++) {
        const struct fiber *f = cpu_core->of_thread[warp * WARP + i];
        if (!(cpu_core->waits[warp] >> i & 1)) continue;
        unsigned here = f->mask & cpu_core->alive[warp];
        if (is_complete(f, here)) exchange(warp, here);
    }
}

// A shuffle, a vote or __syncwarp: waits for all lanes in `mask` that have not ended; then the mask is those
// that came. Of these primitives only __syncwarp orders memory.
PUBLIC void cpu_cuda_warp(const char *what, unsigned *mask, uint64_t value, uint64_t given[WARP],
                          const char *file, int line)
{
    struct fiber *fiber = fiber_here(what, file, line);
    unsigned warp = fiber->number / WARP, here = *mask & cpu_core->alive[warp];
    fiber->value = value;
    fiber->given = given;
    fiber->mask = *mask;
    fiber->orders_memory = strcmp(what, "__syncwarp") == 0;
    if (!(*mask >> fiber->number % WARP & 1)) {
        fail(fiber, "a thread is not in the mask of what it waits for", NULL);
        cpu_leave_kernel();
    }
    set_state(fiber, IN_WARP);
    if (is_complete(fiber, here))
        exchange(warp, here);
    else
        wait_as(fiber, IN_WARP);
    *mask = fiber->mask;
}

// __activemask(): the lanes that come here while all others of the warp wait elsewhere.
PUBLIC unsigned cpu_cuda_active(const char *file, int line)
{
    struct fiber *fiber = fiber_here("__activemask", file, line);
    fiber->value = 0;
    cpu_core->has_asked = true;
    wait_as(fiber, WHO_IS_ACTIVE);
    return fiber->mask;
}

static bool answer_who_is_active(void)
{
    bool has_answered = false;
    for (unsigned warp = 0; warp * WARP < cpu_core->threads; warp++) {
        struct fiber **lanes = &cpu_core->of_thread[warp * WARP];
        const struct fiber *first = NULL; // in the source: the others may still come there
        unsigned mask = 0;
        bool is_at_rest = true;
        for (unsigned i = 0; i < WARP; i++) {
            if (!(cpu_core->alive[warp] >> i & 1)) continue;
            const struct fiber *f = lanes[i];
            is_at_rest = is_at_rest && f->state != NEW && f->state != READY;
            if (f->state != WHO_IS_ACTIVE) continue;
            if (!first || f->line < first->line) first = f, mask = 0;
            if (f->line == first->line) mask |= 1u << i;
        }
        if (is_at_rest && mask) exchange(warp, mask);
        has_answered = has_answered || (is_at_rest && mask);
    }
    return has_answered;
}

// ---- Spinning: a thread reads the same again and again until another one writes. It lets the others run.

// It has read, or else written, what is volatile or atomic.
void cpu_note_spin(bool has_changed)
{
    enum { PATIENCE = 256 };
    struct core *core = cpu_core;
    if (!core) return;
    unsigned who = cpu_thread_number();
    if (has_changed) {
        core->has_run = true;
        if (core->is_stuck)
            cpu_core_gets_on(true); // at once: a round in which many spin takes long
    }
    if (has_changed || who != core->spinner) core->spins = 0;
    core->spinner = who;
    if (++core->spins % PATIENCE == 0) wait_as(fiber_here("another thread", in_a_loop, 0), SPINS);
}

// CPU_CUDA_SEED: before something atomic others have their turn, as on a GPU they may, so what a thread has read before may
// be old. Often at first, for each thread; then rarely, or who waits in a loop would not be seen to wait.
bool cpu_wants_turn(void)
{
    enum { OFTEN = 64 };
    struct core *core = cpu_core;
    if (!core || !core->seed) return false;
    unsigned n = core->has_fibers ? ++core->current->atomics : 0;
    core->draw = core->draw * 6364136223846793005u + 1442695040888963407u;
    return n < OFTEN ? core->draw >> 63 : !(n & (n - 1));
}

void cpu_give_turn(bool is_spinning)
{
    set_state(fiber_here("another thread", in_a_loop, 0), is_spinning ? SPINS : READY);
    cpu_core->has_run = true;
    go_on(cpu_core->current);
}

bool cpu_gave_turn(unsigned thread) // in a loop, or before something atomic
{
    const struct fiber *f = cpu_core->has_fibers ? cpu_core->of_thread[thread] : NULL;
    return f && (f->state == READY || f->state == SPINS) && f->file == in_a_loop;
}

bool cpu_is_spinning(unsigned thread)
{
    const struct fiber *f = cpu_core->has_fibers ? cpu_core->of_thread[thread] : NULL;
    return f && f->state == SPINS;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// No thread of this block gets on without another block. If no core gets on for a moment, one is added for a block that
// has not begun; if no core gets on for a while, and none begins a block, none ever will.
static void wait_for_others(void)
{
    const double moment = 0.001, patience = 2; // seconds
    const struct timespec nap = {0, 50000};
    struct core *core = cpu_core;
    const struct cpu_launch *l = core->launch;
    unsigned long times = cpu_times_got_on();
    if (core->since == 0 || times != core->got_on) core->since = seconds();
    core->got_on = times;
    nanosleep(&nap, NULL);
    char text[400];
    double waited = seconds() - core->since;
    // the host goes on, and may yet write what the loop reads
    if (cpu_runs_by_itself && !cpu_waiting_call) core->host_goes_on = seconds();
    bool is_one_left;
    if (!cpu_no_core_gets_on()) core->since = 0; // one may compute for long before it waits, too
    if (waited < moment || !cpu_no_core_gets_on() || times != cpu_times_got_on() ||
        cpu_share_blocks(&is_one_left))
        return;
    const char *call = cpu_waiting_call;
    if (waited > patience && seconds() - core->host_goes_on > patience &&
        cpu_break_context(cudaErrorLaunchTimeout))
        cpu_say("%s: kernel %s hangs%s: every thread that is left waits for another one, in a "
                "loop that reads what %s%s%s",
                cpu_launched_at(l, text, sizeof text), l->kernel,
                is_one_left || call ? "" : ", and would on a GPU",
                is_one_left
                    ? "a block may write that has not begun, and no more blocks run at a time here"
                    : "nobody writes",
                call ? ", while the host waits: here no call returns as long as a kernel runs, so "
                       "neither does "
                     : "",
                call ? call : "");
}

// ---- All blocks of a grid wait for each other: each block for its own threads, then one of these for other blocks

static unsigned arrived, grid_round; // blocks, of those that there are; how often all have

PUBLIC void cpu_cuda_grid_barrier(const char *file, int line)
{
    struct fiber *fiber = fiber_here("grid.sync", file, line);
    const dim3 *g = &cpu_running->grid;
    if (!cpu_running->is_cooperative) {
        fail(fiber, "only cudaLaunchCooperativeKernel starts blocks that can wait for each other",
             NULL);
        cpu_leave_kernel();
    }
    wait_as(fiber, AT_BARRIER);
    if (fiber == cpu_core->fibers) {
        unsigned before = __atomic_load_n(&grid_round, __ATOMIC_ACQUIRE);
        if (__atomic_add_fetch(&arrived, 1, __ATOMIC_ACQ_REL) == g->x * g->y * g->z) {
            arrived = 0;
            CHECKS(grid_waited);
            __atomic_store_n(&grid_round, before + 1, __ATOMIC_RELEASE);
        }
        while (__atomic_load_n(&grid_round, __ATOMIC_ACQUIRE) == before) wait_as(fiber, SPINS);
        CHECKS(block_goes_on);
    }
    wait_as(fiber, AT_BARRIER);
}

// ---- Whose turn it is

static const struct fiber *find(unsigned state)
{
    const struct fiber *f = cpu_core->fibers, *end = f + cpu_core->count;
    while (f < end && f->state != state) f++;
    return f < end ? f : NULL;
}

// Each fiber has had its turn. False if no thread of the block is left.
static __attribute__((noinline)) bool end_round(struct core *core)
{
    bool has_answered = core->has_asked && answer_who_is_active();
    if (core->has_run || has_answered) {
        cpu_core_gets_on(true);
        core->idle_rounds = 0;
        core->since = 0;
    } else if (core->ready) { // and they spin
        cpu_core_gets_on(false);
        if (++core->idle_rounds > 3) wait_for_others();
    }
    core->has_run = false;
    core->round++;
    core->turn = -1u;
    if (cpu_context_is_broken()) return false;
    if (core->ready) return true;
    if (!find(IN_WARP)) return release_barrier();
    fail(find(IN_WARP), "threads of a warp wait for others that do not come", find(AT_BARRIER));
    return false;
}

// ---- A core

// For a block's threads. False if there is no memory.
static bool make_room(struct core *core, unsigned threads)
{
    if (!core->shared_limit) {
        char *shared = cpu_lazy_pages(CPU_MOST_SHARED + GUARD + SIGNAL_STACK);
        if (!shared) return false;
        core->shared_limit = shared + CPU_MOST_SHARED;
        mprotect(core->shared_limit, GUARD, PROT_NONE);
    }
    if (core->room < threads) {
        free(core->fibers);
        cpu_give_pages_back(core->stacks, core->room * cpu_stack_step());
        core->fibers = aligned_alloc(64, threads * sizeof *core->fibers);
        core->stacks = cpu_lazy_pages(threads * cpu_stack_step());
        core->room = core->fibers && core->stacks ? threads : 0;
        for (size_t i = 0; i < core->room; i++)
            core->fibers[i] = (struct fiber){.stack = core->stacks + i * cpu_stack_step()};
    }
    return core->room;
}

// One core's part of a launch.
static void run_core(const struct cpu_launch *launch, struct core *core)
{
    const char *seed = getenv("CPU_CUDA_SEED");
    unsigned threads = launch->block.x * launch->block.y * launch->block.z;
    if (!make_room(core, threads)) { // the others go on without one that helps
        cpu_add_no_core();
        if (core->number == 0 && cpu_break_context(cudaErrorLaunchOutOfResources))
            cpu_say("no memory for the stacks of kernel %s", launch->kernel);
        return;
    }
    stack_t handler = {.ss_sp = core->shared_limit + GUARD, .ss_size = SIGNAL_STACK}, before;
    core->launch = launch;
    core->seed = seed ? strtoul(seed, NULL, 10) : 0;
    core->threads = threads;
    core->block = core->stop = 0;
    core->is_stuck = core->has_fibers = false;
    cpu_core = core;
    cpu_running = launch;
    cpu_here = (struct cpu_here){to_scheduler, core->stacks, core->room * cpu_stack_step()};
    gridDim = (uint3){launch->grid.x, launch->grid.y, launch->grid.z};
    blockDim = (uint3){launch->block.x, launch->block.y, launch->block.z};
    cpu_cuda_dynamic_shared = core->shared_limit - (launch->shared_bytes + 15) / 16 * 16;
    sigaltstack(&handler, &before);
    CHECKS(core, &core->checker);
    while (cpu_begin_block()) to_fiber(&core->fibers[0]);
    CHECKS(core_ends);
    cpu_core_gets_on(true);
    sigaltstack(&before, NULL);
    cpu_core = NULL;
    cpu_running = NULL;
}

void cpu_run_grid(const struct cpu_launch *launch)
{
    arrived = 0;
    cpu_on_all_cores(launch, run_core);
}
