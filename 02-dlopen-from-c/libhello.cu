// The kernel of stage 01 in a shared library with a C interface, for callers that know no CUDA.
// Build: make libhello.so
// Look:  nm -D --defined-only libhello.so
#include "check.h"

// extern "C": the name in the library is this name, not a C++ one. INTERFACE: visible to dlsym; all else is hidden.
#define INTERFACE extern "C" __attribute__((visibility("default")))

__global__ void HelloKernel(void)
{
    printf("Hello World From GPU!\n");
}

// Prints the greeting three times, from the GPU. Returns 0, or the cudaError_t that came first.
INTERFACE int hello_from_gpu(void)
{
    cudaError_t error = cudaSuccess;

    HelloKernel<<<1, 3>>>();
    CHECK_GOTO(error, cudaGetLastError(), cleanup);
    CHECK_GOTO(error, cudaDeviceSynchronize(), cleanup);

cleanup:
    fflush(stdout); // the caller may print by other means (Python does): what was printed first comes first
    return error;
}

// The name of a code that hello_from_gpu() returned, "cudaErrorNoDevice". Never NULL, never to be freed.
INTERFACE const char *hello_error_name(int code)
{
    return cudaGetErrorName((cudaError_t)code);
}

// The same code in words, "no CUDA-capable device is detected".
INTERFACE const char *hello_error_text(int code)
{
    return cudaGetErrorString((cudaError_t)code);
}
