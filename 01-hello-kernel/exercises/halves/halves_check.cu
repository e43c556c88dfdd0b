// One block, and several.
#include "halves.cu"

#include "exercise.cuh"

int main(void)
{
    for (int blocks : {1, 2, random_number(20, 50)}) {
        std::vector<int> h = random_numbers<int>(256 * blocks, -1000000000, 1000000000), expected;
        for (int i = 0; i < 128 * blocks; i++)
            expected.push_back(h[i / 128 * 256 + i % 128] + h[i / 128 * 256 + i % 128 + 128]);
        Array<int> x("x", h), out("out", 128 * blocks);
        auto seen = see([&] { Halves<<<blocks, 256>>>(x.data, out.data); });
        out.expect(expected, "element t and element t + 128 of this block: which number has this "
                             "thread, and who has the other? Is the array "
                             "__shared__?");
        x.expect(h, "x is read, not written");
        if (seen.reads > 256 * blocks)
            wrong("the other number is in shared memory, where its thread has put it",
                  "each element of x is read once: expected %d reads, got %lld", 256 * blocks,
                  seen.reads);
        expect_shared(seen, 2, "each thread reads one element, and half of them write one");
    }
    return passed();
}
