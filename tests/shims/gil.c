// Comes before the stand-in's runtime (LD_PRELOAD): tells the calls of CUDA that are made with Python's GIL held, while which
// no other thread of Python goes on. Built with a line CALL(name) for each. A copy on a stream takes long.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#pragma weak Py_IsInitialized
#pragma weak PyGILState_Check
int PyGILState_Check(void), Py_IsInitialized(void); // `timeout` and `env` do not have them

#define CALL(name) \
    int cpu_##name(long a, long b, long c, long d, long e, long f) \
    { \
        int (*real)(long, ...) = dlsym(RTLD_NEXT, #name); \
        if (Py_IsInitialized && Py_IsInitialized() && PyGILState_Check()) dprintf(1, "%s holds the GIL\n", #name); \
        if (strcmp(#name, "cudaMemcpyAsync") == 0 && e) usleep(100000); \
        return real(a, b, c, d, e, f); \
    }
#include "calls.h"
