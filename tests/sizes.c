// Comes before the stand-in's runtime (LD_PRELOAD): memory is only a number, copies and kernels do nothing; prints how much
// each was asked for.
#include <stdio.h>

struct dim3 {
    unsigned x, y, z;
};

static int give(void **pointer, size_t bytes, const char *name)
{
    static char *next = (char *)(1ull << 46); // nothing is there
    dprintf(1, " %s %zu", name, bytes);
    *pointer = next;
    next += bytes + 512 - bytes % 512;
    return 0;
}

int cudaMalloc(void **pointer, size_t bytes) { return give(pointer, bytes, "malloc"); }
int cudaMallocFromPoolAsync(void **pointer, size_t bytes, void *pool, void *stream) { return give(pointer, bytes, "malloc"); }
int cudaFree(void *pointer) { return 0; }
int cudaFreeAsync(void *pointer, void *stream) { return 0; }

int cudaMemcpy(void *to, const void *from, size_t bytes, int kind)
{
    dprintf(1, " copy %zu", bytes);
    return 0;
}

int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream)
{
    return cudaMemcpy(to, from, bytes, kind);
}

void cpu_cuda_configure(const char *kernel, const char *file, int line, struct dim3 grid, struct dim3 block, size_t shared,
                        void *stream)
{
    dprintf(1, " launch %u x %u", grid.x, block.x);
}

void cpu_cuda_argument(const void *pointer, _Bool is_const, _Bool is_volatile) {}
void cpu_cuda_launch(const void *kernel, const char *name, const void *body, size_t bytes, void (*run)(const void *)) {}
