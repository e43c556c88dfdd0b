// The CPU stand-in's <cuda_fp16.h>: numbers of 16 bits, computed in float. <cuda_bf16.h> makes its own from the same macro.
#pragma once
#include "cuda_runtime.h"

namespace cpu_cuda {

// A number with so many bits of exponent and of fraction, rounded once to the nearest.
template <int EXPONENT, int FRACTION> unsigned short to_small(double x)
{
    const int infinity = ((1 << EXPONENT) - 1) << FRACTION;
    const int smallest = 3 - (1 << (EXPONENT - 1)); // frexp's power of the smallest normal number
    int power, sign = signbit(x) ? 1 << 15 : 0;
    double fraction = frexp(fabs(x), &power); // at least 0.5, less than 1
    if (x != x) return 0x7FFF;
    if (x == 0 || fabs(x) == INFINITY) return (unsigned short)(sign | (x == 0 ? 0 : infinity));
    int place = power < smallest ? smallest : power;
    int steps = (int)rint(ldexp(fraction, power - place + FRACTION + 1));
    int bits = steps + ((place - smallest) << FRACTION); // a carry goes into the exponent
    return (unsigned short)(sign | (bits > infinity ? infinity : bits));
}
template <int EXPONENT, int FRACTION> float from_small(unsigned short bits)
{
    const int bias = (1 << (EXPONENT - 1)) - 1, top = (1 << EXPONENT) - 1;
    int exponent = bits >> FRACTION & top, fraction = bits & ((1 << FRACTION) - 1);
    float x = exponent == top ? fraction ? NAN : INFINITY
              : exponent ? ldexpf((float)(fraction | 1 << FRACTION), exponent - bias - FRACTION)
                         : ldexpf((float)fraction, 1 - bias - FRACTION);
    return bits & 0x8000 ? -x : x;
}

} // namespace cpu_cuda

// T: the type, T2: two of them; t, t2: how functions call them; math: of float; each result is rounded.
#define CPU_CUDA_SMALL(T, T2, t, EXPONENT, FRACTION) \
    struct T { \
        unsigned short cpu_bits; \
        T() = default; \
        T(float x) : cpu_bits(cpu_cuda::to_small<EXPONENT, FRACTION>(x)) {} \
        T(double x) : cpu_bits(cpu_cuda::to_small<EXPONENT, FRACTION>(x)) {} \
        T(int x) : T((double)x) {} \
        T(unsigned x) : T((double)x) {} \
        T(short x) : T((double)x) {} \
        T(unsigned short x) : T((double)x) {} \
        T(long x) : T((double)x) {} \
        T(unsigned long x) : T((double)x) {} \
        T(long long x) : T((double)x) {} \
        T(unsigned long long x) : T((double)x) {} \
        operator float() const { return cpu_cuda::from_small<EXPONENT, FRACTION>(cpu_bits); } \
    }; \
    struct __attribute__((aligned(4))) T2 { \
        T x, y; \
        T2() = default; \
        T2(T x, T y) : x(x), y(y) {} \
    }; \
    template <> struct cpu_cuda::is_number<T> : std::true_type {}; \
    template <> struct cpu_cuda::is_number<T2> : std::true_type {}; \
    CPU_CUDA_SMALL_OPERATORS(T, T2, add, +) \
    CPU_CUDA_SMALL_OPERATORS(T, T2, sub, -) \
    CPU_CUDA_SMALL_OPERATORS(T, T2, mul, *) \
    CPU_CUDA_SMALL_OPERATORS(T, T2, div, /) \
    CPU_CUDA_SMALL_COMPARE(T, eq, ==) \
    CPU_CUDA_SMALL_COMPARE(T, ne, !=) \
    CPU_CUDA_SMALL_COMPARE(T, lt, <) \
    CPU_CUDA_SMALL_COMPARE(T, le, <=) \
    CPU_CUDA_SMALL_COMPARE(T, gt, >) \
    CPU_CUDA_SMALL_COMPARE(T, ge, >=) \
    inline T operator-(T a) { return -(float)a; } \
    inline T __hneg(T a) { return -a; } \
    inline T2 __hneg2(T2 a) { return {-a.x, -a.y}; } \
    inline bool __hisnan(T a) { return (float)a != (float)a; } \
    inline int __hisinf(T a) { return isinf((float)a) ? a < T(0) ? -1 : 1 : 0; } \
    inline T __hfma(T a, T b, T c) { return fma((float)a, (double)(float)b, (float)c); } \
    inline T2 __hfma2(T2 a, T2 b, T2 c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; } \
    inline T __hmax(T a, T b) { return fmaxf(a, b); } \
    inline T __hmin(T a, T b) { return fminf(a, b); } \
    CPU_CUDA_SMALL_MATH(T, T2, __habs, __habs2, fabsf(x)) \
    CPU_CUDA_SMALL_MATH(T, T2, hsqrt, h2sqrt, sqrtf(x)) \
    CPU_CUDA_SMALL_MATH(T, T2, hrsqrt, h2rsqrt, 1 / sqrtf(x)) \
    CPU_CUDA_SMALL_MATH(T, T2, hrcp, h2rcp, 1 / x) \
    CPU_CUDA_SMALL_MATH(T, T2, hexp, h2exp, expf(x)) \
    CPU_CUDA_SMALL_MATH(T, T2, hexp2, h2exp2, exp2f(x)) \
    CPU_CUDA_SMALL_MATH(T, T2, hlog, h2log, logf(x)) \
    CPU_CUDA_SMALL_MATH(T, T2, hlog2, h2log2, log2f(x)) \
    CPU_CUDA_SMALL_MATH(T, T2, hsin, h2sin, sinf(x)) \
    CPU_CUDA_SMALL_MATH(T, T2, hcos, h2cos, cosf(x)) \
    CPU_CUDA_SMALL_MATH(T, T2, hfloor, h2floor, floorf(x)) \
    CPU_CUDA_SMALL_MATH(T, T2, hceil, h2ceil, ceilf(x)) \
    CPU_CUDA_SMALL_MATH(T, T2, hrint, h2rint, rintf(x)) \
    inline float __##t##2float(T x) { return x; } \
    inline float2 __##t##22float2(T2 a) { return {a.x, a.y}; } \
    inline T2 __float22##t##2_rn(float2 a) { return {a.x, a.y}; } \
    inline T __float2##t(float x) { return x; } \
    inline T __float2##t##_rn(float x) { return x; } \
    inline T __double2##t(double x) { return x; } \
    inline T __int2##t##_rn(int x) { return x; } \
    inline int __##t##2int_rn(T x) { return __float2int_rn(x); } \
    inline int __##t##2int_rz(T x) { return __float2int_rz(x); } \
    inline unsigned short __##t##_as_ushort(T x) { return x.cpu_bits; } \
    inline T __ushort_as_##t(unsigned short x) { return cpu_cuda_bits<T>(x); } \
    inline T2 __halves2##t##2(T x, T y) { return {x, y}; } \
    inline T2 __##t##2##t##2(T x) { return {x, x}; } \
    inline T2 __float2##t##2_rn(float x) { return {x, x}; } \
    inline T2 __floats2##t##2_rn(float x, float y) { return {x, y}; } \
    inline T2 make_##t##2(T x, T y) { return {x, y}; } \
    inline T __low2##t(T2 a) { return a.x; } \
    inline T __high2##t(T2 a) { return a.y; } \
    inline float __low2float(T2 a) { return a.x; } \
    inline float __high2float(T2 a) { return a.y; } \
    CPU_CUDA_ATOMIC(T, atomicAdd, old + value) \
    __forceinline__ T2 atomicAdd(T2 *p, T2 a) \
    { \
        return {atomicAdd(&p->x, a.x), atomicAdd(&p->y, a.y)}; \
    }
#define CPU_CUDA_SMALL_OPERATORS(T, T2, name, sign) \
    inline T operator sign(T a, T b) { return (float)a sign(float) b; } \
    inline T &operator sign##=(T &a, T b) { return a = a sign b; } \
    inline T2 operator sign(T2 a, T2 b) { return {a.x sign b.x, a.y sign b.y}; } \
    inline T __h##name(T a, T b) { return a sign b; } \
    inline T2 __h##name##2(T2 a, T2 b) { return a sign b; }
#define CPU_CUDA_SMALL_COMPARE(T, name, sign) \
    inline bool operator sign(T a, T b) { return (float)a sign(float) b; } \
    inline bool __h##name(T a, T b) { return a sign b; }
#define CPU_CUDA_SMALL_MATH(T, T2, name, name2, result) \
    inline T name(T a) \
    { \
        float x = a; \
        return result; \
    } \
    inline T2 name2(T2 a) { return {name(a.x), name(a.y)}; }

CPU_CUDA_SMALL(__half, __half2, half, 5, 10)
typedef __half half;
typedef __half2 half2;
