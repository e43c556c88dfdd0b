// A kernel whose source is a string, compiled while the program runs: out = a * x + y, in plain C.
// NVRTC makes PTX and a cubin of it; the driver loads one of them and launches. No CUDA to build it.
// Build: make saxpy
// Run:   ./saxpy, ./saxpy ptx (load the PTX), ./saxpy broken, ./saxpy mangled (two that fail)
#include "cuda_loader.h"

#define THREADS 512 // a block
#define BLOCKS 32768

#define SIGNATURE \
    "__global__ void saxpy(float a, const float *x, const float *y, float *out, size_t n)\n"
#define BODY \
    "{\n" \
    "    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;\n" \
    "    if (i < n)\n" \
    "        out[i] = a * x[i] + y[i];\n" \
    "}\n"

static const char good_source[] = "extern \"C\" " SIGNATURE BODY;
static const char mangled_source[] = SIGNATURE BODY; // C++ makes another name of saxpy
static const char broken_source[] =
    "extern \"C\" " SIGNATURE "{\n    out[0] = a\n}\n"; // no semicolon

// What became of the source: a text for this GPU and newer ones, and machine code for this one.
struct compiled {
    char *ptx, *cubin;
    size_t ptx_bytes, cubin_bytes;
};

static void *allocate(size_t bytes)
{
    void *memory = malloc(bytes);
    if (!memory) {
        fprintf(stderr, "out of memory\n");
        exit(EXIT_FAILURE);
    }
    return memory;
}

// Compiles for the device. A source with errors ends the program, and the compiler's log says why.
static struct compiled compile(const char *source, CUdevice device)
{
    struct compiled result;
    nvrtcProgram program;
    size_t log_bytes;
    int major, minor;
    char architecture[40];

    CHECK_CU(cuDeviceGetAttribute(&major, COMPUTE_CAPABILITY_MAJOR, device));
    CHECK_CU(cuDeviceGetAttribute(&minor, COMPUTE_CAPABILITY_MINOR, device));
    snprintf(architecture, sizeof architecture, "--gpu-architecture=sm_%d%d", major, minor);
    // fmad: a GPU multiplies and adds with one rounding, if it may; the CPU to compare with has two
    const char *options[] = {architecture, "--fmad=false"};

    CHECK_NVRTC(nvrtcCreateProgram(&program, source, "saxpy.cu", 0, NULL, NULL));
    int code = nvrtcCompileProgram(program, 2, options);
    if (code != 0) {
        CHECK_NVRTC(nvrtcGetProgramLogSize(program, &log_bytes));
        char *log = allocate(log_bytes);
        CHECK_NVRTC(nvrtcGetProgramLog(program, log));
        fprintf(stderr, "%s", log);
        CHECK_NVRTC(code);
    }
    CHECK_NVRTC(nvrtcGetPTXSize(program, &result.ptx_bytes));
    result.ptx = allocate(result.ptx_bytes);
    CHECK_NVRTC(nvrtcGetPTX(program, result.ptx));
    CHECK_NVRTC(nvrtcGetCUBINSize(program, &result.cubin_bytes));
    result.cubin = allocate(result.cubin_bytes);
    CHECK_NVRTC(nvrtcGetCUBIN(program, result.cubin));
    CHECK_NVRTC(nvrtcDestroyProgram(&program));

    int is_text = strlen(result.ptx) + 1 == result.ptx_bytes;
    int is_elf = memcmp(result.cubin, "\177ELF", 4) == 0; // the format of programs, on Linux
    printf("PTX: %zu bytes%s\n", result.ptx_bytes - 1, is_text ? " of text" : "");
    printf("cubin: %s%zu bytes, for sm_%d%d\n", is_elf ? "an ELF file of " : "", result.cubin_bytes,
           major, minor);
    return result;
}

// Runs saxpy on n floats, and returns how many results are equal to the CPU's.
static size_t run(CUfunction saxpy, size_t n)
{
    size_t bytes = n * sizeof(float), right = 0;
    float a = 2.5f, *x = allocate(bytes), *y = allocate(bytes), *out = allocate(bytes);
    CUdeviceptr d_x, d_y, d_out;

    for (size_t i = 0; i < n; i++) {
        x[i] = (float)rand() / (float)RAND_MAX;
        y[i] = (float)rand() / (float)RAND_MAX;
    }
    CHECK_CU(cuMemAlloc(&d_x, bytes));
    CHECK_CU(cuMemAlloc(&d_y, bytes));
    CHECK_CU(cuMemAlloc(&d_out, bytes));
    CHECK_CU(cuMemcpyHtoD(d_x, x, bytes));
    CHECK_CU(cuMemcpyHtoD(d_y, y, bytes));

    // The address of each argument, in order. Nobody checks their types: a float is 4 bytes here.
    void *arguments[] = {&a, &d_x, &d_y, &d_out, &n};
    CHECK_CU(cuLaunchKernel(saxpy, BLOCKS, 1, 1, THREADS, 1, 1, 0, NULL, arguments, NULL));
    CHECK_CU(cuCtxSynchronize());
    CHECK_CU(cuMemcpyDtoH(out, d_out, bytes));

    for (size_t i = 0; i < n; i++)
        right += out[i] == a * x[i] + y[i];
    CHECK_CU(cuMemFree(d_out));
    CHECK_CU(cuMemFree(d_y));
    CHECK_CU(cuMemFree(d_x));
    free(out);
    free(y);
    free(x);
    return right;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "cubin", *source = good_source;
    if (strcmp(mode, "broken") == 0)
        source = broken_source;
    else if (strcmp(mode, "mangled") == 0)
        source = mangled_source;
    else if (strcmp(mode, "cubin") != 0 && strcmp(mode, "ptx") != 0) {
        fprintf(stderr, "./saxpy [cubin|ptx|broken|mangled]\n");
        return 2;
    }
    const size_t n = (size_t)BLOCKS * THREADS;
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction saxpy;

    setvbuf(stdout, NULL, _IOLBF, 0); // each line at once, also into a pipe
    load_cuda();
    CHECK_CU(cuInit(0));
    CHECK_CU(cuDeviceGet(&device, 0));
    CHECK_CU(
        cuDevicePrimaryCtxRetain(&context, device)); // the context that the runtime uses as well
    CHECK_CU(cuCtxSetCurrent(context));

    struct compiled code = compile(source, device);
    const char *image = strcmp(mode, "ptx") == 0 ? code.ptx : code.cubin;
    CHECK_CU(cuModuleLoadData(&module, image));
    printf("the %s is loaded\n", memcmp(image, "\177ELF", 4) == 0 ? "cubin" : "PTX");
    CHECK_CU(cuModuleGetFunction(&saxpy, module, "saxpy"));
    size_t right = run(saxpy, n);
    printf("%zu of %zu right\n", right, n);

    CHECK_CU(cuModuleUnload(module));
    CHECK_CU(cuDevicePrimaryCtxRelease(device));
    free(code.cubin);
    free(code.ptx);
    return right == n ? 0 : 1;
}
