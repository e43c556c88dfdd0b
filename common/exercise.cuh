// What the checks in CUDA share: arrays on the device whose margins are looked at.
#pragma once
#include "check.h"
#include "exercise.h" // wrong, passed, random_number
#include <string.h>
#include <vector>

template <typename T> static std::vector<T> random_numbers(size_t n, int first, int last)
{
    std::vector<T> numbers(n);
    for (T &number : numbers)
        number = (T)random_number(first, last);
    return numbers;
}

// What an array holds before somebody writes to it: no check expects this number.
template <typename T> static T poison(void)
{
    return (T)-7777;
}

// Whether a function prints something, to stdout or to stderr.
template <typename F> static bool prints(F function)
{
    FILE *file = tmpfile();
    int before[] = {dup(1), dup(2)};
    fflush(stdout);
    dup2(fileno(file), 1);
    dup2(fileno(file), 2);
    function();
    fflush(stdout);
    dup2(before[0], 1);
    dup2(before[1], 2);
    return lseek(fileno(file), 0, SEEK_END) > 0;
}

static inline const char *as_text(double number)
{
    static char text[2][40];
    static int next;
    next = !next;
    snprintf(text[next], sizeof text[next], "%.9g", number);
    return text[next];
}

// Elements on the device, with a margin before and behind them that nobody may change. The CPU stand-in
// and compute-sanitizer look at every access, also at one that reads: there the allocation ends with the last element.
template <typename T> struct Array {
    static const int MARGIN = 300;
    const char *name;
    size_t n, behind;
    std::vector<T> before;
    T *all, *data; // data: the first element

    Array(const char *name, const std::vector<T> &elements)
        : name(name), n(elements.size()), before(elements)
    {
        cudaDeviceProp device;
        CHECK(cudaGetDeviceProperties(&device, 0));
        bool is_looked_at = strncmp(device.name, "CPU stand-in", 12) == 0 || getenv("EXACT_ARRAYS");
        behind = is_looked_at ? 0 : MARGIN;
        std::vector<T> h(MARGIN + n + behind, poison<T>());
        std::copy(elements.begin(), elements.end(), h.begin() + MARGIN);
        CHECK(cudaMalloc(&all, h.size() * sizeof(T)));
        CHECK(cudaMemcpy(all, h.data(), h.size() * sizeof(T), cudaMemcpyHostToDevice));
        data = all + MARGIN;
    }
    Array(const char *name, size_t n) : Array(name, std::vector<T>(n, poison<T>())) {}
    ~Array()
    {
        CHECK(cudaFree(all));
    }
    Array(const Array &) = delete;

    // Waits for the kernel. The array has to be what is expected, and its margins what they were. look_at: for an
    // element that is as it was, and if there is no `value`, for another one too.
    void expect(const std::vector<T> &expected, const char *look_at,
                const char *value = nullptr) const
    {
        const char *guard = "is the number of the element right, and what keeps the threads off "
                            "that have no element?";
        std::vector<T> h(MARGIN + n + behind);
        cudaError_t error = cudaGetLastError();
        if (error == cudaSuccess)
            error = cudaDeviceSynchronize();
        if (error != cudaSuccess)
            wrong(error == cudaErrorIllegalAddress ? guard : look_at,
                  "the kernel does not run to its end: error %d, %s", (int)error,
                  cudaGetErrorName(error));
        CHECK(cudaMemcpy(h.data(), all, h.size() * sizeof(T), cudaMemcpyDeviceToHost));
        for (size_t i = 0; i < behind; i++)
            if (!(h[MARGIN + n + i] == poison<T>()))
                wrong(guard, "%s has %zu elements, and somebody wrote to element %zu", name, n,
                      n + i);
        for (size_t i = 0; i < MARGIN; i++)
            if (!(h[i] == poison<T>()))
                wrong("the number of the element: it must not be negative",
                      "somebody wrote to element -%zu of %s", MARGIN - i, name);
        bool is_untouched = true;
        for (size_t i = 0; i < n; i++)
            is_untouched = is_untouched && h[MARGIN + i] == poison<T>();
        for (size_t i = 0; i < n; i++) {
            T came = h[MARGIN + i];
            if (came == expected[i])
                continue; // NaN is equal to nothing
            if (is_untouched)
                wrong("is the kernel launched, and does it write?",
                      "nobody has written to %s: expected %s[%zu] = %s", name, name, i,
                      as_text(expected[i]));
            wrong(value && !(came == before[i]) ? value : look_at,
                  "%s[%zu] of %zu: expected %s, came %s%s", name, i, n, as_text(expected[i]),
                  as_text(came), came == poison<T>() ? " (nobody has written to it)" : "");
        }
    }
};
