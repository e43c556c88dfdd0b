# cython: language_level=3, boundscheck=False, freethreading_compatible=True
"""The Python side of axpy.cu: looks at the arrays, calls C without the GIL, makes exceptions of codes."""
import numpy as np

from .cuda_error import exception_for

cdef extern from "axpy.h" nogil:
    int axpy_compute(float a, const float *x, const float *y, float *result, size_t n)  # CHANGE: as in axpy.h
    int axpy_available()
    const char *axpy_error_name(int code)
    const char *axpy_error_text(int code)


def why_not():
    """What keeps this computer from using the module, in words; "" if nothing does."""
    cdef int code
    with nogil:
        code = axpy_available()
    return "" if code == 0 else f"{axpy_error_name(code).decode()}: {axpy_error_text(code).decode()}"


def available():
    """True if there is a GPU that this module runs on (or if it was built with the CPU stand-in); else see why_not()."""
    return not why_not()


def axpy(a, x, y):
    """a * x + y, on the GPU.

    a: a number. x, y: NumPy arrays of float32 and of one shape; strided ones are copied. Returns a new array.
    Raises TypeError (no array of float32), ValueError (different shapes), MemoryError (no room on the GPU), CudaError.
    """
    for name, array in ("x", x), ("y", y):  # CHANGE: what the arguments have to be
        if not isinstance(array, np.ndarray) or array.dtype != np.float32:
            raise TypeError(f"{name}: a NumPy array of float32 is taken, not {getattr(array, 'dtype', type(array).__name__)}")
    if x.shape != y.shape:
        raise ValueError(f"one shape is taken, not {x.shape} and {y.shape}")
    result = np.empty(x.shape, np.float32)  # CHANGE: the result's shape and dtype
    cdef const float[::1] x_view = np.require(x, requirements=["C", "A"]).reshape(-1)
    cdef const float[::1] y_view = np.require(y, requirements=["C", "A"]).reshape(-1)
    cdef float[::1] result_view = result.reshape(-1)
    cdef float factor = a  # a whole number: cdef int count = operator.index(a), else 4.5 is taken as 4
    cdef size_t n = x.size  # CHANGE: the numbers of elements, also the result's if it is another
    cdef int code = 0
    if n > 0:
        with nogil:  # other Python threads go on while the GPU works
            code = axpy_compute(factor, &x_view[0], &y_view[0], &result_view[0], n)  # CHANGE: as in axpy.h
    if code != 0:
        wanted = x.nbytes + y.nbytes + result.nbytes
        raise exception_for(code, axpy_error_name(code).decode(), axpy_error_text(code).decode(), wanted)
    return result
