# cython: language_level=3, boundscheck=False, freethreading_compatible=True
"""Gather on the GPU for NumPy arrays: cuda_gather(x, idx) is x[idx].

Build: make build
Run:   python3 test_gather.py
"""
import numpy as np

from cuda_error import CudaError, exception_for

cdef extern from "cuda_index.cuh" nogil:
    int Gather(const float *source, const int *index, float *res, int N, int M)
    const char *GatherErrorName(int code)
    const char *GatherErrorText(int code)

INT_MAX = 2**31 - 1
INT_MIN = -(2**31)


def check_array(name, array, *dtypes):
    """`array`, if it is 1-dimensional and of one of these dtypes; else TypeError or ValueError."""
    wanted = " or ".join(np.dtype(d).name for d in dtypes)
    if not isinstance(array, np.ndarray) or isinstance(array, np.ma.MaskedArray):
        raise TypeError(f"{name}: a NumPy array of {wanted} is taken, not {type(array).__name__}")
    array = np.asarray(array)  # of a subclass only the array
    if array.dtype not in dtypes:
        raise TypeError(f"{name}: {wanted} is taken, not {array.dtype}")
    if array.ndim != 1:
        raise ValueError(f"{name}: one dimension is taken, not {array.ndim}")
    if array.size > INT_MAX:
        raise ValueError(f"{name}: at most {INT_MAX} elements are taken, not {array.size}")
    return array


def cuda_gather(x, idx):
    """x[idx], computed on the GPU.

    x: float32 array of shape (M,). idx: int32 or int64 array of shape (N,), each from -M to M - 1.
    Both may be strided or read-only; what is not contiguous is copied first.
    Returns a new float32 array of shape (N,).
    Raises IndexError, in NumPy's words, for the first index out of range; TypeError and ValueError
    for other arrays; MemoryError if the GPU's memory does not suffice; CudaError if anything else
    fails on the GPU.
    """
    x = check_array("x", x, np.float32)
    idx = check_array("idx", idx, np.int32, np.int64)
    # An int64 that no int32 holds is out of range for every x; cut to 32 bits it might not be.
    narrow = idx if idx.dtype == np.int32 else np.clip(idx, INT_MIN, INT_MAX).astype(np.int32)
    res = np.empty(idx.size, np.float32)

    cdef const float[::1] source_view = np.require(x, requirements=["C", "A"])
    cdef const int[::1] index_view = np.require(narrow, requirements=["C", "A"])
    cdef float[::1] res_view = res
    cdef int N = <int>index_view.shape[0], M = <int>source_view.shape[0]
    if N == 0:
        return res  # there is no &index_view[0]
    cdef const float *source = &source_view[0] if M > 0 else NULL
    cdef int status
    with nogil:  # other Python threads go on while the GPU works
        status = Gather(source, &index_view[0], &res_view[0], N, M)

    if status < 0:
        raise IndexError(f"index {idx[-1 - status]} is out of bounds for axis 0 with size {M}")
    if status > 0:
        raise exception_for(status, GatherErrorName(status).decode(), GatherErrorText(status).decode(),
                            x.nbytes + narrow.nbytes + res.nbytes)
    return res
