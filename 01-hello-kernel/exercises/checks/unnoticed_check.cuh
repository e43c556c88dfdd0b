// The check of exercise 7: a launch that is right, one of a block that is too large, and a kernel that follows a null
// pointer. That ends all CUDA in its process, so it has one of its own; what the stand-in says of it is not shown.
#include "exercise.cuh"
#include <sys/wait.h>

cudaError_t double_all(int *x, int n, int threads_in_block);

// Whether double_all returns an error, asked in a process of its own: 41, 40, or something else if
// that process ended in double_all.
static int is_error(int *x, int threads_in_block)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
            _exit(255);
        int *memory = x;
        if (threads_in_block > 1024)
            CHECK(cudaMalloc(&memory, 1000 * sizeof(int)));
        _exit(40 + (double_all(memory, 1000, threads_in_block) != cudaSuccess));
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(void)
{
    int answer = is_error(nullptr, 2048);
    if (answer != 40 && answer != 41)
        wrong("a function that others call returns its error; it does not end the program (CHECK "
              "does)",
              "a block of 2048 threads is not accepted: expected the error, and the program has "
              "ended");
    if (answer != 41)
        wrong("the launch: was it accepted? cudaGetLastError() says",
              "a block of 2048 threads is not accepted: expected the error, came cudaSuccess");
    if (is_error(nullptr, 256) != 41)
        wrong("the kernel: did it run to its end? cudaDeviceSynchronize() waits for it, and says",
              "the kernel fails, it follows a null pointer: expected the error, came cudaSuccess");
    std::vector<int> h = random_numbers<int>(1000, 1, 1000), expected = h;
    for (int &element : expected)
        element *= 2;
    Array<int> x("x", h);
    cudaError_t error = double_all(x.data, 1000, 256);
    if (error != cudaSuccess)
        wrong("what is returned if all went well?", "expected 0, cudaSuccess, came %d", error);
    x.expect(expected, "the launch");
    return passed();
}
