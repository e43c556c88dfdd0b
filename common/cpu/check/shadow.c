// Shadow memory: of each four bytes who accessed them last, and of the device's own whether somebody has written
// them. And numbers for the places in the code that access memory, for which cells have little room.
#include "check.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

// For one allocation; of a larger one, some pages are looked at.
#define MOST_CELL_BYTES ((size_t)256 << 20)

__thread struct cpu_checker *cpu_checker;

// ---- Places in the code

uintptr_t cpu_sites[SITES];

unsigned cpu_find_site(uintptr_t wanted, size_t hash)
{
    for (unsigned n = 0; n < 64; n++, hash = (hash + 1) % SITES) {
        uintptr_t *site = &cpu_sites[hash ? hash : 1],
                  seen = __atomic_load_n(site, __ATOMIC_RELAXED);
        if (!seen && __atomic_compare_exchange_n(site, &seen, wanted, false, __ATOMIC_RELAXED,
                                                 __ATOMIC_RELAXED))
            seen = wanted;
        if (seen == wanted) return (unsigned)(site - cpu_sites);
    }
    return 0;
}

// All that is kept for races goes.
void cpu_clear_cells(const struct cpu_allocation *a)
{
    size_t bytes = CELL_BYTES * cpu_cells_of(a->bytes);
    if (a->shadow.writers && bytes < CPU_SMALL)
        memset(a->shadow.writers, 0, bytes);
    else if (a->shadow.writers)
        madvise(a->shadow.writers, bytes, MADV_DONTNEED);
}

// ---- What is kept for an allocation

size_t cpu_cells_of(size_t bytes) { return bytes / 4 + 2; }

// Which bytes the host writes nobody knows, so only of the device's own memory it is kept what is written.
void cpu_track(struct cpu_allocation *a)
{
    struct cpu_shadow *s = &a->shadow;
    s->all_written = a->bytes;
    size_t cells = cpu_cells_of(a->bytes);
    s->writers = cpu_lazy_pages(CELL_BYTES * cells);
    s->readers = s->writers ? s->writers + cells : NULL;
    s->parts = s->writers ? (uint64_t(*)[4])(s->writers + 3 * cells) : NULL;
    s->olds = s->writers ? (uint32_t *)(s->writers + 7 * cells) : NULL;
    while ((CELL_BYTES - PARTS_BYTES) * cells / (s->skipped / 4096 + 1) > MOST_CELL_BYTES)
        s->skipped = 2 * s->skipped + 4096;
    if (a->kind == DEVICE) s->written = cpu_lazy_pages(cells);
    if (s->written) s->all_written = 0;
}

void cpu_untrack(struct cpu_allocation *a)
{
    cpu_give_pages_back(a->shadow.writers, CELL_BYTES * cpu_cells_of(a->bytes));
    cpu_give_pages_back(a->shadow.written, cpu_cells_of(a->bytes));
    a->shadow = (struct cpu_shadow){.writers = NULL};
}

bool cpu_is_written(const struct cpu_shadow *s, size_t i)
{
    return i < s->all_written || s->written[i / 4] >> i % 4 & 1;
}

void cpu_mark_written(struct cpu_shadow *s, size_t offset, size_t bytes)
{
    for (size_t i = offset; i < offset + bytes; i++)
        if (i % 4 == 0 && offset + bytes - i >= 4) {
            s->written[i / 4] = 15;
            i += 3;
        } else {
            __atomic_or_fetch(&s->written[i / 4], 1 << i % 4, __ATOMIC_RELAXED);
        }
}

// A copy or memset has written this: what is so as a whole needs no bytes of its own.
static void note_written(struct cpu_allocation *a, size_t offset, size_t bytes)
{
    if (offset > a->shadow.all_written)
        cpu_mark_written(&a->shadow, offset, bytes);
    else if (offset + bytes > a->shadow.all_written)
        a->shadow.all_written = offset + bytes;
}

// What kernels have written since, as far as there is no gap.
void cpu_gather_written(struct cpu_shadow *s, size_t bytes)
{
    while (s->written && s->all_written + 4 <= bytes && s->all_written % 4 == 0 &&
           s->written[s->all_written / 4] == 15)
        s->all_written += 4;
    while (s->written && s->all_written < bytes && cpu_is_written(s, s->all_written))
        s->all_written++;
}

// ---- Copies

extern void *__libc_stack_end;  // of the thread that runs main
enum { STACK_BYTES = 8 << 20 }; // what Linux gives it

static bool is_unwritten_word(const char *at, bool is_local)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word == CPU_UNWRITTEN || (is_local && word == CPU_UNWRITTEN_LOCAL);
}

// Whether nobody has written this byte because a copy took it from memory of the host that the host had not written.
bool cpu_is_unwritten_by_host(const struct cpu_allocation *a, size_t i)
{
    return i / 8 * 8 + 8 <= a->bytes && !cpu_is_written(&a->shadow, i) &&
           is_unwritten_word(a->base + i / 8 * 8, true);
}

// What nobody has written gets large numbers, and is told if it goes to the host; but short gaps behind something
// written, many of them or in little memory, are the padding of structs, and what was the host's own may go back.
static void check_source(const struct cpu_allocation *target, struct cpu_allocation *a,
                         const char *from, size_t bytes)
{
    size_t offset = (size_t)(from - a->base), end = offset + bytes, gaps = 0, first = 0,
           longest = 0, all = 0;
    for (size_t i = offset < a->shadow.all_written ? a->shadow.all_written : offset; i < end;) {
        size_t start = i;
        while (i < end && !cpu_is_written(&a->shadow, i) && !cpu_is_unwritten_by_host(a, i)) i++;
        if (i > start) {
            cpu_fill_fresh(a, start, i - start);
            first = gaps++ ? first : start;
            longest = i - start > longest ? i - start : longest;
            all += i - start;
        } else {
            i++;
        }
    }
    bool is_padding = first > offset && longest < 16 && (gaps > 1 || bytes <= 64);
    bool is_told = gaps && !is_padding && !cpu_is_without_threads; // or nobody could have written
    // Once for all rows of a copy.
    static const void *told;
    static unsigned long told_call;
    bool is_new = told != cpu_call.place || told_call != cpu_calls;
    if (is_told && is_new && (!target || target->kind != DEVICE)) {
        told = cpu_call.place, told_call = cpu_calls;
        cpu_say_of_call("reads %zu bytes that nobody has written, the first at byte %zu of an "
                        "allocation of %zu bytes",
                        all, first, a->bytes);
    }
}

// A copy, or without a source a memset. What it takes from the host's memory, and the host has not written, stays
// unwritten where it was so.
void cpu_note_copied(const char *to, const char *from, size_t bytes)
{
    struct cpu_allocation *target = cpu_find_allocation(to),
                          *a = from ? cpu_find_allocation(from) : NULL;
    if (a && a->shadow.written) check_source(target, a, from, bytes);
    if (!target || !target->shadow.written) return;
    size_t offset = (size_t)(to - target->base), start = 0;
    bool is_local = (size_t)((char *)__libc_stack_end - from) < STACK_BYTES;
    if (from && (!a || !a->shadow.written))
        for (size_t i = -(uintptr_t)from % 8; i + 8 <= bytes; i += 8)
            if (is_unwritten_word(from + i, is_local)) {
                if (i > start) note_written(target, offset + start, i - start);
                start = i + 8;
            }
    if (start < bytes) note_written(target, offset + start, bytes - start);
}
