// Each CUDA call fails, one by one: CHECK has to end the program. Then right results, for several sizes; and what
// cudaMalloc is asked for if there are very many elements.
#include "exercise.cuh"

static int only_asked_for; // so many floats, if it is not 0: then cudaMalloc gives no memory

static cudaError_t look_at_bytes(size_t bytes)
{
    size_t expected = only_asked_for * sizeof(float);
    if (bytes < expected || bytes > 4 * expected)
        wrong("how many bytes are n floats? An int cannot count them all, a size_t can",
              "multiply of %d floats: cudaMalloc is asked for %zu bytes, expected %zu",
              only_asked_for, bytes, expected);
    return cudaErrorMemoryAllocation;
}

#define cudaMalloc(pointer, bytes) \
    (only_asked_for ? look_at_bytes(bytes) : cudaMalloc(pointer, bytes))
#include "five_steps.cu"
#undef cudaMalloc

static void try_n(int n)
{
    std::vector<float> a = random_numbers<float>(n, 1, 1000), b = random_numbers<float>(n, 1, 1000),
                       before_a = a, before_b = b, c(n + 1, -7777), expected = c;
    for (int i = 0; i < n; i++)
        expected[i] = a[i] * b[i];
    size_t free_before = 0, free_after = 0, total = 0;
    CHECK(cudaMemGetInfo(&free_before, &total));
    auto seen = see([&] { multiply(a.data(), b.data(), c.data(), n); });
    CHECK(cudaMemGetInfo(&free_after, &total));
    expect_elements(
        "c", expected, c,
        "are all bytes copied, n floats, in the right direction? Are there blocks for all?",
        std::vector<float>(n + 1, -7777));
    expect_elements("a", before_a, a, "a is copied to the device, not back");
    expect_elements("b", before_b, b, "b is copied to the device, not back");
    // On a GPU others use the memory, too. Not the line "never freed" at the end: it has the bytes of all calls.
    if (is_on_stand_in && free_after < free_before)
        wrong("is each array on the device freed at the end of multiply?",
              "multiply of %d floats, %zu bytes: %zu bytes stay allocated on the device", n,
              n * sizeof(float), free_before - free_after);
    expect_writes(seen, n, "the kernel Multiply");
    std::vector<float> again(n + 1, -7777);
    expect_kernel(
        "c", [&] { multiply(a.data(), b.data(), again.data(), n); }, expected, again);
    if (seen.blocks > n / THREADS + 1 || seen.launches > 1)
        wrong("one launch, of as many blocks as the elements need, rounded up",
              "%d elements: %lld launches with %lld blocks of %d threads, expected 1 with %d", n,
              seen.launches, seen.blocks, THREADS, (n + THREADS - 1) / THREADS);
}

// Whether the k-th CUDA call is made. It fails: CHECK has to print it and to end the program with exit status 1.
static bool try_failure(int k)
{
    std::string said;
    int got = in_a_process(
        [&] {
            setenv("CPU_CUDA_FAIL", std::to_string(k).c_str(), 1);
            setenv("CPU_CUDA_FAIL_CODE", "719", 1);
            std::vector<float> a(300, 2), b(300, 3), c(300);
            multiply(a.data(), b.data(), c.data(), 300);
            return 0;
        },
        &said);
    size_t at = said.find("CPU_CUDA_FAIL: "), end = said.find(" fails, as asked");
    if (end == std::string::npos)
        return false;
    if (got != -1000 || said.find("CUDA error 719") == std::string::npos)
        wrong("each CUDA call in CHECK, and CHECK(cudaGetLastError()) right after the launch",
              "%s fails, and nobody notices", said.substr(at + 15, end - at - 15).c_str());
    return true;
}

// Asks for the memory of n elements, in a process in which each CUDA call fails: none of the arrays is there.
static int ask_for(int n)
{
    setenv("CPU_CUDA_FAIL", "1+", 1);
    only_asked_for = n;
    multiply(NULL, NULL, NULL, n);
    return 0;
}

int main(void)
{
    for (int k = 1; is_on_stand_in && try_failure(k); k++)
        ;
    for (int n : {256, 1000, 1, 255, random_number(3000, 50000)})
        try_n(n);
    for (int n : {1 << 29, (1 << 30) + 1})
        if (is_on_stand_in)
            in_a_process([=] { return ask_for(n); });
    return passed();
}
