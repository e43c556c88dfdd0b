// Races: two threads touch the same memory, one of them writes, and nothing says who comes first. Here
// they ran one after the other; on a GPU they will not.
// Who comes first (happens before): what the same thread did earlier; what a thread did before a barrier of its block, or
// of its warp, that the other has met, too; what it did before a fence and a later atomic, if the other did something
// atomic after that; an earlier launch, in the same stream or waited for. In a barrier's, fence's or atomic's place a block
// counts epochs, and a cell says who touched its bytes, and in which epoch. hooks.c lets through what this file would.
#include "check.h"
#include <sched.h>
#include <string.h>

bool cpu_takes_no_short_cuts;

static const void *touching[1 << 10]; // by a block: where its last plain access was noted
static uint64_t released[1 << (LAUNCH - BLOCK)]; // by a block, after a fence: the launch

// ---- What orders two accesses

// Threads have waited for each other, or something like it: what comes is later.
unsigned cpu_next_epoch(struct cpu_checker *k)
{
    unsigned epoch = NUMBER(k->epoch, EPOCH, THREAD) + 1;
    if (epoch == MOST_EPOCHS) k->is_late = true;
    k->epoch = ((uint64_t)epoch << EPOCH) & BITS(EPOCH, THREAD);
    return epoch;
}

void cpu_note_fence(bool is_for_block)
{
    struct cpu_checker *k = cpu_checker;
    k->has_fenced |= !is_for_block;
    k->has_released = k->warps[cpu_thread_number() / 32].has_fenced = true;
}

// What a block wrote before a fence and something atomic is there for who does something atomic later; so
// it is between the warps of a block. It does not matter on which address, which can only hide a race.
static __attribute__((noinline)) void note_atomic(int kind)
{
    struct cpu_checker *k = cpu_checker;
    unsigned thread = cpu_thread_number();
    struct cpu_warp *warp = &k->warps[thread / 32];
    k->has_acquired = true;
    if (warp->has_fenced && kind & WRITE) warp->released = k->released[thread] = cpu_next_epoch(k);
    warp->acquired = NUMBER(k->epoch, EPOCH, THREAD);
    if (k->has_fenced && kind & WRITE)
        released[NUMBER(k->block, BLOCK, LAUNCH)] = k->block & IN_LAUNCH;
}

static bool is_released(uint64_t other) // by another block
{
    return cpu_checker->has_acquired &&
           released[NUMBER(other, BLOCK, LAUNCH)] == (other & IN_LAUNCH);
}

// Threads of a warp hand on what they compute through a volatile array, as if they ran in step. (What is written but once
// is a flag, and so is what a thread waits for in a loop, and what is behind a fence.)
static __attribute__((noinline)) bool is_in_step(uint64_t other, uint64_t me,
                                                 const struct cpu_where *w)
{
    unsigned thread = NUMBER(other, THREAD, BLOCK), warp = thread / 32;
    int mine = cpu_kind_at(me), others = cpu_kind_at(other);
    return (!w->shared || w->shared->bytes > 8) && mine & others & VOLATILE &&
           (mine | others) & AGAIN && !((other ^ me) & IN_BLOCK) &&
           (other ^ me) & BITS(THREAD, BLOCK) && NUMBER(me, THREAD, BLOCK) / 32 == warp &&
           !cpu_checker->warps[warp].has_fenced && !cpu_is_spinning(thread) &&
           !cpu_has_waited(cpu_checker, other, me);
}

static inline bool is_race_now(uint64_t other, uint64_t me, const struct cpu_where *w, int kind)
{
    uint64_t differs = other ^ me;
    if (!NUMBER(other, SITE, EPOCH)) return false; // one of too many: nobody knows what it does
    int others = cpu_kind_at(other);
    bool is_too_narrow = (kind | others) & IN_ONE_BLOCK && differs & IN_BLOCK;
    if (cpu_checker->is_late || !((kind | others) & WRITE)) return false;
    if (kind & others & ATOMIC && !is_too_narrow) return is_in_step(other, me, w);
    if (differs & w->same) return !w->shared && !cpu_is_before(other);
    if (differs & IN_BLOCK) return !is_released(other);
    return differs & BITS(THREAD, BLOCK) && !cpu_has_waited(cpu_checker, other, me);
}

static inline bool is_race(uint64_t other, uint64_t me, const struct cpu_where *w, int kind)
{
    if (!(other & me & BYTES)) return false;
    if ((other ^ me) & w->same && !cpu_has_others) return false; // it came long before
    return is_race_now(other, me, w, kind);
}

// ---- Doubt: a race that may be harmless

static const void **touching_by(uint64_t who)
{
    return &touching[NUMBER(who, BLOCK, LAUNCH) % 1024];
}

void cpu_begin_block_of_races(void) // it has touched nothing yet
{
    __atomic_store_n(touching_by(cpu_checker->block), cpu_checker, __ATOMIC_RELEASE);
}

void cpu_end_block_of_races(void)
{
    if (cpu_checker->block) // else this core has had no block
        __atomic_store_n(touching_by(cpu_checker->block), NULL, __ATOMIC_RELEASE);
}

static void close_short_cuts(struct cpu_checker *k)
{
    k->is_in_doubt = k->has_no_short_cuts = true;
    memset(k->quiet, 0, sizeof k->quiet);
}

static bool is_same_access(const struct cpu_doubt *d, const struct cpu_access *x, uint64_t me)
{
    return d->access.address == x->address && !((d->me ^ me) & ~BYTES);
}

// Two threads may write the same, also over what a third has read; a thread may read what others change by atomics, if
// the next that it does there is an atomic itself, as in a loop around atomicCAS. Both is seen at the next access; of
// a read on another core it is not known yet. True if it is told.
static __attribute__((noinline)) bool doubt(const struct cpu_access *x, uint64_t me, uint64_t other,
                                            const uint64_t *cell, const char *name)
{
    struct cpu_checker *k = cpu_checker;
    int others = cpu_kind_at(other);
    bool is_on_other_core = (me ^ other) & BITS(BLOCK, LAUNCH);
    const void *touched =
        is_on_other_core ? __atomic_load_n(touching_by(other), __ATOMIC_ACQUIRE) : NULL;
    bool is_plain = !(others & ATOMIC) && x->kind == WRITE, is_at_it = touched == x->address;
    // It has perhaps not written yet. It does so now, unless the operating system lets it wait; or it waits here itself for
    // this core, before it notes what it is about to write: then what is noted of it has been done.
    if (is_plain && is_at_it) __atomic_store_n(touching_by(me), k, __ATOMIC_RELEASE);
    for (int tries = 0; tries < 1000 && is_plain && is_at_it; tries++) {
        sched_yield();
        is_at_it = __atomic_load_n(touching_by(other), __ATOMIC_ACQUIRE) == x->address;
    }
    if (is_plain) __atomic_store_n(touching_by(me), x->address, __ATOMIC_RELEASE);
    bool has_gone_on = __atomic_load_n(cell, __ATOMIC_ACQUIRE) != other;
    bool is_under_way =
        is_on_other_core ? touched != NULL : cpu_gave_turn(NUMBER(other, THREAD, BLOCK));
    if (x->kind & ATOMIC && x->kind & WRITE && others == READ && (is_under_way || has_gone_on))
        return false;
    bool is_doubtful = is_plain || x->kind & VOLATILE & others ||
                       (x->kind == READ && others & ATOMIC && others & WRITE);
    if (x->bytes > sizeof k->doubts[0].before || !is_doubtful ||
        (x->kind & VOLATILE && !(x->kind & WRITE))) {
        cpu_tell_race(x, me, other, name);
        return true;
    }
    struct cpu_doubt *d = k->doubts, *end = d + sizeof k->doubts / sizeof *d;
    while (d < end && d->is_there && !is_same_access(d, x, me)) d++;
    if (d == end || (d->is_there && !d->is_open)) return false; // this one decides
    *d = (struct cpu_doubt){.access = *x, .me = me, .other = other, .name = name, .is_there = true};
    d->is_open = is_at_it && others & WRITE; // perhaps it has not written yet
    close_short_cuts(k);
    memcpy(d->before, x->address, x->bytes);
    return false;
}

// On a GPU a racing read may come before the write, which here has been done: it finds what was there before.
static void go_back(const struct cpu_access *x, char *to, const char *before, size_t bytes)
{
    struct cpu_checker *k = cpu_checker;
    if (x->bytes > sizeof k->stale.now || x->kind != READ) return;
    if (!k->stale.bytes) memcpy(k->stale.now, x->address, x->bytes);
    k->stale.address = (char *)x->address;
    k->stale.bytes = x->bytes;
    memcpy(to, before, bytes);
    close_short_cuts(k);
}

static void settle(struct cpu_doubt *d, const struct cpu_access *next)
{
    struct cpu_checker *k = cpu_checker;
    const struct cpu_access *x = &d->access;
    uint64_t now_here =
        (d->name ? k->shared : k->block) | (uint64_t)cpu_thread_number() << THREAD | k->epoch;
    bool is_same_thread = next && !((d->me ^ now_here) & ~BITS(0, EPOCH));
    bool is_taken_up = next && next->address == x->address && next->kind & ATOMIC;
    d->is_there = x->kind == READ && is_same_thread && !is_taken_up;
    bool is_under_way = is_same_thread || cpu_gave_turn(NUMBER(d->me, THREAD, BLOCK));
    bool is_harmless =
        x->kind == READ ? is_under_way : d->is_open || memcmp(x->address, d->before, x->bytes) == 0;
    if (!is_harmless) cpu_tell_race(x, d->me, d->other, d->name);
}

void cpu_settle(const struct cpu_access *next)
{
    struct cpu_checker *k = cpu_checker;
    if (k->stale.bytes) memcpy(k->stale.address, k->stale.now, k->stale.bytes);
    k->stale.bytes = 0;
    k->is_in_doubt = false;
    for (size_t i = 0; i < sizeof k->doubts / sizeof k->doubts[0]; i++) {
        if (k->doubts[i].is_there) settle(&k->doubts[i], next);
        k->is_in_doubt |= k->doubts[i].is_there;
    }
    k->has_no_short_cuts =
        cpu_takes_no_short_cuts || k->is_in_doubt || cpu_is_touching || cpu_has_others;
}

// ---- Looking, and noting who was here

// How far a reader is from this access: the farther, the more later writers it is in a race with.
static inline int distance(uint64_t reader, uint64_t me, uint64_t same)
{
    uint64_t differs = reader ^ me;
    if (!reader) return -1;
    // of another launch or block: of no use any more, unless it is work that later one does not wait for
    if (differs & same)
        return same == IN_LAUNCH && cpu_has_others && !cpu_is_before(reader) ? 4 : -1;
    if (differs & IN_BLOCK) return 3;
    if (cpu_has_waited(cpu_checker, reader, me)) return -1;
    if (NUMBER(reader, THREAD, BLOCK) / 32 != NUMBER(me, THREAD, BLOCK) / 32) return 2;
    return differs & BITS(THREAD, BLOCK) ? 1 : 0;
}

// Of the readers two are kept: any later writer is then in a race with one of them, if it is with any.
static inline void add_reader(uint64_t *readers, uint64_t me, uint64_t same)
{
    int first = distance(readers[0], me, same), second = distance(readers[1], me, same);
    if (first == 0)
        readers[0] = cpu_joined(cpu_checker, readers[0], me);
    else if (second == 0)
        readers[1] = cpu_joined(cpu_checker, readers[1], me);
    else if (first < 0)
        readers[0] = me;
    else if (second < 0)
        readers[1] = me;
    else if (distance(readers[0], readers[1], same) < (first > second ? first : second))
        readers[first > second ? 1 : 0] = me; // the farther one stays
}

void cpu_check_race(const struct cpu_access *x, const struct cpu_where *where)
{
    struct cpu_checker *k = cpu_checker;
    const char *name = where->shared ? where->shared->name : NULL;
    uint64_t who = where->block | (uint64_t)cpu_thread_number() << THREAD | k->epoch |
                   (x->kind & ATOMIC ? 1 << IS_ATOMIC : 0);
    int kind = x->kind;
    // In global memory a search may read and write the same again and again. Who writes it in one line and then in
    // another has an array as older lessons have it.
    for (size_t i = where->offset / 4, j = 0; kind & VOLATILE && kind & WRITE && j < (name ? 3 : 1);
         j++) {
        uint64_t by = j ? where->cells.readers[2 * i + j - 1] : where->cells.writers[i];
        bool is_elsewhere = name || cpu_place_at(by) != x->place;
        if (!((by ^ who) & ~BITS(0, EPOCH)) && is_elsewhere) kind |= AGAIN;
    }
    who |= (uint64_t)cpu_site_of(x->place, kind) << SITE;
    if (x->kind & ATOMIC)
        note_atomic(x->kind);
    else
        __atomic_store_n(touching_by(who), x->address, __ATOMIC_RELEASE);
    for (size_t i = where->offset / 4; i <= (where->offset + x->bytes - 1) / 4; i++) {
        size_t first = i * 4 < where->offset ? where->offset - i * 4 : 0;
        size_t end = where->offset + x->bytes - i * 4 < 4 ? where->offset + x->bytes - i * 4 : 4;
        uint64_t me = who | (BITS(0, end) & ~BITS(0, first)), *writer = &where->cells.writers[i],
                 old = *writer;
        uint64_t *readers = where->cells.readers ? &where->cells.readers[2 * i] : NULL;
        char *here = (char *)x->address + (i * 4 + first - where->offset),
             *before = (char *)&where->cells.olds[i] + first;
        bool is_mine = !((old ^ me) & ~BITS(0, EPOCH)); // since this thread has waited last
        bool is_racing = !is_mine && is_race(old, me, where, x->kind);
        if (is_racing && doubt(x, me, old, writer, name) && cpu_kind_at(old) == WRITE)
            go_back(x, here, before, end - first);
        for (int j = 0; readers && j < 2; j++) {
            uint64_t reader =
                __atomic_load_n(&readers[j], __ATOMIC_ACQUIRE); // another core may change it
            bool may_race = x->kind & WRITE || reader & 1 << IS_ATOMIC; // not two that only read
            if (may_race && reader != me && is_race(reader, me, where, x->kind))
                doubt(x, me, reader, &readers[j], name);
        }
        if (x->kind == WRITE && (!is_mine || me & ~old & BYTES) && !is_racing)
            memcpy(before, here, end - first);
        // An atomic does not make up for what its block has written before: who did not wait is in a race with that.
        bool is_awaited =
            (name || x->kind & VOLATILE) && NUMBER(old, EPOCH, THREAD) < k->block_epoch;
        bool is_hiding = x->kind & ATOMIC && cpu_kind_at(old) == WRITE && !is_awaited &&
                         !((old ^ me) & IN_BLOCK) && !is_racing;
        if (x->kind & WRITE && !is_hiding) *writer = cpu_joined(k, old, me);
        if (x->kind != WRITE && readers) add_reader(readers, me, where->same);
    }
}
