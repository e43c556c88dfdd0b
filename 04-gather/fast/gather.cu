// The kernels, their launch, and gather() for arrays anywhere. From the top down: one index, one thread,
// one launch, one call.
// Build: make libgather.so
// Run:   ./gather_c, or from Python: see gather.pyx
#include "check.h"
#include <algorithm>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <limits.h>
#include <mutex>
#include <string.h>
#include <type_traits>

// The interface is visible in the library; all else is hidden (-fvisibility=hidden).
#pragma GCC visibility push(default)
#include "gather.h"
#pragma GCC visibility pop

#define TAKE_THREADS 256       // a block of TakeKernel
#define ROWS_THREADS 64        // a block of RowsKernel
#define ROWS 4                 // whose loads a thread has on their way at the same time
#define THREADS_OVER_BUS 16896 // keep PCIe 5 busy, and more get in each other's way (measured)
#define NO_BAD_INDEX (~0ull)   // larger than any position

// ---- The kernels

// K elements that lie side by side. A GPU stores up to 16 bytes at once, if their address is a multiple of that.
template <typename T, int K> struct alignas(K * sizeof(T)) Pack {
    T at[K];
};

// A type of CUDA's with so many bytes.
template <int BYTES>
using Bytes =
    std::conditional_t<BYTES == 4, unsigned int, std::conditional_t<BYTES == 8, uint2, uint4>>;

// Indices are read once and results written once: __ldcs and __stcs tell the cache to keep the source.
template <typename T, int K> __device__ void store(T *to, const Pack<T, K> &pack)
{
    Bytes<sizeof pack> bytes;
    memcpy(&bytes, &pack, sizeof bytes);
    __stcs((decltype(bytes) *)to, bytes);
}

// Index number i, which is j, as a position in the source, from 0 to M - 1. *first_bad: the smallest i of
// which this thread knows that its j is out of range; in its place comes another position.
__device__ size_t inside(gather_mode mode, long long j, long long M, size_t i, size_t *first_bad)
{
    if (mode == GATHER_RAISE && j < 0)
        j += M; // from the end, as in Python
    // One comparison for both ends: as unsigned, what is below 0 is huge.
    if ((unsigned long long)j >= (unsigned long long)M) {
        if (mode == GATHER_RAISE && i < *first_bad)
            *first_bad = i;
        if (mode == GATHER_WRAP)
            j = (j % M + M) % M;
        else
            j = mode == GATHER_RAISE || j < 0 ? 0 : M - 1;
    }
    return (size_t)j;
}

// Elements of 1 to 8 bytes. A warp takes a tile of 32 * K indices at a time, and each of its reads takes 32 that lie
// side by side: indices in order of size name neighbours, so such a read touches few sectors. By way of shared memory
// a thread gets K elements that lie side by side, and stores them at once, if the result's address allows it. Those of
// a tile that N ends in go one at a time. The check costs next to nothing: the kernel waits for memory, not for
// arithmetic. (MODE as an argument of the kernel costs 5 % with sequential indices: measured.)
template <int K, gather_mode MODE, typename Element, typename Index>
__global__ void __launch_bounds__(TAKE_THREADS)
    TakeKernel(const Element *source, const Index *index, Element *result, bool is_aligned,
               size_t N, size_t M, unsigned long long *first_bad)
{
    const unsigned TILE = 32 * K, lane = threadIdx.x % 32;
    __shared__ Pack<Element, K> packs[TAKE_THREADS];
    Element *tile = packs[threadIdx.x - lane].at; // of this warp
    size_t step = (size_t)gridDim.x * TAKE_THREADS * K, bad = NO_BAD_INDEX;
    for (size_t first = ((size_t)blockIdx.x * TAKE_THREADS + threadIdx.x - lane) * K; first < N;
         first += step) {
        if (!is_aligned || first + TILE > N) {
            for (size_t i = first + lane; i < N && i < first + TILE; i += 32)
                result[i] = source[inside(MODE, index[i], M, i, &bad)];
            continue;
        }
        Index j[K];
        Element picked[K];
        for (int k = 0; k < K; k++)
            j[k] = __ldcs(index + first + 32 * k + lane);
        for (int k = 0; k < K; k++)
            picked[k] = source[inside(MODE, j[k], M, first + 32 * k + lane, &bad)];
        for (int k = 0; k < K; k++)
            tile[32 * k + lane] = picked[k];
        __syncwarp();
        store(result + first + K * lane, packs[threadIdx.x]);
        __syncwarp();
    }
    if (MODE == GATHER_RAISE && bad != NO_BAD_INDEX)
        atomicMin(first_bad, (unsigned long long)bad); // the smallest of all threads
}

// Adds unit number `at` of the `units` at `to`: atomically, so that of equal indices no addition is lost.
template <typename Unit> __device__ void add(Unit *to, size_t at, size_t, Unit unit)
{
    atomicAdd(to + at, unit);
}

// A GPU adds two halves at once, at a multiple of 4, and one alone only in a loop. So the other one of the two,
// if there is one, gets -0, which changes nothing.
template <typename Two, typename Half>
__device__ void add_half(Half *to, size_t at, size_t units, Half unit)
{
    bool is_second = (size_t)(to + at) % 4 != 0;
    Half zero = Half(-0.0f);
    if (is_second ? at == 0 : at + 1 == units)
        atomicAdd(to + at, unit);
    else
        atomicAdd((Two *)(to + at - is_second), is_second ? Two(zero, unit) : Two(unit, zero));
}
__device__ void add(__half *to, size_t at, size_t units, __half unit)
{
    add_half<__half2>(to, at, units, unit);
}
__device__ void add(__nv_bfloat16 *to, size_t at, size_t units, __nv_bfloat16 unit)
{
    add_half<__nv_bfloat162>(to, at, units, unit);
}

// Four floats at once, if the GPU is of compute capability 9.0 or newer: for others atomicAdd takes no float4, and
// the compiler passes over this function for the next one.
template <typename Four>
__device__ auto add_four(Four *to, Four v, int) -> decltype(atomicAdd(to, v), void())
{
    atomicAdd(to, v);
}
template <typename Four> __device__ void add_four(Four *to, Four v, long)
{
    atomicAdd(&to->x, v.x);
    atomicAdd(&to->y, v.y);
    atomicAdd(&to->z, v.z);
    atomicAdd(&to->w, v.w);
}
__device__ void add(float4 *to, size_t at, size_t, float4 unit)
{
    add_four(to + at, unit, 0);
}

// Rows of any size: `units` of up to 16 bytes. The threads of a block stand side by side in a row, threadIdx.x,
// and in the rows one below the other, threadIdx.y. IS_ADD: the way back, from the result to the source.
// __launch_bounds__: 16 blocks of so many threads shall fit into a multiprocessor, so the compiler takes 64 registers
// for a thread and not 72. With more threads, more loads are on their way: 2 to 5 % faster (measured).
template <bool IS_ADD, typename Unit, typename Index>
__global__ void __launch_bounds__(ROWS_THREADS, 16)
    RowsKernel(Unit *source, const Index *index, Unit *result, size_t outer, size_t N, size_t M,
               size_t units, gather_mode mode, unsigned long long *first_bad)
{
    size_t rows = outer * N, step = (size_t)ROWS * blockDim.y, bad = NO_BAD_INDEX;
    for (size_t top = blockIdx.y * step + threadIdx.y; top < rows; top += gridDim.y * step) {
        // Of each row: how often the axis comes before it, and its first unit in the source.
        size_t before[ROWS], from[ROWS];
        long long j[ROWS];
        for (int k = 0; k < ROWS; k++) {
            size_t row = top + k * blockDim.y;
            before[k] = outer == 1 ? 0 : row / N;
            if (row < rows)
                j[k] = index[row - before[k] * N];
        }
        for (int k = 0; k < ROWS; k++) {
            size_t row = top + k * blockDim.y;
            if (row < rows)
                from[k] =
                    (before[k] * M + inside(mode, j[k], M, row - before[k] * N, &bad)) * units;
        }
        for (size_t column = (size_t)blockIdx.x * blockDim.x + threadIdx.x; column < units;
             column += (size_t)gridDim.x * blockDim.x) {
            Unit unit[ROWS];
            for (int k = 0; k < ROWS; k++) {
                size_t row = top + k * blockDim.y;
                if (row < rows)
                    unit[k] = IS_ADD ? result[row * units + column] : source[from[k] + column];
            }
            for (int k = 0; k < ROWS; k++) {
                size_t row = top + k * blockDim.y;
                if (row < rows) {
                    if constexpr (IS_ADD)
                        add(source, from[k] + column, outer * M * units, unit[k]);
                    else if constexpr (sizeof(Unit) == 16)
                        __stcs(result + row * units + column, unit[k]);
                    else // a row may end inside a sector: the cache puts its parts together
                        result[row * units + column] = unit[k];
                }
            }
        }
    }
    if (bad != NO_BAD_INDEX && first_bad)
        atomicMin(first_bad, (unsigned long long)bad);
}

// ---- Their launch

// The largest power of two, up to 16, that divides the addresses and the size of a row.
static size_t unit_bytes(const gather_job *job)
{
    size_t all = (size_t)job->source.device | (size_t)job->result.device | job->element_bytes | 16;
    return all & (0 - all);
}

// What moves over the bus takes few blocks (of so many threads), whose threads then work more than once.
static size_t most_blocks(const gather_job *job, int threads)
{
    bool is_over_bus = job->index.host || job->result.host; // not the source: its reads are random
    return is_over_bus ? THREADS_OVER_BUS / threads : INT_MAX;
}

template <typename Element, typename Index>
static void launch_elements(const gather_job *job, unsigned long long *first_bad)
{
    const int K = sizeof(Element) == 8 ? 2 : 4; // measured; up to 16 bytes
    bool is_aligned = (size_t)job->result.device % sizeof(Pack<Element, K>) == 0;
    size_t blocks = (job->N - 1) / (TAKE_THREADS * K) + 1;
    blocks = std::min(blocks, most_blocks(job, TAKE_THREADS));
    auto kernel = job->mode == GATHER_RAISE  ? TakeKernel<K, GATHER_RAISE, Element, Index>
                  : job->mode == GATHER_WRAP ? TakeKernel<K, GATHER_WRAP, Element, Index>
                                             : TakeKernel<K, GATHER_CLIP, Element, Index>;
    kernel<<<blocks, TAKE_THREADS, 0, (cudaStream_t)job->stream>>>(
        (const Element *)job->source.device, (const Index *)job->index.device,
        (Element *)job->result.device, is_aligned, job->N, job->M, first_bad);
}

template <bool IS_ADD, typename Unit, typename Index>
static void launch_rows(const gather_job *job, unsigned long long *first_bad)
{
    size_t units = job->element_bytes / sizeof(Unit), rows = job->outer * job->N;
    dim3 threads(1), blocks;
    while (threads.x < units && threads.x < ROWS_THREADS)
        threads.x *= 2;
    threads.y = ROWS_THREADS / threads.x;
    size_t most = most_blocks(job, ROWS_THREADS);
    blocks.x = std::min(units / threads.x + (units % threads.x > 0 || units == 0), most);
    most = std::min(std::max(most / blocks.x, (size_t)1), (size_t)65535);
    blocks.y = std::min((rows - 1) / (ROWS * threads.y) + 1, most);
    RowsKernel<IS_ADD><<<blocks, threads, 0, (cudaStream_t)job->stream>>>(
        (Unit *)job->source.device, (const Index *)job->index.device, (Unit *)job->result.device,
        job->outer, job->N, job->M, units, job->mode, first_bad);
}

template <typename Unit, typename Index>
static void launch_take(const gather_job *job, unsigned long long *first_bad)
{
    if constexpr (sizeof(Unit) <= 8)
        if (job->outer == 1 && job->element_bytes == sizeof(Unit))
            return launch_elements<Unit, Index>(job, first_bad);
    launch_rows<false, Unit, Index>(job, first_bad);
}

template <typename Index> static void launch(const gather_job *job, unsigned long long *first_bad)
{
    switch (unit_bytes(job)) {
    case 1:
        return launch_take<unsigned char, Index>(job, first_bad);
    case 2:
        return launch_take<unsigned short, Index>(job, first_bad);
    case 4:
        return launch_take<unsigned int, Index>(job, first_bad);
    case 8:
        return launch_take<unsigned long long, Index>(job, first_bad);
    default:
        return launch_take<uint4, Index>(job, first_bad);
    }
}

template <typename Index> static void launch_add(const gather_job *job, gather_number number)
{
    size_t bytes = unit_bytes(job);
    int device = 0, major = 0;
    if (number == GATHER_FLOAT32 && bytes == 16 && cudaGetDevice(&device) == cudaSuccess)
        cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    switch (number) {
    case GATHER_FLOAT32:
        return major >= 9 ? launch_rows<true, float4, Index>(job, NULL)
                          : launch_rows<true, float, Index>(job, NULL);
    case GATHER_FLOAT64:
        return launch_rows<true, double, Index>(job, NULL);
    case GATHER_INT32:
        return launch_rows<true, int, Index>(job, NULL);
    case GATHER_INT64: // without a sign it is the same, and has an atomicAdd
        return launch_rows<true, unsigned long long, Index>(job, NULL);
    case GATHER_FLOAT16:
        return bytes >= 4 ? launch_rows<true, __half2, Index>(job, NULL)
                          : launch_rows<true, __half, Index>(job, NULL);
    case GATHER_BFLOAT16:
        return bytes >= 4 ? launch_rows<true, __nv_bfloat162, Index>(job, NULL)
                          : launch_rows<true, __nv_bfloat16, Index>(job, NULL);
    }
}

// Whether outer * n * bytes is a size that memory can have.
static bool is_size(size_t outer, size_t n, size_t bytes)
{
    return !__builtin_mul_overflow(outer, n, &n) && !__builtin_mul_overflow(n, bytes, &n) &&
           (n >> 60) == 0;
}

// Of a job that is only launched, the device has to reach the arrays.
static bool is_valid(const gather_job *job, bool is_launch)
{
    bool has_rows =
        job->element_bytes > 0; // else nothing moves, and only the indices are looked at
    for (const gather_memory *memory : {&job->source, &job->index, &job->result})
        if ((has_rows || memory == &job->index) && !memory->device && (is_launch || !memory->host))
            return false;
    return job->outer > 0 && (job->M > 0 || !has_rows) && is_size(job->outer, job->N, 8) &&
           is_size(job->outer, job->N, job->element_bytes) &&
           is_size(job->outer, job->M, job->element_bytes) &&
           (job->index_bytes == 4 || job->index_bytes == 8) && job->mode >= GATHER_RAISE &&
           job->mode <= GATHER_CLIP;
}

extern "C" int gather_launch(const gather_job *job, unsigned long long *first_bad)
{
    if (!job)
        return cudaErrorInvalidValue;
    if (job->N == 0)
        return cudaSuccess;
    if (!is_valid(job, true) || (job->mode == GATHER_RAISE && !first_bad))
        return cudaErrorInvalidValue;
    if (job->element_bytes == 0 && job->mode != GATHER_RAISE)
        return cudaSuccess; // nothing moves, and M may be 0
    cudaGetLastError();     // an older error, somebody else's, is not this launch's
    if (job->index_bytes == 4)
        launch<int>(job, first_bad);
    else
        launch<long long>(job, first_bad);
    return cudaGetLastError();
}

extern "C" int gather_add_launch(const gather_job *job, gather_number number)
{
    static const size_t sizes[] = {4, 8, 4, 8, 2, 2};
    if (!job || number < GATHER_FLOAT32 || number > GATHER_BFLOAT16)
        return cudaErrorInvalidValue;
    if (job->N == 0)
        return cudaSuccess;
    if (!is_valid(job, true) || unit_bytes(job) < sizes[number])
        return cudaErrorInvalidValue;
    if (job->element_bytes == 0)
        return cudaSuccess;
    cudaGetLastError();
    if (job->index_bytes == 4)
        launch_add<int>(job, number);
    else
        launch_add<long long>(job, number);
    return cudaGetLastError();
}

// ---- Arrays anywhere

// Pinned memory that a thread keeps: for the position of a bad index, and for few indices and elements,
// which are there faster than on the device.
struct Scratch {
    unsigned long long first_bad;
    alignas(16) char index[128 << 10], result[128 << 10];
};

struct ScratchOfThread {
    Scratch *scratch = NULL;
    ~ScratchOfThread() // at the end of the thread; of the main one before exit() takes CUDA down
    {
        cudaFreeHost(scratch);
    }
};

static cudaError_t find_scratch(Scratch **scratch)
{
    static thread_local ScratchOfThread mine;
    cudaError_t error =
        cudaFree(NULL); // frees nothing; fails in a forked process, which has no scratch
    if (error == cudaSuccess && !mine.scratch)
        error = cudaMallocHost((void **)&mine.scratch, sizeof *mine.scratch);
    *scratch = mine.scratch;
    return error;
}

// A pool of the current device's memory. It keeps up to 64 MiB of what is freed for the next call: memory
// that is new each time costs as much time as a small gather.
static cudaError_t find_pool(cudaMemPool_t *pool)
{
    static std::mutex lock;
    static cudaMemPool_t pools[64];
    std::lock_guard<std::mutex> locked(lock);
    cudaMemPoolProps properties = {};
    unsigned long long kept = 64 << 20;
    int device;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess && device >= 64)
        error = cudaErrorInvalidDevice;
    if (error == cudaSuccess && !pools[device]) {
        properties.allocType = cudaMemAllocationTypePinned; // on the device all memory is
        properties.location.type = cudaMemLocationTypeDevice;
        properties.location.id = device;
        error = cudaMemPoolCreate(&pools[device], &properties);
        if (error == cudaSuccess)
            error = cudaMemPoolSetAttribute(pools[device], cudaMemPoolAttrReleaseThreshold, &kept);
    }
    *pool = error == cudaSuccess ? pools[device] : NULL;
    return error;
}

// Moves an array to the device, which does not reach it: a copy, or only room if memory->host is NULL.
// *allocated: what has to be freed.
static cudaError_t move_to_device(gather_memory *memory, size_t bytes, cudaStream_t stream,
                                  void **allocated)
{
    cudaMemPool_t pool;
    cudaError_t error = find_pool(&pool);
    if (error == cudaSuccess)
        error = cudaMallocFromPoolAsync(allocated, bytes, pool, stream);
    else if (error == cudaErrorNotSupported) // a device without pools
        error = cudaMalloc(allocated, bytes);
    if (error == cudaSuccess && memory->host)
        error = cudaMemcpyAsync(*allocated, memory->host, bytes, cudaMemcpyHostToDevice, stream);
    memory->host = NULL;
    memory->device = *allocated;
    return error;
}

// A job whose arrays the device reaches, and what was allocated for that.
struct Moved {
    gather_job job;
    void *source, *index, *result;
};

// Few indices and elements go through the pinned memory, others to the device. What is not allocated stays NULL.
static int move_arrays(Moved *moved, Scratch *scratch, bool is_add)
{
    gather_job *job = &moved->job;
    cudaStream_t stream = (cudaStream_t)job->stream;
    size_t source_bytes = job->outer * job->M * job->element_bytes;
    size_t result_bytes = job->outer * job->N * job->element_bytes;
    size_t index_bytes = job->N * job->index_bytes;
    bool is_small = index_bytes <= sizeof scratch->index && result_bytes <= sizeof scratch->result;
    int error = cudaSuccess;

    // Over the bus, a GPU reads and writes, and does not add.
    if (source_bytes > 0 && (!job->source.device || (is_add && job->source.host)))
        CHECK_GOTO(error, move_to_device(&job->source, source_bytes, stream, &moved->source), done);
    if (!job->index.device && is_small) {
        memcpy(scratch->index, job->index.host, index_bytes);
        job->index = {scratch->index, scratch->index};
    } else if (!job->index.device) {
        CHECK_GOTO(error, move_to_device(&job->index, index_bytes, stream, &moved->index), done);
    }
    if (!job->result.device && is_small) {
        if (is_add)
            memcpy(scratch->result, job->result.host, result_bytes);
        job->result = {scratch->result, scratch->result};
    } else if (!job->result.device) {
        if (!is_add)
            job->result.host = NULL;
        CHECK_GOTO(error, move_to_device(&job->result, result_bytes, stream, &moved->result), done);
    }
done:
    return error;
}

// Launches the kernel and waits for it. The way back looks at all indices before it adds anything.
static int compute(const gather_job *job, bool is_add, gather_number number,
                   unsigned long long *first_bad)
{
    cudaStream_t stream = (cudaStream_t)job->stream;
    int error = cudaSuccess;

    *first_bad = NO_BAD_INDEX;
    if (!is_add) {
        CHECK_GOTO(error, gather_launch(job, first_bad), done);
    } else if (job->mode == GATHER_RAISE) {
        gather_job only_indices = *job;
        only_indices.outer = 1;
        only_indices.element_bytes = 0;
        CHECK_GOTO(error, gather_launch(&only_indices, first_bad), done);
        CHECK_GOTO(error, cudaStreamSynchronize(stream), done);
    }
    if (is_add && *first_bad == NO_BAD_INDEX)
        CHECK_GOTO(error, gather_add_launch(job, number), done);
    CHECK_GOTO(error, cudaStreamSynchronize(stream), done);
done:
    return error;
}

// Copies back what the kernel wrote, if the device did not reach the caller's own array.
static int copy_back(const gather_job *job, const Moved *moved, const Scratch *scratch, bool is_add)
{
    cudaStream_t stream = (cudaStream_t)job->stream;
    size_t row_bytes = job->outer * job->element_bytes;
    size_t bytes = row_bytes * (is_add ? job->M : job->N);
    void *written = is_add ? job->source.host : job->result.host;
    const void *copied = is_add ? moved->source : moved->result;

    if (!copied) {
        if (!is_add && moved->job.result.host == scratch->result)
            memcpy(written, scratch->result, bytes);
        return cudaSuccess;
    }
    int error = cudaMemcpyAsync(written, copied, bytes, cudaMemcpyDeviceToHost, stream);
    return error == cudaSuccess ? cudaStreamSynchronize(stream) : error;
}

// gather(), or its way back. What the device does not reach is copied, and what is written copied back.
static int run(const gather_job *job, bool is_add, gather_number number, size_t *first_bad)
{
    if (!job)
        return cudaErrorInvalidValue;
    if (job->N == 0)
        return cudaSuccess;
    if (!is_valid(job, false) || !first_bad)
        return cudaErrorInvalidValue;

    int error = cudaSuccess;
    cudaStream_t stream = (cudaStream_t)job->stream;
    Moved moved = {*job, NULL, NULL, NULL};
    Scratch *scratch = NULL;

    CHECK_GOTO(error, find_scratch(&scratch), cleanup);
    CHECK_GOTO(error, move_arrays(&moved, scratch, is_add), cleanup);
    CHECK_GOTO(error, compute(&moved.job, is_add, number, &scratch->first_bad), cleanup);
    if (scratch->first_bad == NO_BAD_INDEX)
        CHECK_GOTO(error, copy_back(job, &moved, scratch, is_add), cleanup);

cleanup:
    if (error != cudaSuccess)
        cudaStreamSynchronize(stream); // before the memory goes; all others have waited
    for (void *memory : {moved.source, moved.index, moved.result})
        if (memory && cudaFreeAsync(memory, stream) != cudaSuccess)
            cudaFree(memory); // without pools
    cudaGetLastError();       // nothing is left for somebody else to find
    if (error != cudaSuccess)
        return error;
    *first_bad = (size_t)scratch->first_bad;
    return scratch->first_bad == NO_BAD_INDEX ? 0 : -1;
}

extern "C" int gather(const gather_job *job, size_t *first_bad)
{
    return run(job, false, GATHER_FLOAT32, first_bad);
}

extern "C" int gather_add(const gather_job *job, gather_number number, size_t *first_bad)
{
    return run(job, true, number, first_bad);
}
