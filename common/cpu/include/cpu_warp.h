// Part of the CPU stand-in's <cuda_runtime.h>: barriers with votes, and what the threads of a warp tell each
// other. They wait for all lanes of the mask that have not ended. The value of a lane that takes no part is not
// defined: here it is 0, as on an H100.
#pragma once

#define CPU_CUDA_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()

namespace cpu_cuda {

inline unsigned thread_number()
{
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
inline int lane() { return (int)(thread_number() % 32); }

template <class T>
struct is_number : std::bool_constant<std::is_arithmetic_v<T> ||
                                      (std::is_enum_v<T> && std::is_convertible_v<T, int>)> {};

template <class T> struct lanes { // what each lane of a mask has given
    unsigned mask;                // those that came
    unsigned long given[32];

    lanes(const char *what, unsigned wanted, T value, const char *file, int line) : mask(wanted)
    {
        static_assert(is_number<T>::value && sizeof(T) <= 8, "a number of at most 8 bytes");
        unsigned long bits = 0;
        __builtin_memcpy(&bits, &value, sizeof value);
        cpu_cuda_warp(what, &mask, bits, given, file, line);
    }
    bool has(int i) const { return mask >> i & 1; }
    T operator[](int i) const
    {
        T value;
        __builtin_memcpy(&value, &given[i], sizeof value);
        return value;
    }
};

template <class T, class Operation>
T reduce(const char *what, unsigned mask, T value, Operation combine, const char *file, int line)
{
    lanes<T> all(what, mask, value, file, line);
    int first = __builtin_ctz(all.mask);
    T result = all[first];
    for (int i = first + 1; i < 32; i++)
        if (all.has(i)) result = combine(result, all[i]);
    return result;
}

} // namespace cpu_cuda

// ---- A block

inline void __syncthreads(CPU_CUDA_HERE) { cpu_cuda_barrier("__syncthreads", false, file, line); }
inline int __syncthreads_count(int predicate, CPU_CUDA_HERE)
{
    cpu_cuda_barrier("__syncthreads_count", predicate, file, line);
    return (int)cpu_cuda_votes(nullptr);
}
inline int __syncthreads_or(int predicate, CPU_CUDA_HERE)
{
    cpu_cuda_barrier("__syncthreads_or", predicate, file, line);
    return cpu_cuda_votes(nullptr) > 0;
}
inline int __syncthreads_and(int predicate, CPU_CUDA_HERE)
{
    unsigned all;
    cpu_cuda_barrier("__syncthreads_and", predicate, file, line);
    return cpu_cuda_votes(&all) == all;
}

// ---- A warp

inline unsigned __activemask(CPU_CUDA_HERE) { return cpu_cuda_active(file, line); }
inline void __syncwarp(unsigned mask = ~0u, CPU_CUDA_HERE)
{
    unsigned long given[32];
    cpu_cuda_warp("__syncwarp", &mask, 0, given, file, line);
}

// As PTX says of shfl.sync: of the distance 5 bits count; the own value if the lane `source` is not inside. A group may
// so read those before it by xor, not those behind it. ~group_bits: the bits that number the lanes of a group.
#define CPU_CUDA_SHUFFLE(name, type, is_inside, source) \
    template <class T> \
    T name(unsigned mask, T value, type distance, int width = 32, CPU_CUDA_HERE) \
    { \
        int lane = cpu_cuda::lane(), n = (int)distance & 31, group_bits = 32 - width; \
        int first = lane & group_bits, last = first | (~group_bits & 31), from = source; \
        cpu_cuda::lanes<T> all(#name, mask, value, file, line); \
        return is_inside ? all[from] : value; \
    }
CPU_CUDA_SHUFFLE(__shfl_sync, int, true, first | (n & ~group_bits))
CPU_CUDA_SHUFFLE(__shfl_up_sync, unsigned, from >= first, lane - n)
CPU_CUDA_SHUFFLE(__shfl_down_sync, unsigned, from <= last, lane + n)
CPU_CUDA_SHUFFLE(__shfl_xor_sync, int, from <= last, lane ^ n)

inline unsigned __ballot_sync(unsigned mask, int predicate, CPU_CUDA_HERE)
{
    cpu_cuda::lanes<int> all("__ballot_sync", mask, predicate != 0, file, line);
    unsigned yes = 0;
    for (int i = 0; i < 32; i++) yes |= (unsigned)(all.has(i) && all[i]) << i;
    return yes;
}
inline int __any_sync(unsigned mask, int predicate, CPU_CUDA_HERE)
{
    return cpu_cuda::reduce(
        "__any_sync", mask, predicate != 0, [](bool a, bool b) { return a || b; }, file, line);
}
inline int __all_sync(unsigned mask, int predicate, CPU_CUDA_HERE)
{
    return cpu_cuda::reduce(
        "__all_sync", mask, predicate != 0, [](bool a, bool b) { return a && b; }, file, line);
}
template <class T> bool cpu_is_same(T a, T b) // of a float the bits count
{
    return __builtin_memcmp(&a, &b, sizeof a) == 0;
}
template <class T> unsigned __match_any_sync(unsigned mask, T value, CPU_CUDA_HERE)
{
    cpu_cuda::lanes<T> all("__match_any_sync", mask, value, file, line);
    unsigned same = 0;
    for (int i = 0; i < 32; i++) same |= (unsigned)(all.has(i) && cpu_is_same(all[i], value)) << i;
    return same;
}
template <class T> unsigned __match_all_sync(unsigned mask, T value, int *are_all, CPU_CUDA_HERE)
{
    cpu_cuda::lanes<T> all("__match_all_sync", mask, value, file, line);
    *are_all = true;
    for (int i = 0; i < 32; i++) *are_all = *are_all && (!all.has(i) || cpu_is_same(all[i], value));
    return *are_all ? all.mask : 0;
}
#define CPU_CUDA_REDUCE(name, T, combined) \
    inline T __reduce_##name##_sync(unsigned mask, T value, CPU_CUDA_HERE) \
    { \
        return cpu_cuda::reduce( \
            "__reduce_" #name "_sync", mask, value, [](T a, T b) -> T { return combined; }, file, \
            line); \
    }
CPU_CUDA_REDUCE(add, int, (int)((unsigned)a + (unsigned)b))
CPU_CUDA_REDUCE(add, unsigned, a + b)
CPU_CUDA_REDUCE(min, int, a < b ? a : b)
CPU_CUDA_REDUCE(min, unsigned, a < b ? a : b)
CPU_CUDA_REDUCE(max, int, a < b ? b : a)
CPU_CUDA_REDUCE(max, unsigned, a < b ? b : a)
CPU_CUDA_REDUCE(and, unsigned, a &b)
CPU_CUDA_REDUCE(or, unsigned, a | b)
CPU_CUDA_REDUCE(xor, unsigned, a ^ b)
