// Page faults and others: a bad address or a division by zero in a kernel becomes an error, as on a GPU; the host's
// own are its crash, with a word on device memory. And two undefined things that ../nvcc looks for.
#include "runtime.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { SIGNALS = 4 };
static const int signals[SIGNALS] = {SIGSEGV, SIGBUS, SIGFPE, SIGABRT};
static struct sigaction before[SIGNALS];

// Lets the handler that was there before have it; a second time, the default.
static void chain(int number)
{
    static const struct sigaction by_default = {.sa_handler = SIG_DFL};
    for (size_t i = 0; i < SIGNALS; i++)
        if (signals[i] == number) {
            sigaction(number, &before[i], NULL);
            before[i] = by_default;
        }
}

const char *cpu_host_function;

// Behind the instruction at fault, as an address to return to is.
static const void *place_of(const ucontext_t *context)
{
#ifdef __x86_64__
    return (const char *)context->uc_mcontext.gregs[REG_RIP] + 1;
#else
    return (const char *)context->uc_mcontext.pc + 1;
#endif
}

static const char *host_code(const void *place, char *text, size_t size)
{
    char line[400];
    const char *where = cpu_line_of(place, line, sizeof line);
    snprintf(text, size, "%s%shost code", where ? where : "", where ? ": " : "");
    return text;
}

// What a kernel did that check/ cannot see, and the code that a GPU gives.
static cudaError_t describe(char *text, size_t size, int signal, const siginfo_t *info)
{
    const char *address = info->si_addr;
    if (signal == SIGFPE)
        snprintf(text, size, "divided an integer by zero");
    else if (cpu_is_end_of_stack(address))
        snprintf(text, size, "needs more stack than there is");
    else if (address && address == cpu_host_function)
        snprintf(text, size,
                 "calls a function by its address on the host: ask the device for it, by "
                 "a variable of the device and cudaMemcpyFromSymbol");
    else
        snprintf(text, size, "touched the address %p, which is not device memory",
                 (const void *)address);
    return signal == SIGFPE ? cudaErrorLaunchFailure : cudaErrorIllegalAddress;
}

// An early access: the host has read or written what work uses that it has not waited for. That is wrong, or it is
// polling, in a loop that waits for that work. Which of the two, is seen before the work runs by itself. If it has done
// so already, the host finds what was there before, until this is seen.
static struct {
    enum { NONE, NEW, WATCHED, POLLED } state;
    unsigned looks; // at it, since it is new
    const char *address;
    const void *place; // of the host's code
    struct cpu_claim claim;
    char *before; // and behind that as many bytes that the work has left there; or NULL
} early;

void cpu_show_results(void)
{
    // Another claim may still lock this: its fault is an early access of its own.
    char *before = early.before;
    const struct cpu_claim claim = early.claim;
    early.before = NULL;
    const struct cpu_allocation *a = before ? cpu_find_allocation(claim.start) : NULL;
    char *start = a ? a->base + (claim.start - a->base) : NULL;
    for (size_t i = 0, n = claim.bytes; a && i < n; i++)
        if (start[i] == before[i]) start[i] = before[n + i]; // not what the host wrote
    free(before);
}

void cpu_tell_early_access(void)
{
    char text[420];
    cpu_lock_claims();
    const char *kernel = early.claim.kernel;
    if ((early.state == NEW || early.state == WATCHED) && cpu_is_news(early.place, NULL))
        cpu_say("%s touched %p, which %s%s may not have finished with: wait for it first "
                "(cudaStreamSynchronize or cudaDeviceSynchronize)",
                host_code(early.place, text, sizeof text), (const void *)early.address,
                kernel ? "kernel " : "", kernel ? kernel : early.claim.call);
    early.state = NONE;
    cpu_show_results();
    cpu_unlock_claims();
}

bool cpu_is_early_access_decided(void)
{
    enum { PATIENCE = 50 }; // on a busy machine the host may have no turn for a while
    struct cpu_allocation *a = cpu_find_allocation(early.address);
    if ((early.state == NEW || early.state == WATCHED) && a && ++early.looks == PATIENCE) {
        cpu_end_claims(early.claim.work); // once is enough
        cpu_tell_early_access();
    } else if (early.state == NEW && a) {
        early.state = WATCHED;
        cpu_claim(a, early.claim); // does it come again?
    }
    return early.state != WATCHED;
}

unsigned long cpu_polled_work(void)
{
    cpu_lock_claims();
    bool is_polled = early.state == POLLED;
    if (is_polled) early.state = NONE;
    cpu_unlock_claims();
    return is_polled ? early.claim.work : 0;
}

static void on_early_access(const char *address, const void *place, struct cpu_allocation *a)
{
    size_t i = CPU_CLAIMS - 1;
    while (i && (size_t)(address - a->claim[i].start) >= a->claim[i].bytes) i--;
    const struct cpu_claim claim = a->claim[i];
    char *start = a->base + (claim.start - a->base);
    if (early.state == WATCHED && claim.work == early.claim.work) {
        early.state = address == early.address ? POLLED : NEW; // a loop may look at more than this
        cpu_end_claims(claim.work);
        if (early.state == POLLED) cpu_show_results();
        return;
    }
    bool is_new = early.state == NONE && (size_t)(address - claim.start) < claim.bytes;
    char *before = is_new && i == 0 ? a->before : NULL;
    if (before) a->before = NULL;
    cpu_end_claims(claim.work);
    if (!is_new) return;
    early.state = NEW;
    early.looks = 0;
    early.address = address;
    early.place = place;
    early.claim = claim;
    early.before = before;
    if (!before) return;
    memcpy(before + claim.bytes, start, claim.bytes);
    memcpy(start, before, claim.bytes);
}

// True if it was one, of memory that the host may use: it tries again, as a GPU lets it pass.
static bool is_early_access(const char *address, const void *place, struct cpu_allocation *a)
{
    enum { MOST = 1000 };
    static unsigned tries;
    if (!a || a->kind < MANAGED || a->kind > REGISTERED) return false;
    cpu_lock_claims();
    if (a->claim->work && !cpu_memory_is_open()) {
        tries = 0;
        on_early_access(address, place, a);
    }
    cpu_unlock_claims();
    return tries++ < MOST; // else it is not that; work has run since
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    char text[420], line[400];
    const void *place = place_of(context);
    if (signal == SIGABRT) { // assert, for example: it may have failed because of that
        if (!cpu_running) cpu_tell_early_access();
        chain(signal);
        return;
    }
    if (cpu_running) {
        cudaError_t error = describe(text, sizeof text, signal, info);
        if (cpu_break_context(error))
            cpu_say_of_thread(cpu_line_of(place, line, sizeof line), text);
        if (!cpu_has_asan()) cpu_leave_kernel();
        chain(signal); // AddressSanitizer shows the line
        return;
    }
    struct cpu_allocation *a = signal == SIGSEGV ? cpu_find_allocation(info->si_addr) : NULL;
    if (is_early_access(info->si_addr, place, a)) return;
    const struct cpu_allocation *was = cpu_find_neighbour(info->si_addr);
    if (was && was->freed_by && (size_t)((char *)info->si_addr - was->base) < was->bytes)
        cpu_say("%s touched %p, which was freed by %s", host_code(place, text, sizeof text),
                info->si_addr, was->freed_by);
    if (a)
        cpu_say("%s touched device memory at %p: copy it with %s first",
                host_code(place, text, sizeof text), info->si_addr,
                a->kind == ON_HOST || a->kind == VARIABLE ? "cudaMemcpyFromSymbol" : "cudaMemcpy");
    cpu_tell_early_access();
    chain(signal);
}

void cpu_catch_faults(void)
{
    for (size_t i = 0; i < SIGNALS; i++) {
        struct sigaction ours = {.sa_sigaction = on_fault,
                                 .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK},
                         old;
        sigaction(signals[i], &ours, &old);
        if (old.sa_sigaction != on_fault) before[i] = old;
    }
}

PUBLIC void cpu_cuda_trap(const char *file, int line) // __trap() in a kernel
{
    char where[400];
    if (!cpu_running) abort();
    snprintf(where, sizeof where, "%s:%d", file, line);
    if (cpu_break_context(cudaErrorLaunchFailure)) cpu_say_of_thread(where, "called __trap()");
    cpu_leave_kernel();
}

// ---- What g++ -fsanitize=bounds,shift-exponent,alignment finds: its runtime library, as far as it is needed

struct type {
    unsigned short kind, info;
    char name[];
};
struct place { // as the compiler lays it out; for an array `type` is the array's
    const char *file;
    unsigned line, column;
    const struct type *type;
};

PUBLIC void __ubsan_handle_out_of_bounds(const struct place *place, size_t index)
{
    char who[300] = "";
    if (cpu_running)
        snprintf(who, sizeof who, " (kernel %s, block %u,%u,%u thread %u,%u,%u)",
                 cpu_running->kernel, blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y,
                 threadIdx.z);
    if (cpu_is_news(place, NULL))
        cpu_say("%s:%u: index %ld is outside the array, whose type is %s%s", place->file,
                place->line, (long)index, place->type->name, who);
    if (cpu_running) { // the kernel must not go on and overwrite something
        cpu_break_context(cudaErrorIllegalAddress);
        cpu_leave_kernel();
    }
}

PUBLIC void __ubsan_handle_shift_out_of_bounds(const struct place *place, size_t value, size_t bits)
{
    (void)value;
    if (cpu_is_news(place, NULL))
        cpu_say("%s:%u: a shift by %ld bits is too far for the type %s", place->file, place->line,
                (long)bits, place->type->name);
}

struct alignment {
    struct place place;
    unsigned char power, use; // 2^power is what the type needs; 0: load, 1: store, more: an address
};

// The host's processor reads at any address, a GPU does not. Of 8 bytes and less, check/hooks.c sees each access.
PUBLIC void __ubsan_handle_type_mismatch_v1(const struct alignment *a, size_t address)
{
    (void)address;
    if (!cpu_running || a->use > 1 || a->power < 4) return;
    if (!cpu_break_context(cudaErrorMisalignedAddress)) return;
    char line[400], what[200];
    const char *type = strrchr(a->place.type->name, ' '); // 'const struct float4'
    type = type ? type + 1 : a->place.type->name + 1;
    const char *where = cpu_line_of(__builtin_return_address(0), line, sizeof line);
    snprintf(what, sizeof what, "%s %s %.*s at an address that is no multiple of %d",
             a->use ? "writes" : "reads", strchr("aeiou", type[0]) ? "an" : "a",
             (int)strlen(type) - 1, type, 1 << a->power);
    cpu_say_of_thread(where, what);
    cpu_leave_kernel();
}
