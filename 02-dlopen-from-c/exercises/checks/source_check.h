// The check of exercise 4: compiles the string with NVRTC, prints its log if that fails, loads the kernel, and calls
// launch() for several sizes.
#include "exercise.h"

#include "cuda_loader.h"

extern const char source[];
int launch(CUfunction add_all, CUdeviceptr x, size_t n, double by);

// The log of the compiler, with two spaces in front of each line.
static void print_log(nvrtcProgram program)
{
    size_t bytes;
    CHECK_NVRTC(nvrtcGetProgramLogSize(program, &bytes));
    char *log = calloc(bytes + 1, 1);
    if (!log)
        exit(1);
    CHECK_NVRTC(nvrtcGetProgramLog(program, log));
    for (char *line = strtok(log, "\n"); line; line = strtok(NULL, "\n"))
        printf("  %s\n", line);
    free(log);
}

// The source as machine code for the device.
static char *compile(CUdevice device)
{
    nvrtcProgram program;
    int major, minor;
    size_t bytes;
    char architecture[40];
    CHECK_CU(cuDeviceGetAttribute(&major, COMPUTE_CAPABILITY_MAJOR, device));
    CHECK_CU(cuDeviceGetAttribute(&minor, COMPUTE_CAPABILITY_MINOR, device));
    snprintf(architecture, sizeof architecture, "--gpu-architecture=sm_%d%d", major, minor);
    const char *options[] = {architecture};
    CHECK_NVRTC(nvrtcCreateProgram(&program, source, "kernel.cu", 0, NULL, NULL));
    if (nvrtcCompileProgram(program, 1, options) != 0) {
        printf("  wrong    NVRTC finds an error in the string\n"
               "  look at  NVRTC's log. \"kernel.cu(3)\", or \"kernel.cu:3\", is line 3 of the "
               "kernel\n");
        print_log(program);
        fflush(stdout);
        _exit(1);
    }
    CHECK_NVRTC(nvrtcGetCUBINSize(program, &bytes));
    char *cubin = malloc(bytes);
    if (!cubin)
        exit(1);
    CHECK_NVRTC(nvrtcGetCUBIN(program, cubin));
    CHECK_NVRTC(nvrtcDestroyProgram(&program));
    return cubin;
}

static int launches, wanted_error; // this error is given back, and nothing is launched; 0: it is
static size_t given_n;             // to launch()

static int seen_launch(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                       unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                       unsigned int block_z, unsigned int shared_bytes, CUstream stream,
                       void **arguments, void **extra)
{
    size_t threads = (size_t)grid_x * block_x;
    launches++;
    if (arguments && *(size_t *)arguments[1] != given_n)
        wrong("the type of n, a size_t; and are the arguments in their order?",
              "launch of %zu elements: the kernel gets n = %zu", given_n, *(size_t *)arguments[1]);
    if (threads < given_n || threads > given_n + 2048)
        wrong("the number of blocks: n / THREADS, rounded up. Has n become an int on the way?",
              "launch of %zu elements: came %u blocks of %u threads", given_n, grid_x, block_x);
    if (shared_bytes)
        wrong("the arguments of cuLaunchKernel, in their order: the kernel uses no shared memory",
              "launch of %zu elements: came %u bytes of shared memory", given_n, shared_bytes);
    if (wanted_error)
        return wanted_error;
    return cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes,
                          stream, arguments, extra);
}

// Launches for n elements, and compares. Behind them are elements that nobody may change.
static void run(CUfunction add_all, size_t n, double by)
{
    enum { MARGIN = 1000 };
    size_t bytes = (n + MARGIN) * sizeof(float);
    float *x = malloc(bytes), *came = malloc(bytes);
    CUdeviceptr d_x;
    if (!x || !came)
        exit(1);
    for (size_t i = 0; i < n + MARGIN; i++)
        x[i] = (float)random_number(-1000, 1000);
    CHECK_CU(cuMemAlloc(&d_x, bytes));
    CHECK_CU(cuMemcpyHtoD(d_x, x, bytes));
    launches = 0;
    given_n = n;
    int code = launch(add_all, d_x, n, by);
    if (code == 0)
        code = cuCtxSynchronize();
    const char *name = "?";
    cuGetErrorName(code, &name);
    if (code != wanted_error)
        wrong(wanted_error
                  ? "launch() returns what cuLaunchKernel returns"
                  : "are there as many blocks and threads as are needed, and all arguments "
                    "in their order?",
              "launch of %zu elements: expected code %d, came %d, %s", n, wanted_error, code, name);
    CHECK_CU(cuMemcpyDtoH(came, d_x, bytes));
    for (size_t i = 0; i < n + MARGIN && !wanted_error; i++) {
        float expected = i < n ? x[i] + (float)by : x[i];
        if (came[i] == expected)
            continue;
        if (i >= n)
            wrong(
                "the guard i < n, and the type of n: is it the same in launch() and in the kernel?",
                "x has %zu elements, and somebody wrote to element %zu", n, i);
        if (launches != 1)
            wrong("launch(): cuLaunchKernel, once", "cuLaunchKernel was called %d times", launches);
        if (came[i] != x[i])
            wrong("the arguments: the kernel reads a float where the address of `by` points. What "
                  "type lies there?",
                  "x[%zu] of %zu: expected %g + %g, came %g", i, n, x[i], by, came[i]);
        wrong(
            "is the number of blocks rounded up, and has each argument the kernel's type? `by` is "
            "a double in launch()",
            "x[%zu] of %zu: expected %g + %g, came %g, as it was", i, n, x[i], by, came[i]);
    }
    CHECK_CU(cuMemFree(d_x));
    free(came);
    free(x);
}

int main(void)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction add_all;

    load_cuda();
    CHECK_CU(cuInit(0));
    CHECK_CU(cuDeviceGet(&device, 0));
    CHECK_CU(cuDevicePrimaryCtxRetain(&context, device));
    CHECK_CU(cuCtxSetCurrent(context));
    char *cubin = compile(device);
    CHECK_CU(cuModuleLoadData(&module, cubin));
    if (cuModuleGetFunction(&add_all, module, "AddAll") != 0)
        wrong("the name: C++ makes another one of it, unless it is told not to",
              "the string compiles, but the module has no kernel of the name AddAll");

    run(add_all, 256, 3);
    run(add_all, 1000, random_number(1, 99) + 0.5);
    run(add_all, 1, random_number(1, 99));
    run(add_all, (size_t)random_number(150000, 200000), random_number(-99, -1));
    wanted_error = random_number(2, 900);
    run(add_all, 10, 1);
    given_n = ((size_t)1 << 33) + 5; // more than an int holds; seen_launch looks at it
    launch(add_all, 0, given_n, 1);

    CHECK_CU(cuModuleUnload(module));
    CHECK_CU(cuDevicePrimaryCtxRelease(device));
    free(cubin);
    return passed();
}

#define cuLaunchKernel seen_launch
