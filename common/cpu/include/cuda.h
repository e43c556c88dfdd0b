// The CPU stand-in's <cuda.h>: the driver calls that load a module and launch its kernels. They are
// in libcuda.so.1 (../lib), to be opened with dlopen; names with _v2 are those to give to dlsym.
#pragma once
#include "cpu_names.h"
#include <stddef.h>

#ifdef CPU_CUDA_12
#define CUDA_VERSION 12090
#else
#define CUDA_VERSION 13000
#endif
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;

#define CPU_CUDA_DRIVER_ERRORS(ERROR) \
    ERROR(CUDA_SUCCESS, 0) \
    ERROR(CUDA_ERROR_INVALID_VALUE, 1) \
    ERROR(CUDA_ERROR_OUT_OF_MEMORY, 2) \
    ERROR(CUDA_ERROR_NOT_INITIALIZED, 3) \
    ERROR(CUDA_ERROR_NO_DEVICE, 100) \
    ERROR(CUDA_ERROR_INVALID_DEVICE, 101) \
    ERROR(CUDA_ERROR_INVALID_IMAGE, 200) \
    ERROR(CUDA_ERROR_INVALID_CONTEXT, 201) \
    ERROR(CUDA_ERROR_INVALID_PTX, 218) \
    ERROR(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, 222) \
    ERROR(CUDA_ERROR_INVALID_HANDLE, 400) \
    ERROR(CUDA_ERROR_NOT_FOUND, 500) \
    ERROR(CUDA_ERROR_NOT_READY, 600) \
    ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, 700) \
    ERROR(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 701) \
    ERROR(CUDA_ERROR_ASSERT, 710) \
    ERROR(CUDA_ERROR_INVALID_ADDRESS_SPACE, 717) \
    ERROR(CUDA_ERROR_LAUNCH_FAILED, 719) \
    ERROR(CUDA_ERROR_UNKNOWN, 999)

typedef enum cudaError_enum {
#define CPU_CUDA_ENUM(name, value) name = value,
    CPU_CUDA_DRIVER_ERRORS(CPU_CUDA_ENUM)
#undef CPU_CUDA_ENUM
} CUresult;

typedef enum CUdevice_attribute_enum {
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR
} CUdevice_attribute;
typedef enum CUpointer_attribute_enum {
    CU_POINTER_ATTRIBUTE_RANGE_START_ADDR = 11,
    CU_POINTER_ATTRIBUTE_RANGE_SIZE
} CUpointer_attribute;

#define cuDeviceTotalMem cuDeviceTotalMem_v2
#define cuDevicePrimaryCtxRelease cuDevicePrimaryCtxRelease_v2
#define cuMemAlloc cuMemAlloc_v2
#define cuMemFree cuMemFree_v2
#define cuMemcpyHtoD cuMemcpyHtoD_v2
#define cuMemcpyDtoH cuMemcpyDtoH_v2
#define cuModuleGetGlobal cuModuleGetGlobal_v2

#ifdef __cplusplus
extern "C" {
#endif
CUresult cuInit(unsigned int flags);
CUresult cuDriverGetVersion(int *version);
CUresult cuGetErrorName(CUresult error, const char **name);
CUresult cuGetErrorString(CUresult error, const char **text);
CUresult cuDeviceGetCount(int *count);
CUresult cuDeviceGet(CUdevice *device, int number);
CUresult cuDeviceGetName(char *name, int size, CUdevice device);
CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device);
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device);
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device);
CUresult cuDevicePrimaryCtxRelease(CUdevice device);
CUresult cuCtxSetCurrent(CUcontext context);
CUresult cuCtxSynchronize(void);
CUresult cuMemAlloc(CUdeviceptr *pointer, size_t bytes);
CUresult cuMemFree(CUdeviceptr pointer);
CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes);
CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes);
CUresult cuPointerGetAttributes(unsigned int count, CUpointer_attribute *attributes, void **values,
                                CUdeviceptr pointer);
CUresult cuModuleLoadData(CUmodule *module, const void *image);
CUresult cuModuleUnload(CUmodule module);
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name);
CUresult cuModuleGetGlobal(CUdeviceptr *pointer, size_t *bytes, CUmodule module, const char *name);
CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                        unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                        unsigned int block_z, unsigned int shared_bytes, CUstream stream,
                        void **arguments, void **extra);
#ifdef __cplusplus
}
#endif
