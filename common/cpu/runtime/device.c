// The one device there is: this machine's CPU, with the limits of a GPU.
#include "runtime.h"
#include <stdio.h>
#include <unistd.h>

PUBLIC cudaError_t cudaGetDeviceCount(int *count)
{
    cudaError_t error = cpu_enter();
    if (!error && !count)
        error = cudaErrorInvalidValue;
    if (count)
        *count = error ? 0 : 1;
    return cpu_leave(error);
}

PUBLIC cudaError_t cudaGetDevice(int *device)
{
    cudaError_t error = cpu_enter();
    if (!error && !device)
        error = cudaErrorInvalidValue;
    if (!error)
        *device = 0;
    return cpu_leave(error);
}

PUBLIC cudaError_t cudaSetDevice(int device)
{
    cudaError_t error = cpu_enter();
    return cpu_leave(!error && device != 0 ? cudaErrorInvalidDevice : error);
}

PUBLIC cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device)
{
    cudaError_t error = cpu_enter();
    if (!error && !properties)
        error = cudaErrorInvalidValue;
    if (!error && device != 0)
        error = cudaErrorInvalidDevice;
    if (!error) {
        *properties = (struct cudaDeviceProp){
            .name = "CPU stand-in (no GPU)",
            .totalGlobalMem = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE) / 2,
            .sharedMemPerBlock = 49152,
            .warpSize = 32,
            .maxThreadsPerBlock = 1024,
            .maxThreadsDim = {1024, 1024, 64},
            .maxGridSize = {2147483647, 65535, 65535},
            .major = 7,
            .minor = 5,
            .multiProcessorCount = (int)sysconf(_SC_NPROCESSORS_ONLN),
        };
    }
    return cpu_leave(error);
}
