# cython: language_level=3, boundscheck=False
# Exercise clip_module: NumPy arrays in and out. The library and its interface, clip_module/clip_module.h, are given.
# Check: make exercises EXERCISE=clip_module
import numpy as np

from cuda_error import exception_for

cdef extern from "clip_module.h" nogil:
    const char *clip_error_name(int code)
    const char *clip_error_text(int code)
    # YOUR LINES, about 1: the C function. In this module it needs another name: int c_clip "clip"(...)
    int c_clip "clip"(const float *x, float low, float high, float *result, size_t n)
    # END OF YOUR LINES


def clip(x, float low, float high):
    """x limited to low ... high, computed on the GPU: what is smaller becomes low, what is larger high. NaN stays NaN.

    x: one-dimensional float32 array, which may be strided, read-only or empty. Returns a new array.
    Raises TypeError and ValueError for other arrays, and unless low <= high; MemoryError; CudaError.
    """
    # YOUR LINES, about 2: what is not a NumPy array of float32 is a TypeError.
    if not isinstance(x, np.ndarray) or x.dtype != np.float32:
        raise TypeError(f"x: a NumPy array of float32 is taken, not {getattr(x, 'dtype', type(x))}")
    # END OF YOUR LINES
    if x.ndim != 1:
        raise ValueError(f"x: one dimension is taken, not {x.ndim}")
    if not low <= high:
        raise ValueError(f"low <= high is needed, not {low} and {high}")
    result = np.empty(x.size, np.float32)
    if x.size == 0:
        return result  # there is no first element to point to

    cdef int code = 0
    # YOUR LINES, about 4: views of x and result, with elements that lie side by side. Then the call, without the GIL.
    cdef const float[::1] x_view = np.require(x, requirements=["C", "A"])
    cdef float[::1] result_view = result
    with nogil:
        code = c_clip(&x_view[0], low, high, &result_view[0], x_view.shape[0])
    # END OF YOUR LINES
    if code != 0:
        raise exception_for(code, clip_error_name(code).decode(), clip_error_text(code).decode(), 2 * result.nbytes)
    return result
