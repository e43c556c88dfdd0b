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
enum { TILES = 3, ACTIVE = 8 };

template <class T> __global__ void shuffle(float *out)
{
    out[threadIdx.x] = float(__shfl_down_sync(~0u, T(float(threadIdx.x)), 1));
}

__global__ void tiles(int *out)
{
    int t = threadIdx.x, *o = out + t * TILES;
    cg::thread_block whole = cg::this_thread_block();
    auto pair = cg::tiled_partition<2>(cg::tiled_partition<8>(whole));
    cg::thread_group quarter = cg::tiled_partition(whole, 4);
    o[0] = whole.thread_rank() + whole.size();
    o[1] = pair.shfl(t, 1);
    o[2] = quarter.thread_rank() * 10 + quarter.size() + cg::tiled_partition<32>(whole).meta_group_size();
    quarter.sync();
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
        if (group.thread_rank() == 0) before = atomicAdd(&asked, group.size());
        o[6] = group.shfl(before, 0) >= 0;
    }
    o[7] = __activemask(); // nvcc lets those of the branch and the others meet here
}

// Of each column, a sum over some threads, each with a weight of its own.
static void ask(const char *name, void (*kernel)(int *), int columns, std::initializer_list<unsigned> wanted)
{
    static int rows[THREADS * 16];
    int *device = zeros<int>(THREADS * 16);
    kernel<<<1, THREADS>>>(device);
    OK(cudaMemcpy(rows, device, sizeof rows, cudaMemcpyDeviceToHost));
    for (int i = 0; i < columns; i++) {
        unsigned sum = 0;
        for (int t = 0; t < THREADS; t += t < 20 ? 1 : 7) sum += rows[t * columns + i] * (t + 1u);
        if (sum == wanted.begin()[i]) continue;
        differences++;
        printf("%s: the sum of o[%d] is %u, not %u; threads 0 to 19:", name, i, sum, wanted.begin()[i]);
        for (int t = 0; t < 20; t++) printf(" %x", rows[t * columns + i]);
        printf("\n");
    }
    OK(cudaFree(device));
}

static void warps()
{
    float *out = zeros<float>(32);
    for (void (*kernel)(float *) : {shuffle<long>, shuffle<unsigned long>, shuffle<__half>, shuffle<__nv_bfloat16>}) {
        kernel<<<1, 32>>>(out);
        HAS(out, {1, 2, 3, 4});
        OK(cudaMemset(out, 0, 16));
    }
    OK(cudaFree(out));
    ask("tiles", tiles, TILES, {78848, 27113, 13557});
    ask("active", active, ACTIVE, {9633141, 101894, 7282, 8170, 7810, 6522, 162, 9633141});
    int in_all;
    OK(cudaMemcpyFromSymbol(&in_all, asked, sizeof in_all));
    IS(in_all, 20);
}

// ---- Atomics: what they return, and at their bounds; many threads on one address

__global__ void of_ints(int *i)
{
    i[0] = atomicAdd(&i[20], 5);
    i[1] = atomicExch(&i[20], 12);
    i[2] = atomicCAS(&i[20], 1, 2);
    i[3] = atomicCAS(&i[20], i[20], 1000);
}

__global__ void of_unsigned_ints(unsigned *u, unsigned long long *l)
{
    int k = 0;
    u[k++] = atomicSub(&u[20], 1u);
    u[k++] = atomicInc(&u[20], 7u);
    u[k++] = atomicInc(&u[20], 7u);
    u[k++] = atomicDec(&u[20], 7u);
    u[k++] = atomicDec(&u[20], 7u);
    u[k++] = atomicExch(&u[20], 100u);
    u[k++] = atomicDec(&u[20], 7u); // above the bound: it becomes the bound
    u[k++] = atomicInc(&u[20], 6u); // and 0
    l[0] = atomicExch(&l[4], 1ull << 40);
    l[1] = atomicCAS(&l[4], 1ull << 40, 7ull);
}

__global__ void of_fractions(float *f)
{
    f[0] = atomicAdd(&f[2], 0.5); // a double, made a float
    f[1] = atomicExch(&f[2], 2.5f);
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
        old = atomicCAS(bits, assumed, __double_as_longlong(__longlong_as_double(assumed) * factor));
    } while (assumed != old);
    return __longlong_as_double(old);
}

__global__ void of_many(unsigned *counter, double *product, unsigned short *small)
{
    atomicInc(counter, 9); // 0 to 9, two times
    multiply_atomically(product, 2);
    if (threadIdx.x == 0) atomicCAS(small, (unsigned short)0, (unsigned short)7);
    if (clock64() < 0) __trap();
    __nanosleep(10);
}

static void atomics()
{
    int *i = zeros<int>(32);
    unsigned *u = zeros<unsigned>(32);
    unsigned long long *l = zeros<unsigned long long>(32);
    float *f = zeros<float>(32);
    double *d = zeros<double>(32), one = 1;
    unsigned short *small = zeros<unsigned short>(2);
    of_ints<<<1, 1>>>(i);
    HAS(i, {0, 5, 12, 12});
    HAS(i + 20, {1000});
    of_unsigned_ints<<<1, 1>>>(u, l);
    HAS(u, {0, ~0u, 0, 1, 0, 7, 100, 7});
    HAS(u + 20, {0});
    HAS(l, {0, 1ull << 40, 0, 0, 7});
    of_fractions<<<1, 1>>>(f);
    HAS(f, {0, 0.5f, 2.5f});
    __half2 *halves = zeros<__half2>(2);
    __nv_bfloat162 *pairs = zeros<__nv_bfloat162>(2);
    of_pairs<<<1, 4>>>(halves, pairs);
    HAS((unsigned short *)halves, {0x4400, 0x4800, 0x4600, 0x4a00});
    HAS((unsigned short *)pairs, {0x4080, 0x4100, 0x40c0, 0x4140});
    OK(cudaFree(halves));
    OK(cudaFree(pairs));

    OK(cudaMemset(u, 0, 4));
    OK(cudaMemcpy(d, &one, sizeof one, cudaMemcpyHostToDevice));
    of_many<<<2, 10>>>(u, d, small);
    HAS(u, {0});
    HAS(d, {1 << 20});
    HAS(small, {7, 0});
    cudaFree(i), cudaFree(u), cudaFree(l), cudaFree(f), cudaFree(d), cudaFree(small);
}

// ---- Shared memory: static, dynamic, of templates; a barrier in a function

extern __shared__ double all_kernels_dynamic[];

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
    if (threadIdx.x == blockDim.x - 1 && threadIdx.z == 1) cell = 41;
    int seen = one_warp_later(&cell);
    if (threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0) *out = seen + 1;
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

__global__ void of_the_grid(int *out)
{
    cg::grid_group grid = cg::this_grid();
    out[grid.thread_rank()] = grid.size() * 10 + grid.block_rank();
}

static void shared_memory()
{
    int *out = zeros<int>(6);
    double *pairs = zeros<double>(32);
    barrier_in_a_function<<<1, dim3(8, 4, 2)>>>(out);
    HAS(out, {42});
    ways_to_write_it<<<1, 40, 64>>>(out, 15);
    HAS(out, {42});
    dynamic_of_structs<<<1, 32, 32 * sizeof(Pair<double>) + 4>>>(pairs); // aligned, whatever the size
    HAS(pairs, {62, 60});
    HAS(pairs + 31, {0});
    void *arguments[] = {&out}, *kernel = (void *)of_the_grid;
    OK(cudaLaunchCooperativeKernel(kernel, 2, 3, arguments, 0, 0));
    HAS(out, {60, 60, 60, 61, 61, 61});
    FAILS(cudaErrorCooperativeLaunchTooLarge, cudaLaunchCooperativeKernel(kernel, 100000, 64, arguments, 0, 0));
    FAILS(cudaErrorInvalidValue, cudaLaunchCooperativeKernel(kernel, 0, 64, arguments, 0, 0));
    FAILS(cudaErrorInvalidResourceHandle, cudaLaunchCooperativeKernel((void *)shared_memory, 1, 64, arguments, 0, 0));
    cudaFree(out), cudaFree(pairs);
}

// ---- Blocks that wait for each other

// Each waits for the block that took the number before its own, and so has begun: a scan in one pass does that.
__global__ void one_after_the_other(int *next, int *is_done, int *sum)
{
    __shared__ int number;
    if (threadIdx.x == 0) number = atomicAdd(next, 1);
    __syncthreads();
    if (threadIdx.x > 0) return;
    while (number > 0 && atomicAdd(&is_done[number - 1], 0) == 0) continue;
    __threadfence();
    *sum += number;
    __threadfence();
    atomicExch(&is_done[number], 1);
}

static void blocks_in_a_row()
{
    for (int threads : {1, 1024}) {
        const int n = threads == 1 ? 20000 : 200;
        int *next = zeros<int>(2 + n);
        one_after_the_other<<<n, threads>>>(next, next + 2, next + 1);
        HAS(next, {n, n * (n - 1) / 2, 1});
        cudaFree(next);
    }
}

// ---- Tiles of several warps, of which one leaves, and the others meet more or less often

template <unsigned Size> __global__ void meet(int *out)
{
    __shared__ cg::block_tile_memory<512> memory;
    __shared__ int s[512];
    auto tile = cg::tiled_partition<Size>(cg::this_thread_block(memory));
    unsigned t = threadIdx.x, first = t / Size * Size;
    if (tile.meta_group_rank() == 1)
        return;
    s[t] = t;
    tile.sync();
    out[t] = s[first + (t + 1) % Size] - first;
    for (unsigned i = 0; i <= tile.meta_group_rank(); i++) out[t] += cg::reduce(tile, (int)(t - first), cg::plus<int>());
    auto warp = cg::tiled_partition<32>(tile);
    out[t] += 10000000 * (warp.meta_group_size() == Size / 32 && warp.meta_group_rank() == t % Size / 32);
    out[t] += tile.shfl((int)t, 5) - first + 1000000 * tile.any(t % Size == 7) + 2000000 * tile.all(t % Size < 7);
}

__global__ void meet_often(int *out)
{
    auto tile = cg::tiled_partition<64>(cg::this_thread_block());
    for (int i = 0; i < 20000; i++) out[threadIdx.x] = cg::reduce(tile, out[threadIdx.x], cg::plus<int>()) / 64 + 1;
}

template <unsigned Size> static void tiles_of()
{
    int *out = zeros<int>(512), h[512];
    meet<Size><<<1, 512>>>(out);
    OK(cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost));
    for (int t = 0; t < 512; t++) {
        int tile = t / Size, sum = Size * (Size - 1) / 2;
        IS(h[t], tile == 1 ? 0 : (t + 1) % (int)Size + (tile + 1) * sum + 5 + 11000000);
    }
    OK(cudaMemset(out, 0, 64 * sizeof *out));
    meet_often<<<1, 64>>>(out);
    HAS(out, {20000, 20000});
    OK(cudaFree(out));
}

// ---- Matches compare bits, and parts of a group count its threads

__global__ void match_and_part(unsigned *out)
{
    int t = threadIdx.x;
    float x = t == 3 || t == 5 ? NAN : t == 1 ? -0.0f : 0.0f;
    out[t] = __match_any_sync(~0u, x) & 63;
    if (t % 8 == 0) {
        auto part = cg::tiled_partition(cg::coalesced_threads(), 2);
        out[32 + t / 8] = part.size() * 10 + part.thread_rank();
    }
}

static void matches_and_parts()
{
    unsigned *out;
    OK(cudaMalloc(&out, 36 * sizeof *out));
    match_and_part<<<1, 32>>>(out);
    HAS(out, {21, 2, 21, 40, 21, 40});
    HAS(out + 32, {20, 21, 20, 21});
    OK(cudaFree(out));
}

// ---- Shuffles of threads that are in a branch together: of every distance, what every one of them gets

__global__ void shuffle_in_a_branch(unsigned lanes, int (*out)[32][3])
{
    int t = threadIdx.x;
    if (!(lanes >> t & 1))
        return;
    cg::coalesced_group group = cg::coalesced_threads();
    for (int distance = 0; distance < 32; distance++) {
        out[t][distance][0] = group.shfl_down(t, distance);
        out[t][distance][1] = group.shfl_up(t, distance);
        out[t][distance][2] = group.shfl(t, distance % group.size());
    }
}

static void branches()
{
    static int h[32][32][3];
    int *out = zeros<int>(sizeof h / sizeof(int));
    for (unsigned lanes : {0xffffffffu, 1u, 0x80000000u, 0x80000001u, 0x7ffffffeu, 0xf0f00f0fu, 0x00012480u}) {
        int group[32], size = 0;
        for (int t = 0; t < 32; t++)
            if (lanes >> t & 1) group[size++] = t;
        shuffle_in_a_branch<<<1, 32>>>(lanes, (int(*)[32][3])out);
        OK(cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost));
        for (int i = 0; i < size; i++)
            for (int d = 0; d < 32; d++) { // whose neighbour is not there keeps its own value
                IS(h[group[i]][d][0], group[i + d < size ? i + d : i]);
                IS(h[group[i]][d][1], group[i >= d ? i - d : i]);
                IS(h[group[i]][d][2], group[d % size]);
            }
    }
    OK(cudaFree(out));
}

int main(void)
{
    matches_and_parts();
    branches();
    tiles_of<64>(), tiles_of<128>(), tiles_of<512>();
    warps();
    atomics();
    shared_memory();
    blocks_in_a_row();
    OK(cudaGetLastError());
    return all_is_well();
}
