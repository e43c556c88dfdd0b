// What the parts of the stand-in's runtime share.
#pragma once
#include "cuda_runtime.h"
#include <stdbool.h>

#define PUBLIC __attribute__((visibility("default")))

// errors.c
void cpu_lock(void); // one runtime call at a time
void cpu_unlock(void);
cudaError_t cpu_enter(void);               // opens a runtime call: locks, returns a standing error
cudaError_t cpu_leave(cudaError_t error);  // closes it: keeps the error, unlocks, returns it
void cpu_break_context(cudaError_t error); // from now on every call fails with this error
bool cpu_context_is_broken(void);
void cpu_say(const char *format, ...) __attribute__((format(printf, 1, 2))); // a line on stderr

// memory.c
struct cpu_allocation {
    char *base;   // what cudaMalloc returned
    size_t bytes; // what was asked for
    char *body;   // whole pages around it, between two guard pages
    size_t body_bytes;
    struct cpu_allocation *next;
};
struct cpu_allocation *cpu_find_allocation(const void *pointer);
void cpu_open_memory(void); // device memory can be touched only between open and close
void cpu_close_memory(const char *kernel, const char *file, int line);

// launch.c
void cpu_catch_bad_addresses(void); // makes a bad address in a kernel an error, not a crash
void cpu_finish_work(void);         // runs all that was launched and not yet run

// print.c
void cpu_flush_prints(void);
extern __thread bool cpu_in_kernel __attribute__((tls_model("initial-exec")));
