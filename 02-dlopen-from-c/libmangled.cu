// libhello.cu without extern "C": C++ makes another name of hello_from_gpu, and nobody finds it.
// Build: make libmangled.so
// Look:  nm -D --defined-only libmangled.so
#include "check.h"

__global__ void HelloKernel(void)
{
    printf("Hello World From GPU!\n");
}

__attribute__((visibility("default"))) int hello_from_gpu(void)
{
    cudaError_t error = cudaSuccess;

    cudaGetLastError();
    HelloKernel<<<1, 3>>>();
    CHECK_GOTO(error, cudaGetLastError(), cleanup);
    CHECK_GOTO(error, cudaDeviceSynchronize(), cleanup);

cleanup:
    fflush(stdout);
    return error;
}
