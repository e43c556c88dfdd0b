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


cdef object nothing = object()  # what empty() gives to DeviceArray


cdef plain_dtype(dtype):
    """np.dtype(dtype), if its elements are bytes that may lie anywhere."""
    dtype = np.dtype(dtype)
    if dtype.hasobject or not dtype.isnative:
        raise TypeError(f"dtype: numbers in this machine's byte order are taken, not {dtype}")
    return dtype


cdef tuple plain_shape(shape):
    """An int, or a sequence of them, as a tuple."""
    try:
        return (operator.index(shape),)
    except TypeError:
        return tuple([operator.index(n) for n in shape])


@cython.final
cdef class DeviceArray(View):
    """A copy of an array in the GPU's memory: DeviceArray(array). Upload once, gather many times.

    It lies on the current GPU. CuPy, PyTorch and others read it by __cuda_array_interface__, without a
    copy. The memory is given back when the object is collected, by close(), or at the end of a `with`
    block; if another thread works with it just then, after that.
    Raises TypeError for what is no array of numbers, MemoryError, CudaError.
    """

    def __cinit__(self, array):
        if array is nothing:
            return
        if isinstance(array, np.ma.MaskedArray):
            raise TypeError("array: an array without a mask is taken")
        array = np.require(array, requirements=["C", "A"])
        self.describe(array.shape, plain_dtype(array.dtype))
        self.allocate()
        cdef void *source = <void *><size_t>array.ctypes.data
        cdef int code
        with nogil:  # other Python threads go on meanwhile; none of them has this object yet
            code = gather_copy(<void *>self.data, source, self.nbytes, NULL)
        check(code)

    cdef allocate(self):
        cdef void *data = NULL
        cdef int code
        with nogil:
            code = gather_device_allocate(&data, self.nbytes)
        check(code, self.nbytes)
        self.data, self.on_device, self.device = <size_t>data, True, GATHER_ANY_DEVICE
        if data != NULL:
            check(gather_device_of(data, &self.device))

    @staticmethod
    def empty(shape, dtype=np.float32):
        """A DeviceArray of that shape (an int, or a tuple of them), with any content."""
        cdef DeviceArray new = DeviceArray.__new__(DeviceArray, nothing)
        new.describe(plain_shape(shape), plain_dtype(dtype))
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

    def __array__(self, *_, **__):  # else NumPy would make an array of one object of it
        raise TypeError("DeviceArray: NumPy cannot read the GPU's memory; get() copies it into an array")

    def __repr__(self):
        return f"<DeviceArray of {self.dtype}, shape {self.shape}{', closed' if self.closed else ''}>"

    def get(self):
        """The elements as a new NumPy array. Waits for what is pending."""
        cdef int code, before
        result = np.empty(self.shape, self.dtype)
        cdef void *to = <void *><size_t>result.ctypes.data
        view_of("DeviceArray", self)
        before = use_device_of(self, None, None)
        stream = self.kept  # it lives until this call is done, whatever other threads do
        self.users += 1
        with nogil:
            code = gather_copy(to, <void *>self.data, self.nbytes, <void *>self.stream)
        self.release()
        use_device(before)
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
    cdef size_t nbytes

    def __cinit__(self, size_t nbytes):
        cdef int code
        self.nbytes = nbytes
        with nogil:
            code = gather_pinned_allocate(&self.data, max(nbytes, 1))
        check(code, nbytes)

    def __dealloc__(self):
        cdef void *data = self.data
        if data != NULL:
            with nogil:  # it waits for the GPU
                gather_pinned_free(data)

    def __getbuffer__(self, Py_buffer *view, int flags):
        PyBuffer_FillInfo(view, self, self.data, self.nbytes, 0, flags)


def pinned_empty(shape, dtype=np.float32):
    """A NumPy array in pinned memory, with any content: the kernel reads and writes it where it is."""
    cdef View view = View.__new__(View)
    view.describe(plain_shape(shape), plain_dtype(dtype))
    return np.ndarray(view.shape, view.dtype, buffer=PinnedMemory(view.nbytes))


class pin:
    """with pin(x): in the block, the memory of the NumPy array x is pinned. It must not go before.

    Pin arrays whole: CUDA copies nothing that is pinned in part, and take may refuse it.
    """

    def __init__(self, x):
        if not isinstance(x, np.ndarray) or not x.flags.c_contiguous:
            raise TypeError("x: a contiguous NumPy array is taken")
        self.x, self.pinned = x, 0

    def __enter__(self):
        cdef size_t address = self.x.ctypes.data, nbytes = self.x.nbytes
        cdef int code = 0
        with nogil:
            if nbytes > 0:
                code = gather_pin(<void *>address, nbytes)
        check(code)
        self.pinned = address if nbytes > 0 else 0
        return self.x

    def __exit__(self, *exception):
        cdef size_t address = self.pinned
        cdef int code = 0
        self.pinned = 0
        with nogil:
            if address != 0:
                code = gather_unpin(<void *>address)
        check(code)
