// The kernel, its launch, and gather() for arrays anywhere. From the top down: one element, one thread,
// one launch, one call.
// Build: make libgather.so
// Run:   ./gather_c, or from Python: see gather.pyx
#include "check.h"
#include <limits.h>
#include <mutex>
#include <string.h>
#include <type_traits>

// The interface is visible in the library; all else is hidden (-fvisibility=hidden).
#pragma GCC visibility push(default)
#include "gather.h"
#pragma GCC visibility pop

#define THREADS 128          // a block
#define BLOCKS_OVER_BUS 132  // keep PCIe 5 busy, and more get in each other's way (measured)
#define NO_BAD_INDEX (~0ull) // larger than any position

// ---- The kernel

// K elements that lie side by side. A GPU loads and stores up to 16 bytes at once, if their address is a
// multiple of that: K results are 16 bytes, so that a thread takes 4 or 2, and their indices 8, 16 or 32.
template <typename T, int K> struct alignas(K * sizeof(T)) Pack {
    T at[K];
};

// Indices are read once and results written once: __ldcs and __stcs tell the cache to keep the source.
template <typename T, int K> __device__ Pack<T, K> load(const T *from)
{
    using Bytes = typename std::conditional<K * sizeof(T) == 8, uint2, uint4>::type;
    Pack<T, K> pack;
    for (size_t b = 0; b < sizeof pack; b += sizeof(Bytes)) {
        Bytes bytes = __ldcs((const Bytes *)((const char *)from + b));
        memcpy((char *)&pack + b, &bytes, sizeof bytes);
    }
    return pack;
}

template <typename T, int K> __device__ void store(T *to, const Pack<T, K> &pack)
{
    uint4 bytes;
    memcpy(&bytes, &pack, sizeof bytes);
    __stcs((uint4 *)to, bytes);
}

// source[j] for index number i, which is j. *first_bad: the smallest i of which this thread knows that
// its j is out of range; in place of that element comes another one.
template <gather_mode MODE, typename Element>
__device__ Element pick(const Element *source, long long j, long long M, size_t i,
                        size_t *first_bad)
{
    if (MODE == GATHER_RAISE && j < 0)
        j += M; // from the end, as in Python
    // One comparison for both ends: as unsigned, what is below 0 is huge.
    if ((unsigned long long)j >= (unsigned long long)M) {
        if (MODE == GATHER_RAISE && i < *first_bad)
            *first_bad = i;
        if (MODE == GATHER_WRAP)
            j = (j % M + M) % M;
        else
            j = MODE == GATHER_RAISE || j < 0 ? 0 : M - 1;
    }
    return source[j];
}

// Each thread takes K indices at a time; what is left of N after `packs` of them, one at a time. The check
// costs next to nothing: the kernel waits for memory, not for arithmetic.
template <int K, gather_mode MODE, typename Element, typename Index>
__global__ void TakeKernel(const Element *source, const Index *index, Element *result, size_t packs,
                           size_t N, size_t M, unsigned long long *first_bad)
{
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t threads = (size_t)gridDim.x * blockDim.x;
    size_t bad = NO_BAD_INDEX;
    for (size_t p = thread; p < packs; p += threads) {
        Pack<Index, K> j = load<Index, K>(index + K * p);
        Pack<Element, K> picked;
        for (int k = 0; k < K; k++)
            picked.at[k] = pick<MODE>(source, j.at[k], M, K * p + k, &bad);
        store(result + K * p, picked);
    }
    for (size_t i = K * packs + thread; i < N; i += threads)
        result[i] = pick<MODE>(source, index[i], M, i, &bad);
    if (MODE == GATHER_RAISE && bad != NO_BAD_INDEX)
        atomicMin(first_bad, (unsigned long long)bad); // the smallest of all threads
}

// ---- Its launch

template <typename Element, typename Index>
static void launch(const gather_job *job, unsigned long long *first_bad)
{
    const int K = 16 / sizeof(Element);
    const Element *source = (const Element *)job->source.device;
    const Index *index = (const Index *)job->index.device;
    Element *result = (Element *)job->result.device;
    cudaStream_t stream = (cudaStream_t)job->stream;
    bool is_aligned = ((size_t)index | (size_t)result) % 16 == 0;
    size_t packs = is_aligned ? job->N / K : 0;
    size_t blocks = (is_aligned ? packs : job->N) / THREADS + 1;
    bool is_over_bus = job->index.host || job->result.host; // not the source: its reads are random
    size_t most = is_over_bus ? BLOCKS_OVER_BUS : INT_MAX;
    if (blocks > most)
        blocks = most; // then each thread takes more than once
    if (job->mode == GATHER_RAISE)
        TakeKernel<K, GATHER_RAISE><<<blocks, THREADS, 0, stream>>>(source, index, result, packs,
                                                                    job->N, job->M, first_bad);
    else if (job->mode == GATHER_WRAP)
        TakeKernel<K, GATHER_WRAP>
            <<<blocks, THREADS, 0, stream>>>(source, index, result, packs, job->N, job->M, NULL);
    else
        TakeKernel<K, GATHER_CLIP>
            <<<blocks, THREADS, 0, stream>>>(source, index, result, packs, job->N, job->M, NULL);
}

static bool is_valid(const gather_job *job)
{
    for (const gather_memory &memory : {job->source, job->index, job->result})
        if (!memory.host && !memory.device)
            return false;
    return job->M > 0 && (job->N >> 60) == 0 && (job->M >> 60) == 0 &&
           (job->element_bytes == 4 || job->element_bytes == 8) &&
           (job->index_bytes == 4 || job->index_bytes == 8) && job->mode >= GATHER_RAISE &&
           job->mode <= GATHER_CLIP;
}

extern "C" int gather_launch(const gather_job *job, unsigned long long *first_bad)
{
    if (!job)
        return cudaErrorInvalidValue;
    if (job->N == 0)
        return cudaSuccess;
    if (!is_valid(job) || !job->source.device || !job->index.device || !job->result.device ||
        (job->mode == GATHER_RAISE && !first_bad))
        return cudaErrorInvalidValue;
    cudaGetLastError(); // an older error, somebody else's, is not this launch's
    if (job->element_bytes == 4 && job->index_bytes == 4)
        launch<unsigned int, int>(job, first_bad);
    else if (job->element_bytes == 4)
        launch<unsigned int, long long>(job, first_bad);
    else if (job->index_bytes == 4)
        launch<unsigned long long, int>(job, first_bad);
    else
        launch<unsigned long long, long long>(job, first_bad);
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

extern "C" int gather(const gather_job *job, size_t *first_bad)
{
    if (!job)
        return cudaErrorInvalidValue;
    int error = cudaSuccess;
    gather_job moved = *job; // the same, with arrays that the device reaches
    cudaStream_t stream = (cudaStream_t)job->stream;
    void *d_source = NULL, *d_index = NULL, *d_result = NULL;
    size_t source_bytes = job->M * job->element_bytes;
    size_t index_bytes = job->N * job->index_bytes, result_bytes = job->N * job->element_bytes;
    Scratch *scratch = NULL;
    bool is_small = index_bytes <= sizeof scratch->index && result_bytes <= sizeof scratch->result;
    unsigned long long bad = NO_BAD_INDEX;

    if (job->N == 0)
        return cudaSuccess;
    if (!is_valid(job) || !first_bad)
        return cudaErrorInvalidValue;
    CHECK_GOTO(error, find_scratch(&scratch), cleanup);
    if (!job->source.device)
        CHECK_GOTO(error, move_to_device(&moved.source, source_bytes, stream, &d_source), cleanup);
    if (!job->index.device && is_small) {
        memcpy(scratch->index, job->index.host, index_bytes);
        moved.index = {scratch->index, scratch->index};
    } else if (!job->index.device) {
        CHECK_GOTO(error, move_to_device(&moved.index, index_bytes, stream, &d_index), cleanup);
    }
    if (!job->result.device && is_small) {
        moved.result = {scratch->result, scratch->result};
    } else if (!job->result.device) {
        moved.result.host = NULL;
        CHECK_GOTO(error, move_to_device(&moved.result, result_bytes, stream, &d_result), cleanup);
    }

    scratch->first_bad = NO_BAD_INDEX;
    CHECK_GOTO(error, gather_launch(&moved, &scratch->first_bad), cleanup);
    CHECK_GOTO(error, cudaStreamSynchronize(stream), cleanup);
    bad = scratch->first_bad;
    if (bad == NO_BAD_INDEX && moved.result.host == scratch->result)
        memcpy(job->result.host, scratch->result, result_bytes);
    if (bad == NO_BAD_INDEX && d_result) {
        CHECK_GOTO(error,
                   cudaMemcpyAsync(job->result.host, d_result, result_bytes, cudaMemcpyDeviceToHost,
                                   stream),
                   cleanup);
        CHECK_GOTO(error, cudaStreamSynchronize(stream), cleanup);
    }

cleanup:
    if (error != cudaSuccess)
        cudaStreamSynchronize(stream); // before the memory goes; all others have waited
    for (void *memory : {d_source, d_index, d_result})
        if (memory && cudaFreeAsync(memory, stream) != cudaSuccess)
            cudaFree(memory); // without pools
    cudaGetLastError();       // nothing is left for somebody else to find
    if (error != cudaSuccess)
        return error;
    *first_bad = (size_t)bad;
    return bad == NO_BAD_INDEX ? 0 : -1;
}
