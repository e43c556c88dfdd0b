# Part of gather.pyx: memory that a Python object owns, on the device or pinned.
from cpython.buffer cimport PyBuffer_FillInfo

cdef extern from "gather.cuh" nogil:
    int gather_device_allocate(void **pointer, size_t bytes)
    int gather_device_free(void *pointer)
    int gather_pinned_allocate(void **pointer, size_t bytes)
    int gather_pinned_free(void *pointer)
    int gather_pin(void *pointer, size_t bytes)
    int gather_unpin(void *pointer)
    int gather_copy(void *to, const void *from_, size_t bytes, void *stream)


cdef class DeviceArray(View):
    """A copy of an array in the GPU's memory: DeviceArray(array). Upload once, gather many times.

    CuPy, PyTorch and others read it by __cuda_array_interface__, without a copy. The memory is given
    back when the object is collected, by close(), or at the end of a `with` block; if another thread
    works with it just then, after that.
    """

    def __cinit__(self, array=None):
        if array is None:  # for empty()
            return
        array = np.require(array, requirements=["C", "A"])
        if array.dtype.hasobject or not array.dtype.isnative:
            raise TypeError(f"array: numbers in this machine's byte order are taken, not {array.dtype}")
        self.describe(array.shape, array.dtype)
        self.allocate()
        cdef void *source = <void *><size_t>array.ctypes.data
        cdef int code
        with nogil:  # other Python threads go on meanwhile; none of them has this object yet
            code = gather_copy(<void *>self.data, source, self.nbytes, NULL)
        check(code)

    cdef allocate(self):
        cdef void *data = NULL
        check(gather_device_allocate(&data, self.nbytes), self.nbytes)
        self.data, self.on_device = <size_t>data, True

    @staticmethod
    def empty(shape, dtype=np.float32):
        """A DeviceArray of that shape (an int, or a tuple of them), with any content."""
        cdef DeviceArray new = DeviceArray.__new__(DeviceArray)
        new.describe((shape,) if isinstance(shape, int) else tuple(shape), np.dtype(dtype))
        new.allocate()
        return new

    def __dealloc__(self):
        self.free()  # an error is lost: nobody could catch an exception here

    cdef int free(self) noexcept:
        cdef void *data = <void *>self.data
        cdef int code = 0
        self.data = 0
        if data != NULL:  # else CUDA is left alone, which may not have been used at all
            with nogil:  # it waits for the GPU
                code = gather_device_free(data)
        return code

    def close(self):
        """Gives the memory back. A second close() does nothing."""
        self.closed = True
        if self.users == 0:  # else the last of them does it
            check(self.free())

    def __enter__(self):
        view_of("DeviceArray", self)
        return self

    def __exit__(self, *exception):
        self.close()

    def get(self):
        """The elements as a new NumPy array. Waits for what is pending."""
        cdef int code
        result = np.empty(self.shape, self.dtype)
        view_of("DeviceArray", self)
        cdef void *to = <void *><size_t>result.ctypes.data
        self.users += 1
        with nogil:
            code = gather_copy(to, <void *>self.data, self.nbytes, <void *>self.stream)
        self.release()
        check(code)
        return result

    @property
    def __cuda_array_interface__(self):
        view_of("DeviceArray", self)
        return {"shape": self.shape, "typestr": self.dtype.str, "data": (self.data, False),
                "strides": None, "version": 3, "stream": self.stream or 1}


cdef class PinnedMemory:
    """Page-locked memory that is given back when nobody refers to it any more; NumPy does, as a base."""
    cdef void *data
    cdef Py_ssize_t nbytes

    def __cinit__(self, Py_ssize_t nbytes):
        self.nbytes = nbytes
        check(gather_pinned_allocate(&self.data, max(nbytes, 1)), nbytes)

    def __dealloc__(self):
        if self.data != NULL:
            gather_pinned_free(self.data)

    def __getbuffer__(self, Py_buffer *view, int flags):
        PyBuffer_FillInfo(view, self, self.data, self.nbytes, 0, flags)


def pinned_empty(shape, dtype=np.float32):
    """A NumPy array in pinned memory, with any content: the kernel reads and writes it where it is."""
    shape, dtype = (shape,) if isinstance(shape, int) else tuple(shape), np.dtype(dtype)
    nbytes = dtype.itemsize
    for n in shape:
        nbytes *= n
    return np.ndarray(shape, dtype, buffer=PinnedMemory(nbytes))


class pin:
    """with pin(x): in the block, the memory of the NumPy array x is pinned. It must not go before."""

    def __init__(self, x):
        if not isinstance(x, np.ndarray) or not x.flags.c_contiguous:
            raise TypeError("x: a contiguous NumPy array is taken")
        self.x = x

    def __enter__(self):
        if self.x.nbytes > 0:
            check(gather_pin(<void *><size_t>self.x.ctypes.data, self.x.nbytes))
        return self.x

    def __exit__(self, *exception):
        if self.x.nbytes > 0:
            check(gather_unpin(<void *><size_t>self.x.ctypes.data))
