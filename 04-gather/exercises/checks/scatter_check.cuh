// The check of exercise 3: few elements and many numbers, so that many threads have the same index. The numbers are
// multiples of 1/8, whose sum is the same in every order.
// On a GPU also: compute-sanitizer --tool memcheck
#include "exercise.cuh"
#define atomicAdd_block(...) static_assert(false, "atomicAdd_block is atomic only within a block")

__global__ void ScatterAdd(const float *value, const int *index, int n, float *result);
int scatter_add(const float *value, const int *index, int n, float *result, int size);

struct Numbers {
    std::vector<float> value, before, expected;
    std::vector<int> index;

    Numbers(int n, int size)
        : value(random_numbers<float>(n, -99, 99)), before(random_numbers<float>(size, 1, 99)),
          index(random_numbers<int>(n, 0, size - 1))
    {
        for (float &one : value)
            one = one / 4 + 0.125f; // never 0
        add(n);
    }

    void add(int first) // what is expected of so many threads
    {
        expected = before;
        for (int i = 0; i < first; i++)
            expected[index[i]] += value[i];
    }
};

// If `blocks` is 0, there is a thread for each number.
static void check_kernel(int n, int size, int blocks = 0)
{
    Numbers h(n, size);
    Array<float> value("value", h.value), result("result", h.before);
    Array<int> index("index", h.index);
    char look_at[200];
    snprintf(
        look_at, sizeof look_at,
        "%d numbers for a result of %d elements: result[index[i]] becomes larger by value[i]. Is "
        "each number added, once? Are reading, adding and writing one step (atomicAdd)?",
        n, size);
    if (blocks != 0) {
        snprintf(look_at, sizeof look_at,
                 "thread i adds value[i], and no other one: here are %d threads only, for %d "
                 "numbers",
                 blocks * 256, n);
        h.add(blocks * 256);
    }
    ScatterAdd<<<blocks ? blocks : n / 256 + 1, 256>>>(value.data, index.data, n, result.data);
    CHECK(cudaGetLastError());
    cudaError_t error = cudaDeviceSynchronize();
    if (error == cudaErrorIllegalAddress || error == cudaErrorInvalidAddressSpace)
        wrong("the threads that have no number; and which array has element i, which index[i]?",
              "%d numbers for a result of %d elements: the kernel has read or written at a wrong "
              "place",
              n, size);
    result.expect(h.expected, look_at);
    value.expect(h.value, "value is read, not written");
    index.expect(h.index, "index is read, not written");
}

// From here on, the answer's CUDA calls are counted, and number `failing` fails. `held`: arrays that are not freed.
static int calls, failing, held;

static bool fails(void)
{
    return ++calls == failing;
}
#define cudaMalloc(pointer, bytes) \
    (fails() ? cudaErrorUnknown : (held++, cudaMalloc(pointer, bytes)))
#define cudaMemcpy(...) (fails() ? cudaErrorUnknown : cudaMemcpy(__VA_ARGS__))
#define cudaMemcpyAsync(...) (fails() ? cudaErrorUnknown : cudaMemcpyAsync(__VA_ARGS__))
#define cudaFree(pointer) (held -= (pointer) != NULL, cudaFree(pointer))

static bool is_done;

static void has_ended(void)
{
    if (!is_done)
        wrong("a function that others call returns its error; it does not end the program (CHECK "
              "does)",
              "cudaMalloc or cudaMemcpy fails, as call number %d: the program has ended", failing);
}

static void check_host(int n, int size)
{
    Numbers h(n, size);
    std::vector<float> result = h.before;
    int error = scatter_add(h.value.data(), h.index.data(), n, result.data(), size);
    if (error != cudaSuccess)
        wrong("the copies: their sizes in bytes, and their direction",
              "scatter_add: expected 0, came error %d, %s", error,
              cudaGetErrorString((cudaError_t)error));
    for (int i = 0; i < size; i++)
        if (!(result[i] == h.expected[i]))
            wrong("what the kernel needs on the device: the result's elements are read before "
                  "something is added",
                  "scatter_add, result[%d] of %d: expected %s, came %s", i, size,
                  as_text(h.expected[i]), as_text(result[i]));
}

int main(void)
{
    check_kernel(1, 1);
    check_kernel(2, 5);
    for (int size : {1, 7, 256, 1000, random_number(2, 5000)})
        check_kernel(random_number(1000, 30000), size);
    check_kernel(256, 3000);
    check_kernel(1000, 3000, 1);
    for (int size : {1, 100, random_number(2, 5000)})
        check_host(random_number(1000, 30000), size);

    calls = 0;
    check_host(1000, 10);
    int in_all = calls;
    atexit(has_ended);
    for (failing = 1; failing <= in_all; failing++) {
        Numbers h(1000, 10);
        std::vector<float> result = h.before;
        calls = held = 0;
        int error = scatter_add(h.value.data(), h.index.data(), 1000, result.data(), 10);
        if (error != cudaErrorUnknown)
            wrong("each call may fail: CHECK_GOTO keeps its error and jumps to cleanup",
                  "cudaMalloc or cudaMemcpy fails, as call number %d: expected its error, %d, came "
                  "%d",
                  failing, cudaErrorUnknown, error);
        if (held != 0)
            wrong("cleanup is the only way out",
                  "call number %d fails, and %d arrays are not freed", failing, held);
        if (result != h.before)
            wrong("the result of the host is written at the end only",
                  "call number %d fails, and the result is not as it was", failing);
    }
    is_done = true;
    return passed();
}
