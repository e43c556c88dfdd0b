// Few blocks and many, values that are all equal; how often the blocks write to global memory.
#include "private_histogram.cu"

#include "exercise.cuh"

int main(void)
{
    for (int n : {1000, 1, 255, 256, random_number(20000, 50000), 70000})
        for (int blocks : {1, 4, random_number(5, 60)}) {
            std::vector<unsigned char> h =
                random_numbers<unsigned char>(n, 0, n == 256 || n == 70000 ? 0 : BINS - 1);
            h[n - 1] = BINS - 1;
            std::vector<int> before = random_numbers<int>(BINS, 1, 100), expected = before;
            for (unsigned char value : h)
                expected[value]++;
            Array<unsigned char> values("values", h);
            Array<int> counts("counts", before);
            auto seen = see([&] { Histogram<<<blocks, THREADS>>>(values.data, n, counts.data); });
            counts.expect(
                expected,
                "is each value counted once, do the block's counters begin at 0, and does "
                "every thread wait until all have counted?");
            values.expect(h, "values are read, not written");
            if (seen.writes + seen.atomics > (long long)blocks * BINS)
                wrong("a value is counted in the shared memory of its block; each block adds a "
                      "counter to counts once",
                      "%d values, %d blocks: the threads write %lld times to global memory, "
                      "expected at most %d",
                      n, blocks, seen.writes + seen.atomics, blocks * BINS);
            expect_shared(seen, (n - 1) / (blocks * THREADS) + 4,
                          "each thread has its part of the values");
        }
    return passed();
}
