"""Exercise exception: an error code of C becomes an exception of Python.

Check: make exercises EXERCISE=exception
"""

import ctypes
import os

import numpy as np

from cuda_error import CudaError  # CudaError(code, name, text), as in the stage

library = ctypes.CDLL(os.path.join(os.path.dirname(os.path.abspath(__file__)), "libexception.so"))
pointer, size = ctypes.c_void_p, ctypes.c_size_t

# These four return 0, or the code of the CUDA call that failed.
library.allocate.argtypes, library.allocate.restype = [ctypes.POINTER(pointer), size], ctypes.c_int
library.fill.argtypes, library.fill.restype = [pointer, size, ctypes.c_float], ctypes.c_int
library.read_back.argtypes, library.read_back.restype = [pointer, pointer, size], ctypes.c_int
library.release.argtypes, library.release.restype = [pointer], ctypes.c_int
# A code's name, b"cudaErrorMemoryAllocation", and its text, b"out of memory": bytes, not str.
library.error_name.argtypes, library.error_name.restype = [ctypes.c_int], ctypes.c_char_p
library.error_text.argtypes, library.error_text.restype = [ctypes.c_int], ctypes.c_char_p


def check(code):
    """Returns if code is 0. Raises MemoryError if the GPU has no room, CudaError if anything else has failed."""
    # YOUR LINES, about 6: the name and the text of a code that is not 0, as str; then one of the two exceptions.
    if code != 0:
        name, text = library.error_name(code).decode(), library.error_text(code).decode()
        if name == "cudaErrorMemoryAllocation":
            raise MemoryError(text)
        raise CudaError(code, name, text)
    # END OF YOUR LINES


def filled(n, value):
    """An array of n floats that all are value: the GPU has filled it."""
    result = np.zeros(n, np.float32)
    d_x = pointer()
    check(library.allocate(ctypes.byref(d_x), n))
    # YOUR LINES, about 6: library.fill, then library.read_back into result.ctypes.data. Look at both codes.
    # library.release gives d_x back, also if one of them has failed. Look at its code, too.
    try:
        check(library.fill(d_x, n, value))
        check(library.read_back(result.ctypes.data, d_x, n))
    finally:
        code = library.release(d_x)
    check(code)
    # END OF YOUR LINES
    return result
