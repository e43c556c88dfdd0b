// The check of exercise 5, its part in C: what clip() returns if a call fails. clip_check.py runs it.
#include "exercise.cuh"

// The answer's CUDA calls are counted, and number `failing` fails. `held`: arrays that are not freed. If `is_huge`,
// there seems to be room for any number of elements, so that the launch is one that no device accepts.
static int calls, failing, held;
static bool is_huge, is_done;

static bool fails(void)
{
    return ++calls == failing;
}
#define cudaMalloc(pointer, bytes) \
    (fails() ? cudaErrorUnknown : (held++, cudaMalloc(pointer, is_huge ? 4 : bytes)))
#define cudaMemcpy(...) \
    (fails() ? cudaErrorUnknown : is_huge ? cudaDeviceSynchronize() : cudaMemcpy(__VA_ARGS__))
#define cudaMemcpyAsync(...) \
    (fails() ? cudaErrorUnknown : is_huge ? cudaDeviceSynchronize() : cudaMemcpyAsync(__VA_ARGS__))
#define cudaFree(pointer) (held -= (pointer) != NULL, cudaFree(pointer))
#include "libclip.cu"

static void has_ended(void)
{
    if (!is_done)
        wrong("a function that others call returns its error; it does not end the program (CHECK "
              "does)",
              "libclip.cu: a call fails, and the program has ended");
}

int main(void)
{
    atexit(has_ended);
    Array<float> many("x", std::vector<float>(1000, 5)), few("result", 1000);
    std::vector<float> expected(1000, poison<float>());
    std::fill(expected.begin(), expected.begin() + 256, 1.0f);
    Clip<<<1, 256>>>(many.data, 0, 1, few.data, 1000);
    few.expect(expected, "libclip.cu: thread i writes element i, and no other one: here are 256 "
                         "threads only, for 1000 elements");

    float x[3] = {1, 2, 3}, result[3];
    clip(x, 0, 1, result, 3);
    int in_all = calls;
    for (failing = 1; failing <= in_all; failing++) {
        calls = held = 0;
        int error = clip(x, 0, 1, result, 3);
        if (error != cudaErrorUnknown)
            wrong(
                "libclip.cu: each call may fail: CHECK_GOTO keeps its error and jumps to cleanup",
                "cudaMalloc or cudaMemcpy fails, as call number %d: clip() returns %d, expected %d",
                failing, error, cudaErrorUnknown);
        if (held != 0)
            wrong("libclip.cu: cleanup is the only way out",
                  "call number %d fails, and %d arrays are not freed", failing, held);
    }
    failing = 0;
    is_huge = true;
    int error = clip(x, 0, 1, result, ((size_t)1 << 31) * 256 + 1);
    if (error != cudaErrorInvalidValue && error != cudaErrorInvalidConfiguration) // before CUDA 13
        wrong(error == cudaSuccess
                  ? "libclip.cu: was the launch accepted? cudaGetLastError() says. And n is a "
                    "size_t, which may be too large for an int"
                  : "libclip.cu: the number of blocks: n is a size_t, which may be too large for "
                    "an int",
              "the launch has too many blocks and is not accepted: expected error %d, clip() "
              "returns %d",
              cudaErrorInvalidValue, error);
    is_done = true;
    return passed();
}
