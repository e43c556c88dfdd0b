// One index of each kind, then many; the largest source that there can be; then the function of the host.
#include "indices.cu"

#include "exercise.cuh"

static void check_kernel(const std::string &what, int size, const std::vector<int> &indices)
{
    int n = indices.size(), smallest = INT_MAX;
    std::vector<float> numbers = random_numbers<float>(size, 1, 1000000), expected(n, -7777);
    for (int i = n - 1; i >= 0; i--)
        if (indices[i] >= -size && indices[i] < size)
            expected[i] = numbers[indices[i] + (indices[i] < 0 ? size : 0)];
        else
            smallest = i;
    Array<float> source("source", numbers), result("result", n);
    Array<int> index("index", indices), first_bad("first_bad", std::vector<int>{INT_MAX});
    auto seen = see([&] {
        Gather<<<(n - 1) / 256 + 1, 256>>>(source.data, size, index.data, n, result.data,
                                           first_bad.data);
    });
    if (cudaDeviceSynchronize() != cudaSuccess)
        wrong("does a thread without an index read index[i]? Is a bad index looked at before it is "
              "followed?",
              "%s: the kernel has read or written at a wrong place", what.c_str());
    std::string look_at = what + ": a good index is taken as Python takes it; for a bad one "
                                 "nothing is written, and the result keeps its -7777";
    result.expect(expected, look_at.c_str());
    first_bad.expect({smallest}, "first_bad is the smallest i (not index[i]) of a bad index, "
                                 "whoever comes first; it stays 2147483647 if there is none");
    expect_shared(seen, 20, "thread i looks at index i");
}

// Of the largest source only the last element is there: the pointer to the first one points at nothing.
static void check_large(void)
{
    Array<float> source("source", std::vector<float>{5}), result("result", 2);
    Array<int> index("index", std::vector<int>{INT_MAX - 1, -1}), first_bad("first_bad", 1);
    Gather<<<1, 256>>>((float *)((size_t)source.data - sizeof(float) * (INT_MAX - 1ll)), INT_MAX,
                       index.data, 2, result.data, first_bad.data);
    result.expect({5, 5}, "a source of 2147483647 elements: is there a sum of two ints that is too "
                          "large for an int?");
}

int main(void)
{
    const int kinds[] = {0, 4, -1, -5, 5, -6, 9, -10, 500, -500, INT_MAX, INT_MIN};
    for (int index : kinds)
        check_kernel("index " + std::to_string(index) + ", source of 5 elements", 5, {2, index});
    check_kernel("a source of 0 elements, each index is bad", 0, {0, -1, 5});
    check_large();
    for (int again = 0; again < 12; again++) {
        int size = random_number(6, 3000), n = again < 3 ? 255 + again : random_number(300, 9000);
        std::vector<int> indices = random_numbers<int>(n, -size, size - 1);
        for (int bad = 0; bad < again * 10; bad++)
            indices[random_number(n / 9, n - 1)] = bad % 2 ? size + bad : -size - 1 - bad;
        check_kernel(again ? "many indices, some of them bad" : "many good indices", size, indices);
    }
    for (int bad : {-1, 0, 1, random_number(300, 999)})
        for (int kind : {-6, 5, INT_MIN, INT_MAX}) {
            std::vector<float> source = {1, 2, 3, 4, 5}, result(1000);
            std::vector<int> index = random_numbers<int>(1000, -5, 4);
            if (bad >= 0)
                index[bad] = index[999] = kind;
            int came = gather(source.data(), 5, index.data(), 1000, result.data());
            if (bad < 0 && came != 0)
                wrong("the status is 0 if all went well",
                      "gather, no bad index: expected 0, came %d", came);
            if (bad >= 0 && came != -1 - bad)
                wrong("the status: position 0 does not look like success, and no position like an "
                      "error of CUDA, which is positive",
                      "gather, the first bad index is %d, at position %d: expected %d, came %d",
                      kind, bad, -1 - bad, came);
        }
    return passed();
}
