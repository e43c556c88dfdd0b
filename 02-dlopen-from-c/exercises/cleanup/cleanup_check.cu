// Each CUDA call fails, one by one; then launches that are not accepted; then arrays of several sizes.
#include "cleanup.cu"

#include "exercise.cuh"

static const int MOST = 70000;

// The code that CUDA has for blocks of so many threads.
static int code_of_launch(int threads_in_block)
{
    Larger<<<1, threads_in_block>>>(NULL, NULL, NULL, 0);
    return cudaGetLastError();
}

int main(void)
{
    const std::vector<float> a = random_numbers<float>(MOST, -1000, 1000),
                             b = random_numbers<float>(MOST, -1000, 1000);
    std::vector<float> a_now = a, b_now = b, out(MOST, -7777);
    auto larger_of = [&](int n, int threads_in_block) {
        return larger(a_now.data(), b_now.data(), out.data(), n, threads_in_block);
    };
    expect_each_failure("larger", [&] { return larger_of(1000, 256); });
    if (is_on_stand_in) {
        int got = in_a_process([&] {
            setenv("CPU_CUDA_FAIL", "1", 1);
            setenv("CPU_CUDA_FAIL_CODE", "719", 1);
            return larger_of(10, 2048);
        });
        expect_return(719, got, "2048 threads in a block, and the first CUDA call fails",
                      "each CUDA call may fail: is its code looked at?");
    }
    for (int threads : {2048, -1}) { // in a process: the stand-in says a word for each of them
        int expected = in_a_process([=] { return code_of_launch(threads); });
        int got = in_a_process([=] { return larger_of(10, threads); });
        expect_return(expected, got,
                      "a launch with " + std::to_string(threads) +
                          " threads in a block, which is not accepted",
                      "the launch: was it accepted? cudaGetLastError() says");
    }

    for (int n : {1, 256, random_number(257, 5000), random_number(66000, MOST - 1)}) {
        std::vector<float> expected(n), before(MOST, -7777);
        for (int i = 0; i < n; i++)
            expected[i] = std::max(a[i], b[i]);
        out = before;
        int code = 0;
        auto seen = see([&] { code = larger_of(n, 128); });
        expect_return(0, code, "larger (all CUDA calls succeed)",
                      "what is returned if all went well?");
        const char *look_at = "what is copied where, and how many bytes?";
        expect_elements("out", expected, out, look_at, before);
        if (out[n] != before[n])
            wrong(look_at, "more than %d elements are copied to out", n);
        expect_writes(seen, n, "larger");
        if (a_now != a || b_now != b)
            wrong("a and b are read, not written: what is copied where?",
                  "a or b has changed, and both are const");
        out = before;
        expected.resize(MOST, -7777);
        expect_kernel(
            "larger", [&] { larger_of(n, 128); }, expected, out);
    }
    return passed();
}
