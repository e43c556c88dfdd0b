// Where arrays are, memory on the device and pinned, streams and error texts: CUDA's calls as C functions.
// Build: make libgather.so
// Run:   from Python: see gather.pyx
#include "check.h"

#pragma GCC visibility push(default)
#include "gather.cuh"
#pragma GCC visibility pop

// What a failed call leaves behind for cudaGetLastError() is removed: the return value tells it.
static int status(cudaError_t error)
{
    if (error != cudaSuccess)
        cudaGetLastError();
    return error;
}

extern "C" int gather_find(gather_memory *memory, int *number, const void *pointer, size_t bytes)
{
    cudaPointerAttributes first, last;
    cudaError_t error = cudaPointerGetAttributes(&first, pointer);
    if (error != cudaSuccess)
        return status(error);
    if (first.type == cudaMemoryTypeHost) { // is all of it pinned?
        error = cudaPointerGetAttributes(&last, (const char *)pointer + (bytes ? bytes - 1 : 0));
        if (error != cudaSuccess)
            return status(error);
        if (last.type != cudaMemoryTypeHost)
            first.type = cudaMemoryTypeUnregistered;
    }
    memory->host = first.type == cudaMemoryTypeDevice ? NULL : (void *)pointer;
    memory->device = first.type == cudaMemoryTypeUnregistered ? NULL : first.devicePointer;
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
