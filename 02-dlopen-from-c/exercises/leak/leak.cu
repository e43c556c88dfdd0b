// Exercise leak: find the bug. On the author's machine all images became gray, and no call ever failed.
// Check: make exercises EXERCISE=leak
#include "check.h"

__global__ void Gray(const unsigned char *rgb, unsigned char *gray, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        gray[i] = (rgb[3 * i] + rgb[3 * i + 1] + rgb[3 * i + 2]) / 3;
}

// gray[i] = the mean of red, green and blue of pixel i, for n > 0 pixels in host memory: rgb has 3 bytes a pixel, gray
// has 1. Returns 0, or the code of the first CUDA call that failed. In both cases nothing stays allocated on the device.
int to_gray(const unsigned char *rgb, unsigned char *gray, int n)
{
    cudaError_t error = cudaSuccess;
    unsigned char *d_rgb = NULL, *d_gray = NULL;
    size_t bytes = n;

    error = cudaMalloc(&d_rgb, 3 * bytes);
    if (error != cudaSuccess)
        return error;
    error = cudaMalloc(&d_gray, bytes);
    if (error != cudaSuccess)
        goto cleanup; // was: return error;
    CHECK_GOTO(error, cudaMemcpy(d_rgb, rgb, 3 * bytes, cudaMemcpyHostToDevice), cleanup);
    Gray<<<(n - 1) / 256 + 1, 256>>>(d_rgb, d_gray, n);
    CHECK_GOTO(error, cudaGetLastError(), cleanup);
    CHECK_GOTO(error, cudaMemcpy(gray, d_gray, bytes, cudaMemcpyDeviceToHost), cleanup);
cleanup:
    cudaFree(d_gray);
    cudaFree(d_rgb);
    return error;
}
