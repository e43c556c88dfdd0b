// Sorts indices by the rank that has their element, on the GPU, and puts results back into their order.
// Build: make libroute.so
// Run:   see gather_mpi.c
#include "check.h"
#include <string.h>

#pragma GCC visibility push(default)
#include "route.h"
#pragma GCC visibility pop

#define THREADS 256
#define TILE 4096 // indices of a block
#define NONE (~0ull)

// The index as a position in the whole source, or -1 if it is out of range.
__device__ static long long position_of(long long j, long long M, gather_mode mode)
{
    if (mode == GATHER_RAISE && j < 0)
        j += M; // from the end, as in Python
    if (j >= 0 && j < M)
        return j;
    if (mode == GATHER_RAISE || M == 0)
        return -1;
    return mode == GATHER_WRAP ? (j % M + M) % M : j < 0 ? 0 : M - 1;
}

// The rank that has element j: the last one whose slice begins at j or before. (Slices may be empty.)
__device__ static int owner_of(long long j, const long long *starts, int ranks)
{
    int low = 0, high = ranks; // starts[low] <= j < starts[high]
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (starts[middle] <= j)
            low = middle;
        else
            high = middle;
    }
    return low;
}

// A number for each thread that counts: *counter goes up by how many of its warp have the same owner, in one step. -1: none.
// All threads of the warp call it.
__device__ static unsigned long long take_number(unsigned long long *counters, int owner)
{
    unsigned same = __match_any_sync(~0u, owner), lane = threadIdx.x % 32, first = __ffs(same) - 1;
    unsigned long long number = 0;
    if (lane == first && owner >= 0)
        number = atomicAdd(&counters[owner], (unsigned long long)__popc(same));
    return __shfl_sync(~0u, number, first) + __popc(same & ((1u << lane) - 1));
}

// Each block counts the indices of its tile, one counter a rank, in shared memory: few atomics go beyond the block.
template <typename Index>
__device__ static void count_tile(const route &r, const Index *index, unsigned long long *counters,
                                  unsigned long long *first_bad)
{
    for (int k = threadIdx.x; k < r.ranks; k += THREADS)
        counters[k] = 0;
    __syncthreads();
    size_t begin = (size_t)blockIdx.x * TILE;
    for (size_t i = begin + threadIdx.x; i < begin + TILE; i += THREADS) { // whole warps
        long long j = i < r.N ? position_of(index[i], r.starts[r.ranks], r.mode) : -1;
        take_number(counters, j < 0 ? -1 : owner_of(j, r.starts, r.ranks));
        if (i < r.N && j < 0 && first_bad)
            atomicMin(first_bad, (unsigned long long)i);
    }
    __syncthreads();
}

template <typename Index>
__global__ void CountKernel(route r, const Index *index, unsigned long long *counts,
                            unsigned long long *first_bad)
{
    extern __shared__ unsigned long long counters[];
    count_tile(r, index, counters, first_bad);
    for (int k = threadIdx.x; k < r.ranks; k += THREADS)
        if (counters[k])
            atomicAdd(&counts[k], counters[k]);
}

// next[r]: where the next index for rank r goes. A block takes room for all of its own at once.
template <typename Index>
__global__ void SortKernel(route r, const Index *index, unsigned long long *next, long long *wanted,
                           size_t *position)
{
    extern __shared__ unsigned long long counters[];
    count_tile(r, index, counters, NULL);
    for (int k = threadIdx.x; k < r.ranks; k += THREADS)
        counters[k] = atomicAdd(&next[k], counters[k]);
    __syncthreads();
    size_t begin = (size_t)blockIdx.x * TILE;
    for (size_t i = begin + threadIdx.x; i < begin + TILE; i += THREADS) {
        long long j = i < r.N ? position_of(index[i], r.starts[r.ranks], r.mode) : -1;
        int owner = j < 0 ? -1 : owner_of(j, r.starts, r.ranks);
        unsigned long long k = take_number(counters, owner);
        if (owner >= 0) {
            wanted[k] = j - r.starts[owner];
            position[k] = i;
        }
    }
}

template <typename Element>
__global__ void PlaceKernel(const Element *got, const size_t *position, Element *result, size_t N)
{
    size_t k = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (k < N)
        result[position[k]] = got[k];
}

extern "C" int route_count(const route *r, unsigned long long *counts, long long *first_bad,
                           long long *bad_index)
{
    cudaError_t error = cudaSuccess;
    unsigned long long *d_counts = NULL, bad = NONE; // behind the counts: the first bad one
    size_t bytes = r->ranks * sizeof *counts, tiles = (r->N + TILE - 1) / TILE;
    int bad32 = 0;

    memset(counts, 0, bytes);
    *first_bad = -1;
    if (r->N == 0)
        return cudaSuccess;
    CHECK_GOTO(error, cudaMalloc(&d_counts, bytes + sizeof bad), cleanup);
    CHECK_GOTO(error, cudaMemset(d_counts, 0, bytes), cleanup);
    CHECK_GOTO(error, cudaMemcpy(d_counts + r->ranks, &bad, sizeof bad, cudaMemcpyHostToDevice),
               cleanup);
    cudaGetLastError();
    if (r->index_bytes == 4)
        CountKernel<<<tiles, THREADS, bytes>>>(*r, (const int *)r->index, d_counts,
                                               d_counts + r->ranks);
    else
        CountKernel<<<tiles, THREADS, bytes>>>(*r, (const long long *)r->index, d_counts,
                                               d_counts + r->ranks);
    CHECK_GOTO(error, cudaGetLastError(), cleanup);
    CHECK_GOTO(error, cudaMemcpy(counts, d_counts, bytes, cudaMemcpyDeviceToHost), cleanup);
    CHECK_GOTO(error, cudaMemcpy(&bad, d_counts + r->ranks, sizeof bad, cudaMemcpyDeviceToHost),
               cleanup);
    if (bad == NONE)
        goto cleanup;
    *first_bad = (long long)bad;
    if (r->index_bytes == 4) {
        CHECK_GOTO(error,
                   cudaMemcpy(&bad32, (const int *)r->index + bad, 4, cudaMemcpyDeviceToHost),
                   cleanup);
        *bad_index = bad32;
    } else {
        CHECK_GOTO(
            error,
            cudaMemcpy(bad_index, (const long long *)r->index + bad, 8, cudaMemcpyDeviceToHost),
            cleanup);
    }

cleanup:
    cudaFree(d_counts);
    cudaGetLastError();
    return error;
}

extern "C" int route_sort(const route *r, const unsigned long long *counts, long long *wanted,
                          size_t *position)
{
    cudaError_t error = cudaSuccess;
    unsigned long long *d_next = NULL, next = 0;
    size_t bytes = r->ranks * sizeof next, tiles = (r->N + TILE - 1) / TILE;

    if (r->N == 0)
        return cudaSuccess;
    CHECK_GOTO(error, cudaMalloc(&d_next, bytes), cleanup);
    for (int k = 0; k < r->ranks; next += counts[k++])
        CHECK_GOTO(error, cudaMemcpy(d_next + k, &next, sizeof next, cudaMemcpyHostToDevice),
                   cleanup);
    cudaGetLastError();
    if (r->index_bytes == 4)
        SortKernel<<<tiles, THREADS, bytes>>>(*r, (const int *)r->index, d_next, wanted, position);
    else
        SortKernel<<<tiles, THREADS, bytes>>>(*r, (const long long *)r->index, d_next, wanted,
                                              position);
    CHECK_GOTO(error, cudaGetLastError(), cleanup);
    CHECK_GOTO(error, cudaDeviceSynchronize(), cleanup);

cleanup:
    cudaFree(d_next);
    cudaGetLastError();
    return error;
}

extern "C" int route_place(const void *got, const size_t *position, void *result, size_t N,
                           int element_bytes)
{
    size_t blocks = (N + THREADS - 1) / THREADS;
    if (N == 0)
        return cudaSuccess;
    cudaGetLastError();
    if (element_bytes == 4)
        PlaceKernel<<<blocks, THREADS>>>((const int *)got, position, (int *)result, N);
    else
        PlaceKernel<<<blocks, THREADS>>>((const long long *)got, position, (long long *)result, N);
    cudaError_t error = cudaGetLastError();
    return error != cudaSuccess ? error : cudaDeviceSynchronize();
}
