// What the files of check/ share. An access of a kernel comes in at hooks.c, bounds.c looks where it is,
// races.c who else was there, and tell.c says what is wrong.
#pragma once
#include "../runtime/runtime.h"

// volatile counts as atomic; IN_ONE_BLOCK: as atomicAdd_block is
enum { READ = 0, WRITE = 1, ATOMIC = 2, IN_ONE_BLOCK = 4 };

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

struct cpu_cells { // for each four bytes: the last writer, and two readers
    uint64_t *writers, *readers;
};

// A core that runs blocks.
struct cpu_checker {
    bool is_in_doubt, has_no_short_cuts;
    uint64_t block;       // the one that runs, and its launch, as in a cell
    uint64_t shared;      // the same for shared memory: the blocks that this core has begun
    uint64_t epoch;       // as in a cell
    unsigned block_epoch; // when all threads of the block waited for each other last
    bool is_late;         // this block has waited more often than a cell can count: no more races
    bool has_fenced;      // this block has met a __threadfence
    bool has_acquired;    // it has done something atomic
    unsigned released[1024]; // epoch: the last atomic write behind a fence, by each thread
    struct cpu_warp { // the same by any lane of a warp; and when they waited for each other last
        unsigned waited, released, acquired;
        bool has_fenced;
    } warps[WARPS];
    const char *stacks, *own; // the threads' stacks; threadIdx and the like
    size_t stack_bytes, own_bytes;
    const char *constants, *constants_end; // read-only memory of the program, seen before
    struct cpu_shared {
        const char *base, *name;
        size_t bytes;
        struct cpu_cells cells;
    } variables[64];
    unsigned count, last;
    struct cpu_touch *touch; // of this block
    unsigned touches, room;
    char *pages; // cells of shared memory
    size_t used;
    struct { // a race, unless it turns out harmless: see cpu_settle
        struct cpu_access access;
        uint64_t me, other;
        char before[16];
        const char *name;
        bool is_open;
    } doubt;
};
extern __thread struct cpu_checker *cpu_checker __attribute__((tls_model("initial-exec")));

bool cpu_is_checking(void);
size_t cpu_cells_of(size_t bytes); // how many
void cpu_clear_cells(const struct cpu_allocation *a);

// Where an access is, for races.c.
struct cpu_where {
    struct cpu_cells cells;
    size_t offset;
    uint64_t same;    // bits in which a cell has to agree with this access to count
    uint64_t block;   // launch and block
    const char *name; // of shared memory, else NULL
};

// order.c: work of several streams
extern bool cpu_has_others; // some launch or copy that does not come before this one has left cells
bool cpu_is_before(uint64_t cell); // what has left it
void cpu_note_launch(void);        // counts it, for cells
void cpu_tell_streams(const struct cpu_access *access, uint64_t other, const char *mine);

void cpu_look_closely(const struct cpu_access *access);
void cpu_check_race(const struct cpu_access *access, const struct cpu_where *where);
void cpu_end_block_of_races(void);
void cpu_settle(const struct cpu_access *next); // NULL: the last block has ended
void cpu_note_fence(void);
extern bool cpu_is_touching; // this launch's accesses are counted
void cpu_begin_touches(const struct cpu_launch *launch);
void cpu_note_touch(const struct cpu_access *access);
unsigned cpu_next_epoch(struct cpu_checker *k);
int cpu_kind_at(uint64_t cell); // what the instruction in a cell does
const void *cpu_place_at(uint64_t cell);
unsigned cpu_site_of(const void *place, int kind);
void cpu_complain(cudaError_t error, const struct cpu_access *access, const char *format, ...)
    __attribute__((format(printf, 3, 4), noreturn));
void cpu_tell_race(const struct cpu_access *access, uint64_t me, uint64_t other, const char *name);
