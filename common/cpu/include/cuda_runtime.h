// The CPU stand-in's <cuda_runtime.h>: CUDA's C++, and what ../nvcc makes of kernels and launches.
#pragma once
#define __CUDA_RUNTIME_H__
#include "cuda_runtime_api.h"
#include "device_launch_parameters.h"
#include "vector_types.h"

#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __grid_constant__
#ifndef __clang__
#define __builtin_assume(condition) ((void)0)
#endif
#define __align__(n) __attribute__((aligned(n)))
#ifndef __CUDACC__ // else ../nvcc rewrites these words
#define __global__
#define __device__
#define __host__
#endif

#ifdef __cplusplus
// Functions of std:: are the host's, as those that ../sides.py marks: else g++ would not inline them there. libstdc++'s
// words for constexpr since C++11, 14, 20 and 23 stand in front of most; ../cuda_to_cpp.py makes of cpu_cuda_std what
// marks a function, and takes it out where the word says something else.
#if defined __CUDACC__ && !defined _GLIBCXX_CONSTEXPR
#define _GLIBCXX_USE_CONSTEXPR constexpr
#define _GLIBCXX_CONSTEXPR constexpr cpu_cuda_std
#define _GLIBCXX14_CONSTEXPR constexpr cpu_cuda_std
#if __cplusplus >= 202002
#define _GLIBCXX20_CONSTEXPR constexpr cpu_cuda_std
#else
#define _GLIBCXX20_CONSTEXPR cpu_cuda_std
#endif
#if __cplusplus <= 202002
#define _GLIBCXX23_CONSTEXPR cpu_cuda_std
#endif
#endif
#include <cstdio> // which undefines the printf below, but once
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <type_traits>
#include <utility>

// ---- What the runtime offers to the code that ../nvcc makes

extern "C" {
// threadIdx is constant, but for the loop over the threads
#define CPU_CUDA_AT_HAND __attribute__((tls_model("initial-exec")))
extern __thread uint3 cpu_cuda_thread __asm__("threadIdx") CPU_CUDA_AT_HAND;
extern __thread unsigned cpu_cuda_row_end CPU_CUDA_AT_HAND;
extern __thread void *cpu_cuda_dynamic_shared CPU_CUDA_AT_HAND;
bool cpu_cuda_next_row(void); // the next thread, if threadIdx.x is at its end
void cpu_cuda_barrier(const char *what, bool yes, const char *file, int line);
void cpu_cuda_tile(const char *what, unsigned size, const void *value, size_t bytes, void *given,
                   const char *file, int line);
unsigned cpu_cuda_votes(unsigned *all);
void cpu_cuda_grid_barrier(const char *file, int line);
void cpu_cuda_warp(const char *what, unsigned *mask, unsigned long value, unsigned long given[32],
                   const char *file, int line);
unsigned cpu_cuda_active(const char *file, int line);
void cpu_cuda_configure(const char *kernel, const char *file, int line, dim3 grid, dim3 block,
                        size_t shared_bytes, cudaStream_t stream);
void cpu_cuda_argument(const void *pointer, bool is_const, bool is_volatile);
void *cpu_cuda_function(void *function);
void cpu_cuda_shared(const volatile void *base, size_t bytes, const char *name);
void cpu_cuda_fence(bool is_for_block);
void cpu_cuda_give_turn(void);
__attribute__((pure)) int cpu_cuda_reads(const void *address, size_t bytes); // gives 0
void cpu_cuda_be_version_12(void);
void cpu_cuda_trap(const char *file, int line);
void cpu_cuda_copy_arguments(void *to, const void *from, size_t bytes);
void cpu_cuda_launch(const void *kernel, const char *name, const void *body, size_t bytes,
                     void (*run_threads)(const void *));
void cpu_cuda_add_kernel(void *kernel, void (*call)(void *kernel, void **arguments));
void cpu_cuda_add_variables(char *start, const char *end, bool is_managed, bool shares_pages);
void *cpu_cuda_on_host(const volatile void *variable);
cudaError_t cpu_cuda_find_symbol(void **pointer, const void *symbol);
cudaError_t cpu_cuda_copy_symbol(bool is_to, const void *symbol, size_t symbol_bytes, size_t offset,
                                 const void *memory, size_t bytes, cudaMemcpyKind kind,
                                 cudaStream_t stream, bool wait);
int cpu_cuda_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
}

namespace cpu_cuda {

// Says in g++'s list of calls whose body it is in (../calls.py); in the compiled code it is nothing.
template <char side, int token>
__attribute__((always_inline, artificial)) constexpr inline void in()
{}

// A lambda with __device__: a kernel takes this one alone of the host's lambdas.
// A template's parameter ends in _, as a program may be compiled with -DF=...
template <class F_> struct extended : F_ {};
template <class F_> extended(F_) -> extended<F_>;

// A kernel's body has its template's arguments in its name: a lambda among them has to be an extended one.
constexpr int count(const char *text, const char *word)
{
    int found = 0;
    for (; *text; text++) {
        int n = 0;
        while (word[n] && text[n] == word[n]) n++;
        found += !word[n];
    }
    return found;
}
template <class Thread> constexpr bool has_host_lambda()
{
    const char *name = __PRETTY_FUNCTION__;
    return count(name, "<lambda(") + count(name, "(lambda at") - 1 >
           count(name, "cpu_cuda::extended<");
}
template <class... P_> constexpr size_t parameter_bytes()
{
    size_t bytes = 0;
    ((bytes = (bytes + alignof(P_) - 1) / alignof(P_) * alignof(P_) + sizeof(P_)), ...);
    return bytes;
}

// kernel<<<grid, block, ...>>>(...) becomes (configure(..., grid, block, ...), kernel(...)).
inline void configure(const char *kernel, const char *file, int line, dim3 grid, dim3 block = 1,
                      size_t shared_bytes = 0, cudaStream_t stream = nullptr)
{
    cpu_cuda_configure(kernel, file, line, grid, block, shared_bytes, stream);
}

// What a kernel gets for an argument; of a pointer it is noted where it points to.
template <class T> auto argument(const T &value)
{
    auto copy = value;
    using P_ = decltype(copy); // without const and __restrict__
    using V_ = std::remove_pointer_t<P_>;
    if constexpr (std::is_pointer_v<P_> && std::is_function_v<V_>)
        copy = (P_)cpu_cuda_function((void *)copy);
    else if constexpr (std::is_pointer_v<P_>)
        cpu_cuda_argument(const_cast<const void *>(static_cast<const volatile void *>(copy)),
                          std::is_const_v<V_>, std::is_volatile_v<V_>);
    return copy;
}

// An object is copied once, for the parameter, and then bit by bit: constructors and destructors are the host's.
template <class T, bool = std::is_trivially_copyable<T>::value> struct object {
    alignas(T) char room[sizeof(T)];
    explicit object(const T &v) { memcpy(room, (const void *)&v, sizeof v); }
    T &value() { return *reinterpret_cast<T *>(room); }
};
template <class T> struct object<T, true> {
    T kept;
    explicit object(const T &v) : kept(argument(v)) {}
    T &value() { return kept; }
};
template <class Thread> struct bits {
    alignas(Thread) char room[sizeof(Thread)];
};

// One thread, with arguments of its own. Not inlined: threadIdx, constant in it, changes outside.
#if CPU_CUDA_HAS_FMA // as kernels, see ../cuda_to_cpp.py: else they would not be inlined here
template <class Thread> __attribute__((noinline, target("fma"))) void run_thread(bits<Thread> mine)
#else
template <class Thread> __attribute__((noinline)) void run_thread(bits<Thread> mine)
#endif
{
    (*reinterpret_cast<Thread *>(&mine))();
}

// Threads of a block, one after the other, from the one in threadIdx on.
template <class Thread> __attribute__((no_sanitize("thread"))) void run_threads(const void *kept)
{
    bits<Thread> first; // on the stack, where a kernel may read it
    cpu_cuda_copy_arguments(&first, kept, sizeof first);
    do run_thread<Thread>(first);
    while (++cpu_cuda_thread.x < cpu_cuda_row_end || cpu_cuda_next_row());
}

// For those who call a kernel by its address and a list of pointers to its arguments.
template <class... P_, size_t... I_>
void call(void (*kernel)(P_...), void **arguments, std::index_sequence<I_...>)
{
    kernel(*static_cast<std::remove_reference_t<P_> *>(arguments[I_])...);
}
template <class... P_> const void *add_kernel(void (*kernel)(P_...))
{
    static_assert(parameter_bytes<P_...>() <= 32764,
                  "the parameters of a kernel have at most 32764 bytes");
    cpu_cuda_add_kernel(reinterpret_cast<void *>(kernel), [](void *k, void **arguments) {
        call(reinterpret_cast<void (*)(P_...)>(k), arguments, std::index_sequence_for<P_...>());
    });
    return reinterpret_cast<const void *>(kernel);
}

// When the program begins. Static: one module may be loaded twice.
template <auto kernel> [[maybe_unused]] static const void *const added = add_kernel(kernel);

// What the body of a kernel becomes: nothing runs yet, but all that it needs is kept.
template <auto kernel, class Thread>
void launch(const char *name, const Thread &thread, bool has_body = true)
{
    static_assert(!has_host_lambda<Thread>(),
                  "a kernel takes a lambda of host code only if it is a __device__ one");
    const void *address = nullptr;
    if constexpr (!std::is_null_pointer_v<decltype(kernel)>) address = added<kernel>;
    cpu_cuda_launch(address, name, &thread, sizeof thread,
                    has_body ? run_threads<Thread> : nullptr);
}

// A variable of the device that is a template's.
template <auto &v>
static const bool is_variable = (cpu_cuda_add_variables((char *)&v, (char *)(&v + 1), true, true),
                                 true);
template <auto &v> __forceinline__ auto &variable()
{
    (void)&is_variable<v>;
    return v;
}

// What the host's code calls a variable of the device is another one, which has its address on the host.
template <class T> T &on_host(T &variable) { return *(T *)cpu_cuda_on_host(&variable); }

template <int order = __ATOMIC_RELAXED, class T, class F_>
__forceinline__ T atomically(T *address, F_ change)
{
    T seen, wanted;
    __atomic_load(address, &seen, __ATOMIC_RELAXED);
    do wanted = change(seen);
    while (!__atomic_compare_exchange(address, &seen, &wanted, true, order, __ATOMIC_RELAXED));
    return seen; // an atomic returns what was there before
}

// An exchange reads only if what it returns is used: else g++ leaves the pure call out.
template <int order, class T> __forceinline__ T exchange(T *address, T value)
{
    int zero = cpu_cuda_reads(address, sizeof value);
    cpu_cuda_give_turn();
    T seen = value;
    while (!__atomic_compare_exchange(address, &seen, &value, true, order, __ATOMIC_RELAXED))
        ;
    return zero ? T() : seen;
}

} // namespace cpu_cuda

// ---- In a kernel

#include "cpu_warp.h"

inline void __threadfence() { cpu_cuda_fence(false); }
inline void __threadfence_system() { cpu_cuda_fence(false); }
inline void __threadfence_block() { cpu_cuda_fence(true); }
inline void __trap(CPU_CUDA_HERE) { cpu_cuda_trap(file, line); }
inline void __nanosleep(unsigned) {} // a sleep may be short
inline long long clock64() // of a device with 1 GHz; ../nvcc takes it for clock() too, in kernels
{
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000ll + now.tv_nsec;
}

// Loads and stores that tell a GPU's cache what to keep.
#define CPU_CUDA_LOAD(name) \
    template <class T> __forceinline__ T name(const T *pointer) \
    { \
        const T &value = *pointer; \
        return value; \
    }
#define CPU_CUDA_STORE(name) \
    template <class T> __forceinline__ void name(T *pointer, T value) { *pointer = value; }
CPU_CUDA_LOAD(__ldg)
CPU_CUDA_LOAD(__ldca)
CPU_CUDA_LOAD(__ldcg)
CPU_CUDA_LOAD(__ldcs)
CPU_CUDA_LOAD(__ldcv)
CPU_CUDA_LOAD(__ldlu)
CPU_CUDA_STORE(__stwb)
CPU_CUDA_STORE(__stcg)
CPU_CUDA_STORE(__stcs)
CPU_CUDA_STORE(__stwt)

// For the device, the system, or the block: of that ../check hears by the order. Here they do the same.
#define CPU_CUDA_ATOMIC(T, name, wanted) CPU_CUDA_SCOPES(T, (T * address, T value), name, wanted)
#define CPU_CUDA_SCOPES(T, parameters, name, wanted) \
    CPU_CUDA_SCOPED(T, parameters, name, wanted, __ATOMIC_RELAXED) \
    CPU_CUDA_SCOPED(T, parameters, name##_block, wanted, __ATOMIC_RELEASE) \
    CPU_CUDA_SCOPED(T, parameters, name##_system, wanted, __ATOMIC_RELAXED)
#define CPU_CUDA_SCOPED(T, parameters, name, wanted, order) \
    __forceinline__ T name parameters \
    { \
        return cpu_cuda::atomically<order>(address, [=](T old) -> T { return wanted; }); \
    }
#define CPU_CUDA_ATOMIC_U(name, wanted) \
    CPU_CUDA_ATOMIC(unsigned, name, wanted) CPU_CUDA_ATOMIC(unsigned long long, name, wanted)
#define CPU_CUDA_ATOMIC_UI(name, wanted) \
    CPU_CUDA_ATOMIC_U(name, wanted) CPU_CUDA_ATOMIC(int, name, wanted)
CPU_CUDA_ATOMIC_UI(atomicAdd, old + value)
CPU_CUDA_ATOMIC(float, atomicAdd, old + value)
CPU_CUDA_ATOMIC(double, atomicAdd, old + value)
CPU_CUDA_ATOMIC(int, atomicSub, old - value)
CPU_CUDA_ATOMIC(unsigned, atomicSub, old - value)
CPU_CUDA_ATOMIC_UI(atomicMin, value < old ? value : old)
CPU_CUDA_ATOMIC(long long, atomicMin, value < old ? value : old)
CPU_CUDA_ATOMIC_UI(atomicMax, old < value ? value : old)
CPU_CUDA_ATOMIC(long long, atomicMax, old < value ? value : old)
CPU_CUDA_ATOMIC_UI(atomicAnd, old &value)
CPU_CUDA_ATOMIC_UI(atomicOr, old | value)
CPU_CUDA_ATOMIC_UI(atomicXor, old ^ value)
CPU_CUDA_ATOMIC(unsigned, atomicInc, old >= value ? 0 : old + 1)
CPU_CUDA_ATOMIC(unsigned, atomicDec, old == 0 || old > value ? value : old - 1)
#define CPU_CUDA_EXCHANGE(T, name, order) \
    __forceinline__ T name(T *address, T value) \
    { \
        return cpu_cuda::exchange<order>(address, value); \
    }
#define CPU_CUDA_EXCHANGES(T) \
    CPU_CUDA_EXCHANGE(T, atomicExch, __ATOMIC_RELAXED) \
    CPU_CUDA_EXCHANGE(T, atomicExch_block, __ATOMIC_RELEASE) \
    CPU_CUDA_EXCHANGE(T, atomicExch_system, __ATOMIC_RELAXED)
CPU_CUDA_EXCHANGES(int)
CPU_CUDA_EXCHANGES(unsigned)
CPU_CUDA_EXCHANGES(unsigned long long)
CPU_CUDA_EXCHANGES(float)
#define CPU_CUDA_ATOMIC_CAS(T) \
    CPU_CUDA_SCOPES(T, (T * address, T compare, T value), atomicCAS, old == compare ? value : old)
CPU_CUDA_ATOMIC_CAS(int)
CPU_CUDA_ATOMIC_CAS(unsigned)
CPU_CUDA_ATOMIC_CAS(unsigned long long)
CPU_CUDA_ATOMIC_CAS(unsigned short)

#include "cpu_math.h"

// ---- C++ forms of runtime calls: pointers to any type, variables of the device by name. Inline, so that the line of the
// call is known.

#define CPU_CUDA_FORM(type, name, parameters, ...) \
    template <class type> __forceinline__ cudaError_t name parameters { return name(__VA_ARGS__); }
// clang-format off
CPU_CUDA_FORM(T, cudaMalloc, (T **p, size_t n), (void **)p, n)
CPU_CUDA_FORM(T, cudaMallocPitch, (T **p, size_t *n, size_t w, size_t h), (void **)p, n, w, h)
CPU_CUDA_FORM(T, cudaMallocManaged, (T **p, size_t n, unsigned flags = 1), (void **)p, n, flags)
CPU_CUDA_FORM(T, cudaHostAlloc, (T **p, size_t n, unsigned flags), (void **)p, n, flags)
CPU_CUDA_FORM(T, cudaMallocAsync, (T **p, size_t n, cudaStream_t s), (void **)p, n, s)
CPU_CUDA_FORM(T, cudaMallocFromPoolAsync, (T **p, size_t n, cudaMemPool_t pool, cudaStream_t s),
              (void **)p, n, pool, s)
CPU_CUDA_FORM(T, cudaHostGetDevicePointer, (T **p, void *host, unsigned flags), (void **)p, host, flags)
#define CPU_CUDA_LAUNCH(name) /* the kernel of a template is not known yet */ \
    CPU_CUDA_FORM(T, name, \
                  (T * kernel, dim3 grid, dim3 block, void **arguments, size_t n = 0, \
                   cudaStream_t s = 0), \
                  (const void *)kernel, grid, block, arguments, n, s) \
    CPU_CUDA_FORM(... P_, name, \
                  (void (*kernel)(P_...), dim3 grid, dim3 block, void **arguments, size_t n = 0, \
                   cudaStream_t s = 0), \
                  cpu_cuda::add_kernel(kernel), grid, block, arguments, n, s)
CPU_CUDA_LAUNCH(cudaLaunchKernel)
CPU_CUDA_LAUNCH(cudaLaunchCooperativeKernel)
CPU_CUDA_FORM(... P_, cudaFuncSetAttribute, (void (*kernel)(P_...), cudaFuncAttribute what, int value),
              (const void *)kernel, what, value)
CPU_CUDA_FORM(... P_, cudaFuncGetAttributes, (cudaFuncAttributes *all, void (*kernel)(P_...)),
              all, (const void *)kernel)
CPU_CUDA_FORM(... P_, cudaFuncSetCacheConfig, (void (*kernel)(P_...), cudaFuncCache config),
              (const void *)kernel, config)
CPU_CUDA_FORM(... P_, cudaOccupancyMaxActiveBlocksPerMultiprocessor,
              (int *blocks, void (*kernel)(P_...), int threads_, size_t n),
              blocks, (const void *)kernel, threads_, n)
// clang-format on
template <class T> __forceinline__ cudaError_t cudaMallocHost(T **p, size_t n, unsigned flags = 0)
{
    return cudaHostAlloc((void **)p, n, flags);
}
__forceinline__ cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned flags)
{
    return cudaEventCreateWithFlags(event, flags);
}
template <class T>
__forceinline__ cudaError_t cudaMemcpyToSymbol(const T &to, const void *from, size_t n,
                                               size_t offset = 0,
                                               cudaMemcpyKind kind = cudaMemcpyHostToDevice)
{
    return cpu_cuda_copy_symbol(true, &to, sizeof to, offset, from, n, kind, 0, true);
}
template <class T>
__forceinline__ cudaError_t cudaMemcpyToSymbolAsync(const T &to, const void *from, size_t n,
                                                    size_t offset = 0,
                                                    cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                                    cudaStream_t stream = 0)
{
    return cpu_cuda_copy_symbol(true, &to, sizeof to, offset, from, n, kind, stream, false);
}
template <class T>
__forceinline__ cudaError_t cudaMemcpyFromSymbol(void *to, const T &from, size_t n,
                                                 size_t offset = 0,
                                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost)
{
    return cpu_cuda_copy_symbol(false, &from, sizeof from, offset, to, n, kind, 0, true);
}
template <class T>
__forceinline__ cudaError_t cudaMemcpyFromSymbolAsync(void *to, const T &from, size_t n,
                                                      size_t offset = 0,
                                                      cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                                      cudaStream_t stream = 0)
{
    return cpu_cuda_copy_symbol(false, &from, sizeof from, offset, to, n, kind, stream, false);
}
template <class T> __forceinline__ cudaError_t cudaGetSymbolAddress(void **pointer, const T &symbol)
{
    return cpu_cuda_find_symbol(pointer, &symbol);
}
template <class T> __forceinline__ cudaError_t cudaGetSymbolSize(size_t *n, const T &symbol)
{
    *n = sizeof symbol;
    return cpu_cuda_find_symbol(nullptr, &symbol);
}
template <class T>
__forceinline__ cudaError_t cudaOccupancyMaxPotentialBlockSize(int *min_grid, int *block, T kernel,
                                                               size_t bytes = 0, int limit = 0)
{
    *block = limit > 0 && limit < 1024 ? limit : 1024;
    auto *address = (const void *)kernel;
    cudaError_t error =
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(min_grid, address, *block, bytes);
    int multiprocessors = 0;
    if (!error) error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
    *min_grid *= multiprocessors;
    return error;
}
#ifdef CPU_CUDA_12 // what CUDA 13 has dropped
[[maybe_unused]] static const bool cpu_cuda_is_12 = (cpu_cuda_be_version_12(), true);
#define cudaThreadSynchronize cudaDeviceSynchronize
#define cudaThreadExit cudaDeviceReset
#define cudaThreadSetLimit cudaDeviceSetLimit
#define cudaThreadGetLimit cudaDeviceGetLimit
#define cudaThreadSetCacheConfig cudaDeviceSetCacheConfig
#define cudaThreadGetCacheConfig cudaDeviceGetCacheConfig
inline cudaMemLocation cpu_cuda_place(int device)
{
    if (device == cudaCpuDeviceId) return {cudaMemLocationTypeHost, 0};
    return {cudaMemLocationTypeDevice, device};
}
inline cudaError_t cudaMemPrefetchAsync(const void *p, size_t n, int device, cudaStream_t s = 0)
{
    return cudaMemPrefetchAsync(p, n, cpu_cuda_place(device), 0, s);
}
inline cudaError_t cudaMemAdvise(const void *p, size_t n, cudaMemoryAdvise advice, int device)
{
    return cudaMemAdvise(p, n, advice, cpu_cuda_place(device));
}
// For GPUs whose warps run in step: of the lanes that are there.
#define CPU_CUDA_UNSYNCED(name, type) \
    template <class T> T name(T value, type distance, int width = 32, CPU_CUDA_HERE) \
    { \
        return name##_sync(cpu_cuda_active(file, line), value, distance, width, file, line); \
    }
CPU_CUDA_UNSYNCED(__shfl, int)
CPU_CUDA_UNSYNCED(__shfl_up, unsigned)
CPU_CUDA_UNSYNCED(__shfl_down, unsigned)
CPU_CUDA_UNSYNCED(__shfl_xor, int)
#define CPU_CUDA_UNSYNCED_VOTE(T, name) \
    inline T name(int predicate, CPU_CUDA_HERE) \
    { \
        return name##_sync(cpu_cuda_active(file, line), predicate, file, line); \
    }
CPU_CUDA_UNSYNCED_VOTE(int, __any)
CPU_CUDA_UNSYNCED_VOTE(int, __all)
CPU_CUDA_UNSYNCED_VOTE(unsigned, __ballot)
#else
// Before CUDA 13 a place was a device's number.
#define CPU_CUDA_DROPPED \
    __attribute__(( \
        error("CUDA 13 takes a place, such as cudaMemLocation{" \
              "cudaMemLocationTypeDevice, 0}, not a device's number (nvcc --cuda-12 takes it)")))
CPU_CUDA_DROPPED cudaError_t cudaMemPrefetchAsync(const void *, size_t, int device,
                                                  cudaStream_t = 0);
CPU_CUDA_DROPPED cudaError_t cudaMemAdvise(const void *, size_t, cudaMemoryAdvise, int device);
#endif

inline cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth)
{
    return {width, height, depth};
}
inline cudaPos make_cudaPos(size_t x, size_t y, size_t z) { return {x, y, z}; }
inline cudaPitchedPtr make_cudaPitchedPtr(void *p, size_t pitch, size_t width, size_t height)
{
    return {p, pitch, width, height};
}

// printf in a kernel is shown at a synchronisation.
namespace std {
using ::cpu_cuda_printf;
}
#define printf(...) cpu_cuda_printf(__VA_ARGS__)
#ifdef __CUDACC__
#define __assert_fail cpu_cuda_assert_fail // what assert() calls
#include <assert.h>
#endif
#endif
