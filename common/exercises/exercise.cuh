// What the checks in CUDA share. A check includes the learner's file first, then this, and calls what is in that file.
// What the CPU stand-in knows is not asked for here: bounds, races, what nobody has written, what is never freed.
#pragma once
#include "check.h"
#include "exercise.h" // wrong, passed, random_number
#include <string.h>
#include <string>
#include <sys/wait.h>
#include <vector>

#ifdef __CPU_CUDA__
#include <cpu_seen.h>
static const bool is_on_stand_in = true;
#else // on a GPU a check only compares numbers: the stand-in has looked at the rest before
static const bool is_on_stand_in = false;
struct cpu_cuda_seen {
    long long launches, blocks, threads, reads, writes, atomics, sectors, most;
};
static inline void cpu_cuda_watch(struct cpu_cuda_seen *, int) {}
#endif

template <typename T> static std::vector<T> random_numbers(size_t n, int first, int last)
{
    std::vector<T> numbers(n);
    for (T &number : numbers)
        number = (T)random_number(first, last);
    return numbers;
}

static inline const char *as_text(double number)
{
    static char text[2][40];
    static int next;
    next = !next;
    snprintf(text[next], sizeof text[next], "%.9g", number);
    return text[next];
}

// What the launches in f() do: blocks, threads, accesses to global memory, sectors of 32 bytes. All are 0 on a GPU.
// is_run false: they are only counted, and do not run, so that n may be large and the arrays small.
template <typename F> static cpu_cuda_seen see(F f, bool is_run = true)
{
    cpu_cuda_seen seen = {};
    cpu_cuda_watch(&seen, is_run);
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
        wrong("who computes: the threads of the kernel?",
              "%s: the threads write %lld elements, expected %lld", what, seen.writes, n);
}

// f() in a process of its own, since a kernel that fails ends all CUDA in its process. Neither may have used CUDA before.
// What f() returns, or -1000 if the process ends before; what it writes to stderr is in *said. wrong() in f() ends both.
template <typename F> static int in_a_process(F f, std::string *said = NULL)
{
    int ends[2], answer = -1000;
    FILE *file = tmpfile();
    fflush(stdout);
    if (!file || pipe(ends) != 0)
        exit(EXIT_FAILURE);
    pid_t child = fork();
    if (child == 0) {
        dup2(fileno(file), 1);
        dup2(fileno(file), 2);
        answer = f();
        _exit(write(ends[1], &answer, sizeof answer) != sizeof answer);
    }
    close(ends[1]);
    if (read(ends[0], &answer, sizeof answer) != sizeof answer)
        answer = -1000;
    close(ends[0]);
    waitpid(child, NULL, 0);
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
    return answer;
}

static inline void expect_return(int expected, int came, const std::string &what,
                                 const char *look_at)
{
    if (came == -1000)
        wrong("a function that others call returns its error; it does not end the program (CHECK "
              "does), and it does not crash",
              "%s: expected %d, and the program has ended", what.c_str(), expected);
    if (came != expected)
        wrong(came == 0 || expected == 0
                  ? look_at
                  : "the first error is returned as it is; cudaGetLastError() forgets it "
                    "when it is asked",
              "%s: expected %d, %s, came %d, %s", what.c_str(), expected,
              cudaGetErrorName((cudaError_t)expected), came, cudaGetErrorName((cudaError_t)came));
}

// The first complaint of the stand-in, of what a process has written to stderr; "" if there is none.
static inline std::string complaint_in(const std::string &said)
{
    const std::string mark = "CPU stand-in: ";
    for (size_t at = said.find(mark), end; at != std::string::npos; at = said.find(mark, end)) {
        end = said.find('\n', at);
        std::string line = said.substr(at + mark.size(), end - at - mark.size());
        if (line.find("CPU_CUDA_FAIL") != 0 && line.find("this program runs on") != 0 &&
            line.find("never freed") != 0)
            return line;
    }
    return "";
}

// f() is called, and all goes well. Then each CUDA call of it fails, one by one, alone and with all after it: f() has to
// return its code, nothing may stay allocated, and no error may be left behind if `leaves_none`. Before the check itself
// uses CUDA. Only on the stand-in.
template <typename F>
static void expect_each_failure(const char *name, F f, bool leaves_none = false)
{
    for (int k = 0; is_on_stand_in; k++)
        for (const char *more : {"", "+"}) {
            std::string said;
            int code = k % 2 ? 2 : 719;
            auto call = [&] {
                size_t before, after, total;
                CHECK(cudaMemGetInfo(&before, &total));
                if (k)
                    setenv("CPU_CUDA_FAIL", (std::to_string(k) + more).c_str(), 1);
                setenv("CPU_CUDA_FAIL_CODE", std::to_string(code).c_str(), 1);
                int came = f();
                unsetenv("CPU_CUDA_FAIL");
                if (leaves_none && cudaGetLastError() != cudaSuccess)
                    return -2000;
                cudaGetLastError();
                CHECK(cudaMemGetInfo(&after, &total));
                return after < before ? -3000 : came;
            };
            int came = in_a_process(call, &said);
            size_t at = said.find("CPU_CUDA_FAIL: "), end = said.find(" fails, as asked");
            bool all_went_well = end == std::string::npos; // there are fewer calls than k
            std::string call_name = all_went_well ? "" : said.substr(at + 15, end - at - 15);
            if (all_went_well && k == 1)
                wrong("who computes? The threads of a kernel", "%s: no CUDA call was made", name);
            if (all_went_well && k > 0)
                return;
            if (!*more && call_name.find("Free") != std::string::npos)
                continue; // its code is returned, or not
            std::string what = std::string(name) + ", and no call fails";
            if (!all_went_well)
                what = std::string(name) + ": " + call_name +
                       (*more ? " and all after it fail" : " fails");
            std::string complaint = complaint_in(said);
            for (size_t b = 0, e; (e = said.find('\n', b)) != std::string::npos && came != -1000;
                 b = e + 1)
                if (said.compare(b, 14, "CPU stand-in: ") != 0)
                    wrong("a function that others call prints nothing: it returns the code",
                          "%s: printed: %s", what.c_str(), said.substr(b, e - b).c_str());
            if (complaint != "")
                wrong(all_went_well ? "the call or the kernel of this line"
                                    : "is the error looked at? After it the function only frees "
                                      "what was allocated, each array once",
                      "%s%s %s", what.c_str(), all_went_well ? ":" : ", and then",
                      complaint.c_str());
            if (came == -3000)
                wrong("cleanup: whatever failed, all that was allocated is freed",
                      "%s: memory stays allocated on the device", what.c_str());
            if (came == -2000)
                wrong("cudaGetLastError(): a code that is returned is not left for somebody else "
                      "to find",
                      "%s: the error is left behind", what.c_str());
            expect_return(
                all_went_well ? 0 : code, came, what,
                all_went_well
                    ? "what is returned if all went well?"
                    : "each call may fail: is its code looked at, and kept until the end?");
        }
}

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
    }
    Array(const char *name, size_t n) : Array(name, std::vector<T>(n, (T)-7777)) {}
    ~Array()
    {
        CHECK(cudaFree(data));
    }
    Array(const Array &) = delete;

    // Waits for the kernel. The array has to be what is expected. look_at: for an element that is as it was, and if
    // there is no `value`, for another one too.
    void expect(const std::vector<T> &expected, const char *look_at,
                const char *value = nullptr) const
    {
        std::vector<T> h(n);
        cudaError_t error = cudaGetLastError();
        if (error == cudaSuccess)
            error = cudaDeviceSynchronize();
        if (error != cudaSuccess)
            wrong(error == cudaErrorIllegalAddress ? "is the number of the element right, and what "
                                                     "keeps the threads off that have no element?"
                                                   : look_at,
                  "the kernel does not run to its end: error %d, %s", (int)error,
                  cudaGetErrorName(error));
        CHECK(cudaMemcpy(h.data(), data, n * sizeof(T), cudaMemcpyDeviceToHost));
        bool is_untouched = h == before && h != expected;
        for (size_t i = 0; i < n; i++) {
            if (h[i] == expected[i])
                continue; // NaN is equal to nothing
            if (is_untouched)
                wrong(
                    (std::string("is the kernel launched, and does it write? ") + look_at).c_str(),
                    "nobody has written to %s: expected %s[%zu] = %s", name, name, i,
                    as_text(expected[i]));
            wrong(value && !(h[i] == before[i]) ? value : look_at,
                  "%s[%zu] of %zu: expected %s, came %s%s", name, i, n, as_text(expected[i]),
                  as_text(h[i]), h[i] == before[i] ? " (nobody has written to it)" : "");
        }
    }
};
