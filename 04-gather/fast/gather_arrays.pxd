# What gather_arrays.pyx offers to other modules in Cython.
from gather_memory cimport gather_memory


cdef class Array:
    """A contiguous array: where it is, how much, and of what."""
    cdef gather_memory memory
    cdef int gpu              # the number of the GPU that it lies on, or -1: in the host's memory
    cdef bint is_cuda         # a DeviceArray or another library's CUDA array; all others are NumPy's
    cdef size_t stream        # of a CUDA array: on which work may be pending; 0: the default stream
    cdef object stream_owner  # what keeps that stream alive, if this DeviceArray has to
    cdef object owner         # what keeps the memory alive, if it is not this object
    cdef bint must_wait       # the stream of those who use it is not known
    cdef readonly tuple shape
    cdef readonly object dtype
    cdef size_t size, nbytes, itemsize

    cdef describe(self, shape, dtype, str name=*)
    cdef bint overlaps(self, Array other)
    cdef get_stream(self, size_t *stream)
    cdef set_stream(self, size_t stream, owner)
    cdef object element(self, size_t i)


cdef class DeviceArray(Array):
    cdef allocate(self)


cdef Array new_array(x)
cdef int let_wait(void *stream, Array array) except -1
