// The CPU stand-in's <cuda_runtime_api.h>: CUDA's runtime calls, as far as the stand-in has them.
// A call that is not declared here does not compile: it never becomes a stub that pretends.
#pragma once
#include <stddef.h>

#define CUDART_VERSION 13000
#ifdef __cplusplus
#define CPU_CUDA_DEFAULT(value) = value
extern "C" {
#else
#define CPU_CUDA_DEFAULT(value)
#endif

// clang-format off
#define CPU_CUDA_ERRORS(ERROR) \
    ERROR(cudaSuccess, 0, "no error") \
    ERROR(cudaErrorInvalidValue, 1, "invalid argument") \
    ERROR(cudaErrorMemoryAllocation, 2, "out of memory") \
    ERROR(cudaErrorInitializationError, 3, "initialization error") \
    ERROR(cudaErrorInvalidConfiguration, 9, "invalid configuration argument") \
    ERROR(cudaErrorInvalidPitchValue, 12, "invalid pitch argument") \
    ERROR(cudaErrorInvalidSymbol, 13, "invalid device symbol") \
    ERROR(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy") \
    ERROR(cudaErrorInsufficientDriver, 35, "CUDA driver version is insufficient for CUDA runtime version") \
    ERROR(cudaErrorInvalidDevicePointer, 17, "invalid device pointer") \
    ERROR(cudaErrorDevicesUnavailable, 46, "CUDA-capable device(s) is/are busy or unavailable") \
    ERROR(cudaErrorInvalidDeviceFunction, 98, "invalid device function") \
    ERROR(cudaErrorNoDevice, 100, "no CUDA-capable device is detected") \
    ERROR(cudaErrorInvalidDevice, 101, "invalid device ordinal") \
    ERROR(cudaErrorInvalidKernelImage, 200, "device kernel image is invalid") \
    ERROR(cudaErrorDeviceUninitialized, 201, "invalid device context") \
    ERROR(cudaErrorNoKernelImageForDevice, 209, "no kernel image is available for execution on the device") \
    ERROR(cudaErrorInvalidPtx, 218, "a PTX JIT compilation failed") \
    ERROR(cudaErrorInvalidResourceHandle, 400, "invalid resource handle") \
    ERROR(cudaErrorIllegalState, 401, "the operation cannot be performed in the present state") \
    ERROR(cudaErrorSymbolNotFound, 500, "named symbol not found") \
    ERROR(cudaErrorNotReady, 600, "device not ready") \
    ERROR(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered") \
    ERROR(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch") \
    ERROR(cudaErrorLaunchTimeout, 702, "the launch timed out and was terminated") \
    ERROR(cudaErrorAssert, 710, "device-side assert triggered") \
    ERROR(cudaErrorHostMemoryAlreadyRegistered, 712, "part or all of the requested memory range is already mapped") \
    ERROR(cudaErrorHostMemoryNotRegistered, 713, "pointer does not correspond to a registered memory region") \
    ERROR(cudaErrorMisalignedAddress, 716, "misaligned address") \
    ERROR(cudaErrorInvalidAddressSpace, 717, "operation not supported on global/shared address space") \
    ERROR(cudaErrorLaunchFailure, 719, "unspecified launch failure") \
    ERROR(cudaErrorNotSupported, 801, "operation not supported") \
    ERROR(cudaErrorUnknown, 999, "unknown error")
// clang-format on

typedef enum cudaError {
#define CPU_CUDA_ENUM(name, value, text) name = value,
    CPU_CUDA_ERRORS(CPU_CUDA_ENUM)
#undef CPU_CUDA_ENUM
} cudaError_t;

enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};
enum cudaMemoryType {
    cudaMemoryTypeUnregistered,
    cudaMemoryTypeHost,
    cudaMemoryTypeDevice,
    cudaMemoryTypeManaged
};
enum { cudaMemAttachGlobal = 1, cudaMemAttachHost = 2 };
enum { cudaHostAllocDefault, cudaHostAllocPortable, cudaHostAllocMapped };
enum { cudaHostAllocWriteCombined = 4 };
enum { cudaHostRegisterDefault, cudaHostRegisterPortable, cudaHostRegisterMapped };
enum { cudaHostRegisterReadOnly = 8 };
enum { cudaStreamDefault, cudaStreamNonBlocking };
enum { cudaEventDefault, cudaEventBlockingSync, cudaEventDisableTiming };
enum cudaLimit { cudaLimitStackSize, cudaLimitPrintfFifoSize, cudaLimitMallocHeapSize };
enum cudaDeviceAttr { // numbered as in CUDA
    cudaDevAttrMaxThreadsPerBlock = 1,
    cudaDevAttrMaxBlockDimX,
    cudaDevAttrMaxBlockDimY,
    cudaDevAttrMaxBlockDimZ,
    cudaDevAttrMaxGridDimX,
    cudaDevAttrMaxGridDimY,
    cudaDevAttrMaxGridDimZ,
    cudaDevAttrMaxSharedMemoryPerBlock,
    cudaDevAttrTotalConstantMemory,
    cudaDevAttrWarpSize,
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor
};

typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;

struct uint3 {
    unsigned int x, y, z;
};
typedef struct uint3 uint3;
struct dim3 {
    unsigned int x, y, z;
#ifdef __cplusplus
    constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return {x, y, z}; }
#endif
};
typedef struct dim3 dim3;

struct cudaPointerAttributes {
    enum cudaMemoryType type;
    int device;
    void *devicePointer, *hostPointer;
};
struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerBlockOptin, sharedMemPerMultiprocessor;
    size_t totalConstMem, memPitch, textureAlignment;
    int regsPerBlock, regsPerMultiprocessor, warpSize, maxThreadsPerBlock, maxThreadsDim[3];
    int maxGridSize[3], major, minor, multiProcessorCount, maxThreadsPerMultiProcessor;
    int maxBlocksPerMultiProcessor, l2CacheSize, memoryBusWidth, asyncEngineCount, integrated;
    int canMapHostMemory, concurrentKernels, ECCEnabled, unifiedAddressing, managedMemory;
    int concurrentManagedAccess, pageableMemoryAccess, pciBusID, pciDeviceID, pciDomainID;
};
enum cudaMemAllocationType { cudaMemAllocationTypePinned = 1 };
enum cudaMemLocationType { cudaMemLocationTypeDevice = 1 };
enum cudaMemPoolAttr { cudaMemPoolAttrReleaseThreshold = 4 };
struct cudaMemLocation {
    enum cudaMemLocationType type;
    int id;
};
struct cudaMemPoolProps {
    enum cudaMemAllocationType allocType;
    struct cudaMemLocation location;
};
typedef struct cudaMemPoolProps cudaMemPoolProps;
typedef struct cpu_pool *cudaMemPool_t;
typedef struct cudaDeviceProp cudaDeviceProp;
typedef struct cudaPointerAttributes cudaPointerAttributes;

// Memory
cudaError_t cudaMalloc(void **pointer, size_t bytes);
cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height);
cudaError_t cudaMallocManaged(void **pointer, size_t bytes,
                              unsigned int flags CPU_CUDA_DEFAULT(cudaMemAttachGlobal));
cudaError_t cudaMallocHost(void **pointer, size_t bytes);
cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned int flags);
cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned int flags);
cudaError_t cudaHostUnregister(void *pointer);
cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned int flags);
cudaError_t cudaFree(void *pointer);
cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream);
cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream);
cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *properties);
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute,
                                    void *value);
cudaError_t cudaMallocFromPoolAsync(void **pointer, size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream);
cudaError_t cudaFreeHost(void *pointer);
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes);
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *pointer);

// Copies
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream CPU_CUDA_DEFAULT(NULL));
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind,
                              cudaStream_t stream CPU_CUDA_DEFAULT(NULL));
cudaError_t cudaMemset(void *pointer, int value, size_t bytes);
cudaError_t cudaMemsetAsync(void *pointer, int value, size_t bytes,
                            cudaStream_t stream CPU_CUDA_DEFAULT(NULL));
cudaError_t cudaMemset2D(void *pointer, size_t pitch, int value, size_t width, size_t height);

// Streams and events
cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                unsigned int flags CPU_CUDA_DEFAULT(0));
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags);
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream CPU_CUDA_DEFAULT(NULL));
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end);

// The device
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaDeviceReset(void);
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device);
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceGetPCIBusId(char *text, int size, int device);
cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit);
cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                             size_t shared_bytes, cudaStream_t stream);

// Errors
cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);
const char *cudaGetErrorName(cudaError_t error);
const char *cudaGetErrorString(cudaError_t error);

#ifdef __cplusplus
}
#endif
