// Every load and store of a kernel is looked at: g++ -fsanitize=thread puts a call in front of each, and
// what it calls is here, in place of its runtime library. What is usual is let through at once.
#include "check.h"
#include <string.h>

__thread struct cpu_checker *cpu_checker;

// A read that adds nothing to what is known: who wrote came before all threads waited, or before this
// launch, and two readers are noted that any later writer is in a race with, if it is in one with this.
static inline bool is_known(const uint64_t *writer, const uint64_t *readers,
                            const struct cpu_checker *k, uint64_t block, uint64_t same)
{
    uint64_t write = *writer ^ block, first = readers[0], second = readers[1];
    if (!(write & same) && (write & IN_BLOCK || NUMBER(*writer, EPOCH, THREAD) >= k->block_epoch))
        return false;
    if (((first ^ block) | (second ^ block)) & same || ~(first & second) & BYTES ||
        (first | second) & 1 << IS_ATOMIC)
        return false;
    if ((first ^ second) & IN_BLOCK) return true;
    if (((first ^ block) | (second ^ block)) & IN_BLOCK) return false;
    unsigned since = k->block_epoch;
    if (!((first ^ second) &
          BITS(THREAD + 5, BLOCK))) { // of one warp: enough if it is this thread's
        unsigned warp = cpu_thread_number() / 32;
        if (NUMBER(first, THREAD + 5, BLOCK) != warp ||
            !((first ^ second) & BITS(THREAD, THREAD + 5)))
            return false;
        if (k->warps[warp].waited > since) since = k->warps[warp].waited;
    }
    return NUMBER(first, EPOCH, THREAD) >= since && NUMBER(second, EPOCH, THREAD) >= since;
}

static inline bool is_usual(const struct cpu_checker *k, const char *address, size_t bytes,
                            int kind)
{
    if ((size_t)(address - k->stacks) < k->stack_bytes) return true;
    if (kind != READ || k->has_no_short_cuts) return false;
    uintptr_t unit = ((uintptr_t)address - cpu_first_place) / CPU_UNIT;
    bool is_cell = bytes == 4 && (uintptr_t)address % 4 == 0;
    if (unit < CPU_UNITS) {
        const struct cpu_allocation *a = cpu_unit[unit];
        if (!a || a->is_freed) return false;
        const struct cpu_shadow *s = &a->shadow;
        size_t offset = (size_t)(address - a->base), end = offset + bytes;
        if (offset >= a->bytes || end > s->all_written || end > a->bytes) return false;
        if (s->quiet_launch == cpu_launches || offset & s->skipped) return true;
        return is_cell && s->read_launch == cpu_launches &&
               is_known(&s->writers[offset / 4], &s->readers[offset / 2], k, k->block, IN_LAUNCH);
    }
    for (unsigned i = 0; is_cell && i < k->count && i < 3; i++) {
        const struct cpu_shared *v = &k->variables[i];
        size_t offset = (size_t)(address - v->base);
        if (offset < v->bytes && offset + 4 <= v->bytes && offset % 4 == 0)
            return !((v->cells.writers[offset / 4] ^ k->shared) & IN_BLOCK) &&
                   is_known(v->cells.writers + offset / 4, v->cells.readers + offset / 2, k,
                            k->shared, IN_BLOCK);
    }
    return false;
}

// A thread that only reads, again and again, what is volatile or atomic waits for another one.
static void note_spin(bool has_changed)
{
    enum { PATIENCE = 256 };
    static __thread unsigned times;
    static __thread uint3 who;
    if (!cpu_running) return;
    if (has_changed || memcmp(&who, &threadIdx, sizeof who) != 0) times = 0;
    who = threadIdx;
    if (++times % PATIENCE == 0) cpu_spin();
}

static inline __attribute__((always_inline)) void look(const void *address, size_t bytes, int kind,
                                                       const void *place)
{
    struct cpu_checker *k = cpu_checker;
    if (!k || !bytes || is_usual(k, address, bytes, kind)) return;
    const struct cpu_access access = {address, bytes, kind, place};
    cpu_look_closely(&access);
}

static void look_and_spin(const void *address, size_t bytes, int kind, const void *place)
{
    note_spin(kind & WRITE); // first: what others do meanwhile comes before this access
    look(address, bytes, kind, place);
}

// ---- What g++ and clang++ call, for each size

#define HERE __builtin_return_address(0)
#define LOOKS(n, T) \
    PUBLIC void __tsan_read##n(T *p) { look(p, n, READ, HERE); } \
    PUBLIC void __tsan_write##n(T *p) { look(p, n, WRITE, HERE); } \
    PUBLIC void __tsan_unaligned_read##n(T *p) { look(p, n, READ, HERE); } \
    PUBLIC void __tsan_unaligned_write##n(T *p) { look(p, n, WRITE, HERE); } \
    PUBLIC void __tsan_volatile_read##n(T *p) { look_and_spin(p, n, ATOMIC, HERE); } \
    PUBLIC void __tsan_volatile_write##n(T *p) { look_and_spin(p, n, ATOMIC | WRITE, HERE); } \
    PUBLIC void __tsan_unaligned_volatile_read##n(T *p) { look_and_spin(p, n, ATOMIC, HERE); } \
    PUBLIC void __tsan_unaligned_volatile_write##n(T *p) \
    { \
        look_and_spin(p, n, ATOMIC | WRITE, HERE); \
    }
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
PUBLIC void __tsan_vptr_update(void **p, void *value) { (void)p, (void)value; }
PUBLIC void __tsan_vptr_read(void **p) { (void)p; }

// ---- Atomics: the compiler leaves doing them to us as well

// What ../include takes for atomics such as atomicAdd_block.
#define SCOPE(order) ((order) == __ATOMIC_RELEASE ? IN_ONE_BLOCK : 0)
#define FETCH(bits, T, name) \
    PUBLIC T __tsan_atomic##bits##_fetch_##name(T *p, T value, int order) \
    { \
        (void)order; \
        look(p, sizeof *p, ATOMIC | WRITE, HERE); \
        return __atomic_fetch_##name(p, value, __ATOMIC_SEQ_CST); \
    }
#define EXCHANGE(bits, T, name) \
    PUBLIC bool __tsan_atomic##bits##_compare_exchange_##name(T *p, T *seen, T value, int yes, \
                                                              int no) \
    { \
        (void)no; \
        look(p, sizeof *p, ATOMIC | WRITE | SCOPE(yes), HERE); \
        bool is_done = __atomic_compare_exchange_n(p, seen, value, false, __ATOMIC_SEQ_CST, \
                                                   __ATOMIC_SEQ_CST); \
        note_spin(is_done &&*seen != value); \
        return is_done; \
    }
#define ATOMICS(bits, T) \
    FETCH(bits, T, add) \
    FETCH(bits, T, sub) \
    FETCH(bits, T, and) \
    FETCH(bits, T, or) \
    FETCH(bits, T, xor) \
    FETCH(bits, T, nand) \
    EXCHANGE(bits, T, strong) \
    EXCHANGE(bits, T, weak) \
    PUBLIC T __tsan_atomic##bits##_compare_exchange_val(T *p, T seen, T value, int yes, int no) \
    { \
        (void)no; \
        look(p, sizeof *p, ATOMIC | WRITE | SCOPE(yes), HERE); \
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
        look(p, sizeof *p, ATOMIC | WRITE, HERE); \
        __atomic_store_n(p, value, __ATOMIC_SEQ_CST); \
    } \
    PUBLIC T __tsan_atomic##bits##_exchange(T *p, T value, int order) \
    { \
        (void)order; \
        look(p, sizeof *p, ATOMIC | WRITE, HERE); \
        return __atomic_exchange_n(p, value, __ATOMIC_SEQ_CST); \
    }
ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)
PUBLIC void __tsan_atomic_signal_fence(int order) { (void)order; }
PUBLIC void __tsan_atomic_thread_fence(int order)
{
    (void)order;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
PUBLIC void cpu_cuda_fence(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (cpu_checker) cpu_note_fence();
}

// ---- memcpy and its like: ../nvcc links with --wrap, newer compilers have names of their own

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
