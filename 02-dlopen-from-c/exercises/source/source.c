// Exercise source: a kernel whose source is a string.
// Check: make exercises EXERCISE=source
#include "cuda_loader.h"

#define THREADS 128 // a block

// x[i] += by, for 0 <= i < n. The check compiles this string with NVRTC, and finds the kernel by its name, "AddAll".
const char source[] =
    // YOUR LINES, about 1: a string that comes before the first line of the kernel, so that its name stays as it is.
    "extern \"C\" "
    // END OF YOUR LINES
    "__global__ void AddAll(float *x, size_t n, float by)\n"
    "{\n"
    // YOUR LINES, about 1: a line that is missing in the kernel. NVRTC's log says what it lacks.
    "    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;\n"
    // END OF YOUR LINES
    "    if (i < n)\n"
    "        x[i] += by;\n"
    "}\n";

// Launches the kernel for n > 0 elements. Returns the code of the driver's call.
int launch(CUfunction add_all, CUdeviceptr x, size_t n, double by)
{
    int code = 0;
    // YOUR LINES, about 4: the number of blocks, the address of each argument, cuLaunchKernel. Nobody compares the
    // types of the arguments with those of the kernel.
    unsigned int blocks = (unsigned int)((n + THREADS - 1) / THREADS);
    float by_as_float = (float)by;
    void *arguments[] = {&x, &n, &by_as_float};
    code = cuLaunchKernel(add_all, blocks, 1, 1, THREADS, 1, 1, 0, NULL, arguments, NULL);
    // END OF YOUR LINES
    return code;
}
