// Launches: checked at once, run when somebody waits for them, their blocks spread over all cores.
#define _GNU_SOURCE
#include "runtime.h"
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_WORKERS = 64, BLOCKS_AT_A_TIME = 16 };

PUBLIC __thread uint3 threadIdx, blockIdx;
PUBLIC __thread dim3 blockDim, gridDim;

struct work {
    struct cpu_cuda_launch_record launch;
    struct work *next;
};

static struct work *first, **end = &first; // in the order of the launches
static const struct cpu_cuda_launch_record *running;
static unsigned long next_block, blocks;
static __thread sigjmp_buf out_of_kernel;
static struct sigaction action_before;

// A bad address in a kernel breaks the context, as on a GPU; elsewhere it is the program's crash.
static void on_bad_address(int signal, siginfo_t *info, void *context)
{
    (void)context;
    if (cpu_in_kernel) {
        cpu_say("%s:%d: kernel %s touched the address %p, which is not device memory "
                "(block %u,%u,%u thread %u,%u,%u)",
                running->file, running->line, running->kernel, info->si_addr, blockIdx.x,
                blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z);
        siglongjmp(out_of_kernel, 1);
    }
    if (cpu_find_allocation(info->si_addr))
        cpu_say("host code touched device memory at %p: copy it with cudaMemcpy first",
                info->si_addr);
    sigaction(signal, &action_before, NULL);
}

void cpu_catch_bad_addresses(void)
{
    struct sigaction ours = {.sa_sigaction = on_bad_address, .sa_flags = SA_SIGINFO | SA_NODEFER},
                     before;
    sigaction(SIGSEGV, &ours, &before);
    if (before.sa_sigaction != on_bad_address)
        action_before = before;
}

static void *run_blocks(void *unused)
{
    gridDim = running->grid;
    blockDim = running->block;
    cpu_in_kernel = true;
    if (sigsetjmp(out_of_kernel, 1)) {
        cpu_break_context(cudaErrorIllegalAddress);
    } else {
        unsigned long start;
        while (!cpu_context_is_broken() &&
               (start = __atomic_fetch_add(&next_block, BLOCKS_AT_A_TIME, __ATOMIC_RELAXED)) <
                   blocks) {
            unsigned long stop =
                start + BLOCKS_AT_A_TIME < blocks ? start + BLOCKS_AT_A_TIME : blocks;
            for (unsigned long b = start; b < stop; b++) {
                blockIdx.x = (unsigned)(b % gridDim.x);
                blockIdx.y = (unsigned)(b / gridDim.x % gridDim.y);
                blockIdx.z = (unsigned)(b / gridDim.x / gridDim.y);
                running->run_block(running->arguments);
            }
        }
    }
    cpu_in_kernel = false;
    return unused;
}

static void run(const struct cpu_cuda_launch_record *launch)
{
    if (launch->host_pointer) {
        cpu_say("%s:%d: kernel %s was given %p, which is not device memory (of the host, or freed)",
                launch->file, launch->line, launch->kernel, launch->host_pointer);
        cpu_break_context(cudaErrorIllegalAddress);
        return;
    }
    running = launch;
    next_block = 0;
    blocks = (unsigned long)launch->grid.x * launch->grid.y * launch->grid.z;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned long wanted = (blocks + BLOCKS_AT_A_TIME - 1) / BLOCKS_AT_A_TIME;
    unsigned long most = cores > MAX_WORKERS ? MAX_WORKERS : (unsigned long)cores;
    unsigned long workers = 0, helpers = (wanted < most ? wanted : most) - 1;

    cpu_catch_bad_addresses();
    cpu_open_memory();
    pthread_t thread[MAX_WORKERS];
    while (workers < helpers && pthread_create(&thread[workers], NULL, run_blocks, NULL) == 0)
        workers++;
    run_blocks(NULL);
    for (unsigned long i = 0; i < workers; i++)
        pthread_join(thread[i], NULL);
    cpu_close_memory(launch->kernel, launch->file, launch->line);
}

void cpu_finish_work(void)
{
    while (first) {
        struct work *work = first;
        first = work->next;
        if (!cpu_context_is_broken())
            run(&work->launch);
        work->launch.destroy(work->launch.arguments);
        free(work);
    }
    end = &first;
    cpu_flush_prints();
}

// CUDA 13 answers every launch outside the limits with cudaErrorInvalidValue.
static bool fits(dim3 grid, dim3 block, size_t shared_bytes)
{
    return grid.x && grid.y && grid.z && block.x && block.y && block.z && grid.x <= 2147483647u &&
           grid.y <= 65535 && grid.z <= 65535 && block.x <= 1024 && block.y <= 1024 &&
           block.z <= 64 && (unsigned long)block.x * block.y * block.z <= 1024 &&
           shared_bytes <= 49152;
}

PUBLIC void cpu_cuda_launch(const struct cpu_cuda_launch_record *launch)
{
    cudaError_t error = cpu_enter();
    if (!error && !fits(launch->grid, launch->block, launch->shared_bytes))
        error = cudaErrorInvalidValue;
    if (!error && launch->stream)
        error = cudaErrorInvalidResourceHandle; // this stand-in has only the default stream
    struct work *work = error ? NULL : malloc(sizeof *work);
    if (work) {
        work->launch = *launch;
        work->next = NULL;
        *end = work;
        end = &work->next;
    } else {
        launch->destroy(launch->arguments);
        error = error ? error : cudaErrorMemoryAllocation;
    }
    cpu_leave(error);
}

PUBLIC cudaError_t cudaDeviceSynchronize(void)
{
    cudaError_t error = cpu_enter();
    if (!error)
        cpu_finish_work();
    return cpu_leave(error);
}

__attribute__((destructor)) static void report_unfinished_work(void)
{
    if (first)
        cpu_say("%s:%d: the program ended before kernel %s ran: nobody waited for it "
                "(cudaDeviceSynchronize)",
                first->launch.file, first->launch.line, first->launch.kernel);
}
