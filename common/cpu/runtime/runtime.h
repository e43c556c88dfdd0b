// What the parts of the stand-in's runtime share.
#pragma once
#define _GNU_SOURCE
#include "cuda_runtime_api.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// AT_HAND: a thread's own variable, reached without a call.
#define PUBLIC __attribute__((visibility("default")))
#define AT_HAND __attribute__((tls_model("initial-exec")))
#define EXPORTED_TO_KERNELS PUBLIC AT_HAND

struct cpu_launch;
struct cpu_work;

// lines.c
bool cpu_is_own(const void *place); // in this library, which calls itself
const char *cpu_line_of(const void *place, char *text, size_t size);
void cpu_keep_loaded(const void *address);

// here.c: the thread of a kernel that runs here
enum { GUARD = 64 << 10, STACK = 640 << 10 }; // bytes, of a thread; GUARD: a page at least
size_t cpu_page_bytes(void);
size_t cpu_stack_step(void); // from one stack to the next
extern EXPORTED_TO_KERNELS __thread uint3 threadIdx, blockIdx, blockDim, gridDim;
extern AT_HAND __thread const struct cpu_launch *cpu_running; // NULL if no kernel runs here
extern AT_HAND __thread struct cpu_here {
    void (*leave)(void);
    const char *stacks;
    size_t stack_bytes;
} cpu_here;
static inline unsigned cpu_thread_number(void) // in its block
{
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
void cpu_leave_kernel(void) __attribute__((noreturn)); // ends the kernel's thread that runs here
bool cpu_is_end_of_stack(const char *address);
bool cpu_start_thread(void *(*function)(void *), void *argument);
void cpu_say(const char *format, ...) __attribute__((format(printf, 1, 2))); // a line on stderr
const char *cpu_launched_at(const struct cpu_launch *launch, char *text, size_t size);
void cpu_say_of_thread(const char *where, const char *what);

// errors.c: a runtime call begins with ENTER and ends with LEAVE: one at a time, and an error that
// stands comes first.
#define CALLED __func__, __builtin_return_address(0)
#define ENTER() \
    do { \
        cudaError_t standing_ = cpu_enter(CALLED); \
        if (standing_) return cpu_leave(standing_); \
    } while (0)
#define LEAVE(error) return cpu_leave(error)
#define CALL(expression) \
    ENTER(); \
    LEAVE(expression)
void cpu_lock(void);
void cpu_unlock(void);
void cpu_lock_for(const char *call);          // of the host; NULL: of what runs work by itself
extern const char *volatile cpu_waiting_call; // of a thread that has to wait for the lock; or NULL
extern bool cpu_runs_by_itself;               // what runs: while the host goes on
// The runtime call that runs; of work in the queue, the one that gave it. `place` is in the code, behind the call. Of
// kernel<<<...>>>, `name` is the kernel's, and there is a file and a line in place of it.
extern struct cpu_call {
    const char *name;
    const void *place;
    const char *launch_file;
    int launch_line;
} cpu_call;
extern unsigned long cpu_calls;
cudaError_t cpu_enter(const char *name, const void *place);
cudaError_t cpu_leave(cudaError_t error);
bool cpu_break_context(cudaError_t error);  // every later call fails with it; true if it is new
extern __thread cudaError_t cpu_last_error; // cudaGetLastError's
extern cudaError_t cpu_broken;              // that error, or cudaSuccess
extern bool cpu_is_in_host_function;        // of cudaLaunchHostFunc: it may not call CUDA
extern int cpu_version;                     // CUDA's; 12090 after ../nvcc --cuda-12
extern bool cpu_is_forked; // from a process that used CUDA: all but two queries fail
static inline bool cpu_context_is_broken(void)
{
    return __atomic_load_n(&cpu_broken, __ATOMIC_RELAXED);
}
bool cpu_is_news(const void *place, const void *other); // a fault there that a GPU lets pass
void cpu_end(bool well);
void cpu_say_of_call(const char *format, ...)
    __attribute__((format(printf, 1, 2))); // of this runtime call

// memory.c: all memory that CUDA knows. An allocation has units of address space of its own. ON_HOST: see copy.c. What
// nobody has written has FRESH bytes, which as a float or an int are a large number.
enum cpu_kind { DEVICE, MANAGED, PINNED, REGISTERED, VARIABLE, ON_HOST };
enum { CPU_UNIT = 2 << 20, CPU_UNITS = 1 << 20, CPU_CLAIMS = 16, FRESH = 0x7E };

// What the host has not written begins as these eight bytes, again and again, so that a copy of them is known, and a
// result that is made of them is wrong for all to see: in what malloc, new and cudaMallocHost give a number that no
// program is likely to write; in a local variable what g++ puts there. Large and negative, as an int, float or double.
#define CPU_UNWRITTEN 0xDB1F6C9ADB5E2A40u
#define CPU_UNWRITTEN_LOCAL 0xFEFEFEFEFEFEFEFEu
void *cpu_fill_unwritten(void *start, size_t bytes);
static inline bool cpu_is_unset(const void *pointer) // or somewhat behind it
{
    uintptr_t top = (uintptr_t)pointer >> 32;
    return top == CPU_UNWRITTEN >> 32 || top == CPU_UNWRITTEN_LOCAL >> 32;
}

// The shadow memory of an allocation, which is check/'s. For each four bytes, which of them somebody has written (NULL:
// all are), and so many from the start; who accessed them last, see struct cpu_cells. No races are looked for where the
// bits of `skipped` are set in an offset. The last launch in which it is only read; and in which readers are noted.
struct cpu_shadow {
    uint8_t *written;
    size_t all_written;
    uint64_t *writers, *readers, (*parts)[4];
    uint32_t *olds;
    size_t skipped;
    unsigned long quiet_launch, read_launch;
};

// A claim of queued work to memory that the host may use, too: until that has run, host_access (PROT_READ or PROT_NONE)
// is all that the host may do with it. If the work is no kernel but a copy or memset, `kernel` is NULL.
struct cpu_claim {
    unsigned long work;
    const char *start, *kernel, *call;
    size_t bytes;
    int host_access;
    cudaStream_t stream;
};

// What was asked for, in whole pages body_bytes; which call has freed it, or NULL. `other` is the way from a VARIABLE
// to its ON_HOST and back. The latest claim comes first. If its work has run by itself, `before` is what the host may
// still read there.
struct cpu_allocation {
    char *base;
    size_t bytes, body_bytes;
    enum cpu_kind kind;
    const char *freed_by;
    ptrdiff_t other;
    struct cpu_shadow shadow;
    struct cpu_claim claim[CPU_CLAIMS];
    char *before;
    struct cpu_allocation *next, **link, *next_elsewhere;
};
extern size_t cpu_used_bytes; // of the device
// Of malloc in kernels: how much it may give; whether a kernel has asked for some.
extern struct cpu_heap {
    size_t bytes;
    bool is_used;
} cpu_heap;
extern uintptr_t cpu_first_place;
extern size_t cpu_units;                           // as many as the address space has room for
extern struct cpu_allocation *cpu_unit[CPU_UNITS]; // what lives, or lived, in each unit
extern struct cpu_allocation *cpu_allocations;     // those that live
size_t cpu_device_bytes(void);
// Pages of zeros, which take room only when they are used, or NULL. Fewer bytes than CPU_SMALL are malloc's, as a
// process may have some 65,000 mappings.
enum { CPU_SMALL = 64 << 10 };
void *cpu_lazy_pages(size_t bytes);
void cpu_give_pages_back(void *pages, size_t bytes);
bool cpu_has_asan(void);
struct cpu_allocation *cpu_find_allocation(const void *pointer);
bool cpu_is_variable(const struct cpu_allocation *a);
bool cpu_is_after_variables(const char *address);
struct cpu_allocation *cpu_find_neighbour(const void *address);
struct cpu_allocation *cpu_add_allocation(char *base, size_t bytes, size_t body_bytes,
                                          enum cpu_kind kind);
cudaError_t cpu_allocate(void **pointer, size_t bytes, enum cpu_kind kind);
void cpu_fill_fresh(struct cpu_allocation *a, size_t offset, size_t bytes);
void cpu_forget(struct cpu_allocation *a);
void cpu_open_memory(bool open); // device memory can be used only while it is open
bool cpu_memory_is_open(void);
void cpu_lock_claims(void); // and what follows from them: faults of the host come without cpu_lock
void cpu_unlock_claims(void);
void cpu_keep_before(void);
void cpu_claim(struct cpu_allocation *a, struct cpu_claim claim);
void cpu_end_claims(unsigned long work);

// What ../check does when something happens here; NULL as long as it is not asked to. Memory comes and goes. Work
// begins, and if it is a copy or a memset (from is NULL), that. A launch begins and ends, in it each core (which may
// keep something for the next launch), in that each block. Threads have waited for each other: of the warp, or of the
// whole block (-1); or all blocks, once for all of them, and then in each. A shared variable is met; the runtime reads
// for a kernel.
extern struct cpu_checks {
    void (*track)(struct cpu_allocation *a), (*untrack)(struct cpu_allocation *a);
    void (*work)(const struct cpu_work *work);
    void (*copy)(const char *to, const char *from, size_t bytes);
    void (*host)(const char *verb, const char *start, size_t bytes);
    void (*launch)(const struct cpu_launch *launch), (*launched)(const struct cpu_launch *launch);
    void (*core)(void **kept), (*core_ends)(void);
    void (*block)(void);
    void (*waited)(int warp);
    void (*grid_waited)(void), (*block_goes_on)(void);
    void (*shared)(const volatile void *base, size_t bytes, const char *name);
    void (*read)(const char *address, size_t bytes, const void *place);
    void (*program_ends)(void);
} cpu_checks;
#define CHECKS(what, ...) \
    do { \
        if (cpu_checks.what) cpu_checks.what(__VA_ARGS__); \
    } while (0)

// queue.c: work is kept until somebody waits for it
enum { CPU_ARGUMENTS = 16 };

// First of a thread that launches, then in the queue, then of the cores that run it. The kernel's address, NULL if it
// is not known. `id`: of the work to come, if an argument claims memory for it. The body is the kernel with its
// arguments. Of those that are pointers: to const? To what others change meanwhile?
struct cpu_launch {
    const char *kernel, *file, *call; // no file: by cudaLaunchKernel or the like, at `place`
    const void *address, *place;
    int line;
    dim3 grid, block;
    size_t shared_bytes;
    bool is_cooperative;
    cudaStream_t stream;
    unsigned long id;
    const void *body;
    void (*run_threads)(const void *body);
    unsigned arguments;
    struct {
        const void *pointer;
        bool is_read_only, is_volatile;
    } argument[CPU_ARGUMENTS];
};
struct cpu_copy { // a memset if `from` is NULL
    char *to;
    const char *from;
    size_t to_pitch, from_pitch, width, height;
    int value;
};
struct cpu_host_call {
    cudaHostFn_t function;
    cudaStreamCallback_t callback; // the older kind
    cudaStream_t stream;
    void *data;
};

// A vector clock: of each stream, up to which work all has been done before.
enum { CPU_STREAMS = 64 };
struct cpu_order {
    unsigned long before[CPU_STREAMS];
};

// What is in the queue. Its claims of memory call it `claim`; it is published if it has told the host that it is done.
struct cpu_work {
    unsigned long id, claim;
    unsigned stream;
    struct cpu_order order;
    struct cpu_call call;
    bool is_done, is_launch, is_published;
    void (*run)(struct cpu_work *);
    union {
        struct cpu_launch launch;
        struct cpu_copy copy;
        struct cpu_host_call host_call;
        struct handle *event;
    };
    void *owned; // freed after the run
    struct cpu_work *next;
};
extern unsigned long cpu_last_work; // the highest id in use
extern bool cpu_has_published; // the kernel that runs, by what is volatile or atomic behind a fence
struct cpu_work *cpu_add_work(cudaStream_t stream, void (*run)(struct cpu_work *));
bool cpu_is_stream(cudaStream_t stream);
cudaError_t cpu_finish_stream(cudaStream_t stream); // runs what it holds and what that waits for
void cpu_finish_all(void);
unsigned cpu_handles_left(bool events); // events or streams
extern bool cpu_streams_meet;           // the queue has work of several
void cpu_forget_handles(void);
const struct cpu_work *cpu_waiting_launch(void);

// copy.c
bool cpu_may_be_of_device(const void *address);

// malloc.c
void cpu_say_who_frees(const void *pointer); // another call than this one, or it has
void cpu_end_pools(void);

// block.c, threads.c, launch.c
enum { CPU_SHARED_BYTES = 49152, CPU_MOST_SHARED = 232448 }; // MOST: by cudaFuncSetAttribute
extern EXPORTED_TO_KERNELS __thread unsigned cpu_cuda_row_end;
extern EXPORTED_TO_KERNELS __thread void *cpu_cuda_dynamic_shared;
extern bool cpu_is_without_threads, cpu_is_last_block_only; // see ../include/cpu_seen.h
void cpu_run_grid(const struct cpu_launch *launch);
void cpu_note_spin(bool has_changed);
bool cpu_is_spinning(unsigned thread);
bool cpu_gave_turn(unsigned thread); // before something atomic
bool cpu_wants_turn(void);
void cpu_give_turn(bool is_spinning);
bool cpu_is_kernel(const void *address); // added with cpu_cuda_add_kernel

// fault.c
extern const char *cpu_host_function; // where nothing is: a function of the host, for kernels
void cpu_catch_faults(void);          // a bad address in a kernel becomes an error, not a crash
void cpu_tell_early_access(void);     // the host's, of what work uses that it has not waited for
void cpu_show_results(void);          // work runs: what was there before goes
bool cpu_is_early_access_decided(void);
unsigned long cpu_polled_work(void); // the host waits in a loop for what it does; or 0

// print.c
extern size_t cpu_printf_bytes; // cudaLimitPrintfFifoSize
extern bool cpu_has_printed;    // since then that limit is fixed
void cpu_flush_prints(void);
