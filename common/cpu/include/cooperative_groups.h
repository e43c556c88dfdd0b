// The CPU stand-in's <cooperative_groups.h>: the grid, blocks, tiles of a warp, the threads of a warp that are active.
#pragma once
#include "cuda_runtime.h"

namespace cooperative_groups {

// Any group: the whole block, or the lanes of a warp that are in a mask.
class thread_group {
  public:
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
    thread_group(unsigned count, unsigned rank, unsigned mask, bool is_block)
        : count(count), rank(rank), mask(mask), is_block(is_block)
    {}
    unsigned count, rank, mask;
    bool is_block;
    friend thread_group tiled_partition(const thread_group &, unsigned);
};

class thread_block : public thread_group {
  public:
    thread_block()
        : thread_group(blockDim.x * blockDim.y * blockDim.z, cpu_cuda::thread_number(), ~0u, true)
    {}
    static dim3 group_index() { return blockIdx; }
    static dim3 thread_index() { return threadIdx; }
    static dim3 group_dim() { return blockDim; }
    static dim3 dim_threads() { return blockDim; }
};
inline thread_block this_thread_block() { return thread_block(); }

class grid_group {
  public:
    void sync(CPU_CUDA_HERE) const { cpu_cuda_grid_barrier(file, line); }
    static bool is_valid() { return true; }
    static unsigned long long size() { return blocks() * threads(); }
    static unsigned long long num_threads() { return size(); }
    static unsigned long long num_blocks() { return blocks(); }
    static unsigned long long block_rank()
    {
        return blockIdx.x + (unsigned long long)gridDim.x *
                                (blockIdx.y + (unsigned long long)gridDim.y * blockIdx.z);
    }
    static unsigned long long thread_rank()
    {
        return block_rank() * threads() + cpu_cuda::thread_number();
    }
    static dim3 group_dim() { return gridDim; }
    static dim3 dim_blocks() { return gridDim; }
    static dim3 block_index() { return blockIdx; }

  private:
    static unsigned long long blocks()
    {
        return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
    }
    static unsigned long long threads() { return blockDim.x * blockDim.y * blockDim.z; }
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
    int all(int predicate, CPU_CUDA_HERE) const { return __all_sync(mask, predicate, file, line); }
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
    template <class T, class Operation>
    T cpu_reduce(T value, Operation combine, const char *file, int line) const
    {
        return cpu_cuda::reduce("reduce", mask, value, combine, file, line);
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

// `size` lanes in a row; 1, 2, 4, 8, 16 or 32.
template <unsigned Size, class Parent = void> class thread_block_tile : public lanes_group {
    static_assert(Size > 0 && Size <= 32 && (Size & (Size - 1)) == 0,
                  "a tile has 1, 2, 4, 8, 16 or 32 threads");

  public:
    thread_block_tile()
        : lanes_group((Size == 32 ? ~0u : (1u << Size % 32) - 1)
                      << (unsigned)cpu_cuda::lane() / Size * Size)
    {}
    template <class OtherParent>
    thread_block_tile(const thread_block_tile<Size, OtherParent> &) : thread_block_tile()
    {}
    static constexpr unsigned size() { return Size; }
    static constexpr unsigned num_threads() { return Size; }
    template <class T> T shfl_up(T value, unsigned delta, CPU_CUDA_HERE) const
    {
        return __shfl_up_sync(mask, value, delta, Size, file, line);
    }
    template <class T> T shfl_down(T value, unsigned delta, CPU_CUDA_HERE) const
    {
        return __shfl_down_sync(mask, value, delta, Size, file, line);
    }
    template <class T> T shfl_xor(T value, int lane_mask, CPU_CUDA_HERE) const
    {
        return __shfl_xor_sync(mask, value, lane_mask, Size, file, line);
    }
    static unsigned meta_group_rank() { return cpu_cuda::thread_number() / Size; }
    static unsigned meta_group_size()
    {
        return (blockDim.x * blockDim.y * blockDim.z + Size - 1) / Size;
    }
};
template <unsigned Size, class Group> thread_block_tile<Size, Group> tiled_partition(const Group &)
{
    return {};
}
inline thread_group tiled_partition(const thread_group &, unsigned size)
{
    unsigned lane = (unsigned)cpu_cuda::lane(), mask = (size == 32 ? ~0u : (1u << size) - 1)
                                                       << lane / size * size;
    return thread_group(size, lane % size, mask, false);
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
template <class Group>
coalesced_group binary_partition(const Group &group, bool label, CPU_CUDA_HERE)
{
    return labeled_partition(group, (int)label, file, line);
}

template <class Group> void sync(const Group &group, CPU_CUDA_HERE) { group.sync(file, line); }

// ---- cooperative_groups/reduce.h

template <class T> struct plus {
    T operator()(T a, T b) const { return a + b; }
};
template <class T> struct less {
    T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T> struct greater {
    T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T> struct bit_and {
    T operator()(T a, T b) const { return a & b; }
};
template <class T> struct bit_or {
    T operator()(T a, T b) const { return a | b; }
};
template <class T> struct bit_xor {
    T operator()(T a, T b) const { return a ^ b; }
};
template <class Group, class T, class Operation>
T reduce(const Group &group, T value, Operation combine, CPU_CUDA_HERE)
{
    return group.cpu_reduce(value, combine, file, line);
}

} // namespace cooperative_groups
