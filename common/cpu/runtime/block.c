// The cores of a launch: threads of the host, which take blocks and run them one after the other.
#include "core.h"
#include <pthread.h>
#include <unistd.h>

__thread struct core *cpu_core;
EXPORTED_TO_KERNELS __thread unsigned cpu_cuda_row_end;
EXPORTED_TO_KERNELS __thread void *cpu_cuda_dynamic_shared;

// ---- The order of blocks and threads is not to be relied on: CPU_CUDA_SEED=n gives another one.

static unsigned long gcd(unsigned long a, unsigned long b) { return b ? gcd(b, a % b) : a; }

// i -> (a i + b) mod n, with a and n coprime, is a permutation of 0 ... n - 1.
unsigned long cpu_shuffled(unsigned long i, unsigned long n, unsigned long salt)
{
    if (!cpu_core->seed || n < 2) return i;
    unsigned long hash = (cpu_core->seed * 0x9E3779B97F4A7C15u + salt) * 0xBF58476D1CE4E5B9u;
    unsigned long a = (hash >> 20) % n, b = (hash >> 5) % n;
    while (gcd(a, n) != 1) a = (a + 1) % n;
    return (unsigned long)(((unsigned __int128)a * i + b) % n);
}

bool cpu_is_without_threads, cpu_is_last_block_only;

static void choose_block(unsigned long block)
{
    unsigned long i = cpu_shuffled(block, (unsigned long)gridDim.x * gridDim.y * gridDim.z, 0);
    if (cpu_is_last_block_only) i = block;
    blockIdx = (uint3){(unsigned)(i % gridDim.x), (unsigned)(i / gridDim.x % gridDim.y),
                       (unsigned)(i / gridDim.x / gridDim.y)};
}

void cpu_choose_thread(unsigned position)
{
    unsigned i = (unsigned)cpu_shuffled(position, cpu_core->threads, cpu_core->block + 1);
    cpu_core->position = position;
    threadIdx = (uint3){i % blockDim.x, i / blockDim.x % blockDim.y, i / blockDim.x / blockDim.y};
}

// run_threads, in cuda_runtime.h, goes through a row by itself: the threads that differ in x only, up
// to cpu_cuda_row_end. Then, or after every thread if that is 0, it asks here whether to go on.
PUBLIC bool cpu_cuda_next_row(void)
{
    if (cpu_core->has_fibers) return false;
    if (cpu_core->seed) {
        if (++cpu_core->position == cpu_core->threads) return false;
        cpu_choose_thread(cpu_core->position);
        return true;
    }
    threadIdx.x = 0;
    if (++threadIdx.y < blockDim.y) return true;
    threadIdx.y = 0;
    return ++threadIdx.z < blockDim.z;
}

// ---- The cores stay from launch to launch: the thread that runs it is one, the others help

enum { MOST_MORE = 500 };
static pthread_mutex_t cores_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t begun = PTHREAD_COND_INITIALIZER, ended = PTHREAD_COND_INITIALIZER;
static enum { IDLE, ASKED, AT_WORK } helper[MOST_CORES + MOST_MORE];
static unsigned helpers;        // there are
static unsigned at_work, stuck; // in this launch; who launches it is one of them
static unsigned long cores;     // those of the CPU
static bool is_full;            // for one more there is no memory
static unsigned long got_on;    // how often a stuck one did, or an added one began a block
static const struct cpu_launch *launch;
static void (*run)(const struct cpu_launch *, struct core *);

static void take_part(unsigned number) // the lock is held before and after
{
    static struct core all[1 + MOST_CORES + MOST_MORE]; // pages that nobody has used cost nothing
    pthread_mutex_unlock(&cores_lock);
    all[number].number = number;
    run(launch, &all[number]);
    pthread_mutex_lock(&cores_lock);
    if (__atomic_sub_fetch(&at_work, 1, __ATOMIC_SEQ_CST) == 0) pthread_cond_signal(&ended);
}

static void *help(void *number)
{
    uintptr_t n = (uintptr_t)number;
    pthread_mutex_lock(&cores_lock);
    for (;; helper[n] = IDLE) {
        while (helper[n] != ASKED) pthread_cond_wait(&begun, &cores_lock);
        helper[n] = AT_WORK;
        take_part(1 + (unsigned)n);
    }
    return NULL;
}

static bool add_core(void)
{
    uintptr_t n = 0;
    pthread_mutex_lock(&cores_lock);
    while (n < helpers && helper[n] != IDLE) n++;
    bool is_one = n < helpers || (n < MOST_CORES + MOST_MORE && cpu_start_thread(help, (void *)n));
    if (is_one) {
        helper[n] = ASKED;
        helpers += n == helpers;
        __atomic_fetch_add(&at_work, 1, __ATOMIC_SEQ_CST);
        pthread_cond_broadcast(&begun);
    }
    pthread_mutex_unlock(&cores_lock);
    return is_one;
}

// ---- Which blocks: a core takes some at a time

enum { MOST_BLOCKS_AT_A_TIME = 4096, MOST_RETURNED = 1024 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long next_block, blocks, blocks_at_a_time;
static struct range {
    unsigned long first, stop;
} returned[MOST_RETURNED]; // by cores that do not get on
static unsigned returns;

void cpu_on_all_cores(const struct cpu_launch *l,
                      void (*run_core)(const struct cpu_launch *, struct core *))
{
    if (!cores) cores = (unsigned long)sysconf(_SC_NPROCESSORS_ONLN);
    if (cores > MOST_CORES) cores = MOST_CORES;
    blocks = (unsigned long)l->grid.x * l->grid.y * l->grid.z;
    blocks_at_a_time = blocks / (64 * cores) + 1;
    if (blocks_at_a_time > MOST_BLOCKS_AT_A_TIME) blocks_at_a_time = MOST_BLOCKS_AT_A_TIME;
    next_block = cpu_is_last_block_only ? blocks - 1 : 0;
    returns = stuck = 0;
    is_full = false;
    launch = l; // nobody helps now
    run = run_core;
    at_work = 1;
    for (unsigned long i = 1; i < cores && i < blocks && add_core(); i++) continue;
    pthread_mutex_lock(&cores_lock);
    take_part(0);
    for (unsigned n = 0; n < helpers; n++) // those that come too late
        if (helper[n] == ASKED) helper[n] = IDLE, at_work--;
    while (at_work) pthread_cond_wait(&ended, &cores_lock);
    pthread_mutex_unlock(&cores_lock);
}

static bool take_blocks(unsigned long *first, unsigned long *stop)
{
    pthread_mutex_lock(&lock);
    struct range r = {next_block, next_block + blocks_at_a_time};
    if (returns) {
        struct range *last = &returned[returns - 1];
        r = (struct range){last->first, last->first + 1};
        returns -= ++last->first == last->stop;
    } else {
        next_block = r.stop = r.stop < blocks ? r.stop : blocks;
    }
    pthread_mutex_unlock(&lock);
    *first = r.first;
    *stop = r.stop;
    return r.first < r.stop;
}

void cpu_add_no_core(void) { is_full = true; }

// All blocks of a small grid are there at the same time on a GPU: if one waits for another that has not
// begun, another core begins it: true. Is one left that has not?
bool cpu_share_blocks(bool *is_one_left)
{
    pthread_mutex_lock(&lock);
    if (cpu_core->block + 1 < cpu_core->stop && returns < MOST_RETURNED) {
        returned[returns++] = (struct range){cpu_core->block + 1, cpu_core->stop};
        cpu_core->stop = cpu_core->block + 1;
    }
    blocks_at_a_time = 1;
    *is_one_left = returns || next_block < blocks;
    pthread_mutex_unlock(&lock);
    return *is_one_left && !is_full && add_core();
}

void cpu_core_gets_on(bool yes)
{
    if (cpu_core->is_stuck == !yes) return;
    cpu_core->is_stuck = !yes;
    __atomic_fetch_add(&stuck, yes ? -1 : 1, __ATOMIC_SEQ_CST);
    if (yes) __atomic_fetch_add(&got_on, 1, __ATOMIC_SEQ_CST);
}

// If this changes, not all cores are stuck, even if all sleep at this moment.
unsigned long cpu_times_got_on(void) { return __atomic_load_n(&got_on, __ATOMIC_SEQ_CST); }

bool cpu_no_core_gets_on(void)
{
    return __atomic_load_n(&stuck, __ATOMIC_SEQ_CST) == __atomic_load_n(&at_work, __ATOMIC_SEQ_CST);
}

bool cpu_begin_block(void)
{
    struct core *c = cpu_core;
    if (cpu_context_is_broken()) return false;
    if (++c->block >= c->stop) {
        if (c->stop && c->number >= cores) return false; // an added one has done its block
        if (!take_blocks(&c->block, &c->stop)) return false;
        if (c->number >= cores) __atomic_fetch_add(&got_on, 1, __ATOMIC_SEQ_CST);
    }
    choose_block(c->block);
    cpu_choose_thread(0);
    c->has_fibers = false;
    c->count = 0;
    c->draw = c->seed + c->block * 0x9E3779B97F4A7C15u;
    cpu_cuda_row_end = c->seed ? 0 : blockDim.x;
    CHECKS(block);
    CHECKS(shared, cpu_cuda_dynamic_shared, c->launch->shared_bytes, "of this launch (dynamic)");
    return true;
}
