// What the checks in CUDA share. A check includes the learner's file first, then this, and calls what is in that file.
// What the CPU stand-in knows is not asked for here: bounds, races, what nobody has written, what is never freed.
#pragma once
#include "check.h"
#include "exercise.h" // wrong, passed, random_number
#include <algorithm>
#include <map>
#include <sstream>
#include <string.h>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <type_traits>
#include <vector>

#ifdef __CPU_CUDA__
#include <cpu_seen.h>
static const bool is_on_stand_in = true;
#else // on a GPU a check only compares numbers: the stand-in has looked at the rest before
static const bool is_on_stand_in = false;
struct cpu_cuda_seen {
    long long launches, blocks, threads, reads, writes, atomics, sectors, most;
};
enum { NO_BLOCK, ALL_BLOCKS, LAST_BLOCK };
static inline void cpu_cuda_watch(struct cpu_cuda_seen *, int) {}
#endif

template <typename T> static std::vector<T> random_numbers(size_t n, int first, int last)
{
    std::vector<T> numbers(n);
    for (T &number : numbers)
        number = (T)random_number(first, last);
    const bool has_halves = std::is_floating_point<T>::value; // whole numbers would lose them
    if (has_halves)
        for (T &number : numbers)
            number += number < last ? (T)(random_number(0, 1) / 2.0) : 0;
    if (n > 1) { // the first and the last one come in every run
        size_t i = (size_t)random_number(0, (int)n - 1);
        numbers[i] = (T)first;
        numbers[(i + (size_t)random_number(1, (int)n - 1)) % n] = (T)last;
    }
    return numbers;
}

// What the launches in f() do: blocks, threads, accesses to global memory, sectors of 32 bytes. All are 0 on a GPU.
// run NO_BLOCK: they are only counted, and do not run, so that n may be large and the arrays small.
template <typename F> static cpu_cuda_seen see(F f, int run = ALL_BLOCKS)
{
    cpu_cuda_seen seen = {};
    cpu_cuda_watch(&seen, run);
    f();
    cpu_cuda_watch(NULL, 0);
    return seen;
}

// Work for many threads is shared by them: no thread does more than `most` accesses to global memory.
static inline void expect_shared(const cpu_cuda_seen &seen, long long most, const char *what)
{
    if (seen.most > most)
        wrong(
            "the work: each thread has its own part of it, and no thread does what others do, too",
            "%s: one thread reads and writes global memory %lld times, expected at most %lld", what,
            seen.most, most);
}

// The threads have written n elements: nobody else has computed them.
static inline void expect_writes(const cpu_cuda_seen &seen, long long n, const char *what)
{
    if (is_on_stand_in && seen.writes != n)
        wrong(seen.writes < n ? "who computes: the threads of the kernel?"
                              : "which thread has which element? Each one is written once",
              "%s: the threads write %lld elements, expected %lld", what, seen.writes, n);
}

// f() once more, in which kernels do nothing: if `got`, which f() writes, is as expected all the same, somebody else
// has computed it.
template <typename F, typename T>
static void expect_kernel(const char *what, F f, const std::vector<T> &expected,
                          const std::vector<T> &got)
{
    see(f, NO_BLOCK);
    if (is_on_stand_in && got == expected)
        wrong("who computes: the threads of the kernel, or the host?",
              "%s: the result is right, too, if no thread of the kernel runs", what);
}

// f() in a process of its own, since a kernel that fails ends all CUDA in its process. Neither may have used CUDA before.
// What f() returns, or -1000 if the process ends before; what it writes is in *said. wrong() in f() ends both.
template <typename F> static int in_a_process(F f, std::string *said = NULL)
{
    int *answer =
        (int *)mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    FILE *file = tmpfile();
    fflush(stdout);
    if (!file || answer == MAP_FAILED)
        exit(EXIT_FAILURE);
    *answer = -1000;
    if (fork() == 0) {
        dup2(fileno(file), 1);
        dup2(fileno(file), 2);
        *answer = f();
        _exit(0);
    }
    wait(NULL);
    rewind(file);
    std::string text;
    for (int c; (c = fgetc(file)) != EOF;)
        text += (char)c;
    fclose(file);
    size_t at = text.find("\n  wrong    ");
    if (at != std::string::npos) {
        printf("%s", text.c_str() + at);
        fflush(stdout);
        _exit(1);
    }
    if (said)
        *said = text;
    return *answer;
}

static inline void expect_return(int expected, int got, const std::string &what,
                                 const char *look_at)
{
    if (got == -1000)
        wrong("a function that others call returns its error; it does not end the program (CHECK "
              "does), and it does not crash",
              "%s: expected %d, and the program has ended", what.c_str(), expected);
    if (got != expected)
        wrong(got == 0 || expected == 0
                  ? look_at
                  : "the first error is returned as it is; cudaGetLastError() forgets it "
                    "when it is asked",
              "%s: expected %d, %s, got %d, %s", what.c_str(), expected,
              cudaGetErrorName((cudaError_t)expected), got, cudaGetErrorName((cudaError_t)got));
}

// What a function returned in a process of its own, and what it said.
struct Ending {
    int code;
    bool error_is_left, memory_stays;
    std::string said;
};

// f() in a process in which the k-th CUDA call fails with `code`; none if k is 0. `more`: see expect_failure.
template <typename F> static Ending call_with_failure(F f, int k, const char *more, int code)
{
    const int left = 100000; // is added to what f() returns if the next call would find an error
    const int stays = -3000; // is returned for it if memory stays allocated
    Ending ending = {};
    ending.code = in_a_process(
        [&] {
            size_t before, after, total;
            CHECK(cudaMemGetInfo(&before, &total));
            if (k)
                setenv("CPU_CUDA_FAIL", (std::to_string(k) + more).c_str(), 1);
            setenv("CPU_CUDA_FAIL_CODE", std::to_string(code).c_str(), 1);
            int returned = f();
            unsetenv("CPU_CUDA_FAIL");
            if (cudaGetLastError() != cudaSuccess)
                returned += left;
            CHECK(cudaMemGetInfo(&after, &total));
            // On a GPU others use the memory, too: the stand-in is the judge.
            return is_on_stand_in && after < before && strcmp(more, "++") ? stays : returned;
        },
        &ending.said);
    ending.memory_stays = ending.code == stays;
    ending.error_is_left = ending.code >= left / 2;
    ending.code -= ending.error_is_left ? left : 0;
    return ending;
}

// The function printed nothing, and neither did the stand-in, but for what is said of each program.
static inline void expect_silence(const Ending &ending, bool has_failed, const std::string &what)
{
    std::istringstream lines(ending.said);
    for (std::string line; std::getline(lines, line);) {
        std::string complaint = line.substr(std::min(line.size(), strlen("CPU stand-in: ")));
        if (line.find("CPU stand-in: ") != 0) {
            if (ending.code != -1000)
                wrong("a function that others call prints nothing: it returns the code",
                      "%s: printed: %s", what.c_str(), line.c_str());
        } else if (complaint.find("CPU_CUDA_FAIL") != 0 &&
                   complaint.find("this program runs on") != 0 &&
                   complaint.find("never freed") != 0) {
            const char *look_at = "the call or the kernel of this line";
            if (has_failed)
                look_at = "is the error looked at? After it the function only frees what was "
                          "allocated, each array once: are its pointers NULL at first?";
            else if (complaint.find("nobody has written") != std::string::npos)
                look_at = "is all that the kernel reads copied to the device, or set, before?";
            wrong(look_at, "%s%s %s", what.c_str(), has_failed ? ", and then" : ":",
                  complaint.c_str());
        }
    }
}

// The k-th CUDA call of f() fails, alone or with all after it: "+" without those that free, "++" also those, with another
// code. Returns whether there is a k-th call.
template <typename F>
static bool expect_failure(const std::string &name, F f, bool leaves_none, int k, const char *more)
{
    std::string what = name + " (all CUDA calls succeed)";
    int code = k % 2 ? 2 : 719;
    Ending ending = call_with_failure(f, k, more, code);
    size_t at = ending.said.find("CPU_CUDA_FAIL: "), end = ending.said.find(" fails, as asked");
    if (k && end == std::string::npos)
        return false;
    if (k) {
        std::string call_name = ending.said.substr(at + 15, end - at - 15);
        bool gives_back = call_name.find("Free") != std::string::npos ||
                          call_name.find("Destroy") != std::string::npos;
        if (strcmp(more, "+") && gives_back && !ending.memory_stays)
            return true; // its code is returned, or not
        what = name + ": " + call_name + (*more ? " and all after it fail" : " fails");
        what += strcmp(more, "++") ? "" : ", those that free with another code";
        leaves_none |= !*more && call_name.find("the launch") != std::string::npos;
    }
    expect_silence(ending, k > 0, what);
    if (ending.memory_stays)
        wrong("cleanup: whatever failed, all that was allocated is freed",
              "%s: memory stays allocated on the device", what.c_str());
    expect_return(k ? code : 0, ending.code, what,
                  k ? "each call may fail: is its code looked at, and kept until the end?"
                    : "which call gives this code (its address, its bytes)? What is returned?");
    if (ending.error_is_left && leaves_none)
        wrong(
            "cudaGetLastError() takes the error away, cudaPeekAtLastError() leaves it for the next "
            "call, which may be right",
            "%s: the error is left behind", what.c_str());
    return true;
}

// f() is called, and all goes well. Then each CUDA call of it fails, one by one: f() has to return its code, nothing may
// stay allocated, and no error may be left behind if `leaves_none`. Before the check itself uses CUDA. Only on the
// stand-in.
template <typename F>
static void expect_each_failure(const char *name, F f, bool leaves_none = false)
{
    int k = 0;
    while (is_on_stand_in && expect_failure(name, f, leaves_none, k, "") &&
           expect_failure(name, f, leaves_none, k, "+") &&
           expect_failure(name, f, leaves_none, k, "++"))
        k++;
    if (k == 1)
        wrong("who computes? The threads of a kernel", "%s: no CUDA call was made", name);
}

// NaN is the same as NaN.
template <typename T> static bool is_same(T a, T b)
{
    return a == b || (a != a && b != b);
}

// before: what the elements were, if it is of use to know which ones nobody has written to.
template <typename T>
static void expect_elements(const char *name, const std::vector<T> &expected,
                            const std::vector<T> &got, const char *look_at,
                            const std::vector<T> &before = {})
{
    const int digits = std::is_integral<T>::value ? 10 : 9; // an int is shown as it is
    for (size_t i = 0; i < expected.size(); i++)
        if (!is_same(got[i], expected[i]))
            wrong(look_at, "%s[%zu] of %zu: expected %.*g, got %.*g%s", name, i, expected.size(),
                  digits, (double)expected[i], digits, (double)got[i],
                  i < before.size() && got[i] == before[i] ? " (nobody has written to it)" : "");
}

// The arrays that are there, each with its bytes: by these the stand-in names the memory that a bad address is near.
static std::map<const void *, std::string> bytes_of_arrays;

// Elements on the device, from here and back. The CPU stand-in looks at every access to them.
template <typename T> struct Array {
    const char *name;
    size_t n;
    std::vector<T> before;
    T *data;

    Array(const char *name, const std::vector<T> &elements)
        : name(name), n(elements.size()), before(elements)
    {
        CHECK(cudaMalloc(&data, n * sizeof(T)));
        CHECK(cudaMemcpy(data, elements.data(), n * sizeof(T), cudaMemcpyHostToDevice));
        bytes_of_arrays[data] =
            std::string(name) + " has " + std::to_string(n * sizeof(T)) + " bytes";
    }
    Array(const char *name, size_t n) : Array(name, std::vector<T>(n, (T)-7777)) {}
    ~Array()
    {
        bytes_of_arrays.erase(data);
        CHECK(cudaFree(data));
    }
    Array(const Array &) = delete;

    // The address of the first one of so many elements, of which only the last ones, those of this array, are there.
    T *end_of(size_t elements) const
    {
        return (T *)((size_t)data - (elements - n) * sizeof(T));
    }

    // Waits for the kernel. The array has to be what is expected. look_at: for an element that is as it was, and if
    // there is no `value`, for another one too.
    void expect(const std::vector<T> &expected, const char *look_at,
                const char *value = nullptr) const
    {
        std::vector<T> h(n);
        cudaError_t error = cudaGetLastError();
        if (error == cudaSuccess)
            error = cudaDeviceSynchronize();
        std::string at, look = look_at;
        if (error == cudaErrorIllegalAddress) {
            look = "is each number in [] right, and what keeps the threads off that have no "
                   "element? " +
                   look;
            for (auto &one : bytes_of_arrays)
                at += "; " + one.second;
        } else if (error == cudaErrorLaunchTimeout)
            look = "who waits for whom? In a loop around atomicCAS: as a float, NaN is never equal "
                   "to NaN";
        if (error != cudaSuccess)
            wrong(look.c_str(), "the kernel does not run to its end: error %d, %s%s", (int)error,
                  cudaGetErrorName(error), at.c_str());
        CHECK(cudaMemcpy(h.data(), data, n * sizeof(T), cudaMemcpyDeviceToHost));
        size_t i =
            std::mismatch(h.begin(), h.end(), expected.begin(), is_same<T>).first - h.begin();
        if (h == before && i < n)
            wrong((std::string("is the kernel launched, and does it write? ") + look_at).c_str(),
                  "nobody has written to %s: expected %s[%zu] = %.9g", name, name, i,
                  (double)expected[i]);
        bool is_added = i < n && before == std::vector<T>(n, (T)-7777);
        for (size_t k = 0; k < n && is_added; k++)
            is_added = (double)h[k] == (double)expected[k] + (double)before[k];
        if (is_added)
            wrong((std::string("= or +=? One writes, the other adds to what was there. ") + look_at)
                      .c_str(),
                  "%s: what was there is added to each element: %s[%zu]: expected %.9g, got %.9g",
                  name, name, i, (double)expected[i], (double)h[i]);
        expect_elements(name, expected, h, value && i < n && h[i] != before[i] ? value : look_at,
                        before);
    }
};

// f() launches a kernel for more elements than 32 bits can count, and only its last block runs: `result` has what this
// block writes, see end_of. Only on the stand-in.
template <typename F, typename T>
static void expect_last_block(F f, const Array<T> &result, const std::vector<T> &expected)
{
    const char *look_at = "the number of the element, and each product in it: are they size_t from "
                          "the beginning, (size_t)blockIdx.x?";
    if (!is_on_stand_in)
        return;
    see(f, LAST_BLOCK);
    if (cudaDeviceSynchronize() != cudaSuccess)
        wrong(look_at, "more than 2^32 elements: the last block is at a wrong place");
    result.expect(expected, look_at);
}
