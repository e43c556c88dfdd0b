# cython: language_level=3, boundscheck=False
"""Exercise pinned: NumPy arrays in page-locked memory. The library and its interface, pinned/pinned.h, are given.

Check: make exercises EXERCISE=pinned
"""
import numpy as np

from cpython.buffer cimport PyBuffer_FillInfo

from cuda_error import exception_for

cdef extern from "pinned.h" nogil:
    int pinned_allocate(void **data, size_t bytes)
    int pinned_free(void *data)
    const char *pinned_error_name(int code)
    const char *pinned_error_text(int code)


cdef int check(int code) except -1:
    if code != 0:
        raise exception_for(code, pinned_error_name(code).decode(), pinned_error_text(code).decode(), 0)
    return 0


cdef class PinnedMemory:
    """PinnedMemory(bytes): page-locked memory. It is given back when nobody refers to this object any more."""
    cdef void *data  # NULL at first
    cdef size_t bytes

    # YOUR LINES, about 5: __cinit__(self, size_t bytes) allocates, and keeps the number of bytes. __dealloc__(self) gives
    # the memory back.
    def __cinit__(self, size_t bytes):
        self.bytes = bytes
        check(pinned_allocate(&self.data, bytes))

    def __dealloc__(self):
        pinned_free(self.data)  # an error is lost: nobody could catch an exception here
    # END OF YOUR LINES

    def __getbuffer__(self, Py_buffer *view, int flags):
        """NumPy calls this to ask where the memory is, and how large. `view` keeps this object alive."""
        # YOUR LINES, about 1: PyBuffer_FillInfo(view, whose memory it is, its address, its size in bytes, 0, flags)
        PyBuffer_FillInfo(view, self, self.data, self.bytes, 0, flags)
        # END OF YOUR LINES


def pinned_empty(size_t n, dtype=np.float32):
    """A NumPy array of n elements in page-locked memory, with any content. It owns the memory: who deletes the array,
    and all views of it, gives it back. MemoryError or CudaError if there is none."""
    # YOUR LINES, about 2: np.ndarray(shape, dtype, buffer=...) takes the memory of an object, and refers to the object.
    dtype = np.dtype(dtype)
    return np.ndarray(n, dtype, buffer=PinnedMemory(n * dtype.itemsize))
    # END OF YOUR LINES
