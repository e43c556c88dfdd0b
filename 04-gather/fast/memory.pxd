# memory.cuh for Cython, and what memory.pyx offers to other modules in Cython.
cdef extern from "memory.cuh" nogil:
    struct gather_memory:
        void *host
        void *device
    int gather_find(gather_memory *memory, int *number, const void *pointer, size_t bytes)
    int gather_device_allocate(void **pointer, size_t bytes)
    int gather_device_free(void *pointer)
    int gather_pinned_allocate(void **pointer, size_t bytes)
    int gather_pinned_free(void *pointer)
    int gather_pin(void *pointer, size_t bytes)
    int gather_unpin(void *pointer)
    int gather_copy(void *to, const void *from_, size_t bytes, void *stream)
    int gather_current_device(int *number)
    int gather_wait_for(void *stream, void *other)
    const char *gather_error_name(int code)
    const char *gather_error_text(int code)

cdef enum:
    INVALID_VALUE = 1  # cudaErrorInvalidValue


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


cdef int check(int code, size_t wanted=*) except -1
cdef int current_gpu() except -1
cdef int let_wait(void *stream, Array array) except -1
cdef int wait_for(void *stream, void *other) except -1
cdef Array array_of(str name, x, bint writeable=*)
cdef Array device_array_of(str name, x, bint writeable)
cdef numpy_array(str name, x)
cdef Array new_array(x)
