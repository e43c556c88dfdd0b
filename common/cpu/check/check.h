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

// Who touched four bytes, in 64 bits; 0 if nobody has. Launch, block and instruction are counted modulo
// what there is room for, which can only hide a race.
enum {
    IS_ATOMIC = 4, // bit; before it: which of the four bytes
    SITE = 5,      // the instruction
    EPOCH = 14,    // how often threads of the block had waited for each other
    THREAD = 31,   // in the block
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

// For each four bytes: the last writer, two readers, and what a thread that did not wait for the writer may still read.
struct cpu_cells {
    uint64_t *writers, *readers;
    uint32_t *olds;
};
enum { CELL_BYTES = 28 };

// A core that runs blocks.
struct cpu_checker {
    struct cpu_window { // reads that begin here, of at most 16 bytes, are right
        const char *start;
        size_t room;
    } quiet[2];
    bool is_in_doubt, has_no_short_cuts;
    unsigned next_quiet;
    uint64_t block;       // the one that runs, and its launch, as in a cell
    uint64_t shared;      // the same for shared memory: the blocks that this core has begun
    uint64_t epoch;       // as in a cell
    unsigned block_epoch; // when all threads of the block waited for each other last
    bool is_first_block;  // of the grid
    bool is_late;         // this block has waited more often than a cell can count: no more races
    bool has_fenced;      // this block has met a __threadfence, not only __threadfence_block
    bool has_acquired;    // it has done something atomic
    const char *stacks, *own; // the threads' stacks; threadIdx and the like
    size_t stack_bytes, own_bytes;
    const char *constants, *constants_end; // read-only memory of the program, seen before
    struct cpu_shared {
        const char *base, *name;
        size_t bytes;
        struct cpu_cells cells;
    } variables[64];
    unsigned count;
    bool has_released;
    unsigned released[1024]; // epoch: the last atomic write behind a fence, by each thread
    struct cpu_warp { // the same by any lane of a warp; and when they waited for each other last
        unsigned waited, released, acquired;
        bool has_fenced;
    } warps[WARPS];
    struct cpu_doubt { // a race, unless it turns out harmless: see cpu_settle
        struct cpu_access access;
        uint64_t me, other;
        char before[16];
        const char *name;
        bool is_there, is_open;
    } doubts[4];
    struct { // what a racing read finds in place of what is there: until the next access
        char *address;
        size_t bytes; // or 0
        char now[16];
    } stale;

    // kept from launch to launch
    struct cpu_touch *touch; // of this block
    unsigned (*turns)[1024]; // for each instruction and thread
    unsigned touches, room;
    char *pages; // cells of shared memory
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
void cpu_note_written(const char *to, size_t bytes);
void cpu_note_copied(const char *to, const char *from, size_t bytes);
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

// races.c
// Of two threads of this block, or of one: has one waited for the other since?
static inline bool cpu_has_waited(const struct cpu_checker *k, uint64_t other, uint64_t me)
{
    unsigned then = NUMBER(other, EPOCH, THREAD), thread = NUMBER(other, THREAD, BLOCK);
    const struct cpu_warp *mine = &k->warps[NUMBER(me, THREAD, BLOCK) / 32],
                          *others = &k->warps[thread / 32];
    if (then < k->block_epoch) return true;
    return (mine == others && then < mine->waited) ||
           (then < k->released[thread] && k->released[thread] <= mine->acquired) ||
           (then < others->released && others->released <= mine->acquired);
}
// What a thread leaves in a cell: with the bytes that it has touched before in the same way, unless others may have
// waited for that since.
static inline uint64_t cpu_joined(const struct cpu_checker *k, uint64_t before, uint64_t me)
{
    bool is_mine = !((before ^ me) & ~BITS(0, THREAD)) && !cpu_has_waited(k, before, me) &&
                   !((cpu_kind_at(before) ^ cpu_kind_at(me)) & ATOMIC);
    return is_mine ? me | (before & BYTES) : me;
}
void cpu_check_race(const struct cpu_access *access, const struct cpu_where *where);
void cpu_begin_block_of_races(void);
void cpu_end_block_of_races(void);
void cpu_settle(const struct cpu_access *next); // NULL: the last block has ended
void cpu_note_fence(bool is_for_block);
unsigned cpu_next_epoch(struct cpu_checker *k);

// heap.c
bool cpu_is_in_heap(const struct cpu_access *access);

// touches.c
extern bool cpu_is_touching; // this launch's accesses are counted
void cpu_begin_touches(const struct cpu_launch *launch);
void cpu_note_touch(const struct cpu_access *access);
void cpu_end_touches_of_block(void);
void cpu_end_touches(const struct cpu_launch *launch);
void cpu_draw_touches(void);

// bounds.c
void cpu_look_closely(const char *address, size_t bytes, int kind, const void *place);

// checker.c
void cpu_check_launch(const struct cpu_launch *launch);
void cpu_check_core(void **kept);
void cpu_check_core_end(void);
void cpu_note_table(const char *table);
void cpu_check_table(const struct cpu_access *x);
void cpu_check_read(const char *address, size_t bytes, const void *place);
void cpu_check_block(void);
void cpu_check_waited(int warp);
void cpu_check_block_goes_on(void);
void cpu_cuda_shared(const volatile void *base, size_t bytes, const char *name);
