// Sizes that are multiples of the block, and others. Of large ones only the number of blocks is looked at.
#include "guard.cu"

#include "exercise.cuh"
#include <math.h>

int main(void)
{
    for (int n : {256, 1000, 1, 255, 257, 512, random_number(65537, 100000)}) {
        float factor = n == 256 ? 3 : random_number(2, 9) + 0.5f;
        std::vector<float> h = n == 256 ? std::vector<float>(n, 1)
                                        : random_numbers<float>(n, 1, 1000),
                           expected = h;
        if (n == 1000) { // 0 * infinity is NaN
            h[7] = expected[7] = 0;
            factor = INFINITY;
        }
        for (float &element : expected)
            element *= factor;
        Array<float> x("x", h);
        auto seen = see([&] { scale(x.data, factor, n); });
        x.expect(expected,
                 "every element needs its thread: is the number of blocks rounded up, and is the "
                 "guard i < n?",
                 "x[i] = factor * x[i], once");
        expect_shared(seen, 2, "each thread reads and writes one element");
    }
    for (int n : {1000, 65535 * 256 + 1, (1 << 24) + 1, 2147483000}) {
        auto seen = see([&] { scale(NULL, 1, n); }, NO_BLOCK);
        long long expected = (n - 1) / THREADS + 1;
        if (is_on_stand_in && (seen.blocks < expected || seen.blocks > expected + 1))
            wrong("the number of blocks: n / THREADS, rounded up, in whole numbers (a float has "
                  "only 24 bits for them)",
                  "%d elements: expected %lld blocks, got %lld", n, expected, seen.blocks);
    }
    return passed();
}
