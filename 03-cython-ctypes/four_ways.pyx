# cython: language_level=3, boundscheck=False, freethreading_compatible=True
"""Four ways to call one C function, multiply() of multiply.h, with NumPy arrays.

Build: make build
Run:   python3 -c "import numpy as np, four_ways; a = np.ones(3, 'f'); four_ways.by_ctypes(a, a, a); print(a)"

Each takes three one-dimensional, contiguous float32 NumPy arrays of one size, and raises TypeError or
ValueError for others, CudaError if the function fails. They differ in who looks at the arrays: see
reference.md.
"""
import ctypes
import os

import numpy as np
from posix.dlfcn cimport RTLD_NOW, dlerror, dlopen, dlsym

from cuda_error import CudaError

LIBRARY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "libmultiply.so")

cdef extern from "multiply.h" nogil:
    int multiply(const float *a, const float *b, float *result, size_t n)
    int multiply_on_device(const float *d_a, const float *d_b, float *d_result, size_t n)
    int device_wait()
    const char *multiply_error_name(int code)
    const char *multiply_error_text(int code)


cdef int check(int code) except -1:
    if code != 0:
        raise CudaError(code, multiply_error_name(code).decode(), multiply_error_text(code).decode())
    return 0


def check_sizes(*arrays):
    """What none of the four techniques does by itself: ValueError unless all have one size."""
    sizes = [len(array) for array in arrays]
    if len(set(sizes)) > 1:
        raise ValueError(f"arrays of one size are taken, not {sizes}")


# 1. ctypes. It knows nothing of arrays: what is behind the pointer, only you can look at.

float_pointer = ctypes.POINTER(ctypes.c_float)
ctypes_multiply = ctypes.CDLL(LIBRARY)["multiply"]
ctypes_multiply.argtypes = [float_pointer, float_pointer, float_pointer, ctypes.c_size_t]
ctypes_multiply.restype = ctypes.c_int


def by_ctypes(a, b, result):
    for array in a, b, result:
        if type(array) is not np.ndarray or array.ndim != 1 or array.dtype != np.float32:
            raise TypeError("one-dimensional NumPy arrays of float32 are taken")
        if not (array.flags.c_contiguous and array.flags.aligned):
            raise TypeError("contiguous arrays are taken")
    if not result.flags.writeable:
        raise TypeError("result: a writeable array is taken")
    check_sizes(a, b, result)
    check(ctypes_multiply(a.ctypes.data_as(float_pointer), b.ctypes.data_as(float_pointer),
                          result.ctypes.data_as(float_pointer), result.size))


# 2. ctypes with NumPy's ndpointer, which looks at dtype, dimensions and memory layout.

array_in = np.ctypeslib.ndpointer(np.float32, ndim=1, flags="C_CONTIGUOUS, ALIGNED")
array_out = np.ctypeslib.ndpointer(np.float32, ndim=1, flags="C_CONTIGUOUS, ALIGNED, WRITEABLE")
ndpointer_multiply = ctypes.CDLL(LIBRARY)["multiply"]
ndpointer_multiply.argtypes = [array_in, array_in, array_out, ctypes.c_size_t]
ndpointer_multiply.restype = ctypes.c_int


def by_ndpointer(a, b, result):
    try:
        check_sizes(a, b, result)
        check(ndpointer_multiply(a, b, result, len(result)))
    except ctypes.ArgumentError as error:
        raise TypeError(str(error)) from None


# 3. Cython, linked with the library (-lmultiply). The C compiler checks the call against multiply.h.

def by_linking(const float[::1] a not None, const float[::1] b not None, float[::1] result not None):
    check_sizes(a, b, result)
    cdef int code = 0
    if result.shape[0] > 0:  # else there is no &a[0]
        with nogil:
            code = multiply(&a[0], &b[0], &result[0], result.shape[0])
    check(code)


# 4. Cython with dlopen: the library is found while the program runs, or is not.

ctypedef int (*multiply_function)(const float *, const float *, float *, size_t) noexcept nogil


cdef void *symbol(const char *name) except NULL:
    cdef void *library = dlopen(os.fsencode(LIBRARY), RTLD_NOW)
    if library == NULL:
        raise OSError(os.fsdecode(dlerror()))
    cdef void *address = dlsym(library, name)
    if address == NULL:
        raise AttributeError(os.fsdecode(dlerror()))
    return address


cdef multiply_function opened_multiply = NULL


def by_dlopen(const float[::1] a not None, const float[::1] b not None, float[::1] result not None):
    global opened_multiply
    check_sizes(a, b, result)
    if opened_multiply == NULL:
        opened_multiply = <multiply_function>symbol("multiply")
    cdef int code = 0
    if result.shape[0] > 0:
        with nogil:
            code = opened_multiply(&a[0], &b[0], &result[0], result.shape[0])
    check(code)


# For bench.py: multiply_on_device(), which launches and does not wait, on device addresses.

cdef multiply_function opened_launch = NULL


def launch_by_dlopen(size_t a, size_t b, size_t result, size_t n):
    global opened_launch
    if opened_launch == NULL:
        opened_launch = <multiply_function>symbol("multiply_on_device")
    check(opened_launch(<float *>a, <float *>b, <float *>result, n))


def launch_loop(size_t a, size_t b, size_t result, size_t n, int calls):
    """What the others are compared with: `calls` launches from a loop in C."""
    cdef int code = 0, i
    with nogil:
        for i in range(calls):
            code = multiply_on_device(<float *>a, <float *>b, <float *>result, n)
            if code != 0:
                break
    check(code)


def wait():
    check(device_wait())
