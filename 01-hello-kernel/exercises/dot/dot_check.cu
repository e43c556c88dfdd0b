// Sizes around a block and around the whole grid, 0, a negative result, arrays that begin anywhere, and a second call:
// the result begins at 0 each time.
#include "dot.cu"

#include "exercise.cuh"

// dot() of n elements of one array by itself: the code of the first CUDA call that fails, also of the allocation.
static int of_itself(int n)
{
    float *d_x = NULL;
    cudaError_t error = cudaMalloc(&d_x, (n + 1) * sizeof(float));
    if (error == cudaSuccess)
        error = cudaMemset(d_x, 0, (n + 1) * sizeof(float));
    if (error == cudaSuccess)
        error = dot(d_x, d_x, n, d_x + n);
    cudaFree(d_x);
    return error;
}

int main(void)
{
    expect_each_failure("dot of 300 elements", [] { return of_itself(300); });
    expect_each_failure("dot of 0 elements", [] { return of_itself(0); });
    for (int n : {256, 1, 1000, 0, 512 * 256 + 1, random_number(200000, 500000)}) {
        // With n = 256 the result is negative. With n = 1000 the arrays are x + 1 and y + 1, at addresses that are no
        // multiples of 16. Small numbers: the sum is exact in any order.
        int sign = n == 256 ? -1 : 1, begin = n == 1000 ? 1 : 0;
        std::vector<float> a = random_numbers<float>(begin + n, 0, 3);
        std::vector<float> b = random_numbers<float>(begin + n, 0, 3);
        float sum = 0;
        for (int i = begin; i < begin + n; i++) {
            a[i] *= sign;
            sum += a[i] * b[i];
        }
        Array<float> x("x", a), y("y", b), result("*result", 1);
        for (int call = 1; call <= 2; call++) {
            cudaError_t error;
            auto seen = see([&] { error = dot(x.data + begin, y.data + begin, n, result.data); });
            if (error != cudaSuccess)
                wrong("no grid may be empty: what is launched if n is 0?",
                      "n = %d: dot returns error %d, %s", n, (int)error, cudaGetErrorName(error));
            std::string look_at =
                "n = " + std::to_string(n) + (begin ? ", x + 1 and y + 1: " : ": ");
            look_at += call == 1 ? "what is in *result before the launch? Is each product added "
                                   "once, also a negative one, and does each read wait for the "
                                   "write before it?"
                                 : "a second call has to begin at 0, too";
            result.expect({sum}, look_at.c_str());
            if (seen.blocks > 512)
                wrong("the number of blocks: a thread has many elements if n is large",
                      "n = %d: %lld blocks are launched, expected at most 512", n, seen.blocks);
            if (is_on_stand_in && n > 1024 && seen.threads < std::min(n, 100000) / 4)
                wrong("the number of blocks: as many as the elements need, up to 512",
                      "n = %d: too few blocks are launched, %lld", n, seen.blocks);
            if (seen.writes + seen.atomics > seen.blocks + 1)
                wrong("the sum grows in each thread, then in shared memory; only a block's sum "
                      "goes to *result",
                      "n = %d: %lld blocks write %lld times to global memory", n, seen.blocks,
                      seen.writes + seen.atomics);
            long long each = (n - 1) / std::max(seen.threads, 1LL) + 1;
            expect_shared(seen, 2 * each + 2, "each thread reads its own elements");
        }
        std::vector<float> got(1);
        auto again = [&] {
            dot(x.data + begin, y.data + begin, n, result.data);
            CHECK(cudaMemcpy(got.data(), result.data, sizeof(float), cudaMemcpyDeviceToHost));
        };
        if (sum != 0)
            expect_kernel("dot", again, {sum}, got);
        x.expect(a, "x is read, not written");
        y.expect(b, "y is read, not written");
    }
    return passed();
}
