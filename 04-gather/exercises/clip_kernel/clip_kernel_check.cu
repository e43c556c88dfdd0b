// Each CUDA call of clip() fails in turn; then numbers below, between and above the limits, and NaN, in many sizes.
#include "libclip_kernel.cu"

#include "exercise.cuh"
#include <math.h>

static void check(const std::vector<float> &x, float low, float high)
{
    int n = x.size(), error = 0;
    std::vector<float> result(n, -7777);
    auto seen = see([&] { error = clip(x.data(), low, high, result.data(), n); });
    char call[100];
    snprintf(call, sizeof call, "clip(x, %g, %g, result, %d)", low, high, n);
    expect_return(0, error, call, "the launch, and the copy back: their arguments");
    for (int i = 0; i < n; i++) {
        float expected = x[i] < low ? low : x[i] > high ? high : x[i];
        bool is_right = result[i] == expected ? signbit(result[i]) == signbit(expected)
                                              : isnan(result[i]) && isnan(expected);
        if (!is_right)
            wrong(
                isnan(expected)
                    ? "NaN < low and NaN > high are both false; fminf, fmaxf, min and max drop NaN"
                : result[i] == -7777
                    ? "the copy back: from the device to result, all bytes"
                    : "the kernel: what is the result if x[i] is below low, above high, "
                      "between the two?",
                "%s: x[%d] is %f, expected %.9g, got %.9g", call, i, x[i], expected, result[i]);
    }
    expect_writes(seen, n, call);
    expect_shared(seen, 6, call);
    std::vector<float> expected = result;
    result.assign(n, -7777);
    expect_kernel(
        call, [&] { clip(x.data(), low, high, result.data(), n); }, expected, result);
}

int main(void)
{
    expect_each_failure(
        "clip",
        [] {
            float x[3] = {1, 2, 3}, result[3];
            return clip(x, 0, 1, result, 3);
        },
        true);
    check({-5, 0.5, 5}, -1, 1);
    check({-5, NAN, 0, 5}, -1, 1);
    check({-0.0f, 0, -1, 1}, 0, 1); // -0 is not below 0: it stays
    check({-5, 0, 5, -INFINITY, INFINITY}, -INFINITY, INFINITY);
    check({-INFINITY, 0, INFINITY}, -1, 1);
    for (int n : {1, 255, 256, 257, random_number(1000, 9000)}) {
        std::vector<float> x = random_numbers<float>(n, -9, 9);
        x[random_number(0, n - 1)] = NAN;
        check(x, random_number(-8, -1) + 0.5f, random_number(0, 8) + 0.5f);
        check(x, 2.5, 2.5);
    }
    const size_t many = 65535 * 256 + 1;
    std::vector<float> from(many), to(many);
    auto seen = see([&] { clip(from.data(), 0, 1, to.data(), many); }, NO_BLOCK);
    if (is_on_stand_in && seen.threads < (long long)many)
        wrong("the launch: are there as many blocks as the function has computed?",
              "%zu elements: expected as many threads, got %lld", many, seen.threads);
    const size_t large = ((size_t)1 << 32) + 3;
    Array<float> x("x", std::vector<float>{-5, 1, 5}), result("the end of result", 3);
    expect_last_block(
        [&] {
            Clip<<<large / THREADS + 1, THREADS>>>(x.end_of(large), -2, 3, result.end_of(large),
                                                   large);
        },
        result, {-2, 1, 3});
    return passed();
}
