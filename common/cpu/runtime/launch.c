// Launches: checked at once, run when somebody waits for them.
#include "runtime.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MOST_PENDING = 8 };

// Between configure and launch; several if an argument of a launch comes from a launch. MOST_PENDING of them, behind a
// pointer, as room for a thread's own variables is scarce.
static __thread struct cpu_launch *pending;
static __thread unsigned pendings;
static __thread cudaError_t launch_error;

static struct kernel {
    void *address;
    void (*call)(void *kernel, void **arguments);
    size_t shared_bytes; // dynamic ones, at most
    struct kernel *next;
} * kernels;

// ---- Running one launch

static void run_kernel(struct cpu_work *work)
{
    const struct cpu_launch *launch = &work->launch;
    cpu_catch_faults();
    CHECKS(launch, launch);
    // not of a kernel without a body: also 2^31 blocks of it
    if (launch->run_threads && !cpu_is_without_threads) cpu_run_grid(launch);
    CHECKS(launched, launch);
}

static struct kernel *find_kernel(const void *address)
{
    struct kernel *k = kernels;
    while (k && k->address != address) k = k->next;
    return k;
}

bool cpu_is_kernel(const void *address) { return find_kernel(address) != NULL; }

// ---- Taking one launch

static bool refuse(const struct cpu_launch *l, const char *format, ...)
{
    static const void *file; // of the last one: once for a line that tries several
    static int line;
    va_list values;
    char why[200], launched[400];
    const void *in = l->file ? l->file : l->place;
    va_start(values, format);
    vsnprintf(why, sizeof why, format, values);
    va_end(values);
    if (file != in || line != l->line)
        cpu_say("%s: kernel %s is not launched: %s", cpu_launched_at(l, launched, sizeof launched),
                l->kernel, why);
    file = in;
    line = l->line;
    return false;
}

// CUDA 13 answers every launch outside the limits with cudaErrorInvalidValue, and CUDA 12 one with too many threads or
// blocks with cudaErrorInvalidConfiguration; here it also says why.
static bool fits(const struct cpu_launch *l)
{
    dim3 g = l->grid, b = l->block;
    if (!b.x || !b.y || !b.z || b.x > 1024 || b.y > 1024 || b.z > 64 ||
        (unsigned long)b.x * b.y * b.z > 1024)
        return refuse(l,
                      "a block has 1 to 1024 x 1024 x 64 threads, at most 1024 in all, not "
                      "%u x %u x %u",
                      b.x, b.y, b.z);
    if (!g.x || !g.y || !g.z || g.x > 2147483647u || g.y > 65535 || g.z > 65535)
        return refuse(l, "a grid has 1 to 2147483647 x 65535 x 65535 blocks, not %u x %u x %u", g.x,
                      g.y, g.z);
    const struct kernel *k = find_kernel(l->address);
    size_t most = k ? k->shared_bytes : CPU_SHARED_BYTES;
    if (l->shared_bytes > most)
        return refuse(l, "a block has %zu bytes of shared memory, not %zu%s", most, l->shared_bytes,
                      l->shared_bytes <= CPU_MOST_SHARED
                          ? ", unless cudaFuncSetAttribute asks for them"
                          : "");
    return true;
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

// A pointer argument is noted with the launch. Until that has run, the host is to keep off what it points to, if CUDA
// knows that; but if a pointer is to what is volatile, the two may talk to each other there.
PUBLIC void cpu_cuda_argument(const void *pointer, bool is_const, bool is_volatile)
{
    struct cpu_launch *launch = this_launch();
    cpu_lock();
    struct cpu_allocation *a = cpu_find_allocation(pointer);
    bool is_claimed = a && !is_volatile;
    for (unsigned i = 0; i < launch->arguments; i++)
        if (cpu_find_allocation(launch->argument[i].pointer) == a &&
            launch->argument[i].is_volatile)
            is_claimed = false;
    if (a && !launch->id) launch->id = ++cpu_last_work;
    const char *start = pointer; // what lies before, the kernel is not thought to use
    int host_access = is_const ? PROT_READ : PROT_NONE;
    bool is_again = is_claimed && a->claim->work == launch->id;
    if (is_again && a->claim->host_access == host_access && a->claim->start < start)
        start = a->claim->start;
    bool is_covered = is_again && a->claim->host_access < host_access; // by what it may write
    if (is_claimed && !is_covered)
        cpu_claim(a, (struct cpu_claim){.work = launch->id,
                                        .start = start,
                                        .bytes = (size_t)(a->base + a->bytes - start),
                                        .kernel = launch->kernel,
                                        .stream = launch->stream,
                                        .host_access = host_access});
    else if (a && !is_claimed && a->claim->work == launch->id)
        cpu_claim(a, (struct cpu_claim){.work = 0});
    if (pointer && launch->arguments < CPU_ARGUMENTS) {
        launch->argument[launch->arguments].pointer = pointer;
        launch->argument[launch->arguments].is_read_only = is_const && !is_volatile;
        launch->argument[launch->arguments++].is_volatile = is_volatile;
    }
    cpu_unlock();
}

// An argument that is a function: the host's address of it is none of the device, unless a kernel may have given it.
PUBLIC void *cpu_cuda_function(void *function)
{
    cpu_lock();
    bool is_given = !function || cpu_may_be_of_device(function);
    for (const struct cpu_allocation *a = cpu_allocations; a && !is_given; a = a->next)
        is_given = a->kind >= MANAGED && a->kind <= REGISTERED && a->bytes >= sizeof function;
    if (!cpu_host_function)
        cpu_host_function =
            mmap(NULL, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    cpu_unlock();
    return is_given ? function : (void *)cpu_host_function;
}

static cudaError_t take(const struct cpu_launch *launch, size_t bytes)
{
    enum { MOST = 500 }; // each block on a core of its own, if they wait for each other
    if (!fits(launch))
        return cpu_version < 13000 && launch->shared_bytes <= CPU_SHARED_BYTES
                   ? cudaErrorInvalidConfiguration
                   : cudaErrorInvalidValue;
    if (launch->is_cooperative &&
        (unsigned long)launch->grid.x * launch->grid.y * launch->grid.z > MOST)
        return cudaErrorCooperativeLaunchTooLarge;
    if (!cpu_is_stream(launch->stream)) return cudaErrorInvalidResourceHandle;
    void *kept = malloc(bytes);
    struct cpu_work *work = kept ? cpu_add_work(launch->stream, run_kernel) : NULL;
    if (!work) return free(kept), cudaErrorMemoryAllocation;
    memcpy(kept, launch->body, bytes);
    work->owned = kept;
    if (launch->id) work->claim = launch->id;
    work->is_launch = true;
    work->launch = *launch;
    work->launch.body = kept;
    return cudaSuccess;
}

static bool has_word(const char *text, const char *word)
{
    const char *at = strstr(text, word), *end = at ? at + strlen(word) : NULL;
    return at && (at == text || !(isalnum(at[-1]) || at[-1] == '_')) && !isalnum(*end) &&
           *end != '_';
}

PUBLIC void cpu_cuda_launch(const void *kernel, const char *name, const void *body, size_t bytes,
                            void (*run_threads)(const void *))
{
    struct cpu_launch *launch = this_launch();
    launch->address = kernel;
    if (!launch->file || !has_word(launch->kernel, name))
        launch->kernel = name; // else <...> is with it
    launch->body = body;
    launch->run_threads = run_threads;
    cudaError_t error = cpu_enter(launch->file ? launch->kernel : launch->call, launch->place);
    cpu_call.launch_file = launch->file;
    cpu_call.launch_line = launch->line;
    if (!error) error = take(launch, bytes);
    if (error && launch->id) cpu_end_claims(launch->id); // what its arguments were to be used for
    pendings--;
    launch_error = cpu_leave(error);
}

PUBLIC void cpu_cuda_copy_arguments(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

// ---- Launches by address

PUBLIC void cpu_cuda_add_kernel(void *kernel, void (*call)(void *kernel, void **arguments))
{
    struct kernel *k = cpu_is_kernel(kernel) ? NULL : malloc(sizeof *k);
    if (!k) return;
    cpu_keep_loaded(kernel);
    cpu_lock();
    *k = (struct kernel){kernel, call, CPU_SHARED_BYTES, kernels};
    kernels = k;
    cpu_unlock();
}

static cudaError_t launch_by_address(const void *kernel, dim3 grid, dim3 block, void **arguments,
                                     size_t shared_bytes, cudaStream_t stream, bool is_cooperative,
                                     const char *name, const void *place)
{
    const struct kernel *k = find_kernel(kernel);
    if (!k) {
        cudaError_t standing = cpu_enter(name, place);
        if (standing) return cpu_leave(standing);
        LEAVE(kernel ? cudaErrorInvalidResourceHandle : cudaErrorInvalidDeviceFunction);
    }
    cpu_cuda_configure("launched by address", NULL, 0, grid, block, shared_bytes, stream);
    this_launch()->is_cooperative = is_cooperative;
    this_launch()->call = name;
    this_launch()->place = place;
    k->call(k->address, arguments);
    return launch_error;
}
PUBLIC cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                                    size_t shared_bytes, cudaStream_t stream)
{
    return launch_by_address(kernel, grid, block, arguments, shared_bytes, stream, false, CALLED);
}
PUBLIC cudaError_t cudaLaunchCooperativeKernel(const void *kernel, dim3 grid, dim3 block,
                                               void **arguments, size_t shared_bytes,
                                               cudaStream_t stream)
{
    return launch_by_address(kernel, grid, block, arguments, shared_bytes, stream, true, CALLED);
}

// ---- What a kernel needs, and may have

PUBLIC cudaError_t cudaFuncSetAttribute(const void *kernel, enum cudaFuncAttribute attribute,
                                        int value)
{
    ENTER();
    struct kernel *k = find_kernel(kernel);
    bool is_size = attribute == cudaFuncAttributeMaxDynamicSharedMemorySize;
    if (!k) LEAVE(cudaErrorInvalidDeviceFunction);
    if (value < (is_size ? 0 : -1) || value > (is_size ? CPU_MOST_SHARED : 100))
        LEAVE(cudaErrorInvalidValue);
    if (is_size) k->shared_bytes = (size_t)value;
    LEAVE(cudaSuccess);
}
PUBLIC cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *kernel)
{
    ENTER();
    const struct kernel *k = find_kernel(kernel);
    if (!attributes || !k)
        LEAVE(attributes ? cudaErrorInvalidDeviceFunction : cudaErrorInvalidValue);
    *attributes = (struct cudaFuncAttributes){.maxThreadsPerBlock = 1024,
                                              .numRegs = 32,
                                              .ptxVersion = 75,
                                              .binaryVersion = 75,
                                              .maxDynamicSharedSizeBytes = (int)k->shared_bytes,
                                              .preferredShmemCarveout = -1};
    LEAVE(cudaSuccess);
}
PUBLIC cudaError_t cudaFuncSetCacheConfig(const void *kernel, enum cudaFuncCache config)
{
    (void)config;
    CALL(find_kernel(kernel) ? cudaSuccess : cudaErrorInvalidDeviceFunction);
}
PUBLIC cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel,
                                                                 int threads, size_t shared_bytes)
{
    enum { WARP = 32, RESERVED = 1024 }; // bytes of each block
    ENTER();
    if (!blocks || threads < 1) LEAVE(cudaErrorInvalidValue);
    if (!find_kernel(kernel)) LEAVE(cudaErrorInvalidDeviceFunction);
    size_t by_threads = 1024 / (((size_t)threads + WARP - 1) / WARP * WARP);
    size_t by_memory = (CPU_MOST_SHARED + RESERVED) / (shared_bytes + RESERVED);
    *blocks = (int)(by_threads > 16 ? 16 : by_threads);
    if (by_memory < (size_t)*blocks) *blocks = (int)by_memory;
    LEAVE(cudaSuccess);
}
