// What threads tell each other, as far as draw.py does not draw it: groups; atomics; shared memory and barriers.
#include "expect.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace cg = cooperative_groups;

template <class T> T *zeros(int n)
{
    T *p;
    OK(cudaMalloc(&p, n * sizeof(T)));
    OK(cudaMemset(p, 0, n * sizeof(T)));
    return p;
}

// ---- Warps: each thread has a row, with a column for each question

const int THREADS = 80; // two warps and a half
enum { BLOCK = 5, TILES = 13, ACTIVE = 8 };

// What PTX says of shfl.sync, of one lane: in C that reads as it does there.
static int source_of(int how, int lane, int distance, int width)
{
    int segmask = 32 - width, b = distance & 31, first = lane & segmask, last = first | (31 & ~segmask);
    int j = how == 0 ? first | (b & ~segmask) : how == 1 ? lane - b : how == 2 ? lane + b : lane ^ b;
    return (how == 1 ? j >= first : j <= last) ? j : lane;
}

template <class T> __global__ void shuffle(T *out, T first, int distance, int width)
{
    int t = threadIdx.x;
    T mine = first + T(t);
    out[t] = __shfl_sync(~0u, mine, distance, width);
    out[32 + t] = __shfl_up_sync(~0u, mine, distance, width);
    out[64 + t] = __shfl_down_sync(~0u, mine, distance, width);
    out[96 + t] = __shfl_xor_sync(~0u, mine, distance, width);
}

template <class T> static void shuffles_of(T first)
{
    T *out, h[128];
    OK(cudaMalloc(&out, sizeof h));
    for (int width = 1; width <= 32; width *= 2)
        for (int distance : {0, 1, 3, 7, 8, 15, 16, 17, 29, 31, 32, 33, 40, 64, 1 << 20, -1, -2, -5, -17, -32}) {
            shuffle<T><<<1, 32>>>(out, first, distance, width);
            OK(cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost));
            for (int i = 0; i < 128; i++)
                IS(double(float(h[i] - first)), source_of(i / 32, i % 32, distance, width));
        }
    OK(cudaFree(out));
}

__global__ void block(int *out)
{
    int t = threadIdx.x, *o = out + t * BLOCK;
    o[0] = __syncthreads_count(t % 3 == 0);
    o[1] = __syncthreads_or(t == 70);
    o[2] = __syncthreads_and(t < 80);
    o[3] = __syncthreads_and(t < 79) + __syncthreads_or(0);
    if (t >= 60)
        return; // threads that have ended do not count
    o[4] = __syncthreads_count(1) + __syncthreads_and(1);
}

__global__ void tiles(int *out)
{
    int t = threadIdx.x, *o = out + t * TILES;
    cg::thread_block whole = cg::this_thread_block();
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(whole);
    auto pair = cg::tiled_partition<2>(tile);
    o[0] = whole.thread_rank() + whole.size();
    o[1] = tile.thread_rank() * 1000 + tile.meta_group_rank() * 10 + tile.size();
    o[2] = tile.shfl(t, 5);
    o[3] = tile.shfl_down(t, 3);
    o[4] = tile.shfl_up(t, 3);
    o[5] = tile.shfl_xor(t, 6);
    o[6] = tile.ballot(t % 3 == 0);
    o[7] = tile.any(t == 9) + 2 * tile.all(t < 17);
    o[8] = cg::reduce(tile, t, cg::plus<int>());
    o[9] = cg::reduce(tile, -t, cg::greater<int>());
    o[10] = pair.shfl(t, 1);
    int is_all;
    o[11] = tile.match_any(t / 2) * 1000 + tile.match_all(t / 8, is_all);
    cg::thread_group quarter = cg::tiled_partition(whole, 4);
    o[12] = quarter.thread_rank() * 10 + quarter.size() +
            cg::tiled_partition<32>(whole).meta_group_size();
    tile.sync();
    whole.sync();
}

__device__ int asked;

__global__ void active(int *out)
{
    int t = threadIdx.x, *o = out + t * ACTIVE;
    __syncwarp();
    o[0] = __activemask();
    if (t % 4 == 1) {
        cg::coalesced_group group = cg::coalesced_threads();
        o[1] = group.size() * 100 + group.thread_rank();
        o[2] = group.shfl(t, 2);
        o[3] = group.ballot(t % 8 == 1);
        o[4] = group.shfl_down(t, 1);
        o[5] = group.shfl_up(t, 1);
        int before = 0; // one atomic for the whole group
        if (group.thread_rank() == 0)
            before = atomicAdd(&asked, group.size());
        o[6] = group.shfl(before, 0) >= 0;
    }
    o[7] = __activemask(); // nvcc lets those of the branch and the others meet here
}

// Of the lanes that a mask or a group names, those that have left the kernel are not waited for.
__global__ void lanes_leave(int first, int end, int *wrong)
{
    int t = threadIdx.x % 32, group = t & ~7;
    cg::coalesced_group all = cg::coalesced_threads();
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    if (t < first || t >= end)
        return;
    unsigned here = (2u << (end - 1)) - (1u << first);
    bool is_whole = first <= group && group + 8 <= end;
    __syncwarp();
    int n = __ballot_sync(~0u, t % 2) != (here & 0xaaaaaaaa);
    n += __any_sync(~0u, t < first) || !__all_sync(~0u, t < end);
    n += __reduce_max_sync(~0u, t) != end - 1;
    n += __match_any_sync(~0u, group) != (here & 0xffu << group);
    int next = __shfl_down_sync(~0u, t, 1, 8), other = tile.shfl_xor(t, 7);
    n += is_whole && (next != min(t + 1, group + 7) || other != (t ^ 7));
    n += __shfl_sync(~0u, t, end - 1) != end - 1;
    tile.sync(), all.sync();
    n += is_whole && cg::reduce(tile, t, cg::plus<int>()) != 8 * group + 28;
    n += tile.any(t < first) || all.ballot(1) != here;
    if (t % 3 == 0)
        return;
    n += __ballot_sync(~0u, t % 3 == 1) != (here & 0x92492492);
    atomicAdd(wrong, n);
}

// Of each column, a sum over some threads, each with a weight of its own.
static void ask(const char *name, void (*kernel)(int *), int columns,
                std::initializer_list<unsigned> wanted)
{
    static int rows[THREADS * 16];
    int *device = zeros<int>(THREADS * 16);
    kernel<<<1, THREADS>>>(device);
    OK(cudaMemcpy(rows, device, sizeof rows, cudaMemcpyDeviceToHost));
    for (int i = 0; i < columns; i++) {
        unsigned sum = 0;
        for (int t = 0; t < THREADS; t += t < 20 ? 1 : 7)
            sum += rows[t * columns + i] * (t + 1u);
        if (sum == wanted.begin()[i])
            continue;
        differences++;
        printf("%s: the sum of o[%d] is %u, not %u; threads 0 to 19:", name, i, sum,
               wanted.begin()[i]);
        for (int t = 0; t < 20; t++)
            printf(" %x", rows[t * columns + i]);
        printf("\n");
    }
    OK(cudaFree(device));
}

static void warps()
{
    shuffles_of<int>(-7), shuffles_of<unsigned>(1u << 31), shuffles_of<long>(1l << 40), shuffles_of<float>(0.25f);
    shuffles_of<unsigned long>(~0ul << 10), shuffles_of<long long>(-(1ll << 50)), shuffles_of<double>(1e9 + 0.5);
    shuffles_of<unsigned long long>(1ull << 60), shuffles_of<__half>(1), shuffles_of<__nv_bfloat16>(2);
    ask("block", block, BLOCK, {17577, 651, 651, 0, 26901});
    ask("tiles", tiles, TILES,
        {78848, 2419688, 27639, 27956, 25463, 26518, 54318, 372, 213300, 4294942912u, 27113, 43762005,
         13557});
    ask("active", active, ACTIVE, {9633141, 101894, 7282, 8170, 7810, 6522, 162, 9633141});
    int in_all;
    OK(cudaMemcpyFromSymbol(&in_all, asked, sizeof in_all));
    IS(in_all, 20);
    int *wrong = zeros<int>(1);
    for (int first : {0, 3, 8, 13})
        for (int end : {14, 16, 20, 32})
            lanes_leave<<<2, 96>>>(first, end, wrong);
    HAS(wrong, {0});
    OK(cudaFree(wrong));
}

// ---- Atomics: each of them, its result and what it returns; many threads on one address

__global__ void of_ints(int *i, long long *s)
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
    s[0] = atomicMin(s + 2, -1ll);
    s[1] = atomicMax(s + 2, 1ll << 50);
}

__global__ void of_unsigned_ints(unsigned *u, unsigned long long *l)
{
    int k = 0;
    u[k++] = atomicAdd(&u[20], 3u);
    u[k++] = atomicSub(&u[20], 4u);
    u[k++] = atomicInc(&u[20], 7u);
    u[k++] = atomicInc(&u[20], 7u);
    u[k++] = atomicDec(&u[20], 7u);
    u[k++] = atomicDec(&u[20], 7u);
    u[k++] = atomicMin(&u[20], 5u);
    u[k++] = atomicMax(&u[20], 0xfffffff0u);
    u[k++] = atomicExch(&u[20], 100u);
    u[k++] = atomicDec(&u[20], 7u); // above the bound: it becomes the bound
    u[k++] = atomicInc(&u[20], 6u); // and 0
    l[0] = atomicAdd(&l[4], 1ull << 40);
    l[1] = atomicMax(&l[4], 5ull);
    l[2] = atomicCAS(&l[4], 1ull << 40, 7ull);
    l[3] = atomicExch(&l[4], 8ull);
}

__global__ void of_fractions(float *f, double *d)
{
    f[0] = atomicAdd(&f[2], 0.5); // a double, made a float
    f[1] = atomicExch(&f[2], 2.5f);
    d[0] = atomicAdd(&d[1], 0.25);
}

__global__ void of_pairs(__half2 *halves, __nv_bfloat162 *pairs)
{
    atomicAdd(&halves[1], atomicAdd(halves, __floats2half2_rn(1, 2)));
    atomicAdd(&pairs[1], atomicAdd(pairs, __floats2bfloat162_rn(1, 2)));
}

// As CUDA's guide makes an atomic that there is not.
__device__ double multiply_atomically(double *address, double factor)
{
    unsigned long long *bits = (unsigned long long *)address, old = *bits, assumed;
    do {
        assumed = old;
        old =
            atomicCAS(bits, assumed, __double_as_longlong(__longlong_as_double(assumed) * factor));
    } while (assumed != old);
    return __longlong_as_double(old);
}

__global__ void of_many(unsigned *counter, float *total, int *largest, double *product,
                        unsigned short *small)
{
    atomicInc(counter, 1000000);
    atomicAdd(total, 0.5f);
    atomicMax(&largest[0], (int)(blockIdx.x * blockDim.x + threadIdx.x));
    atomicMax(&largest[1], __float_as_int(0.5f + threadIdx.x));
    atomicMax_system(&largest[2], (int)threadIdx.x);
    if (blockIdx.x > 0)
        return;
    atomicAdd_block(&counter[1], 1u);
    atomicExch(&counter[2], 3u);
    atomicCAS(&counter[3], 0u, 5u);
    atomicInc(&counter[4], 9); // 0 to 9, ten times
    if (threadIdx.x < 20)
        multiply_atomically(product, 2);
    if (threadIdx.x == 0)
        atomicCAS(small, (unsigned short)0, (unsigned short)7);
    if (clock64() < 0)
        __trap();
    __nanosleep(10);
}

static void atomics()
{
    int *i = zeros<int>(32);
    long long *s = zeros<long long>(32);
    unsigned *u = zeros<unsigned>(32);
    unsigned long long *l = zeros<unsigned long long>(32);
    float *f = zeros<float>(32);
    double *d = zeros<double>(32), one = 1;
    unsigned short *small = zeros<unsigned short>(2);
    of_ints<<<1, 1>>>(i, s);
    HAS(i, {0, 5, 3, 12, -7, 99, 35, 291, 300, 300});
    HAS(i + 20, {1000});
    HAS(s, {0, -1, 1ll << 50});
    of_unsigned_ints<<<1, 1>>>(u, l);
    HAS(u, {0, 3, ~0u, 0, 1, 0, 7, 5, 0xfffffff0, 100, 7});
    HAS(u + 20, {0});
    HAS(l, {0, 1ull << 40, 1ull << 40, 7, 8});
    of_fractions<<<1, 1>>>(f, d);
    HAS(f, {0, 0.5f, 2.5f});
    HAS(d, {0, 0.25});
    __half2 *halves = zeros<__half2>(2);
    __nv_bfloat162 *pairs = zeros<__nv_bfloat162>(2);
    of_pairs<<<1, 4>>>(halves, pairs);
    HAS((unsigned short *)halves, {0x4400, 0x4800, 0x4600, 0x4a00});
    HAS((unsigned short *)pairs, {0x4080, 0x4100, 0x40c0, 0x4140});
    OK(cudaFree(halves));
    OK(cudaFree(pairs));

    OK(cudaMemset(u, 0, 20));
    OK(cudaMemset(f, 0, 4));
    OK(cudaMemset(i, 0, 12));
    OK(cudaMemcpy(d, &one, sizeof one, cudaMemcpyHostToDevice));
    of_many<<<1000, 100>>>(u, f, i, d, small);
    HAS(u, {100000, 100, 3, 5, 0});
    HAS(f, {50000});
    HAS(i, {99999, 0x42c70000, 99});
    HAS(d, {1 << 20});
    HAS(small, {7, 0});
    cudaFree(i), cudaFree(s), cudaFree(u), cudaFree(l), cudaFree(f), cudaFree(d), cudaFree(small);
}

// ---- Shared memory and barriers: static, dynamic, of templates, in two dimensions; threads that leave early

template <typename T, int SIDE>
__global__ void transpose(const T *in, T *out, int rows, int columns)
{
    __shared__ T tile[SIDE][SIDE + 1];
    int x = blockIdx.x * SIDE + threadIdx.x, y = blockIdx.y * SIDE + threadIdx.y;
    if (x < columns && y < rows)
        tile[threadIdx.y][threadIdx.x] = in[y * columns + x];
    __syncthreads();
    x = blockIdx.y * SIDE + threadIdx.x;
    y = blockIdx.x * SIDE + threadIdx.y;
    if (x < rows && y < columns)
        out[y * rows + x] = tile[threadIdx.x][threadIdx.y];
}

extern __shared__ double all_kernels_dynamic[];

__global__ void prefix_sum(int *data, int n)
{
    extern __shared__ int work[];
    unsigned t = threadIdx.x;
    if (t >= (unsigned)n)
        return;
    work[t] = data[t];
    for (unsigned step = 1; step < (unsigned)n; step *= 2) {
        __syncthreads();
        int before = t >= step ? work[t - step] : 0;
        __syncthreads();
        work[t] += before;
    }
    data[t] = work[t];
}

template <typename T> struct Pair {
    T first, second;
};

__global__ void dynamic_of_structs(double *out)
{
    extern __shared__ Pair<double> pairs[];
    pairs[threadIdx.x] = {1.0 * threadIdx.x, 2.0 * threadIdx.x};
    __syncthreads();
    out[threadIdx.x] = pairs[blockDim.x - 1 - threadIdx.x].second + all_kernels_dynamic[0];
}

__device__ int one_warp_later(int *cell)
{
    __syncthreads();
    return *cell;
}

__global__ void barrier_in_a_function(int *out)
{
    __shared__ int cell;
    if (threadIdx.x == blockDim.x - 1 && threadIdx.z == 1)
        cell = 41;
    int seen = one_warp_later(&cell);
    if (threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0)
        *out = seen + 1;
}

__global__ void ways_to_write_it(int *out, int n)
{
    extern __shared__ volatile int dynamic[];
    static __shared__ int a;
    __shared__ alignas(16) short b[4];
    __shared__ __align__(8) unsigned char c[8], d[2][2];
    __shared__ struct {
        int x, y[3];
    } e;
    __shared__ float f[16 >= 32 ? 16 : 32];
    __shared__ __half g[2] __attribute__((aligned(32))), h; // of a class with constructors
    if (threadIdx.x == 0) {
        a = 1;
        b[3] = 2;
        c[7] = d[1][1] = 3;
        e.x = e.y[2] = 4;
        f[31] = 5;
        dynamic[n] = 6;
        g[1] = h = 7;
    }
    __syncthreads();
    if (threadIdx.x == blockDim.x - 1)
        *out = a + b[3] + c[7] + d[1][1] + e.x + e.y[2] + (int)f[31] + dynamic[n] + (int)(float)(g[1] + h);
}

// Every thread of the first block meets the barrier, and only some of the others.
__global__ void leave_early(int *out)
{
    __shared__ int part[64];
    part[threadIdx.x] = 1;
    if (blockIdx.x > 0 && threadIdx.x % 3 == 0) {
        out[blockIdx.x * 64 + threadIdx.x] = -1;
        return;
    }
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = part[63 - threadIdx.x];
}

// Each block's sum, then all blocks wait, then each block takes the next one's.
__global__ void sums(const int *in, int *part, int *next, int n)
{
    cg::grid_group grid = cg::this_grid();
    __shared__ int sum;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    for (int i = grid.thread_rank(); i < n; i += grid.size())
        atomicAdd(&sum, in[i]);
    __syncthreads();
    for (int round = 0; round < 5; round++) {
        if (threadIdx.x == 0)
            part[blockIdx.x] = sum + round;
        grid.sync();
        if (threadIdx.x == 0)
            next[blockIdx.x] = part[(blockIdx.x + 1) % gridDim.x];
        grid.sync();
    }
}

static void shared_memory()
{
    static int h[1000], r[1000];
    for (int i = 0; i < 1000; i++)
        h[i] = i;
    int *in = zeros<int>(1000), *out = zeros<int>(1000);
    double *pairs = zeros<double>(32);
    OK(cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice));

    transpose<int, 16><<<dim3(3, 2), dim3(16, 16)>>>(in, out, 25, 40);
    OK(cudaMemcpy(r, out, sizeof r, cudaMemcpyDeviceToHost));
    for (int y = 0; y < 40; y++)
        for (int x = 0; x < 25; x++)
            IS(r[y * 25 + x], h[x * 40 + y]);

    barrier_in_a_function<<<1, dim3(8, 4, 2)>>>(out);
    HAS(out, {42});
    ways_to_write_it<<<1, 40, 64>>>(out, 15);
    HAS(out, {42});
    dynamic_of_structs<<<1, 32, 32 * sizeof(Pair<double>)>>>(pairs);
    HAS(pairs, {62, 60});
    HAS(pairs + 31, {0});
    leave_early<<<4, 64>>>(out);
    OK(cudaMemcpy(r, out, 4 * 64 * sizeof *r, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 4 * 64; i++)
        IS(r[i], i >= 64 && i % 64 % 3 == 0 ? -1 : 1);

    int *next = out + 100, n = 1000;
    void *arguments[] = {&in, &out, &next, &n};
    OK(cudaLaunchCooperativeKernel((void *)sums, 40, 64, arguments, 0, 0));
    HAS(out, {2016 + 4, 6112 + 4, 10208 + 4}); // 4: the last round
    HAS(next + 39, {2020});
    FAILS(cudaErrorCooperativeLaunchTooLarge,
          cudaLaunchCooperativeKernel((void *)sums, 100000, 64, arguments, 0, 0));
    FAILS(cudaErrorInvalidValue, cudaLaunchCooperativeKernel((void *)sums, 0, 64, arguments, 0, 0));
    FAILS(cudaErrorInvalidResourceHandle,
          cudaLaunchCooperativeKernel((void *)shared_memory, 1, 64, arguments, 0, 0));

    prefix_sum<<<1, 128, 100 * sizeof(int)>>>(in, 100);
    OK(cudaMemcpy(r, in, 100 * sizeof *r, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 100; i++)
        IS(r[i], i * (i + 1) / 2);
    cudaFree(in), cudaFree(out), cudaFree(pairs);
}

int main(void)
{
    warps();
    atomics();
    shared_memory();
    OK(cudaGetLastError());
    return all_is_well();
}
