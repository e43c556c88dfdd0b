// What calls return and kernels compute on an H200: a program says only what is not so, and "ok" if nothing is.
#pragma once
#include <cstdio>
#include <cstring>
#include <initializer_list>

inline int differences;

inline void expect_error(const char *what, int line, cudaError_t got, cudaError_t wanted)
{
    if (got == wanted) return;
    differences++;
    printf("line %d: %s: %s, not %s\n", line, what, cudaGetErrorName(got),
           cudaGetErrorName(wanted));
}

#define GIVES(error, call) expect_error(#call, __LINE__, call, error)
#define OK(call) GIVES(cudaSuccess, call)
// The call returns the error, and so does cudaGetLastError, once.
#define FAILS(error, call) \
    do { \
        GIVES(error, call); \
        expect_error("cudaGetLastError after " #call, __LINE__, cudaGetLastError(), error); \
        expect_error("cudaGetLastError again", __LINE__, cudaGetLastError(), cudaSuccess); \
    } while (0)
// A launch, after which cudaGetLastError returns the error.
#define REFUSED(...) \
    do { \
        __VA_ARGS__; \
        expect_error(#__VA_ARGS__, __LINE__, cudaGetLastError(), cudaErrorInvalidValue); \
    } while (0)

#define IS(value, wanted) expect_number(#value, __LINE__, value, wanted)
inline void expect_number(const char *what, int line, double got, double wanted)
{
    if (got == wanted) return;
    differences++;
    printf("line %d: %s is %.17g, not %.17g\n", line, what, got, wanted);
}

// The first elements of an array of the device.
#define HAS(array, ...) expect_elements(#array, __LINE__, array, __VA_ARGS__)
template <class T> struct list_of {
    using type = std::initializer_list<T>; // the type is that of the array
};
template <class T>
void expect_elements(const char *what, int line, const T *device, typename list_of<T>::type wanted)
{
    T got[64];
    OK(cudaMemcpy(got, device, wanted.size() * sizeof(T), cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < wanted.size(); i++)
        if (memcmp(&got[i], wanted.begin() + i, sizeof(T)) != 0) {
            differences++;
            printf("line %d: %s[%zu] is %g, not %g\n", line, what, i, (double)got[i],
                   (double)wanted.begin()[i]);
        }
}

inline int all_is_well()
{
    if (!differences) printf("ok\n");
    return differences != 0;
}
