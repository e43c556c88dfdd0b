// Sizes with and without a rest, addresses that are multiples of 16 and others; how many accesses there are.
#include "vector4.cu"

#include "exercise.cuh"

static void check(int n, int x_from, int result_from, float factor)
{
    std::vector<float> numbers = random_numbers<float>(n + x_from, 1, 1000);
    std::vector<float> expected(n + result_from, -7777);
    for (int i = 0; i < n; i++)
        expected[result_from + i] = factor * numbers[x_from + i];
    Array<float> x("x", numbers), result("result", n + result_from);
    auto seen = see([&] { scale(x.data + x_from, factor, result.data + result_from, n); });
    char what[200];
    snprintf(what, sizeof what, "%d elements, from x + %d to result + %d", n, x_from, result_from);
    if (cudaDeviceSynchronize() != cudaSuccess)
        wrong("which addresses are multiples of 16? How far does each of the two loops go?",
              "%s: the kernel does not run to its end", what);
    result.expect(expected,
                  (std::string(what) + ": which of the two loops has this element?").c_str(),
                  "each of the four floats of a pack, and each of the rest, is multiplied once");
    bool is_aligned = x_from % 4 == 0 && result_from % 4 == 0;
    if (is_on_stand_in && is_aligned && (seen.reads > n / 4 + 3 || seen.writes > n / 4 + 3))
        wrong("scale: how many packs are there? Scale: a pack is read and written as one float4",
              "%s: %lld reads and %lld writes, expected %d of each", what, seen.reads, seen.writes,
              n / 4 + n % 4);
    expect_shared(seen, 4, what);
}

int main(void)
{
    for (int n : {1024, 1027, 1, 3, 4, 5, 1023, random_number(2000, 9000)})
        for (int from : {0, 4, 1, 2, 3}) {
            check(n, from, from, n == 1024 ? 2 : 0.5f);
            check(n, 0, from, 3);
            check(n, from, 0, 0.1f);
        }
    for (int packs : {0, 250}) {
        Array<float> x("x", std::vector<float>(1003, 3)), result("result", 1003);
        Scale<<<2, 32>>>(x.data, 2, result.data, packs, 1003);
        result.expect(std::vector<float>(1003, 6),
                      "the grid has fewer threads than there are packs "
                      "or elements: grid-stride loops, both");
    }
    for (size_t packs : {(size_t)0, ((size_t)1 << 32) + 1}) {
        size_t n = packs ? 4 * packs : ((size_t)1 << 32) + 4;
        Array<float> x("x", std::vector<float>{1, 2, 3, 4}), result("the end of result", 4);
        expect_last_block(
            [&] { Scale<<<(1 << 24) + 1, 256>>>(x.end_of(n), 2, result.end_of(n), packs, n); },
            result, {2, 4, 6, 8});
    }
    const size_t large = ((size_t)1 << 34) + 1; // more than an int counts
    auto seen = see([&] { scale(NULL, 1, NULL, large); }, NO_BLOCK);
    if (is_on_stand_in && seen.blocks != large / 4 / THREADS)
        wrong("packs is a size_t, and n may be too large for an int",
              "%zu elements: expected %zu blocks, got %lld", large, large / 4 / THREADS,
              seen.blocks);
    return passed();
}
