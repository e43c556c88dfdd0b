// Memory for gather.pyx, streams and error texts: CUDA's calls as C functions that return their code.
// Build: make libgather.so
// Run:   from Python: see gather.pyx
#include "check.h"

#pragma GCC visibility push(default)
#include "gather.cuh"
#pragma GCC visibility pop
#include "gather_launch.cuh"

// What a failed call leaves behind for cudaGetLastError() is removed: the return value tells it.
static int status(cudaError_t error)
{
    if (error != cudaSuccess)
        cudaGetLastError();
    return error;
}

int gather_check_process(void)
{
    return status(cudaFree(NULL)); // frees nothing; makes the context if there is none yet
}

extern "C" int gather_device_count(int *count)
{
    return status(cudaGetDeviceCount(count));
}

extern "C" int gather_device_of(const void *pointer, int *device)
{
    cudaPointerAttributes attributes;
    cudaError_t error = cudaPointerGetAttributes(&attributes, pointer);
    if (error == cudaSuccess && attributes.type == cudaMemoryTypeUnregistered)
        *device = GATHER_NO_DEVICE;
    else if (error == cudaSuccess)
        *device = attributes.type == cudaMemoryTypeDevice ? attributes.device : GATHER_ANY_DEVICE;
    return status(error);
}

extern "C" int gather_use_device(int device, int *before)
{
    cudaError_t error = cudaGetDevice(before);
    if (error == cudaSuccess && device != *before)
        error = cudaSetDevice(device);
    return status(error);
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
    int error = gather_check_process();
    if (error != cudaSuccess)
        return error;
    std::lock_guard<std::mutex> locked(gather_lock); // gather() may have it pinned just now
    return status(cudaHostRegister(pointer, bytes, cudaHostRegisterDefault));
}

extern "C" int gather_unpin(void *pointer)
{
    int error = gather_check_process();
    if (error != cudaSuccess)
        return error;
    std::lock_guard<std::mutex> locked(gather_lock); // gather() may rely on it just now
    return status(cudaHostUnregister(pointer));
}

extern "C" int gather_copy(void *to, const void *from, size_t bytes, void *stream)
{
    int error = gather_check_process();
    if (error != cudaSuccess)
        return error;
    // CUDA copies nothing that is pinned in part, and gather() may have a part of it pinned just now.
    std::lock_guard<std::mutex> locked(gather_lock);
    error = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, (cudaStream_t)stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize((cudaStream_t)stream);
    return status((cudaError_t)error);
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

int gather_check_stream(void *stream)
{
    int devices, error = stream ? cudaGetDeviceCount(&devices) : cudaSuccess;
    if (error == cudaSuccess && stream && devices > 1)
        error = gather_wait_for(stream, stream); // of another: error 400, invalid resource handle
    return status((cudaError_t)error);
}

extern "C" const char *gather_error_name(int code)
{
    return cudaGetErrorName((cudaError_t)code);
}

extern "C" const char *gather_error_text(int code)
{
    return cudaGetErrorString((cudaError_t)code);
}
