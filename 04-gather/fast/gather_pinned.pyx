# cython: language_level=3, freethreading_compatible=True
"""Page-locked memory of the host, which the GPU reaches too: pinned_empty makes a NumPy array in it, pin pins one.

Build: make build
Run:   python3 -c "import gather_pinned as g; print(g.pinned_empty(3).flags.owndata)"
"""
import numpy as np

from cpython.buffer cimport PyBuffer_FillInfo

from gather_arrays cimport Array
from gather_memory cimport gather_pin, gather_pinned_allocate, gather_pinned_free, gather_unpin
from gather_streams cimport check


cdef class PinnedMemory:
    """Page-locked memory that is given back when nobody refers to it any more; NumPy does, as a base."""
    cdef void *data
    cdef size_t nbytes

    def __cinit__(self, size_t nbytes):
        cdef int code
        self.nbytes = nbytes
        with nogil:
            code = gather_pinned_allocate(&self.data, max(nbytes, 1))
        try:
            check(code)
        except MemoryError:
            raise MemoryError(f"there is no room for {nbytes} bytes of pinned memory") from None

    def __dealloc__(self):
        cdef void *data = self.data
        if data != NULL:
            with nogil:  # it waits for the GPU
                gather_pinned_free(data)

    def __getbuffer__(self, Py_buffer *view, int flags):
        PyBuffer_FillInfo(view, self, self.data, self.nbytes, 0, flags)


def pinned_empty(shape, dtype=np.float32):
    """A NumPy array in pinned memory, with any content: the kernel reads and writes it where it is."""
    cdef Array array = Array.__new__(Array)
    array.describe(shape, dtype)
    return np.ndarray(array.shape, array.dtype, buffer=PinnedMemory(array.nbytes))


class pin:
    """with pin(x): in the block, the memory of the NumPy array x is pinned. It must not go before.

    Pin arrays whole. What is pinned only in part no kernel reads, and CUDA does not copy it: take raises
    ValueError. What is pinned already cannot be pinned again: CudaError 712.
    """

    def __init__(self, x):
        array = np.asarray(x)  # of a subclass only the array
        if not isinstance(x, np.ndarray) or not array.flags.c_contiguous:
            raise TypeError("x: a contiguous NumPy array is taken")
        self.x, self.array, self.pinned = x, array, 0

    def __enter__(self):
        cdef size_t address = self.array.ctypes.data, nbytes = self.array.nbytes
        cdef int code
        if nbytes > 0:
            with nogil:
                code = gather_pin(<void *>address, nbytes)
            check(code)
            self.pinned = address
        return self.x

    def __exit__(self, *exception):
        cdef size_t address = self.pinned
        cdef int code
        self.pinned = 0
        if address != 0:
            with nogil:
                code = gather_unpin(<void *>address)
            check(code)
