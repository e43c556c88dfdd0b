# cython: language_level=3, boundscheck=False
"""Exercise owner: an object that owns memory on the GPU, and gives it back.

Check: make exercises EXERCISE=owner
"""
import numpy as np

from cuda_error import CudaError, exception_for

cdef extern from "owner.h" nogil:
    int owner_allocate(float **d_x, size_t n)
    int owner_fill(float *d_x, size_t n, float value)
    int owner_read(float *x, const float *d_x, size_t n)
    int owner_free(float *d_x)
    const char *owner_error_name(int code)
    const char *owner_error_text(int code)


cdef int check(int code) except -1:
    if code != 0:
        raise exception_for(code, owner_error_name(code).decode(), owner_error_text(code).decode(), 0)
    return 0


cdef class Filled:
    """Filled(n, value): n floats on the GPU that all are value. The memory is given back by close(), or at the end."""
    cdef float *d_x  # NULL: there is no memory
    cdef size_t n

    # YOUR LINES, about 10: __cinit__(self, size_t n, float value) allocates and fills; __dealloc__(self) frees, also
    # if filling fails; close(self) frees earlier, and may be called again. No memory is freed twice. Look at the codes
    # of owner_allocate, owner_fill, and of owner_free in close.
    def __cinit__(self, size_t n, float value):
        self.n = n
        check(owner_allocate(&self.d_x, n))
        check(owner_fill(self.d_x, n, value))

    def __dealloc__(self):
        owner_free(self.d_x)  # an error is lost: nobody could catch an exception here

    def close(self):
        cdef float *d_x = self.d_x
        self.d_x = NULL
        check(owner_free(d_x))
    # END OF YOUR LINES

    def get(self):
        """The elements, as a new NumPy array. ValueError after close()."""
        # YOUR LINES, about 2: is there still memory?
        if self.d_x == NULL:
            raise ValueError("this Filled is closed")
        # END OF YOUR LINES
        result = np.empty(self.n, np.float32)
        cdef float[::1] view = result
        check(owner_read(&view[0], self.d_x, self.n))
        return result
