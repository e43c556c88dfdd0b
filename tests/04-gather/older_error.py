"""An error that somebody else left behind is not taken for this call's, and this call leaves none."""

import ctypes
import os
import sys

import numpy as np
from wrapper import CudaError, cuda_gather

runtime = ctypes.CDLL(sys.argv[1])  # one runtime for all, as with a shared libcudart
print(runtime.cudaSetDevice(99), runtime.cudaPeekAtLastError())
print(cuda_gather(np.float32([5, 6]), np.int32([1])), runtime.cudaGetLastError())
os.environ.update(CPU_CUDA_FAIL="1", CPU_CUDA_FAIL_CODE="719")
try:
    cuda_gather(np.float32([5, 6]), np.int32([1]))
except CudaError as error:
    print(error.code, runtime.cudaGetLastError())
