// Two results from one kernel: the sum and the difference of two arrays.
// Build: make libboth.so
// Run:   python3 both.py
#include <cuda_runtime.h>

const int THREADS = 256; // a block

__global__ void Both(const double *x, const double *y, double *sum, double *difference, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        sum[i] = x[i] + y[i];
        difference[i] = x[i] - y[i];
    }
}

// For arrays of n numbers that the GPU reaches. Only launches, on `stream`; returns the launch's code, or 0.
extern "C" __attribute__((visibility("default"))) int
both(const double *x, const double *y, double *sum, double *difference, size_t n, void *stream)
{
    if (n == 0)
        return cudaSuccess;
    Both<<<(n - 1) / THREADS + 1, THREADS, 0, (cudaStream_t)stream>>>(x, y, sum, difference, n);
    return cudaGetLastError();
}
