// Every CUDA call returns a code. Two ways to look at it: one for programs, one for libraries.
#pragma once
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

// In a program: says what failed and where, and ends with exit status 1.
//     CHECK(cudaMalloc(&d_x, bytes));
//     kernel<<<blocks, threads>>>(d_x);
//     CHECK(cudaGetLastError());      // was the launch accepted?
//     CHECK(cudaDeviceSynchronize()); // did the kernel run to its end?
#define CHECK(call) \
    do { \
        cudaError_t check_error = (call); \
        if (check_error != cudaSuccess) { \
            fprintf(stderr, "%s:%d: CUDA error %d, %s: %s\n", __FILE__, __LINE__, \
                    (int)check_error, cudaGetErrorName(check_error), \
                    cudaGetErrorString(check_error)); \
            exit(EXIT_FAILURE); \
        } \
    } while (0)

// In a library: keeps the code in `error` and jumps to the function's one cleanup label. A library
// never exits and never prints: its caller may be a Python process with hours of work in memory.
//     CHECK_GOTO(error, cudaMalloc(&d_x, bytes), cleanup);
//     ...
// cleanup:
//     cudaFree(d_x);
//     return error;
// Declare variables before the first of them: C++ lets no goto jump over `int blocks = ...;`.
#define CHECK_GOTO(error, call, cleanup) \
    do { \
        (error) = (call); \
        if ((error) != cudaSuccess) \
            goto cleanup; \
    } while (0)
