// Sources that are not square; source and result with more elements than an int counts; the number of blocks.
#include "rows.cu"

#include "exercise.cuh"

// A result of 2^32 elements, of which only the first 256 are there: 0 if they are right; a loop that goes on fails (1).
static int first_of_many(void)
{
    std::vector<float> row = random_numbers<float>(65536, 1, 1000000), got(256);
    Array<float> source("source", row);
    Array<int> index("index", std::vector<int>{0});
    float *result;
    CHECK(cudaMalloc(&result, 256 * sizeof(float)));
    CHECK(cudaMemset(result, 0, 256 * sizeof(float)));
    GatherRows<<<1, 256>>>(source.data, 65536, index.data, 65536, result);
    if (cudaMemcpy(got.data(), result, 256 * sizeof(float), cudaMemcpyDeviceToHost) != 0)
        _exit(1);
    return std::equal(got.begin(), got.end(), row.begin()) ? 0 : 2;
}

static void check(int source_rows, int columns, int rows)
{
    std::vector<float> numbers = random_numbers<float>(source_rows * columns, 1, 1000000), expected;
    std::vector<int> indices = random_numbers<int>(rows, 0, source_rows - 1);
    indices[rows - 1] = source_rows - 1;
    for (int row : indices)
        expected.insert(expected.end(), &numbers[row * columns], &numbers[row * columns] + columns);
    Array<float> source("source", numbers), result("result", expected.size());
    Array<int> index("index", indices);
    int n = rows * columns;
    auto seen = see([&] {
        GatherRows<<<blocks_for(n), THREADS>>>(source.data, columns, index.data, rows, result.data);
    });
    char what[200];
    snprintf(what, sizeof what, "%d rows of %d columns, from a source of %d rows", rows, columns,
             source_rows);
    result.expect(expected,
                  (std::string(what) + ": is there an element k? In which row and column? How "
                                       "many elements lie before row index[row]?")
                      .c_str());
    expect_shared(seen, 12, "thread k writes element k");
    if (n > 1000 && columns % 32 == 0 && seen.sectors > n / 2)
        wrong("threads side by side read elements side by side: k / columns is the row",
              "%s: the warps move %lld sectors of 32 bytes, expected about %d", what, seen.sectors,
              n * 9 / 32);
}

int main(void)
{
    if (in_a_process(first_of_many) == 2)
        wrong("rows * columns is a product of two ints, and too large for one: (size_t)rows * "
              "columns is not",
              "a result of 65536 rows of 65536 columns: the first 256 elements are not right");
    for (size_t n :
         {0ul, 1ul, 256ul, 257ul, 1000ul, (1ul << 24) + 1, (1ul << 31) + 1, (1ul << 39) + 257}) {
        size_t got = blocks_for(n), expected = n / THREADS + (n % THREADS != 0);
        if (got != expected)
            wrong("elements / THREADS, rounded up, in whole numbers of type size_t",
                  "blocks_for(%zu): expected %zu, got %zu", n, expected, got);
    }
    const int sizes[][3] = {
        {4, 3, 2},
        {3, 4, 5},
        {1, 1, 1},
        {1, 300, 7},
        {300, 1, 700},
        {99, 256, 40},
        {random_number(50, 90), random_number(20, 45), random_number(100, 300)}};
    for (auto [source_rows, columns, rows] : sizes)
        check(source_rows, columns, rows);
    // Of a source of more than 2^31 elements only the last row is there: the pointer to the first points at nothing.
    std::vector<float> row = random_numbers<float>(7, 1, 1000000);
    Array<float> source("source", row), result("result", 7);
    Array<int> index("index", std::vector<int>{1000000000});
    GatherRows<<<1, 256>>>(source.data - 7000000000, 7, index.data, 1, result.data);
    const char *product = "index[row] * columns is a product of two ints, and too large for one: "
                          "(size_t) before it makes it a larger type";
    if (cudaDeviceSynchronize() != cudaSuccess)
        wrong(product, "row 1000000000 of 7 columns: the kernel has read at a wrong place");
    result.expect(row, product);
    // 5 rows of 2^30 columns, of which only the end of the last one is there.
    const size_t n = (size_t)5 << 30;
    std::vector<float> h = random_numbers<float>(256, 1, 1000000);
    Array<float> end("source", h), end_of_result("the end of result", 256);
    Array<int> five("index", std::vector<int>{9, 9, 9, 9, 0});
    auto launch = [&] {
        GatherRows<<<n / 256, 256>>>(end.end_of(1 << 30), 1 << 30, five.data, 5,
                                     end_of_result.end_of(n));
    };
    expect_last_block(launch, end_of_result, h);
    return passed();
}
