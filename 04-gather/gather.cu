// The kernel of gather.pyx and its launch: result = source[index] for arrays that the device can reach.
// Build: make libgather.so
// Run:   ./gather_c, or from Python: see gather.pyx
#include "check.h"

// The interface is visible in the library; all else is hidden (-fvisibility=hidden).
#pragma GCC visibility push(default)
#include "gather.cuh"
#pragma GCC visibility pop

#include "gather_launch.cuh"

#define THREADS 256         // a block
#define BLOCKS_OVER_BUS 132 // keep PCIe 5 busy, and more get in each other's way (measured)

// One thread an index, or one for several if there are fewer. Of the source, elements first to
// first + count - 1 are at `source`: all of it, or a chunk. The check costs next to nothing: the
// kernel waits for memory, not for arithmetic.
template <typename Element, typename Index, gather_mode MODE>
__global__ void TakeKernel(const Element *source, const Index *index, Element *result, size_t N,
                           size_t M, size_t first, size_t count, unsigned long long *first_bad)
{
    size_t all_threads = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < N; i += all_threads) {
        long long j = index[i], size = (long long)M;
        if (MODE == GATHER_RAISE && j < 0)
            j += size; // from the end, as in Python
        if (j < 0 || j >= size) {
            if (MODE == GATHER_RAISE) {
                atomicMin(first_bad, (unsigned long long)i);
                continue;
            }
            if (MODE == GATHER_CLIP)
                j = j < 0 ? 0 : size - 1;
            else
                j = (j % size + size) % size;
        }
        if ((size_t)j - first < count) // for both ends: what is below 0 is a huge size_t
            result[i] = source[(size_t)j - first];
    }
}

template <typename Element, typename Index>
static void launch(const gather_job *job, size_t first, size_t count, unsigned int blocks,
                   unsigned long long *first_bad)
{
    cudaStream_t stream = (cudaStream_t)job->stream;
    const Element *source = (const Element *)job->source;
    const Index *index = (const Index *)job->index;
    Element *result = (Element *)job->result;
    if (job->mode == GATHER_RAISE)
        TakeKernel<Element, Index, GATHER_RAISE><<<blocks, THREADS, 0, stream>>>(
            source, index, result, job->N, job->M, first, count, first_bad);
    else if (job->mode == GATHER_WRAP)
        TakeKernel<Element, Index, GATHER_WRAP><<<blocks, THREADS, 0, stream>>>(
            source, index, result, job->N, job->M, first, count, NULL);
    else
        TakeKernel<Element, Index, GATHER_CLIP><<<blocks, THREADS, 0, stream>>>(
            source, index, result, job->N, job->M, first, count, NULL);
}

int gather_launch_part(const gather_job *job, size_t first, size_t count, bool over_bus,
                       unsigned long long *first_bad)
{
    size_t blocks = (job->N - 1) / THREADS + 1;
    if (over_bus && blocks > BLOCKS_OVER_BUS)
        blocks = BLOCKS_OVER_BUS;
    cudaGetLastError(); // an older error, somebody else's, is not this launch's
    if (job->element_bytes == 4 && job->index_bytes == 4)
        launch<unsigned int, int>(job, first, count, blocks, first_bad);
    else if (job->element_bytes == 4)
        launch<unsigned int, long long>(job, first, count, blocks, first_bad);
    else if (job->index_bytes == 4)
        launch<unsigned long long, int>(job, first, count, blocks, first_bad);
    else
        launch<unsigned long long, long long>(job, first, count, blocks, first_bad);
    return cudaGetLastError();
}

bool gather_is_valid(const gather_job *job)
{
    return job->source && job->index && job->result && job->M > 0 &&
           (job->N - 1) / THREADS < 2147483647 && (job->M >> 62) == 0 &&
           (job->element_bytes == 4 || job->element_bytes == 8) &&
           (job->index_bytes == 4 || job->index_bytes == 8) && job->mode >= GATHER_RAISE &&
           job->mode <= GATHER_CLIP;
}

extern "C" int gather_launch(const gather_job *job, unsigned long long *first_bad)
{
    if (job->N == 0)
        return cudaSuccess;
    if (!gather_is_valid(job) || (job->mode == GATHER_RAISE && !first_bad))
        return cudaErrorInvalidValue;
    int error = gather_check_stream(job->stream);
    if (error != cudaSuccess)
        return error;
    return gather_launch_part(job, 0, job->M, false, first_bad);
}
