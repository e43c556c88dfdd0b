// Device memory: out of the host's reach, NaN to begin with, between guard pages, dead when freed.
#define _GNU_SOURCE
#include "runtime.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, ALIGNMENT = 256, HUGE_PAGE = 2 << 20, CANARY = 0xA5, NAN_BYTE = 0xFF };

static struct cpu_allocation *allocations;
static size_t used_bytes;

static size_t round_up(size_t n, size_t multiple)
{
    return (n + multiple - 1) / multiple * multiple;
}

// Half of this machine's memory, so that filling the "device" does not kill the machine.
static size_t device_bytes(void)
{
    return (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE) / 2;
}

struct cpu_allocation *cpu_find_allocation(const void *pointer)
{
    struct cpu_allocation *a = allocations;
    while (a && !((const char *)pointer >= a->base && (const char *)pointer < a->base + a->bytes))
        a = a->next;
    return a;
}

PUBLIC int cpu_cuda_is_device_pointer(const void *pointer)
{
    cpu_lock();
    bool found = cpu_find_allocation(pointer) != NULL;
    for (struct cpu_allocation *a = allocations; a && !found; a = a->next)
        found = pointer == a->base + a->bytes; // one past the end: right, unless it is followed
    cpu_unlock();
    return found;
}

// True if nobody wrote into the bytes between the allocation and its guard pages.
static bool margins_are_intact(const struct cpu_allocation *a)
{
    for (const char *p = a->body; p < a->base; p++)
        if ((unsigned char)*p != CANARY)
            return false;
    for (const char *p = a->base + a->bytes; p < a->body + a->body_bytes; p++)
        if ((unsigned char)*p != CANARY)
            return false;
    return true;
}

void cpu_open_memory(void)
{
    for (struct cpu_allocation *a = allocations; a; a = a->next)
        mprotect(a->body, a->body_bytes, PROT_READ | PROT_WRITE);
}

void cpu_close_memory(const char *kernel, const char *file, int line)
{
    for (struct cpu_allocation *a = allocations; a; a = a->next) {
        if (kernel && !cpu_context_is_broken() && !margins_are_intact(a)) {
            cpu_say("%s:%d: kernel %s wrote outside an allocation of %zu bytes", file, line, kernel,
                    a->bytes);
            cpu_break_context(cudaErrorIllegalAddress);
        }
        mprotect(a->body, a->body_bytes, PROT_NONE);
    }
}

// Addresses that nobody can touch, at `place` or anywhere.
static void *reserve(void *place, size_t bytes)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (place ? MAP_FIXED : 0);
    return mmap(place, bytes, PROT_NONE, flags, -1, 0);
}

// The allocation ends where its last page ends, but for the alignment: a step too far faults.
static cudaError_t allocate(void **pointer, size_t bytes)
{
    if (!pointer)
        return cudaErrorInvalidValue;
    *pointer = NULL;
    if (bytes == 0)
        return cudaSuccess;
    if (bytes > device_bytes() - used_bytes)
        return cudaErrorMemoryAllocation;

    struct cpu_allocation *a = malloc(sizeof *a);
    size_t huge = bytes >= 2 * HUGE_PAGE ? HUGE_PAGE : PAGE; // huge pages: fast random reads
    size_t body_bytes = round_up(round_up(bytes, ALIGNMENT), PAGE);
    size_t map_bytes = body_bytes + 2 * PAGE + huge;
    char *map = reserve(NULL, map_bytes);
    char *body = (char *)round_up((uintptr_t)map + PAGE, huge);
    if (!a || map == MAP_FAILED || mprotect(body, body_bytes, PROT_READ | PROT_WRITE) != 0) {
        if (map != MAP_FAILED)
            munmap(map, map_bytes);
        free(a);
        return cudaErrorMemoryAllocation;
    }
    madvise(body, body_bytes, MADV_HUGEPAGE);
    a->body = body;
    a->body_bytes = body_bytes;
    a->bytes = bytes;
    a->base = body + body_bytes - round_up(bytes, ALIGNMENT);
    memset(a->body, CANARY, (size_t)(a->base - a->body));
    memset(a->base, NAN_BYTE, bytes);
    memset(a->base + bytes, CANARY, (size_t)(a->body + body_bytes - a->base) - bytes);
    mprotect(a->body, body_bytes, PROT_NONE);
    a->next = allocations;
    allocations = a;
    used_bytes += bytes;
    *pointer = a->base;
    cpu_catch_bad_addresses();
    return cudaSuccess;
}

static cudaError_t release(void *pointer)
{
    if (!pointer)
        return cudaSuccess;
    struct cpu_allocation **link = &allocations;
    while (*link && (*link)->base != pointer)
        link = &(*link)->next;
    struct cpu_allocation *a = *link;
    if (!a)
        return cudaErrorInvalidValue;
    *link = a->next;
    used_bytes -= a->bytes;
    reserve(a->body, a->body_bytes); // never used again: a use after free faults
    free(a);
    return cudaSuccess;
}

// True if the range lies in device memory as a whole (*device), or nowhere in it.
static bool range_is_whole(const void *start, size_t bytes, bool *device)
{
    const struct cpu_allocation *a = cpu_find_allocation(start);
    *device = a != NULL;
    return !a || bytes <= (size_t)(a->base + a->bytes - (const char *)start);
}

static cudaError_t copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    if ((unsigned)kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    if (bytes == 0)
        return cudaSuccess;
    bool to_device, from_device;
    if (!to || !from || !range_is_whole(to, bytes, &to_device) ||
        !range_is_whole(from, bytes, &from_device))
        return cudaErrorInvalidValue;
    bool want_to = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    bool want_from = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (kind != cudaMemcpyDefault && kind != cudaMemcpyHostToHost &&
        (to_device != want_to || from_device != want_from))
        return cudaErrorInvalidValue;
    cpu_open_memory();
    memmove(to, from, bytes);
    cpu_close_memory(NULL, NULL, 0);
    return cudaSuccess;
}

PUBLIC cudaError_t cudaMalloc(void **pointer, size_t bytes)
{
    cudaError_t error = cpu_enter();
    return cpu_leave(error ? error : allocate(pointer, bytes));
}

PUBLIC cudaError_t cudaFree(void *pointer)
{
    cudaError_t error = cpu_enter();
    cpu_finish_work();
    cudaError_t released = release(pointer); // also if an earlier error is what this call reports
    return cpu_leave(error ? error : released);
}

PUBLIC cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    cudaError_t error = cpu_enter();
    if (error)
        return cpu_leave(error);
    cpu_finish_work();
    return cpu_leave(cpu_context_is_broken() ? cudaSuccess : copy(to, from, bytes, kind));
}

PUBLIC cudaError_t cudaMemset(void *pointer, int value, size_t bytes)
{
    cudaError_t error = cpu_enter();
    if (error || bytes == 0)
        return cpu_leave(error);
    cpu_finish_work();
    bool device;
    if (!range_is_whole(pointer, bytes, &device) || !device)
        return cpu_leave(cudaErrorInvalidValue);
    cpu_open_memory();
    memset(pointer, value, bytes);
    cpu_close_memory(NULL, NULL, 0);
    return cpu_leave(cudaSuccess);
}

PUBLIC cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    cudaError_t error = cpu_enter();
    *total_bytes = device_bytes();
    *free_bytes = *total_bytes - used_bytes;
    return cpu_leave(error);
}

// CPU_CUDA_LEAKS=1: device memory that nobody freed makes the exit status 1.
__attribute__((destructor)) static void report_leaks(void)
{
    if (!getenv("CPU_CUDA_LEAKS") || !allocations)
        return;
    for (struct cpu_allocation *a = allocations; a; a = a->next)
        cpu_say("%zu bytes of device memory were never freed", a->bytes);
    fflush(NULL);
    _exit(1);
}
