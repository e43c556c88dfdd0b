// Managed, mapped and registered memory in kernels; __constant__, __device__ and __managed__ variables; 2-D copies.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#define SHOW(x) printf("%-74s %s\n", #x, cudaGetErrorName(x))

__constant__ float weights[4];
__constant__ int one_constant = 7;
__constant__ const int also_constant = 70;
__device__ alignas(16) const short constants[2] = {3, 4};
__device__ int (*function)(int) = nullptr;
__device__ int counter = 100;
__device__ float table[3] = {1, 2, 3};
__device__ __managed__ int shared_by_both = 1;
static __device__ const int never_changes = 5;
namespace inner {
__device__ double deep;
}

__global__ void use(float *out)
{
    int i = threadIdx.x;
    out[i] = weights[i] * one_constant + table[i % 3] + never_changes;
    atomicAdd(&counter, 1);
    if (i == 0) {
        inner::deep = 2.5;
        shared_by_both += 1;
    }
}

__global__ void twice(int *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] *= 2;
}

struct Node {
    int value;
    Node *next;
};
__global__ void walk(const Node *node, int *total)
{
    for (*total = 0; node; node = node->next)
        *total += node->value;
}

int main()
{
    float w[4] = {1, 10, 100, 1000}, out[4], *d_out;
    int h = 0;
    double deep = 0;
    void *address;
    size_t bytes;
    SHOW(cudaMalloc(&d_out, sizeof out));
    SHOW(cudaMemcpyToSymbol(weights, w, sizeof w));
    SHOW(cudaMemcpyToSymbol(weights, w, sizeof w + 4));
    SHOW(cudaMemcpyToSymbol(weights, w, 8, 12));
    SHOW(cudaMemcpyToSymbol(weights, w + 3, 4, 4));
    cudaGetLastError();
    use<<<1, 4>>>(d_out);
    SHOW(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    printf("%g %g %g %g\n", out[0], out[1], out[2], out[3]);
    SHOW(cudaMemcpyFromSymbol(&h, counter, sizeof h));
    SHOW(cudaMemcpyFromSymbol(&deep, inner::deep, sizeof deep));
    printf("%d %g %d\n", h, deep, shared_by_both);
    SHOW(cudaGetSymbolSize(&bytes, table));
    SHOW(cudaGetSymbolAddress(&address, table));
    SHOW(cudaMemcpy(out, (float *)address + 1, 8, cudaMemcpyDeviceToHost));
    printf("%zu %g %g\n", bytes, out[0], out[1]);
    short s[2];
    SHOW(cudaMemcpyFromSymbol(&h, also_constant, sizeof h));
    SHOW(cudaMemcpyFromSymbol(s, constants, sizeof s));
    SHOW(cudaMemcpyFromSymbol(&address, function, sizeof address));
    printf("%d %d %d %d\n", h, s[0], s[1], address == nullptr);
    SHOW(cudaMemcpyToSymbol(weights, w, 4, 0, cudaMemcpyDeviceToHost));
    SHOW(cudaMemcpyToSymbol(weights, w, 4, 0, cudaMemcpyHostToHost));
    SHOW(cudaMemcpyFromSymbol(w, weights, 4, 0, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpyFromSymbol(w, weights, 4, 0, cudaMemcpyDefault));
    cudaGetLastError();
    static float no_symbol[4];
    SHOW(cudaMemcpyToSymbol(no_symbol, w, sizeof w));
    SHOW(cudaMemcpyFromSymbol(w, no_symbol, sizeof w));
    SHOW(cudaGetSymbolAddress(&address, no_symbol));
    cudaGetLastError();

    int *managed, *mapped, *seen, *registered = (int *)aligned_alloc(4096, 4096);
    cudaPointerAttributes a;
    SHOW(cudaMallocManaged(&managed, 4000));
    SHOW(cudaMallocManaged(&seen, 0));
    SHOW(cudaMallocManaged(&seen, 4, 9));
    cudaGetLastError();
    SHOW(cudaPointerGetAttributes(&a, managed));
    printf("type %d, the same for both: %d\n", a.type, a.devicePointer == a.hostPointer);
    for (int i = 0; i < 1000; i++)
        managed[i] = i;
    twice<<<4, 256>>>(managed, 1000);
    SHOW(cudaDeviceSynchronize());
    printf("%d %d\n", managed[1], managed[999]);
    SHOW(cudaMemset(managed, 0, 8));
    SHOW(cudaMemcpy(managed, managed + 999, 4, cudaMemcpyHostToDevice));
    SHOW(cudaDeviceSynchronize());
    printf("%d %d %d\n", managed[0], managed[1], managed[2]);

    SHOW(cudaHostAlloc(&mapped, 400, cudaHostAllocMapped));
    SHOW(cudaHostGetDevicePointer(&seen, mapped, 0));
    for (int i = 0; i < 100; i++)
        mapped[i] = i;
    twice<<<1, 100>>>(seen, 100);
    SHOW(cudaDeviceSynchronize());
    printf("%d %d\n", mapped[1], mapped[99]);

    SHOW(cudaHostRegister(registered, 4096, cudaHostRegisterMapped));
    SHOW(cudaHostGetDevicePointer(&seen, registered, 0));
    memset(registered, 0, 4096);
    registered[3] = 21;
    twice<<<1, 4>>>(seen, 4);
    SHOW(cudaDeviceSynchronize());
    printf("%d\n", registered[3]);
    SHOW(cudaHostRegister(registered + 8, 64, 0));
    SHOW(cudaHostRegister(mapped, 400, 0));
    SHOW(cudaHostRegister(managed, 4000, 0));
    SHOW(cudaHostUnregister(registered + 8));
    SHOW(cudaHostUnregister(mapped));
    SHOW(cudaHostUnregister(nullptr));
    SHOW(cudaFree(&shared_by_both));
    cudaGetLastError();
    SHOW(cudaHostUnregister(registered));
    free(registered);

    Node *nodes;
    int *total;
    SHOW(cudaMallocManaged(&nodes, 3 * sizeof *nodes));
    SHOW(cudaMallocManaged(&total, sizeof *total));
    nodes[0] = {1, nodes + 2};
    nodes[1] = {100, nullptr};
    nodes[2] = {10, nodes + 1};
    walk<<<1, 1>>>(nodes, total);
    SHOW(cudaDeviceSynchronize());
    printf("%d\n", *total);

    char *rows, picture[6][5], back[6][5];
    size_t pitch;
    memset(picture, 'a', sizeof picture);
    memset(back, '.', sizeof back);
    SHOW(cudaMallocPitch(&rows, &pitch, 5, 6));
    printf("pitch %zu\n", pitch);
    SHOW(cudaMemset2D(rows, pitch, 'x', 5, 6));
    SHOW(cudaMemcpy2D(rows + pitch + 1, pitch, picture, 5, 3, 2, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpy2D(back, 5, rows, pitch, 5, 6, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 6; i++)
        printf("%.5s\n", back[i]);
    SHOW(cudaMemcpy2D(back, 4, rows, pitch, 5, 6, cudaMemcpyDeviceToHost));
    SHOW(cudaMemcpy2D(back, 5, rows, 4, 5, 6, cudaMemcpyDeviceToHost));
    SHOW(cudaMemcpy2D(back, 5, rows, pitch, 0, 6, cudaMemcpyDeviceToHost));
    SHOW(cudaMemcpy2D(back, 5, rows, pitch, 5, 6, cudaMemcpyHostToDevice));
    SHOW(cudaMemset2D(rows, 3, 0, 5, 6));
    SHOW(cudaMemcpy2D(back, 4, rows, pitch, 5, 1, cudaMemcpyDeviceToHost));
    SHOW(cudaMemcpy(back, rows, 0, (cudaMemcpyKind)9));
    SHOW(cudaMallocPitch(&seen, &pitch, ~(size_t)0, 1));
    SHOW(cudaMallocPitch(&seen, &pitch, (size_t)1 << 32, (size_t)1 << 32));
    SHOW(cudaMemGetInfo(nullptr, &bytes));
    pitch = 512;
    cudaGetLastError();
    SHOW(cudaMemcpy2DAsync(back, 5, rows, pitch, 5, 6, cudaMemcpyDeviceToHost));

    SHOW(cudaFree(rows));
    SHOW(cudaFree(nodes));
    SHOW(cudaFree(total));
    SHOW(cudaFree(mapped));
    SHOW(cudaFreeHost(managed));
    cudaGetLastError();
    SHOW(cudaFreeHost(mapped));
    SHOW(cudaFree(managed));
    SHOW(cudaFree(d_out));
    SHOW(cudaGetLastError());
}
