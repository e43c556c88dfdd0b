// CUDA's driver and its compiler NVRTC, opened with dlopen: what includes this builds without CUDA.
// The functions keep their names from <cuda.h> and <nvrtc.h>; what a program calls is a pointer. So
// those two cannot be included as well, and only one file of a program includes this.
#pragma once
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int CUdevice;
typedef unsigned long long CUdeviceptr; // an address on the device
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct _nvrtcProgram *nvrtcProgram;

enum { COMPUTE_CAPABILITY_MAJOR = 75, COMPUTE_CAPABILITY_MINOR = 76 }; // for cuDeviceGetAttribute

static int (*cuGetErrorName)(int code, const char **name);
static int (*cuGetErrorString)(int code, const char **text);
static int (*cuInit)(unsigned int flags);
static int (*cuDeviceGet)(CUdevice *device, int number);
static int (*cuDeviceGetAttribute)(int *value, int attribute, CUdevice device);
static int (*cuDevicePrimaryCtxRetain)(CUcontext *context, CUdevice device);
static int (*cuDevicePrimaryCtxRelease)(CUdevice device);
static int (*cuCtxSetCurrent)(CUcontext context);
static int (*cuCtxSynchronize)(void);
static int (*cuMemAlloc)(CUdeviceptr *pointer, size_t bytes);
static int (*cuMemFree)(CUdeviceptr pointer);
static int (*cuMemcpyHtoD)(CUdeviceptr to, const void *from, size_t bytes);
static int (*cuMemcpyDtoH)(void *to, CUdeviceptr from, size_t bytes);
static int (*cuModuleLoadData)(CUmodule *module, const void *image);
static int (*cuModuleUnload)(CUmodule module);
static int (*cuModuleGetFunction)(CUfunction *function, CUmodule module, const char *name);
static int (*cuLaunchKernel)(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                             unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                             unsigned int block_z, unsigned int shared_bytes, CUstream stream,
                             void **arguments, void **extra);

static const char *(*nvrtcGetErrorString)(int code);
static int (*nvrtcVersion)(int *major, int *minor);
static int (*nvrtcCreateProgram)(nvrtcProgram *program, const char *source, const char *name,
                                 int headers, const char *const *texts, const char *const *names);
static int (*nvrtcCompileProgram)(nvrtcProgram program, int count, const char *const *options);
static int (*nvrtcDestroyProgram)(nvrtcProgram *program);
static int (*nvrtcGetProgramLogSize)(nvrtcProgram program, size_t *bytes);
static int (*nvrtcGetProgramLog)(nvrtcProgram program, char *log);
static int (*nvrtcGetPTXSize)(nvrtcProgram program, size_t *bytes);
static int (*nvrtcGetPTX)(nvrtcProgram program, char *ptx);
static int (*nvrtcGetCUBINSize)(nvrtcProgram program, size_t *bytes);
static int (*nvrtcGetCUBIN)(nvrtcProgram program, char *cubin);

// Stores the address of a function of the library at `pointer`. Ends the program if it is not there.
static void cuda_find(void *library, const char *name, void *pointer)
{
    void *symbol = dlsym(library, name);
    if (!symbol) {
        fprintf(stderr, "%s\n", dlerror());
        exit(EXIT_FAILURE);
    }
    memcpy(pointer, &symbol, sizeof symbol);
}

// NVRTC opens one more library, by its bare name: the loader looks where LD_LIBRARY_PATH and the system
// say, not where this program found NVRTC. One that is open already, it takes.
static void open_nvrtc_builtins(void)
{
    int major, minor;
    char name[60];
    if (nvrtcVersion(&major, &minor) != 0)
        return;
    snprintf(name, sizeof name, "libnvrtc-builtins.so.%d.%d", major, minor);
    dlopen(name, RTLD_NOW); // if it is not there, NVRTC will say so
}

// Opens both libraries and fills the pointers above. Ends the program, and says what is missing.
static inline void load_cuda(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver) {
        fprintf(stderr, "%s\nlibcuda.so.1 belongs to the NVIDIA driver\n", dlerror());
        exit(EXIT_FAILURE);
    }
    void *nvrtc = dlopen("libnvrtc.so.13", RTLD_NOW); // of CUDA 13
    if (!nvrtc)
        nvrtc = dlopen("libnvrtc.so.12", RTLD_NOW);
    if (!nvrtc)
        nvrtc = dlopen("libnvrtc.so.11.2", RTLD_NOW); // of CUDA 11.2 to 11.8
    if (!nvrtc) {
        fprintf(stderr,
                "libnvrtc.so.13, .12 or .11.2 is needed: %s\n"
                "libnvrtc belongs to the CUDA Toolkit: put its folder into LD_LIBRARY_PATH\n",
                dlerror());
        exit(EXIT_FAILURE);
    }
    cuda_find(driver, "cuGetErrorName", &cuGetErrorName);
    cuda_find(driver, "cuGetErrorString", &cuGetErrorString);
    cuda_find(driver, "cuInit", &cuInit);
    cuda_find(driver, "cuDeviceGet", &cuDeviceGet);
    cuda_find(driver, "cuDeviceGetAttribute", &cuDeviceGetAttribute);
    cuda_find(driver, "cuDevicePrimaryCtxRetain", &cuDevicePrimaryCtxRetain);
    // _v2: the arguments' types changed once, long ago; cuda.h hides it
    cuda_find(driver, "cuDevicePrimaryCtxRelease_v2", &cuDevicePrimaryCtxRelease);
    cuda_find(driver, "cuCtxSetCurrent", &cuCtxSetCurrent);
    cuda_find(driver, "cuCtxSynchronize", &cuCtxSynchronize);
    cuda_find(driver, "cuMemAlloc_v2", &cuMemAlloc);
    cuda_find(driver, "cuMemFree_v2", &cuMemFree);
    cuda_find(driver, "cuMemcpyHtoD_v2", &cuMemcpyHtoD);
    cuda_find(driver, "cuMemcpyDtoH_v2", &cuMemcpyDtoH);
    cuda_find(driver, "cuModuleLoadData", &cuModuleLoadData);
    cuda_find(driver, "cuModuleUnload", &cuModuleUnload);
    cuda_find(driver, "cuModuleGetFunction", &cuModuleGetFunction);
    cuda_find(driver, "cuLaunchKernel", &cuLaunchKernel);
    cuda_find(nvrtc, "nvrtcVersion", &nvrtcVersion);
    open_nvrtc_builtins();
    cuda_find(nvrtc, "nvrtcGetErrorString", &nvrtcGetErrorString);
    cuda_find(nvrtc, "nvrtcCreateProgram", &nvrtcCreateProgram);
    cuda_find(nvrtc, "nvrtcCompileProgram", &nvrtcCompileProgram);
    cuda_find(nvrtc, "nvrtcDestroyProgram", &nvrtcDestroyProgram);
    cuda_find(nvrtc, "nvrtcGetProgramLogSize", &nvrtcGetProgramLogSize);
    cuda_find(nvrtc, "nvrtcGetProgramLog", &nvrtcGetProgramLog);
    cuda_find(nvrtc, "nvrtcGetPTXSize", &nvrtcGetPTXSize);
    cuda_find(nvrtc, "nvrtcGetPTX", &nvrtcGetPTX);
    cuda_find(nvrtc, "nvrtcGetCUBINSize", &nvrtcGetCUBINSize);
    cuda_find(nvrtc, "nvrtcGetCUBIN", &nvrtcGetCUBIN);
}

// For a call of the driver's: says what failed and where, and ends the program.
#define CHECK_CU(call) \
    do { \
        int check_code = (call); \
        if (check_code != 0) { \
            const char *check_name = NULL, *check_text = NULL; /* so they stay if it has none */ \
            cuGetErrorName(check_code, &check_name); \
            cuGetErrorString(check_code, &check_text); \
            fprintf(stderr, "%s:%d: CUDA driver error %d, %s: %s\n", __FILE__, __LINE__, \
                    check_code, check_name ? check_name : "unknown", \
                    check_text ? check_text : "unknown"); \
            exit(EXIT_FAILURE); \
        } \
    } while (0)

// The same for a call of NVRTC's.
#define CHECK_NVRTC(call) \
    do { \
        int check_code = (call); \
        if (check_code != 0) { \
            fprintf(stderr, "%s:%d: NVRTC error %d, %s\n", __FILE__, __LINE__, check_code, \
                    nvrtcGetErrorString(check_code)); \
            exit(EXIT_FAILURE); \
        } \
    } while (0)
