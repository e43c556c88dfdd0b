// Memory as it is kept. All of it lies in one range of addresses: the device's in the first half, out of
// the host's reach but for the time in which work runs; what the host may use too in the second. A place
// is used again only when all others have been, so that what was freed stays known.
#include "runtime.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

size_t cpu_used_bytes;
struct cpu_heap cpu_heap = {8 << 20, false};
uintptr_t cpu_first_place; // 0: nothing is reserved yet
struct cpu_allocation *cpu_unit[CPU_UNITS];
struct cpu_allocation *cpu_allocations;
// Of these, those outside the range: variables, registered memory.
static struct cpu_allocation *elsewhere;
size_t cpu_units;
static size_t next_unit[2], used_units; // next: of the device's half, of the host's
static bool is_open;
static pthread_mutex_t claims_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

// AddressSanitizer's, if the program was built with it
void __asan_init(void) __attribute__((weak));
void __asan_poison_memory_region(void const volatile *start, size_t bytes) __attribute__((weak));
void __asan_unpoison_memory_region(void const volatile *start, size_t bytes) __attribute__((weak));

bool cpu_has_asan(void) { return __asan_init; }

static size_t round_up(size_t n, size_t multiple)
{
    return (n + multiple - 1) / multiple * multiple;
}

// Half of this machine's memory, so that filling the "device" does not kill the machine.
size_t cpu_device_bytes(void) { return (size_t)sysconf(_SC_PHYS_PAGES) * cpu_page_bytes() / 2; }

// ---- Pages for what is kept here and in ../check

void *cpu_lazy_pages(size_t bytes)
{
    if (bytes < CPU_SMALL) return calloc(1, bytes);
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

void cpu_give_pages_back(void *pages, size_t bytes)
{
    if (bytes < CPU_SMALL)
        free(pages);
    else if (pages)
        munmap(pages, bytes);
}

// ---- Places

// LeakSanitizer reads all memory, that of device variables too, when a program ends.
static void open_at_exit(void) { cpu_open_memory(true); }

// As much of the address space as can be had, far from everything else if possible.
static void reserve(void)
{
    for (cpu_units = CPU_UNITS; cpu_units > 1024 && !cpu_first_place; cpu_units /= 2) {
        char *place = mmap((void *)((uintptr_t)1 << 45), cpu_units * CPU_UNIT, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (place == MAP_FAILED) continue;
        cpu_first_place = round_up((uintptr_t)place, CPU_UNIT);
        cpu_units--; // rounding up may have cost one
        atexit(open_at_exit);
        return;
    }
}

// So many units side by side in which nothing lives, and the unit behind them; or `cpu_units` if there are none.
static size_t find_place(size_t count, bool is_hosts)
{
    size_t start = is_hosts ? cpu_units / 2 : 1; // 1: a[-1] is of the range
    size_t end = is_hosts ? cpu_units : cpu_units / 2;
    for (int round = 0; round < 2; round++, next_unit[is_hosts] = start) {
        size_t first = next_unit[is_hosts] ? next_unit[is_hosts] : start;
        for (size_t i = first; i < end; i++) {
            if (cpu_unit[i] && !cpu_unit[i]->freed_by) first = i + 1;
            if (i + 1 - first == count + 1) {
                next_unit[is_hosts] = i + 1;
                return first;
            }
        }
    }
    return cpu_units;
}

struct cpu_allocation *cpu_find_allocation(const void *pointer)
{
    const char *p = pointer;
    uintptr_t unit = ((uintptr_t)p - cpu_first_place) / CPU_UNIT;
    if (unit < cpu_units && cpu_first_place) {
        struct cpu_allocation *a = cpu_unit[unit];
        return a && !a->freed_by && (size_t)(p - a->base) < a->bytes ? a : NULL;
    }
    struct cpu_allocation *a = elsewhere;
    while (a && (size_t)(p - a->base) >= a->bytes) a = a->next_elsewhere;
    return a;
}

bool cpu_is_variable(const struct cpu_allocation *a)
{
    bool is_elsewhere = ((uintptr_t)a->base - cpu_first_place) / CPU_UNIT >= cpu_units;
    return a->kind == VARIABLE || (a->kind == MANAGED && is_elsewhere);
}

// Within a page behind them: an index that is too large may have come here.
bool cpu_is_after_variables(const char *p)
{
    const struct cpu_allocation *a = elsewhere;
    while (a && !(a->kind == VARIABLE && (size_t)(p - a->base - a->bytes) < cpu_page_bytes()))
        a = a->next_elsewhere;
    return a;
}

// What is at the address, or was, or what is nearest to it: behind one allocation, or before the next.
struct cpu_allocation *cpu_find_neighbour(const void *address)
{
    uintptr_t unit = ((uintptr_t)address - cpu_first_place) / CPU_UNIT;
    if (!cpu_first_place || unit >= cpu_units) return NULL;
    if (cpu_unit[unit]) return cpu_unit[unit];
    struct cpu_allocation *before = unit ? cpu_unit[unit - 1] : NULL,
                          *next = unit + 1 < cpu_units ? cpu_unit[unit + 1] : NULL;
    bool is_nearer = (uintptr_t)address % CPU_UNIT > CPU_UNIT / 2;
    return next && (is_nearer || !before) ? next : before;
}

// ---- Who may access it

// What the host has to keep off: the device's memory, and what queued work is going to use. Of registered memory only
// whole pages: what else lies on the first and the last one is not CUDA's.
static void set_access(const struct cpu_allocation *a)
{
    if (!a->body_bytes || a->kind == DEVICE) return;
    uintptr_t page = cpu_page_bytes(), body = round_up((uintptr_t)a->base, page);
    mprotect((void *)body, a->body_bytes,
             a->kind == VARIABLE && !is_open ? PROT_NONE : PROT_READ | PROT_WRITE);
    // First what the host may read, then what it may not: the stricter one of two holds.
    for (size_t i = 0; i < 2 * CPU_CLAIMS && !is_open; i++) {
        const struct cpu_claim *c = &a->claim[i % CPU_CLAIMS];
        if (!c->work || (c->host_access == PROT_NONE) != (i >= CPU_CLAIMS)) continue;
        uintptr_t start = (uintptr_t)c->start / page * page, body_end = body + a->body_bytes;
        uintptr_t end = round_up((uintptr_t)c->start + c->bytes, page);
        if (start < body) start = body;
        if (end > body_end) end = body_end;
        if (start < end) mprotect((void *)start, end - start, c->host_access);
    }
}

bool cpu_memory_is_open(void) { return is_open; }
void cpu_lock_claims(void) { pthread_mutex_lock(&claims_lock); }
void cpu_unlock_claims(void) { pthread_mutex_unlock(&claims_lock); }

// One call for all of the device's memory, however many allocations there are.
void cpu_open_memory(bool open)
{
    cpu_lock_claims();
    is_open = open;
    if (used_units)
        mprotect((void *)cpu_first_place, used_units * CPU_UNIT,
                 open ? PROT_READ | PROT_WRITE : PROT_NONE);
    for (const struct cpu_allocation *a = cpu_allocations; a; a = a->next)
        if (a->kind == VARIABLE || a->claim->work) set_access(a);
    cpu_unlock_claims();
}

// Work runs by itself. On a GPU the host may read before it: see fault.c.
void cpu_keep_before(void)
{
    enum { MOST = 16 << 20 };
    for (struct cpu_allocation *a = cpu_allocations; a; a = a->next) {
        const struct cpu_claim *c = a->claim;
        if (!c->work || c->host_access != PROT_NONE || a->before || c->bytes > MOST) continue;
        a->before = malloc(2 * c->bytes);
        if (a->before) memcpy(a->before, c->start, c->bytes);
    }
}

// The i-th goes, or before it comes another one.
static void set_claim(struct cpu_allocation *a, size_t i, const struct cpu_claim *before)
{
    struct cpu_claim *c = &a->claim[i];
    size_t later = (CPU_CLAIMS - 1 - i) * sizeof *c;
    if (i == 0) {
        free(a->before);
        a->before = NULL;
    }
    memmove(before ? c + 1 : c, before ? c : c + 1, later);
    if (before)
        *c = *before;
    else
        a->claim[CPU_CLAIMS - 1] = (struct cpu_claim){.work = 0};
    set_access(a);
}

// A kernel is not thought to use what lies behind the address that work of another stream got.
static void cut(struct cpu_claim *c, const struct cpu_claim *other)
{
    if (c->kernel && c->stream != other->stream && c->start < other->start &&
        c->start + c->bytes > other->start)
        c->bytes = (size_t)(other->start - c->start);
}

void cpu_claim(struct cpu_allocation *a, struct cpu_claim claim)
{
    if (a->kind < MANAGED || a->kind > REGISTERED) return;
    cpu_lock_claims();
    if (!claim.work || a->claim->work == claim.work || a->claim->start == claim.start)
        set_claim(a, 0, NULL); // in its place
    for (size_t i = 0; i < CPU_CLAIMS; i++) cut(&claim, &a->claim[i]), cut(&a->claim[i], &claim);
    if (claim.work) set_claim(a, 0, &claim);
    cpu_unlock_claims();
}

void cpu_end_claims(unsigned long work)
{
    cpu_lock_claims();
    for (struct cpu_allocation *a = cpu_allocations; a; a = a->next)
        for (size_t i = 0; i < CPU_CLAIMS && a->claim[i].work; i++)
            if (a->claim[i].work == work) set_claim(a, i--, NULL);
    cpu_unlock_claims();
}

// ---- Getting it and giving it back

static struct cpu_allocation *add(char *base, size_t bytes, enum cpu_kind kind)
{
    struct cpu_allocation *a = calloc(1, sizeof *a);
    if (!a) return NULL;
    *a = (struct cpu_allocation){
        .base = base, .bytes = bytes, .kind = kind, .next = cpu_allocations};
    if (a->next) a->next->link = &a->next;
    a->link = &cpu_allocations;
    cpu_allocations = a;
    return a;
}

// Memory that the program has got elsewhere: `bytes` of it, and whole pages if they can be locked.
struct cpu_allocation *cpu_add_allocation(char *base, size_t bytes, size_t body_bytes,
                                          enum cpu_kind kind)
{
    struct cpu_allocation *a = add(base, bytes, kind);
    if (!a) return NULL;
    a->next_elsewhere = elsewhere;
    elsewhere = a;
    a->body_bytes = body_bytes;
    CHECKS(track, a);
    set_access(a);
    return a;
}

cudaError_t cpu_allocate(void **pointer, size_t bytes, enum cpu_kind kind)
{
    if (!pointer) return cudaErrorInvalidValue;
    *pointer = NULL;
    if (bytes == 0) return cudaSuccess;
    if (bytes > cpu_device_bytes() - cpu_used_bytes) return cudaErrorMemoryAllocation;
    if (!cpu_first_place) reserve();
    size_t count = round_up(bytes, CPU_UNIT) / CPU_UNIT, unit = find_place(count, kind != DEVICE);
    if (!cpu_first_place || unit == cpu_units) return cudaErrorMemoryAllocation;
    struct cpu_allocation *a = add((char *)cpu_first_place + unit * CPU_UNIT, bytes, kind);
    if (!a) return cudaErrorMemoryAllocation;
    for (size_t i = 0; i < count; i++) cpu_unit[unit + i] = a;
    if (kind == DEVICE && unit + count > used_units) used_units = unit + count;
    a->body_bytes = round_up(bytes, cpu_page_bytes());
    if (a->body_bytes >= CPU_UNIT)
        madvise(a->base, a->body_bytes, MADV_HUGEPAGE); // fast random reads
    if (__asan_poison_memory_region) {
        __asan_unpoison_memory_region(a->base, bytes);
        __asan_poison_memory_region(a->base + bytes, CPU_UNIT - bytes % CPU_UNIT);
    }
    CHECKS(track, a);
    set_access(a);
    // Managed memory is 0; the device's own is filled when somebody reads it unwritten, if that is kept.
    if (kind == PINNED)
        cpu_fill_unwritten(a->base, bytes);
    else if (kind == DEVICE && !a->shadow.written)
        cpu_fill_fresh(a, 0, bytes);
    cpu_used_bytes += bytes;
    *pointer = a->base;
    return cudaSuccess;
}

// Fills what nobody has written: with large numbers, which a comparison does not take for results.
void cpu_fill_fresh(struct cpu_allocation *a, size_t offset, size_t bytes)
{
    bool is_locked = a->kind == DEVICE && !is_open;
    if (is_locked) mprotect(a->base, a->body_bytes, PROT_READ | PROT_WRITE);
    memset(a->base + offset, FRESH, bytes);
    if (is_locked) mprotect(a->base, a->body_bytes, PROT_NONE);
}

// Of what is very large only the first GiB, as this takes memory and time that the program may not mean to use.
void *cpu_fill_unwritten(void *start, size_t bytes)
{
    uint64_t *words = start;
    for (size_t i = 0; start && i < bytes / 8 && i < 1 << 27; i++) words[i] = CPU_UNWRITTEN;
    return start;
}

// Its pages go; that it was there stays known.
void cpu_forget(struct cpu_allocation *a)
{
    *a->link = a->next;
    if (a->next) a->next->link = a->link;
    CHECKS(untrack, a);
    if (a->kind == REGISTERED) {
        struct cpu_allocation **link = &elsewhere;
        while (*link != a) link = &(*link)->next_elsewhere;
        *link = a->next_elsewhere;
        free(a);
        return;
    }
    mmap(a->base, round_up(a->bytes, CPU_UNIT), PROT_NONE, // whole units: their page tables go too
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    if (__asan_poison_memory_region) __asan_poison_memory_region(a->base, a->bytes);
    cpu_used_bytes -= a->bytes;
    a->freed_by = cpu_call.name;
}
