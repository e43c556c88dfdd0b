// The check of exercise 5: three handles at a time; then the first call of total_create fails, then the second, ...
// The answer's calls come to the functions in `tried`, which know what is allocated.
#include "exercise.cuh"
#include <algorithm>
#include <map>
#include <signal.h>
#include <string>

struct total;
int total_create(total **handle, int n);
int total_add(total *handle, const float *x);
int total_read(const total *handle, float *sums);
void total_destroy(total *handle);

namespace tried {
int calls, failing;                   // calls of total_create; the one that fails, from 1; 0: none
size_t needed;                        // bytes of an array
cudaError_t code;                     // the code of the one that fails
std::string now;                      // what is done, for the message
std::map<void *, const char *> owner; // what is allocated, and what frees it
const size_t BEHIND = 64;             // bytes behind what malloc gives, which stay 0x5a
std::map<void *, size_t> host_bytes;  // how many bytes malloc has been asked for

// The code of this call. All calls behind the one that fails, fail, too, with another code.
cudaError_t fails(const char *name, cudaError_t its_code)
{
    if (++calls == failing) {
        code = its_code;
        now = std::string(name) + ", call " + std::to_string(calls) + " of total_create, fails";
    }
    return !failing || calls < failing ? cudaSuccess : calls == failing ? code : cudaErrorUnknown;
}

void *host(size_t bytes, int value)
{
    if (fails("malloc", cudaErrorMemoryAllocation) || bytes >= (size_t)1 << 30)
        return nullptr;
    void *pointer = memset(::malloc(bytes + BEHIND), 0x5a, bytes + BEHIND);
    owner[pointer] = "free";
    host_bytes[pointer] = bytes;
    return memset(pointer, value, bytes);
}

template <typename T> cudaError_t device(T **pointer, size_t bytes)
{
    if (bytes < needed)
        wrong("how many bytes do n floats have? n * sizeof(float) is a size_t, not an int",
              "cudaMalloc of %zu bytes: n floats have %zu", bytes, needed);
    if (cudaError_t error = fails("cudaMalloc", cudaErrorMemoryAllocation))
        return error;
    bytes = std::min(bytes, (size_t)1 << 20); // of a very large one this is enough
    CHECK(cudaMalloc((void **)pointer, bytes));
    CHECK(cudaMemset(*pointer, 0xff, bytes)); // NaN
    owner[*pointer] = "cudaFree";
    return cudaSuccess;
}

cudaError_t set(void *pointer, int value, size_t bytes)
{
    cudaError_t error = fails("cudaMemset", cudaErrorNotSupported);
    return error ? error : cudaMemset(pointer, value, bytes);
}

cudaError_t copy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    cudaError_t error = fails("cudaMemcpy", cudaErrorNotSupported);
    return error ? error : cudaMemcpy(to, from, bytes, kind);
}

void freed(void *pointer, const char *with)
{
    if (!pointer)
        return;
    if (pointer == (void *)0x6666666666666666)
        wrong("the addresses of the arrays are in the handle: free(handle) comes last",
              "%s: the handle is read after it was freed", now.c_str());
    if (!owner.count(pointer))
        wrong("each array is freed once; its pointer is NULL until its cudaMalloc has gone well "
              "(calloc)",
              "%s: %s of what is not allocated, or is freed already", now.c_str(), with);
    if (strcmp(owner[pointer], with) != 0)
        wrong("cudaFree is for what cudaMalloc has given, free for what malloc has given",
              "%s: %s of what %s has to free", now.c_str(), with, owner[pointer]);
    owner.erase(pointer);
}

void *malloc(size_t bytes)
{
    return host(bytes, 0x55);
}

void *calloc(size_t n, size_t bytes)
{
    return host(n * bytes, 0);
}

void free(void *pointer)
{
    freed(pointer, "free");
    if (!pointer)
        return;
    size_t bytes = host_bytes[pointer];
    if (std::string((char *)pointer + bytes, BEHIND) != std::string(BEHIND, 0x5a))
        wrong("sizeof(total) is all of it, sizeof of a pointer is 8",
              "%s: a handle of %zu bytes is too small, somebody wrote behind it", now.c_str(),
              bytes);
    memset(pointer, 0x66, bytes); // it stays allocated: who reads it finds this
}

cudaError_t device_free(void *pointer)
{
    freed(pointer, "cudaFree");
    return cudaFree(pointer);
}

// How many are allocated that free has to free, or cudaFree.
size_t count(std::string with)
{
    return std::count_if(owner.begin(), owner.end(), [&](auto &one) { return one.second == with; });
}

void expect_allocated(size_t expected, const char *with)
{
    if (count(with) > expected)
        wrong(failing ? "total_create frees all if it fails; total_destroy can do it"
                      : "total_destroy frees both arrays and the handle",
              "%s: still allocated: %zu that %s has to free", now.c_str(), count(with) - expected,
              with);
}

[[noreturn]] void ended(int)
{
    wrong("a library returns its error. CHECK prints and ends the program, CHECK_GOTO does not",
          "%s: it ends the program", now.c_str());
}

void crashed(int signal)
{
    wrong("NULL for a handle: is that asked for before it is used?", "%s: it crashed, signal %d",
          now.c_str(), signal);
}
} // namespace tried

// A handle, and the sums that it has to have.
struct User {
    total *handle = nullptr;
    std::vector<float> expected;

    User(int n) : expected(n)
    {
        tried::needed = n * sizeof(float);
        tried::now = "total_create of " + std::to_string(n);
        int error = total_create(&handle, n);
        if (error != 0 || !handle)
            wrong("*handle becomes the new total, and 0 is returned", "%s: came code %d, and %s",
                  tried::now.c_str(), error, handle ? "a handle" : "*handle is NULL");
    }
    void use()
    {
        size_t n = expected.size(), room = 3000; // another handle's n has room, too
        std::vector<float> x = random_numbers<float>(room, -1000, 1000),
                           came(room, poison<float>());
        for (size_t i = 0; i < n; i++)
            expected[i] += x[i];
        int error = total_add(handle, x.data());
        if (error == 0)
            error = total_read(handle, came.data());
        if (error != 0)
            wrong("total_create: does the handle know n, and has it memory for d_x and d_sums?",
                  "total_add: came code %d, %s", error, cudaGetErrorName((cudaError_t)error));
        for (size_t i = 0; i < n; i++)
            if (!(came[i] == expected[i]))
                wrong(came[i] == poison<float>() ? "does the handle know n?"
                                                 : "are the sums 0 at first (cudaMemset), and has "
                                                   "each handle its own memory?",
                      "sums[%zu] of %zu: expected %s, came %s%s", i, n, as_text(expected[i]),
                      as_text(came[i]),
                      came[i] == poison<float>() ? " (nobody has written to it)" : "");
    }
};

int main(void)
{
    signal(SIGSEGV, tried::crashed);
    User one(random_number(1, 1000)), two(random_number(1001, 3000)), three(random_number(1, 1000));
    for (int again = 0; again < 3; again++)
        for (User *user : {&one, &two, &three})
            user->use();
    size_t handles = tried::count("free"), arrays = tried::count("cudaFree");
    tried::now = "total_destroy of one of three handles";
    total_destroy(two.handle);
    tried::expect_allocated(handles / 3 * 2, "free");
    tried::expect_allocated(arrays / 3 * 2, "cudaFree");
    three.use();
    one.use();
    tried::now = "total_destroy of all handles";
    total_destroy(one.handle);
    total_destroy(three.handle);
    tried::expect_allocated(0, "free");
    tried::expect_allocated(0, "cudaFree");
    tried::now = "total_destroy of NULL";
    total_destroy(nullptr);

    total *const before = reinterpret_cast<total *>(&one);
    for (tried::failing = 1;; tried::failing++) {
        total *handle = before;
        tried::calls = 0;
        tried::needed = 100 * sizeof(float);
        int error = total_create(&handle, 100);
        if (tried::failing > tried::calls) {
            total_destroy(handle);
            break;
        }
        if (error != tried::code)
            wrong("is the result of each call looked at, and the first error returned?",
                  "%s: expected code %d, %s, came %d", tried::now.c_str(), tried::code,
                  cudaGetErrorName(tried::code), error);
        if (handle != before)
            wrong("*handle is written if all went well",
                  "%s: expected *handle as it was, came another one", tried::now.c_str());
        tried::expect_allocated(0, "free");
        tried::expect_allocated(0, "cudaFree");
    }
    tried::needed = ((size_t)1 << 30) * sizeof(float);
    auto create_large = [] {
        total *handle;
        tried::failing = 3; // the handle, d_x, d_sums
        tried::calls = 0;
        total_create(&handle, 1 << 30);
    };
    create_large();
    if (prints(create_large))
        wrong("a library returns its error, and prints nothing", "%s: total_create prints",
              tried::now.c_str());
    return passed();
}

namespace std {
namespace tried = ::tried; // for std::calloc
}

#define malloc tried::malloc
#define calloc tried::calloc
#define free tried::free
#define cudaMalloc tried::device
#define cudaMemset tried::set
#define cudaMemcpy tried::copy
#define cudaFree tried::device_free
#define cudaMallocAsync(pointer, bytes, ...) tried::device(pointer, bytes)
#define cudaMemsetAsync(pointer, value, bytes, ...) tried::set(pointer, value, bytes)
#define cudaFreeAsync(pointer, ...) tried::device_free(pointer)
#define exit tried::ended
#define _exit tried::ended
