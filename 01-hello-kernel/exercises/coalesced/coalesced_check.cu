// The right numbers, and how many sectors of 32 bytes the warps ask for: 8 floats each, read and written.
#include "coalesced.cu"

#include "exercise.cuh"

int main(void)
{
    const int sizes[] = {2048, 1, 8, 2047, 2049, random_number(10000, 100000)};
    for (int n : sizes) {
        std::vector<float> h = random_numbers<float>(n, 1, 1000), expected = h;
        for (float &element : expected)
            element += 1;
        Array<float> x("x", h);
        auto seen = see([&] { AddOneToEight<<<(n - 1) / 2048 + 1, 256>>>(x.data, n); });
        x.expect(expected, "each element has to have its turn once: where does a thread begin, and "
                           "how far does it step?");
        expect_shared(seen, 16, "each thread reads and writes up to 8 elements");
        long long least = 2 * ((n - 1) / 8 + 1);
        if (seen.sectors > least + least / 4 + 8)
            wrong("in each step, thread t + 1 takes the element beside that of thread t; "
                  "where does a block begin?",
                  "%d elements: the warps move %lld sectors of 32 bytes, expected about %lld", n,
                  seen.sectors, least);
    }
    return passed();
}
