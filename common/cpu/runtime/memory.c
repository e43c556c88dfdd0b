// Memory as it is kept: the device's is out of the host's reach, starts as NaN, has guards around it
// and is never used again; the host's that the device may use is known.
#include "runtime.h"
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ALIGNMENT = 256, HUGE_PAGE = 2 << 20, CANARY = 0xA5, NAN_BYTE = 0xFF };
#define FIRST_PLACE ((uintptr_t)1 << 45) // far from everything else
#define NEAR ((uintptr_t)1 << 30)

size_t cpu_used_bytes;
static struct cpu_allocation *allocations;
static bool is_open;
static uintptr_t next_place = FIRST_PLACE;

// AddressSanitizer's, if the program was built with it
void __asan_poison_memory_region(void const volatile *start, size_t bytes) __attribute__((weak));
void __asan_unpoison_memory_region(void const volatile *start, size_t bytes) __attribute__((weak));

static size_t round_up(size_t n, size_t multiple)
{
    return (n + multiple - 1) / multiple * multiple;
}

static size_t page_bytes(void) { return (size_t)sysconf(_SC_PAGESIZE); }

// Half of this machine's memory, so that filling the "device" does not kill the machine.
size_t cpu_device_bytes(void) { return (size_t)sysconf(_SC_PHYS_PAGES) * page_bytes() / 2; }

struct cpu_allocation *cpu_find_allocation(const void *pointer)
{
    const char *p = pointer;
    struct cpu_allocation *a = allocations;
    while (a && (p < a->base || p >= a->base + a->bytes)) a = a->next;
    return a;
}

// True for an address where device memory is, was, or might be with a wrong index.
bool cpu_is_near_device_memory(const void *address)
{
    uintptr_t a = (uintptr_t)address;
    return a > FIRST_PLACE - NEAR && a < next_place + NEAR;
}

// The host has to keep off: device memory, and the pages that queued work is going to use.
static void set_access(const struct cpu_allocation *a)
{
    bool is_device = a->kind == DEVICE || a->kind == VARIABLE;
    mprotect(a->body, a->body_bytes, is_device && !is_open ? PROT_NONE : PROT_READ | PROT_WRITE);
    if (is_open || !a->claim.work || !a->body_bytes) return;
    size_t before = (size_t)(a->claim.start - a->body) / page_bytes() * page_bytes();
    size_t end = round_up((size_t)(a->claim.start - a->body) + a->claim.bytes, page_bytes());
    mprotect(a->body + before, end - before, a->claim.host_access);
}

void cpu_open_memory(bool open)
{
    is_open = open;
    for (const struct cpu_allocation *a = allocations; a; a = a->next) set_access(a);
}

// Device memory whose margins, between it and its pages' ends, were written to.
const struct cpu_allocation *cpu_find_overrun(void)
{
    for (const struct cpu_allocation *a = allocations; a; a = a->next) {
        if (a->kind != DEVICE) continue;
        for (const char *p = a->body; p < a->base; p++)
            if ((unsigned char)*p != CANARY) return a;
        for (const char *p = a->base + a->bytes; p < a->body + a->body_bytes; p++)
            if ((unsigned char)*p != CANARY) return a;
    }
    return NULL;
}

void cpu_claim(struct cpu_allocation *a, struct cpu_claim claim)
{
    if (a->kind != PINNED && a->kind != MANAGED) return;
    a->claim = claim;
    set_access(a);
}

void cpu_end_claims(unsigned long work)
{
    for (struct cpu_allocation *a = allocations; a; a = a->next)
        if (a->claim.work == work) {
            a->claim.work = 0;
            set_access(a);
        }
}

struct cpu_allocation *cpu_add_allocation(char *base, size_t bytes, enum cpu_kind kind)
{
    struct cpu_allocation *a = calloc(1, sizeof *a);
    if (a) {
        *a = (struct cpu_allocation){.base = base, .bytes = bytes, .body = base, .kind = kind};
        a->next = allocations;
        allocations = a;
    }
    return a;
}

// Pages where nothing else is or was, so that a use after free faults. (The place is only a wish.)
static char *new_pages(size_t bytes)
{
    char *pages = mmap((void *)next_place, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    next_place += round_up(bytes, HUGE_PAGE) + HUGE_PAGE;
    return pages == MAP_FAILED ? NULL : pages;
}

// The allocation ends where its last page ends, but for the alignment: a step too far faults.
cudaError_t cpu_allocate(void **pointer, size_t bytes, enum cpu_kind kind)
{
    if (!pointer) return cudaErrorInvalidValue;
    *pointer = NULL;
    if (bytes == 0) return cudaSuccess;
    if (bytes > cpu_device_bytes() - cpu_used_bytes) return cudaErrorMemoryAllocation;
    size_t body_bytes = round_up(bytes, page_bytes());
    char *body = new_pages(body_bytes);
    struct cpu_allocation *a =
        body ? cpu_add_allocation(body + body_bytes - round_up(bytes, ALIGNMENT), bytes, kind)
             : NULL;
    if (!a) {
        munmap(body, body ? body_bytes : 0);
        return cudaErrorMemoryAllocation;
    }
    madvise(body, body_bytes, MADV_HUGEPAGE); // fast random reads
    a->body = body;
    a->body_bytes = body_bytes;
    char *end = a->base + bytes;
    size_t before = (size_t)(a->base - body), after = (size_t)(body + body_bytes - end);
    memset(body, CANARY, before);
    memset(a->base, NAN_BYTE, bytes);
    memset(end, CANARY, after);
    if (__asan_poison_memory_region && kind == DEVICE) {
        __asan_poison_memory_region(body, before);
        __asan_poison_memory_region(end, after);
    }
    set_access(a);
    cpu_used_bytes += bytes;
    *pointer = a->base;
    cpu_catch_faults();
    return cudaSuccess;
}

static void forget(struct cpu_allocation **link)
{
    struct cpu_allocation *a = *link;
    *link = a->next;
    if (a->kind != REGISTERED) {
        if (__asan_unpoison_memory_region) __asan_unpoison_memory_region(a->body, a->body_bytes);
        munmap(a->body, a->body_bytes);
        cpu_used_bytes -= a->bytes;
    }
    free(a);
}

// Frees what begins at the pointer if it is of one of two kinds, after all work that may use it.
cudaError_t cpu_release(const void *pointer, enum cpu_kind kind, enum cpu_kind other)
{
    cpu_finish_all();
    struct cpu_allocation **link = &allocations;
    while (*link && (*link)->base != pointer) link = &(*link)->next;
    if (!*link || ((*link)->kind != kind && (*link)->kind != other)) return cudaErrorInvalidValue;
    if ((*link)->kind == MANAGED && !(*link)->body_bytes)
        return cudaErrorInvalidValue; // a variable
    forget(link);
    return cudaSuccess;
}

void cpu_free_everything(void)
{
    for (struct cpu_allocation **link = &allocations; *link;)
        if ((*link)->kind == VARIABLE || (*link)->body_bytes == 0)
            link = &(*link)->next;
        else
            forget(link);
}

void cpu_keep_loaded(const void *address)
{
    Dl_info library;
    if (dladdr(address, &library))
        dlopen(library.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}

// The __device__, __constant__ and __managed__ variables of a program or library, from ../nvcc.
PUBLIC void cpu_cuda_add_variables(char *start, const char *end, bool is_managed)
{
    if (cpu_find_allocation(start)) return; // two sources of one library
    cpu_keep_loaded(start);
    size_t bytes = (size_t)(end - start);
    struct cpu_allocation *a = cpu_add_allocation(start, bytes, is_managed ? MANAGED : VARIABLE);
    if (!a || is_managed || page_bytes() > 4096) return; // ../nvcc pads to 4096
    a->body_bytes = round_up(bytes, page_bytes());
    set_access(a);
    cpu_catch_faults();
}

// What nobody freed is told at the end; CPU_CUDA_LEAKS=1 makes it the exit status.
void cpu_report_leaks(void)
{
    static const char *name[] = {[DEVICE] = "device", [MANAGED] = "managed", [PINNED] = "pinned"};
    char text[300] = "";
    size_t length = 0;
    for (enum cpu_kind kind = DEVICE; kind <= PINNED; kind++) {
        size_t bytes = 0;
        for (const struct cpu_allocation *a = allocations; a; a = a->next)
            if (a->kind == kind && a->body_bytes) bytes += a->bytes;
        if (bytes)
            length += (size_t)snprintf(text + length, sizeof text - length,
                                       ", %zu bytes of %s memory", bytes, name[kind]);
    }
    for (int events = 0; events < 2; events++)
        if (cpu_handles_left(events))
            length += (size_t)snprintf(text + length, sizeof text - length, ", %u %s",
                                       cpu_handles_left(events), events ? "event(s)" : "stream(s)");
    if (!length || cpu_context_is_broken()) return;
    cpu_say("never freed: %s", text + 2);
    const char *leaks = getenv("CPU_CUDA_LEAKS");
    if (leaks && strcmp(leaks, "0") != 0) {
        fflush(NULL);
        _exit(1);
    }
}
