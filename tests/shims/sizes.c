// Comes before the stand-in's runtime (LD_PRELOAD): memory is only a number, copies and kernels do nothing; prints how much
// each was asked for, and on which stream, if it is not the default one.
#include <stdio.h>

struct dim3 {
    unsigned x, y, z;
};

static int told(const char *name, size_t bytes, void *stream)
{
    dprintf(1, " %s", name);
    if (bytes) dprintf(1, " %zu", bytes);
    if (stream) dprintf(1, "@%zu", (size_t)stream);
    return 0;
}

static int give(void **pointer, size_t bytes, void *stream)
{
    static char *next = (char *)(1ull << 46); // nothing is there
    told("malloc", bytes, stream);
    *pointer = next;
    next += bytes + 512 - bytes % 512;
    return 0;
}

int cpu_cudaMalloc(void **pointer, size_t bytes) { return give(pointer, bytes, NULL); }
int cpu_cudaMallocFromPoolAsync(void **pointer, size_t bytes, void *pool, void *stream) { return give(pointer, bytes, stream); }
int cpu_cudaFree(void *pointer) { return 0; }
int cpu_cudaFreeAsync(void *pointer, void *stream) { return told("free", 0, stream); }
int cpu_cudaStreamSynchronize(void *stream) { return told("wait", 0, stream); }

int cpu_cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream)
{
    return told("copy", bytes, stream);
}

int cpu_cudaMemcpy(void *to, const void *from, size_t bytes, int kind) { return told("copy", bytes, NULL); }

void cpu_cuda_configure(const char *kernel, const char *file, int line, struct dim3 grid, struct dim3 block, size_t shared,
                        void *stream)
{
    char what[80];
    snprintf(what, sizeof what, grid.y * block.y == 1 ? "launch %u x %u" : "launch (%u, %3$u) x (%2$u, %4$u)", grid.x, block.x,
             grid.y, block.y);
    told(what, 0, stream);
}

void cpu_cuda_argument(const void *pointer, _Bool is_const, _Bool is_volatile) {}
void cpu_cuda_launch(const void *kernel, const char *name, const void *body, size_t bytes, void (*run)(const void *)) {}
