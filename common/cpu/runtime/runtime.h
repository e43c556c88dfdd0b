// What the parts of the stand-in's runtime share.
#pragma once
#define _GNU_SOURCE
#include "cuda_runtime_api.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PUBLIC __attribute__((visibility("default")))
#define EXPORTED_TO_KERNELS PUBLIC __attribute__((tls_model("initial-exec")))

// errors.c: a runtime call begins with ENTER and ends with LEAVE: one at a time, and an error that
// stands comes first.
#define ENTER() \
    do { \
        cudaError_t standing_ = cpu_enter(); \
        if (standing_) return cpu_leave(standing_); \
    } while (0)
#define LEAVE(error) return cpu_leave(error)
#define CALL(expression) \
    ENTER(); \
    LEAVE(expression)
void cpu_lock(void);
void cpu_unlock(void);
cudaError_t cpu_enter(void);
cudaError_t cpu_leave(cudaError_t error);
bool cpu_break_context(cudaError_t error);  // every later call fails with it; true if it is new
extern __thread cudaError_t cpu_last_error; // cudaGetLastError's
extern cudaError_t cpu_broken;              // that error, or cudaSuccess
extern bool cpu_is_forked; // from a process that used CUDA: all but two queries fail
static inline bool cpu_context_is_broken(void)
{
    return __atomic_load_n(&cpu_broken, __ATOMIC_RELAXED);
}
void cpu_say(const char *format, ...) __attribute__((format(printf, 1, 2))); // a line on stderr

// memory.c
enum cpu_kind { DEVICE, MANAGED, PINNED, REGISTERED, VARIABLE };
struct cpu_allocation {
    char *base; // what the program was given, and how much it asked for
    size_t bytes;
    char *body; // the pages around it
    size_t body_bytes;
    enum cpu_kind kind;
    struct cpu_claim { // by queued work: until that has run, the host may only do this with it
        unsigned long work;
        const char *start, *kernel; // kernel: NULL if it is a copy
        size_t bytes;
        int host_access; // PROT_READ or PROT_NONE
    } claim;
    struct cpu_allocation *next;
};
extern size_t cpu_used_bytes; // of the device
size_t cpu_device_bytes(void);
struct cpu_allocation *cpu_find_allocation(const void *pointer);
struct cpu_allocation *cpu_add_allocation(char *base, size_t bytes, enum cpu_kind kind);
cudaError_t cpu_allocate(void **pointer, size_t bytes, enum cpu_kind kind);
cudaError_t cpu_release(const void *pointer, enum cpu_kind kind, enum cpu_kind other);
bool cpu_is_near_device_memory(const void *address);
void cpu_open_memory(bool open); // device memory can be touched only while it is open
const struct cpu_allocation *cpu_find_overrun(void); // somebody wrote just outside this one
void cpu_claim(struct cpu_allocation *a, struct cpu_claim claim);
void cpu_end_claims(unsigned long work);
void cpu_free_everything(void);
void cpu_end_pools(void);
void cpu_report_leaks(void);
void cpu_keep_loaded(const void *address); // the library with it, for ever

// queue.c: work is kept until somebody waits for it
struct
    cpu_launch { // first of a thread that launches, then in the queue, then of the cores that run it
    const char *kernel, *file;
    int line;
    dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;
    unsigned long id;         // of the work to come, if an argument claims memory for it
    const void *host_pointer; // an argument that is not device memory, or NULL
    void *body;               // of the kernel, with its arguments
    void (*run_threads)(const void *body);
};
struct cpu_copy { // a memset if `from` is NULL
    char *to;
    const char *from;
    size_t to_pitch, from_pitch, width, height;
    int value;
};
struct cpu_work {
    unsigned long id, awaited; // awaited: the work that has to be done before, or 0
    struct handle *stream;
    bool is_needed;
    void (*run)(struct cpu_work *);
    union {
        struct cpu_launch launch;
        struct cpu_copy copy;
    };
    void *owned; // given to `release`, if there is one, after the run
    void (*release)(void *);
};
extern unsigned long cpu_last_work; // the highest id in use
struct cpu_work *cpu_add_work(cudaStream_t stream,
                              void (*run)(struct cpu_work *)); // NULL: no memory
bool cpu_is_stream(cudaStream_t stream);
cudaError_t cpu_finish_stream(cudaStream_t stream); // runs what it holds and what that waits for
void cpu_finish_all(void);
unsigned cpu_handles_left(bool events); // events or streams
void cpu_forget_handles(void);

// launch.c, block.c
enum { CPU_SHARED_BYTES = 49152 };
#define CPU_BENT \
    ((uintptr_t)1 << 54) // set in a host pointer for a kernel: it is no address any more
extern PUBLIC __thread uint3 threadIdx, blockIdx __attribute__((tls_model("initial-exec")));
extern PUBLIC __thread dim3 blockDim, gridDim __attribute__((tls_model("initial-exec")));
void cpu_run_kernel(struct cpu_work *work);
bool cpu_is_kernel(const void *address);              // added with cpu_cuda_add_kernel
void cpu_run_blocks(const struct cpu_launch *launch); // on each core, till no block is left
bool cpu_take_blocks(unsigned long *first, unsigned long *stop);
void cpu_leave_kernel(void) __attribute__((noreturn)); // ends the kernel's thread that runs here
const char *cpu_shared_limit(void); // where this block's dynamic shared memory ends
bool cpu_is_end_of_stack(const char *address);

// fault.c
void cpu_catch_faults(void); // a bad address in a kernel becomes an error, not a crash

// nvrtc.c
#define CPU_PTX "// PTX of the CPU stand-in" // how ../nvcc begins one
void *cpu_open_ptx(const char *text);        // as a shared library; NULL if that cannot be done
void *cpu_open_cubin(const char *image, size_t bytes);

// print.c
void cpu_flush_prints(void);
extern __thread const struct cpu_launch *cpu_running; // on a thread that runs a kernel, else NULL
