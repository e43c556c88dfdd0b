// The CPU stand-in's <mma.h>: what others include for tensor cores; nvcuda::wmma needs a GPU.
#pragma once
#include "cuda_fp16.h"
