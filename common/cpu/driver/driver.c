// The driver's calls: those of the runtime by other names, and modules.
#include "../runtime/runtime.h"
#include "cuda.h"
#include "nvrtc_images.h"
#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <string.h>

static bool is_initialised;
static __thread bool has_context;

// The two have the same numbers for the same errors; but the driver leaves cudaGetLastError alone.
#define DRIVER(call) \
    cudaError_t last_ = cpu_last_error; \
    CUresult result_ = is_initialised ? (CUresult)(call) : CUDA_ERROR_NOT_INITIALIZED; \
    cpu_last_error = last_; \
    return result_
#define IN_CONTEXT(call) DRIVER(has_context ? (CUresult)(call) : CUDA_ERROR_INVALID_CONTEXT)

PUBLIC CUresult cuInit(unsigned flags)
{
    int count;
    CUresult error = flags ? CUDA_ERROR_INVALID_VALUE : (CUresult)cudaGetDeviceCount(&count);
    is_initialised = is_initialised || !error;
    return error;
}
PUBLIC CUresult cuDriverGetVersion(int *version) { return (CUresult)cudaDriverGetVersion(version); }

PUBLIC CUresult cuGetErrorName(CUresult error, const char **name)
{
    if (!name) return CUDA_ERROR_INVALID_VALUE;
    *name = NULL;
    switch (error) {
#define NAME(text, value) \
    case value: \
        *name = #text; \
        break;
        CPU_CUDA_DRIVER_ERRORS(NAME)
    }
    return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

PUBLIC CUresult cuGetErrorString(CUresult error, const char **text)
{
    const char *name;
    CUresult known = cuGetErrorName(error, &name);
    if (!text) return CUDA_ERROR_INVALID_VALUE;
    *text = known == CUDA_SUCCESS ? cudaGetErrorString((cudaError_t)error) : NULL;
    return known;
}

// ---- The device and its context

static CUresult device_name(char *name, int size, CUdevice device)
{
    struct cudaDeviceProp properties;
    CUresult error = (CUresult)cudaGetDeviceProperties(&properties, device);
    if (!error && (!name || size < 1)) error = CUDA_ERROR_INVALID_VALUE;
    if (!error) snprintf(name, (size_t)size, "%s", properties.name);
    return error;
}

static CUresult set_context(bool whether) { return has_context = whether, CUDA_SUCCESS; }

PUBLIC CUresult cuDeviceGetCount(int *count) { DRIVER(cudaGetDeviceCount(count)); }
PUBLIC CUresult cuDeviceGet(CUdevice *device, int number)
{
    DRIVER(device ? (*device = number, cudaSetDevice(number)) : cudaErrorInvalidValue);
}
PUBLIC CUresult cuDeviceGetName(char *name, int size, CUdevice device)
{
    DRIVER(device_name(name, size, device));
}
PUBLIC CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device)
{
    DRIVER(!bytes   ? cudaErrorInvalidValue
           : device ? cudaErrorInvalidDevice
                    : (*bytes = cpu_device_bytes(), cudaSuccess));
}
PUBLIC CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    DRIVER(cudaDeviceGetAttribute(value, (enum cudaDeviceAttr)attribute, device));
}
PUBLIC CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    DRIVER(!context ? cudaErrorInvalidValue
           : device ? cudaErrorInvalidDevice
                    : (*context = (CUcontext)&is_initialised, cudaSuccess));
}
PUBLIC CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
    DRIVER(device ? cudaErrorInvalidDevice : cudaSuccess);
}
PUBLIC CUresult cuCtxSetCurrent(CUcontext context)
{
    DRIVER(context && context != (CUcontext)&is_initialised ? CUDA_ERROR_INVALID_CONTEXT
                                                            : set_context(context));
}
PUBLIC CUresult cuCtxSynchronize(void) { IN_CONTEXT(cudaDeviceSynchronize()); }

// ---- Memory

PUBLIC CUresult cuMemAlloc(CUdeviceptr *pointer, size_t bytes)
{
    IN_CONTEXT(bytes ? cudaMalloc((void **)pointer, bytes) : cudaErrorInvalidValue);
}
PUBLIC CUresult cuMemFree(CUdeviceptr pointer) { IN_CONTEXT(cudaFree((void *)pointer)); }
PUBLIC CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes)
{
    IN_CONTEXT(cudaMemcpy((void *)to, from, bytes, cudaMemcpyHostToDevice));
}
PUBLIC CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes)
{
    IN_CONTEXT(cudaMemcpy(to, (const void *)from, bytes, cudaMemcpyDeviceToHost));
}

// What is not known stays as it was, and is no error.
static cudaError_t range_of(unsigned count, const CUpointer_attribute *attributes, void **values,
                            CUdeviceptr pointer)
{
    ENTER();
    const struct cpu_allocation *a = cpu_find_allocation((const void *)pointer);
    if (!count || !attributes || !values) LEAVE(cudaErrorInvalidValue);
    for (unsigned i = 0; a && i < count; i++)
        if (attributes[i] == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR)
            *(CUdeviceptr *)values[i] = (CUdeviceptr)a->base;
        else if (attributes[i] == CU_POINTER_ATTRIBUTE_RANGE_SIZE)
            *(size_t *)values[i] = a->bytes;
        else
            LEAVE(cudaErrorInvalidValue);
    LEAVE(cudaSuccess);
}
PUBLIC CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute *attributes,
                                       void **values, CUdeviceptr pointer)
{
    DRIVER(range_of(count, attributes, values, pointer));
}

// A call of the driver's by its name in <cuda.h>, for programs that use the runtime.
PUBLIC cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **function,
                                                    unsigned version, unsigned long long flags,
                                                    enum cudaDriverEntryPointQueryResult *result)
{
    ENTER();
    if (!name || !function || !version || flags) LEAVE(cudaErrorInvalidValue);
    is_initialised = true;
    char newer[80];
    snprintf(newer, sizeof newer, "%s_v2", name);
    void *library = dlopen("libcpu_cuda.so", RTLD_NOW | RTLD_NOLOAD); // this one
    *function = dlsym(library, newer);
    if (!*function && strncmp(name, "cu", 2) == 0) *function = dlsym(library, name);
    if (result)
        *result = *function ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    LEAVE(cudaSuccess);
}

// ---- Modules: a cubin is a shared library, a PTX the C++ for one

// An ELF file says itself how long it is: its table of sections comes last.
static void *open_cubin(const char *image)
{
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)image;
    return cpu_open_cubin(image, head->e_shoff + (size_t)head->e_shnum * head->e_shentsize);
}

static CUresult load_module(CUmodule *module, const char *image)
{
    if (!module || !image) return CUDA_ERROR_INVALID_VALUE;
    bool is_cubin = memcmp(image, ELFMAG, SELFMAG) == 0;
    if (!is_cubin && strncmp(image, CPU_PTX, strlen(CPU_PTX)) != 0) return CUDA_ERROR_INVALID_IMAGE;
    void *library = is_cubin ? open_cubin(image) : cpu_open_ptx(image);
    *module = library;
    return library ? CUDA_SUCCESS : is_cubin ? CUDA_ERROR_INVALID_IMAGE : CUDA_ERROR_INVALID_PTX;
}

static CUresult find_function(CUfunction *function, CUmodule module, const char *name)
{
    if (!function || !module || !name) return CUDA_ERROR_INVALID_VALUE;
    void *address = dlsym(module, name);
    *function = cpu_is_kernel(address) ? address : NULL;
    return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

static CUresult find_variable(CUdeviceptr *pointer, size_t *bytes, CUmodule module,
                              const char *name)
{
    if (!module || !name) return CUDA_ERROR_INVALID_VALUE;
    Dl_info info;
    const Elf64_Sym *symbol;
    void *address = dlsym(module, name);
    if (!address || !dladdr1(address, &info, (void **)&symbol, RTLD_DL_SYMENT))
        return CUDA_ERROR_NOT_FOUND;
    // What has the name and is a kernel is no variable: an H100 says so by the other code.
    if (ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT) return CUDA_ERROR_INVALID_VALUE;
    if (pointer) *pointer = (CUdeviceptr)address;
    if (bytes) *bytes = symbol->st_size;
    return CUDA_SUCCESS;
}

PUBLIC CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    IN_CONTEXT(load_module(module, image));
}
PUBLIC CUresult cuModuleUnload(CUmodule module)
{
    IN_CONTEXT(!module || dlclose(module) ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS);
}
PUBLIC CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    IN_CONTEXT(find_function(function, module, name));
}
PUBLIC CUresult cuModuleGetGlobal(CUdeviceptr *pointer, size_t *bytes, CUmodule module,
                                  const char *name)
{
    IN_CONTEXT(find_variable(pointer, bytes, module, name));
}
PUBLIC CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                               unsigned grid_z, unsigned block_x, unsigned block_y,
                               unsigned block_z, unsigned shared_bytes, CUstream stream,
                               void **arguments, void **extra)
{
    dim3 grid = {grid_x, grid_y, grid_z}, block = {block_x, block_y, block_z};
    IN_CONTEXT(extra ? cudaErrorNotSupported
                     : cudaLaunchKernel(function, grid, block, arguments, shared_bytes, stream));
}
