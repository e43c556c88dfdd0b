// The check of exercise 1: several launches, each with an element for each of its threads.
#include "exercise.cuh"

__global__ void Number(int *numbers);

int main(void)
{
    const int launches[][2] = {{2, 4}, {1, 32}, {random_number(34, 40), random_number(33, 700)}};
    for (auto [blocks, threads] : launches) {
        Array<int> numbers("numbers", blocks * threads);
        std::vector<int> expected;
        for (int block = 0; block < blocks; block++)
            for (int thread = 0; thread < threads; thread++)
                expected.push_back(1000 * block + thread);
        Number<<<blocks, threads>>>(numbers.data);
        numbers.expect(expected, "the number of the element: block 1 begins where block 0 ends, "
                                 "after blockDim.x threads");
    }
    return passed();
}
