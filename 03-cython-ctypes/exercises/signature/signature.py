"""Exercise signature: what ctypes has to know of a C function.

Check: make exercises EXERCISE=signature
"""

import ctypes
import os

import numpy as np

library = ctypes.CDLL(os.path.join(os.path.dirname(os.path.abspath(__file__)), "libsignature.so"))
float_pointer = ctypes.POINTER(ctypes.c_float)

# The library has two functions:
#     float mean(const float *x, size_t n, double scale, int *code);
#     const char *error_text(int code);
# YOUR LINES, about 4: argtypes and restype of library.mean, and of library.error_text.
library.mean.argtypes = [float_pointer, ctypes.c_size_t, ctypes.c_double, ctypes.POINTER(ctypes.c_int)]
library.mean.restype = ctypes.c_float
library.error_text.argtypes = [ctypes.c_int]
library.error_text.restype = ctypes.c_char_p
# END OF YOUR LINES


def mean(x, scale):
    """The mean of the elements of x, an array of float32, times scale: computed on the GPU."""
    x = np.ascontiguousarray(x, np.float32)
    code = ctypes.c_int()
    result = library.mean(x.ctypes.data_as(float_pointer), x.size, scale, ctypes.byref(code))
    if code.value != 0:
        raise RuntimeError(library.error_text(code.value).decode())
    return result
