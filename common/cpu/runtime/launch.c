// Launches: checked at once, run when somebody waits for them, their blocks spread over all cores.
#include "runtime.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_CORES = 16, MOST_MORE = 500, MOST_PENDING = 8 };

EXPORTED_TO_KERNELS __thread uint3 threadIdx, blockIdx;
EXPORTED_TO_KERNELS __thread dim3 blockDim, gridDim;

// Between configure and launch; several if an argument of a launch comes from a launch.
static __thread struct cpu_launch *pending; // MOST_PENDING: room for a thread's own variables is scarce
static __thread unsigned pendings;
static __thread cudaError_t launch_error;

static struct kernel {
    void *address;
    void (*call)(void *kernel, void **arguments);
    struct kernel *next;
} * kernels;

// ---- Running one launch

static void *run_on_core(void *launch)
{
    cpu_running = launch;
    gridDim = cpu_running->grid;
    blockDim = cpu_running->block;
    cpu_run_blocks(launch);
    cpu_running = NULL;
    return NULL;
}

static pthread_t core[MOST_CORES + MOST_MORE];
static unsigned cores;
static pthread_mutex_t cores_lock = PTHREAD_MUTEX_INITIALIZER;
static struct cpu_launch *running;

bool cpu_add_core(void)
{
    pthread_mutex_lock(&cores_lock);
    bool is_added = cores < sizeof core / sizeof core[0] &&
                    pthread_create(&core[cores], NULL, run_on_core, running) == 0;
    cores += is_added;
    pthread_mutex_unlock(&cores_lock);
    return is_added;
}

static bool is_core(unsigned i)
{
    pthread_mutex_lock(&cores_lock);
    bool is_one = i < cores;
    pthread_mutex_unlock(&cores_lock);
    return is_one;
}

void cpu_run_kernel(struct cpu_work *work)
{
    running = &work->launch;
    if (!running->run_threads) return; // of a kernel without a body: also 2^31 blocks of it
    unsigned long wanted = (unsigned long)sysconf(_SC_NPROCESSORS_ONLN);
    if (wanted > MOST_CORES) wanted = MOST_CORES;
    unsigned long blocks = (unsigned long)running->grid.x * running->grid.y * running->grid.z;
    cpu_begin_blocks(running, wanted);
    cpu_catch_faults();
    cpu_check_launch(running);
    cores = 0;
    while (cores + 1 < wanted && cores + 1 < blocks && cpu_add_core()) continue;
    run_on_core(running); // this thread is a core too
    for (unsigned i = 0; is_core(i); i++) pthread_join(core[i], NULL);
    cpu_end_touches(running);
}

// ---- Taking one launch

static bool refuse(const struct cpu_launch *l, const char *why, dim3 n)
{
    cpu_say("%s:%d: kernel %s is not launched: %s, not %u x %u x %u", l->file, l->line, l->kernel,
            why, n.x, n.y, n.z);
    return false;
}

// CUDA 13 answers every launch outside the limits with cudaErrorInvalidValue; here it also says why.
static bool fits(const struct cpu_launch *l)
{
    dim3 g = l->grid, b = l->block;
    if (!b.x || !b.y || !b.z || b.x > 1024 || b.y > 1024 || b.z > 64 ||
        (unsigned long)b.x * b.y * b.z > 1024)
        return refuse(l, "a block has 1 to 1024 x 1024 x 64 threads, at most 1024 in all", b);
    if (!g.x || !g.y || !g.z || g.x > 2147483647u || g.y > 65535 || g.z > 65535)
        return refuse(l, "a grid has 1 to 2147483647 x 65535 x 65535 blocks", g);
    if (l->shared_bytes > CPU_SHARED_BYTES)
        cpu_say("%s:%d: kernel %s is not launched: a block has %d bytes of shared memory, not %zu",
                l->file, l->line, l->kernel, CPU_SHARED_BYTES, l->shared_bytes);
    return l->shared_bytes <= CPU_SHARED_BYTES;
}

PUBLIC void cpu_cuda_configure(const char *kernel, const char *file, int line, dim3 grid,
                               dim3 block, size_t shared_bytes, cudaStream_t stream)
{
    if (!pending && !(pending = calloc(MOST_PENDING, sizeof *pending))) abort();
    if (pendings == MOST_PENDING) pendings = 0; // left behind by exceptions
    pending[pendings++] = (struct cpu_launch){.kernel = kernel,
                                              .file = file,
                                              .line = line,
                                              .grid = grid,
                                              .block = block,
                                              .shared_bytes = shared_bytes,
                                              .stream = stream};
}

static struct cpu_launch *this_launch(void)
{
    if (!pendings || cpu_running) {
        cpu_say("a kernel was called like a function: write kernel<<<blocks, threads>>>(...)");
        abort();
    }
    return &pending[pendings - 1];
}

// A pointer argument, if it is to memory that CUDA knows, is noted with the launch.
PUBLIC void cpu_cuda_argument(const void *pointer, bool is_read_only)
{
    struct cpu_launch *launch = this_launch();
    cpu_lock();
    struct cpu_allocation *a = cpu_find_allocation(pointer);
    if (a && !launch->id) launch->id = ++cpu_last_work;
    if (a)
        cpu_claim(a, (struct cpu_claim){.work = launch->id,
                                        .start = a->base,
                                        .bytes = a->bytes,
                                        .kernel = launch->kernel,
                                        .host_access = is_read_only ? PROT_READ : PROT_NONE});
    if (a && launch->arguments < CPU_ARGUMENTS) {
        launch->argument[launch->arguments].pointer = pointer;
        launch->argument[launch->arguments++].is_read_only = is_read_only;
    }
    cpu_unlock();
}

static cudaError_t take(const struct cpu_launch *launch, void (*destroy)(void *))
{
    if (!fits(launch)) return cudaErrorInvalidValue;
    if (!cpu_is_stream(launch->stream)) return cudaErrorInvalidResourceHandle;
    struct cpu_work *work = cpu_add_work(launch->stream, cpu_run_kernel);
    if (!work) return cudaErrorMemoryAllocation;
    if (launch->id) work->id = launch->id;
    work->launch = *launch;
    work->owned = launch->body;
    work->release = destroy;
    return cudaSuccess;
}

PUBLIC void cpu_cuda_launch(void *body, void (*run_threads)(const void *), void (*destroy)(void *))
{
    struct cpu_launch *launch = this_launch();
    launch->body = body;
    launch->run_threads = run_threads;
    static char call[300]; // for messages, also later
    snprintf(call, sizeof call, "the launch of %s at %s:%d", launch->kernel, launch->file, launch->line);
    cudaError_t error = cpu_enter(call, NULL);
    if (!error) error = take(launch, destroy);
    if (error) {
        destroy(body);
        if (launch->id) cpu_end_claims(launch->id); // what its arguments were to be used for
    }
    pendings--;
    launch_error = cpu_leave(error);
}

// ---- Launches by address

static const struct kernel *find_kernel(const void *address)
{
    const struct kernel *k = kernels;
    while (k && k->address != address) k = k->next;
    return k;
}

bool cpu_is_kernel(const void *address) { return find_kernel(address) != NULL; }

PUBLIC void cpu_cuda_add_kernel(void *kernel, void (*call)(void *kernel, void **arguments))
{
    struct kernel *k = cpu_is_kernel(kernel) ? NULL : malloc(sizeof *k);
    if (!k) return;
    cpu_keep_loaded(kernel);
    cpu_lock();
    *k = (struct kernel){kernel, call, kernels};
    kernels = k;
    cpu_unlock();
}

PUBLIC cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                                    size_t shared_bytes, cudaStream_t stream)
{
    const struct kernel *k = find_kernel(kernel);
    if (!k) {
        ENTER();
        LEAVE(kernel ? cudaErrorInvalidResourceHandle : cudaErrorInvalidDeviceFunction);
    }
    Dl_info found = {.dli_sname = NULL};
    dladdr(kernel, &found);
    cpu_cuda_configure(found.dli_sname ? found.dli_sname : "without a name", "cudaLaunchKernel", 0,
                       grid, block, shared_bytes, stream);
    k->call(k->address, arguments);
    return launch_error;
}
