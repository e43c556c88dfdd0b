// The race detector. A race: two threads access the same memory, one of them writes, they are not both atomic, and
// neither happens before the other. Here they ran one after the other; on a GPU they will not.
//
// A happens before B, if A comes before B in the same thread; or before a barrier (of the block, or of lanes of a warp)
// that both threads meet, and B behind it; or before a release that B's thread has acquired: A, a fence, an atomic or
// volatile write, then an atomic or volatile access in B's thread, and B; or in an earlier launch, in the same stream
// or waited for. That is causality order in "Memory Consistency Model" of NVIDIA's PTX ISA, with two simplifications,
// which can only hide a race: it does not matter on which address one releases and another acquires; and what a thread
// releases or acquires, it does for its whole warp, and towards other blocks for its block.
//
// ThreadSanitizer compares vector clocks. Threads of a block mostly wait for each other all at once, so one number
// does, as the epochs of FastTrack (Flanagan and Freund, PLDI 2009): a block counts its barriers, fences and releases,
// and a cell of shadow memory says who accessed its bytes last, and in which epoch. Between blocks there is only a
// release, or a new launch.
#include "check.h"
#include <pthread.h>
#include <sched.h>
#include <string.h>

bool cpu_takes_no_short_cuts;

// Of each block: where its last plain access was noted, its core if there is none yet or it waits, NULL if it has
// ended; and the launch in which it released something, and up to which epoch: that of a fence for all of the device.
static const void *last_access[1 << 10];
static uint64_t released[1 << (LAUNCH - BLOCK)];

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
    unsigned thread = cpu_thread_number(), epoch = cpu_next_epoch(k);
    k->has_released = true;
    k->released[thread].fenced = k->warps[thread / 32].released.fenced = epoch;
    if (!is_for_block) k->fenced = epoch;
}

static void release(struct cpu_checker *k, struct cpu_release *r)
{
    if (r->before == r->fenced) return; // no fence since then: nothing more
    r->before = r->fenced;
    r->at = cpu_next_epoch(k);
}

// Something atomic or volatile: it acquires, and if it writes behind a fence, it releases.
static __attribute__((noinline)) void note_atomic(int kind)
{
    struct cpu_checker *k = cpu_checker;
    unsigned thread = cpu_thread_number();
    struct cpu_warp *warp = &k->warps[thread / 32];
    k->has_acquired = true;
    if (kind & WRITE) release(k, &warp->released), release(k, &k->released[thread]);
    warp->acquired = NUMBER(k->epoch, EPOCH, THREAD);
    uint64_t *mine = &released[NUMBER(k->block, BLOCK, LAUNCH)],
             now = (k->block & IN_LAUNCH) | (uint64_t)k->fenced << EPOCH;
    // in a large grid two blocks may have the number: the later fence counts
    if (k->fenced && kind & WRITE && ((*mine ^ now) & IN_LAUNCH || *mine < now)) *mine = now;
}

// By another block; an atomic behind its fence is a release itself.
static bool is_released(uint64_t other)
{
    uint64_t up_to = released[NUMBER(other, BLOCK, LAUNCH)];
    bool is_before = NUMBER(other, EPOCH, THREAD) < NUMBER(up_to, EPOCH, THREAD);
    return cpu_checker->has_acquired && !((up_to ^ other) & IN_LAUNCH) &&
           (is_before || other & 1 << IS_ATOMIC);
}

static bool is_of_one_warp(uint64_t one, uint64_t other)
{
    return !((one ^ other) & BITS(THREAD + 5, BLOCK));
}

// Threads hand on what they compute through a volatile array, as if they ran in step. (In a warp what is written but
// once is a flag, and so is what a thread waits for in a loop. Of two warps it is what one writes and the other reads, in
// shared memory: there keep_poll finds out whether it waits. Nor is it an array, if it has no more than 8 bytes.)
static __attribute__((noinline)) bool is_in_step(uint64_t other, uint64_t me,
                                                 const struct cpu_where *w)
{
    unsigned thread = NUMBER(other, THREAD, BLOCK);
    int mine = cpu_kind_at(me), others = cpu_kind_at(other);
    bool is_of_step = is_of_one_warp(other, me)
                          ? (mine | others) & AGAIN && (other ^ me) & BITS(THREAD, BLOCK)
                          : w->shared && others & WRITE && !(mine & WRITE);
    return w->bytes > 8 && mine & others & VOLATILE && is_of_step && !((other ^ me) & IN_BLOCK) &&
           !cpu_is_spinning(thread) && !cpu_happens_before(cpu_checker, other, me);
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
    // Blocks are counted modulo 32768: in a larger grid it may be another one.
    const dim3 *g = &cpu_running->grid;
    bool may_be_another = !w->shared && (unsigned long)g->x * g->y * g->z > 1u << (LAUNCH - BLOCK);
    if (differs & IN_BLOCK || (may_be_another && is_released(other))) return !is_released(other);
    return differs & BITS(THREAD, BLOCK) && !cpu_happens_before(cpu_checker, other, me);
}

static inline bool is_race(uint64_t other, uint64_t me, const struct cpu_where *w, int kind)
{
    if (!(other & me & BYTES)) return false;
    if ((other ^ me) & w->same && !cpu_has_others) return false; // it came long before
    return is_race_now(other, me, w, kind);
}

// ---- Candidates: races that may be benign

static const void **last_access_of(uint64_t who)
{
    return &last_access[NUMBER(who, BLOCK, LAUNCH) % 1024];
}

void cpu_begin_block_of_races(void)
{
    __atomic_store_n(last_access_of(cpu_checker->block), cpu_checker, __ATOMIC_RELEASE);
}

void cpu_end_block_of_races(void)
{
    if (cpu_checker->block) // else this core has had no block
        __atomic_store_n(last_access_of(cpu_checker->block), NULL, __ATOMIC_RELEASE);
}

static void close_short_cuts(struct cpu_checker *k)
{
    k->has_candidates = k->has_no_short_cuts = true;
    memset(k->quiet, 0, sizeof k->quiet);
}

static bool is_same_access(const struct cpu_candidate *c, const struct cpu_access *x, uint64_t me)
{
    return c->access.address == x->address && !((c->me ^ me) & ~BYTES);
}

// Another block that was noted at the address of this write has perhaps not done its own write yet. It does so now,
// unless the operating system lets it wait; or it waits here itself for this core, before it notes what it is about to
// write: then what is noted of it has been done. True if it is there still.
static bool is_still_there(const struct cpu_access *x, uint64_t me, uint64_t other)
{
    __atomic_store_n(last_access_of(me), cpu_checker, __ATOMIC_RELEASE);
    bool is_there = true;
    for (int tries = 0; tries < 1000 && is_there; tries++) {
        sched_yield();
        is_there = __atomic_load_n(last_access_of(other), __ATOMIC_ACQUIRE) == x->address;
    }
    return is_there;
}

static struct cpu_candidate *keep(const struct cpu_access *x, uint64_t me, uint64_t other,
                                  const char *name)
{
    struct cpu_checker *k = cpu_checker;
    struct cpu_candidate *c = k->candidates, *end = c + sizeof k->candidates / sizeof *c;
    while (c < end && c->is_there && !is_same_access(c, x, me)) c++;
    if (c == end || (c->is_there && !c->is_open)) return NULL; // that one decides
    *c = (struct cpu_candidate){
        .access = *x, .me = me, .other = other, .name = name, .is_there = true};
    close_short_cuts(k);
    memcpy(c->before, x->address, x->bytes);
    return c;
}

// A thread of another warp reads what a volatile write has changed. It finds what was there before the last barrier of
// the block: a loop that waits for the new value reads again, before the thread writes anything. Which of these comes
// next decides, once for each place in the code.
static const void *decided[64];
static unsigned decided_count;

static bool keep_poll(const struct cpu_access *x, uint64_t me, uint64_t other, const char *name)
{
    unsigned count = __atomic_load_n(&decided_count, __ATOMIC_ACQUIRE);
    for (unsigned i = 0; i < count; i++)
        if (decided[i] == x->place) return false;
    struct cpu_candidate *c = keep(x, me, other, name);
    if (c) c->is_poll = true;
    return c;
}

static void decide_poll(struct cpu_candidate *c, const struct cpu_access *next)
{
    uint64_t here = cpu_checker->shared | (uint64_t)cpu_thread_number() << THREAD;
    bool is_here = next && !((c->me ^ here) & ~BITS(0, THREAD)),
         is_write = is_here && next->kind & WRITE;
    bool is_again = is_here && next->address == c->access.address;
    c->is_there = next && !((c->me ^ here) & IN_BLOCK) && !is_write && !is_again;
    if (!is_write && !is_again) return;
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    if (decided_count < sizeof decided / sizeof *decided) {
        decided[decided_count] = c->access.place;
        __atomic_store_n(&decided_count, decided_count + 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
    if (is_write) cpu_tell_race(&c->access, c->me, c->other, c->name);
}

// Of a race it is reported at once, or known only later, whether it is benign. Two threads may write the same value,
// also over what a third has read: it is compared at the next access. A thread may read what others change by atomics,
// if the next that it does there is an atomic itself, as in a loop around atomicCAS: if the read is this one, the next
// access decides; if it is the other one, of a thread that has not gone on, nobody knows yet. True if it is reported.
static __attribute__((noinline)) bool report_or_keep(const struct cpu_access *x, uint64_t me,
                                                     uint64_t other, const uint64_t *cell,
                                                     const char *name)
{
    struct cpu_checker *k = cpu_checker;
    int others = cpu_kind_at(other);
    bool is_other_block = (me ^ other) & BITS(BLOCK, LAUNCH);
    const void *last =
        is_other_block ? __atomic_load_n(last_access_of(other), __ATOMIC_ACQUIRE) : NULL;
    bool is_plain = !(others & ATOMIC) && x->kind == WRITE, is_at_it = last == x->address;
    if (is_plain && is_at_it) is_at_it = is_still_there(x, me, other);
    if (is_plain) __atomic_store_n(last_access_of(me), x->address, __ATOMIC_RELEASE);
    bool has_gone_on = __atomic_load_n(cell, __ATOMIC_ACQUIRE) != other;
    bool is_under_way = is_other_block ? last != NULL : cpu_gave_turn(NUMBER(other, THREAD, BLOCK));
    if (x->kind & ATOMIC && x->kind & WRITE && others == READ && (is_under_way || has_gone_on))
        return false;
    bool may_be_benign = is_plain || x->kind & VOLATILE & others ||
                         (x->kind == READ && others & ATOMIC && others & WRITE);
    if (x->bytes > sizeof k->candidates[0].before || !may_be_benign ||
        (x->kind & VOLATILE && !(x->kind & WRITE))) {
        cpu_tell_race(x, me, other, name);
        return true;
    }
    struct cpu_candidate *c = keep(x, me, other, name);
    if (c) c->is_open = is_at_it && others & WRITE; // what is there now may not be what it writes
    return false;
}

// Writes `now` over `old`, but not over what another core has written meanwhile.
static bool exchange(char *at, const char *old, const char *now, size_t bytes)
{
#define EXCHANGE(T) \
    { \
        T seen, next; \
        memcpy(&seen, old, sizeof(T)), memcpy(&next, now, sizeof(T)); \
        return __atomic_compare_exchange_n((T *)at, &seen, next, false, __ATOMIC_SEQ_CST, \
                                           __ATOMIC_SEQ_CST); \
    }
    if (bytes == 1) EXCHANGE(uint8_t)
    if (bytes == 2 && (uintptr_t)at % 2 == 0) EXCHANGE(uint16_t)
    if (bytes == 4 && (uintptr_t)at % 4 == 0) EXCHANGE(uint32_t)
    if (bytes == 8 && (uintptr_t)at % 8 == 0) EXCHANGE(uint64_t)
    bool is_old = memcmp(at, old, bytes) == 0;
    if (is_old) memcpy(at, now, bytes);
    return is_old;
}

// On a GPU a racing read may come before the write, which here has been done: it finds what was there before.
static void give_old_value(const struct cpu_access *x, char *to, const char *before, size_t bytes)
{
    struct cpu_checker *k = cpu_checker;
    if (x->bytes > sizeof k->stale.now || x->kind & WRITE) return;
    char put[sizeof k->stale.put];
    if (!k->stale.bytes) memcpy(k->stale.now, x->address, x->bytes);
    if (!k->stale.bytes) memcpy(k->stale.put, k->stale.now, x->bytes);
    k->stale.address = (char *)x->address;
    k->stale.bytes = x->bytes;
    memcpy(put, k->stale.put, x->bytes);
    memcpy(put + (to - x->address), before, bytes);
    if (exchange(k->stale.address, k->stale.put, put, x->bytes))
        memcpy(k->stale.put, put, x->bytes);
    close_short_cuts(k);
}

// A write is benign if it has changed nothing. A read is, if an atomic at the same address follows in this thread:
// until another thread comes, that is open; a thread that gave its turn did so because an atomic comes next.
static void decide(struct cpu_candidate *c, const struct cpu_access *next)
{
    struct cpu_checker *k = cpu_checker;
    const struct cpu_access *x = &c->access;
    uint64_t now_here =
        (c->name ? k->shared : k->block) | (uint64_t)cpu_thread_number() << THREAD | k->epoch;
    bool is_same_thread = next && !((c->me ^ now_here) & ~BITS(0, EPOCH));
    bool is_atomic_next = next && next->address == x->address && next->kind & ATOMIC;
    c->is_there = x->kind == READ && is_same_thread && !is_atomic_next;
    bool is_under_way = is_same_thread || cpu_gave_turn(NUMBER(c->me, THREAD, BLOCK));
    bool is_benign =
        x->kind == READ ? is_under_way : c->is_open || memcmp(x->address, c->before, x->bytes) == 0;
    if (!is_benign) cpu_tell_race(x, c->me, c->other, c->name);
}

// The next access of this core comes: what was put in a racing read's way goes, and what was kept is decided.
void cpu_decide_races(const struct cpu_access *next)
{
    struct cpu_checker *k = cpu_checker;
    if (k->stale.bytes) exchange(k->stale.address, k->stale.put, k->stale.now, k->stale.bytes);
    k->stale.bytes = 0;
    k->has_candidates = false;
    for (size_t i = 0; i < sizeof k->candidates / sizeof k->candidates[0]; i++) {
        if (k->candidates[i].is_there)
            (k->candidates[i].is_poll ? decide_poll : decide)(&k->candidates[i], next);
        k->has_candidates |= k->candidates[i].is_there;
    }
    k->has_no_short_cuts =
        cpu_takes_no_short_cuts || k->has_candidates || cpu_is_recording || cpu_has_others;
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
    if (cpu_happens_before(cpu_checker, reader, me)) return -1;
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

// Whether a volatile write is to what this thread has read or written before, for is_in_step. In global memory a search
// may read and write the same again and again; who writes it in one line and then in another has an array as older
// lessons have it.
static inline bool is_again(const struct cpu_access *x, const struct cpu_where *w, uint64_t who)
{
    size_t i = w->offset / 4, cells = w->shared ? 3 : 1;
    for (size_t j = 0; x->kind & VOLATILE && x->kind & WRITE && j < cells; j++) {
        uint64_t by = j ? w->cells.readers[2 * i + j - 1] : w->cells.writers[i];
        bool is_elsewhere = w->shared || cpu_place_at(by) != x->place;
        if (!((by ^ who) & ~BITS(0, EPOCH)) && is_elsewhere) return true;
    }
    return false;
}

// The way of each access that hooks.c has not let through. For each four bytes of it: is it in a race with the last
// writer, or, if it writes, with a reader? Then it is noted as the last itself.
void cpu_check_race(const struct cpu_access *x, const struct cpu_where *where)
{
    struct cpu_checker *k = cpu_checker;
    const char *name = where->shared ? where->shared->name : NULL;
    uint64_t who = where->block | (uint64_t)cpu_thread_number() << THREAD | k->epoch |
                   (x->kind & ATOMIC ? 1 << IS_ATOMIC : 0);
    int kind = is_again(x, where, who) ? x->kind | AGAIN : x->kind;
    who |= (uint64_t)cpu_site_of(x->place, kind) << SITE;
    if (x->kind & ATOMIC)
        note_atomic(x->kind);
    else
        __atomic_store_n(last_access_of(who), x->address, __ATOMIC_RELEASE);
    for (size_t i = where->offset / 4; i <= (where->offset + x->bytes - 1) / 4; i++) {
        size_t first = i * 4 < where->offset ? where->offset - i * 4 : 0;
        size_t end = where->offset + x->bytes - i * 4 < 4 ? where->offset + x->bytes - i * 4 : 4;
        uint64_t me = who | (BITS(0, end) & ~BITS(0, first)), *writer = &where->cells.writers[i],
                 old = *writer;
        uint64_t *readers = where->cells.readers ? &where->cells.readers[2 * i] : NULL,
                 *parts = where->cells.parts[i];
        char *here = (char *)x->address + (i * 4 + first - where->offset),
             *before = (char *)&where->cells.olds[i] + first;
        bool is_mine = !((old ^ me) & ~BITS(0, EPOCH)); // since this thread has waited last
        bool is_racing = !is_mine && is_race(old, me, where, x->kind);
        bool is_poll = is_racing && x->kind & VOLATILE && !is_of_one_warp(me, old);
        if (is_poll ? keep_poll(x, me, old, name)
                    : is_racing && report_or_keep(x, me, old, writer, name) &&
                          cpu_kind_at(old) == WRITE)
            give_old_value(x, here, before, end - first);
        for (size_t n = first; n < end; n++) {
            uint64_t part = cpu_writer_of(old, parts, n);
            if (part != old && is_race(part, me, where, x->kind))
                report_or_keep(x, me, part, &parts[n], name);
        }
        for (int j = 0; readers && j < 2; j++) {
            // another core may change it; two that only read are in no race; one that has written, too, is the last
            // writer, or was, which counts for no volatile read
            uint64_t reader = __atomic_load_n(&readers[j], __ATOMIC_ACQUIRE);
            bool may_race = x->kind & WRITE || (reader & 1 << IS_ATOMIC && !(x->kind & VOLATILE));
            if (may_race && reader != me && is_race(reader, me, where, x->kind))
                report_or_keep(x, me, reader, &readers[j], name);
        }
        bool is_awaited = NUMBER(old, EPOCH, THREAD) < k->block_epoch; // a barrier lies between
        bool is_first = x->kind == WRITE
                            ? !is_mine || me & ~old & BYTES
                            : x->kind & WRITE && (is_awaited || (old ^ me) & where->same);
        if (is_first && !is_racing) memcpy(before, here, end - first);
        // An atomic does not make up for what its block has written before: who did not wait is in a race with that.
        bool is_hiding = x->kind & ATOMIC && cpu_kind_at(old) == WRITE &&
                         !(is_awaited && (name || x->kind & VOLATILE)) &&
                         !((old ^ me) & IN_BLOCK) && !is_racing;
        if (x->kind & WRITE && !is_hiding) cpu_change_writer(writer, parts, cpu_joined(k, old, me));
        if (x->kind != WRITE && readers) add_reader(readers, me, where->same);
    }
}
