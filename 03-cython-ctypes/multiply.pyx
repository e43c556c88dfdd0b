# cython: language_level=3, boundscheck=False, freethreading_compatible=True
"""NumPy arrays in and out: multiply(a, b) is a * b, computed on the GPU.

Build: make build
Run:   python3 -c "import numpy as np, multiply; a = np.arange(400, dtype='f'); print(multiply.multiply(a, a)[-1])"
"""
import numpy as np

from cuda_error import CudaError, exception_for

cdef extern from "multiply.h" nogil:
    int c_multiply "multiply"(const float *a, const float *b, float *result, size_t n)
    const char *multiply_error_name(int code)
    const char *multiply_error_text(int code)


def check_array(name, array):
    """`array`, if it is a NumPy array of float32; else TypeError."""
    if not isinstance(array, np.ndarray) or isinstance(array, np.ma.MaskedArray):
        raise TypeError(f"{name}: a NumPy array of float32 is taken, not {type(array).__name__}")
    array = np.asarray(array)  # of a subclass only the array
    if array.dtype != np.float32:
        raise TypeError(f"{name}: float32 is taken, not {array.dtype}")
    return array


def fits(array, order):
    """True if the elements lie side by side in that order ("C" or "F"), where C code can write them."""
    flags = array.flags
    return flags.aligned and (flags.f_contiguous if order == "F" else flags.c_contiguous)


def multiply(a, b, out=None):
    """a * b, element by element, computed on the GPU.

    a, b: float32 arrays of one shape, which may be any: no element, no dimension, strided, read-only,
    in Fortran's order. Nothing is broadcast.
    out: a float32 array of that shape for the result, which may be a or b; if None, a new one is
    made, in Fortran's order if a and b are, else in C's. Returns it. If the call fails, out is as it was.
    Raises TypeError and ValueError for other arrays; MemoryError if the GPU's memory does not
    suffice; CudaError if anything else fails on the GPU.
    """
    a, b = check_array("a", a), check_array("b", b)
    if a.shape != b.shape:
        raise ValueError(f"a and b: one shape is taken, not {a.shape} and {b.shape}")
    if out is not None:
        target = check_array("out", out)
        if target.shape != a.shape:
            raise ValueError(f"out: the shape of a and b, {a.shape}, is taken, not {target.shape}")
        if not target.flags.writeable:
            raise ValueError("out: the array is read-only")

    # In either order the elements of a, b and result lie side by side; what is strided is copied.
    order = "C" if not (a.flags.fnc and b.flags.fnc) else "F"
    result = np.empty(a.shape, np.float32, order) if out is None or not fits(target, order) else target
    cdef const float[::1] a_view = np.require(a, requirements=[order, "A"]).reshape(-1, order=order)
    cdef const float[::1] b_view = np.require(b, requirements=[order, "A"]).reshape(-1, order=order)
    cdef float[::1] result_view = result.reshape(-1, order=order)
    cdef size_t n = result_view.shape[0]
    cdef int code = 0
    if n > 0:  # else there is no &a_view[0]
        with nogil:  # other Python threads go on while the GPU works
            code = c_multiply(&a_view[0], &b_view[0], &result_view[0], n)
    if code != 0:
        raise exception_for(code, multiply_error_name(code).decode(),
                            multiply_error_text(code).decode(), 2 * result.nbytes)
    if out is None:
        return result
    if result is not target:
        target[...] = result
    return out
