// The CPU stand-in's <cuda_bf16.h>: floats without their last 16 bits.
#pragma once
#include "cuda_fp16.h"

CPU_CUDA_SMALL(__nv_bfloat16, __nv_bfloat162, bfloat16, 8, 7)
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
