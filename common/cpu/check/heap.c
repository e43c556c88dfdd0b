// malloc and new in a kernel: the device's heap, of which only the bounds are looked at.
#include "check.h"
#include <pthread.h>
#include <stdlib.h>

enum { AROUND = 64 }; // bytes: so far from it an access is still taken for one to it

static struct piece {
    _Alignas(16) const char *start; // what is behind the piece may be a float4
    size_t bytes;
    struct piece *next;
} * heap;
static pthread_mutex_t heap_lock = PTHREAD_MUTEX_INITIALIZER;

PUBLIC void *__wrap_malloc(size_t bytes)
{
    struct piece *piece = cpu_running ? malloc(sizeof *piece + bytes + AROUND) : NULL;
    if (!cpu_running) return malloc(bytes);
    if (!piece) return NULL;
    pthread_mutex_lock(&heap_lock);
    *piece = (struct piece){(const char *)(piece + 1), bytes, heap};
    heap = piece;
    pthread_mutex_unlock(&heap_lock);
    return piece + 1;
}

static void give_back(void *start, const char *name, const void *place)
{
    struct piece *found = NULL;
    pthread_mutex_lock(&heap_lock);
    for (struct piece **link = &heap; cpu_running && *link; link = &(*link)->next)
        if ((*link)->start == start) {
            found = *link;
            *link = found->next;
            break;
        }
    pthread_mutex_unlock(&heap_lock);
    free(found);
    if (found || cpu_running) return;
    const struct cpu_allocation *a = cpu_find_neighbour(start);
    if (a && a->base == start) { // of CUDA: libc ends the program
        cpu_call = (struct cpu_call){.name = name, .place = place};
        cpu_say_who_frees(start);
    }
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
    pthread_mutex_lock(&heap_lock);
    const struct piece *piece = heap;
    while (piece &&
           (x->address < piece->start - 8 || x->address >= piece->start + piece->bytes + AROUND))
        piece = piece->next;
    pthread_mutex_unlock(&heap_lock);
    if (piece && (x->address < piece->start || x->address + x->bytes > piece->start + piece->bytes))
        cpu_complain(cudaErrorIllegalAddress, x,
                     "%s outside the %zu bytes that malloc or new gave it", cpu_verb(x->kind),
                     piece->bytes);
    return piece;
}
