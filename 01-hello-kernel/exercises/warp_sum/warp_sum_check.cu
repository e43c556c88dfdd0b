// Sizes around a warp and a block; whole warps shuffle; one addition to the result for each warp.

// Before the macros, so that they change nothing in them.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

// Counts the threads that come to a shuffle: what a thread gets from one that does not come is undefined, a 0 perhaps.
__device__ int came;
template <typename T> __device__ T Counted(T value)
{
    atomicAdd(&came, 1);
    return value;
}
#define __shfl_down_sync(...) Counted(__shfl_down_sync(__VA_ARGS__))
#define __shfl_xor_sync(...) Counted(__shfl_xor_sync(__VA_ARGS__))
#define __shfl_sync(...) Counted(__shfl_sync(__VA_ARGS__))
#define __reduce_add_sync(...) Counted(__reduce_add_sync(__VA_ARGS__))
#include "warp_sum.cu"

#include "exercise.cuh"

__global__ void OneWarp(const int *x, int *sum)
{
    int total = WarpSum(x[threadIdx.x]);
    if (threadIdx.x == 0)
        *sum = total;
}

int main(void)
{
    std::vector<int> h = random_numbers<int>(32, 20000000, 60000000);
    int expected = 0;
    for (int number : h)
        expected += number;
    // Above 2^24 a float is even: an odd sum is never right by luck.
    h[0] += expected % 2 == 0;
    expected += expected % 2 == 0;
    Array<int> warp("x", h), one("the sum of a warp", 1);
    OneWarp<<<1, 32>>>(warp.data, one.data);
    one.expect({expected},
               "WarpSum: which number does each thread add, in which of the five steps?");

    for (int n : {256, 1, 31, 32, 33, 1000, random_number(5000, 50000)}) {
        h = random_numbers<int>(n, -1000, 1000);
        expected = 5;
        for (int number : h)
            expected += number;
        Array<int> x("x", h), sum("*sum", std::vector<int>{5});
        int blocks = (n + THREADS - 1) / THREADS;
        int counted = 0;
        CHECK(cudaMemcpyToSymbol(came, &counted, sizeof counted));
        auto seen = see([&] { Sum<<<blocks, THREADS>>>(x.data, n, sum.data); });
        CHECK(cudaMemcpyFromSymbol(&counted, came, sizeof counted));
        const char *look_at = "Sum: does each thread of a warp call WarpSum, with 0 if it has no "
                              "element? Is the sum of each warp added once?";
        sum.expect({expected}, look_at);
        if (counted % 32)
            wrong(look_at, "n = %d: the last of the shuffling warps has only %d threads there", n,
                  counted % 32);
        x.expect(h, "x is read, not written");
        if (is_on_stand_in && seen.writes + seen.atomics - counted > blocks * THREADS / 32)
            wrong("one thread of each warp adds the warp's sum",
                  "n = %d: the %d warps write %lld times to global memory", n,
                  blocks * THREADS / 32, seen.writes + seen.atomics - counted);
        expect_shared(seen, 20, "each thread reads one element"); // and comes to some shuffles
    }
    return passed();
}
