// The check of exercise 7: launches that are not accepted, a kernel that follows a bad pointer, and a launch that is right.
// A kernel that fails ends all CUDA in its process, so each failure has a process of its own; what the stand-in says of
// it is not shown.
#include "exercise.cuh"
#include <sys/wait.h>

cudaError_t double_all(int *x, int n, int threads_in_block);

// What double_all has to return.
__global__ void DoubleForTheCheck(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= 2;
}
static cudaError_t right_answer(int *x, int n, int threads_in_block)
{
    DoubleForTheCheck<<<(n - 1) / threads_in_block + 1, threads_in_block>>>(x, n);
    cudaError_t error = cudaGetLastError();
    return error == cudaSuccess ? cudaDeviceSynchronize() : error;
}

// The function's answer, from a process of its own; -1 if that process ends before the function does.
static int answer_of(cudaError_t (*function)(int *, int, int), bool is_bad_pointer, int n,
                     int threads_in_block)
{
    int ends[2], answer = -1;
    fflush(stdout);
    if (pipe(ends) != 0)
        exit(EXIT_FAILURE);
    pid_t child = fork();
    if (child == 0) {
        int *x;
        if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
            _exit(1);
        CHECK(cudaMalloc(&x, 1000 * sizeof *x));
        answer = function(is_bad_pointer ? (int *)0x10 : x, n, threads_in_block);
        _exit(write(ends[1], &answer, sizeof answer) != sizeof answer);
    }
    close(ends[1]);
    if (read(ends[0], &answer, sizeof answer) != sizeof answer)
        answer = -1;
    close(ends[0]);
    waitpid(child, NULL, 0);
    return answer;
}

static void expect_error(const char *what, const char *look_at, bool is_bad_pointer, int n,
                         int threads_in_block)
{
    int expected = answer_of(right_answer, is_bad_pointer, n, threads_in_block);
    int came = answer_of(double_all, is_bad_pointer, n, threads_in_block);
    if (came == -1)
        wrong("a function that others call returns its error; it does not end the program (CHECK "
              "does)",
              "%s: expected error %d, and the program has ended", what, expected);
    if (came != expected)
        wrong(came == 0 ? look_at
                        : "the first error is returned as it is; cudaGetLastError() forgets it "
                          "when it is asked",
              "%s: expected error %d, %s, came %d, %s", what, expected,
              cudaGetErrorName((cudaError_t)expected), came, cudaGetErrorName((cudaError_t)came));
}

int main(void)
{
    const char *launch = "the launch: was it accepted? cudaGetLastError() says";
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
    cudaError_t error = double_all(x.data, 1000, 256);
    if (error != cudaSuccess)
        wrong("what is returned if all went well?", "expected 0, cudaSuccess, came %d, %s",
              (int)error, cudaGetErrorName(error));
    x.expect(expected, "the launch");
    return passed();
}
