// What the files of check/ share. An access of a kernel comes in at hooks.c, bounds.c looks where it is,
// races.c who else was there, and tell.c says what is wrong.
#pragma once
#include "../runtime/runtime.h"

// volatile counts as atomic; IN_ONE_BLOCK: as atomicAdd_block is; AGAIN: by a thread that has read or written it before
enum { READ = 0, WRITE = 1, ATOMIC = 2, IN_ONE_BLOCK = 4, VOLATILE = 8, AGAIN = 16, KIND_BITS = 5 };

#define HERE __builtin_return_address(0)
struct cpu_access {
    const char *address;
    size_t bytes;
    int kind;
    const void *place; // in the code, behind it
};

// A cell of shadow memory: who accessed four bytes, in 64 bits; 0 if nobody has. From the lowest bit on: which of the
// four bytes, whether by an atomic, by which instruction, in which epoch (how often threads of the block had waited for
// each other), by which thread of the block, of which block and launch. Instruction, block and launch are counted
// modulo what there is room for, which can only hide a race.
enum {
    IS_ATOMIC = 4,
    SITE = 5,
    EPOCH = 14,
    THREAD = 31,
    BLOCK = 41,
    LAUNCH = 56,
    SITES = 1 << (EPOCH - SITE),
    MOST_EPOCHS = 1 << (THREAD - EPOCH),
    WARPS = 32
};
#define BITS(from, to) ((((uint64_t)1 << ((to) - (from))) - 1) << (from))
#define BYTES BITS(0, IS_ATOMIC)
#define IN_LAUNCH (BITS(LAUNCH, 63) | (uint64_t)1 << 63)
#define IN_BLOCK (BITS(BLOCK, LAUNCH) | IN_LAUNCH)
#define NUMBER(cell, from, to) ((unsigned)(((cell)&BITS(from, to)) >> (from)))

// The shadow memory of an allocation or shared variable. For each four bytes: the last writer, two readers, and what a
// thread that did not wait for the writer may still read; and if the last writer wrote only some of the bytes, the last
// writer of each other byte.
struct cpu_cells {
    uint64_t *writers, *readers;
    uint32_t *olds;
    uint64_t (*parts)[4];
};
enum { PARTS_BYTES = 32, CELL_BYTES = 28 + PARTS_BYTES };

// What is kept for a core, which runs blocks one after the other.
struct cpu_checker {
    // For the short cuts in hooks.c: reads of at most 16 bytes that begin in one of these windows are right. While a
    // race is undecided, accesses are counted, or several streams are at work, no short cut is taken.
    struct cpu_window {
        const char *start;
        size_t room;
    } quiet[2];
    bool has_candidates, has_no_short_cuts;
    unsigned next_quiet;

    // Who runs, as in a cell. In shared memory the number of a block is how many this core has begun.
    uint64_t block, shared, epoch;

    // What orders this block's accesses: the epoch that began when all its threads waited for each other last, and that
    // which began with its last __threadfence (not only __threadfence_block); whether it has done something atomic. A
    // block that has waited more often than a cell can count is late: no more races are looked for.
    unsigned block_epoch, fenced;
    bool is_first_block, is_late, has_acquired;

    // Memory that is no concern of ours: the threads' stacks; threadIdx and the like; the program's read-only memory.
    const char *stacks, *own;
    size_t stack_bytes, own_bytes;
    const char *constants, *constants_end;

    // The shared variables, dynamic shared memory first.
    struct cpu_shared {
        const char *base, *name;
        size_t bytes;
        struct cpu_cells cells;
    } variables[64];
    unsigned count;

    // Release and acquire, as epochs: the last fence of each thread, and of any lane of a warp, and the last atomic
    // write behind it, by which all before the fence is released; the last atomic of a warp. And when the lanes of a
    // warp waited for each other last.
    bool has_released;
    struct cpu_release {
        unsigned fenced, before, at;
    } released[1024];
    struct cpu_warp {
        struct cpu_release released;
        unsigned waited, acquired;
    } warps[WARPS];

    // Races that may be benign, which the next access decides: see cpu_decide_races.
    struct cpu_candidate {
        struct cpu_access access;
        uint64_t me, other;
        char before[16];
        const char *name;
        bool is_there, is_open, is_poll; // is_poll: if it is read again, see keep_poll
    } candidates[4];

    // What is really in memory while a racing read finds what was there before the write; no bytes if none does.
    struct {
        char *address;
        size_t bytes;
        char now[16], put[16]; // what is there, and what is put there for the read
    } stale;

    // Kept from launch to launch: the accesses of this block, for record.c, and how often each thread has been at each
    // instruction; pages for the cells of shared memory.
    struct cpu_recorded *record;
    unsigned (*turns)[1024];
    unsigned recorded, room;
    char *pages;
    size_t used;
};
extern AT_HAND __thread struct cpu_checker *cpu_checker;
extern bool cpu_takes_no_short_cuts; // CPU_CUDA_SHORT_CUTS=0: races.c looks at everything

// Where an access is, for races.c.
struct cpu_where {
    struct cpu_cells cells;
    size_t offset;
    uint64_t same;                   // bits in which a cell has to agree with this access to count
    uint64_t block;                  // launch and block
    size_t bytes;                    // of the array; of __device__ variables unknown, and 0
    const struct cpu_shared *shared; // or NULL
};

// shadow.c
size_t cpu_cells_of(size_t bytes); // how many
void cpu_track(struct cpu_allocation *a);
void cpu_untrack(struct cpu_allocation *a);
void cpu_clear_cells(const struct cpu_allocation *a);
bool cpu_is_written(const struct cpu_shadow *s, size_t i);
void cpu_mark_written(struct cpu_shadow *s, size_t offset, size_t bytes);
void cpu_gather_written(struct cpu_shadow *s, size_t bytes);
void cpu_note_copied(const char *to, const char *from, size_t bytes);
bool cpu_is_unwritten_by_host(const struct cpu_allocation *a, size_t i);
// The instructions seen, and in the lowest bits what they do. A cell has its number here, or 0: they were too many.
extern uintptr_t cpu_sites[SITES];
unsigned cpu_find_site(uintptr_t site, size_t hash);
static inline unsigned cpu_site_of(const void *place, int kind)
{
    uintptr_t site = (uintptr_t)place << KIND_BITS | (unsigned)kind;
    size_t hash = site * 0x9E3779B97F4A7C15u >> (64 - (EPOCH - SITE));
    return cpu_sites[hash] == site ? (unsigned)hash : cpu_find_site(site, hash);
}
static inline uintptr_t cpu_site_at(uint64_t cell)
{
    return __atomic_load_n(&cpu_sites[NUMBER(cell, SITE, EPOCH)], __ATOMIC_RELAXED);
}
static inline int cpu_kind_at(uint64_t cell) // what the instruction does
{
    return (int)(cpu_site_at(cell) & ((1 << KIND_BITS) - 1));
}
static inline const void *cpu_place_at(uint64_t cell)
{
    return (const void *)(cpu_site_at(cell) >> KIND_BITS);
}

// tell.c
static inline const char *cpu_verb(int kind) { return kind & WRITE ? "writes" : "reads"; }
void cpu_complain(cudaError_t error, const struct cpu_access *access, const char *format, ...)
    __attribute__((format(printf, 3, 4), noreturn));
void cpu_tell(const struct cpu_access *access, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void cpu_tell_race(const struct cpu_access *access, uint64_t me, uint64_t other, const char *name);
void cpu_tell_streams(const struct cpu_access *access, uint64_t other, const char *mine);

// order.c: work of several streams
extern unsigned long cpu_launches;
extern bool cpu_has_others; // some launch or copy that does not come before this one has left cells
bool cpu_is_before(uint64_t cell); // what has left it
void cpu_begin_work(const struct cpu_work *work);
void cpu_note_launch(void); // counts it, for cells
void cpu_check_copy(const char *to, const char *from, size_t bytes);

// races.c Whether what a thread of this block did, by its cell, happens before what another one, or itself, does now:
// it has waited for it since, in a barrier of the block or warp, or has acquired what it released.
static inline bool cpu_happens_before(const struct cpu_checker *k, uint64_t other, uint64_t me)
{
    unsigned then = NUMBER(other, EPOCH, THREAD), thread = NUMBER(other, THREAD, BLOCK);
    const struct cpu_warp *mine = &k->warps[NUMBER(me, THREAD, BLOCK) / 32],
                          *others = &k->warps[thread / 32];
    if (then < k->block_epoch) return true;
    const struct cpu_release *own = &k->released[thread], *any = &others->released;
    // An atomic behind a fence is a release itself. (A volatile write is as well, but may be one of many, see is_in_step.)
    bool is_release = other & 1 << IS_ATOMIC && any->before && any->before <= then &&
                      !(cpu_kind_at(other) & VOLATILE);
    return (mine == others && then < mine->waited) ||
           (then < own->before && own->at <= mine->acquired) ||
           (then < any->before && any->at <= mine->acquired) ||
           (is_release && then <= mine->acquired);
}
// What a thread leaves in a cell: with the bytes that it has accessed before in the same way, unless others may have
// waited for that since.
static inline uint64_t cpu_joined(const struct cpu_checker *k, uint64_t before, uint64_t me)
{
    bool is_mine = !((before ^ me) & ~BITS(0, THREAD)) && !cpu_happens_before(k, before, me) &&
                   !((cpu_kind_at(before) ^ cpu_kind_at(me)) & ATOMIC);
    return is_mine ? me | (before & BYTES) : me;
}
// The writer's cell changes: of the bytes that are not written now, `parts` keeps who wrote them last.
static inline void cpu_change_writer(uint64_t *writer, uint64_t parts[4], uint64_t now)
{
    for (uint64_t left = *writer & ~now & BYTES; left; left &= left - 1)
        parts[__builtin_ctzl(left)] = *writer;
    *writer = now;
}
// The last writer of one of the four bytes, or 0 if nobody has written it.
static inline uint64_t cpu_writer_of(uint64_t writer, const uint64_t parts[4], size_t n)
{
    return !(writer & BYTES) || writer >> n & 1 ? writer : parts[n];
}
void cpu_check_race(const struct cpu_access *access, const struct cpu_where *where);
void cpu_begin_block_of_races(void);
void cpu_end_block_of_races(void);
void cpu_decide_races(const struct cpu_access *next); // NULL: the last block has ended
void cpu_note_fence(bool is_for_block);
unsigned cpu_next_epoch(struct cpu_checker *k);

// heap.c
void cpu_check_host(const char *verb, const char *start, size_t bytes);
bool cpu_is_in_heap(const struct cpu_access *access);

// record.c
extern bool cpu_is_recording; // this launch's accesses are counted
void cpu_begin_record(const struct cpu_launch *launch);
void cpu_record(const struct cpu_access *access);
void cpu_end_record_of_block(void);
void cpu_end_record(const struct cpu_launch *launch);
void cpu_draw_record(void);

// bounds.c
void cpu_look_closely(const char *address, size_t bytes, int kind, const void *place);
void cpu_check_read(const char *address, size_t bytes, const void *place);

// tables.c
void cpu_note_table(const char *table);
void cpu_check_table(const struct cpu_access *x);

// checker.c
void cpu_check_launch(const struct cpu_launch *launch);
void cpu_check_core(void **kept);
void cpu_check_core_end(void);
void cpu_check_block(void);
void cpu_check_waited(int warp);
void cpu_check_block_goes_on(void);
void cpu_cuda_shared(const volatile void *base, size_t bytes, const char *name);
