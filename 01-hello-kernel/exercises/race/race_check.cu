// The largest of one negative number, in which no thread is in another's way; of several thousand; of a few, with a block
// that has none; and one that was larger before.
#include "race.cu"

#include "exercise.cuh"

int main(void)
{
    // often, since a race may also end well
    for (int n :
         {1, 300, 512, random_number(5000, 20000), 2000, 2000, 2000, 2000, 2000, 2000, 2000, 2000})
        for (int before : {-2147483647, random_number(-500000, 500000), 2147483647}) {
            std::vector<int> h =
                random_numbers<int>(n, -1000000, n == 1 || before < -1000000 ? -1 : 1000000);
            Array<int> x("x", h), largest("largest", std::vector<int>(1, before));
            auto seen = see([&] { Largest<<<n / 256 + 1, 256>>>(x.data, n, largest.data); });
            largest.expect(
                {std::max(before, *std::max_element(h.begin(), h.end()))},
                n == 1 ? "one number: may it be negative? May *largest have been larger?"
                       : "is each number looked at? And two threads may read the same *largest, "
                         "and then both write: what comes between?");
            x.expect(h, "x is read, not written");
            if (before == 2147483647) // nothing to be written, and nothing to be tried again
                expect_shared(seen, 8, "each thread looks at one element");
        }
    return passed();
}
