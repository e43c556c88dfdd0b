# cython: language_level=3, freethreading_compatible=True
"""The Python side of axpy.cu: looks at the arrays, calls C without the GIL, makes exceptions of codes."""
import math

import numpy as np

from .cuda_error import exception_for
from .dlpack cimport DLTensor, capsule_from, data_of, dtype_of, is_contiguous, kDLCUDA, shape_of, tensor_in

cdef extern from "axpy.h" nogil:
    int axpy_compute(float a, const float *x, const float *y, float *result, size_t n)  # CHANGE: as in axpy.h
    int c_axpy_on_gpu "axpy_on_gpu"(int gpu, float a, const float *x, const float *y, float *result, size_t n)
    int axpy_available()
    const char *axpy_error_name(int code)
    const char *axpy_error_text(int code)


cdef check(int code, wanted_bytes=0):
    if code != 0:
        raise exception_for(code, axpy_error_name(code).decode(), axpy_error_text(code).decode(), wanted_bytes)


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
    """a * x + y, computed on the GPU.

    a: a number. x, y: NumPy arrays of float32 and of one shape; strided ones are copied. Returns a new array.
    Raises TypeError (no array of float32), ValueError (different shapes), MemoryError (no room on the GPU), CudaError.
    """
    for name, array in ("x", x), ("y", y):  # CHANGE: what the arguments have to be
        if not isinstance(array, np.ndarray) or np.ma.isMaskedArray(array) or array.dtype != np.float32:
            raise TypeError(f"{name}: a NumPy array of float32 is taken, not {getattr(array, 'dtype', 'a')} {type(array).__name__}")
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
    check(code, x.nbytes + y.nbytes + result.nbytes)
    return result


cdef look_at(str name, array, bint writeable, const DLTensor **tensor):
    """What is in an array on a GPU; it holds as long as the capsule, which is returned."""
    cdef bint is_read_only = False
    if not hasattr(array, "__dlpack_device__") or array.__dlpack_device__()[0] != kDLCUDA:
        raise TypeError(f"{name}: an array on a GPU is taken, not {type(array).__name__}")
    capsule = capsule_from(array)
    tensor[0] = tensor_in(name, capsule, &is_read_only)
    if dtype_of(tensor[0].dtype) != np.float32 or not is_contiguous(tensor[0]):  # CHANGE: the dtype
        raise TypeError(f"{name}: a contiguous array of float32 is taken")
    if <size_t>data_of(tensor[0]) % sizeof(float) != 0:  # the kernel could not read it
        raise ValueError(f"{name}: its address is no multiple of {sizeof(float)}")
    if writeable and is_read_only:
        raise ValueError(f"{name}: a writeable array is taken")
    return capsule


def axpy_on_gpu(a, x, y, out):
    """out = a * x + y for arrays on a GPU, of PyTorch, CuPy, JAX or another library with DLPack. Returns out.

    x, y, out: float32, contiguous, of one shape, on one GPU; out is x or y or outside of both. Copies nothing, and waits.
    Raises TypeError (no such array), ValueError (different shapes or GPUs, read-only out), CudaError.
    """
    cdef const DLTensor *x_tensor = NULL
    cdef const DLTensor *y_tensor = NULL
    cdef const DLTensor *out_tensor = NULL
    alive = [look_at("x", x, False, &x_tensor), look_at("y", y, False, &y_tensor), look_at("out", out, True, &out_tensor)]
    shape, y_shape, out_shape = shape_of(x_tensor), shape_of(y_tensor), shape_of(out_tensor)
    if not shape == y_shape == out_shape:  # CHANGE: what the arguments have to be
        raise ValueError(f"one shape is taken, not {shape}, {y_shape} and {out_shape}")
    cdef int gpu = out_tensor.device.device_id, code
    if gpu != x_tensor.device.device_id or gpu != y_tensor.device.device_id:
        raise ValueError("arrays on one GPU are taken")
    cdef float factor = a
    cdef size_t n = math.prod(shape)
    with nogil:  # CHANGE: as in axpy.h
        code = c_axpy_on_gpu(gpu, factor, <float *>data_of(x_tensor), <float *>data_of(y_tensor),
                             <float *>data_of(out_tensor), n)
    check(code)
    return out
