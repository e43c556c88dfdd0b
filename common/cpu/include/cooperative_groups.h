// The CPU stand-in's <cooperative_groups.h>: the grid, blocks, tiles, the threads of a warp that are active.
#pragma once
#include "cuda_runtime.h"

namespace cooperative_groups {

inline unsigned long long cpu_count(uint3 v) { return (unsigned long long)v.x * v.y * v.z; }
inline unsigned cpu_tile(unsigned size) // the mask of the tile that this thread is in
{
    return (size == 32 ? ~0u : (1u << size) - 1) << (unsigned)cpu_cuda::lane() / size * size;
}

// Any group: the whole block, or the lanes of a warp that are in a mask.
class thread_group {
  public:
    thread_group(unsigned count, unsigned rank, unsigned mask, bool is_block)
        : count(count), rank(rank), mask(mask), is_block(is_block)
    {}
    unsigned size() const { return count; }
    unsigned num_threads() const { return count; }
    unsigned thread_rank() const { return rank; }
    void sync(CPU_CUDA_HERE) const
    {
        if (is_block)
            cpu_cuda_barrier("sync", false, file, line);
        else
            __syncwarp(mask, file, line);
    }

  protected:
    unsigned count, rank, mask;
    bool is_block;
};

class thread_block : public thread_group {
  public:
    thread_block()
        : thread_group((unsigned)cpu_count(blockDim), cpu_cuda::thread_number(), ~0u, true)
    {}
    static dim3 group_index() { return blockIdx; }
    static dim3 thread_index() { return threadIdx; }
    static dim3 group_dim() { return blockDim; }
    static dim3 dim_threads() { return blockDim; }
};
inline thread_block this_thread_block() { return thread_block(); }
template <unsigned Threads = 1024>
struct block_tile_memory { // what a GPU needs for tiles of several warps
    char unused[Threads];
};
template <unsigned Threads> thread_block this_thread_block(block_tile_memory<Threads> &)
{
    return thread_block();
}

class grid_group {
  public:
    void sync(CPU_CUDA_HERE) const { cpu_cuda_grid_barrier(file, line); }
    static bool is_valid() { return true; }
    static unsigned long long num_blocks() { return cpu_count(gridDim); }
    static unsigned long long num_threads() { return num_blocks() * cpu_count(blockDim); }
    static unsigned long long size() { return num_threads(); }
    static unsigned long long block_rank()
    {
        return blockIdx.x + gridDim.x * (blockIdx.y + (unsigned long long)gridDim.y * blockIdx.z);
    }
    static unsigned long long thread_rank()
    {
        return block_rank() * cpu_count(blockDim) + cpu_cuda::thread_number();
    }
    static dim3 group_dim() { return gridDim; }
    static dim3 dim_blocks() { return gridDim; }
    static dim3 block_index() { return blockIdx; }
};
inline grid_group this_grid() { return grid_group(); }

// Lanes of a warp, counted within the group.
class lanes_group : public thread_group {
  public:
    unsigned cpu_mask() const { return mask; }
    template <class T> T shfl(T value, int source, CPU_CUDA_HERE) const
    {
        return __shfl_sync(mask, value, lane_of(source), 32, file, line);
    }
    int any(int predicate, CPU_CUDA_HERE) const { return __any_sync(mask, predicate, file, line); }
    // As in CUDA's header: a lane that has left the kernel says no.
    int all(int predicate, CPU_CUDA_HERE) const
    {
        return __ballot_sync(mask, predicate, file, line) == mask;
    }
    unsigned ballot(int predicate, CPU_CUDA_HERE) const
    {
        return packed(__ballot_sync(mask, predicate, file, line));
    }
    template <class T> unsigned match_any(T value, CPU_CUDA_HERE) const
    {
        return packed(__match_any_sync(mask, value, file, line));
    }
    template <class T> unsigned match_all(T value, int &are_all, CPU_CUDA_HERE) const
    {
        return packed(__match_all_sync(mask, value, &are_all, file, line));
    }

  protected:
    explicit lanes_group(unsigned mask)
        : thread_group(__builtin_popcount(mask),
                       __builtin_popcount(mask & ((1u << cpu_cuda::lane()) - 1)), mask, false)
    {}
    int lane_of(int rank) const // the rank-th lane of the mask
    {
        unsigned left = mask;
        for (rank %= (int)count; rank > 0; rank--) left &= left - 1;
        return __builtin_ctz(left);
    }
    unsigned packed(unsigned bits) const // of lanes to of ranks
    {
        unsigned result = 0;
        for (unsigned i = 0; i < count; i++) result |= (bits >> lane_of((int)i) & 1) << i;
        return result;
    }
};

// `Size` lanes in a row; 1, 2, 4, 8, 16 or 32.
template <unsigned Size> class lanes_tile : public lanes_group {
  public:
    lanes_tile() : lanes_group(cpu_tile(Size)) {}
#define CPU_CUDA_SHUFFLE(name, type) \
    template <class T> T name(T value, type distance, CPU_CUDA_HERE) const \
    { \
        return __##name##_sync(mask, value, distance, Size, file, line); \
    }
    CPU_CUDA_SHUFFLE(shfl_up, unsigned)
    CPU_CUDA_SHUFFLE(shfl_down, unsigned)
    CPU_CUDA_SHUFFLE(shfl_xor, int)
    template <class T, class Operation>
    T cpu_reduce(T value, Operation combine, CPU_CUDA_HERE) const
    {
        return cpu_cuda::reduce("reduce", mask, value, combine, file, line);
    }
};

// Several warps; 64, 128, 256, 512 or 1024 threads.
template <unsigned Size> class warps_tile : public thread_group {
  public:
    warps_tile() : thread_group(Size, cpu_cuda::thread_number() % Size, ~0u, false) {}
    void sync(CPU_CUDA_HERE) const { cpu_cuda_tile("sync", Size, nullptr, 0, nullptr, file, line); }
    template <class T> T shfl(T value, int source, CPU_CUDA_HERE) const
    {
        return exchange("shfl", value, file, line).of[(unsigned)source % Size];
    }
    bool any(int predicate, CPU_CUDA_HERE) const
    {
        return cpu_reduce(
            predicate != 0, [](bool a, bool b) { return a || b; }, file, line);
    }
    bool all(int predicate, CPU_CUDA_HERE) const
    {
        return cpu_reduce(
            predicate != 0, [](bool a, bool b) { return a && b; }, file, line);
    }
    template <class T, class Operation>
    T cpu_reduce(T value, Operation combine, CPU_CUDA_HERE) const
    {
        auto given = exchange("reduce", value, file, line);
        T result = given.of[0];
        for (unsigned i = 1; i < Size; i++) result = combine(result, given.of[i]);
        return result;
    }

  private:
    template <class T> struct values {
        T of[Size];
    };
    template <class T>
    values<T> exchange(const char *what, T value, const char *file, int line) const
    {
        values<T> given;
        cpu_cuda_tile(what, Size, &value, sizeof value, &given, file, line);
        return given;
    }
};

template <unsigned Size, class Parent = void> class thread_block_tile;
template <class Group> constexpr unsigned cpu_size = 0; // of a tile; 0: it is the block
template <unsigned Size, class Parent>
constexpr unsigned cpu_size<thread_block_tile<Size, Parent>> = Size;

template <unsigned Size, class Parent>
class thread_block_tile
    : public std::conditional_t<(Size > 32), warps_tile<Size>, lanes_tile<Size>> {
    static_assert(Size > 0 && Size <= 1024 && (Size & (Size - 1)) == 0,
                  "a tile has 1, 2, 4 … or 1024 threads");

  public:
    thread_block_tile() = default;
    template <class OtherParent> thread_block_tile(const thread_block_tile<Size, OtherParent> &) {}
    static constexpr unsigned size() { return Size; }
    static constexpr unsigned num_threads() { return Size; }
    static unsigned meta_group_rank() { return cpu_cuda::thread_number() % cpu_parent() / Size; }
    static unsigned meta_group_size() { return (cpu_parent() + Size - 1) / Size; }

  private:
    static unsigned cpu_parent()
    {
        if constexpr (cpu_size < Parent >> 0) return cpu_size<Parent>;
        return (unsigned)cpu_count(blockDim);
    }
};
template <unsigned Size, class Group> thread_block_tile<Size, Group> tiled_partition(const Group &)
{
    return {};
}
inline thread_group tiled_partition(const thread_group &, unsigned size)
{
    return thread_group(size, (unsigned)cpu_cuda::lane() % size, cpu_tile(size), false);
}

class coalesced_group : public lanes_group {
  public:
    explicit coalesced_group(unsigned mask) : lanes_group(mask) {}
    template <class T> T shfl_up(T value, unsigned delta, CPU_CUDA_HERE) const
    {
        T result = shfl(value, (int)(rank < delta ? rank : rank - delta), file, line);
        return rank < delta ? value : result;
    }
    template <class T> T shfl_down(T value, unsigned delta, CPU_CUDA_HERE) const
    {
        T result = shfl(value, (int)(rank + delta < count ? rank + delta : rank), file, line);
        return rank + delta < count ? result : value;
    }
};
inline coalesced_group coalesced_threads(CPU_CUDA_HERE)
{
    return coalesced_group(cpu_cuda_active(file, line));
}

// The lanes of a group that give the same label.
template <class Group, class T>
coalesced_group labeled_partition(const Group &group, T label, CPU_CUDA_HERE)
{
    return coalesced_group(__match_any_sync(group.cpu_mask(), label, file, line));
}
inline coalesced_group tiled_partition(const coalesced_group &group, unsigned size, CPU_CUDA_HERE)
{
    return labeled_partition(group, group.thread_rank() / size, file, line);
}
template <class Group>
coalesced_group binary_partition(const Group &group, bool label, CPU_CUDA_HERE)
{
    return labeled_partition(group, (int)label, file, line);
}

template <class Group> void sync(const Group &group, CPU_CUDA_HERE) { group.sync(file, line); }

// ---- cooperative_groups/reduce.h

#define CPU_CUDA_OPERATION(name, result) \
    template <class T> struct name { \
        T operator()(T a, T b) const { return result; } \
    };
CPU_CUDA_OPERATION(plus, a + b)
CPU_CUDA_OPERATION(less, b < a ? b : a)
CPU_CUDA_OPERATION(greater, a < b ? b : a)
CPU_CUDA_OPERATION(bit_and, a &b)
CPU_CUDA_OPERATION(bit_or, a | b)
CPU_CUDA_OPERATION(bit_xor, a ^ b)
template <class Group, class T, class Operation>
T reduce(const Group &group, T value, Operation combine, CPU_CUDA_HERE)
{
    return cpu_cuda::reduce("reduce", group.cpu_mask(), value, combine, file, line);
}
template <unsigned Size, class Parent, class T, class Operation>
T reduce(const thread_block_tile<Size, Parent> &tile, T value, Operation combine, CPU_CUDA_HERE)
{
    return tile.cpu_reduce(value, combine, file, line);
}

} // namespace cooperative_groups
