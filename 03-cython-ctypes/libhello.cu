// The kernel of stage 01 in a shared library with a C interface, for callers that know no CUDA.
// Build: make libhello.so
// Look:  nm -D --defined-only libhello.so
#include "check.h"

// extern "C": the name in the library is this name, not one that C++ makes of it.
// visibility: dlsym finds it. All else in the library is hidden (-fvisibility=hidden).
#define INTERFACE extern "C" __attribute__((visibility("default")))

__global__ void HelloKernel(void)
{
    printf("Hello World From GPU!\n");
}

// Prints the greeting three times, from the GPU. Returns 0, or the cudaError_t that came first.
INTERFACE int hello_from_gpu(void)
{
    cudaError_t error = cudaSuccess;

    cudaGetLastError(); // an older error, somebody else's, is not this launch's
    HelloKernel<<<1, 3>>>();
    CHECK_GOTO(error, cudaGetLastError(), cleanup);
    CHECK_GOTO(error, cudaDeviceSynchronize(), cleanup);

cleanup:
    fflush(stdout); // Python prints by other means: what was printed first has to come first
    return error;
}

// The name of a code that hello_from_gpu() returned: "cudaErrorNoDevice". Not to be freed.
INTERFACE const char *hello_error_name(int code)
{
    return cudaGetErrorName((cudaError_t)code);
}

// The same code in words: "no CUDA-capable device is detected".
INTERFACE const char *hello_error_text(int code)
{
    return cudaGetErrorString((cudaError_t)code);
}
