// The thread of a kernel that runs here, on this thread of the host; and what is told about it.
#include "runtime.h"
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

EXPORTED_TO_KERNELS __thread uint3 threadIdx, blockIdx, blockDim, gridDim;
__thread const struct cpu_launch *cpu_running;
__thread struct cpu_here cpu_here;

void cpu_leave_kernel(void)
{
    cpu_here.leave();
    __builtin_unreachable();
}

// A page more than a stack, or the processor's tables of pages, and its cache, would know but some of the stacks at a time.
size_t cpu_stack_step(void) { return STACK + cpu_page_bytes(); }
size_t cpu_page_bytes(void) { return (size_t)sysconf(_SC_PAGESIZE); }

bool cpu_is_end_of_stack(const char *address)
{
    size_t offset = (size_t)(address - cpu_here.stacks);
    return offset < cpu_here.stack_bytes && offset % cpu_stack_step() < GUARD;
}

// Another one of the host's: the program's signals are not for it.
bool cpu_start_thread(void *(*function)(void *), void *argument)
{
    pthread_t thread;
    sigset_t most, before;
    sigfillset(&most);
    sigdelset(&most, SIGSEGV), sigdelset(&most, SIGBUS), sigdelset(&most, SIGFPE);
    pthread_sigmask(SIG_SETMASK, &most, &before);
    bool is_there = pthread_create(&thread, NULL, function, argument) == 0;
    if (is_there) pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return is_there;
}

void cpu_say(const char *format, ...)
{
    char text[1000]; // in one piece, so that two cores' lines stay apart
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "CPU stand-in: %s\n", text);
}

// Its file and line.
const char *cpu_launched_at(const struct cpu_launch *l, char *text, size_t size)
{
    if (l->file) snprintf(text, size, "%s:%d", l->file, l->line);
    const char *line = l->file ? text : cpu_line_of(l->place, text, size);
    return line ? line : l->call;
}

// Of the kernel's thread that runs here. Where: a line, or NULL for that of the launch.
void cpu_say_of_thread(const char *where, const char *what)
{
    char launched[400];
    cpu_say("%s: kernel %s %s (block %u,%u,%u thread %u,%u,%u)",
            where ? where : cpu_launched_at(cpu_running, launched, sizeof launched),
            cpu_running->kernel, what, blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y,
            threadIdx.z);
}
