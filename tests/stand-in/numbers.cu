// Numbers of 16 bits, how to round, bytes, complex numbers: what a kernel computes with them.
#include <cstdio>
#include <cstring>
#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

const int N = 22;
// with ties, carries, subnormal and infinite results
__constant__ float values[N] = {0, -0.0f, 1, -1.5f, 1.0f / 3, 2.0f / 3, 1024.5f, 2049, 2051, 65504, 65519, 65520, 7e4f,
                                6.1e-5f, 6e-5f, 5.9e-8f, 3e-8f, 2.9e-8f, 1.00390625f, 1.01171875f, 3.3e38f, 3.4e38f};

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
        printf("%2d %04x %04x %04x %04x %d%d  %04x %04x %04x %04x %d%d\n", i, bits(a), bits(a + b), bits(__hmul(a, b)),
               bits(__hfma(a, b, a)), __hlt(a, b), __hisnan(a - a), bits(c), bits(c + d), bits(__hmul(c, d)),
               bits(__hfma(c, d, c)), __hlt(c, d), __hisnan(c - c));
    }
    __half2 p = __floats2half2_rn(1.5f, -2.25f), q = __hfma2(p, p, __half2half2(__float2half(0.125f)));
    float2 f = __half22float2(__hadd2(p, q));
    printf("%g %g %g %d %d\n", f.x, f.y, __half2float(hsqrt(__high2half(q))), __half2int_rz(__low2half(p)),
           __half2int_rn(__float2half(2.5f)));
    __half sum = __int2half_rn(3);
    sum += __float2half(0.25f);
    sum *= __float2half(2);
    printf("%g %04x %04x\n", __half2float(sum), bits(__habs(-sum)), bits(__ushort_as_half(0x1234)));
}

__global__ void rounding()
{
    volatile float third = 1.0f / 3, seven = 7, tiny = 1e-9f, one = 1;
    volatile double d = 1.0 / 3;
    printf("%08x %08x %08x %08x\n", __float_as_int(__fadd_rn(one, tiny)), __float_as_int(__fadd_rz(one, -tiny)),
           __float_as_int(__fadd_ru(one, tiny)), __float_as_int(__fadd_rd(one, -tiny)));
    printf("%08x %08x %08x %08x\n", __float_as_int(__fmul_rn(third, third)), __float_as_int(__fmul_rz(third, third)),
           __float_as_int(__fmul_ru(third, third)), __float_as_int(__fmul_rd(third, -third)));
    printf("%08x %08x %08x %08x\n", __float_as_int(__fdiv_rn(one, seven)), __float_as_int(__fdiv_rz(one, seven)),
           __float_as_int(__fdiv_ru(one, seven)), __float_as_int(__fdiv_rd(one, seven)));
    printf("%08x %08x %08x %08x\n", __float_as_int(__fmaf_rn(third, third, tiny)),
           __float_as_int(__fmaf_rz(third, third, tiny)), __float_as_int(__fmaf_ru(third, third, tiny)),
           __float_as_int(__fsqrt_ru(seven)));
    printf("%g %g %g %g\n", __int2float_rz(16777217), __int2float_ru(16777217), __int2float_rd(-16777217),
           __double2float_ru(d) - __double2float_rd(d));
    printf("%llx %llx %llx\n", __double_as_longlong(__dadd_ru(d, 1e-30)), __double_as_longlong(__dmul_rz(d, d)),
           __double_as_longlong(__ddiv_rd(d, 3)));
    printf("%d %d %u %u\n", __hadd(-3, 4), __rhadd(-3, 4), __uhadd(~0u, ~0u), __urhadd(3, 4));
    printf("%d %u\n", __dp4a(0x01ff7f80, 0x02020202, 100), __dp4a(0x01ff7f80u, 0x02020202u, 100u));
}

__global__ void complex()
{
    cuFloatComplex a = make_cuFloatComplex(3, -4), b = make_cuComplex(0.5f, 2);
    cuFloatComplex product = cuCmulf(a, b), quotient = cuCdivf(a, b), sum = cuCfmaf(a, b, cuConjf(a));
    printf("%g %g  %g %g  %g %g  %g\n", product.x, product.y, quotient.x, quotient.y, sum.x, sum.y, cuCabsf(a));
    cuDoubleComplex d = cuCsub(cuComplexFloatToDouble(a), make_cuDoubleComplex(1, 1));
    printf("%g %g %g\n", cuCreal(d), cuCimag(d), cuCabs(d));
}

int main(void)
{
    halves<<<1, 1>>>();
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    rounding<<<1, 1>>>();
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    complex<<<1, 1>>>();
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
