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

// Library, result, name, what the library has behind the name, arguments. _v2: the types of the arguments
// changed once, long ago; cuda.h hides it.
#define CUDA_FUNCTIONS(F) \
    F(driver, int, cuGetErrorName, "", (int code, const char **name)) \
    F(driver, int, cuGetErrorString, "", (int code, const char **text)) \
    F(driver, int, cuInit, "", (unsigned int flags)) \
    F(driver, int, cuDeviceGet, "", (CUdevice * device, int number)) \
    F(driver, int, cuDeviceGetAttribute, "", (int *value, int attribute, CUdevice device)) \
    F(driver, int, cuDevicePrimaryCtxRetain, "", (CUcontext * context, CUdevice device)) \
    F(driver, int, cuDevicePrimaryCtxRelease, "_v2", (CUdevice device)) \
    F(driver, int, cuCtxSetCurrent, "", (CUcontext context)) \
    F(driver, int, cuCtxSynchronize, "", (void)) \
    F(driver, int, cuMemAlloc, "_v2", (CUdeviceptr * pointer, size_t bytes)) \
    F(driver, int, cuMemFree, "_v2", (CUdeviceptr pointer)) \
    F(driver, int, cuMemcpyHtoD, "_v2", (CUdeviceptr to, const void *from, size_t bytes)) \
    F(driver, int, cuMemcpyDtoH, "_v2", (void *to, CUdeviceptr from, size_t bytes)) \
    F(driver, int, cuModuleLoadData, "", (CUmodule * module, const void *image)) \
    F(driver, int, cuModuleUnload, "", (CUmodule module)) \
    F(driver, int, cuModuleGetFunction, "", \
      (CUfunction * function, CUmodule module, const char *name)) \
    F(driver, int, cuLaunchKernel, "", \
      (CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z, \
       unsigned int block_x, unsigned int block_y, unsigned int block_z, \
       unsigned int shared_bytes, CUstream stream, void **arguments, void **extra)) \
    F(nvrtc, const char *, nvrtcGetErrorString, "", (int code)) \
    F(nvrtc, int, nvrtcVersion, "", (int *major, int *minor)) \
    F(nvrtc, int, nvrtcCreateProgram, "", \
      (nvrtcProgram * program, const char *source, const char *name, int headers, \
       const char *const *texts, const char *const *names)) \
    F(nvrtc, int, nvrtcCompileProgram, "", \
      (nvrtcProgram program, int count, const char *const *options)) \
    F(nvrtc, int, nvrtcDestroyProgram, "", (nvrtcProgram * program)) \
    F(nvrtc, int, nvrtcGetProgramLogSize, "", (nvrtcProgram program, size_t * bytes)) \
    F(nvrtc, int, nvrtcGetProgramLog, "", (nvrtcProgram program, char *log)) \
    F(nvrtc, int, nvrtcGetPTXSize, "", (nvrtcProgram program, size_t * bytes)) \
    F(nvrtc, int, nvrtcGetPTX, "", (nvrtcProgram program, char *ptx)) \
    F(nvrtc, int, nvrtcGetCUBINSize, "", (nvrtcProgram program, size_t * bytes)) \
    F(nvrtc, int, nvrtcGetCUBIN, "", (nvrtcProgram program, char *cubin))

#define DECLARE(library, result, name, version, arguments) static result(*name) arguments;
CUDA_FUNCTIONS(DECLARE) // static int (*cuInit)(unsigned int flags); and so on

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
#define FIND(library, result, name, version, arguments) cuda_find(library, #name version, &name);
    CUDA_FUNCTIONS(FIND)
    open_nvrtc_builtins();
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
