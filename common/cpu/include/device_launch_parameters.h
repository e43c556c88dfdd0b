// The CPU stand-in's <device_launch_parameters.h>: which thread of the grid this is.
#pragma once
#include "cuda_runtime_api.h"

#ifdef __cplusplus
extern "C" {
#endif
// constant, and no dim3, which has a constructor: so g++ knows that to read them is no access to memory
extern __attribute__((tls_model("initial-exec"))) __thread const uint3 threadIdx, blockIdx,
    blockDim, gridDim;
static const int warpSize __attribute__((unused)) = 32;
#ifdef __cplusplus
}
#endif
