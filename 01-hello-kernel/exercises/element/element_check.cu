// Grids with an element for each of their threads: small ones, one of more than 65,536 threads, and one whose numbers
// are too large for a float.
#include "element.cu"

#include "exercise.cuh"

int main(void)
{
    const int launches[][2] = {{2, 4},
                               {1, 32},
                               {random_number(34, 40), random_number(33, 700)},
                               {random_number(150, 200), 1000},
                               {random_number(16900, 17500), 2}};
    for (auto &one : launches) {
        int blocks = one[0], threads = one[1];
        Array<int> numbers("numbers", blocks * threads);
        std::vector<int> expected;
        for (int block = 0; block < blocks; block++)
            for (int thread = 0; thread < threads; thread++)
                expected.push_back(1000 * block + thread);
        auto seen = see([&] { Number<<<blocks, threads>>>(numbers.data); });
        numbers.expect(expected, "the number of the element: block 1 begins where block 0 ends, "
                                 "after blockDim.x threads. Is its value computed in int?");
        expect_shared(seen, 1, "each thread writes one element");
    }
    return passed();
}
