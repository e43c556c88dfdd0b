// nvrtc.c, for driver.c: what a module is made of.
#pragma once
#include <stddef.h>

#define CPU_PTX "// PTX of the CPU stand-in" // how ../nvcc begins one
void *cpu_open_ptx(const char *text);        // as a shared library; NULL if that cannot be done
void *cpu_open_cubin(const char *image, size_t bytes);
