// Sizes around a warp and a block; one addition to the result for each warp.
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
    std::vector<int> h = random_numbers<int>(32, -1000, 1000);
    int expected = 0;
    for (int number : h)
        expected += number;
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
        auto seen = see([&] { Sum<<<blocks, THREADS>>>(x.data, n, sum.data); });
        sum.expect(
            {expected},
            "Sum: does each thread of a warp call WarpSum, with 0 if it has no element? Is the sum "
            "of each warp added once?");
        x.expect(h, "x is read, not written");
        if (seen.writes + seen.atomics > blocks * THREADS / 32)
            wrong("one thread of each warp adds the warp's sum",
                  "n = %d: the %d warps write %lld times to global memory", n,
                  blocks * THREADS / 32, seen.writes + seen.atomics);
        expect_shared(seen, 2, "each thread reads one element");
    }
    return passed();
}
