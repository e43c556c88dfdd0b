// The CPU stand-in's <cuComplex.h>: complex numbers as float2 and double2.
#pragma once
#include "vector_types.h"
#include <math.h>

#define CPU_CUDA_COMPLEX(C, V, T, f) \
    typedef V C; \
    inline C make_##C(T x, T y) { return {x, y}; } \
    inline T cuCreal##f(C a) { return a.x; } \
    inline T cuCimag##f(C a) { return a.y; } \
    inline C cuConj##f(C a) { return {a.x, -a.y}; } \
    inline C cuCadd##f(C a, C b) { return {a.x + b.x, a.y + b.y}; } \
    inline C cuCsub##f(C a, C b) { return {a.x - b.x, a.y - b.y}; } \
    inline C cuCmul##f(C a, C b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; } \
    inline C cuCfma##f(C a, C b, C c) { return cuCadd##f(cuCmul##f(a, b), c); } \
    inline C cuCdiv##f(C a, C b) \
    { \
        T s = fabs(b.x) + fabs(b.y), x = b.x / s, y = b.y / s, d = (x * x + y * y) * s; \
        return {(a.x * x + a.y * y) / d, (a.y * x - a.x * y) / d}; \
    } \
    inline T cuCabs##f(C a) { return (T)hypot(a.x, a.y); }
CPU_CUDA_COMPLEX(cuFloatComplex, float2, float, f)
CPU_CUDA_COMPLEX(cuDoubleComplex, double2, double, )
typedef cuFloatComplex cuComplex;
inline cuComplex make_cuComplex(float x, float y) { return {x, y}; }
inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex a) { return {a.x, a.y}; }
inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex a) { return {(float)a.x, (float)a.y}; }
