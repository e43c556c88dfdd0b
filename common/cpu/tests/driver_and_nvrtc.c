// The driver and NVRTC, opened by dlopen as a program does that was built without CUDA.
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
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
#define OK(name, ...) FAILS(0, SUCCESS, name, __VA_ARGS__)
#define FAILS(error, error_name, name, ...) \
    expect(#name, __LINE__, find(#name)(__VA_ARGS__), error, #error_name)
#define NVRTC(error, name, ...) expect(#name, __LINE__, find(#name)(__VA_ARGS__), error, NULL)
#define IS(what) expect(#what, __LINE__, what, 1, NULL)

static int differences;

// The number has to be this one, and of the driver's error the name, too.
static void expect(const char *what, int line, int got, int wanted, const char *error_name)
{
    const char *text = NULL;
    if (error_name)
        find("cuGetErrorName")(got, &text);
    bool has_name = !error_name ||
                    (text && strcmp(text + strlen(got ? "CUDA_ERROR_" : "CUDA_"), error_name) == 0);
    if (got == wanted && has_name)
        return;
    differences++;
    printf("line %d: %s: %d %s, not %d\n", line, what, got, text ? text : "", wanted);
}

static const char good[] =
    "extern \"C\" __global__ void saxpy(float a, const float *x, float *y, size_t n)\n"
    "{\n"
    "    size_t i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n)\n"
    "        y[i] += a * x[i];\n"
    "}\n"
    "extern \"C\" __device__ int helper(int n) { return n + 1; }\n"
    "__global__ void mangled(int *p) { *p = helper(0); }\n";

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
    NVRTC(6, nvrtcCompileProgram, program, 0, NULL);
    const char *log = output(program, "nvrtcGetProgramLogSize", "nvrtcGetProgramLog", &bytes);
    IS(strstr(log, "wrong.cu") && strstr(log, words));
    NVRTC(0, nvrtcDestroyProgram, &program);
}

// Which context is current, each thread has to say for itself.
static void *in_another_thread(void *unused)
{
    void *pointer;
    FAILS(201, INVALID_CONTEXT, cuMemAlloc_v2, &pointer, (size_t)4);
    return unused;
}

// A template's kernel and a variable by name expressions, and a header that is given as a text.
static void run_by_name(void)
{
    const char *source = "#include <two.h>\ntemplate <class T, int N> __global__ void set(T *p) { "
                         "*p = N * factor + table[N % 2]; }\n";
    const char *texts[] = {"#pragma once\n#include \"factor.h\"\nusing namespace own;\n"
                           "const int table[] = {100, 200};\n",
                           "namespace own { __constant__ int factor = 2; }\n"},
               *names[] = {"two.h", "factor.h"}, *kernel, *variable;
    void *program, *module, *function;
    unsigned long long p, there;
    size_t bytes;
    int value = 10;
    NVRTC(0, nvrtcCreateProgram, &program, source, "by_name.cu", 2, texts, names);
    NVRTC(9, nvrtcGetLoweredName, program, "set<int, 3>", &kernel);
    NVRTC(0, nvrtcAddNameExpression, program, "set<int, 3>");
    NVRTC(0, nvrtcAddNameExpression, program, "&own::factor");
    NVRTC(4, nvrtcAddNameExpression, NULL, "set");
    NVRTC(3, nvrtcAddNameExpression, program, NULL);
    NVRTC(0, nvrtcCompileProgram, program, 0, NULL);
    NVRTC(8, nvrtcAddNameExpression, program, "set<int, 4>");
    NVRTC(10, nvrtcGetLoweredName, program, "set<int, 4>", &kernel);
    NVRTC(0, nvrtcGetLoweredName, program, "&own::factor", &variable);
    IS(strcmp(variable, "_ZN3own6factorE") == 0);
    NVRTC(0, nvrtcGetLoweredName, program, "set<int, 3>", &kernel);
    IS(strcmp(kernel, "_Z3setIiLi3EEvPT_") == 0);
    OK(cuModuleLoadData, &module, output(program, "nvrtcGetPTXSize", "nvrtcGetPTX", &bytes));
    OK(cuModuleGetFunction, &function, module, kernel);
    FAILS(1, INVALID_VALUE, cuModuleGetGlobal_v2, &there, &bytes, module, kernel);
    OK(cuModuleGetGlobal_v2, &there, &bytes, module, variable);
    IS(bytes == sizeof value);
    OK(cuMemcpyHtoD_v2, there, &value, bytes);
    OK(cuMemAlloc_v2, &p, sizeof value);
    void *arguments[] = {&p};
    OK(cuLaunchKernel, function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL);
    OK(cuMemcpyDtoH_v2, &value, p, sizeof value);
    IS(value == 230);
    OK(cuMemFree_v2, p);
    OK(cuModuleUnload, module);
    NVRTC(0, nvrtcDestroyProgram, &program);
}

static void run(void *function)
{
    float x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, y[8] = {0}, a = 2;
    unsigned long long device_x, device_y;
    size_t n = 8;
    void *arguments[] = {&a, &device_x, &device_y, &n};
    OK(cuMemAlloc_v2, &device_x, sizeof x);
    OK(cuMemAlloc_v2, &device_y, sizeof y);
    OK(cuMemcpyHtoD_v2, device_x, x, sizeof x);
    OK(cuMemcpyHtoD_v2, device_y, x, sizeof x);
    int asked[] = {11, 12}; // CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, _SIZE
    unsigned long long start = 1;
    size_t size = 1;
    void *answers[] = {&start, &size};
    OK(cuPointerGetAttributes, 2, asked, answers, device_x + 4);
    IS(start == device_x && size >= sizeof x);
    start = 1, size = 2;
    OK(cuPointerGetAttributes, 2, asked, answers, (unsigned long long)x);
    IS(start == 1 && size == 2); // of the host's: as it was
    OK(cuLaunchKernel, function, 2, 1, 1, 4, 1, 1, 0, NULL, arguments, NULL);
    OK(cuCtxSynchronize);
    OK(cuMemcpyDtoH_v2, y, device_y, sizeof y);
    IS(y[0] == 3 && y[7] == 24);
    FAILS(1, INVALID_VALUE, cuLaunchKernel, function, 2, 1, 1, 2000, 1, 1, 0, NULL, arguments,
          NULL);
    FAILS(1, INVALID_VALUE, cuMemcpyHtoD_v2, device_x, x, sizeof x + 1);
    OK(cuMemFree_v2, device_x);
    FAILS(1, INVALID_VALUE, cuMemFree_v2, device_x);
    OK(cuMemFree_v2, 0ull);
    OK(cuMemFree_v2, device_y);
}

// Makes a context, and finds out the option for this GPU.
static void begin(char *architecture, size_t size)
{
    int count, device, major, minor;
    unsigned long long pointer;
    void *context;
    const char *text;
    FAILS(3, NOT_INITIALIZED, cuDeviceGetCount, &count);
    FAILS(3, NOT_INITIALIZED, cuMemAlloc_v2, &pointer, (size_t)4);
    FAILS(1, INVALID_VALUE, cuInit, 1);
    OK(cuInit, 0);
    FAILS(1, INVALID_VALUE, cuInit, 1); // and it stays initialised
    OK(cuDeviceGet, &device, 0);
    FAILS(101, INVALID_DEVICE, cuDeviceGet, &device, 99);
    FAILS(201, INVALID_CONTEXT, cuMemAlloc_v2, &pointer, (size_t)4);
    OK(cuDevicePrimaryCtxRetain, &context, 0);
    FAILS(201, INVALID_CONTEXT, cuMemAlloc_v2, &pointer, (size_t)4);
    OK(cuCtxSetCurrent, context);
    pthread_t thread;
    pthread_create(&thread, NULL, in_another_thread, NULL);
    pthread_join(thread, NULL);
    FAILS(1, INVALID_VALUE, cuMemAlloc_v2, &pointer, (size_t)0);
    FAILS(1, INVALID_VALUE, cuGetErrorString, 12345, &text);
    OK(cuDeviceGetAttribute, &major, 75, 0);
    OK(cuDeviceGetAttribute, &minor, 76, 0);
    snprintf(architecture, size, "--gpu-architecture=sm_%d%d", major, minor);
}

static void know_newer_architectures()
{
    static const char *options[] = {"--gpu-architecture=sm_90a", "-arch=sm_100", "--gpu-architecture=sm_120f"};
    const int numbers[] = {900, 1000, 1200};
    for (int i = 0; i < 3; i++) {
        char source[99];
        void *program;
        snprintf(source, sizeof source, "#if __CUDA_ARCH__ != %d\n#error\n#endif\n", numbers[i]);
        NVRTC(0, nvrtcCreateProgram, &program, source, "newer.cu", 0, NULL, NULL);
        NVRTC(0, nvrtcCompileProgram, program, 1, options + i);
        NVRTC(0, nvrtcDestroyProgram, &program);
    }
}

static void compile_and_load(const char *architecture)
{
    void *module, *function, *program;
    const char *options[] = {architecture, "--nope", "--gpu-architecture=compute_80"};
    size_t bytes;
    NVRTC(0, nvrtcCreateProgram, &program, good, "saxpy.cu", 0, NULL, NULL);
    NVRTC(5, nvrtcCompileProgram, program, 1, options + 1);
    NVRTC(0, nvrtcCompileProgram, program, 1, options);
    output(program, "nvrtcGetProgramLogSize", "nvrtcGetProgramLog", &bytes);
    IS(bytes == 1);
    const char *ptx = output(program, "nvrtcGetPTXSize", "nvrtcGetPTX", &bytes);
    IS(strlen(ptx) + 1 == bytes && strncmp(ptx, "//", 2) == 0);
    const char *cubin = output(program, "nvrtcGetCUBINSize", "nvrtcGetCUBIN", &bytes);
    IS(memcmp(cubin, "\177ELF", 4) == 0);
    const char *broken[] = {architecture, "-Dhelper=1"};
    NVRTC(6, nvrtcCompileProgram, program, 2, broken); // and nothing of the first is left
    IS(find("nvrtcGetPTXSize")(program, &bytes) != 0 || bytes <= 1);
    NVRTC(0, nvrtcDestroyProgram, &program);
    NVRTC(0, nvrtcCreateProgram, &program, good, "saxpy.cu", 0, NULL, NULL);
    NVRTC(0, nvrtcCompileProgram, program, 1, options + 2);
    output(program, "nvrtcGetCUBINSize", "nvrtcGetCUBIN", &bytes);
    IS(bytes == 0); // of compute_80
    NVRTC(0, nvrtcDestroyProgram, &program);
    IS(program == NULL);
    compile_wrong("#include <stdint.h>\n__global__ void k() {}\n", "stdint.h");
    compile_wrong("__global__ void k(int *p)\n{\n    *p = nothing;\n}\n", "nothing");

    OK(cuModuleLoadData, &module, cubin);
    FAILS(500, NOT_FOUND, cuModuleGetFunction, &function, module, "nothing");
    FAILS(500, NOT_FOUND, cuModuleGetFunction, &function, module, "mangled");
    FAILS(500, NOT_FOUND, cuModuleGetFunction, &function, module, "helper");
    OK(cuModuleGetFunction, &function, module, "_Z7mangledPi");
    OK(cuModuleGetFunction, &function, module, "saxpy");
    run(function);
    OK(cuModuleUnload, module);
    FAILS(200, INVALID_IMAGE, cuModuleLoadData, &module, "no image");
    OK(cuModuleLoadData, &module, ptx);
    OK(cuModuleGetFunction, &function, module, "saxpy");
    run(function);
    OK(cuModuleUnload, module);
}

int main(void)
{
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    nvrtc = dlopen("libnvrtc.so.13", RTLD_NOW);
    if (!driver || !nvrtc) {
        puts(dlerror());
        return 1;
    }
    char architecture[64];
    begin(architecture, sizeof architecture);
    know_newer_architectures();
    compile_and_load(architecture);
    run_by_name();
    OK(cuDevicePrimaryCtxRelease_v2, 0);
    Call *last_error =
        (Call *)dlsym(driver, "cudaGetLastError"); // the stand-in's runtime is in the same library
    IS(!last_error || last_error() == 0);          // and does not tell of the driver's errors
    if (!differences)
        puts("ok");
    return differences != 0;
}
