// Right kernels that look like races, or like reads of what nobody has written: the stand-in has to be silent. Each
// computes something that is checked.
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

const int BLOCKS = 40, THREADS = 96, N = BLOCKS * THREADS;

__device__ int volatile_read(const int *p) { return *(const volatile int *)p; }

// All write the same.
__global__ void SameValue(const int *a, int *has_zero)
{
    if (a[blockIdx.x * blockDim.x + threadIdx.x] % 7 == 0) *has_zero = 1;
}

// A plain read, then an atomicCAS, while the other cores have nothing to do: the last block changes what the first has
// read, and that one goes on.
__global__ void CasWithIdleCores(int *n, volatile int *flag)
{
    if (blockIdx.x == 0) {
        int seen = *n;
        flag[0] = 1;
        while (flag[1] == 0) continue;
        atomicCAS(n, seen, seen + 1);
    } else if (blockIdx.x == gridDim.x - 1) {
        while (flag[0] == 0) continue;
        for (long long begin = clock64(); clock64() - begin < 20000000;) continue;
        atomicAdd(n, 7);
        flag[1] = 1;
    }
}

// The last block, which has counted as well, sets the counter back without an atomic.
__global__ void SetBack(volatile int *partial, unsigned *count, int *sum)
{
    __shared__ bool is_last;
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = blockIdx.x;
        __threadfence();
        is_last = atomicInc(count, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last && threadIdx.x == blockDim.x - 1) {
        for (unsigned i = 0; i < gridDim.x; i++) *sum += partial[i];
        *count = 0;
    }
}

// The same within a block: who has seen the flag takes it back.
__global__ void TakeBack(int *out)
{
    __device__ __shared__ int data, flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        data = 7;
        __threadfence_block();
        atomicExch(&flag, 1);
    } else if (threadIdx.x == 32) {
        while (atomicAdd(&flag, 0) == 0) continue;
        __threadfence_block();
        *out = data;
        flag = 0;
    }
}

// Each block waits for the next one, which may begin later, and hands on a number.
__global__ void WaitForNext(volatile int *flag, int *values)
{
    if (threadIdx.x > 0) return;
    if (blockIdx.x + 1 < gridDim.x) {
        while (flag[blockIdx.x + 1] == 0) continue;
        __threadfence();
        values[blockIdx.x] = values[blockIdx.x + 1] + 1;
    } else {
        values[blockIdx.x] = 0;
    }
    __threadfence();
    flag[blockIdx.x] = 1;
}

// A lock for each of a few sums.
__global__ void Locks(const int *a, int *lock, int *sums)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, which = a[i] % 4;
    for (bool is_done = false; !is_done;) {
        if (atomicCAS(&lock[which], 0, 1) != 0) continue;
        __threadfence();
        sums[which] += a[i];
        __threadfence();
        atomicExch(&lock[which], 0);
        is_done = true;
    }
}

// An exchange whose old value nobody uses only writes, to what nobody has written.
__global__ void Exchanges(int *unwritten)
{
    __shared__ int shared;
    if (threadIdx.x == 0) atomicExch(&shared, 5), atomicExch(unwritten, 1);
    __syncthreads();
    if (threadIdx.x == 1) atomicAdd(unwritten, shared);
}

// Roots of sets, joined by atomicCAS and read through volatile.
__device__ int root_of(int *parent, int i)
{
    while (volatile_read(&parent[i]) != i) i = volatile_read(&parent[i]);
    return i;
}
__global__ void Join(int *parent, int n)
{
    int a = blockIdx.x * blockDim.x + threadIdx.x, b = a + 3;
    while (b < n) {
        a = root_of(parent, a), b = root_of(parent, b);
        if (a == b || atomicCAS(&parent[max(a, b)], max(a, b), min(a, b)) == max(a, b)) break;
    }
}

// The last warp of a sum, in a volatile array.
__global__ void LastWarp(const int *a, int *sums)
{
    __shared__ volatile int part[64];
    int t = threadIdx.x;
    part[t] = a[t];
    __syncthreads();
    for (int half = 32; half > 0; half /= 2) {
        int other = t < half ? part[t + half] : 0;
        if (t < 32) __syncwarp();
        if (t < half) part[t] += other;
        if (t < 32) __syncwarp();
    }
    if (t == 0) *sums = part[0];
}

// A search reads and writes levels again and again, through volatile.
__global__ void Levels(volatile int *level)
{
    for (int round = 0; round < 3; round++)
        for (int k = 1; k < 4; k++)
            if (level[(threadIdx.x + k) % 32] + k < level[threadIdx.x]) level[threadIdx.x] = level[(threadIdx.x + k) % 32] + k;
}

// A thread of a warp waits in a loop for another one, which writes twice; flags that all write, after a look at them.
__global__ void WarpFlags(int *out)
{
    __shared__ volatile int done[32], any, all;
    unsigned t = threadIdx.x;
    done[t] = 0;
    if (t == 0) any = 0;
    __syncthreads();
    if (t % 5 == 3 && any == 0) any = 1;
    __syncthreads();
    if (t < 31)
        while (done[t + 1] == 0) continue;
    done[t] = 1;
    done[t] = t + 1;
    __threadfence_block();
    all = 1;
    __syncthreads();
    out[t] = done[t] + any * all;
}

// All threads write the same to shared memory, and read it.
static __shared__ int s; // in no function
__device__ void Set(int n) { s = n; }
__global__ void SharedSame(int *out, int n)
{
    Set(n);
    out[threadIdx.x] = s + threadIdx.x;
}

// What a kernel is given has constructors and destructors: the host's.
struct Owner {
    int *p, *owners;
    Owner() : owners(new int(1)) { cudaMalloc(&p, 400), cudaMemset(p, 0, 400); }
    Owner(const Owner &other) : p(other.p), owners(other.owners) { ++*owners; }
    ~Owner()
    {
        if (--*owners == 0) cudaFree(p), delete owners;
    }
};
__global__ void Owned(Owner owner, int *out) { out[threadIdx.x] = owner.p[threadIdx.x] += threadIdx.x; }

// A template with a function for a parameter, and variables of the device that are templates.
template <class T> __device__ T add(T a, T b) { return a + b; }
template <class T> __constant__ T mask[4];
template <class T> __device__ T total;
template <class T, T (*F)(T, T)> __global__ void Apply(T *out)
{
    out[threadIdx.x] = F(mask<T>[threadIdx.x % 4], 2);
    atomicAdd(&total<T>, out[threadIdx.x]);
}

// The host waits in a loop for what a kernel or a function in a stream says.
__global__ void Say(int *flag) { *flag = 1; }
__global__ void Answer(volatile int *go, int *done)
{
    while (*go == 0) continue;
    *done = 2;
}
static void say(void *flag) { *(volatile int *)flag = 1; }
__global__ void Publish(int *data, volatile int *flag)
{
    *data = 42;
    __threadfence_system();
    *flag = 1;
}
// A thread of the host that begins while other work is under way, and looks all the time.
static volatile int has_looked;
static void look(void *data)
{
    std::thread([=] {
        for (int i = 0; i < 100000000 && *(volatile int *)data == 1; i++) continue;
        has_looked = 1;
    }).detach();
}
static int wait_for(int *flag)
{
    while (*(volatile int *)flag == 0) continue;
    return *flag;
}

// Structs with padding are copied whole.
struct Mixed {
    char c;
    double d;
    short s;
};
struct Narrow {
    int n;
    char c;
};
struct Word { // one of its four bytes is nobody's
    short s;
    char c;
};
__global__ void Structs(Mixed *to, Narrow *narrow, Word *word)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i].c = (char)i, to[i].d = i, to[i].s = (short)-i;
    narrow[i].n = i, narrow[i].c = (char)i;
    narrow[gridDim.x * blockDim.x + i] = narrow[i];
    word[i].s = 1, word[i].c = 2;
    word[gridDim.x * blockDim.x + i] = word[i];
    to[gridDim.x * blockDim.x + i] = to[i];

    __shared__ Word shared[THREADS];
    shared[threadIdx.x].s = 1, shared[threadIdx.x].c = 2;
    __syncthreads();
    word[i] = shared[threadIdx.x / 2];
}

struct Shape {
    __device__ virtual ~Shape() {}
    __device__ virtual int area() const = 0;
};
struct Square : Shape {
    int side;
    __device__ explicit Square(int side) : side(side) {}
    __device__ int area() const override { return side * side; }
};

// A kernel's heap gives multiples of 16.
__global__ void Heap(int *out)
{
    int *p = (int *)malloc(3 * sizeof *p), local[3] = {1, 2, 3};
    float4 *numbers = new float4[1];
    memcpy(p, local, sizeof local);
    *numbers = make_float4(0, 0, 0, threadIdx.x);
    p[2] = numbers->w;
    out[threadIdx.x] = p[0] + p[1] + p[2];
    free(p);
    delete[] numbers;
}

// As long as there is room. What is freed is there again.
__global__ void FillHeap(int *out)
{
    for (int round = 0; round < 2; round++) {
        void **first = nullptr;
        while (void **p = (void **)malloc(sizeof *p)) *p = first, first = p, out[round]++;
        for (void **next; first; first = next) next = (void **)*first, free(first);
    }
}

// A place that is free again is found, and what begins there keeps off what lies before.
__global__ void Between(int *out)
{
    char *before = (char *)malloc(16), *hole = (char *)malloc(16), *after = (char *)malloc(16);
    const long distance = hole - before;
    free(hole);
    void **first = nullptr;
    while (void **p = (void **)malloc(sizeof *p)) {
        if (before < (char *)p && (char *)p < after) *out = 7 + (int)((char *)p - before - distance);
        *p = first, first = p;
    }
    for (void **next; first; first = next) next = (void **)*first, free(first);
    free(before), free(after);
}

// Blocks on all cores use the heap at the same time.
__global__ void SharedHeap(int *out)
{
    int sum = 0;
    for (int i = 0; i < 50; i++) {
        int *p = (int *)malloc(8 * sizeof *p);
        p[7] = i;
        sum += p[7];
        free(p);
    }
    out[(blockIdx.x * blockDim.x + threadIdx.x) % N] = sum;
}

// Objects that a kernel has made, on the heap or at a place of the host's choice: other kernels call what is theirs.
__global__ void Make(Shape **shapes, Square *room)
{
    int i = threadIdx.x;
    shapes[i] = i % 2 ? new Square(i) : new (room + i) Square(i);
}
__global__ void Areas(Shape **shapes, int *out) { out[threadIdx.x] = shapes[threadIdx.x]->area(); }
__global__ void Destroy(Shape **shapes)
{
    if (threadIdx.x % 2)
        delete shapes[threadIdx.x];
    else
        shapes[threadIdx.x]->~Shape();
}

struct Fixed { // a variable of the device is an object of the device
    int n;
    constexpr explicit Fixed(int n = 0) : n(n) {}
    __host__ __device__ virtual int get() const { return n; }
};
__device__ Fixed fixed = Fixed(2);
__global__ void Get(const Fixed *object, int *out) { *out = object->get(); }

// The device's address of a function, by way of the host.
__device__ int add_one(int n) { return n + 1; }
__device__ int (*functions[2])(int) = {nullptr, add_one};
__global__ void Call(int (*function)(int), int *out) { *out = function(6); }

// What lies at a multiple of 4 or 8, for a struct of 8 or 16 bytes.
struct Pair {
    int a, b;
};
struct Complex {
    double re, im;
};
struct __attribute__((packed)) Record {
    char tag;
    int n;
    double x;
};
__global__ void Addresses(int *p)
{
    Record *record = (Record *)(p + 12);
    *(Pair *)(p + 3) = *(Pair *)(p + 1);
    *(Complex *)(p + 6) = *(Complex *)(p + 10);
    *(float2 *)(p + 22) = *(float2 *)(p + 26);
    record->n = 7;
    record->x = record->n;
    p[0] = (int)record->x + p[4];
}

// More places in the source than the stand-in gives numbers to. (Atomics would take three seconds to compile.)
#define TWICE(x) x x
#define OFTEN(x) TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(x)))))))))) // 1024 times
__global__ void ManyPlaces(volatile int *last)
{
    OFTEN(*last = blockIdx.x;)
}

static bool all_right = true;
static void expect(const char *name, long got, long wanted)
{
    cudaError_t error = cudaGetLastError();
    if (got != wanted || error) printf("%s: %ld, not %ld: %s\n", name, got, wanted, cudaGetErrorName(error));
    all_right = all_right && got == wanted && !error;
}

// The checker counts blocks modulo 32768: the first and the last are not one.
__global__ void FarApart(int *out, int *value, volatile int *flag)
{
    if (blockIdx.x == 0) {
        if (threadIdx.x == 1) *value = 7;
        __syncthreads();
        if (threadIdx.x == 0) __threadfence(), *flag = 1;
    } else if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) {
        while (*flag == 0) continue;
        __threadfence();
        *out = *value;
    }
}

// Warps that wait for each other by volatile flags, which they write again and again: by turns, each for both beside it,
// and with a pause.
__global__ void Turns(int *out, int rounds)
{
    __shared__ volatile int turn[4];
    __shared__ int value[4];
    int t = threadIdx.x, w = t / 32, last = (w + 3) % 4;
    if (t < 4) turn[t] = 0, value[t] = 0;
    __syncthreads();
    for (int r = 1; r <= rounds && t % 32 == 0; r++) {
        while (turn[last] < r - !w) continue;
        __threadfence_block();
        value[w] = value[last] + 1;
        __threadfence_block();
        turn[w] = r;
    }
    __syncthreads();
    if (t == 0) *out = value[3];
}
__global__ void Neighbours(int *out, int rounds)
{
    __shared__ volatile int at[4];
    int t = threadIdx.x, w = t / 32, left = (w + 3) % 4, right = (w + 1) % 4;
    if (t < 4) at[t] = 0;
    __syncthreads();
    for (int r = 1; r <= rounds && t % 32 == 0; r++) {
        at[w] = r;
        for (int a = at[left], b = at[right]; a < r || b < r; a = at[left], b = at[right]) continue;
    }
    __syncthreads();
    if (t == 0) *out = at[0] + at[3];
}
__global__ void Pauses(int *out, const int *rounds)
{
    __shared__ volatile int step[4];
    int t = threadIdx.x, w = t / 32;
    if (t < 4) step[t] = 0;
    __syncthreads();
    for (int r = 1; r <= *rounds; r++) {
        while (w > 0 && step[w - 1] < min(r, *rounds)) __nanosleep(20);
        __syncwarp();
        if (t % 32 == 0) step[w] = r;
        __syncwarp();
    }
    __syncthreads();
    if (t == 0) *out = step[3];
}

// A queue whose ends are variables: who comes late finds it empty.
__device__ volatile int head, tail = 4;
__global__ void Take(int *out)
{
    if (head == tail) return;
    if (threadIdx.x == 0)
        for (head = 0; head != tail;) {
            out[head] = head;
            head = head + 1;
            if (head == tail) head = 0, tail = 0;
        }
}

// A shared variable in each kind of function, whatever stands in front of its body, and in each kind of block.
// clang-format off
#define BODY { __shared__ int s[32]; s[threadIdx.x] = x; __syncwarp(); int other = s[31 - threadIdx.x]; __syncwarp(); return other; }
// clang-format on
__device__ int plain(int x) BODY
__device__ int throws_not(int x) noexcept BODY
__device__ auto trailing(int x) -> int BODY
__device__ auto longer(int x) -> decltype(x + 1) BODY
template <class T> __device__ auto of_template(T x) -> typename std::remove_reference<T>::type BODY
namespace one::two {
__device__ int inside(int x) BODY
}
extern "C" {
__device__ int linkage(int x) BODY
}
extern "C" __device__ int linkage_alone(int x) BODY
struct Asked {
    __device__ virtual int member(int x) const { return x; }
};
struct __align__(16) Members final : Asked {
    int made[2] = {1, 2};
    __device__ int member(int x) const override BODY
    __device__ int of_any(int x) const & BODY
public:
    template <class T> __device__ int of_template(T x) BODY
    __device__ int last(int x) & noexcept BODY
};
__device__ struct Members *give(int x) // the class of what it returns is no class around it
{
    __shared__ int s[32];
    s[threadIdx.x] = x;
    return s[threadIdx.x] == x ? nullptr : new Members;
}
__device__ int seven(7), *none(nullptr); // not functions
__constant__ int below(-1);
__global__ void Bodies(int *out)
{
    int x = threadIdx.x, wrong = seven + below != 6 || none;
    Members m;
    auto f = [&](int x) mutable -> int BODY;
    auto g = [&](int x) BODY;
    const int all[] = {plain(x), throws_not(x), trailing(x), longer(x), of_template(x), one::two::inside(x),
                       linkage(x), linkage_alone(x), m.member(x), m.of_any(x), m.of_template(x), m.last(x), f(x), g(x)};
    for (int one : all) wrong += one != 31 - x;
    if (x == 0) {
        do {
            __shared__ int once;
            wrong += (once = 3) - 3;
        } while (0);
    } else {
        switch (x) {
        case 3: {
            __shared__ int once;
            wrong += (once = 3) - 3;
        }
        }
    }
    out[x] = wrong + (give(x) != nullptr);
}

__managed__ int length = 5, others = 1;
__managed__ struct {
    int from, to[2];
} range = {1, {2, 3}};
namespace outer::deeper::yet {
__managed__ int inner = 5;
}
__global__ void ReadManaged(int *b) { b[0] = length == outer::deeper::yet::inner && range.from != 0 ? length + range.to[1] : 0; }

// A template's variable has no pages of its own.
template <class T> __device__ T table_of[5000];
template <class T> int beside_it[5000]; // the host's, but perhaps on one of its pages

static int h[N], r[N], *a, *b, *c, *d;

static void clear() { cudaMemset(b, 0, sizeof h), cudaMemset(c, 0, sizeof h), cudaMemset(d, 0, sizeof h); }
static void result(const int *from) { cudaMemcpy(r, from, sizeof r, cudaMemcpyDeviceToHost); }

static void races_and_heaps()
{
    long sum = 0, sums[4] = {};
    for (int i = 0; i < N; i++) sums[h[i] % 4] += h[i];
    clear(), SameValue<<<BLOCKS, THREADS>>>(a, b), result(b), expect("SameValue", r[0], 1);
    clear(), CasWithIdleCores<<<BLOCKS, 1>>>(b, b + 1), result(b), expect("CasWithIdleCores", r[0], 7);
    clear(), WaitForNext<<<BLOCKS, 32>>>(b, c), result(c), expect("WaitForNext", r[0], BLOCKS - 1);
    clear(), SetBack<<<BLOCKS, 32>>>(b, (unsigned *)c, c + 1), SetBack<<<BLOCKS, 64>>>(b, (unsigned *)c, c + 2), result(c);
    expect("SetBack", r[0] + r[1] + r[2], BLOCKS * (BLOCKS - 1));
    clear(), TakeBack<<<1, 64>>>(b), result(b), expect("TakeBack", r[0], 7);
    int *unwritten, exchanged;
    cudaMalloc(&unwritten, sizeof *unwritten);
    Exchanges<<<1, 2>>>(unwritten);
    cudaMemcpy(&exchanged, unwritten, sizeof exchanged, cudaMemcpyDeviceToHost);
    expect("Exchanges", exchanged, 6);
    cudaFree(unwritten);

    clear(), Locks<<<BLOCKS, THREADS>>>(a, b, c), result(c);
    for (int i = 0; i < 4; i++) expect("Locks", r[i], sums[i]);
    for (int i = 0; i < N; i++) r[i] = i;
    cudaMemcpy(b, r, sizeof r, cudaMemcpyHostToDevice);
    Join<<<BLOCKS, THREADS>>>(b, N), result(b);
    for (int i = 0; i < N; i++) {
        int root = i;
        while (r[root] != root) root = r[root];
        expect("Join", root, i % 3);
    }
    Mixed *fresh; // else all of it is written
    cudaMalloc(&fresh, 36 * N);
    Structs<<<BLOCKS / 2, THREADS>>>(fresh, (Narrow *)(fresh + N), (Word *)(fresh + N) + 2 * N);
    static Mixed m[N];
    cudaMemcpy(m, fresh, sizeof m, cudaMemcpyDeviceToHost), expect("Structs", m[N - 1].s, 1 - N / 2);
    cudaFree(fresh);
    clear(), Heap<<<1, THREADS>>>(b), result(b), expect("Heap", r[9], 12);
    clear(), SharedHeap<<<256, 64>>>(b), result(b), expect("SharedHeap", r[9], 49 * 25);
    clear(), Between<<<1, 1>>>(b), result(b), expect("Between", r[0], 7);
    clear(), FillHeap<<<1, 1>>>(b), result(b), expect("FillHeap", r[1] - r[0], 0), expect("FillHeap", r[0] > 1000, 1);
    clear(), Levels<<<1, 32>>>(b), result(b), expect("Levels", r[31], 0);
    clear(), LastWarp<<<1, 64>>>(a, b), result(b);
    for (int i = 0; i < 64; i++) sum += h[i];
    expect("LastWarp", r[0], sum);
    clear(), WarpFlags<<<1, 32>>>(b), result(b), expect("WarpFlags", r[31], 33);
    clear(), SharedSame<<<2, THREADS>>>(b, 5), result(b), expect("SharedSame", r[9], 14);
}

static void objects_and_names()
{
    Owned<<<1, 100>>>(Owner(), b), result(b);
    {
        Owner owner;
        Owned<<<1, 100>>>(owner, b), result(b), expect("Owned", r[99], 99);
    }
    void *object;
    cudaGetSymbolAddress(&object, fixed), Get<<<1, 1>>>((Fixed *)object, b), result(b), expect("Get", r[0], 2);
    int (*by_host[2])(int);
    cudaMemcpyFromSymbol(by_host, functions, sizeof by_host);
    Call<<<1, 1>>>(by_host[1], b), result(b), expect("Call", r[0], 7);
    cudaMemcpyToSymbol(mask<int>, h, 4 * sizeof *h), Apply<int, add<int>><<<1, 4>>>(b), result(b);
    int in_all;
    cudaMemcpyFromSymbol(&in_all, total<int>, sizeof in_all), expect("Apply", r[3] * 100 + in_all, 514);
    Turns<<<1, 128>>>(b, 20), Neighbours<<<1, 128>>>(b + 1, 20);
    cudaMemcpy(b + 3, r + 3, sizeof r[3], cudaMemcpyDefault), Pauses<<<1, 128>>>(b + 2, b + 3), result(b);
    expect("Turns", r[0], 80), expect("Neighbours", r[1], 40), expect("Pauses", r[2], r[3]);
    Take<<<1, 4>>>(b), result(b), expect("Take", r[3], 3);
    Bodies<<<1, 32>>>(b), result(b);
    for (int i = 0; i < 32; i++) expect("Bodies", r[i], 0);
}

// The host has waited for all, also if there was nothing left to wait for.
__global__ void AddOne(int *p) { p[threadIdx.x]++; }
static void wait_for_nothing()
{
    cudaEvent_t event;
    cudaStream_t s[3];
    for (cudaStream_t &one : s) cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    cudaEventCreate(&event), clear(), cudaDeviceSynchronize();
    AddOne<<<1, 32, 0, s[0]>>>(b), cudaEventRecord(event, s[0]), cudaEventDestroy(event);
    cudaDeviceSynchronize();
    AddOne<<<1, 32, 0, s[1]>>>(b), AddOne<<<1, 32, 0, s[2]>>>(c), cudaDeviceSynchronize();
    result(b), expect("AddOne", r[31], 2);
    for (cudaStream_t one : s) cudaStreamDestroy(one);

    // The second answer is that it is done; what was in a destroyed stream is done before the default stream goes on.
    int *managed;
    cudaStream_t other;
    cudaMallocManaged(&managed, 32 * sizeof *managed), cudaStreamCreate(&other), cudaEventCreate(&event);
    for (int i = 0; i < 32; i++) managed[i] = 0;
    AddOne<<<1, 32, 0, other>>>(managed);
    while (cudaStreamQuery(other) == cudaErrorNotReady) continue;
    expect("cudaStreamQuery", managed[31]++, 1);
    AddOne<<<1, 32, 0, other>>>(managed), cudaEventRecord(event, other);
    while (cudaEventQuery(event) == cudaErrorNotReady) continue;
    expect("cudaEventQuery", managed[31], 3);
    AddOne<<<1, 32, 0, other>>>(b), cudaEventDestroy(event), cudaStreamDestroy(other), AddOne<<<1, 32>>>(b), result(b);
    expect("cudaStreamDestroy", r[31], 4);
    cudaFree(managed);
}

static void host_and_device_at_once()
{
    int *fresh, *mapped, flag = 0;
    cudaMallocManaged(&fresh, 400), cudaHostAlloc(&mapped, 400, cudaHostAllocMapped);
    expect("fresh managed memory", fresh[50], 0);
    Say<<<1, 1>>>(fresh), expect("managed flag", wait_for(fresh), 1);
    mapped[0] = mapped[1] = mapped[2] = 0;
    Say<<<1, 1>>>(mapped), expect("mapped flag", wait_for(mapped), 1);
    Answer<<<1, 1>>>(mapped + 1, mapped + 2), mapped[1] = 1, expect("answer", wait_for(mapped + 2), 2);
    cudaMemcpyAsync(b, mapped, 12, cudaMemcpyDefault), expect("source of a copy", mapped[2], 2);
    cudaLaunchHostFunc(0, say, &flag), expect("host function", wait_for(&flag), 1);
    mapped[0] = 0, Publish<<<1, 1>>>(fresh, mapped), expect("published", wait_for(mapped) + *fresh, 43);
    cudaDeviceSynchronize(), mapped[0] = *fresh = 0; // then the host looks late, and at two flags
    Say<<<1, 1>>>(fresh), Say<<<1, 1>>>(mapped), usleep(200000);
    while (*(volatile int *)fresh + *(volatile int *)mapped < 2) continue;
    cudaDeviceSynchronize(), mapped[0] = 0, Say<<<1, 1>>>(mapped), cudaLaunchHostFunc(0, look, mapped);
    SharedHeap<<<256, 64>>>(b), expect("thread of a callback", wait_for((int *)&has_looked), 1);
    cudaDeviceSynchronize(), cudaFree(fresh), cudaFreeHost(mapped);
}

// Functions at the ends of what they take, where CUDA's documentation or arithmetic says the value.
__global__ void Ends(int *wrong, float nan, float infinity, int most, int zero)
{
    const int least = -most - 1;
    int n = 0;
#define SAME(value, expected) n += !((value) == (expected));
    SAME(__saturatef(nan), 0) SAME(__saturatef(infinity), 1) SAME(__saturatef(-infinity), 0) SAME(__saturatef(0.5f), 0.5f)
    SAME(fminf(nan, 1), 1) SAME(fmaxf(1, nan), 1) SAME(fmin(1.0, (double)nan), 1) SAME(fmax((double)nan, 1.0), 1)
    SAME(rsqrtf(infinity), 0) SAME(rsqrtf((float)zero), infinity)
    SAME(sinpif(-1.5f), 1) SAME(sinpi(1e9), 0) SAME(cospif(0.5f), 0) SAME(cospi(-1.0), -1)
    SAME(__clz(zero), 32) SAME(__clz(least), 0) SAME(__clzll(1), 63) SAME(__ffs(zero), 0) SAME(__ffs(least), 32)
    SAME(__ffsll(1ll << 63), 64) SAME(__popc(-1), 32) SAME(__popcll(-1), 64) SAME(__brev(1), 1u << 31)
    SAME(__mulhi(least, least), 1 << 30) SAME(__umulhi(-1, -1), 0xFFFFFFFE) SAME(__mul64hi(-1, 1), -1)
    SAME(__mul24(0x800000, 2), -0x1000000) SAME(__umul24(0x1000001, 3), 3) SAME(__hadd(most, most), most)
    SAME(__hadd(-1, -2), -2) SAME(__rhadd(least, least), least) SAME(__rhadd(-1, -2), -1) SAME(__uhadd(-1, -1), ~0u)
    SAME(__urhadd(-1, -2), ~0u) SAME(__sad(least, most, 1), 0) SAME(__usad(0, -1, 0), ~0u) SAME(__dp4a(-1, 0x7F, 3), -124)
    SAME(__hiloint2double(0x3FF19999, (int)0x9999999A), 1.1) SAME(__double2loint(1.1), (int)0x9999999A)
    SAME(__double2hiint(-0.0), least) SAME(__hiloint2double(0x7FF00000, 0), (double)infinity)
    *wrong = n;
}

// The answers of a group count its own threads: n of them, 8 of a tile, or each second thread of a warp.
template <class Group> __device__ int wrong_answers(const Group &group, int n)
{
    unsigned half = (1u << n / 2) - 1, rank = group.thread_rank();
    bool is_upper = rank >= n / 2u;
    int all_are, some_are;
    int wrong = group.match_all(7, all_are) != (half << n / 2 | half) || !all_are;
    wrong += group.match_all((int)rank, some_are) != 0 || some_are;
    wrong += group.match_any((int)is_upper) != (is_upper ? half << n / 2 : half);
    return wrong + (group.ballot(rank == 3) != 8);
}
__global__ void Groups(int *wrong)
{
    using namespace cooperative_groups;
    int n = wrong_answers(tiled_partition<8>(this_thread_block()), 8);
    if (threadIdx.x % 2) n += wrong_answers(coalesced_threads(), 16);
    atomicAdd(wrong, n);
}

// Each two ranges of nine bytes that do not overlap, set by two streams.
static void set_side_by_side(char *bytes, cudaStream_t one, cudaStream_t two)
{
    for (int i = 0; i < 9; i++)
        for (int j = i + 1; j < 9; j++)
            for (int k = j; k < 9; k++)
                for (int l = k + 1; l <= 9; l++) {
                    cudaMemsetAsync(bytes + i, 1, j - i, one), cudaMemsetAsync(bytes + k, 2, l - k, two);
                    cudaMemsetAsync(bytes + k, 3, l - k, two), cudaMemsetAsync(bytes + i, 4, j - i, one);
                    cudaDeviceSynchronize();
                }
}

static void more()
{
    cudaStream_t one, two;
    cudaStreamCreate(&one), cudaStreamCreate(&two);
    cudaMemsetAsync(d, 0, 101, one), cudaMemsetAsync((char *)d + 101, 0, 101, two); // side by side
    set_side_by_side((char *)d, one, two);
    cudaStreamDestroy(one), cudaStreamDestroy(two);
    clear(), Groups<<<1, 64>>>(b), result(b), expect("Groups", r[0], 0);
    clear(), Ends<<<1, 1>>>(b, nanf(""), INFINITY, INT_MAX, 0), result(b), expect("Ends", r[0], 0);
    result(a), clear(), cudaMemcpy(b, r, sizeof r, cudaMemcpyDefault), Addresses<<<1, 1>>>(b), result(b);
    expect("Addresses", r[0], 7 + h[2]);
    Make<<<1, THREADS>>>((Shape **)c, (Square *)d), Areas<<<1, THREADS>>>((Shape **)c, b), result(b);
    Destroy<<<1, THREADS>>>((Shape **)c), expect("Areas", r[4] * 100 + r[5], 1625);
    clear(), FarApart<<<32'769, 2>>>(b, c, d), result(b), expect("FarApart", r[0], 7);
    void *object;
    for (int &x : beside_it<char>) x = 1; // g++ puts the one that is named first behind
    cudaGetSymbolAddress(&object, table_of<int>), Apply<int, add<int>><<<1, 4>>>((int *)object);
    for (int &x : beside_it<int>) x++;
    for (int &x : beside_it<char>) x++;
    cudaDeviceSynchronize();
    clear(), ReadManaged<<<1, 1>>>(b), others = length + range.to[0], result(b), expect("ReadManaged", r[0] + others, 15);
    clear(), ManyPlaces<<<2, 1>>>(b), result(b), expect("ManyPlaces", r[0] / 2, 0);
}

int main(void)
{
    for (int i = 0; i < N; i++) h[i] = i % 101;
    // The device's memory then has its place beside all else, where there is less room.
    if (getenv("TAKE_ITS_PLACE")) mmap((void *)(1l << 45), 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cudaMalloc(&a, sizeof h), cudaMalloc(&b, sizeof h), cudaMalloc(&c, sizeof h), cudaMalloc(&d, 32 * N);
    cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice);
    races_and_heaps(), objects_and_names(), wait_for_nothing(), host_and_device_at_once(), more();
    cudaFree(a), cudaFree(b), cudaFree(c), cudaFree(d);
    if (all_right) printf("ok\n");
    return !all_right;
}
