"""Exercise lifetime: find the bug. On the author's GPU the sums were right nearly always.

Check: make exercises EXERCISE=lifetime
"""

import ctypes
import os

import numpy as np

from cuda_error import CudaError  # CudaError(code, name, text), as in the stage

library = ctypes.CDLL(os.path.join(os.path.dirname(os.path.abspath(__file__)), "liblifetime.so"))
pointer, size = ctypes.c_void_p, ctypes.c_size_t
library.copy_in.argtypes = [ctypes.POINTER(pointer), pointer, size]
library.release.argtypes = [pointer]
library.sum.argtypes = [pointer, size, ctypes.POINTER(ctypes.c_float)]
library.error_name.restype = library.error_text.restype = ctypes.c_char_p


def check(code):
    if code != 0:
        raise CudaError(code, library.error_name(code).decode(), library.error_text(code).decode())


class OnGpu:
    """A copy of x, an array of float32, in memory of the GPU. When nobody refers to the object any more, it is freed."""

    def __init__(self, x):
        self.address, self.size = pointer(), x.size
        check(library.copy_in(ctypes.byref(self.address), x.ctypes.data, x.size))

    def __del__(self):
        if self.address:
            library.release(self.address)


def sum_of(x):
    """The sum of the elements of x, an array with at least one element, computed on the GPU."""
    result = ctypes.c_float()
    to = ctypes.byref(result)
    x = np.ascontiguousarray(x, np.float32)
    on_gpu = OnGpu(x)  # was: address = OnGpu(x).address
    code = library.sum(on_gpu.address, x.size, to)  # was: code = library.sum(address, x.size, to)
    check(code)
    return result.value
