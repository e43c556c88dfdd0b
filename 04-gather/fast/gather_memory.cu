// Where arrays are, memory on the device and pinned, streams and error texts: CUDA's calls as C functions.
// Build: make libgather.so
// Run:   from Python: see gather_arrays.pyx and gather_pinned.pyx
#include <cuda.h> // types only: the driver's function is found while the program runs
#include <cuda_runtime.h>
#include <stdint.h>

#pragma GCC visibility push(default)
#include "gather_memory.h"
#pragma GCC visibility pop

// What a failed call leaves behind for cudaGetLastError() is removed: the return value tells it.
static int status(cudaError_t error)
{
    if (error != cudaSuccess)
        cudaGetLastError();
    return error;
}

// The driver's cuPointerGetAttributes, or NULL. It alone tells how far the memory at an address goes.
static decltype(&cuPointerGetAttributes) find_driver_function(void)
{
    void *function = NULL;
#if CUDART_VERSION >= 13000
    status(cudaGetDriverEntryPointByVersion("cuPointerGetAttributes", &function, 11020,
                                            cudaEnableDefault));
#else
    status(cudaGetDriverEntryPoint("cuPointerGetAttributes", &function, cudaEnableDefault));
#endif
    return (decltype(&cuPointerGetAttributes))function;
}

// Whether all of the bytes were allocated or pinned; the first was. True if the driver does not tell.
static bool is_whole(const void *pointer, size_t bytes)
{
    static const auto get_attributes = find_driver_function();
    CUpointer_attribute asked[] = {CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                                   CU_POINTER_ATTRIBUTE_RANGE_SIZE};
    CUdeviceptr first = (CUdeviceptr)pointer, at = first, start = 0;
    size_t size = 0;
    void *answers[] = {&start, &size};
    for (; get_attributes && at < first + bytes; at = start + size) // it may be in several pieces
        if (get_attributes(2, asked, answers, at) != CUDA_SUCCESS || start + size <= at)
            return at == first;
    return true;
}

extern "C" int gather_find(gather_memory *memory, int *number, const void *pointer, size_t bytes)
{
    if (!memory || !pointer || bytes > SIZE_MAX - (size_t)pointer)
        return cudaErrorInvalidValue;
    cudaPointerAttributes first;
    cudaError_t error = cudaPointerGetAttributes(&first, pointer);
    if (error != cudaSuccess)
        return status(error);
    if (first.type != cudaMemoryTypeUnregistered && !is_whole(pointer, bytes)) {
        if (first.type != cudaMemoryTypeHost)
            return cudaErrorInvalidValue;
        first.type = cudaMemoryTypeUnregistered; // a kernel does not reach all of it
    }
    memory->host = first.type == cudaMemoryTypeDevice ? NULL : (void *)pointer;
    memory->device = first.type == cudaMemoryTypeUnregistered ? NULL : first.devicePointer;
    if (first.type == cudaMemoryTypeDevice) // devicePointer is NULL if another GPU is current
        memory->device = (void *)pointer;
    if (number)
        *number = first.type == cudaMemoryTypeDevice ? first.device : -1;
    return cudaSuccess;
}

extern "C" int gather_device_allocate(void **pointer, size_t bytes)
{
    return status(cudaMalloc(pointer, bytes));
}

extern "C" int gather_device_free(void *pointer)
{
    return status(cudaFree(pointer));
}

extern "C" int gather_pinned_allocate(void **pointer, size_t bytes)
{
    return status(cudaMallocHost(pointer, bytes));
}

extern "C" int gather_pinned_free(void *pointer)
{
    return status(cudaFreeHost(pointer));
}

extern "C" int gather_pin(void *pointer, size_t bytes)
{
    return status(cudaHostRegister(pointer, bytes, cudaHostRegisterDefault));
}

extern "C" int gather_unpin(void *pointer)
{
    return status(cudaHostUnregister(pointer));
}

extern "C" int gather_copy(void *to, const void *from, size_t bytes, void *stream)
{
    cudaError_t error = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, (cudaStream_t)stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize((cudaStream_t)stream);
    return status(error);
}

extern "C" int gather_current_device(int *number)
{
    return status(cudaGetDevice(number));
}

extern "C" int gather_use_device(int number, int *before)
{
    cudaError_t error = cudaGetDevice(before);
    return status(error != cudaSuccess ? error : cudaSetDevice(number));
}

extern "C" int gather_device_count(int *count)
{
    return status(cudaGetDeviceCount(count));
}

extern "C" int gather_wait_for(void *stream, void *other)
{
    cudaEvent_t event;
    cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    if (error != cudaSuccess)
        return status(error);
    error = cudaEventRecord(event, (cudaStream_t)other);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent((cudaStream_t)stream, event, 0);
    cudaEventDestroy(event); // it goes when it is no longer needed
    return status(error);
}

extern "C" const char *gather_error_name(int code)
{
    return cudaGetErrorName((cudaError_t)code);
}

extern "C" const char *gather_error_text(int code)
{
    return cudaGetErrorString((cudaError_t)code);
}
