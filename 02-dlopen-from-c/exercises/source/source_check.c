// Compiles the string with NVRTC, and launches the kernel for several sizes. cuLaunchKernel is a pointer (cuda_loader.h):
// here it points to a function that looks at the launch first.
// Built with: -Wl,-rpath,'$(NVRTC_FOLDER)'
#include "source.c"

#include "cpu/include/cpu_seen.h"
#include "exercise.h"
#include <dlfcn.h>
#include <errno.h>

static int (*real_launch)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                          unsigned, CUstream, void **, void **);
static CUdeviceptr x; // x, given_n and given_by: the arguments of the kernel
static size_t given_n;
static float given_by;
static void (*watch)(struct cpu_cuda_seen *, int); // of the stand-in, or NULL
static int error, launches; // error: is returned, and nothing is launched; 0: it is

static int look(CUfunction f, unsigned bx, unsigned by, unsigned bz, unsigned tx, unsigned ty,
                unsigned tz, unsigned shared, CUstream stream, void **arguments, void **extra)
{
    const char *look_at = "the arguments: the addresses of x, n and by in this order, each with "
                          "the type that the kernel reads there";
    size_t threads = (size_t)bx * by * bz * tx * ty * tz;
    launches++;
    for (int i = 0; i < 3; i++) // can anything be read there?
        if (!arguments || (access(arguments[i], F_OK) != 0 && errno == EFAULT))
            wrong(look_at, "cuLaunchKernel: argument %d of the kernel: got %p, which is no address",
                  i + 1, arguments ? arguments[i] : NULL);
    int is_x = *(CUdeviceptr *)arguments[0] == x;
    size_t n = *(size_t *)arguments[1];
    float by_came = *(float *)arguments[2];
    if (!is_x || n != given_n || by_came != given_by)
        wrong(look_at, "cuLaunchKernel: expected AddAll(x, %zu, %.9g), got AddAll(%s, %zu, %.9g)",
              given_n, given_by, is_x ? "x" : "not x", n, by_came);
    if (threads < given_n || threads > given_n + 2048)
        wrong("the number of blocks: n / THREADS, rounded up. Is an int too small on the way?",
              "%zu elements: got %u blocks of %u threads", given_n, bx, tx);
    return error ? error : real_launch(f, bx, by, bz, tx, ty, tz, shared, stream, arguments, extra);
}

static void run(CUfunction add_all, size_t n, double by)
{
    static float before[200000], after[200000];
    // Of more elements only the last block runs, and only its elements are there.
    size_t there = n > 200000 ? n % THREADS : n, bytes = there * sizeof(float);
    struct cpu_cuda_seen seen = {0};
    CUdeviceptr data;
    given_n = n, given_by = (float)by, launches = 0;
    for (size_t i = 0; i < 200000; i++)
        before[i] = (float)random_number(-1000, 1000);
    CHECK_CU(cuMemAlloc(&data, bytes));
    CHECK_CU(cuMemcpyHtoD(data, before, bytes));
    x = data - (n - there) * sizeof(float);
    if (watch)
        watch(&seen, there < n ? LAST_BLOCK : ALL_BLOCKS);
    int code = launch(add_all, x, n, by);
    if (launches != 1)
        wrong("launch(): cuLaunchKernel, once", "cuLaunchKernel was called %d times", launches);
    if (code != error)
        wrong("launch() returns what cuLaunchKernel returns. Is a block larger than 1024 threads?",
              "launch of %zu elements: expected code %d, got %d", n, error, code);
    if (cuCtxSynchronize() != 0 && there < n)
        wrong("line 3 of the kernel: is i a size_t, and the product, too? (size_t)blockIdx.x",
              "%zu elements: the last block is at a wrong place", n);
    CHECK_CU(cuMemcpyDtoH(after, data, bytes));
    for (size_t i = 0; i < there && !error; i++)
        if (after[i] != before[i] + (float)by)
            wrong("line 3 of the kernel: which element is this thread's?",
                  "x[%zu] of %zu: expected %g + %g, got %g", n - there + i, n, before[i], by,
                  after[i]);
    CHECK_CU(cuMemFree(data));
}

int main(void)
{
    static char ptx[10000000], log[100000];
    nvrtcProgram program;
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction add_all;
    load_cuda();
    CHECK_CU(cuInit(0));
    CHECK_CU(cuDeviceGet(&device, 0));
    CHECK_CU(cuDevicePrimaryCtxRetain(&context, device));
    CHECK_CU(cuCtxSetCurrent(context));
    CHECK_NVRTC(nvrtcCreateProgram(&program, source, "kernel.cu", 0, NULL, NULL));
    if (nvrtcCompileProgram(program, 0, NULL) != 0) {
        CHECK_NVRTC(nvrtcGetProgramLog(program, log));
        puts("  wrong    NVRTC finds an error in the string\n  look at  the log of NVRTC: "
             "\"kernel.cu(3)\" or \"kernel.cu:3\" is line 3 of the kernel");
        for (char *line = strtok(log, "\n"); line; line = strtok(NULL, "\n"))
            printf("  log      %s\n", line);
        return 1;
    }
    CHECK_NVRTC(nvrtcGetPTX(program, ptx));
    CHECK_CU(cuModuleLoadData(&module, ptx));
    if (cuModuleGetFunction(&add_all, module, "AddAll") != 0)
        wrong("the name: C++ makes another one of it, unless it is told not to",
              "the string compiles, but the module has no kernel of the name AddAll");
    real_launch = cuLaunchKernel;
    cuLaunchKernel = look;
    run(add_all, 256, 3);
    run(add_all, 1, random_number(1, 99));
    run(add_all, (size_t)random_number(150000, 200000), random_number(-99, -1) + 0.5);
    void *stand_in = dlopen("libcpu_cuda.so", RTLD_NOW | RTLD_NOLOAD);
    *(void **)&watch = stand_in ? dlsym(stand_in, "cpu_cuda_watch") : NULL;
    if (watch)
        run(add_all, ((size_t)1 << 33) + 5, 1); // more than an int holds
    error = random_number(2, 900);
    run(add_all, ((size_t)1 << 33) + 5, 1);
    return passed();
}
