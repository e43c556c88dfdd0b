// How a bad access is told: where in the source, which thread, who else, and what to do.
#include "check.h"
#include <dlfcn.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// In this library: the driver's calls call those of the runtime.
bool cpu_is_own(const void *place)
{
    Dl_info here, there;
    return dladdr(place, &there) && dladdr((void *)cpu_is_own, &here) &&
           here.dli_fbase == there.dli_fbase;
}

// The line of the source: the innermost that is not in a header of the stand-in or of C++. addr2line comes
// with the assembler, which g++ needs.
const char *cpu_line_of(const void *place, char *text, size_t size)
{
    Dl_info in;
    struct link_map *map = NULL;
    char file[400], command[600], line[400];
    text[0] = '\0';
    if (cpu_is_own(place)) return NULL;
    if (!place || !dladdr1(place, &in, (void **)&map, RTLD_DL_LINKMAP)) return NULL;
    snprintf(file, sizeof file, "%s", map->l_name);
    ssize_t length =
        file[0] ? 0 : readlink("/proc/self/exe", file, sizeof file - 1); // the program itself
    if (length > 0) file[length] = '\0';
    snprintf(command, sizeof command, "addr2line -i -e '%s' 0x%lx 2>/dev/null", file,
             (unsigned long)((uintptr_t)place - 1 - map->l_addr));
    FILE *answer = popen(command, "r");
    while (answer && fgets(line, sizeof line, answer)) {
        char *end = strstr(line, " (discriminator");
        line[end ? (size_t)(end - line) : strcspn(line, "\n")] = '\0';
        if (!text[0] && line[0] != '?' && !strstr(line, "/cpu/include/") && !strstr(line, "/c++/"))
            snprintf(text, size, "%s", line);
    }
    if (answer) pclose(answer);
    const char *slash = strrchr(text, '/');
    return text[0] ? slash ? slash + 1 : text : NULL;
}

// Tells it, if it is the first error of the context, and ends the thread of the kernel.
void cpu_complain(cudaError_t error, const struct cpu_access *x, const char *format, ...)
{
    char what[400], line[400];
    if (cpu_break_context(error)) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(what, sizeof what, format, arguments);
        va_end(arguments);
        cpu_say_of_thread(cpu_line_of(x->place, line, sizeof line), what);
    }
    cpu_checker->is_in_doubt = false;
    cpu_leave_kernel();
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

static const char *advice(uint64_t me, uint64_t other, const char *name, bool is_same_line)
{
    bool is_of_warp = NUMBER(me, THREAD, BLOCK) / 32 == NUMBER(other, THREAD, BLOCK) / 32;
    if (name && is_of_warp && !is_same_line)
        return "put __syncwarp() or __syncthreads() between them, or use an atomic";
    if (name) return "put __syncthreads() between them, or use an atomic";
    if (is_same_line)
        return "use an atomic such as atomicAdd, or write to other memory than you read";
    if ((me ^ other) & BITS(BLOCK, LAUNCH))
        return "blocks do not wait for each other: use an atomic, a second launch, or other memory "
               "for the "
               "result";
    return "put __syncthreads() between them, or use an atomic";
}

void cpu_tell_race(const struct cpu_access *x, uint64_t me, uint64_t other, const char *name)
{
    char mine[100], others[100], here[400], there[400], launched[400];
    cpu_checker->is_in_doubt = false;
    if (!cpu_break_context(cudaErrorLaunchFailure)) return;
    if (!name && (me ^ other) & IN_LAUNCH) {
        snprintf(mine, sizeof mine, "kernel %s", cpu_running->kernel);
        cpu_tell_streams(x, other, mine);
        return;
    }
    int kind = cpu_kind_at(other);
    const char *h = cpu_line_of(x->place, here, sizeof here);
    const char *t = cpu_line_of(cpu_place_at(other), there, sizeof there);
    snprintf(launched, sizeof launched, "%s:%d", cpu_running->file, cpu_running->line);
    name_thread(mine, sizeof mine, me, !name);
    name_thread(others, sizeof others, other, !name);
    cpu_say("%s: kernel %s has a race%s%s: %s %s what %s %s%s at %s, and nothing says which comes "
            "first: %s",
            h ? h : launched, cpu_running->kernel, name ? " on the shared memory " : "",
            name ? name : "", mine, x->kind & WRITE ? "writes" : "reads", others,
            kind & WRITE ? "wrote" : "read", kind & ATOMIC && kind & WRITE ? " atomically" : "",
            t ? t : "an unknown place", advice(me, other, name, h && t && strcmp(h, t) == 0));
}
