// Races between streams: a kernel or a copy accesses what work of another stream has accessed, and neither waits for
// the other. Each launch leaves its number in cells; so does each copy while the queue has work of several streams:
// what came earlier the host has waited for.
#include "check.h"

enum { NUMBERS = 255 }; // in cells; 0 is nobody

unsigned long cpu_launches;
bool cpu_has_others;
static const struct cpu_work *current;
static struct {
    unsigned stream;
    unsigned long work;
    bool is_before; // the current work
} numbered[NUMBERS + 1];

static uint64_t this_number(void) { return cpu_launches % NUMBERS + 1; }

void cpu_begin_work(const struct cpu_work *work)
{
    current = work;
    cpu_has_others = false;
    for (unsigned i = 1; i <= NUMBERS && cpu_streams_meet; i++) {
        numbered[i].is_before = work->order.before[numbered[i].stream] >= numbered[i].work;
        cpu_has_others = cpu_has_others || !numbered[i].is_before;
    }
}

void cpu_note_launch(void)
{
    if (++cpu_launches % NUMBERS == 0) // the numbers begin again: what there is goes
        for (const struct cpu_allocation *a = cpu_allocations; a; a = a->next) cpu_clear_cells(a);
    numbered[this_number()].stream = current->stream;
    numbered[this_number()].work = current->id;
    numbered[this_number()].is_before = true;
}

bool cpu_is_before(uint64_t cell) { return !cell || numbered[cell >> LAUNCH].is_before; }

// One side of a copy.
static void check_side(const char *start, size_t bytes, int kind)
{
    struct cpu_allocation *a = cpu_find_allocation(start);
    const struct cpu_access x = {start, bytes, kind, current->call.place};
    if (!a || !a->shadow.writers) return;
    const struct cpu_shadow *s = &a->shadow;
    uint64_t copy = this_number() << LAUNCH | (uint64_t)cpu_site_of(x.place, kind) << SITE;
    uint64_t other = 0;
    size_t first = (size_t)(start - a->base), last = first + bytes - 1;
    for (size_t i = first / 4; i <= last / 4 && !other; i++) {
        if (i * 4 & s->skipped) continue;
        uint64_t me = copy | BYTES; // of the first and the last four, perhaps not all
        if (i == first / 4) me &= ~0ull << first % 4;
        if (i == last / 4) me &= ~BYTES | BYTES >> (3 - last % 4);
        uint64_t *readers = &s->readers[2 * i];
        if (s->writers[i] & me & BYTES && !cpu_is_before(s->writers[i])) other = s->writers[i];
        for (int r = 0; r < 2 && kind == WRITE; r++)
            if (readers[r] & me & BYTES && !cpu_is_before(readers[r])) other = readers[r];
        if (kind == WRITE)
            s->writers[i] = me;
        else
            readers[cpu_is_before(readers[0]) ? 0 : 1] = me;
    }
    if (other) cpu_tell_streams(&x, other, current->call.name);
}

void cpu_check_copy(const char *to, const char *from, size_t bytes)
{
    if (cpu_streams_meet) {
        cpu_note_launch();
        if (from) check_side(from, bytes, READ);
        check_side(to, bytes, WRITE);
    }
    cpu_note_copied(to, from, bytes);
}
