// The CPU stand-in's <cuda_runtime_api.h>: CUDA's runtime calls, as far as the stand-in has them.
// A call that is not declared here does not compile: it never becomes a stub that pretends.
#pragma once
#include "cpu_names.h"
#include <limits.h> // as CUDA's
#include <stddef.h>

#ifdef CPU_CUDA_12 // ../nvcc --cuda-12
#define CUDART_VERSION 12090
#else
#define CUDART_VERSION 13000
#endif
#define __DRIVER_TYPES_H__ // what NVIDIA's samples look for
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
    ERROR(cudaErrorCudartUnloading, 4, "driver shutting down") \
    ERROR(cudaErrorProfilerDisabled, 5, "profiler disabled while using external profiling tool") \
    ERROR(cudaErrorProfilerNotInitialized, 6, "profiler not initialized: call cudaProfilerInitialize()") \
    ERROR(cudaErrorProfilerAlreadyStarted, 7, "profiler already started") \
    ERROR(cudaErrorProfilerAlreadyStopped, 8, "profiler already stopped") \
    ERROR(cudaErrorInvalidConfiguration, 9, "invalid configuration argument") \
    ERROR(cudaErrorInvalidPitchValue, 12, "invalid pitch argument") \
    ERROR(cudaErrorInvalidSymbol, 13, "invalid device symbol") \
    ERROR(cudaErrorInvalidHostPointer, 16, "invalid host pointer") \
    ERROR(cudaErrorInvalidDevicePointer, 17, "invalid device pointer") \
    ERROR(cudaErrorInvalidTexture, 18, "invalid texture reference") \
    ERROR(cudaErrorInvalidTextureBinding, 19, "texture is not bound to a pointer") \
    ERROR(cudaErrorInvalidChannelDescriptor, 20, "invalid channel descriptor") \
    ERROR(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy") \
    ERROR(cudaErrorAddressOfConstant, 22, "invalid address of constant") \
    ERROR(cudaErrorTextureFetchFailed, 23, "fetch from texture failed") \
    ERROR(cudaErrorTextureNotBound, 24, "cannot fetch from a texture that is not bound") \
    ERROR(cudaErrorSynchronizationError, 25, "incorrect use of __syncthreads()") \
    ERROR(cudaErrorInvalidFilterSetting, 26, "linear filtering not supported for non-float type") \
    ERROR(cudaErrorInvalidNormSetting, 27, "read as normalized float not supported for data type") \
    ERROR(cudaErrorMixedDeviceExecution, 28, "device emulation mode and device execution mode cannot be mixed") \
    ERROR(cudaErrorNotYetImplemented, 31, "feature not yet implemented") \
    ERROR(cudaErrorMemoryValueTooLarge, 32, "memory size or pointer value too large to fit in 32 bit") \
    ERROR(cudaErrorStubLibrary, 34, "CUDA driver is a stub library") \
    ERROR(cudaErrorInsufficientDriver, 35, "CUDA driver version is insufficient for CUDA runtime version") \
    ERROR(cudaErrorCallRequiresNewerDriver, 36, "API call is not supported in the installed CUDA driver") \
    ERROR(cudaErrorInvalidSurface, 37, "invalid surface reference") \
    ERROR(cudaErrorDuplicateVariableName, 43, "duplicate global variable looked up by string name") \
    ERROR(cudaErrorDuplicateTextureName, 44, "duplicate texture looked up by string name") \
    ERROR(cudaErrorDuplicateSurfaceName, 45, "duplicate surface looked up by string name") \
    ERROR(cudaErrorDevicesUnavailable, 46, "CUDA-capable device(s) is/are busy or unavailable") \
    ERROR(cudaErrorIncompatibleDriverContext, 49, "incompatible driver context") \
    ERROR(cudaErrorMissingConfiguration, 52, "__global__ function call is not configured") \
    ERROR(cudaErrorPriorLaunchFailure, 53, "unspecified launch failure in prior launch") \
    ERROR(cudaErrorLaunchMaxDepthExceeded, 65, "launch would exceed maximum depth of nested launches") \
    ERROR(cudaErrorLaunchFileScopedTex, 66, "launch failed because kernel uses unsupported, file-scoped textures (texture objects are supported)") \
    ERROR(cudaErrorLaunchFileScopedSurf, 67, "launch failed because kernel uses unsupported, file-scoped surfaces (surface objects are supported)") \
    ERROR(cudaErrorSyncDepthExceeded, 68, "cudaDeviceSynchronize failed because caller's grid depth exceeds cudaLimitDevRuntimeSyncDepth") \
    ERROR(cudaErrorLaunchPendingCountExceeded, 69, "launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount") \
    ERROR(cudaErrorInvalidDeviceFunction, 98, "invalid device function") \
    ERROR(cudaErrorNoDevice, 100, "no CUDA-capable device is detected") \
    ERROR(cudaErrorInvalidDevice, 101, "invalid device ordinal") \
    ERROR(cudaErrorDeviceNotLicensed, 102, "device doesn't have valid Grid license") \
    ERROR(cudaErrorSoftwareValidityNotEstablished, 103, "integrity checks failed") \
    ERROR(cudaErrorStartupFailure, 127, "startup failure in cuda runtime") \
    ERROR(cudaErrorInvalidKernelImage, 200, "device kernel image is invalid") \
    ERROR(cudaErrorDeviceUninitialized, 201, "invalid device context") \
    ERROR(cudaErrorMapBufferObjectFailed, 205, "mapping of buffer object failed") \
    ERROR(cudaErrorUnmapBufferObjectFailed, 206, "unmapping of buffer object failed") \
    ERROR(cudaErrorArrayIsMapped, 207, "array is mapped") \
    ERROR(cudaErrorAlreadyMapped, 208, "resource already mapped") \
    ERROR(cudaErrorNoKernelImageForDevice, 209, "no kernel image is available for execution on the device") \
    ERROR(cudaErrorAlreadyAcquired, 210, "resource already acquired") \
    ERROR(cudaErrorNotMapped, 211, "resource not mapped") \
    ERROR(cudaErrorNotMappedAsArray, 212, "resource not mapped as array") \
    ERROR(cudaErrorNotMappedAsPointer, 213, "resource not mapped as pointer") \
    ERROR(cudaErrorECCUncorrectable, 214, "uncorrectable ECC error encountered") \
    ERROR(cudaErrorUnsupportedLimit, 215, "limit is not supported on this architecture") \
    ERROR(cudaErrorDeviceAlreadyInUse, 216, "exclusive-thread device already in use by a different thread") \
    ERROR(cudaErrorPeerAccessUnsupported, 217, "peer access is not supported between these two devices") \
    ERROR(cudaErrorInvalidPtx, 218, "a PTX JIT compilation failed") \
    ERROR(cudaErrorInvalidGraphicsContext, 219, "invalid OpenGL or DirectX context") \
    ERROR(cudaErrorNvlinkUncorrectable, 220, "uncorrectable NVLink error detected during the execution") \
    ERROR(cudaErrorJitCompilerNotFound, 221, "PTX JIT compiler library not found") \
    ERROR(cudaErrorUnsupportedPtxVersion, 222, "the provided PTX was compiled with an unsupported toolchain.") \
    ERROR(cudaErrorJitCompilationDisabled, 223, "PTX JIT compilation was disabled") \
    ERROR(cudaErrorUnsupportedExecAffinity, 224, "the provided execution affinity is not supported") \
    ERROR(cudaErrorUnsupportedDevSideSync, 225, "the provided PTX contains unsupported call to cudaDeviceSynchronize") \
    ERROR(cudaErrorContained, 226, "Invalid access of peer GPU memory over nvlink or a hardware error") \
    ERROR(cudaErrorInvalidSource, 300, "device kernel image is invalid") \
    ERROR(cudaErrorFileNotFound, 301, "file not found") \
    ERROR(cudaErrorSharedObjectSymbolNotFound, 302, "shared object symbol not found") \
    ERROR(cudaErrorSharedObjectInitFailed, 303, "shared object initialization failed") \
    ERROR(cudaErrorOperatingSystem, 304, "OS call failed or operation not supported on this OS") \
    ERROR(cudaErrorInvalidResourceHandle, 400, "invalid resource handle") \
    ERROR(cudaErrorIllegalState, 401, "the operation cannot be performed in the present state") \
    ERROR(cudaErrorLossyQuery, 402, "attempted introspection would be semantically lossy") \
    ERROR(cudaErrorSymbolNotFound, 500, "named symbol not found") \
    ERROR(cudaErrorNotReady, 600, "device not ready") \
    ERROR(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered") \
    ERROR(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch") \
    ERROR(cudaErrorLaunchTimeout, 702, "the launch timed out and was terminated") \
    ERROR(cudaErrorLaunchIncompatibleTexturing, 703, "launch uses incompatible texturing mode") \
    ERROR(cudaErrorPeerAccessAlreadyEnabled, 704, "peer access is already enabled") \
    ERROR(cudaErrorPeerAccessNotEnabled, 705, "peer access has not been enabled") \
    ERROR(cudaErrorSetOnActiveProcess, 708, "cannot set while device is active in this process") \
    ERROR(cudaErrorContextIsDestroyed, 709, "context is destroyed") \
    ERROR(cudaErrorAssert, 710, "device-side assert triggered") \
    ERROR(cudaErrorTooManyPeers, 711, "peer mapping resources exhausted") \
    ERROR(cudaErrorHostMemoryAlreadyRegistered, 712, "part or all of the requested memory range is already mapped") \
    ERROR(cudaErrorHostMemoryNotRegistered, 713, "pointer does not correspond to a registered memory region") \
    ERROR(cudaErrorHardwareStackError, 714, "hardware stack error") \
    ERROR(cudaErrorIllegalInstruction, 715, "an illegal instruction was encountered") \
    ERROR(cudaErrorMisalignedAddress, 716, "misaligned address") \
    ERROR(cudaErrorInvalidAddressSpace, 717, "operation not supported on global/shared address space") \
    ERROR(cudaErrorInvalidPc, 718, "invalid program counter") \
    ERROR(cudaErrorLaunchFailure, 719, "unspecified launch failure") \
    ERROR(cudaErrorCooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch") \
    ERROR(cudaErrorTensorMemoryLeak, 721, "tensor memory not completely freed") \
    ERROR(cudaErrorNotPermitted, 800, "operation not permitted") \
    ERROR(cudaErrorNotSupported, 801, "operation not supported") \
    ERROR(cudaErrorSystemNotReady, 802, "system not yet initialized") \
    ERROR(cudaErrorSystemDriverMismatch, 803, "system has unsupported display driver / cuda driver combination") \
    ERROR(cudaErrorCompatNotSupportedOnDevice, 804, "forward compatibility was attempted on non supported HW") \
    ERROR(cudaErrorMpsConnectionFailed, 805, "MPS client failed to connect to the MPS control daemon or the MPS server") \
    ERROR(cudaErrorMpsRpcFailure, 806, "the remote procedural call between the MPS server and the MPS client failed") \
    ERROR(cudaErrorMpsServerNotReady, 807, "MPS server is not ready to accept new MPS client requests") \
    ERROR(cudaErrorMpsMaxClientsReached, 808, "the hardware resources required to create MPS client have been exhausted") \
    ERROR(cudaErrorMpsMaxConnectionsReached, 809, "the hardware resources required to support device connections have been exhausted") \
    ERROR(cudaErrorMpsClientTerminated, 810, "the MPS client has been terminated by the server") \
    ERROR(cudaErrorCdpNotSupported, 811, "is using CUDA Dynamic Parallelism, but the current configuration, like MPS, does not support it") \
    ERROR(cudaErrorCdpVersionMismatch, 812, "unsupported interaction between different versions of CUDA Dynamic Parallelism") \
    ERROR(cudaErrorStreamCaptureUnsupported, 900, "operation not permitted when stream is capturing") \
    ERROR(cudaErrorStreamCaptureInvalidated, 901, "operation failed due to a previous error during capture") \
    ERROR(cudaErrorStreamCaptureMerge, 902, "operation would result in a merge of separate capture sequences") \
    ERROR(cudaErrorStreamCaptureUnmatched, 903, "capture was not ended in the same stream as it began") \
    ERROR(cudaErrorStreamCaptureUnjoined, 904, "capturing stream has unjoined work") \
    ERROR(cudaErrorStreamCaptureIsolation, 905, "dependency created on uncaptured work in another stream") \
    ERROR(cudaErrorStreamCaptureImplicit, 906, "operation would make the legacy stream depend on a capturing blocking stream") \
    ERROR(cudaErrorCapturedEvent, 907, "operation not permitted on an event last recorded in a capturing stream") \
    ERROR(cudaErrorStreamCaptureWrongThread, 908, "attempt to terminate a thread-local capture sequence from another thread") \
    ERROR(cudaErrorTimeout, 909, "wait operation timed out") \
    ERROR(cudaErrorGraphExecUpdateFailure, 910, "the graph update was not performed because it included changes which violated constraints specific to instantiated graph update") \
    ERROR(cudaErrorExternalDevice, 911, "an async error has occured in external entity outside of CUDA") \
    ERROR(cudaErrorInvalidClusterSize, 912, "a kernel launch error has occurred due to cluster misconfiguration") \
    ERROR(cudaErrorFunctionNotLoaded, 913, "the function handle is not loaded when calling an API that requires a loaded function") \
    ERROR(cudaErrorInvalidResourceType, 914, "one or more resources passed in are not valid resource types for the operation") \
    ERROR(cudaErrorInvalidResourceConfiguration, 915, "one or more resources are insufficient or non-applicable for the operation") \
    ERROR(cudaErrorUnknown, 999, "unknown error")

typedef enum cudaError {
#define CPU_CUDA_ENUM(name, value, text) name = value,
    CPU_CUDA_ERRORS(CPU_CUDA_ENUM)
#undef CPU_CUDA_ENUM
    cudaErrorApiFailureBase = 10000 // no call returns it
} cudaError_t;

enum cudaMemcpyKind {
    cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault
};
enum cudaMemoryType {
    cudaMemoryTypeUnregistered, cudaMemoryTypeHost, cudaMemoryTypeDevice, cudaMemoryTypeManaged
};
enum cudaMemoryAdvise {
    cudaMemAdviseSetReadMostly = 1, cudaMemAdviseUnsetReadMostly, cudaMemAdviseSetPreferredLocation,
    cudaMemAdviseUnsetPreferredLocation, cudaMemAdviseSetAccessedBy, cudaMemAdviseUnsetAccessedBy
};
enum cudaComputeMode {
    cudaComputeModeDefault, cudaComputeModeExclusive, cudaComputeModeProhibited, cudaComputeModeExclusiveProcess
};
enum cudaFuncCache {
    cudaFuncCachePreferNone, cudaFuncCachePreferShared, cudaFuncCachePreferL1, cudaFuncCachePreferEqual
};
enum cudaSharedMemConfig {
    cudaSharedMemBankSizeDefault, cudaSharedMemBankSizeFourByte, cudaSharedMemBankSizeEightByte
};
enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8, cudaFuncAttributePreferredSharedMemoryCarveout
};
enum { cudaSharedmemCarveoutDefault = -1, cudaSharedmemCarveoutMaxL1 = 0, cudaSharedmemCarveoutMaxShared = 100 };
enum { cudaMemAttachGlobal = 1, cudaMemAttachHost = 2, cudaMemAttachSingle = 4 };
enum { cudaDeviceScheduleAuto, cudaDeviceScheduleSpin, cudaDeviceScheduleYield };
enum { cudaDeviceScheduleBlockingSync = 4, cudaDeviceBlockingSync = 4, cudaDeviceMapHost = 8, cudaDeviceLmemResizeToMax = 16 };
enum { cudaCpuDeviceId = -1, cudaInvalidDeviceId = -2 };
enum { cudaHostAllocDefault, cudaHostAllocPortable, cudaHostAllocMapped };
enum { cudaHostAllocWriteCombined = 4 };
enum { cudaHostRegisterDefault, cudaHostRegisterPortable, cudaHostRegisterMapped };
enum { cudaHostRegisterReadOnly = 8 };
enum { cudaStreamDefault, cudaStreamNonBlocking };
enum { cudaEventDefault, cudaEventBlockingSync, cudaEventDisableTiming };
enum { cudaPeerAccessDefault = 0, cudaEventWaitDefault = 0, cudaEventRecordDefault = 0, cudaEventRecordExternal };
enum { cudaEnableDefault }; // and what became of a search for a call of the driver's:
enum cudaDriverEntryPointQueryResult { cudaDriverEntryPointSuccess, cudaDriverEntryPointSymbolNotFound };
#define cudaStreamLegacy ((cudaStream_t)1) // the default stream, and here this one too:
#define cudaStreamPerThread ((cudaStream_t)2)
#define CUDART_CB // how CUDA calls the host's functions
enum cudaLimit { cudaLimitStackSize, cudaLimitPrintfFifoSize, cudaLimitMallocHeapSize };
#define CPU_CUDA_ATTRIBUTES(A) /* of the device, as in cudaDeviceProp; the values are for runtime/device.c */ \
    A(cudaDevAttrMaxThreadsPerBlock, 1, maxThreadsPerBlock, 1024) \
    A(cudaDevAttrMaxBlockDimX, 2, maxThreadsDim[0], 1024) A(cudaDevAttrMaxBlockDimY, 3, maxThreadsDim[1], 1024) \
    A(cudaDevAttrMaxBlockDimZ, 4, maxThreadsDim[2], 64) A(cudaDevAttrMaxGridDimX, 5, maxGridSize[0], 2147483647) \
    A(cudaDevAttrMaxGridDimY, 6, maxGridSize[1], 65535) A(cudaDevAttrMaxGridDimZ, 7, maxGridSize[2], 65535) \
    A(cudaDevAttrMaxSharedMemoryPerBlock, 8, sharedMemPerBlock, 49152) \
    A(cudaDevAttrTotalConstantMemory, 9, totalConstMem, 65536) A(cudaDevAttrWarpSize, 10, warpSize, 32) \
    A(cudaDevAttrMaxPitch, 11, memPitch, 2147483647) A(cudaDevAttrMaxRegistersPerBlock, 12, regsPerBlock, 65536) \
    A(cudaDevAttrClockRate, 13, clockRate, 1000000) A(cudaDevAttrTextureAlignment, 14, textureAlignment, 512) \
    A(cudaDevAttrGpuOverlap, 15, deviceOverlap, 1) A(cudaDevAttrMultiProcessorCount, 16, multiProcessorCount, cores()) \
    A(cudaDevAttrKernelExecTimeout, 17, kernelExecTimeoutEnabled, 0) A(cudaDevAttrIntegrated, 18, integrated, 1) \
    A(cudaDevAttrCanMapHostMemory, 19, canMapHostMemory, 1) \
    A(cudaDevAttrComputeMode, 20, computeMode, cudaComputeModeDefault) \
    A(cudaDevAttrConcurrentKernels, 31, concurrentKernels, 1) A(cudaDevAttrEccEnabled, 32, ECCEnabled, 0) \
    A(cudaDevAttrPciBusId, 33, pciBusID, 0) A(cudaDevAttrPciDeviceId, 34, pciDeviceID, 0) \
    A(cudaDevAttrMemoryClockRate, 36, memoryClockRate, 1000000) \
    A(cudaDevAttrGlobalMemoryBusWidth, 37, memoryBusWidth, 64) A(cudaDevAttrL2CacheSize, 38, l2CacheSize, 1 << 20) \
    A(cudaDevAttrMaxThreadsPerMultiProcessor, 39, maxThreadsPerMultiProcessor, 1024) \
    A(cudaDevAttrAsyncEngineCount, 40, asyncEngineCount, 1) A(cudaDevAttrUnifiedAddressing, 41, unifiedAddressing, 1) \
    A(cudaDevAttrComputeCapabilityMajor, 75, major, 7) A(cudaDevAttrComputeCapabilityMinor, 76, minor, 5) \
    A(cudaDevAttrStreamPrioritiesSupported, 78, streamPrioritiesSupported, 1) \
    A(cudaDevAttrMaxSharedMemoryPerMultiprocessor, 81, sharedMemPerMultiprocessor, 233472) \
    A(cudaDevAttrMaxRegistersPerMultiprocessor, 82, regsPerMultiprocessor, 65536) \
    A(cudaDevAttrManagedMemory, 83, managedMemory, 1) \
    A(cudaDevAttrHostNativeAtomicSupported, 86, hostNativeAtomicSupported, 1) \
    A(cudaDevAttrPageableMemoryAccess, 88, pageableMemoryAccess, 0) \
    A(cudaDevAttrConcurrentManagedAccess, 89, concurrentManagedAccess, 0) \
    A(cudaDevAttrComputePreemptionSupported, 90, computePreemptionSupported, 0) \
    A(cudaDevAttrCanUseHostPointerForRegisteredMem, 91, canUseHostPointerForRegisteredMem, 1) \
    A(cudaDevAttrCooperativeLaunch, 95, cooperativeLaunch, 1) \
    A(cudaDevAttrMaxSharedMemoryPerBlockOptin, 97, sharedMemPerBlockOptin, 232448) \
    A(cudaDevAttrMaxBlocksPerMultiprocessor, 106, maxBlocksPerMultiProcessor, 16) \
    A(cudaDevAttrMemoryPoolsSupported, 115, memoryPoolsSupported, 1)
// clang-format on
enum cudaDeviceAttr {
#define CPU_CUDA_ENUM(name, number, property, value) name = number,
    CPU_CUDA_ATTRIBUTES(CPU_CUDA_ENUM)
#undef CPU_CUDA_ENUM
};

typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef void (*cudaHostFn_t)(void *data);
typedef void (*cudaStreamCallback_t)(cudaStream_t stream, cudaError_t status, void *data);

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
    size_t totalConstMem, memPitch, textureAlignment, texturePitchAlignment, surfaceAlignment;
    size_t reservedSharedMemPerBlock;
    int regsPerBlock, regsPerMultiprocessor, warpSize, maxThreadsPerBlock, maxThreadsDim[3];
    int maxGridSize[3], major, minor, multiProcessorCount, maxThreadsPerMultiProcessor;
    int maxBlocksPerMultiProcessor, l2CacheSize, persistingL2CacheMaxSize, memoryBusWidth,
        asyncEngineCount;
    int canMapHostMemory, concurrentKernels, ECCEnabled, unifiedAddressing, managedMemory,
        integrated;
    int concurrentManagedAccess, pageableMemoryAccess, pciBusID, pciDeviceID, pciDomainID,
        tccDriver;
    int streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported, isMultiGpuBoard;
    int multiGpuBoardGroupID, hostNativeAtomicSupported, computePreemptionSupported,
        cooperativeLaunch;
    int canUseHostPointerForRegisteredMem, pageableMemoryAccessUsesHostPageTables;
    int directManagedMemAccessFromHost, hostRegisterSupported, memoryPoolsSupported, clusterLaunch;
    int unifiedFunctionPointers; // and of textures, which are 0 here:
    int maxTexture1D, maxTexture1DMipmap, maxTexture2D[2], maxTexture2DMipmap[2],
        maxTexture2DLinear[3];
    int maxTexture2DGather[2], maxTexture3D[3], maxTexture3DAlt[3], maxTextureCubemap,
        maxTexture1DLayered[2];
    int maxTexture2DLayered[3], maxTextureCubemapLayered[2], maxSurface1D, maxSurface2D[2],
        maxSurface3D[3];
    int maxSurface1DLayered[2], maxSurface2DLayered[3], maxSurfaceCubemap,
        maxSurfaceCubemapLayered[2];
    // and what CUDA 13 has dropped
    int clockRate, memoryClockRate, computeMode, kernelExecTimeoutEnabled, deviceOverlap;
    int maxTexture1DLinear, singleToDoublePrecisionPerfRatio, cooperativeMultiDeviceLaunch;
};
struct cudaFuncAttributes {
    size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
    int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA,
        maxDynamicSharedSizeBytes;
    int preferredShmemCarveout;
};
// clang-format off
struct cudaExtent { size_t width, height, depth; }; // width: in bytes
struct cudaPos { size_t x, y, z; };
struct cudaPitchedPtr { void *ptr; size_t pitch, xsize, ysize; };
// clang-format on
struct cudaMemcpy3DParms { // arrays are for textures: here they can only be NULL
    void *srcArray;
    struct cudaPos srcPos;
    struct cudaPitchedPtr srcPtr;
    void *dstArray;
    struct cudaPos dstPos;
    struct cudaPitchedPtr dstPtr;
    struct cudaExtent extent;
    enum cudaMemcpyKind kind;
};
enum cudaMemAllocationType { cudaMemAllocationTypePinned = 1 };
enum cudaMemAllocationHandleType { cudaMemHandleTypeNone };
enum cudaMemLocationType { cudaMemLocationTypeDevice = 1, cudaMemLocationTypeHost };
enum cudaMemPoolAttr { cudaMemPoolAttrReleaseThreshold = 4 };
struct cudaMemLocation {
    enum cudaMemLocationType type;
    int id;
};
struct cudaMemPoolProps {
    enum cudaMemAllocationType allocType;
    enum cudaMemAllocationHandleType handleTypes;
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
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device);
cudaError_t cudaMalloc3D(struct cudaPitchedPtr *pointer, struct cudaExtent extent);
cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, struct cudaMemLocation location,
                                 unsigned int flags, cudaStream_t stream CPU_CUDA_DEFAULT(NULL));
cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice,
                          struct cudaMemLocation location);
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *pointer,
                                     size_t bytes CPU_CUDA_DEFAULT(0),
                                     unsigned int flags CPU_CUDA_DEFAULT(4));
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
cudaError_t cudaMemset2DAsync(void *pointer, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream CPU_CUDA_DEFAULT(NULL));
cudaError_t cudaMemset3D(struct cudaPitchedPtr pointer, int value, struct cudaExtent extent);
cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr pointer, int value, struct cudaExtent extent,
                              cudaStream_t stream CPU_CUDA_DEFAULT(NULL));
cudaError_t cudaMemcpyPeer(void *to, int device, const void *from, int other, size_t bytes);
cudaError_t cudaMemcpyPeerAsync(void *to, int device, const void *from, int other, size_t bytes,
                                cudaStream_t stream CPU_CUDA_DEFAULT(NULL));
cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *copy);
cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *copy,
                              cudaStream_t stream CPU_CUDA_DEFAULT(NULL));

// Streams and events
cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int *flags);
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data);
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function, void *data,
                                  unsigned int flags);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                unsigned int flags CPU_CUDA_DEFAULT(0));
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags);
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream CPU_CUDA_DEFAULT(NULL));
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream CPU_CUDA_DEFAULT(NULL),
                                     unsigned int flags CPU_CUDA_DEFAULT(0));
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end);

// The device
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaDeviceReset(void);
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaInitDevice(int device, unsigned int device_flags, unsigned int flags);
cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *wanted);
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device);
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceGetPCIBusId(char *text, int size, int device);
cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit);
cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value);
cudaError_t cudaSetDeviceFlags(unsigned int flags);
cudaError_t cudaGetDeviceFlags(unsigned int *flags);
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest);
cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config);
cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config);
cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags);
cudaError_t cudaDeviceDisablePeerAccess(int peer);
cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config);
cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config);
cudaError_t cudaProfilerStart(void);
cudaError_t cudaProfilerStop(void);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaGetDriverEntryPointByVersion(
    const char *name, void **function, unsigned int version, unsigned long long flags,
    enum cudaDriverEntryPointQueryResult *result CPU_CUDA_DEFAULT(NULL));
cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                             size_t shared_bytes, cudaStream_t stream);
cudaError_t cudaLaunchCooperativeKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                                        size_t shared_bytes, cudaStream_t stream);

// Kernels
cudaError_t cudaFuncSetAttribute(const void *kernel, enum cudaFuncAttribute attribute, int value);
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *kernel);
cudaError_t cudaFuncSetCacheConfig(const void *kernel, enum cudaFuncCache config);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel,
                                                          int threads_, size_t shared_bytes);

// Errors
cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);
const char *cudaGetErrorName(cudaError_t error);
const char *cudaGetErrorString(cudaError_t error);

#ifdef __cplusplus
}
#endif
