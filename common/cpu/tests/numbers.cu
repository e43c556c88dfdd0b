// What a kernel computes with numbers: of 16 bits, rounded in each way, their bits, bytes, NaN, complex ones.
#include "expect.h"
#include <cmath>
#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

const int N = 22;
// with ties, carries, subnormal and infinite results
__constant__ float values[N] = {0,           -0.0f,       1,       -1.5f,   1.0f / 3, 2.0f / 3,
                                1024.5f,     2049,        2051,    65504,   65519,    65520,
                                7e4f,        6.1e-5f,     6e-5f,   5.9e-8f, 3e-8f,    2.9e-8f,
                                1.00390625f, 1.01171875f, 3.3e38f, 3.4e38f};

template <class T> __device__ unsigned bits(T x)
{
    unsigned short s;
    memcpy(&s, &x, sizeof s);
    return s;
}
__global__ void halves()
{
    for (int i = 0; i < N; i++) {
        __half a = __float2half(values[i]), b = __float2half(values[(i + 5) % N]);
        __nv_bfloat16 c = __float2bfloat16(values[i]), d = __float2bfloat16(values[(i + 5) % N]);
        printf("%2d %04x %04x %04x %04x %d%d  %04x %04x %04x %04x %d%d\n", i, bits(a), bits(a + b),
               bits(__hmul(a, b)), bits(__hfma(a, b, a)), __hlt(a, b), __hisnan(a - a), bits(c),
               bits(c + d), bits(__hmul(c, d)), bits(__hfma(c, d, c)), __hlt(c, d),
               __hisnan(c - c));
    }
    __half2 p = __floats2half2_rn(1.5f, -2.25f),
            q = __hfma2(p, p, __half2half2(__float2half(0.125f)));
    float2 f = __half22float2(__hadd2(p, q));
    printf("%g %g %g %d %d\n", f.x, f.y, __half2float(hsqrt(__high2half(q))),
           __half2int_rz(__low2half(p)), __half2int_rn(__float2half(2.5f)));
    __half sum = __int2half_rn(0) + __half((short)1) + __half(2ll);
    sum += __float2half(0.25f);
    sum *= __float2half(2);
    printf("%g %04x %04x\n", __half2float(sum), bits(__habs(-sum)), bits(__ushort_as_half(0x1234)));
}

__global__ void rounding()
{
    volatile float third = 1.0f / 3, seven = 7, tiny = 1e-9f, one = 1;
    volatile double d = 1.0 / 3;
    printf("%08x %08x %08x %08x\n", __float_as_int(__fadd_rn(one, tiny)),
           __float_as_int(__fadd_rz(one, -tiny)), __float_as_int(__fadd_ru(one, tiny)),
           __float_as_int(__fadd_rd(one, -tiny)));
    printf("%08x %08x %08x %08x\n", __float_as_int(__fmul_rn(third, third)),
           __float_as_int(__fmul_rz(third, third)), __float_as_int(__fmul_ru(third, third)),
           __float_as_int(__fmul_rd(third, -third)));
    printf("%08x %08x %08x %08x\n", __float_as_int(__fdiv_rn(one, seven)),
           __float_as_int(__fdiv_rz(one, seven)), __float_as_int(__fdiv_ru(one, seven)),
           __float_as_int(__fdiv_rd(one, seven)));
    printf("%08x %08x %08x %08x\n", __float_as_int(__fmaf_rn(third, third, tiny)),
           __float_as_int(__fmaf_rz(third, third, tiny)),
           __float_as_int(__fmaf_ru(third, third, tiny)), __float_as_int(__fsqrt_ru(seven)));
    printf("%g %g %g %g\n", __int2float_rz(16777217), __int2float_ru(16777217),
           __int2float_rd(-16777217), __double2float_ru(d) - __double2float_rd(d));
    printf("%llx %llx %llx\n", __double_as_longlong(__dadd_ru(d, 1e-30)),
           __double_as_longlong(__dmul_rz(d, d)), __double_as_longlong(__ddiv_rd(d, 3)));
    printf("%d %d %u %u\n", __hadd(-3, 4), __rhadd(-3, 4), __uhadd(~0u, ~0u), __urhadd(3, 4));
    printf("%d %u\n", __dp4a(0x01ff7f80, 0x02020202, 100), __dp4a(0x01ff7f80u, 0x02020202u, 100u));
}

// What does not fit becomes the nearest that does.
__global__ void to_integers()
{
    for (int power : {31, 32, 63, 64})
        for (int step : {-1, 0, 1}) {
            volatile float f = __int_as_float(__float_as_int(ldexpf(1, power)) + step);
            volatile double d = ldexp(1., power) + step * 0.75;
            printf("%d %d %u %u\n", __float2int_rn(f), __float2int_rz(-f), __float2uint_rz(f),
                   __float2uint_rd(-f));
            printf("%lld %lld %llu\n", __float2ll_ru(f), __float2ll_rn(-f), __float2ull_rn(f));
            printf("%d %d %u\n", __double2int_rn(d), __double2int_ru(-d), __double2uint_rd(d));
            printf("%lld %lld %llu\n", __double2ll_rz(d), __double2ll_rd(-d), __double2ull_rz(d));
        }
}

// Of 16 bits: rounded once, near ties and the largest number.
__global__ void rounded_once(double more)
{
    printf("%04x %04x %04x %04x\n", bits(__double2half(1 + 0x1p-11 + more)), bits(__double2half(65520 - more)),
           bits(__double2half(-5 * 0x1p-25 * (1 + more))), bits(__int2bfloat16_rn(0x1010001)));
    printf("%04x\n", bits(__hfma(__float2half(3), __float2half(683), __float2half(0x1p-13f))));
    int others = 0;
    for (int i = 0; i < 4096; i++) {
        float x = 1 + 3.0f * i / 4096;
        others += __frsqrt_rn(x) != (float)(1 / sqrt((double)x));
    }
    printf("%d\n", others);
}

__global__ void of_nan(float f, double d)
{
    printf("%x %x %llx %llx\n", __float2int_rn(f), __float2uint_rz(f), __float2ll_rn(f), __float2ull_rz(f));
    printf("%x %x %llx %llx\n", __double2int_rz(d), __double2uint_rn(d), __double2ll_rz(d), __double2ull_rn(d));
}

__global__ void complex()
{
    cuFloatComplex a = make_cuFloatComplex(3, -4), b = make_cuComplex(0.5f, 2);
    cuFloatComplex product = cuCmulf(a, b), quotient = cuCdivf(a, b),
                   sum = cuCfmaf(a, b, cuConjf(a));
    printf("%g %g  %g %g  %g %g  %g\n", product.x, product.y, quotient.x, quotient.y, sum.x, sum.y,
           cuCabsf(a));
    cuDoubleComplex d = cuCsub(cuComplexFloatToDouble(a), make_cuDoubleComplex(1, 1));
    printf("%g %g %g\n", cuCreal(d), cuCimag(d), cuCabs(d));
    printf("%g %g\n", cuCabsf(make_cuFloatComplex(3e30f, 4e30f)), cuCabs(make_cuDoubleComplex(3e-200, 4e-200)));
}

__global__ void arithmetic(float *f, float third)
{
    f[0] = __fadd_rn(third, 1e8f);
    f[1] = __fsub_rn(__fmul_rn(third, third), 1 / 9.f);
    f[2] = __fmaf_rn(third, third, -1 / 9.f);
    f[3] = __fdiv_rn(1, third);
    f[4] = __fsqrt_rn(third);
    f[5] = (float)__dadd_rn(third, 1e-9);
    f[6] = __saturatef(third + 1) + __saturatef(-third);
    f[7] = __int2float_rn(16777217);
    f[8] = sinpif(third + 1.166666666f) + cospif(0);
    f[9] = rsqrtf(4) + rcbrtf(8) + (norm3df(3e30f, 4e30f, 0) < INFINITY) + rnorm4df(0, 0, 0, 2);
}

__global__ void bits_and_integers(int *n, float third)
{
    n[0] = __float2int_rn(2.5f) * 1000 + __float2int_rz(-2.5f) * 100 + __float2int_ru(2.5f) * 10 +
           __float2int_rd(-2.5f);
    n[1] = __float2int_rz(third * 1e20f);
    n[2] = __mul24(-3, 5) + __mulhi(1 << 30, 12) + (int)__umulhi(1u << 31, 6);
    n[3] = (int)(__sad(-5, 7, 1) + __usad(5, 7, 1));
    n[4] = (int)(__funnelshift_l(0x80000001, 0xF, 4) ^ __funnelshift_r(0x80000001, 0xF, 4));
    n[5] = __clz(1) * 100 + __clz(0);
    n[6] = __ffs(8) * 100 + __ffs(0);
    n[7] = __clzll(1) * 100 + __ffsll(1ll << 40);
    n[8] = (int)__int_as_float(0x40400000) + (int)__uint_as_float(__float_as_uint(4.0f));
    n[9] = min(3, 2) + max(3u, 4u) + (int)umin(7, 8);
}

__global__ void with_nan(float *f, float nan)
{
    f[0] = min(nan, 1.f), f[1] = min(2.f, nan), f[2] = max(nan, 3.f), f[3] = max(4.f, nan);
    f[4] = min((double)nan, 5.), f[5] = max(6., (double)nan);
    f[6] = min(nan, 7.), f[7] = max((double)nan, 8.f) + __float2int_rn(nan);
}

__device__ float multiply_and_add(float a, float b) { return a * a + b; }
__global__ void add_products(float *p) // one operation each, but for the last
{
    p[2] = p[0] * p[0] + p[1];
    p[3] = multiply_and_add(p[0], p[1]);
    p[4] = __fadd_rn(__fmul_rn(p[0], p[0]), p[1]);
}

int main(void)
{
    float *f, h[5] = {1 + 1.0f / 4096, -1 - 2.0f / 4096};
    bool is_fused = true;
    int *n;
    cudaMalloc(&f, 10 * sizeof *f);
    cudaMalloc(&n, 10 * sizeof *n);
    arithmetic<<<1, 1>>>(f, 1 / 3.f);
    HAS(f, {1e8f, 7.4505806e-09f, 5.79489612e-09f, 3, 0.577350259f, 1 / 3.f, 1, 16777216, 0, 2.5f});
    bits_and_integers<<<1, 1>>>(n, 1 / 3.f);
    HAS(n, {1827, 2147483647, -9, 16, -134217480, 3132, 400, 6341, 7, 13});
    with_nan<<<1, 1>>>(f, NAN);
    HAS(f, {1, 2, 3, 4, 5, 6, 7, 8});
#if defined(NO_FMAD) || (defined(CPU_CUDA_HAS_FMA) && !CPU_CUDA_HAS_FMA && !defined(__aarch64__))
    is_fused = false;
#endif
    const float rest = is_fused ? 1.0f / (1 << 24) : 0;
    OK(cudaMemcpy(f, h, sizeof h, cudaMemcpyHostToDevice));
    add_products<<<1, 1>>>(f);
    HAS(f + 2, {rest, rest, 0});
    cudaFree(f);
    cudaFree(n);
    halves<<<1, 1>>>();
    OK(cudaDeviceSynchronize());
    rounding<<<1, 1>>>();
    OK(cudaDeviceSynchronize());
    to_integers<<<1, 1>>>();
    OK(cudaDeviceSynchronize());
    rounded_once<<<1, 1>>>(0x1p-36);
    OK(cudaDeviceSynchronize());
    of_nan<<<1, 1>>>(NAN, NAN);
    OK(cudaDeviceSynchronize());
    complex<<<1, 1>>>();
    OK(cudaDeviceSynchronize());
    FAILS(cudaErrorInvalidValue, cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 21)); // after a printf
    return all_is_well();
}
