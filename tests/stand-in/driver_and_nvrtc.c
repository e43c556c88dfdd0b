// The driver and NVRTC, opened by dlopen as a program does that was built without CUDA.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *driver, *nvrtc;
typedef int Call();

static Call *find(const char *name)
{
    void *call = dlsym(strncmp(name, "nvrtc", 5) == 0 ? nvrtc : driver, name);
    if (!call) {
        printf("%s is missing\n", name);
        exit(1);
    }
    return (Call *)call;
}
#define NVRTC(name, ...) printf("%-30s %d\n", #name, find(#name)(__VA_ARGS__))
#define DRIVER(name, ...) show(#name, find(#name)(__VA_ARGS__))

static void show(const char *name, int error)
{
    const char *text = NULL;
    find("cuGetErrorName")(error, &text);
    printf("%-30s %d %s\n", name, error, text);
}

static const char good[] =
    "extern \"C\" __global__ void saxpy(float a, const float *x, float *y, size_t n)\n"
    "{\n"
    "    size_t i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n)\n"
    "        y[i] += a * x[i];\n"
    "}\n"
    "__global__ void mangled(int *p) { *p = 1; }\n";

static char *output(void *program, const char *get_size, const char *get, size_t *bytes)
{
    find(get_size)(program, bytes);
    char *text = malloc(*bytes + 1);
    find(get)(program, text);
    return text;
}

static void compile_wrong(const char *source, const char *words)
{
    void *program;
    size_t bytes;
    find("nvrtcCreateProgram")(&program, source, "wrong.cu", 0, NULL, NULL);
    NVRTC(nvrtcCompileProgram, program, 0, NULL);
    const char *log = output(program, "nvrtcGetProgramLogSize", "nvrtcGetProgramLog", &bytes);
    printf("its log names the place: %d, and %s: %d\n", !!strstr(log, "wrong.cu"), words, !!strstr(log, words));
    NVRTC(nvrtcDestroyProgram, &program);
}

static void run(void *function)
{
    float x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, y[8] = {0}, a = 2;
    unsigned long long device_x, device_y;
    size_t n = 8;
    void *arguments[] = {&a, &device_x, &device_y, &n};
    DRIVER(cuMemAlloc_v2, &device_x, sizeof x);
    DRIVER(cuMemAlloc_v2, &device_y, sizeof y);
    DRIVER(cuMemcpyHtoD_v2, device_x, x, sizeof x);
    DRIVER(cuMemcpyHtoD_v2, device_y, x, sizeof x);
    int asked[] = {11, 12}; // CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, _SIZE
    unsigned long long start = 1;
    size_t size = 1;
    void *answers[] = {&start, &size};
    DRIVER(cuPointerGetAttributes, 2, asked, answers, device_x + 4);
    printf("its start: %d, all its bytes: %d\n", start == device_x, size >= sizeof x);
    start = 1, size = 2;
    DRIVER(cuPointerGetAttributes, 2, asked, answers, (unsigned long long)x);
    printf("the host's, as it was: %llu %zu\n", start, size);
    DRIVER(cuLaunchKernel, function, 2, 1, 1, 4, 1, 1, 0, NULL, arguments, NULL);
    DRIVER(cuCtxSynchronize);
    DRIVER(cuMemcpyDtoH_v2, y, device_y, sizeof y);
    printf("saxpy: %g %g\n", y[0], y[7]);
    DRIVER(cuLaunchKernel, function, 2, 1, 1, 2000, 1, 1, 0, NULL, arguments, NULL);
    DRIVER(cuMemcpyHtoD_v2, device_x, x, sizeof x + 1);
    DRIVER(cuMemFree_v2, device_x);
    DRIVER(cuMemFree_v2, device_x);
    DRIVER(cuMemFree_v2, 0ull);
    DRIVER(cuMemFree_v2, device_y);
}

int main(void)
{
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    nvrtc = dlopen("libnvrtc.so.13", RTLD_NOW);
    if (!driver || !nvrtc) {
        puts(dlerror());
        return 1;
    }

    int count, device, major, minor;
    unsigned long long pointer;
    void *context, *module, *function, *program;
    const char *text;
    DRIVER(cuDeviceGetCount, &count);
    DRIVER(cuMemAlloc_v2, &pointer, (size_t)4);
    DRIVER(cuInit, 1);
    DRIVER(cuInit, 0);
    DRIVER(cuDeviceGet, &device, 0);
    DRIVER(cuDeviceGet, &device, 99);
    DRIVER(cuMemAlloc_v2, &pointer, (size_t)4);
    DRIVER(cuDevicePrimaryCtxRetain, &context, 0);
    DRIVER(cuMemAlloc_v2, &pointer, (size_t)4);
    DRIVER(cuCtxSetCurrent, context);
    DRIVER(cuMemAlloc_v2, &pointer, (size_t)0);
    DRIVER(cuGetErrorString, 12345, &text);
    DRIVER(cuDeviceGetAttribute, &major, 75, 0);
    DRIVER(cuDeviceGetAttribute, &minor, 76, 0);

    char architecture[64];
    snprintf(architecture, sizeof architecture, "--gpu-architecture=sm_%d%d", major, minor);
    const char *options[] = {architecture, "--nope", "--gpu-architecture=compute_80"};
    size_t bytes;
    NVRTC(nvrtcCreateProgram, &program, good, "saxpy.cu", 0, NULL, NULL);
    NVRTC(nvrtcCompileProgram, program, 1, options + 1);
    NVRTC(nvrtcCompileProgram, program, 1, options);
    output(program, "nvrtcGetProgramLogSize", "nvrtcGetProgramLog", &bytes);
    printf("log: %zu byte\n", bytes);
    const char *ptx = output(program, "nvrtcGetPTXSize", "nvrtcGetPTX", &bytes);
    printf("PTX: a text, %d, that begins with //: %d\n", strlen(ptx) + 1 == bytes, !strncmp(ptx, "//", 2));
    const char *cubin = output(program, "nvrtcGetCUBINSize", "nvrtcGetCUBIN", &bytes);
    printf("cubin: an ELF file: %d\n", !memcmp(cubin, "\177ELF", 4));
    NVRTC(nvrtcDestroyProgram, &program);
    NVRTC(nvrtcCreateProgram, &program, good, "saxpy.cu", 0, NULL, NULL);
    NVRTC(nvrtcCompileProgram, program, 1, options + 2);
    output(program, "nvrtcGetCUBINSize", "nvrtcGetCUBIN", &bytes);
    printf("cubin of compute_80: %zu bytes\n", bytes);
    NVRTC(nvrtcDestroyProgram, &program);
    printf("no program: %d\n", program == NULL);
    compile_wrong("#include <stdint.h>\n__global__ void k() {}\n", "stdint.h");
    compile_wrong("__global__ void k(int *p)\n{\n    *p = nothing;\n}\n", "nothing");

    DRIVER(cuModuleLoadData, &module, cubin);
    DRIVER(cuModuleGetFunction, &function, module, "nothing");
    DRIVER(cuModuleGetFunction, &function, module, "mangled");
    DRIVER(cuModuleGetFunction, &function, module, "_Z7mangledPi");
    DRIVER(cuModuleGetFunction, &function, module, "saxpy");
    run(function);
    DRIVER(cuModuleUnload, module);
    DRIVER(cuModuleLoadData, &module, "no image");
    DRIVER(cuModuleLoadData, &module, ptx);
    DRIVER(cuModuleGetFunction, &function, module, "saxpy");
    run(function);
    DRIVER(cuModuleUnload, module);
    DRIVER(cuDevicePrimaryCtxRelease_v2, 0);
    return 0;
}
