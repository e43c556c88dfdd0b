# cython: language_level=3, boundscheck=False
"""Exercise strided: elements that do not lie side by side, and no copy of them.

Check: make exercises EXERCISE=strided
"""
import numpy as np

from cuda_error import CudaError

# The functions of strided.h. doubled has another name here: Python's function is called that.
cdef extern from "strided.h" nogil:
    int c_doubled "doubled"(const float *x, size_t stride, size_t n, float *result)
    const char *strided_error_name(int code)
    const char *strided_error_text(int code)


cdef int check(int code) except -1:
    if code != 0:
        raise CudaError(code, strided_error_name(code).decode(), strided_error_text(code).decode())
    return 0


def doubled(const float[:] x not None):
    """2 * x, a new array, computed on the GPU. x is not copied on the host. ValueError if its stride is 0 or below."""
    result = np.empty(x.shape[0], np.float32)
    cdef float[::1] result_view = result
    if x.shape[0] == 0:
        return result
    # YOUR LINES, about 3: a stride of 0 or below is refused. Then the call, with the address of x itself, and check.
    if x.strides[0] <= 0:
        raise ValueError(f"x: a stride above 0 is taken, not {x.strides[0]}")
    check(c_doubled(&x[0], x.strides[0], x.shape[0], &result_view[0]))
    # END OF YOUR LINES
    return result
