// ThreadSanitizer's interface: g++ -fsanitize=thread instruments every load and store of a kernel with a call, and what
// it calls is here, in place of its runtime library.
//
// Most accesses take a short cut: note() lets through at once what is in bounds, written, and plain, if all that is in
// its cells is of the same thread, or past (of an earlier launch, or before the last barrier of the whole block), or if
// both only read. That is less than happens-before in races.c: a short cut may leave to races.c what is no race, and
// must let through no access that is in one. In the cells it notes what races.c would have noted, but for a reader
// where two others do for every later writer. With CPU_CUDA_SHORT_CUTS=0 none is taken, and every verdict has to stay
// the same.
#include "check.h"
#include <stdlib.h>
#include <string.h>

#define INLINE inline __attribute__((always_inline)) // for each size of its own

// Four bytes, and the access to some of them.
struct cell {
    uint64_t *writer, *readers, *parts;
    char *old;
    const char *address;
    size_t size;
    uint64_t block, same, bytes; // as in struct cpu_where; which of the four
};

static INLINE bool is_thread(uint64_t cell, uint64_t me)
{
    return !((cell ^ me) & ~BITS(0, THREAD));
}

// What is of an earlier launch, or another block's shared memory, or before all threads of this block have waited.
static INLINE bool is_past(uint64_t cell, const struct cell *c, const struct cpu_checker *k)
{
    uint64_t differs = cell ^ c->block;
    return differs & c->same ||
           (!(differs & IN_BLOCK) && NUMBER(cell, EPOCH, THREAD) < k->block_epoch);
}

// The same for those who wrote other bytes than the last writer; and of shared memory, all that is read has been written.
static INLINE bool are_parts_past(const struct cell *c, int kind, const struct cpu_checker *k)
{
    uint64_t me = c->block | (uint64_t)cpu_thread_number() << THREAD;
    for (uint64_t left = c->bytes & ~*c->writer; left; left &= left - 1) {
        size_t n = (size_t)__builtin_ctzl(left);
        bool is_unwritten = c->same == IN_BLOCK && (c->parts[n] ^ c->block) & IN_BLOCK;
        if (kind == READ && is_unwritten && c->bytes != BYTES) return false;
        if (!is_past(c->parts[n], c, k) && !is_thread(c->parts[n], me)) return false;
    }
    return true;
}

// A reader adds nothing if two are noted already that any later writer is in a race with, if it is in one with it.
static INLINE bool is_known(const struct cell *c, const struct cpu_checker *k)
{
    uint64_t first = c->readers[0], second = c->readers[1], differ = first ^ second;
    if (((first ^ c->block) | (second ^ c->block)) & c->same || (first | second) & 1 << IS_ATOMIC)
        return false;
    if (c->bytes & ~(first & second)) { // is this thread noted as one that has read others?
        uint64_t me = c->block | (uint64_t)cpu_thread_number() << THREAD;
        if ((is_thread(first, me) && c->bytes & ~first) ||
            (is_thread(second, me) && c->bytes & ~second))
            return false;
    }
    if (differ & IN_BLOCK) return true;
    if (((first ^ c->block) | (second ^ c->block)) & IN_BLOCK) return false;
    unsigned since = k->block_epoch;
    if (!(differ & BITS(THREAD + 5, BLOCK))) { // of one warp: enough if it is this thread's
        unsigned warp = cpu_thread_number() / 32;
        if (NUMBER(first, THREAD + 5, BLOCK) != warp || !(differ & BITS(THREAD, THREAD + 5)))
            return false;
        if (k->warps[warp].waited > since) since = k->warps[warp].waited;
    }
    return NUMBER(first, EPOCH, THREAD) >= since && NUMBER(second, EPOCH, THREAD) >= since;
}

// Notes an access that comes after all that there is in the cell, or is the same thread's. False: look closely.
static INLINE bool note(const struct cell *c, int kind, const void *place, struct cpu_checker *k)
{
    uint64_t writer = *c->writer;
    bool is_unwritten = c->same == IN_BLOCK && (writer ^ c->block) & IN_BLOCK;
    bool is_apart = is_past(writer, c, k) || !(writer & c->bytes);
    if (kind == READ && is_unwritten) return false;
    if (writer & BYTES && c->bytes & ~writer && !are_parts_past(c, kind, k)) return false;
    if (kind == READ && is_apart && is_known(c, k)) return true;
    uint64_t me = c->block | (uint64_t)cpu_thread_number() << THREAD | k->epoch |
                  (uint64_t)cpu_site_of(place, kind) << SITE | c->bytes;
    bool is_mine = is_thread(writer, me);
    if (!is_mine && !is_apart) return false;
    if (kind == READ) {
        bool is_first_free = is_past(c->readers[0], c, k), is_free = is_past(c->readers[1], c, k);
        if (!is_first_free && (!is_free || c->readers[0] & 1 << IS_ATOMIC)) return false;
        if (!is_free && c->readers[1] & 1 << IS_ATOMIC) return false;
        c->readers[!is_first_free] = me;
        return true;
    }
    for (int i = 0; c->readers && i < 2; i++)
        if (!is_past(c->readers[i], c, k) && !is_thread(c->readers[i], me) &&
            c->readers[i] & c->bytes)
            return false;
    if (!is_mine || (writer ^ me) & BITS(EPOCH, THREAD) || c->bytes & ~writer)
        memcpy(c->old, c->address, c->size);
    cpu_change_writer(c->writer, c->parts,
                      c->bytes == BYTES || !is_mine ? me : cpu_joined(k, writer, me));
    return true;
}

static INLINE bool note_cells(const struct cpu_cells *cells, const char *address, size_t offset,
                              size_t bytes, int kind, const void *place, struct cpu_checker *k,
                              uint64_t block, uint64_t same)
{
    size_t in_first = bytes < 4 ? offset % 4 : 0, first = offset / 4;
    if (bytes < 4 ? in_first + bytes > 4 : offset % 4) return false;
    for (size_t i = first; i < first + (bytes + 3) / 4; i++) {
        const struct cell c = {.writer = cells->writers + i,
                               .readers = cells->readers ? cells->readers + 2 * i : NULL,
                               .parts = cells->parts[i],
                               .old = (char *)(cells->olds + i) + in_first,
                               .address = address + (i * 4 - offset + in_first),
                               .size = bytes < 4 ? bytes : 4,
                               .block = block,
                               .same = same,
                               .bytes = bytes < 4 ? BITS(0, in_first + bytes) & ~BITS(0, in_first)
                                                  : BYTES};
        if (!note(&c, kind, place, k)) return false;
    }
    return true;
}

static INLINE bool is_usual(struct cpu_checker *k, const char *address, size_t bytes, int kind,
                            const void *place)
{
    if (bytes > 16 || kind & ATOMIC || k->has_no_short_cuts) return false;
    uintptr_t unit = ((uintptr_t)address - cpu_first_place) / CPU_UNIT;
    if (unit < CPU_UNITS) {
        const struct cpu_allocation *a = cpu_unit[unit];
        if (!a || a->freed_by) return false;
        const struct cpu_shadow *s = &a->shadow;
        size_t offset = (size_t)(address - a->base), end = offset + bytes;
        if (offset >= a->bytes || end > s->all_written || end > a->bytes) return false;
        if (s->quiet_launch == cpu_launches) {
            if (kind == READ && s->all_written > 16)
                k->quiet[k->next_quiet++ % 2] = (struct cpu_window){a->base, s->all_written - 15};
            return kind == READ;
        }
        if (offset & s->skipped) return true;
        bool is_read = s->read_launch == cpu_launches;
        const struct cpu_cells cells = {s->writers, is_read ? s->readers : NULL, s->olds, s->parts};
        return (is_read || kind == WRITE) &&
               note_cells(&cells, address, offset, bytes, kind, place, k, k->block, IN_LAUNCH);
    }
    const struct cpu_shared *v = k->variables; // those that are not there have no bytes
    while ((size_t)(address - v->base) >= v->bytes)
        if (++v == k->variables + 3) return false;
    size_t offset = (size_t)(address - v->base);
    return offset + bytes <= v->bytes &&
           note_cells(&v->cells, address, offset, bytes, kind, place, k, k->shared, IN_BLOCK);
}

static INLINE bool is_quiet(const char *p, size_t bytes, int kind, size_t step)
{
    const struct cpu_checker *k = cpu_checker;
    if (!k || !bytes) return true;
    return (uintptr_t)p % step == 0 && ((kind == READ && bytes <= 16 &&
                                         ((size_t)(p - k->quiet[0].start) < k->quiet[0].room ||
                                          (size_t)(p - k->quiet[1].start) < k->quiet[1].room)) ||
                                        (size_t)(p - k->stacks) < k->stack_bytes);
}

static INLINE void look_further(const void *address, size_t bytes, int kind, const void *place,
                                size_t step)
{
    if ((uintptr_t)address % step)
        cpu_complain(
            cudaErrorMisalignedAddress, &(const struct cpu_access){address, bytes, kind, place},
            "%s %zu bytes at an address that is no multiple of %zu", cpu_verb(kind), bytes, step);
    if (!is_usual(cpu_checker, address, bytes, kind, place))
        cpu_look_closely(address, bytes, kind, place);
}

static INLINE void look(const void *address, size_t bytes, int kind, const void *place)
{
    if (!is_quiet(address, bytes, kind, 1)) look_further(address, bytes, kind, place, 1);
}

// An access of 16 bytes may be to a struct of two doubles; a float4's is looked at in ../runtime/fault.c.
#define STEP(bytes) ((bytes) < 8 ? (bytes) : 8)
static INLINE void look_aligned(const void *address, size_t bytes, int kind, const void *place)
{
    if (!is_quiet(address, bytes, kind, STEP(bytes)))
        look_further(address, bytes, kind, place, STEP(bytes));
}

static void look_and_spin(const void *address, size_t bytes, int kind, const void *place)
{
    cpu_note_spin(kind & WRITE); // first: what others do meanwhile comes before this access
    struct cpu_checker *k = cpu_checker;
    if (cpu_wants_turn()) {
        unsigned recorded = k ? k->recorded : 0;
        if (!(kind & WRITE))
            look(address, bytes, kind, place); // a plain read before it is then known as harmless
        if (k) k->recorded = recorded;
        if (!k || !k->has_candidates) cpu_give_turn(kind & VOLATILE);
    }
    look_aligned(address, bytes, kind, place);
}

// ---- What g++ and clang++ call, for each size

#define LOOK(n, T, name, how, kind) \
    PUBLIC void __tsan_##name##n(T *p) { how(p, n, kind, HERE); }
// What is quiet has few instructions: the rest, which saves registers, is a function of its own.
#define LOOK_PLAIN(n, T, name, step, kind) \
    static __attribute__((noinline)) void name##_further##n(T *p, const void *place) \
    { \
        look_further(p, n, kind, place, step); \
    } \
    PUBLIC void __tsan_##name##n(T *p) \
    { \
        if (!is_quiet((const char *)p, n, kind, step)) name##_further##n(p, HERE); \
    }
#define LOOKS(n, T) \
    LOOK_PLAIN(n, T, read, STEP(n), READ) \
    LOOK_PLAIN(n, T, write, STEP(n), WRITE) \
    LOOK(n, T, unaligned_read, look, READ) \
    LOOK(n, T, unaligned_write, look, WRITE) \
    LOOK(n, T, volatile_read, look_and_spin, ATOMIC | VOLATILE) \
    LOOK(n, T, volatile_write, look_and_spin, ATOMIC | VOLATILE | WRITE) \
    LOOK(n, T, unaligned_volatile_read, look, ATOMIC | VOLATILE) \
    LOOK(n, T, unaligned_volatile_write, look, ATOMIC | VOLATILE | WRITE)
LOOKS(1, uint8_t)
LOOKS(2, uint16_t)
LOOKS(4, uint32_t)
LOOKS(8, uint64_t)
LOOKS(16, void)
PUBLIC void __tsan_read_range(const void *p, size_t n) { look(p, n, READ, HERE); }
PUBLIC void __tsan_write_range(void *p, size_t n) { look(p, n, WRITE, HERE); }
PUBLIC void __tsan_init(void) {}
PUBLIC void __tsan_func_entry(void *p) { (void)p; }
PUBLIC void __tsan_func_exit(void) {}
PUBLIC void __tsan_vptr_update(void **p, void *value)
{
    if (cpu_checker) cpu_note_table(value);
    look_aligned(p, sizeof *p, WRITE, HERE);
}
// clang++'s, which does not show that the table is read, nor a local object's
PUBLIC void __tsan_vptr_read(void **p)
{
    const struct cpu_checker *k = cpu_checker;
    look_aligned(p, sizeof *p, READ, HERE);
    if (k && (size_t)((char *)p - k->stacks) >= k->stack_bytes) cpu_check_read(*p, sizeof *p, HERE);
}

// ---- Atomics: the compiler leaves doing them to us as well

// What ../include takes for atomics such as atomicAdd_block.
#define SCOPE(order) ((order) == __ATOMIC_RELEASE ? IN_ONE_BLOCK : 0)

// What is a thread's own is in local memory: of an atomic on that nvcc warns, and makes a trap of it.
static INLINE void look_atomic(const void *address, size_t bytes, int kind, const void *place)
{
    const struct cpu_checker *k = cpu_checker;
    if (k && (size_t)((const char *)address - k->stacks) < k->stack_bytes)
        cpu_complain(cudaErrorLaunchFailure,
                     &(const struct cpu_access){address, bytes, kind, place},
                     "does an atomic on a variable of its own, which no GPU can");
    look_aligned(address, bytes, kind, place);
}
#define CHANGE(bits, T, name, operation) \
    PUBLIC T __tsan_atomic##bits##_##name(T *p, T value, int order) \
    { \
        (void)order; \
        look_atomic(p, sizeof *p, ATOMIC | WRITE, HERE); \
        return __atomic_##operation(p, value, __ATOMIC_SEQ_CST); \
    }
#define COMPARE(bits, T, name) \
    PUBLIC bool __tsan_atomic##bits##_compare_exchange_##name(T *p, T *seen, T value, int yes, \
                                                              int no) \
    { \
        (void)no; \
        look_atomic(p, sizeof *p, ATOMIC | WRITE | SCOPE(yes), HERE); \
        bool is_done = __atomic_compare_exchange_n(p, seen, value, false, __ATOMIC_SEQ_CST, \
                                                   __ATOMIC_SEQ_CST); \
        cpu_note_spin(*seen != value && is_done); \
        return is_done; \
    }
#define ATOMICS(bits, T) \
    CHANGE(bits, T, fetch_add, fetch_add) \
    CHANGE(bits, T, fetch_sub, fetch_sub) \
    CHANGE(bits, T, fetch_and, fetch_and) \
    CHANGE(bits, T, fetch_or, fetch_or) \
    CHANGE(bits, T, fetch_xor, fetch_xor) \
    CHANGE(bits, T, fetch_nand, fetch_nand) \
    CHANGE(bits, T, exchange, exchange_n) \
    COMPARE(bits, T, strong) \
    COMPARE(bits, T, weak) \
    PUBLIC T __tsan_atomic##bits##_compare_exchange_val(T *p, T seen, T value, int yes, int no) \
    { \
        (void)no; \
        look_atomic(p, sizeof *p, ATOMIC | WRITE | SCOPE(yes), HERE); \
        __atomic_compare_exchange_n(p, &seen, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
        return seen; \
    } \
    PUBLIC T __tsan_atomic##bits##_load(const T *p, int order) \
    { \
        (void)order; \
        look_and_spin(p, sizeof *p, ATOMIC, HERE); \
        return __atomic_load_n(p, __ATOMIC_SEQ_CST); \
    } \
    PUBLIC void __tsan_atomic##bits##_store(T *p, T value, int order) \
    { \
        (void)order; \
        look_aligned(p, sizeof *p, ATOMIC | WRITE, HERE); \
        __atomic_store_n(p, value, __ATOMIC_SEQ_CST); \
    }
ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)
// For atomicExch: what it reads, where its result is used; and others may come before it.
PUBLIC int cpu_cuda_reads(const void *p, size_t bytes)
{
    look_aligned(p, bytes, ATOMIC, HERE);
    return 0;
}
PUBLIC void cpu_cuda_give_turn(void)
{
    if (cpu_wants_turn() && !(cpu_checker && cpu_checker->has_candidates)) cpu_give_turn(false);
}
PUBLIC void __tsan_atomic_signal_fence(int order) { (void)order; }
PUBLIC void __tsan_atomic_thread_fence(int order)
{
    (void)order;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
PUBLIC void cpu_cuda_fence(bool is_for_block)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (cpu_checker) cpu_note_fence(is_for_block);
}

// ---- memcpy and its like: ../nvcc names them so in object files, newer compilers have names of their own

PUBLIC void *__wrap_memcpy(void *to, const void *from, size_t n)
{
    look(from, n, READ, HERE);
    look(to, n, WRITE, HERE);
    return memcpy(to, from, n);
}
PUBLIC void *__wrap_memmove(void *to, const void *from, size_t n)
{
    look(from, n, READ, HERE);
    look(to, n, WRITE, HERE);
    return memmove(to, from, n);
}
PUBLIC void *__wrap_memset(void *to, int value, size_t n)
{
    look(to, n, WRITE, HERE);
    return memset(to, value, n);
}
PUBLIC void *__tsan_memcpy(void *, const void *, size_t) __attribute__((alias("__wrap_memcpy")));
PUBLIC void *__tsan_memmove(void *, const void *, size_t) __attribute__((alias("__wrap_memmove")));
PUBLIC void *__tsan_memset(void *, int, size_t) __attribute__((alias("__wrap_memset")));

// ---- What the runtime tells, if somebody is to look

__attribute__((constructor)) static void begin(void)
{
    const char *short_cuts = getenv("CPU_CUDA_SHORT_CUTS");
    cpu_takes_no_short_cuts = short_cuts && strcmp(short_cuts, "0") == 0;
    const char *check = getenv("CPU_CUDA_CHECK");
    if ((check && strcmp(check, "0") == 0) || cpu_has_asan()) return;
    cpu_checks = (struct cpu_checks){
        .track = cpu_track,
        .untrack = cpu_untrack,
        .work = cpu_begin_work,
        .copy = cpu_check_copy,
        .host = cpu_check_host,
        .launch = cpu_check_launch,
        .launched = cpu_end_record,
        .core = cpu_check_core,
        .core_ends = cpu_check_core_end,
        .block = cpu_check_block,
        .waited = cpu_check_waited,
        .grid_waited = cpu_note_launch,
        .block_goes_on = cpu_check_block_goes_on,
        .shared = cpu_cuda_shared,
        .read = cpu_check_read,
        .program_ends = cpu_draw_record,
    };
}
