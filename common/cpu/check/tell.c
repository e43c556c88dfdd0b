// How a bad access is told: where in the source, which thread, who else, and what to do.
#include "check.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void say(const struct cpu_access *x, const char *format, va_list arguments)
{
    char what[400], line[400];
    vsnprintf(what, sizeof what, format, arguments);
    cpu_say_of_thread(cpu_line_of(x->place, line, sizeof line), what);
}

// What ends a kernel on a GPU too: tells it, if it is the first error of the context, and ends this thread.
void cpu_complain(cudaError_t error, const struct cpu_access *x, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (cpu_is_unset(x->address)) format = "follows a pointer that nobody has set";
    if (cpu_break_context(error)) say(x, format, arguments);
    va_end(arguments);
    cpu_leave_kernel();
}

// What a GPU lets pass, if it is news: the kernel goes on.
void cpu_tell(const struct cpu_access *x, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(x, format, arguments);
    va_end(arguments);
}

static void name_thread(char *text, size_t size, uint64_t cell, bool with_block)
{
    unsigned t = NUMBER(cell, THREAD, BLOCK), b = NUMBER(cell, BLOCK, LAUNCH);
    int n = 0;
    bool is_sure = (uint64_t)gridDim.x * gridDim.y * gridDim.z <= (uint64_t)1 << (LAUNCH - BLOCK);
    if (with_block && !is_sure && (cell ^ cpu_checker->block) & BITS(BLOCK, LAUNCH))
        n = snprintf(text, size, "another block's ");
    else if (with_block && !is_sure)
        n = snprintf(text, size, "block %u,%u,%u ", blockIdx.x, blockIdx.y, blockIdx.z);
    else if (with_block)
        n = snprintf(text, size, "block %u,%u,%u ", b % gridDim.x, b / gridDim.x % gridDim.y,
                     b / gridDim.x / gridDim.y);
    snprintf(text + n, size - (size_t)n, "thread %u,%u,%u", t % blockDim.x,
             t / blockDim.x % blockDim.y, t / blockDim.x / blockDim.y);
}

void cpu_tell_streams(const struct cpu_access *x, uint64_t other, const char *mine)
{
    char here[400], there[400];
    if (!cpu_is_news(x->place, NULL)) return;
    const char *h = cpu_line_of(x->place, here, sizeof here);
    const char *t = cpu_line_of(cpu_place_at(other), there, sizeof there);
    cpu_say("%s: %s %s what work of another stream %s at %s, and nothing says which comes first: "
            "record an event there, and let this stream wait for it (cudaStreamWaitEvent)",
            h ? h : "?", mine, cpu_verb(x->kind), cpu_kind_at(other) & WRITE ? "wrote" : "read",
            t ? t : "an unknown place");
}

static bool reads_plainly(uint64_t one, uint64_t other) // what the other changes by an atomic
{
    int kind = cpu_kind_at(other);
    return cpu_kind_at(one) == READ && kind & ATOMIC && kind & WRITE && !(kind & VOLATILE);
}

static const char *advice(uint64_t me, uint64_t other, const char *name, bool is_same_line)
{
    bool is_of_warp = NUMBER(me, THREAD, BLOCK) / 32 == NUMBER(other, THREAD, BLOCK) / 32;
    if (cpu_kind_at(me) & cpu_kind_at(other) & VOLATILE && !is_of_warp)
        return "volatile does not make other warps wait: put __syncthreads() between each reading "
               "and the writing";
    if (cpu_kind_at(me) & cpu_kind_at(other) & VOLATILE)
        return "the threads of a warp are not in step, and volatile does not make them wait: put "
               "__syncwarp() (if other warps do the same, __syncthreads()) between each reading "
               "and the writing, or use a shuffle such as __shfl_down_sync";
    bool is_plain = reads_plainly(me, other) || reads_plainly(other, me);
    if (is_plain && (me ^ other) & BITS(BLOCK, LAUNCH))
        return "blocks do not wait for each other: read it in a second launch; or if the old value "
               "would do as well, through volatile";
    if (is_plain)
        return "put __syncthreads() between them; or if the old value would do as well, read it "
               "through volatile";
    if (name && is_same_line && cpu_kind_at(me) & cpu_kind_at(other) & WRITE)
        return "let each thread write an element of its own, or only one thread write it, or use "
               "an atomic such as atomicAdd (in a loop: is a __syncthreads() missing?)";
    if (name && is_of_warp && !is_same_line)
        return "put __syncthreads() between them (for one warp __syncwarp() will do), or use an "
               "atomic";
    if (name) return "put __syncthreads() between them, or use an atomic";
    if ((me ^ other) & BITS(BLOCK, LAUNCH) && (cpu_kind_at(me) | cpu_kind_at(other)) & IN_ONE_BLOCK)
        return "what is atomic for one block is not for others: use atomicAdd, not atomicAdd_block";
    if ((me ^ other) & BITS(BLOCK, LAUNCH) && cpu_checker->fenced)
        return "another block may rely on what comes before a __threadfence() and, behind that, an "
               "atomic: which of them is missing between the two?";
    if (cpu_checker->fenced && !is_same_line)
        return "put __syncthreads() between them; or if a lock is to order them, a __threadfence() "
               "before it is given back";
    if (is_same_line && cpu_kind_at(me) & cpu_kind_at(other) & WRITE)
        return "let each thread write an element of its own (is a guard missing?), or use an "
               "atomic such as atomicAdd";
    if (is_same_line)
        return "use an atomic such as atomicAdd, or write to other memory than you read";
    if ((me ^ other) & BITS(BLOCK, LAUNCH))
        return "blocks do not wait for each other: use an atomic, a second launch, or other memory "
               "for the result";
    return "put __syncthreads() between them, or use an atomic";
}

void cpu_tell_race(const struct cpu_access *x, uint64_t me, uint64_t other, const char *name)
{
    char mine[100], others[100], here[400], there[400], launched[400];
    if (!name && (me ^ other) & IN_LAUNCH) {
        snprintf(mine, sizeof mine, "kernel %s", cpu_running->kernel);
        cpu_tell_streams(x, other, mine);
        return;
    }
    if (!cpu_is_news(x->place, cpu_place_at(other))) return;
    int kind = cpu_kind_at(other);
    const char *h = cpu_line_of(x->place, here, sizeof here);
    const char *t = cpu_line_of(cpu_place_at(other), there, sizeof there);
    name_thread(mine, sizeof mine, me, !name);
    name_thread(others, sizeof others, other, !name);
    cpu_say("%s: kernel %s has a race%s%s: %s %s what %s %s%s at %s, and nothing says which comes "
            "first: %s",
            h ? h : cpu_launched_at(cpu_running, launched, sizeof launched), cpu_running->kernel,
            name ? " on the shared memory " : "", name ? name : "", mine, cpu_verb(x->kind), others,
            kind & WRITE ? "wrote" : "read",
            kind & ATOMIC && kind & WRITE && !(kind & VOLATILE) ? " atomically" : "",
            t ? t : "an unknown place", advice(me, other, name, h && t && strcmp(h, t) == 0));
}
