// One bug at a time: ./bugs NAME. The table in common/cpu/README.md says what the stand-in answers to each of IF; the
// line that it has to name bears the bug's name here. Those of MORE are in ../stand-in.bats.
#include <assert.h>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

const int N = 250; // elements: 1000 bytes

// ---- Races: the arrays are zero at first, and large enough

__global__ void Counter(int *n) { *n += 1; } // counter

__global__ void Smooth(int *a)
{
    int i = threadIdx.x + 1;
    a[i] = (a[i - 1] + a[i + 1]) / 2 + i; // in-place
}

__global__ void Copies(int *a)
{
    memcpy(&a[2 * threadIdx.x], &a[2 * threadIdx.x + 2], 2 * sizeof *a); // memcpy
}

__device__ __noinline__ void add_one(int *n) { *n += 1; } // function
__global__ void InFunction(int *n) { add_one(n); }

__device__ int total;

__global__ void Mixed(int *n)
{
    if (threadIdx.x == 3)
        *n = 1; // mixed
    else
        atomicAdd(n, 1);
}

__global__ void BlockScope(int *n) { atomicAdd_block(n, 1); } // block-scope

__global__ void EachScope(int *n, int at)
{
    unsigned *u = (unsigned *)n; // atomicInc and atomicDec have no other type
    if (at == 0) atomicExch_block(n, 1);
    if (at == 1) atomicCAS_block(n, 0, 1);
    if (at == 2) atomicSub_block(n, 1);
    if (at == 3) atomicMin_block(n, -1);
    if (at == 4) atomicMax_block(n, 1);
    if (at == 5) atomicAnd_block(n, 1);
    if (at == 6) atomicOr_block(n, 1);
    if (at == 7) atomicXor_block(n, 1);
    if (at == 8) atomicInc_block(u, 9);
    if (at == 9) atomicDec_block(u, 9);
}

__global__ void TwoScopes(int *n)
{
    if (blockIdx.x % 2)
        atomicAdd(n, 1);
    else
        atomicAdd_block(n, 1);
}

// The same memory by two names: of one, nothing seems to be written.
__global__ void TwoNames(int *out, const int *in, int *sum)
{
    sum[threadIdx.x] = in[0]; // two-names
    if (threadIdx.x == 31) out[0] = 2; // two-names
}

__global__ void Condition(int *a)
{
    int i = threadIdx.x, next = a[i + 1]; // condition
    if (i == 3) a[i] = next + 5; // condition
}

__global__ void Branches(int *a, int n)
{
    if ((int)blockIdx.x < n)
        a[0] = blockIdx.x;
    else
        a[0] = blockIdx.x; // branches
}

template <bool has_fence, bool is_for_block = false> __global__ void LastBlock(int *partial, unsigned *count, int *sum)
{
    if (threadIdx.x > 0) return;
    partial[blockIdx.x] = blockIdx.x;
    if (has_fence) is_for_block ? __threadfence_block() : __threadfence();
    if (atomicAdd(count, 1) == gridDim.x - 1)
        for (unsigned i = 0; i < gridDim.x; i++) *sum += partial[i]; // no-fence, block-fence
}

__global__ void HandOver(int *value, int *flag, int *out)
{
    if (blockIdx.x == 0) {
        *value = 7; // no-flag
        __threadfence();
        atomicExch(flag, 1);
    } else {
        *out = *value; // no-flag: it does not look whether the flag is 1
    }
}

__global__ void SayWithoutFence(int *data, volatile int *flag)
{
    *data = 42;
    *flag = 1;
}

__global__ void LockWithoutFence(int *lock, int *sum)
{
    if (threadIdx.x % 32) return;
    while (atomicCAS(lock, 0, 1)) continue;
    __threadfence();
    *sum += 1; // lock-of-blocks, lock-of-warps
    atomicExch(lock, 0);
}

struct Shape {
    __host__ __device__ virtual int corners() { return 0; } // constructor
};
struct Square : Shape {
    __host__ __device__ Square() {} // constructor
    __host__ __device__ int corners() override { return 4; }
};
__global__ void Make(Shape *room)
{
    if (threadIdx.x % 2)
        new (room) Square;
    else
        new (room) Shape; // constructor
}

__global__ void ThreeBytes(unsigned char *text) // of the same four
{
    if (threadIdx.x == 0) {
        int sum = text[0]; // three-bytes
        sum += text[1];
        sum += text[2];
        text[100] = sum;
    } else {
        text[0] = 7; // three-bytes
    }
}

__global__ void TwoBytes(char *text) // of the same four, one after the other
{
    if (threadIdx.x == 0) text[0] = 1, text[1] = 2; // two-bytes
    if (threadIdx.x == 1) text[0] = 3; // two-bytes
}

// ---- Shared memory

__global__ void BinsOfWarps(int *out) // the first warp waits for its own zeros, the second does not
{
    __shared__ int bins[32];
    if (threadIdx.x < 32) bins[31 - threadIdx.x] = 0; // warps-zeros
    __syncwarp();
    atomicAdd(&bins[threadIdx.x % 32], 1); // warps-zeros
    __syncthreads();
    out[threadIdx.x] = bins[threadIdx.x % 32];
}

__global__ void Reverse(int *a)
{
    __shared__ int s[64];
    s[threadIdx.x] = a[threadIdx.x];
    a[threadIdx.x] = s[63 - threadIdx.x]; // no-barrier
}

__global__ void Tiles(const int *a, int *sums)
{
    __shared__ int tile[64];
    int sum = 0;
    for (int start = 0; start < 192; start += 64) {
        tile[threadIdx.x] = a[start + threadIdx.x]; // no-second-barrier
        __syncthreads();
        for (int i = 0; i < 64; i++) sum += tile[i];
    }
    sums[threadIdx.x] = sum;
}

__global__ void BlockSum(const int *a, int *sum)
{
    __shared__ int part[64];
    int t = threadIdx.x;
    part[t] = a[t] + t;
    __syncthreads();
    for (int half = 32; half > 0; half /= 2)
        if (t < half) part[t] += part[t + half]; // in-step
    if (t == 0) *sum = part[0];
}

__global__ void LastWarp(const int *a, int *sum) // as older lessons have it: a warp is not in step
{
    __shared__ volatile int part[64];
    int t = threadIdx.x;
    part[t] = a[t] + t;
    __syncthreads();
    if (t < 32)
        for (int half = 32; half > 0; half /= 2) part[t] += part[t + half]; // volatile
    if (t == 0) *sum = part[0];
}

// A fence and a volatile read hand nothing on: only a write behind a fence does.
__global__ void ReadBehindFence(int *out, volatile int *flag)
{
    __shared__ int s;
    int t = threadIdx.x, seen = 0;
    if (t == 0) s = 1, __threadfence_block(), seen = *flag; // read-behind-fence
    if (t == 32) seen = *flag + s; // read-behind-fence
    out[t] = seen;
}

// What a thread of another warp has written: in a scan, and written once.
template <bool is_scan>
__global__ void OtherWarps(int *out)
{
    __shared__ volatile int part[64];
    int t = threadIdx.x;
    part[t] = t;
    if (is_scan) __syncthreads();
    int before = t ? part[t - 1] : 0; // volatile-warps, volatile-once
    __syncwarp();
    if (is_scan) part[t] += before;
    out[t] = before + part[t];
}

__global__ void BehindFence(int *count, int *sum)
{
    __shared__ volatile int part[64];
    int t = threadIdx.x;
    __threadfence();
    atomicAdd(count, 1);
    part[t] = t;
    part[t + 32] = t;
    __syncwarp();
    for (int half = 32; half > 0; half /= 2) part[t] += part[t + half]; // behind-fence
    if (t == 0) *sum = part[0];
}

__global__ void LastWarpOfAll(int *a, int *sum) // the same in global memory
{
    volatile int *v = a;
    int t = threadIdx.x;
    a[t] = t;
    a[t + 32] = t;
    __syncthreads();
    v[t] += v[t + 32];
    v[t] += v[t + 16]; // volatile-global
    v[t] += v[t + 8]; // volatile-global
    v[t] += v[t + 4]; // volatile-global
    if (t == 0) *sum = a[0];
}

__global__ void ZeroTooLate(const int *a, int *out)
{
    __shared__ int total;
    if (threadIdx.x == 0) total = 0; // no-barrier-after
    atomicAdd(&total, a[threadIdx.x]); // no-barrier-after
    __syncthreads();
    if (threadIdx.x == 0) *out = total;
}

namespace outside { __shared__ int total; }
__global__ void SharedTotal(const int *a, int *out)
{
    if (threadIdx.x == 0) outside::total = 0;
    __syncthreads();
    atomicAdd(&outside::total, a[threadIdx.x]);
    if (threadIdx.x == 63) *out = outside::total; // shared-total
}

__global__ void PastShared(int *out, int step)
{
    __shared__ int s[64];
    int *p = s;
    p[threadIdx.x + step] = 1; // past-shared
    out[threadIdx.x] = p[threadIdx.x + step];
}

__global__ void PastDynamic(int *out)
{
    extern __shared__ int s[];
    s[threadIdx.x] = 1; // past-dynamic, no-dynamic
    out[threadIdx.x] = s[threadIdx.x];
}

__global__ void UnwrittenShared(int *out)
{
    __shared__ int s[64];
    if (threadIdx.x % 2) s[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x]; // unwritten-shared
}

// Threads write elements of one word; then the last one accesses what the first wrote, and only its own lies between.
template <class T>
__global__ void Parts(int *out, bool is_shared, bool is_write, bool has_barrier)
{
    __shared__ T s[4];
    T *t = is_shared ? s : (T *)(out + 1);
    t[threadIdx.x] = 1; // parts
    if (has_barrier) __syncthreads();
    if (threadIdx.x + 1 < blockDim.x) return;
    if (is_write)
        t[0] = 9; // parts
    else
        *out = t[0]; // parts
}

template <class T>
__global__ void UnwrittenParts(int *out) // of a word, which the block before has written
{
    __shared__ T s[64];
    if (threadIdx.x % 2 || blockIdx.x != 2) s[threadIdx.x] = 1;
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x]; // unwritten-parts, unwritten-parts-short
}

// ---- Addresses

__global__ void WriteBoth(int *one, int *other) { *one = *other = 1; }
__global__ void Fill(int *a, int shift)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x + shift;
    a[i] = i; // past-write, by-name-of-pointer, before, two-before, far, freed, host, null, far-behind, far-below, nearly-null, streams-apart, streams-read
}
__global__ void FindOnce(int *found, int who)
{
    for (int i = 0; i < 2; i++) {
        if (*found) return; // found-once
        if (i && (int)(blockIdx.x * blockDim.x + threadIdx.x) == who) *found = 1; // found-once
    }
}
__global__ void Neighbours(int *a, int *sum)
{
    a[threadIdx.x] = 1;
    sum[threadIdx.x] = a[threadIdx.x] + a[(threadIdx.x + 33) % 64]; // neighbours
}
__global__ void OneForAll(int *out)
{
    __shared__ int pivot;
    pivot = threadIdx.x; // one-for-all
    __syncthreads();
    out[threadIdx.x] = pivot;
}
__global__ void Sum(const int *a, int *sum, int n)
{
    int s = 0;
    for (int i = 0; i < n; i++) s += a[i]; // past-read, unwritten, unwritten-tail, streams, streams-apart
    *sum = s;
}
struct Box {
    int *a;
};
__global__ void FillBox(Box box) { box.a[threadIdx.x] = 1; } // host-in-struct

__global__ void PastHeap(int *out, int n)
{
    int *p = (int *)malloc(n * sizeof *p);
    for (int i = 0; i <= n; i++) p[i] = i; // past-heap
    out[threadIdx.x] = p[n - 1];
    free(p);
}

__global__ void HeapAcrossEnd(double *out, int bytes) // five and a half
{
    double *piece = (double *)malloc(bytes);
    piece[4] = 1, piece[5] = 2;
    out[0] = piece[4];
}

__global__ void HeapByPointer(int *out, int at)
{
    int *p = (int *)malloc(40), *other = (int *)malloc(40);
    p[0] = other[0] = 1;
    if (at == 99) free(p), at = 0;
    p[at] = 2; // heap
    out[0] = p[0] + other[0];
}

__global__ void PastArray(int *out, int n)
{
    int local[8] = {};
    local[n] = 1; // past-array
    out[0] = local[n - 1];
}

__device__ int deep(volatile int *p, int n) // stack
{ // stack
    volatile char room[20000]; // stack
    room[n] = (char)n; // stack
    return n ? deep(p, n - 1) + room[n] : *p; // stack
}
__global__ void Deep(int *p) { *p = deep(p, 1000); }

// ---- Arithmetic, and waiting

__global__ void Misaligned(float *p) { *(float4 *)p = *(float4 *)(p + 1); } // misaligned
__global__ void OddInt(char *p, int *sum) { *sum = *(int *)(p + 1); } // misaligned-int
__global__ void FarShift(int *p, int bits) { *p = 1 << bits; } // far-shift
__global__ void Divide(volatile int *p) { p[0] = 7 / p[1]; }

__global__ void TwoBarriers(int *p)
{
    if (threadIdx.x < 5)
        __syncthreads(); // two-barriers
    else
        __syncthreads(); // two-barriers
    *p = 1;
}

__global__ void HalfWarp(int *p)
{
    if (threadIdx.x < 16) p[threadIdx.x] = __shfl_sync(0xffffffff, 1, 0);
    __syncthreads();
}

__global__ void TwoKinds(int *p)
{
    if (threadIdx.x < 16)
        p[threadIdx.x] = __shfl_sync(0xffffffff, 1, 0); // two-kinds
    else
        p[threadIdx.x] = __ballot_sync(0xffffffff, 1);
}

__global__ void TwoMasks(int *p)
{
    p[threadIdx.x] = __shfl_sync(threadIdx.x < 16 ? 0xffffffff : 0xffff0001, 1, 0); // two-masks
}

__global__ void Forever(volatile int *flag)
{
    while (*flag == 0) continue;
}

__global__ void WaitForAll(int *count)
{
    atomicAdd(count, 1);
    while (atomicAdd(count, 0) < (int)(gridDim.x * blockDim.x)) continue;
}

// ---- More

__global__ void TwoInALine(int *n) { n[0] += 1, n[1] += 1; } // again

__global__ void TwoRaces(int *n, int *out)
{
    if (threadIdx.x < 49) {
        atomicAdd(&n[0], 1); // two-races
        atomicAdd(&n[1], 1); // two-races
        out[0] = 7; // two-races
    } else {
        int x = n[0]; // two-races
        int y = n[1]; // two-races
        out[0] = x + y; // two-races
    }
}

__device__ void check(int n) { assert(n > 3); }
template <class T> __device__ T check(T n, T most) { assert(n > most); return n; }
struct Checked { __device__ void check(int n) const { assert(n > 3); } };
__global__ void CheckIn(int at)
{
    if (at == 0) check(3);
    if (at == 1) check(3, 3);
    if (at == 2) Checked{}.check(3);
}
__global__ void Check(int n)
{
    printf("lost\n");
    assert(n > 3); // assert
}
__global__ void Follow(int **p) { **p = 1; } // never-set
__global__ void Call(int *p) { cudaMemsetAsync(p, 0, 4); } // runtime-in-kernel
__global__ void HalfPast(float4 *p) { *p = make_float4(1, 2, 3, 4); } // half-past

__global__ void HalfPastShared(int *a)
{
    __shared__ int s[64];
    memcpy(&s[63], a, 2 * sizeof *a); // half-past-shared
}

extern __shared__ int dynamic[];
template <class T> __global__ void ByPointer(T *a, int at) // -> byte `at` of the second of two arrays, or of the launch's
{
    __shared__ T s[64], t[16];
    s[threadIdx.x] = t[threadIdx.x % 16] = dynamic[threadIdx.x] = threadIdx.x % 16;
    T *p = sizeof(T) == 4 ? (T *)dynamic : t;
    __syncthreads();
    if (threadIdx.x == 0) *(T *)((char *)p + at) = 7; // by-pointer
    __syncthreads();
    a[threadIdx.x] = s[threadIdx.x] + t[0];
}

__host__ __device__ int same(int n) { return n; }
template <class F> __global__ void CallIt(F function, int *out) { *out = function(6); }
__device__ int sink;
__global__ void ToSink(const int *p) { sink = *p; } // never-read
__global__ void Swaps(int *lock) { while (atomicExch(lock, 0) == 1); } // swap-unwritten
__global__ void PastSink(int at) { (&sink)[at] = 7; } // past-variable
__managed__ int in_all = 7;
inline __device__ void add_one() { atomicAdd(&in_all, 1); }
__global__ void Count() { add_one(); } // variable-too-early
__global__ void CountAlone() { in_all += 1; } // variable-alone
__global__ void CountBefore() { ++in_all; } // variable-before
__global__ void Corners(Shape *shape, int *out) { *out = shape->corners(); } // virtual-copied

__global__ void Say(const char *text) { printf("%3d%% %s\n", 100, text); } // host-text, host-literal
__global__ void SayAs(const char *format) { printf(format); } // host-format

__global__ void Total(const double *p, int n, double *out)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += p[i];
    *out = sum;
}

template <class T> __global__ void Read(char *p, int at) { *(T *)p = *(T *)(p + at); } // half-written
template <class T> __global__ void Write(char *p, int at) { *(T *)(p + at) = *(T *)p; }
template <class T> __global__ void Cached(char *p, int at) { __stcs((T *)p, __ldcs((T *)(p + at))); }
template <class T> __global__ void Volatile(char *p, int at) { *(volatile T *)(p + at) = 1; }
template <class T> __global__ void Atomic(char *p, int at) { atomicAdd((T *)(p + at), 1); }

// ---- The host

__device__ int table[N], *pointer;
__constant__ float factors[4];
template <class T> cudaError_t set_by_name(const T *values) { return cudaMemcpy(factors, values, 16, cudaMemcpyDefault); } // symbol-in-template

// Without a name, main lists those of the README's table.
static const char *bug;
static int *a, *b, *fresh, h[N];
static const int bytes = N * sizeof *a;
static unsigned *count;
static cudaStream_t one, two;
static cudaError_t error;

#define MORE(name) if (strcmp(bug, name) == 0)
#define MORE_AT(name) /* NAME/NUMBER */ \
    if (int at = 0; sscanf(bug, name "/%d", &at) == 1)
#define IF(name) if (strcmp(bug, name) == 0 || (!*bug && puts(name) < 0))

static void launch_of_the_table()
{
    IF("counter") Counter<<<1, 100>>>(a);
    IF("in-place") Smooth<<<1, 100>>>(a);
    IF("memcpy") Fill<<<1, N>>>(a, 0), Copies<<<1, 50>>>(a);
    IF("function") InFunction<<<1, 50>>>(a);
    IF("mixed") Mixed<<<1, 50>>>(a);
    IF("block-scope") BlockScope<<<20, 50>>>(a);
    IF("condition") Condition<<<1, 50>>>(a);
    IF("branches") Branches<<<50, 1>>>(a, 0);
    IF("no-fence") LastBlock<false><<<50, 32>>>(a, count, b);
    IF("no-flag") HandOver<<<2, 1>>>(a, b, b + 1);
    IF("constructor") Make<<<1, 50>>>((Shape *)a);
    IF("no-barrier") Reverse<<<1, 64>>>(a);
    IF("no-second-barrier") Tiles<<<1, 64>>>(a, b);
    IF("in-step") BlockSum<<<1, 64>>>(a, b);
    IF("volatile") LastWarp<<<1, 64>>>(a, b);
    IF("volatile-warps") OtherWarps<true><<<1, 64>>>(a);
    MORE("read-behind-fence") ReadBehindFence<<<1, 64>>>(a, b);
    MORE("volatile-once") OtherWarps<false><<<1, 64>>>(a);
    IF("volatile-global") LastWarpOfAll<<<1, 32>>>(a, b);
    IF("no-barrier-after") ZeroTooLate<<<1, 64>>>(a, b);
    IF("shared-total") SharedTotal<<<1, 64>>>(a, b);
    IF("past-shared") PastShared<<<1, 64>>>(a, 1);
    IF("past-dynamic") PastDynamic<<<1, 64, 63 * sizeof(int)>>>(a);
    IF("unwritten-shared") UnwrittenShared<<<1, 64>>>(a);
    MORE_AT("parts")
    {
        bool is_char = at & 8;
        (is_char ? Parts<char> : Parts<short>)<<<1, is_char ? 4 : 2>>>(a, at & 4, at & 2, at & 1);
    }
    MORE("unwritten-parts") UnwrittenParts<char><<<3, 64>>>(a);
    MORE("unwritten-parts-short") UnwrittenParts<short><<<3, 64>>>(a);
    IF("past-read") Sum<<<1, 1>>>(a, b, N + 1);
    IF("past-write") Fill<<<1, N + 1>>>(a, 0);
    IF("before") Fill<<<1, 1>>>(a, -1);
    IF("two-before") Fill<<<1, 1>>>(b, -2);
    IF("far") Fill<<<1, 1>>>(a, 1 << 28);
    IF("freed") cudaFree(fresh), Fill<<<1, 1>>>(fresh, 0);
    IF("host") Fill<<<1, 1>>>(h, 0);
    IF("host-in-struct") FillBox<<<1, 1>>>(Box{h});
    IF("null") Fill<<<1, 1>>>(nullptr, 0);
    IF("unwritten") Sum<<<1, 1>>>(fresh, b, N);
    IF("unwritten-tail") cudaMemset(fresh, 0, 200), Sum<<<1, 1>>>(fresh, b, N);
    IF("past-heap") PastHeap<<<1, 1>>>(b, 10);
    IF("past-array") PastArray<<<1, 1>>>(b, 8);
    IF("stack") Deep<<<1, 1>>>(b);
    IF("misaligned") Misaligned<<<1, 1>>>((float *)a);
    IF("misaligned-int") OddInt<<<1, 1>>>((char *)a, b);
    IF("far-shift") FarShift<<<1, 1>>>(b, 40);
    IF("divide") Divide<<<1, 1>>>(b);
    IF("two-barriers") TwoBarriers<<<1, 8>>>(a);
    IF("half-warp") HalfWarp<<<1, 32>>>(a);
    IF("forever") Forever<<<1, 1>>>(a);
    IF("streams") Fill<<<1, N, 0, one>>>(a, 0), Sum<<<1, 1, 0, two>>>(a, b, N);
    IF("streams-copy") Fill<<<1, N, 0, one>>>(a, 0), cudaMemcpyAsync(b, a, bytes, cudaMemcpyDefault, two);
    IF("too-many") Fill<<<1, 1025>>>(a, 0);
}

// Right: all blocks wait for the last one, and one that begins late computes first, for longer than a hang needs.
__global__ void OneComputes(int *flag)
{
    if (blockIdx.x == gridDim.x - 1) atomicExch(flag, 1);
    bool computes = threadIdx.x == 0 && blockIdx.x == gridDim.x - 2;
    for (long long start = clock64(); computes && clock64() - start < 3000000000;) continue;
    while (atomicAdd(flag, 0) == 0) continue;
}

static void launch_more()
{
    MORE("one-computes") OneComputes<<<40, 64>>>(a);
    MORE("far-behind") Fill<<<400, 256>>>(a, 0);
    MORE("far-below") Fill<<<1, 1>>>(a, -(1 << 29));
    MORE("half-past") HalfPast<<<1, 1>>>((float4 *)(a + N - 2));
    MORE("half-past-end") // in memory that is only read
    {
        cudaFree(fresh);
        cudaMalloc(&fresh, 1004);
        cudaMemset(fresh, 0, 1004);
        Total<<<1, 1>>>((double *)fresh, 126, (double *)b);
    }
    MORE_AT("each-scope") EachScope<<<50, 1>>>(a, at);
    MORE_AT("assert-in-function") CheckIn<<<1, 1>>>(at);
    MORE("two-scopes") TwoScopes<<<50, 1>>>(a);
    MORE("block-fence") LastBlock<true, true><<<50, 32>>>(a, count, b);
    MORE("two-names") TwoNames<<<1, 32>>>(a, a, b);
    MORE("wait-for-all") cudaMemset(a, 0, 4), WaitForAll<<<1000, 1>>>(a);
    MORE("wait-without-memory") // for more cores
    {
        cudaMemset(a, 0, 4), WaitForAll<<<1, 1024>>>(a), cudaMemset(a, 0, 4), cudaDeviceSynchronize();
        unsigned long pages = 0;
        FILE *file = fopen("/proc/self/statm", "r");
        if (file && fscanf(file, "%lu", &pages) == 1) fclose(file);
        const rlim_t most = pages * sysconf(_SC_PAGESIZE) + (400ul << 20);
        const rlimit limit = {most, most};
        if (setrlimit(RLIMIT_AS, &limit) == 0) WaitForAll<<<400, 1024>>>(a);
    }
    MORE("never-read") ToSink<<<1, 1>>>(NULL);
    MORE("swap-unwritten") Swaps<<<1, 1>>>(fresh);
    MORE("past-variable") PastSink<<<1, 1>>>(2 * N);
    MORE("nearly-null") Fill<<<1, 1>>>((int *)16, 0);
    MORE("three-bytes") ThreeBytes<<<1, 2>>>((unsigned char *)a);
    MORE("one-for-all") OneForAll<<<1, 64>>>(b);
    MORE("warps-zeros") BinsOfWarps<<<1, 64>>>(a);
    MORE("two-bytes") TwoBytes<<<1, 2>>>((char *)a);
    MORE("lock-of-blocks") cudaMemset(a, 0, 8), LockWithoutFence<<<8, 32>>>(a, a + 1);
    MORE("lock-of-warps") cudaMemset(a, 0, 8), LockWithoutFence<<<1, 64>>>(a, a + 1);
    MORE("behind-fence") cudaMemset(a, 0, 4), BehindFence<<<1, 32>>>(a, b);
    MORE("host-waits") {
        int *flag;
        cudaHostAlloc(&flag, 4, cudaHostAllocMapped);
        *flag = 0;
        Forever<<<1, 1, 0, one>>>(flag);
        usleep(300000); // it begins
        cudaStreamQuery(two), *flag = 1;
    }
}

static void launch_still_more()
{
    MORE("two-kinds") TwoKinds<<<1, 32>>>(a);
    MORE("half-written") cudaMemset(fresh, 0, 4), Read<double><<<1, 1>>>((char *)fresh, 0);
    MORE("never-set") Follow<<<1, 1>>>((int **)fresh);
    MORE("no-dynamic") PastDynamic<<<1, 1>>>(a);
    MORE("assert") Check<<<1, 8>>>(3);
    MORE("runtime-in-kernel") Call<<<1, 1>>>(a);
    MORE("two-races") TwoRaces<<<1, 50>>>(a, b);
    MORE("two-masks") TwoMasks<<<1, 32>>>(a);
    MORE("half-past-shared") HalfPastShared<<<1, 1>>>(a);
    MORE("failed-print")
    {
        Check<<<1, 1>>>(4); // its "lost" is not lost
        cudaDeviceSynchronize();
        Check<<<1, 1>>>(3);
        Fill<<<1, 1>>>(nullptr, 0);
    }
    MORE("called")
    {
        void (*kernel)(int *, int) = Fill;
        kernel(a, 0);
    }
    MORE("variable-on-host") exit(total);
    MORE("again")
    for (int i = 0; i < 3; i++) {
        cudaMemset(a, 0, bytes);
        TwoInALine<<<10, 100>>>(a);
        Sum<<<1, 1>>>(fresh, b, 1);
        Fill<<<1, 1025>>>(a, 0);
        cudaMemcpy(h, a, 2 * sizeof *a, cudaMemcpyDeviceToHost);
        cudaMemcpy(&h[2], b, sizeof *b, cudaMemcpyDeviceToHost);
        printf("%d%d%d ", h[0] < 20, h[1] < 20, h[2] > 1e9); // as wrong as on a GPU
    }
}

static void launch_on_streams()
{
    MORE("streams-end") // they have one byte in common
    {
        cudaMemsetAsync(a, 0, 6, one); // streams-end
        cudaMemcpyAsync(b, (char *)a + 5, 3, cudaMemcpyDefault, two); // streams-end
    }
    MORE("streams-apart") // one that the default stream does not wait for
    {
        cudaStream_t apart;
        cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking);
        Fill<<<1, 1, 0, apart>>>(a, 0);
        cudaStreamSynchronize(0);
        Sum<<<1, 1, 0, one>>>(a, b, N);
        cudaStreamDestroy(apart);
    }
    MORE("streams-read") // a copy that waits for no kernel; the one that reads, too, comes before the one that writes
    {
        cudaStream_t apart;
        cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking);
        cudaDeviceSynchronize();
        Sum<<<1, 1, 0, apart>>>(a, b, N);
        Fill<<<1, 1, 0, apart>>>(a, 1);
        cudaMemcpy(h, a, 8, cudaMemcpyDeviceToHost); // streams-read
        cudaStreamDestroy(apart);
    }
    MORE("streams-third") // two read; the third waits for the first of them alone
    {
        cudaStream_t three;
        cudaEvent_t event;
        cudaStreamCreate(&three);
        cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
        cudaMallocHost(&count, bytes);
        cudaMemcpyAsync(count, a, bytes, cudaMemcpyDefault, one);
        cudaEventRecord(event, one);
        Sum<<<1, 1, 0, two>>>(a, b, N);
        cudaStreamWaitEvent(three, event);
        cudaMemsetAsync(a, 1, bytes, three); // streams-third
    }
}

__global__ void AtomicOfItsOwn(int *sum)
{
    int own = 0;
    for (int i = 0; i < 4; i++) atomicAdd(&own, i); // local-atomic
    *sum = own;
}

// A pointer that cudaMalloc should have set: a local variable, and an element of an array.
static void use_what_nobody_has_set()
{
    int *local, **array = (int **)malloc(64);
    asm("" : "=m"(local), "=m"(*(int *(*)[8])array)); // so that g++ does not know
    MORE("unset-target") error = cudaMemcpy(local, h, bytes, cudaMemcpyHostToDevice); // unset-target
    MORE("unset-source") error = cudaMemcpy(h, array[3], bytes, cudaMemcpyDeviceToHost); // unset-source
    MORE("unset-argument") Fill<<<1, 32>>>(local, 1);
    MORE("unset-in-array") Sum<<<1, 1>>>(array[2], b, N);
}

static void launch_by_name_or_address()
{
    MORE("by-name-of-pointer")
    {
        void (*ReFill)(int *, int) = Fill;
        ReFill<<<1, N + 1>>>(a, 0);
    }
    MORE_AT("by-address")
    {
        int *managed, shift = 0;
        cudaMallocManaged(&managed, 1024);
        void *arguments[] = {&managed, &shift};
        cudaLaunchKernel(Fill, dim3(1), dim3(at ? 32 : 1025), arguments, 0, 0);
        if (at == 1) printf("%d ", *managed);
    }
    MORE("found-once")
    {
        int found = 0;
        for (int who = 0; who < 512; who++) {
            cudaMemset(a, 0, 4), FindOnce<<<8, 256>>>(a, 4 * who);
            cudaMemcpy(h, a, 4, cudaMemcpyDefault);
            found += h[0];
        }
        printf("%d ", found);
    }
    MORE("neighbours") Neighbours<<<1, 64>>>(fresh, b);
}

static void ask_for_too_much()
{
    MORE_AT("no-room")
    {
        if (at == 3 || at == 4) cudaFree(fresh);
        if (at == 0) cudaMemset(a, 0, sizeof h + 4);
        if (at == 1) cudaMemcpyToSymbol(total, h, 2 * sizeof total);
        if (at == 2) cudaMemset(h, 0, sizeof h);
        if (at == 3) cudaMemset(fresh, 0, 4);
        if (at == 4) cudaMemcpy(h, fresh, 4, cudaMemcpyDefault);
        if (at == 5) cudaMemset(a - 1, 0, 4);
        if (at == 6)
            cudaMemset3D(make_cudaPitchedPtr(a, 100, 100, 11), 0, make_cudaExtent(100, 11, 1));
    }
}

static void launch_at_an_address()
{
    MORE("local-atomic") AtomicOfItsOwn<<<1, 32>>>(a);
    use_what_nobody_has_set();
#define ALIGNED(kernel, T) \
    if (strncmp(bug, #kernel "<" #T ">", strlen(#kernel "<" #T ">")) == 0) \
        kernel<T><<<1, 1>>>((char *)a, atoi(strchr(bug, '>') + 1));
    MORE("heap-across-end") HeapAcrossEnd<<<1, 1>>>((double *)a, 44);
    MORE_AT("heap") HeapByPointer<<<1, 1>>>(a, at);
    MORE_AT("one-byte") cudaMemsetAsync((char *)a + at, 1, 1, one), cudaMemsetAsync(a, 2, 9, two);
    MORE_AT("by-pointer") ByPointer<<<1, 64, 256>>>((short *)a, at);
    MORE_AT("by-pointer-dynamic") ByPointer<<<1, 64, 256>>>(a, at);
#define READ_AND_WRITE(T) ALIGNED(Read, T) ALIGNED(Write, T) ALIGNED(Cached, T)
    READ_AND_WRITE(short) READ_AND_WRITE(int) READ_AND_WRITE(double) READ_AND_WRITE(float2) READ_AND_WRITE(float4)
    ALIGNED(Volatile, int) ALIGNED(Atomic, int)
}

// Of an array of the host half is written, and it is copied as a whole: what is used? An older g++ leaves a local
// variable as it was.
static void copy_what_is_half_written(int which)
{
    int local[N], *pinned;
    cudaMallocHost(&pinned, bytes);
    int *arrays[] = {(int *)malloc(bytes), new int[N], __GNUC__ < 12 ? pinned : local, pinned}, *half = arrays[which % 4];
    for (int i = 0; i < N / 4 * 2; i++) half[i] = 0;
    cudaMemcpy(fresh, half, bytes, cudaMemcpyHostToDevice);
    Sum<<<1, 1>>>(fresh, b, which < 4 ? N : N / 4 * 2);
    error = cudaMemcpy(half, fresh, bytes, cudaMemcpyDeviceToHost);
    cudaFreeHost(pinned);
}

// Calls that do not make the host wait: it reads then what a kernel may still write; if `at` is odd, another stream does.
static void go_on_after_a_call(int at)
{
    cudaStream_t s;
    cudaEvent_t event;
    int *p;
    cudaMallocManaged(&p, bytes), cudaStreamCreate(&s), cudaEventCreate(&event), cudaMemset(fresh, 0, bytes);
    *p = 7;
    Fill<<<1, 1, 0, s>>>(p, 0), cudaEventRecord(event, s);
    if (at / 2 == 0) cudaStreamDestroy(s);
    if (at / 2 == 1) cudaEventDestroy(event);
    if (at / 2 == 2) cudaStreamQuery(s);
    if (at / 2 == 3) cudaEventQuery(event);
    if (at / 2 == 4) cudaMemcpy(a, fresh, bytes, cudaMemcpyDefault);
    if (at / 2 == 5) cudaMemcpyToSymbol(table, fresh, bytes, 0, cudaMemcpyDeviceToDevice);
    if (at % 2)
        Sum<<<1, 1, 0, one>>>(p, b, 1);
    else
        printf("%d ", *p);
    cudaDeviceSynchronize(), cudaFree(p);
    if (at / 2 != 0) cudaStreamDestroy(s);
    if (at / 2 != 1) cudaEventDestroy(event);
}

static void ask_too_early()
{
    cudaEvent_t start, stop;
    float ms;
    MORE("time-too-early")
    {
        cudaEventCreate(&start), cudaEventCreate(&stop);
        cudaEventRecord(start), Fill<<<1, 1>>>(a, 0), cudaEventRecord(stop);
        cudaEventElapsedTime(&ms, start, stop); // time-too-early
        cudaEventDestroy(start), cudaEventDestroy(stop);
    }
    MORE_AT("no-wait") go_on_after_a_call(at);
    MORE_AT("two-of-one") // at & 1: which of two numbers, on pages of their own, is written and looked at
    {
        const int far = 1 << 16;
        int *p, *mine, *other;
        cudaMallocManaged(&p, 2 * far * sizeof *p);
        mine = p + at % 2 * far, other = p + !(at % 2) * far;
        *mine = *other = 7;
        if (at / 2 == 0) Sum<<<1, 1>>>(other, mine, 1);
        if (at / 2 == 1) WriteBoth<<<1, 1>>>(mine, other);
        if (at / 2 == 2) WriteBoth<<<1, 1>>>(other, mine);
        if (at / 2 == 3) Sum<<<1, 1>>>(p, a, 1), Fill<<<1, 1>>>(mine, 0);
        printf("%d ", *mine);
        cudaDeviceSynchronize(), cudaFree(p);
    }
    for (const char *end : {"abort", "crash"})
        MORE(end)
        {
            int *p, *volatile nowhere = nullptr;
            cudaMallocManaged(&p, 4);
            Fill<<<1, 1>>>(p, 1);
            if (*p == 0) *end == 'a' ? abort() : (void)(*nowhere = 1);
        }
    MORE("failed-before") Fill<<<1, N + 1, 0, one>>>(a, 0), Fill<<<1, 1, 0, two>>>(b, 0), exit(cudaStreamSynchronize(one) == 0);
}

// Copies 800 bytes that are there, or more if `at` is odd.
static void copy_beyond(int at)
{
    size_t more = 800 + at % 2 * 64;
    char *given = (char *)(at / 2 == 1 ? calloc(bytes, 1) : at / 2 == 2 ? new char[bytes] : malloc(bytes)) + 200;
    [[maybe_unused]] void *overwritten = malloc(bytes);
    memset(given - 200, 1, bytes);
    if (at / 2 == 0) error = cudaMemcpy(a, given, more, cudaMemcpyHostToDevice); // beyond, 1
    if (at / 2 == 1) error = cudaMemcpyAsync(given, a, more, cudaMemcpyDeviceToHost); // beyond, 3
    if (at / 2 == 2) error = cudaMemcpy2D(a, 90, given, 200, 90, 4 + at % 2, cudaMemcpyDefault); // beyond, 5
    if (at / 2 == 3) error = cudaMemcpyToSymbol(table, given, more); // beyond, 7
}

static void call_of_the_table()
{
    MORE_AT("beyond") copy_beyond(at);
    MORE_AT("half-copied") copy_what_is_half_written(at);
    ask_too_early();
    IF("unwritten-copy") error = cudaMemcpy(h, fresh, bytes, cudaMemcpyDeviceToHost); // unwritten-copy
    MORE("rows-unwritten") error = cudaMemcpy2D(h, 100, fresh, 100, 20, 10, cudaMemcpyDeviceToHost); // rows-unwritten
    MORE("one-gap") Fill<<<1, N - 3>>>(fresh, 0), error = cudaMemcpy(h, fresh, bytes, cudaMemcpyDeviceToHost); // one-gap
    IF("freed-twice") cudaFree(fresh), error = cudaFree(fresh); // freed-twice
    IF("direction") error = cudaMemcpy(a, h, bytes, cudaMemcpyDeviceToHost); // direction
    IF("symbol") error = cudaMemcpy(table + 1, h, 4, cudaMemcpyHostToDevice); // symbol
    IF("beyond-host") error = cudaMemcpy(a, malloc(bytes / 2), bytes, cudaMemcpyHostToDevice); // beyond-host
    IF("nobody-looked") exit(cudaMemcpy(a, h, 2 * bytes, cudaMemcpyHostToDevice) == cudaSuccess); // nobody-looked
    IF("touched") exit(fresh[0]);
    IF("too-early")
    {
        int *pinned;
        cudaMallocHost(&pinned, bytes);
        pinned[0] = -1;
        cudaMemcpyAsync(pinned, a, bytes, cudaMemcpyDeviceToHost, one);
        printf("%d ", pinned[0]);
        cudaStreamSynchronize(one);
        cudaFreeHost(pinned);
    }
    IF("nobody-waited") Fill<<<1, 1>>>(a, 0), exit(0);
    IF("leak") exit(0);
}

static void call_and_touch()
{
    for (const char *which : {"managed-too-early", "registered-too-early", "one-of-two"})
        MORE(which) // one-of-two: the host waits for the stream that has written another part
        {
            bool is_registered = *which == 'r';
            int *p = (int *)aligned_alloc(4096, 4096);
            if (is_registered) cudaHostRegister(p, 4096, 0);
            else free(p), cudaMallocManaged(&p, 4096);
            p[64] = 7;
            Fill<<<1, 1, 0, one>>>(p + 64, 0);
            if (*which == 'o') Fill<<<1, 1, 0, two>>>(p, 0), cudaStreamSynchronize(two);
            printf("%d ", p[64]);
            error = cudaDeviceSynchronize();
            if (is_registered) cudaHostUnregister(p), free(p);
            else cudaFree(p);
        }
    for (const char *which : {"variable-too-early", "variable-alone", "variable-before"}) MORE(which)
    {
        if (which[9] == 't') Count<<<1, 4, 0, one>>>();
        else if (which[9] == 'b') CountBefore<<<1, 1, 0, one>>>();
        else CountAlone<<<1, 1, 0, one>>>();
        printf("%d ", in_all);
        error = cudaDeviceSynchronize();
    }
    MORE("set-too-early")
    {
        int *pinned;
        cudaMallocHost(&pinned, bytes);
        cudaMemset2DAsync(pinned, 8, 0, 4, 2, one);
        pinned[2] = 7;
        error = cudaDeviceSynchronize();
        printf("%d ", pinned[2]);
        cudaFreeHost(pinned);
    }
    MORE("managed-late") // the kernel has run by itself
    {
        int *managed;
        cudaMallocManaged(&managed, bytes);
        *managed = 7;
        Fill<<<1, 1>>>(managed, 0);
        usleep(300000);
        printf("%d ", *managed);
        error = cudaDeviceSynchronize();
        cudaFree(managed);
    }
    MORE("not-published")
    {
        int *managed, *flag;
        cudaMallocManaged(&managed, bytes), cudaMallocHost(&flag, bytes);
        *managed = 7, *flag = 0;
        SayWithoutFence<<<1, 1>>>(managed, flag);
        while (*(volatile int *)flag == 0) continue;
        usleep(1000);
        printf("%d ", *managed);
        error = cudaDeviceSynchronize();
        cudaFree(managed), cudaFreeHost(flag);
    }
}

// Of each call on memory the code, up to the end of an allocation and one byte further, in one row and in three.
static void copy_up_to_the_end()
{
    static char host[2 * N * sizeof(int)];
    for (int rows : {1, 3})
        for (int further : {0, 1}) {
            size_t step = rows == 1 ? bytes : 400, width = bytes - (rows - 1) * step + further;
            cudaError_t codes[] = {
                cudaMemcpy2D(host, step, a, step, width, rows, cudaMemcpyDeviceToHost),
                cudaMemcpy2D(a, step, host, step, width, rows, cudaMemcpyHostToDevice),
                cudaMemcpy2DAsync(b, step, a, step, width, rows, cudaMemcpyDefault, one),
                cudaMemset2D(a, step, 0, width, rows),
                cudaMemcpy(host, a, bytes + further, cudaMemcpyDeviceToHost),
                cudaMemcpyAsync(a, host, bytes + further, cudaMemcpyHostToDevice, one),
                cudaMemset(a, 0, bytes + further),
            };
            for (cudaError_t code : codes) printf("%d", code);
            printf(" ");
        }
}

// What overlaps with registered memory, in each way, is refused; and the time between two events, unless both keep times.
static void register_and_measure()
{
    static char memory[8 * 4096] __attribute__((aligned(4096)));
    cudaHostRegister(memory + 2 * 4096, 3 * 4096, 0);
    for (int first : {0, 1, 2, 3, 4, 5})
        for (int pages : {1, 2, 6}) {
            cudaError_t code = cudaHostRegister(memory + first * 4096, min(pages, 8 - first) * 4096, 0);
            if (code == cudaSuccess) cudaHostUnregister(memory + first * 4096);
            printf("%d", code != cudaSuccess);
        }
    cudaHostUnregister(memory + 2 * 4096);
    cudaEvent_t events[2], untimed[2];
    for (cudaEvent_t &event : events) cudaEventCreate(&event), cudaEventRecord(event);
    for (cudaEvent_t &event : untimed) cudaEventCreateWithFlags(&event, cudaEventDisableTiming), cudaEventRecord(event);
    cudaDeviceSynchronize();
    float ms;
    for (cudaEvent_t start : {events[0], untimed[0]})
        for (cudaEvent_t end : {events[1], untimed[1]}) printf(" %d", cudaEventElapsedTime(&ms, start, end));
    for (cudaEvent_t event : {events[0], events[1], untimed[0], untimed[1]}) cudaEventDestroy(event);
    printf(" ");
}

static void call_more()
{
    MORE("in-each-way") register_and_measure();
    MORE("to-the-end") copy_up_to_the_end();
    MORE("virtual-copied") // a kernel makes another class's objects
    {
        Square square;
        cudaMemcpy(a, (void *)&square, sizeof square, cudaMemcpyHostToDevice);
        Make<<<1, 1>>>((Shape *)b), Corners<<<1, 1>>>((Shape *)b, fresh), Corners<<<1, 1>>>((Shape *)a, fresh);
        error = cudaDeviceSynchronize();
    }
    MORE("host-function") CallIt<<<1, 1>>>(same, b), error = cudaDeviceSynchronize(); // host-function
    MORE("host-text") Say<<<1, 1>>>(bug), error = cudaDeviceSynchronize();
    MORE("host-literal") Say<<<1, 1>>>("literal"), error = cudaDeviceSynchronize();
    MORE("host-format") SayAs<<<1, 1>>>("format"), error = cudaDeviceSynchronize();
    MORE("symbol-source") error = cudaMemcpy(h, &pointer, 8, cudaMemcpyDeviceToHost); // symbol-source
    MORE("symbol-in-template") error = set_by_name(h);
    MORE("symbol-set") error = cudaMemset(table, 0, 4); // symbol-set
    MORE("symbol-read") Sum<<<1, 1>>>(table, b, N), error = cudaDeviceSynchronize();
    MORE("symbol-written") FillBox<<<1, 1>>>(Box{&table[3]}), error = cudaDeviceSynchronize();
}

int main(int argc, char **argv)
{
    bug = argc > 1 ? argv[1] : "";
    cudaMalloc(&a, bytes);
    cudaMalloc(&b, bytes);
    cudaMalloc(&fresh, bytes);
    cudaMalloc(&count, sizeof *count);
    cudaMemset(a, 0, bytes);
    cudaMemset(b, 0, bytes);
    cudaMemset(count, 0, sizeof *count);
    cudaStreamCreate(&one);
    cudaStreamCreate(&two);
    launch_of_the_table(), launch_more(), launch_still_more(), launch_on_streams(), launch_at_an_address();
    launch_by_name_or_address(), ask_for_too_much();
    cudaError_t launched = cudaGetLastError();
    error = cudaDeviceSynchronize();
    call_of_the_table(), call_and_touch(), call_more();
    if (!*bug) return 0;
    printf("%d %d\n", launched, error);
    cudaFree(a);
    cudaFree(b);
    if (strncmp(bug, "freed", 5) != 0) cudaFree(fresh);
    cudaFree(count);
    cudaStreamDestroy(one);
    cudaStreamDestroy(two);
    return 0;
}
