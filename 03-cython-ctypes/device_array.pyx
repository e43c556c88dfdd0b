# cython: language_level=3, boundscheck=False, freethreading_compatible=True
"""An array that stays on the GPU: DeviceArray owns device memory, and gives it back.

Build: make build
Run:   python3 -c "import numpy as np; from device_array import DeviceArray; print(DeviceArray(np.ones(3, 'f')).get())"
"""
import numpy as np

from cuda_error import CudaError, exception_for
from multiply import check_array

cdef extern from "multiply.h" nogil:
    int multiply_on_device(const float *d_a, const float *d_b, float *d_result, size_t n)
    int device_allocate(float **d_x, size_t n)
    int device_free(float *d_x)
    int device_write(float *d_x, const float *x, size_t n)
    int device_read(float *x, const float *d_x, size_t n)
    const char *multiply_error_name(int code)
    const char *multiply_error_text(int code)


cdef int check(int code, size_t n=0) except -1:
    if code != 0:
        raise exception_for(code, multiply_error_name(code).decode(),
                            multiply_error_text(code).decode(), n * sizeof(float))
    return 0


cdef class DeviceArray:
    """A copy of a NumPy array in the GPU's memory: DeviceArray(array), for float32 of any shape.

    The memory is given back when nobody refers to the object any more.
    Raises TypeError for anything but a NumPy array of float32; MemoryError; CudaError.
    """
    cdef float *d_data  # NULL before it is allocated
    cdef size_t size
    cdef readonly tuple shape

    def __cinit__(self, array):
        # All fields are 0 here. If anything below raises, __dealloc__ still runs, and finds NULL.
        array = check_array("array", array)
        self.shape, self.size = array.shape, array.size
        cdef const float[::1] view = np.require(array, requirements=["C", "A"]).reshape(-1)
        cdef int code
        with nogil:  # other Python threads go on meanwhile; none of them has this object yet
            code = device_allocate(&self.d_data, self.size)
            if code == 0 and self.size > 0:
                code = device_write(self.d_data, &view[0], self.size)
        check(code, self.size)

    def __dealloc__(self):
        cdef float *d_data = self.d_data
        if d_data != NULL:  # else nothing was allocated, and CUDA is not called
            with nogil:  # it waits for the GPU; an error is lost: nobody could catch an exception here
                device_free(d_data)

    def __array__(self, *_, **__):  # else NumPy would make an array of one object of it
        raise TypeError("DeviceArray: NumPy cannot read the GPU's memory; get() copies it into an array")

    def __repr__(self):
        return f"<DeviceArray of float32, shape {self.shape}>"

    @property
    def address(self):
        """Where the elements are in the GPU's memory: for C functions, as long as this object lives."""
        return <size_t>self.d_data

    def get(self):
        """The elements as a new NumPy array. Waits for the GPU, and raises what went wrong there."""
        result = np.empty(self.shape, np.float32)
        cdef float[::1] view = result.reshape(-1)
        cdef int code = 0
        if self.size > 0:
            with nogil:
                code = device_read(&view[0], self.d_data, self.size)
        check(code)
        return result


def multiply(DeviceArray a not None, DeviceArray b not None, DeviceArray out not None):
    """out = a * b on the GPU, for three DeviceArrays of one shape; out may be a or b.

    Launches and does not wait: out.get() does. Raises ValueError (another shape), CudaError.
    """
    if a.shape != b.shape or a.shape != out.shape:
        raise ValueError(f"one shape is taken, not {a.shape}, {b.shape} and {out.shape}")
    check(multiply_on_device(a.d_data, b.d_data, out.d_data, a.size))
