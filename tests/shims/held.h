// For tests, put in front of a library's source (-include): counts the bytes that the library itself has allocated and
// not freed, on the device and pinned. How much of the device is free says less: other programs use it, too.
#pragma once
#include <cuda_runtime.h>
#include <map>
#include <mutex>

inline std::mutex held_lock;
inline std::map<void *, size_t> held; // what is allocated, and how many bytes

inline cudaError_t held_more(cudaError_t error, void **pointer, size_t bytes)
{
    std::lock_guard<std::mutex> guard(held_lock);
    if (error == cudaSuccess)
        held[*pointer] = bytes;
    return error;
}

// Before the call: afterwards the address may already be another thread's.
inline void *held_no_more(void *pointer)
{
    std::lock_guard<std::mutex> guard(held_lock);
    held.erase(pointer);
    return pointer;
}

extern "C" inline __attribute__((visibility("default"), used)) size_t held_bytes(void)
{
    std::lock_guard<std::mutex> guard(held_lock);
    size_t sum = 0;
    for (auto &one : held)
        sum += one.second;
    return sum;
}

#define HELD(call, pointer, bytes) held_more(call, (void **)(pointer), bytes)
#define cudaMalloc(p, n) HELD(cudaMalloc(p, n), p, n)
#define cudaMallocHost(p, n) HELD(cudaMallocHost(p, n), p, n)
#define cudaMallocFromPoolAsync(p, n, pool, s) HELD(cudaMallocFromPoolAsync(p, n, pool, s), p, n)
#define cudaFree(p) cudaFree(held_no_more(p))
#define cudaFreeHost(p) cudaFreeHost(held_no_more(p))
#define cudaFreeAsync(p, s) cudaFreeAsync(held_no_more(p), s)
