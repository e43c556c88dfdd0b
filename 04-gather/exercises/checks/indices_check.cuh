// The check of exercise 1: one index of each kind; then many. Around the elements of the source lie others: a bad index
// that is followed a little too far brings one of them, and one that is followed far ends the kernel.
// On a GPU also: compute-sanitizer --tool memcheck
#include "exercise.cuh"
#include <limits.h>
#include <stdint.h>
#define atomicMin_block(...) static_assert(false, "atomicMin_block is atomic only within a block")

__global__ void Gather(const float *source, int size, const int *index, int n, float *result,
                       int *first_bad);
int gather(const float *source, int size, const int *index, int n, float *result);

// Whether a kernel has ended because of an address at which it read or wrote.
static bool is_address(cudaError_t error)
{
    return error == cudaErrorIllegalAddress || error == cudaErrorInvalidAddressSpace;
}

static bool is_good(int index, int size)
{
    return index >= -size && index < size;
}

// The source has `size` elements, and 200 numbers lie before and behind them. If `blocks` is 0, there is a thread for
// each index.
static void check_kernel(int size, const std::vector<int> &indices, const char *what,
                         int blocks = 0)
{
    const int AROUND = 200;
    int n = indices.size(), smallest = INT_MAX;
    std::vector<float> numbers = random_numbers<float>(size + 2 * AROUND, 1, 1000000),
                       expected(n, poison<float>());
    for (int i = blocks ? blocks * 256 - 1 : n - 1; i >= 0; i--)
        if (is_good(indices[i], size))
            expected[i] = numbers[AROUND + indices[i] + (indices[i] < 0 ? size : 0)];
        else
            smallest = i;
    Array<float> source("source", numbers), result("result", n);
    Array<int> index("index", indices), first_bad("first_bad", std::vector<int>{INT_MAX});
    Gather<<<blocks ? blocks : (n - 1) / 256 + 1, 256>>>(
        size > 0 ? source.data + AROUND : NULL, size, index.data, n, result.data, first_bad.data);
    CHECK(cudaGetLastError());
    cudaError_t error = cudaDeviceSynchronize();
    if (is_address(error))
        wrong("does a thread without an index read index[i]? Is a bad index looked at before it is "
              "followed?",
              "%s: the kernel has read or written at a wrong place", what);
    if (error == cudaErrorAssert)
        wrong("a bad index is noted, and the other threads go on: it does not end the kernel",
              "%s: an assert has ended the kernel", what);
    char good[300], bad[300];
    snprintf(good, sizeof good, "%s: result[i] = source[index[i]]", what);
    snprintf(bad, sizeof bad, "%s: for a bad index nothing is written, the result keeps its -7777",
             what);
    result.expect(expected, good, blocks ? what : smallest == INT_MAX ? nullptr : bad);
    int came;
    CHECK(cudaMemcpy(&came, first_bad.data, sizeof came, cudaMemcpyDeviceToHost));
    if (came >= n && came != INT_MAX)
        wrong("first_bad is a position, i, not the index that stands there; a thread beyond n has "
              "none",
              "%s: there are %d indices, and first_bad is %d", what, n, came);
    if (came != smallest && blocks != 0)
        wrong(what, "first_bad is %d, expected %d, INT_MAX", came, smallest);
    if (came != smallest)
        wrong("first_bad is the smallest i of a bad index, whoever comes first or last",
              "%s: first_bad is %d, expected %d (%d is INT_MAX, for no bad index)", what, came,
              smallest, INT_MAX);
    first_bad.expect({smallest}, "first_bad is one number");
    source.expect(numbers, "source is read, not written");
    index.expect(indices, "index is read, not written");
}

// The largest source there can be, of which only the last element is there: the pointer to the first one points at
// nothing.
static void check_large(void)
{
    const char *look_at = "size and index[i] may be large: is there a sum of two ints that is too "
                          "large for an int?";
    Array<float> source("source", std::vector<float>{5}),
        result("result", std::vector<float>(2, 0));
    Array<int> index("index", std::vector<int>{INT_MAX - 1, -1}),
        first_bad("first_bad", std::vector<int>{INT_MAX});
    const float *first =
        (const float *)((uintptr_t)source.data - sizeof(float) * (size_t)(INT_MAX - 1));
    Gather<<<1, 256>>>(first, INT_MAX, index.data, 2, result.data, first_bad.data);
    if (is_address(cudaDeviceSynchronize()))
        wrong(look_at, "a source of %d elements: the kernel has read or written at a wrong place",
              INT_MAX);
    result.expect({5, 5}, look_at);
}

// Good indices, and `bad` others at positions from `from` on.
static std::vector<int> mixed(int size, int n, int bad, int from)
{
    const int good[] = {0, size - 1, -1, -size}, others[] = {size, -size - 1, INT_MAX, INT_MIN};
    std::vector<int> indices = random_numbers<int>(n, -size, size - 1);
    for (int index : good)
        indices[random_number(0, n - 1)] = index;
    for (int k = 0; k < bad; k++)
        indices[random_number(from, n - 1)] = others[k % 4];
    return indices;
}

int main(void)
{
    setenv("CPU_CUDA_SEED", "4",
           0); // on the stand-in, thread 0 is not always the first; a GPU has its own order
    for (int index : {0, 4, -1, -5, 5, -6, 7, -8, 11, -11, INT_MAX, INT_MIN, INT_MAX - 1}) {
        char what[100];
        snprintf(what, sizeof what, "index %d, source of 5 elements (%s)", index,
                 !is_good(index, 5) ? "bad"
                 : index < 0        ? "from the end"
                                    : "good");
        check_kernel(5, {2, index}, what);
    }
    check_kernel(1, {0, -1, 0}, "a source of 1 element");
    check_kernel(0, {0, -1, 5}, "a source of 0 elements, each index is bad");
    check_large();
    for (int n : {256, 255, 257, random_number(1000, 50000)}) {
        int size = random_number(1, 3000);
        check_kernel(size, mixed(size, n, 0, 0), "no bad index");
    }
    for (int again = 0; again < 20; again++) {
        int size = random_number(2, 3000), n = random_number(1000, 50000);
        check_kernel(size, mixed(size, n, random_number(1, n), random_number(0, n / 2)),
                     "some bad indices");
    }
    std::vector<int> indices = mixed(100, 1000, 0, 0);
    indices[300] = indices[999] = 100;
    check_kernel(100, indices,
                 "thread i looks at index i, and at no other one: here are 256 threads only, for "
                 "1000 indices",
                 1);

    for (int bad : {-1, 0, 1, random_number(300, 999)}) {
        int size = random_number(2, 3000), n = 1000;
        std::vector<float> source = random_numbers<float>(size, 1, 1000000), result(n, -1);
        std::vector<int> index = mixed(size, n, 0, 0);
        if (bad >= 0)
            index[bad] = index[n - 1] = size;
        int status = gather(source.data(), size, index.data(), n, result.data());
        int expected = bad < 0 ? 0 : -1 - bad;
        if (status != expected && bad < 0)
            wrong("the status if all went well", "no bad index: expected status 0, came %d",
                  status);
        if (status != expected)
            wrong("the status: no position may look like success, and none like an error of CUDA",
                  "the first bad index is at position %d: expected status %d, came %d", bad,
                  expected, status);
        for (int i = 0; bad < 0 && i < n; i++)
            if (result[i] != source[index[i] + (index[i] < 0 ? size : 0)])
                wrong("the status: the result is copied back only if it is 0",
                      "result[%d] of gather()", i);
    }
    return passed();
}
