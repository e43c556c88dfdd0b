// The CPU stand-in's <device_launch_parameters.h>: which thread of the grid this is.
#pragma once
#include "cuda_runtime_api.h"

#ifdef __cplusplus
extern "C" {
#endif
extern __thread const uint3 threadIdx, blockIdx __attribute__((tls_model("initial-exec")));
extern __thread const dim3 blockDim, gridDim __attribute__((tls_model("initial-exec")));
static const int warpSize __attribute__((unused)) = 32;
#ifdef __cplusplus
}
#endif
