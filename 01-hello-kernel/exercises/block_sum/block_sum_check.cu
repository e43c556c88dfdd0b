// A whole block, sizes whose last block is not full, and one with a block more, which has no element.
#include "block_sum.cu"

#include "exercise.cuh"

int main(void)
{
    for (int n : {256, 1024, 1, 1000, random_number(10000, 100000)}) {
        int blocks = (n + 255) / 256 + (n == 1000);
        std::vector<int> h = n == 256 ? std::vector<int>(n, -1)
                                      : random_numbers<int>(n, -1000000, 1000000),
                         expected(blocks);
        for (int i = 0; i < n; i++)
            expected[i / 256] += h[i];
        Array<int> x("x", h), sums("sums", blocks);
        auto seen = see([&] { BlockSum<<<blocks, 256>>>(x.data, n, sums.data); });
        sums.expect(expected,
                    n % 256 ? "the last block: is 0 added for a thread that has no element? A "
                              "block that has none writes 0"
                            : "is each element added once, also a negative one, and does "
                              "each read wait for the write before it "
                              "(__syncthreads)? Is the array __shared__?");
        x.expect(h, "x is read, not written");
        if (seen.writes + seen.atomics > blocks)
            wrong(
                "the sum grows in shared memory, and one thread of the block writes it at the end",
                "the blocks write %lld times to global memory, expected %d",
                seen.writes + seen.atomics, blocks);
        expect_shared(seen, 2, "each thread reads one element, and one of them writes the sum");
    }
    return passed();
}
