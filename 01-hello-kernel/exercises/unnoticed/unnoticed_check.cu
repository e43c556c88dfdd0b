// Launches that are not accepted, a kernel that follows a bad pointer, and a launch that is right.
#include "unnoticed.cu"

#include "exercise.cuh"

// What double_all has to return.
static cudaError_t right_answer(int *x, int n, int threads_in_block)
{
    Double<<<(n - 1) / threads_in_block + 1, threads_in_block>>>(x, n);
    cudaError_t error = cudaGetLastError();
    return error == cudaSuccess ? cudaDeviceSynchronize() : error;
}

static void expect_error(const char *what, const char *look_at, bool is_bad_pointer, int n,
                         int threads_in_block)
{
    auto returned = [=](cudaError_t function(int *, int, int)) {
        return in_a_process([=] {
            int *x;
            CHECK(cudaMalloc(&x, 1000 * sizeof *x));
            CHECK(cudaMemset(x, 0, 1000 * sizeof *x));
            int error = function(is_bad_pointer ? (int *)0x10 : x, n, threads_in_block);
            if (!is_bad_pointer && function(x, 1000, 256) != cudaSuccess)
                wrong("which call takes the error away, and which one only shows it?",
                      "%s; the next launch is right: expected 0, got the old error", what);
            return error;
        });
    };
    expect_return(returned(right_answer), returned(double_all), what, look_at);
}

int main(void)
{
    const char *launch = "the launch: was it accepted? cudaGetLastError() says, and forgets it: is "
                         "that code returned?";
    expect_error("a block of 2048 threads is not accepted", launch, false, 1000, 2048);
    expect_error("a negative number of elements is not accepted", launch, false, -1000, 256);
    expect_error(
        "the kernel fails, it follows a bad pointer",
        "the kernel: did it run to its end? cudaDeviceSynchronize() waits for it, and says", true,
        1000, 256);
    std::vector<int> h = random_numbers<int>(1000, 1, 1000), expected = h;
    for (int &element : expected)
        element *= 2;
    Array<int> x("x", h);
    expect_return(0, double_all(x.data, 1000, 256), "a launch that is right",
                  "what is returned if all went well?");
    x.expect(expected, "the launch");
    return passed();
}
