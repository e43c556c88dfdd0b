// malloc and new. In a kernel: the device's heap, of which only the bounds are looked at. It has as many bytes as
// cudaLimitMallocHeapSize says, and twice as many addresses, as something free is left behind each piece.
#include "check.h"
#include <malloc.h>
#include <pthread.h>
#include <search.h>
#include <stdlib.h>

// GRAIN: bytes, as what is at the start of a piece may be a float4. AROUND: grains; so far from a piece an access is
// still taken for one to it.
enum { GRAIN = 16, AROUND = 4 };
// For each grain: where its piece starts, as a number of grains, and 1 more (0: it is free); of the piece that begins
// here, how many grains it has, and the bytes that were asked for.
static struct piece {
    uint32_t start, grains;
    size_t bytes;
} * heap;
static char *heap_start;
static size_t heap_grains, next_grain, used_bytes;
static size_t too_many; // so many grains side by side are not free
static pthread_mutex_t heap_lock = PTHREAD_MUTEX_INITIALIZER;

static bool begin_heap(void)
{
    cpu_give_pages_back(heap_start, heap_grains * GRAIN);
    cpu_give_pages_back(heap, heap_grains * sizeof *heap);
    heap_grains = 2 * (cpu_heap.bytes / GRAIN + CPU_SMALL);
    heap_start = cpu_lazy_pages(heap_grains * GRAIN);
    heap = cpu_lazy_pages(heap_grains * sizeof *heap);
    next_grain = AROUND;
    used_bytes = 0;
    too_many = SIZE_MAX;
    return cpu_heap.is_used = heap_start && heap;
}

// So many grains side by side that are free, from the last piece on, or `heap_grains`.
static size_t find_grains(size_t grains)
{
    for (int round = 0; round < 2; round++, next_grain = AROUND)
        for (size_t first = next_grain, i = first; i < heap_grains; i++) {
            if (heap[i].start)
                first = (i += heap[i].grains) + 1; // behind the grain that is left free
            if (i + 1 >= first + grains) return first;
        }
    return heap_grains;
}

static void *take(size_t bytes)
{
    size_t grains = bytes / GRAIN + 2; // the last is left free
    if ((!cpu_heap.is_used && !begin_heap()) || grains >= too_many ||
        bytes > cpu_heap.bytes - used_bytes)
        return NULL;
    size_t first = find_grains(grains);
    if (first == heap_grains) return too_many = grains, NULL;
    for (size_t i = first; i < first + grains - 1; i++) heap[i].start = (uint32_t)first + 1;
    heap[first].grains = (uint32_t)grains - 1;
    heap[first].bytes = bytes;
    used_bytes += bytes;
    next_grain = first + grains;
    return heap_start + first * GRAIN;
}

// ---- What malloc and new gave the host

// A tree of it, but for what is as small as a node of a std::map. What a library has freed or made larger, unseen, has
// another size by then, or is in the way of what comes next.
enum { SMALL_PIECE = 64 };
struct given {
    char *start;
    size_t bytes; // that malloc gave: up to 24 more than it was asked for
};
static void *all_given;
static pthread_mutex_t given_lock = PTHREAD_MUTEX_INITIALIZER;

static int compare(const void *one, const void *other)
{
    const struct given *a = one, *b = other;
    return a->start + a->bytes <= b->start ? -1 : b->start + b->bytes <= a->start;
}

static void forget(struct given *one)
{
    tdelete(one, &all_given, compare);
    free(one);
}

static void note_given(void *start)
{
    size_t bytes = malloc_usable_size(start);
    struct given *one = bytes >= SMALL_PIECE && cpu_checks.host ? malloc(sizeof *one) : NULL;
    if (!one) return;
    *one = (struct given){start, bytes};
    pthread_mutex_lock(&given_lock);
    for (struct given **at; (at = tsearch(one, &all_given, compare)) && *at != one;) forget(*at);
    pthread_mutex_unlock(&given_lock);
}

static void note_freed(void *start)
{
    if (malloc_usable_size(start) < SMALL_PIECE) return;
    pthread_mutex_lock(&given_lock);
    struct given **found = tfind(&(struct given){start, 1}, &all_given, compare);
    if (found) forget(*found);
    pthread_mutex_unlock(&given_lock);
}

void cpu_check_host(const char *verb, const char *start, size_t bytes)
{
    pthread_mutex_lock(&given_lock);
    struct given **found = tfind(&(struct given){(char *)start, 1}, &all_given, compare);
    struct given one = found ? **found : (struct given){(char *)start, SIZE_MAX};
    pthread_mutex_unlock(&given_lock);
    size_t there = one.bytes - (size_t)(start - one.start);
    if (bytes > there && malloc_usable_size(one.start) == one.bytes &&
        cpu_is_news(cpu_call.place, NULL))
        cpu_say_of_call("%s %zu bytes, but malloc or new gave the host at most %zu there: out of "
                        "bounds",
                        verb, bytes, there);
}

// ---- What calls them, in a kernel and on the host

PUBLIC void *__wrap_calloc(size_t count, size_t bytes)
{
    void *start = calloc(count, bytes);
    note_given(start);
    return start;
}
PUBLIC void *__wrap_malloc(size_t bytes)
{
    if (!cpu_running) {
        void *start = cpu_fill_unwritten(malloc(bytes), bytes);
        note_given(start);
        return start;
    }
    pthread_mutex_lock(&heap_lock);
    void *start = take(bytes);
    pthread_mutex_unlock(&heap_lock);
    return start;
}

// What a kernel frees is a piece of the heap, what the host frees is none.
static void give_back(void *start, const char *name, const void *place)
{
    size_t first = (size_t)((char *)start - heap_start) / GRAIN;
    pthread_mutex_lock(&heap_lock);
    if (cpu_running && first < heap_grains && heap[first].start == first + 1) {
        for (size_t i = first; i < first + heap[first].grains; i++) heap[i].start = 0;
        used_bytes -= heap[first].bytes;
        too_many = SIZE_MAX;
    }
    pthread_mutex_unlock(&heap_lock);
    if (cpu_running) return;
    const struct cpu_allocation *a = cpu_find_neighbour(start);
    if (a && a->base == start) { // of CUDA: libc ends the program
        cpu_call = (struct cpu_call){.name = name, .place = place};
        cpu_say_who_frees(start);
    }
    note_freed(start);
    free(start);
}

PUBLIC void *__wrap__Znwm(size_t bytes) { return __wrap_malloc(bytes); }
PUBLIC void *__wrap__Znam(size_t bytes) { return __wrap_malloc(bytes); }

PUBLIC void __wrap_free(void *start) { give_back(start, "free", HERE); }
PUBLIC void __wrap__ZdlPv(void *start) { give_back(start, "delete", HERE); }
PUBLIC void __wrap__ZdaPv(void *start) { give_back(start, "delete[]", HERE); }
PUBLIC void __wrap__ZdlPvm(void *start, size_t bytes)
{
    (void)bytes, give_back(start, "delete", HERE);
}
PUBLIC void __wrap__ZdaPvm(void *start, size_t bytes)
{
    (void)bytes, give_back(start, "delete[]", HERE);
}

bool cpu_is_in_heap(const struct cpu_access *x)
{
    size_t at = (size_t)(x->address - heap_start) / GRAIN;
    if (!heap_start || at >= heap_grains) return false;
    const struct piece *found = NULL;
    pthread_mutex_lock(&heap_lock);
    for (size_t i = 0; i < AROUND && !found; i++) {
        if (at >= i && heap[at - i].start)
            found = &heap[heap[at - i].start - 1];
        else if (at + i < heap_grains && heap[at + i].start)
            found = &heap[heap[at + i].start - 1];
    }
    const char *start = found ? heap_start + (found - heap) * GRAIN : NULL;
    size_t bytes = found ? found->bytes : 0;
    pthread_mutex_unlock(&heap_lock);
    if (!found)
        cpu_complain(cudaErrorIllegalAddress, x,
                     "%s memory that was freed in a kernel, or that malloc did not give",
                     cpu_verb(x->kind));
    if (x->address < start || x->address + x->bytes > start + bytes)
        cpu_complain(cudaErrorIllegalAddress, x,
                     "%s outside the %zu bytes that malloc or new gave it", cpu_verb(x->kind),
                     bytes);
    return true;
}
