// The check of exercise 2: sizes that are multiples of the block, and others.
// On a GPU also: compute-sanitizer --tool memcheck
#include "exercise.cuh"

void scale(float *x, float factor, int n);

int main(void)
{
    for (int n : {256, 1000, 1, 255, 257, 512, random_number(1001, 100000),
                  random_number(1000000, 2000000)}) {
        float factor = n == 256 ? 3 : random_number(2, 9) + 0.5f;
        std::vector<float> h = n == 256 ? std::vector<float>(n, 1)
                                        : random_numbers<float>(n, 1, 1000),
                           expected = h;
        for (float &element : expected)
            element *= factor;
        Array<float> x("x", h);
        scale(x.data, factor, n);
        x.expect(expected,
                 "every element needs its thread: is the number of blocks rounded up, and is the "
                 "guard i < n?",
                 "x[i] = factor * x[i], once");
    }
    return passed();
}
