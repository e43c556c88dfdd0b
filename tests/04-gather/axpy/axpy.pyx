# cython: language_level=3, boundscheck=False
"""a * x + y on the GPU for NumPy arrays.

Build: make build
Run:   python3 test_axpy.py
"""
import numpy as np

from cuda_error import CudaError, exception_for

cdef extern from "axpy.h" nogil:
    int Axpy(float a, const float *x, const float *y, float *res, int N)
    const char *AxpyErrorName(int code)
    const char *AxpyErrorText(int code)

INT_MAX = 2**31 - 1


def check_array(name, array):
    """`array`, if it is 1-dimensional and of float32; else TypeError or ValueError."""
    if not isinstance(array, np.ndarray) or isinstance(array, np.ma.MaskedArray):
        raise TypeError(f"{name}: a NumPy array of float32 is taken, not {type(array).__name__}")
    array = np.asarray(array)  # of a subclass only the array
    if array.dtype != np.float32:
        raise TypeError(f"{name}: float32 is taken, not {array.dtype}")
    if array.ndim != 1:
        raise ValueError(f"{name}: one dimension is taken, not {array.ndim}")
    if array.size > INT_MAX:
        raise ValueError(f"{name}: at most {INT_MAX} elements are taken, not {array.size}")
    return array


def axpy(a, x, y):
    """a * x + y, computed on the GPU, for a number and two float32 arrays of one shape (N,). Returns a new array.

    x and y may be strided or read-only. Raises TypeError and ValueError for other arrays; MemoryError if the GPU's memory
    does not suffice; CudaError if anything else fails on the GPU.
    """
    x, y = check_array("x", x), check_array("y", y)
    if x.shape != y.shape:
        raise ValueError(f"one shape is taken, not {x.shape} and {y.shape}")
    res = np.empty(x.size, np.float32)

    cdef const float[::1] x_view = np.require(x, requirements=["C", "A"])
    cdef const float[::1] y_view = np.require(y, requirements=["C", "A"])
    cdef float[::1] res_view = res
    cdef float factor = a
    cdef int N = <int>x_view.shape[0], status
    if N == 0:
        return res  # there is no &x_view[0]
    with nogil:  # other Python threads go on while the GPU works
        status = Axpy(factor, &x_view[0], &y_view[0], &res_view[0], N)
    if status != 0:
        raise exception_for(status, AxpyErrorName(status).decode(), AxpyErrorText(status).decode(), 3 * x.nbytes)
    return res
