// The check of exercise 4: fewer threads than elements, as many, and more.
// On a GPU also: compute-sanitizer --tool memcheck
#include "exercise.cuh"

__global__ void AddOne(int *x, int n);

int main(void)
{
    const int launches[][3] = {{2, 4, 20},
                               {4, 64, 256},
                               {4, 64, 10},
                               {4, 64, random_number(300, 5000)},
                               {4, 64, random_number(70000, 80000)}};
    for (auto [blocks, threads, n] : launches) {
        std::vector<int> h = n == 20 ? std::vector<int>(n, 10) : random_numbers<int>(n, 1, 1000),
                         expected = h;
        for (int &element : expected)
            element += 1;
        Array<int> x("x", h);
        AddOne<<<blocks, threads>>>(x.data, n);
        char look_at[200];
        snprintf(look_at, sizeof look_at,
                 "the loop: of %d elements, each has to have its turn once, with %d blocks of %d "
                 "threads. Where does a "
                 "thread begin, how far does it step, where does it end?",
                 n, blocks, threads);
        x.expect(expected, look_at);
    }
    return passed();
}
