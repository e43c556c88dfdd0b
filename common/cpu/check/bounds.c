// Out of bounds: is all of an access in memory that the kernel may use? And has somebody written what it
// reads? If so, races.c asks who else was there.
#include "check.h"
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

// By this block: of two that only add to what should have been 0, the first to be told is the first of its block.
static bool is_written_near(const struct cpu_allocation *a, size_t offset)
{
    enum { NEAR = 4096 };
    size_t i = offset > NEAR ? (offset - NEAR) / 4 : 0, end = (offset + NEAR) / 4;
    for (; i < end && i < a->bytes / 4; i++)
        if (!((a->shadow.writers[i] ^ cpu_checker->block) & IN_BLOCK)) return true;
    return false;
}

static void check_written(struct cpu_allocation *a, const struct cpu_access *x, size_t offset)
{
    struct cpu_shadow *s = &a->shadow;
    if (x->kind & WRITE) {
        if (s->quiet_launch) { // written to once: other cores read it
            s->quiet_launch = 0;
            memset(cpu_checker->quiet, 0, sizeof cpu_checker->quiet);
        }
        if (offset + x->bytes > s->all_written) cpu_mark_written(s, offset, x->bytes);
        return;
    }
    // Of a struct that is copied, some bytes are nobody's: less than a word, or in a large one more.
    size_t padding = x->bytes > 8 ? x->bytes - 1 : x->bytes >= 4 ? 3 : 0;
    size_t missing = 0, first = 0;
    for (size_t i = offset; i < offset + x->bytes && offset + x->bytes > s->all_written; i++)
        if (!cpu_is_written(s, i)) first = missing++ ? first : i;
    if (missing <= padding) return;
    bool is_copied = cpu_is_unwritten_by_host(a, first);
    if (cpu_is_news(x->place, NULL))
        cpu_tell(x, "reads byte %zu of an allocation of %zu bytes, which nobody has written%s",
                 first, a->bytes,
                 is_copied                   ? ", nor the host before it copied it there"
                 : is_written_near(a, first) ? " yet; is a __syncthreads() missing before?"
                                             : "");
    for (size_t i = first; i < offset + x->bytes && !is_copied; i++)
        if (!cpu_is_written(s, i)) a->base[i] = FRESH;
}

static void check_allocation(struct cpu_allocation *a, const struct cpu_access *x)
{
    struct cpu_shadow *s = &a->shadow;
    size_t offset = (size_t)(x->address - a->base);
    if (a->kind == ON_HOST)
        cpu_complain(cudaErrorIllegalAddress, x,
                     "%s a variable of the device by its address on the host: use the variable "
                     "itself, or the address that cudaGetSymbolAddress gives",
                     cpu_verb(x->kind));
    if (cpu_is_recording) cpu_record(x);
    check_written(a, x, offset);
    // Whoever on the host sees this sees also what came before the fence.
    if (a->kind != DEVICE && x->kind & ATOMIC && x->kind & WRITE && cpu_checker->fenced)
        cpu_has_published = true;
    if (s->quiet_launch == cpu_launches || !s->writers || offset & s->skipped) return;
    if (x->kind != WRITE && s->read_launch != cpu_launches) s->read_launch = cpu_launches;
    bool has_readers = s->read_launch == cpu_launches || cpu_has_others;
    struct cpu_where where = {{s->writers, has_readers ? s->readers : NULL, s->olds, s->parts},
                              offset,
                              IN_LAUNCH,
                              cpu_checker->block,
                              a->kind == VARIABLE ? 0 : a->bytes,
                              NULL};
    cpu_check_race(x, &where);
}

static bool check_shared(struct cpu_checker *k, const struct cpu_access *x)
{
    for (unsigned n = 0; n < k->count; n++) {
        struct cpu_shared *v = &k->variables[n];
        size_t offset = (size_t)(x->address - v->base);
        if (offset >= v->bytes) continue;
        if (x->bytes > v->bytes - offset) break;
        for (size_t i = offset; i < offset + x->bytes && !(x->kind & WRITE); i++) {
            uint64_t writer = v->cells.writers[i / 4];
            // Of four bytes and more some may be nobody's, as the padding of a struct.
            if (x->bytes < 4) writer = cpu_writer_of(writer, v->cells.parts[i / 4], i % 4);
            if (!((writer ^ k->shared) & IN_BLOCK)) {
                i |= x->bytes < 4 ? 0 : 3;
                continue;
            }
            if (cpu_is_news(x->place, NULL))
                cpu_tell(
                    x,
                    "reads byte %zu of the shared memory %s, which no thread of this block has "
                    "written yet; is a __syncthreads() missing before?",
                    i, v->name);
            *(char *)&v->base[i] = FRESH;
        }
        struct cpu_where where = {v->cells, offset, IN_BLOCK, k->shared, v->bytes, v};
        cpu_check_race(x, &where);
        return true;
    }
    return false;
}

// Read-only memory of a program or library: strings, tables, a compiler's constants; and its thread's own, in which its
// shared variables are.
enum { NEITHER, FIXED, OF_THREAD };
static int find_segment(struct dl_phdr_info *info, size_t size, void *access)
{
    const struct cpu_access *x = access;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        const char *start = (const char *)(info->dlpi_addr + h->p_vaddr);
        bool is_fixed = (h->p_type == PT_LOAD && !(h->p_flags & PF_W)) || h->p_type == PT_GNU_RELRO;
        if (h->p_type == PT_TLS && info->dlpi_tls_data &&
            (size_t)(x->address - (char *)info->dlpi_tls_data) < h->p_memsz)
            return OF_THREAD;
        if (!is_fixed || (size_t)(x->address - start) >= h->p_memsz || x->kind & WRITE) continue;
        cpu_checker->constants = start;
        cpu_checker->constants_end = start + h->p_memsz;
        return FIXED;
    }
    return NEITHER;
}

// Outside shared variables: in the room that is theirs, or so near to one that a pointer to it may have come here.
static void complain_of_shared(const struct cpu_checker *k, const struct cpu_access *x,
                               bool is_room)
{
    enum { NEAR = 64 };
    const struct cpu_shared *nearest = NULL;
    size_t least = is_room ? CPU_MOST_SHARED : CPU_SHARED_BYTES;
    for (unsigned i = 0; i < k->count; i++) {
        const struct cpu_shared *v = &k->variables[i];
        const char *end = v->base + v->bytes;
        size_t distance = x->address < v->base ? (size_t)(v->base - x->address)
                          : x->address < end   ? 0
                                               : (size_t)(x->address - end);
        if (distance >= least) continue;
        least = distance;
        nearest = v;
    }
    if (nearest)
        cpu_complain(cudaErrorIllegalAddress, x,
                     "%s outside the %zu bytes of the shared memory %s%s", cpu_verb(x->kind),
                     nearest->bytes, nearest->name,
                     is_room || least <= NEAR ? "" : ", or memory of the host");
}

static void complain_of_host(const struct cpu_access *x)
{
    const char *after = ", right after the variables of the device: is an index too large?";
    cpu_complain(cudaErrorIllegalAddress, x, "%s %p, which is not device memory but the host's%s",
                 cpu_verb(x->kind), (const void *)x->address,
                 cpu_is_after_variables(x->address) ? after : "");
}

// Read-only memory is the host's too if the host has given its address: a string, for example.
static void check_fixed(const struct cpu_access *x)
{
    for (unsigned i = 0; i < cpu_running->arguments; i++)
        if (cpu_running->argument[i].pointer == x->address && !cpu_may_be_of_device(x->address))
            complain_of_host(x);
    if (x->bytes == 8) cpu_check_table(x);
}

// Neither of the range in which allocations lie, nor of one outside it.
static void check_elsewhere(struct cpu_checker *k, const struct cpu_access *x)
{
    if ((uintptr_t)x->address < 4096)
        cpu_complain(cudaErrorIllegalAddress, x, "follows a null pointer");
    if (cpu_is_in_heap(x)) return;
    int segment = dl_iterate_phdr(find_segment, (void *)x);
    bool is_all_known = k->count < sizeof k->variables / sizeof k->variables[0];
    if (segment == FIXED) check_fixed(x);
    if (segment == FIXED || (segment == OF_THREAD && !is_all_known)) return;
    const struct cpu_shared *dynamic = &k->variables[0]; // the end of its room, before a guard
    const char *room = dynamic->base + (dynamic->bytes + 15) / 16 * 16 - CPU_MOST_SHARED;
    bool is_in_room = (size_t)(x->address - room) < CPU_MOST_SHARED + GUARD;
    complain_of_shared(k, x, segment || is_in_room);
    const void *page = (void *)((uintptr_t)x->address & ~(uintptr_t)(cpu_page_bytes() - 1));
    if (msync((void *)page, 1, MS_ASYNC) == 0) complain_of_host(x);
    cpu_complain(cudaErrorIllegalAddress, x, "%s the address %p, where no device memory is",
                 cpu_verb(x->kind), (const void *)x->address);
}

static void complain_of_device(const struct cpu_access *x)
{
    const struct cpu_allocation *a = cpu_find_neighbour(x->address);
    if (a && a->freed_by)
        cpu_complain(cudaErrorIllegalAddress, x, "%s memory that was freed by %s (%zu bytes)",
                     cpu_verb(x->kind), a->freed_by, a->bytes);
    if (!a)
        cpu_complain(cudaErrorInvalidAddressSpace, x,
                     "%s the address %p, where no device memory is", cpu_verb(x->kind),
                     (const void *)x->address);
    size_t offset = (size_t)(x->address - a->base);
    char where[100] = "right after the end of";
    if (x->address < a->base)
        snprintf(where, sizeof where, "%zu bytes before", -offset);
    else if (offset < a->bytes)
        snprintf(where, sizeof where, "the last %zu of them after the end of",
                 offset + x->bytes - a->bytes);
    else if (offset > a->bytes)
        snprintf(where, sizeof where, "%zu bytes after the end of", offset - a->bytes);
    cpu_complain(cudaErrorIllegalAddress, x,
                 "%s %zu bytes out of bounds, %s an allocation of %zu bytes", cpu_verb(x->kind),
                 x->bytes, where, a->bytes);
}

void cpu_look_closely(const char *address, size_t bytes, int kind, const void *place)
{
    struct cpu_checker *k = cpu_checker;
    const struct cpu_access access = {address, bytes, kind, place}, *x = &access;
    if (k->has_candidates) cpu_decide_races(x);
    bool is_in_range =
        cpu_first_place && ((uintptr_t)x->address - cpu_first_place) / CPU_UNIT < cpu_units;
    if (!is_in_range) {
        bool is_own = (size_t)(x->address - k->own) < k->own_bytes && !(x->kind & WRITE);
        if (is_own || check_shared(k, x)) return;
        if (x->address >= k->constants && x->address < k->constants_end && !(x->kind & WRITE)) {
            check_fixed(x);
            return;
        }
    }
    struct cpu_allocation *a = cpu_find_allocation(x->address);
    if (a && x->bytes <= a->bytes - (size_t)(x->address - a->base))
        check_allocation(a, x);
    else if (is_in_range)
        complain_of_device(x);
    else
        check_elsewhere(k, x);
}

void cpu_check_read(const char *address, size_t bytes, const void *place)
{
    const struct cpu_checker *k = cpu_checker;
    if (k && (size_t)(address - k->stacks) >= k->stack_bytes)
        cpu_look_closely(address, bytes, READ, place);
}
