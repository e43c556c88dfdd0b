// The CPU stand-in's <vector_types.h>: float4 and its like, and make_float4(...).
#pragma once
#include "cuda_runtime_api.h"

#ifdef __cplusplus
#define CPU_CUDA_VECTORS(T, name, align2, align4) \
    struct name##3 { T x, y, z; }; \
    CPU_CUDA_OTHER_VECTORS(T, name, align2, align4)
#define CPU_CUDA_OTHER_VECTORS(T, name, align2, align4) \
    struct name##1 { T x; }; \
    struct __attribute__((aligned(align2))) name##2 { T x, y; }; \
    struct __attribute__((aligned(align4))) name##4 { T x, y, z, w; }; \
    inline name##1 make_##name##1(T x) { return {x}; } \
    inline name##2 make_##name##2(T x, T y) { return {x, y}; } \
    inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
    inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
CPU_CUDA_VECTORS(char, char, 2, 4)
CPU_CUDA_VECTORS(unsigned char, uchar, 2, 4)
CPU_CUDA_VECTORS(short, short, 4, 8)
CPU_CUDA_VECTORS(unsigned short, ushort, 4, 8)
CPU_CUDA_VECTORS(int, int, 8, 16)
CPU_CUDA_OTHER_VECTORS(unsigned, uint, 8, 16)
CPU_CUDA_VECTORS(long, long, 16, 16)
CPU_CUDA_VECTORS(unsigned long, ulong, 16, 16)
CPU_CUDA_VECTORS(long long, longlong, 16, 16)
CPU_CUDA_VECTORS(unsigned long long, ulonglong, 16, 16)
CPU_CUDA_VECTORS(float, float, 8, 16)
CPU_CUDA_VECTORS(double, double, 16, 16)
#endif
