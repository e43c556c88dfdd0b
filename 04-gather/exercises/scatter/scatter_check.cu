// Few elements and many numbers, so that many threads have the same index; or none has. The numbers are multiples of
// 1/8: their sum is the same in every order. An element is NaN, another one -0.
#include "scatter.cu"

#include "exercise.cuh"
#include <math.h>

struct Numbers {
    std::vector<float> value, before, expected;
    std::vector<int> index;

    Numbers(int n, int size)
        : value(random_numbers<float>(n, -99, 99)), before(random_numbers<float>(size, 1, 99)),
          index(random_numbers<int>(n, 0, size - 1))
    {
        for (int i = 0; i < n && size > 9000; i++)
            index[i] = 7 * i; // each one once: no thread has to try again
        before[0] = -0.0f;
        before[size / 2] = size > 1 ? NAN : 1;
        expected = before;
        for (int i = 0; i < n; i++) {
            value[i] = value[i] / 4 + 0.125f; // never 0
            expected[index[i]] += value[i];
        }
    }
};

int main(void)
{
    expect_each_failure("scatter_add", [] {
        float value[3] = {1, 2, 3}, result[2] = {4, 5};
        int index[3] = {0, 1, 0};
        return scatter_add(value, index, 3, result, 2);
    });
    for (int size : {1, 5, 256, 3000, 63000, random_number(2, 900)}) {
        int n = size == 5 ? 2 : random_number(1000, 9000);
        Numbers h(n, size);
        Array<float> value("value", h.value), result("result", h.before);
        Array<int> index("index", h.index);
        auto seen =
            see([&] { ScatterAdd<<<n / 256 + 1, 256>>>(value.data, index.data, n, result.data); });
        result.expect(
            h.expected,
            "the kernel: result[index[i]] becomes larger by value[i], once for each i. Are "
            "reading, adding and writing one step?");
        expect_shared(seen, size == 63000 ? 10 : n / 4 + 10,
                      "thread i adds value[i], and no other number");
    }
    for (int size : {1, 100, random_number(2, 900)}) {
        Numbers h(random_number(1000, 9000), size);
        std::vector<float> result = h.before;
        int error = 0;
        auto add = [&] {
            error =
                scatter_add(h.value.data(), h.index.data(), h.value.size(), result.data(), size);
        };
        add();
        expect_return(0, error, "scatter_add", "the copies: their sizes in bytes, their direction");
        expect_elements("scatter_add, result", h.expected, result,
                        "what the kernel needs on the device: it adds to what is in the result, so "
                        "that has to be there, too");
        result = h.before;
        expect_kernel("scatter_add", add, h.expected, result); // with no NaN, if size is 1
    }
    return passed();
}
