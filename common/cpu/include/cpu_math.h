// Part of the CPU stand-in's <cuda_runtime.h>: functions for numbers.
#pragma once
#include <fenv.h>
#include <limits>

#define CPU_CUDA_MIN_MAX(T, A, B) /* of other mixed types a call is ambiguous, with nvcc, too */ \
    inline T min(A a, B b) { return (T)b < (T)a ? (T)b : (T)a; } \
    inline T max(A a, B b) { return (T)a < (T)b ? (T)b : (T)a; }
#define CPU_CUDA_MIN_MAX_OF(T, U) \
    CPU_CUDA_MIN_MAX(T, T, T) \
    CPU_CUDA_MIN_MAX(U, U, U) CPU_CUDA_MIN_MAX(U, T, U) CPU_CUDA_MIN_MAX(U, U, T)
CPU_CUDA_MIN_MAX_OF(int, unsigned)
CPU_CUDA_MIN_MAX_OF(long, unsigned long)
CPU_CUDA_MIN_MAX_OF(long long, unsigned long long)
#define CPU_CUDA_FMIN_FMAX(T, A, B, f) /* of a NaN and a number: the number */ \
    inline T min(A a, B b) { return __builtin_fmin##f(a, b); } \
    inline T max(A a, B b) { return __builtin_fmax##f(a, b); }
CPU_CUDA_FMIN_FMAX(float, float, float, f)
CPU_CUDA_FMIN_FMAX(double, double, double, )
CPU_CUDA_FMIN_FMAX(double, float, double, )
CPU_CUDA_FMIN_FMAX(double, double, float, )
inline unsigned umin(unsigned a, unsigned b) { return min(a, b); }
inline unsigned umax(unsigned a, unsigned b) { return max(a, b); }
template <class To, class From> To cpu_cuda_bits(From from)
{
    To to;
    __builtin_memcpy(&to, &from, sizeof to);
    return to;
}
inline int __float_as_int(float x) { return cpu_cuda_bits<int>(x); }
inline unsigned __float_as_uint(float x) { return cpu_cuda_bits<unsigned>(x); }
inline float __int_as_float(int x) { return cpu_cuda_bits<float>(x); }
inline float __uint_as_float(unsigned x) { return cpu_cuda_bits<float>(x); }
inline long long __double_as_longlong(double x) { return cpu_cuda_bits<long long>(x); }
inline double __longlong_as_double(long long x) { return cpu_cuda_bits<double>(x); }
inline int __double2hiint(double x) { return (int)(__double_as_longlong(x) >> 32); }
inline int __double2loint(double x) { return (int)__double_as_longlong(x); }
inline double __hiloint2double(int high, int low)
{
    return __longlong_as_double(
        (long long)((unsigned long long)(unsigned)high << 32 | (unsigned)low));
}
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline float __fdividef(float x, float y) { return x / y; }
inline float __saturatef(float x) { return fminf(fmaxf(x, 0), 1); }
#define __expf expf
#define __exp10f exp10f
#define __logf logf
#define __log2f log2f
#define __log10f log10f
#define __powf powf
#define __sinf sinf
#define __cosf cosf
#define __tanf tanf
#define __sincosf sincosf
#define CPU_CUDA_MORE(T, f) /* in float and in double */ \
    inline T rsqrt##f(T x) { return 1 / sqrt(x); } \
    inline T rcbrt##f(T x) { return 1 / cbrt(x); } \
    inline T norm3d##f(T x, T y, T z) { return std::hypot(x, y, z); } \
    inline T norm4d##f(T x, T y, T z, T w) { return std::hypot(std::hypot(x, y, z), w); } \
    inline T rhypot##f(T x, T y) { return 1 / std::hypot(x, y); } \
    inline T rnorm3d##f(T x, T y, T z) { return 1 / norm3d##f(x, y, z); } \
    inline T rnorm4d##f(T x, T y, T z, T w) { return 1 / norm4d##f(x, y, z, w); } \
    inline T sinpi##f(T x) \
    { \
        T r = remainder(x, (T)2); /* exact, and 0 for every integer */ \
        return (T)sin(M_PI * (fabs(r) > 0.5 ? copysign(1, r) - r : r)); \
    } \
    inline T cospi##f(T x) { return sinpi##f(remainder(x, (T)2) + (T)0.5); } \
    inline void sincospi##f(T x, T *sine, T *cosine) { *sine = sinpi##f(x), *cosine = cospi##f(x); }
CPU_CUDA_MORE(float, f)
CPU_CUDA_MORE(double, )

inline int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b)
{
    return (unsigned)((unsigned long long)a * b >> 32);
}
inline long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xFFFFFF) * (b & 0xFFFFFF); }
inline int __mul24(int a, int b) // the low 32 bits of a product of 24-bit numbers
{
    return (int)((unsigned)((int)((unsigned)a << 8) >> 8) *
                 (unsigned)((int)((unsigned)b << 8) >> 8));
}
inline int __hadd(int a, int b) { return (int)(((long long)a + b) >> 1); } // halves of a sum
inline int __rhadd(int a, int b) { return (int)(((long long)a + b + 1) >> 1); }
inline unsigned __uhadd(unsigned a, unsigned b) { return (unsigned)((0ull + a + b) >> 1); }
inline unsigned __urhadd(unsigned a, unsigned b) { return (unsigned)((1ull + a + b) >> 1); }
#define CPU_CUDA_DP4A(T, byte) /* four products of bytes, and a sum */ \
    inline T __dp4a(T a, T b, T c) \
    { \
        for (int i = 0; i < 32; i += 8) c += (T)(byte)(a >> i) * (T)(byte)(b >> i); \
        return c; \
    }
CPU_CUDA_DP4A(int, signed char)
CPU_CUDA_DP4A(unsigned, unsigned char)
inline unsigned __sad(int a, int b, unsigned c) { return (unsigned)llabs((long long)a - b) + c; }
inline unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a < b ? b - a : a - b) + c; }
inline unsigned long long __brevll(unsigned long long x)
{
    unsigned long long reversed = 0;
    for (int i = 0; i < 64; i++) reversed |= (x >> i & 1) << (63 - i);
    return reversed;
}
inline unsigned __brev(unsigned x) { return (unsigned)(__brevll(x) >> 32); }
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned which)
{
    unsigned long long bytes = (unsigned long long)b << 32 | a;
    unsigned chosen = 0;
    for (int i = 0; i < 4; i++)
        chosen |= (unsigned)(bytes >> (which >> 4 * i & 7) * 8 & 0xFF) << 8 * i;
    return chosen;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned n)
{
    return (unsigned)((((unsigned long long)high << 32 | low) << (n & 31)) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned n)
{
    return (unsigned)(((unsigned long long)high << 32 | low) >> (n & 31));
}
inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned n) // by 32 bits at most
{
    return n < 32 ? __funnelshift_l(low, high, n) : low;
}
inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned n)
{
    return n < 32 ? __funnelshift_r(low, high, n) : high;
}

// ---- How to round: _rn to the nearest; to an integer also _rz towards 0, _ru up, _rd down

namespace cpu_cuda {
template <class T> __forceinline__ T plain(T x) // two operations stay two: nothing becomes an fma
{
    __asm__ volatile("" : "+m"(x));
    return x;
}
template <class To, class From> To saturated(From x) // what does not fit: the nearest that does
{
    using limits = std::numeric_limits<To>;
    // a GPU's answers for NaN
    if (x != x) return sizeof(From) + sizeof(To) == 8 ? 0 : (To)1 << (8 * sizeof(To) - 1);
    return x <= (From)limits::min()   ? limits::min()
           : x >= (From)limits::max() ? limits::max()
                                      : (To)x;
}
} // namespace cpu_cuda

#define CPU_CUDA_ROUNDED(T, name, parameters, result) \
    CPU_CUDA_ONE(T, FE_TONEAREST, name##_rn, parameters, result) \
    CPU_CUDA_ONE(T, FE_TOWARDZERO, name##_rz, parameters, result) \
    CPU_CUDA_ONE(T, FE_UPWARD, name##_ru, parameters, result) \
    CPU_CUDA_ONE(T, FE_DOWNWARD, name##_rd, parameters, result)
#define CPU_CUDA_ARITHMETIC(T, f, fma_name) \
    CPU_CUDA_ROUNDED(T, __##f##add, (T a, T b), plain(a) + plain(b)) \
    CPU_CUDA_ROUNDED(T, __##f##sub, (T a, T b), plain(a) - plain(b)) \
    CPU_CUDA_ROUNDED(T, __##f##mul, (T a, T b), plain(a) * plain(b)) \
    CPU_CUDA_ROUNDED(T, __##f##div, (T a, T b), plain(a) / plain(b)) \
    CPU_CUDA_ROUNDED(T, __##f##rcp, (T a), 1 / plain(a)) \
    CPU_CUDA_ROUNDED(T, __##f##sqrt, (T a), sqrt(plain(a))) \
    CPU_CUDA_ROUNDED(T, fma_name, (T a, T b, T c), fma(plain(a), b, c))
#define CPU_CUDA_ONE(T, mode, name, parameters, result) \
    inline T name parameters \
    { \
        using cpu_cuda::plain; \
        if (mode != FE_TONEAREST) fesetround(mode); \
        T r = plain((T)(result)); \
        if (mode != FE_TONEAREST) fesetround(FE_TONEAREST); \
        return r; \
    }
CPU_CUDA_ARITHMETIC(float, f, __fmaf)
CPU_CUDA_ARITHMETIC(double, d, __fma)
inline float __frsqrt_rn(float x) { return (float)(1 / sqrt((double)x)); }
#define CPU_CUDA_TO_INTEGER(From, from, To, to) \
    inline To __##from##2##to##_rn(From x) { return cpu_cuda::saturated<To>(rint(x)); } \
    inline To __##from##2##to##_rz(From x) { return cpu_cuda::saturated<To>(trunc(x)); } \
    inline To __##from##2##to##_ru(From x) { return cpu_cuda::saturated<To>(ceil(x)); } \
    inline To __##from##2##to##_rd(From x) { return cpu_cuda::saturated<To>(floor(x)); }
#define CPU_CUDA_FROM_INTEGER(T, t) \
    CPU_CUDA_TO_INTEGER(float, float, T, t) \
    CPU_CUDA_TO_INTEGER(double, double, T, t) \
    CPU_CUDA_ROUNDED(float, __##t##2float, (T a), plain(a))
CPU_CUDA_FROM_INTEGER(int, int)
CPU_CUDA_FROM_INTEGER(unsigned, uint)
CPU_CUDA_FROM_INTEGER(long long, ll)
CPU_CUDA_FROM_INTEGER(unsigned long long, ull)
inline double __int2double_rn(int a) { return a; } // each of them is a double
inline double __uint2double_rn(unsigned a) { return a; }
CPU_CUDA_ROUNDED(double, __ll2double, (long long a), plain(a))
CPU_CUDA_ROUNDED(double, __ull2double, (unsigned long long a), plain(a))
CPU_CUDA_ROUNDED(float, __double2float, (double a), plain(a))
