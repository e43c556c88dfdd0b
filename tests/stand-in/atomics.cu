// Atomics: each of them, its result and what it returns; many threads on one address.
#include <cstdio>

__global__ void one_of_each(int *i, unsigned *u, unsigned long long *l, float *f, double *d, long long *s)
{
    int k = 0;
    i[k++] = atomicAdd(&i[20], 5);
    i[k++] = atomicSub(&i[20], 2);
    i[k++] = atomicExch(&i[20], 12);
    i[k++] = atomicMin(&i[20], -7);
    i[k++] = atomicMax(&i[20], 99);
    i[k++] = atomicAnd(&i[20], 0x3f);
    i[k++] = atomicOr(&i[20], 0x100);
    i[k++] = atomicXor(&i[20], 0xf);
    i[k++] = atomicCAS(&i[20], 1, 2);
    i[k++] = atomicCAS(&i[20], i[20], 1000);
    k = 0;
    u[k++] = atomicAdd(&u[20], 3u);
    u[k++] = atomicSub(&u[20], 4u);
    u[k++] = atomicInc(&u[20], 7u);
    u[k++] = atomicInc(&u[20], 7u);
    u[k++] = atomicDec(&u[20], 7u);
    u[k++] = atomicDec(&u[20], 7u);
    u[k++] = atomicMin(&u[20], 5u);
    u[k++] = atomicMax(&u[20], 0xfffffff0u);
    u[k++] = atomicExch(&u[20], 1u);
    l[0] = atomicAdd(&l[9], 1ull << 40);
    l[1] = atomicMax(&l[9], 5ull);
    l[2] = atomicCAS(&l[9], 1ull << 40, 7ull);
    l[3] = atomicExch(&l[9], 8ull);
    f[0] = atomicAdd(&f[9], 0.5); // a double, made a float
    f[1] = atomicExch(&f[9], 2.5f);
    d[0] = atomicAdd(&d[9], 0.25);
    s[0] = atomicMin(s + 9, -1ll);
    s[1] = atomicMax(s + 9, 1ll << 50);
}

// As CUDA's guide makes an atomic that there is not.
__device__ double multiply_atomically(double *address, double factor)
{
    unsigned long long *bits = (unsigned long long *)address, old = *bits, assumed;
    do {
        assumed = old;
        old = atomicCAS(bits, assumed, __double_as_longlong(__longlong_as_double(assumed) * factor));
    } while (assumed != old);
    return __longlong_as_double(old);
}

__global__ void bits(double *product, int *largest, int *counts)
{
    multiply_atomically(product, 2);
    atomicMax(largest, __float_as_int(0.5f + threadIdx.x));
    if (threadIdx.x == 0) {
        counts[0] = __popc(0xf0f0u) + __popcll(1ull << 40);
        counts[1] = __clz(1) * 100 + __clz(0);
        counts[2] = __ffs(8) * 100 + __ffs(0);
        counts[3] = __clzll(1) * 100 + __ffsll(1ll << 40);
        counts[4] = (int)__int_as_float(0x40400000) + (int)__uint_as_float(__float_as_uint(4.0f));
    }
}

__global__ void histogram(const unsigned char *text, int n, int *bins)
{
    __shared__ int mine[16];
    if (threadIdx.x < 16)
        mine[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[text[i] % 16], 1);
    __syncthreads();
    if (threadIdx.x < 16)
        atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

__global__ void count(unsigned *counter, float *total, int *largest)
{
    atomicInc(counter, 1000000);
    atomicAdd(total, 0.5f);
    atomicMax(largest, (int)(blockIdx.x * blockDim.x + threadIdx.x));
}

template <class T> T *zeros(int n)
{
    T *p;
    cudaMalloc(&p, n * sizeof(T));
    cudaMemset(p, 0, n * sizeof(T));
    return p;
}

template <class T> void show(const char *name, const char *format, T *device, int n, int last)
{
    T h[32];
    cudaMemcpy(h, device, 32 * sizeof(T), cudaMemcpyDeviceToHost);
    printf("%s:", name);
    for (int i = 0; i < n; i++)
        printf(format, h[i]);
    printf(" ->");
    printf(format, h[last]);
    printf("\n");
    cudaFree(device);
}

int main()
{
    int *i = zeros<int>(32);
    unsigned *u = zeros<unsigned>(32);
    unsigned long long *l = zeros<unsigned long long>(32);
    float *f = zeros<float>(32);
    double *d = zeros<double>(32);
    long long *s = zeros<long long>(32);
    one_of_each<<<1, 1>>>(i, u, l, f, d, s);
    show("int", " %d", i, 10, 20);
    show("unsigned", " %u", u, 9, 20);
    show("unsigned long long", " %llu", l, 4, 9);
    show("float", " %g", f, 2, 9);
    show("double", " %g", d, 1, 9);
    show("long long", " %lld", s, 2, 9);

    static unsigned char text[100000];
    for (int k = 0; k < 100000; k++)
        text[k] = (unsigned char)(k * 7);
    unsigned char *d_text;
    cudaMalloc(&d_text, sizeof text);
    cudaMemcpy(d_text, text, sizeof text, cudaMemcpyHostToDevice);
    int *bins = zeros<int>(32);
    histogram<<<20, 256>>>(d_text, 100000, bins);
    show("histogram", " %d", bins, 16, 0);
    cudaFree(d_text);

    unsigned *counter = zeros<unsigned>(32);
    float *total = zeros<float>(32);
    int *largest = zeros<int>(32);
    count<<<1000, 100>>>(counter, total, largest);
    show("counter", " %u", counter, 1, 0);
    show("total", " %g", total, 1, 0);
    show("largest", " %d", largest, 1, 0);
    double *product = zeros<double>(32), one = 1;
    int *largest_bits = zeros<int>(32), *counts = zeros<int>(32);
    cudaMemcpy(product, &one, sizeof one, cudaMemcpyHostToDevice);
    bits<<<1, 20>>>(product, largest_bits, counts);
    show("product", " %g", product, 1, 0);
    show("largest float", " %x", largest_bits, 1, 0);
    show("bits", " %d", counts, 5, 0);
    printf("%s\n", cudaGetErrorName(cudaGetLastError()));
}
