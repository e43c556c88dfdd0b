"""An error that somebody else left behind is not taken for this call's."""
import ctypes
import sys

import numpy as np
from wrapper import cuda_gather

runtime = ctypes.CDLL(sys.argv[1])  # one runtime for all, as with a shared libcudart
print(runtime.cudaSetDevice(99), runtime.cudaPeekAtLastError())
print(cuda_gather(np.float32([5, 6]), np.int32([1])), runtime.cudaGetLastError())
