// The CPU stand-in's <cuda_runtime.h>: the part of CUDA that runs without a GPU, and no more.
// A call that is not declared here does not compile: it never becomes a stub that pretends.
#pragma once
#include <stddef.h>

#define CUDART_VERSION 13000
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)

// clang-format off
#define CPU_CUDA_ERRORS(ERROR) \
    ERROR(cudaSuccess, 0, "no error") \
    ERROR(cudaErrorInvalidValue, 1, "invalid argument") \
    ERROR(cudaErrorMemoryAllocation, 2, "out of memory") \
    ERROR(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy") \
    ERROR(cudaErrorInsufficientDriver, 35, "CUDA driver version is insufficient for CUDA runtime version") \
    ERROR(cudaErrorNoDevice, 100, "no CUDA-capable device is detected") \
    ERROR(cudaErrorInvalidDevice, 101, "invalid device ordinal") \
    ERROR(cudaErrorInvalidResourceHandle, 400, "invalid resource handle") \
    ERROR(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered") \
    ERROR(cudaErrorLaunchFailure, 719, "unspecified launch failure") \
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

typedef struct CUstream_st *cudaStream_t;

struct uint3 {
    unsigned int x, y, z;
};
typedef struct uint3 uint3;

struct dim3 {
    unsigned int x, y, z;
#ifdef __cplusplus
    constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
#endif
};
typedef struct dim3 dim3;

struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem, sharedMemPerBlock;
    int warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
    int major, minor, multiProcessorCount;
};

// One launch, as the runtime keeps it until somebody waits for it.
struct cpu_cuda_launch_record {
    const char *kernel, *file;
    int line;
    dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;
    const void *host_pointer; // a pointer argument that is not device memory, or NULL
    void *arguments;          // owned by the launch
    void (*run_block)(const void *arguments); // runs every thread of the block in blockIdx
    void (*destroy)(void *arguments);
};

#ifdef __cplusplus
extern "C" {
#endif

// Set by the runtime for each block, and by run_block for each thread.
extern __thread uint3 threadIdx, blockIdx __attribute__((tls_model("initial-exec")));
extern __thread dim3 blockDim, gridDim __attribute__((tls_model("initial-exec")));
static const int warpSize __attribute__((unused)) = 32;

cudaError_t cudaMalloc(void **pointer, size_t bytes);
cudaError_t cudaFree(void *pointer);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);
cudaError_t cudaMemset(void *pointer, int value, size_t bytes);
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes);

cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device);

cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);
const char *cudaGetErrorName(cudaError_t error);
const char *cudaGetErrorString(cudaError_t error);

void cpu_cuda_launch(const struct cpu_cuda_launch_record *launch);
int cpu_cuda_is_device_pointer(const void *pointer);
int cpu_cuda_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));

#ifdef __cplusplus
}

#include <cstdio>
#include <tuple>
#include <type_traits>

template <class T> cudaError_t cudaMalloc(T **pointer, size_t bytes)
{
    return cudaMalloc(reinterpret_cast<void **>(pointer), bytes);
}

// The atomics return what was there before, as on a GPU.
template <class T> T atomicAdd(T *address, std::common_type_t<T> value)
{
    if constexpr (std::is_integral_v<T>)
        return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
    T seen, sum;
    __atomic_load(address, &seen, __ATOMIC_RELAXED);
    do
        sum = seen + value;
    while (
        !__atomic_compare_exchange(address, &seen, &sum, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return seen;
}

template <class T> T atomicMin(T *address, std::common_type_t<T> value)
{
    T seen = __atomic_load_n(address, __ATOMIC_RELAXED);
    while (value < seen && !__atomic_compare_exchange_n(address, &seen, value, true,
                                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    return seen;
}

namespace cpu_cuda {

// Every thread of one block, one after the other.
template <class Thread> void run_block(const void *arguments)
{
    const Thread &thread = *static_cast<const Thread *>(arguments);
    const dim3 size = blockDim;
    for (unsigned int z = 0; z < size.z; z++)
        for (unsigned int y = 0; y < size.y; y++)
            for (unsigned int x = 0; x < size.x; x++) {
                threadIdx = {x, y, z};
                thread();
            }
}

template <class T> void note_host_pointer(const void *&found, const T &argument)
{
    if constexpr (std::is_pointer_v<T> && !std::is_function_v<std::remove_pointer_t<T>>)
        if (argument && !cpu_cuda_is_device_pointer(argument))
            found = argument;
}

// What `kernel<<<grid, block, ...>>>` becomes; calling it with the kernel's arguments launches.
template <class Kernel> struct Launcher {
    Kernel kernel;
    cpu_cuda_launch_record launch;

    template <class... Args> void operator()(Args &&...args)
    {
        auto copies = std::tuple<std::decay_t<Args>...>(std::forward<Args>(args)...);
        std::apply([&](const auto &...a) { (note_host_pointer(launch.host_pointer, a), ...); },
                   copies);
        auto thread = [kernel = kernel, copies] { std::apply(kernel, copies); };
        using Thread = decltype(thread);
        launch.arguments = new Thread(thread);
        launch.run_block = run_block<Thread>;
        launch.destroy = [](void *arguments) { delete static_cast<Thread *>(arguments); };
        cpu_cuda_launch(&launch);
    }
};

// A kernel that is named by an expression, table[i] or (k): evaluated at the launch, not later.
template <class Kernel> auto by_value(Kernel *kernel)
{
    return [kernel](const auto &...arguments) { kernel(arguments...); };
}

template <class Kernel>
Launcher<Kernel> launcher(const char *name, const char *file, int line, Kernel kernel, dim3 grid,
                          dim3 block, size_t shared_bytes = 0, cudaStream_t stream = nullptr)
{
    return {
        kernel,
        {name, file, line, grid, block, shared_bytes, stream, nullptr, nullptr, nullptr, nullptr}};
}

} // namespace cpu_cuda

namespace std {
using ::cpu_cuda_printf;
}
#define printf(...) cpu_cuda_printf(__VA_ARGS__)
#endif
