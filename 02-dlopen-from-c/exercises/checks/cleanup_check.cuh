// The check of exercise 2: all goes well; then the first call fails, then the second, and so on; then the launch fails.
// The answer's CUDA calls come to the functions in `tried`, which count them and let one of them fail.
#include "exercise.cuh"
#include <set>
#include <string>

int larger(const float *a, const float *b, float *out, int n, int threads_in_block);

#define IN_CLEANUP "each error leads to one end of the function, where all is freed: CHECK_GOTO"
#define RETURN_IT \
    "a library returns its error. CHECK prints and ends the program, CHECK_GOTO does not"

namespace tried {
int calls, failing;      // calls in this run; the one that fails, from 1; 0: none
cudaError_t code;        // the code of the one that fails
bool has_memory;         // no cudaMalloc has failed
std::string failed;      // what fails, for the message
size_t needed;           // bytes of an array
std::set<void *> memory; // what is allocated

// Whether this call fails. All calls behind it fail, too, with another code: after an error CUDA may be in any state.
bool fails(const char *name, cudaError_t *answer)
{
    *answer = cudaSuccess;
    if (++calls == failing) {
        failed = std::string(name) + ", call " + std::to_string(calls) + " of the function, fails";
        *answer = code;
    } else if (failing && calls > failing)
        *answer = cudaErrorUnknown;
    return *answer != cudaSuccess;
}

template <typename T> cudaError_t malloc(T **pointer, size_t bytes)
{
    cudaError_t error;
    if (bytes < needed)
        wrong("how many bytes do n floats have?", "cudaMalloc of %zu bytes: n floats have %zu",
              bytes, needed);
    if (fails("cudaMalloc", &error)) {
        has_memory = false;
        return error;
    }
    CHECK(cudaMalloc((void **)pointer, bytes));
    CHECK(cudaMemset(*pointer, 0xff, bytes)); // NaN
    memory.insert(*pointer);
    return cudaSuccess;
}

cudaError_t copy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    cudaError_t error;
    bool failed_before = failing && calls >= failing;
    if (failed_before && !has_memory)
        wrong(IN_CLEANUP, "%s, and the function goes on, to cudaMemcpy", failed.c_str());
    if (fails("cudaMemcpy", &error))
        return error;
    if (bytes != needed)
        wrong("how many bytes do n floats have?", "cudaMemcpy of %zu bytes: n floats have %zu",
              bytes, needed);
    return cudaMemcpy(to, from, bytes, kind);
}

cudaError_t synchronize(void)
{
    cudaError_t error;
    return fails("cudaDeviceSynchronize", &error) ? error : cudaDeviceSynchronize();
}

cudaError_t free(void *pointer)
{
    if (pointer && !memory.erase(pointer))
        wrong("each array is freed once; a pointer is NULL until its cudaMalloc has gone well",
              "%s: cudaFree of what is not allocated, or is freed already",
              failed.empty() ? "no call fails" : failed.c_str());
    cudaError_t its_code = cudaFree(pointer), error;
    return fails("cudaFree", &error) ? error : its_code; // it has freed, also if it fails
}

[[noreturn]] void refused(const char *what, const char *look_at)
{
    wrong(look_at, "%s: the function %s", failed.empty() ? "no call fails" : failed.c_str(), what);
}

// Calls the answer. Says which call was to fail, and did; "" if there were not so many.
std::string run(int which, int n, int threads_in_block, cudaError_t expected)
{
    std::vector<float> a = random_numbers<float>(n, -1000, 1000),
                       b = random_numbers<float>(n, -1000, 1000), a_before = a, b_before = b;
    std::vector<float> out(n + 1, poison<float>()), expected_out = out;
    calls = 0;
    failing = which;
    code = expected;
    needed = n * sizeof(float);
    has_memory = true;
    failed = "";
    int error = larger(a.data(), b.data(), out.data(), n, threads_in_block);
    const bool is_accepted = threads_in_block > 0 && threads_in_block <= 1024;
    if (!is_accepted)
        failed = "a block of " + std::to_string(threads_in_block) + " threads is not accepted";
    if (which > calls)
        return ""; // no call has failed: the last run
    const char *what = failed.empty() ? "no call fails" : failed.c_str();

    bool is_free = failed.compare(0, 8, "cudaFree") == 0; // its code is returned, or not
    if (error != (int)expected && !is_free)
        wrong(expected == cudaSuccess
                  ? "is 0 returned if all went well? Else: what is given to the call or "
                    "kernel that has failed?"
              : !is_accepted         ? "the launch: was it accepted? cudaGetLastError() says"
              : error != cudaSuccess ? "the first error is returned: does a later one replace it?"
                                     : "is the code of each call looked at?",
              "%s: expected code %d, %s, came %d, %s", what, expected, cudaGetErrorName(expected),
              error, cudaGetErrorName((cudaError_t)error));
    if (!memory.empty())
        wrong(IN_CLEANUP, "%s: %zu of the arrays on the device %s not freed", what, memory.size(),
              memory.size() == 1 ? "is" : "are");
    for (int i = 0; i < n && expected == cudaSuccess; i++)
        expected_out[i] = std::max(a[i], b[i]);
    for (int i = 0; i <= n && !is_free; i++)
        if (!(out[i] == expected_out[i]))
            wrong(expected == cudaSuccess ? "what is copied where, and how many bytes?"
                                          : "out is written only if all before it went well",
                  "%s: expected out[%d] of %d = %s, came %s%s", what, i, n,
                  as_text(expected_out[i]), as_text(out[i]),
                  out[i] == poison<float>() ? " (nobody has written to it)" : "");
    if (a != a_before || b != b_before)
        wrong("a and b are read, not written", "%s: a or b is another one", what);
    return what;
}
} // namespace tried

// The code that CUDA has for such a block.
__global__ void Nothing(void) {}
static cudaError_t code_of_launch(int threads_in_block)
{
    Nothing<<<1, threads_in_block>>>();
    return cudaGetLastError();
}

int main(void)
{
    const cudaError_t codes[] = {cudaErrorMemoryAllocation, cudaErrorIllegalAddress,
                                 cudaErrorLaunchTimeout, cudaErrorNotSupported};
    for (int n : {1, 256, random_number(257, 5000)})
        tried::run(0, n, 256, cudaSuccess);
    int which = 1;
    while (tried::run(which, random_number(1, 1000), 128, codes[random_number(0, 3)]) != "")
        which++;
    tried::run(0, random_number(1, 1000), 64, cudaSuccess);
    for (which = 0; which < 2; which++)
        if (prints([=] { tried::run(which, 10, 64, which ? codes[0] : cudaSuccess); }))
            tried::refused("prints", RETURN_IT);
    if (!freopen("/dev/null", "w", stderr)) // the stand-in speaks of a launch that is not accepted
        return 1;
    tried::run(0, 1000, 2048, code_of_launch(2048));
    tried::run(0, 1, -1, code_of_launch(-1));
    return passed();
}

namespace std {
namespace tried = ::tried; // for std::exit
}

#define cudaMalloc tried::malloc
#define cudaMemcpy tried::copy
#define cudaDeviceSynchronize tried::synchronize
#define cudaFree tried::free
#define cudaMallocAsync(pointer, bytes, ...) tried::malloc(pointer, bytes)
#define cudaMemcpyAsync(to, from, bytes, kind, ...) tried::copy(to, from, bytes, kind)
#define cudaFreeAsync(pointer, ...) tried::free(pointer)
#define exit(status) tried::refused("ends the program", RETURN_IT)
#define _exit(status) exit(status)
#define cudaDeviceReset() \
    tried::refused("calls cudaDeviceReset", "that frees what others in the program have " \
                                            "allocated")
