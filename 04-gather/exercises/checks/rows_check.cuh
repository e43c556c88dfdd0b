// The check of exercise 2: the kernel on sources that are not square, then the function of the host.
// On a GPU also: compute-sanitizer --tool memcheck
#include "exercise.cuh"
#include <stdint.h>

__global__ void GatherRows(const float *source, int columns, const int *index, int rows,
                           float *result);
int gather_rows(const float *source, int source_rows, int columns, const int *index, int rows,
                float *result);

struct Numbers {
    std::vector<float> source, expected;
    std::vector<int> index;

    Numbers(int source_rows, int columns, int rows)
        : source(random_numbers<float>((size_t)source_rows * columns, 1, 1000000)),
          index(random_numbers<int>(rows, 0, source_rows - 1))
    {
        index[random_number(0, rows - 1)] = source_rows - 1;
        for (int row : index)
            for (int column = 0; column < columns; column++)
                expected.push_back(source[(size_t)row * columns + column]);
    }
};

static void finish(const char *look_at)
{
    CHECK(cudaGetLastError());
    cudaError_t error = cudaDeviceSynchronize();
    if (error == cudaErrorIllegalAddress || error == cudaErrorInvalidAddressSpace)
        wrong(look_at, "the kernel has read or written at a wrong place");
}

// If `blocks` is 0, there is a thread for each element, and those of the last block that have none.
static void check_kernel(int source_rows, int columns, int rows, int blocks = 0)
{
    Numbers h(source_rows, columns, rows);
    Array<float> source("source", h.source), result("result", h.expected.size());
    Array<int> index("index", h.index);
    char look_at[300];
    snprintf(look_at, sizeof look_at,
             "%d rows of %d columns from a source of %d rows: is there an element k? In which row "
             "and column? How many elements lie before row index[row] of the source?",
             rows, columns, source_rows);
    if (blocks != 0) {
        snprintf(look_at, sizeof look_at,
                 "thread k writes element k, and no other one: here are %d threads only",
                 blocks * 256);
        std::fill(h.expected.begin() + blocks * 256, h.expected.end(), poison<float>());
    }
    GatherRows<<<blocks ? blocks : (rows * columns - 1) / 256 + 1, 256>>>(
        source.data, columns, index.data, rows, result.data);
    finish(look_at);
    result.expect(h.expected, look_at);
    source.expect(h.source, "source is read, not written");
    index.expect(h.index, "index is read, not written");
}

// A source with more elements than an int counts, of which only the last row is there: the pointer to the first row
// points at nothing. (A result of that size would need as many threads: that is not tried.)
static void check_far(void)
{
    int columns = random_number(5, 9), last_row = 1000000000;
    std::vector<float> row = random_numbers<float>(columns, 1, 1000000);
    Array<float> source("source", row), result("result", columns);
    Array<int> index("index", std::vector<int>{last_row});
    const float *first =
        (const float *)((uintptr_t)source.data - sizeof(float) * (size_t)last_row * columns);
    GatherRows<<<1, 256>>>(first, columns, index.data, 1, result.data);
    const char *look_at = "index[row] * columns is a product of two ints, and becomes too large "
                          "for one: (size_t) makes "
                          "the first a larger type";
    finish(look_at);
    result.expect(row, look_at);
}

// A result with more elements than an int counts, of which only the first 256 are there, and are written.
static void check_many(void)
{
    const int columns = 65536, rows = 65536;
    std::vector<float> row = random_numbers<float>(columns, 1, 1000000);
    Array<float> source("source", row), result("result", std::vector<float>(256, 0));
    Array<int> index("index", std::vector<int>{0});
    GatherRows<<<1, 256>>>(source.data, columns, index.data, rows, result.data);
    const char *look_at = "is there an element k? rows * columns is a product of two ints, and "
                          "becomes too large for one: (size_t) makes the first a larger type";
    finish(look_at);
    row.resize(256);
    result.expect(row, look_at);
}

int main(void)
{
    const int sizes[][3] = {
        {4, 3, 2},
        {3, 4, 5},
        {1, 1, 1},
        {1, 300, 7},
        {300, 1, 700},
        {16, 16, 16},
        {random_number(50, 90), random_number(20, 45), random_number(100, 900)}};
    for (auto [source_rows, columns, rows] : sizes)
        check_kernel(source_rows, columns, rows);
    check_kernel(20, 30, 40, 1);
    check_far();
    check_many();
    for (auto [source_rows, columns, rows] : sizes) {
        Numbers h(source_rows, columns, rows);
        std::vector<float> result(h.expected.size(), poison<float>());
        int error =
            gather_rows(h.source.data(), source_rows, columns, h.index.data(), rows, result.data());
        if (error != cudaSuccess)
            wrong("the number of blocks",
                  "gather_rows, for %d rows of %d columns: expected 0, came error %d, %s", rows,
                  columns, error, cudaGetErrorString((cudaError_t)error));
        for (size_t k = 0; k < result.size(); k++)
            if (!(result[k] == h.expected[k]))
                wrong("the number of blocks: is there a thread for each element, and is the "
                      "division rounded up?",
                      "gather_rows, for %d rows of %d columns: element %zu is not what the kernel "
                      "alone makes it",
                      rows, columns, k);
    }
    return passed();
}
