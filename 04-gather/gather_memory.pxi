# Part of gather.pyx: what an array is for C, and memory that a Python object owns.
from cpython.buffer cimport PyBuffer_FillInfo

cdef extern from "gather.cuh" nogil:
    int gather_device_allocate(void **pointer, size_t bytes)
    int gather_device_free(void *pointer)
    int gather_pinned_allocate(void **pointer, size_t bytes)
    int gather_pinned_free(void *pointer)
    int gather_pin(void *pointer, size_t bytes)
    int gather_unpin(void *pointer)
    int gather_copy(void *to, const void *from_, size_t bytes, void *stream)
    const char *gather_error_name(int code)
    const char *gather_error_text(int code)


class CudaError(RuntimeError):
    """A CUDA call failed: .code (700), .name ("cudaErrorIllegalAddress") and .text (in words)."""

    def __init__(self, code, name, text):
        super().__init__(code, name, text)  # all three in args: the exception can be pickled
        self.code, self.name, self.text = code, name, text

    def __str__(self):
        return f"CUDA error {self.code}, {self.name}: {self.text}"


cdef int check(int code, size_t wanted=0) except -1:
    if code == 0:
        return 0
    name, text = gather_error_name(code).decode(), gather_error_text(code).decode()
    if name == "cudaErrorMemoryAllocation":
        raise MemoryError(f"there is no room for these arrays ({wanted} bytes)")
    raise CudaError(code, name, text)


cdef class View:
    """An array as C sees it: contiguous, at an address, in the device's memory or the host's."""
    cdef size_t data, size, nbytes, stream  # stream: on which something may be pending, 0: the default
    cdef int ndim, itemsize
    cdef readonly tuple shape
    cdef readonly object dtype
    cdef bint on_device
    cdef object array  # the NumPy array, if it is one; keeps it alive
    cdef int users     # threads that work with it just now, without the GIL

    cdef describe(self, tuple shape, object dtype):
        self.shape, self.dtype, self.ndim, self.itemsize = shape, dtype, len(shape), dtype.itemsize
        self.size = 1
        for n in shape:
            self.size *= <size_t>n
        self.nbytes = self.size * <size_t>self.itemsize


cdef dict dtypes = {}  # of typestr: np.dtype(typestr) takes longer


cdef View view_of(str name, object x, bint writeable=False):
    """x as a View: a DeviceArray, a CUDA array, or a NumPy array, which is copied if it is strided."""
    cdef View view
    if type(x) is DeviceArray:
        if (<DeviceArray>x).closed:
            raise ValueError(f"{name}: this DeviceArray is closed")
        return x
    view = View.__new__(View)
    interface = getattr(x, "__cuda_array_interface__", None)
    if interface is not None:
        typestr = interface["typestr"]
        dtype = dtypes.get(typestr) or dtypes.setdefault(typestr, np.dtype(typestr))
        view.describe(interface["shape"], dtype)
        view.data, read_only = interface["data"]
        view.on_device = True
        strides, stream = interface.get("strides"), interface.get("stream")
        view.stream = 0 if stream is None or stream == 1 else stream  # 1: the default stream
        if strides is not None and view.size > 0 and strides != c_strides(view):
            raise ValueError(f"{name}: a contiguous CUDA array is taken")
        if writeable and read_only:
            raise ValueError(f"{name}: the array is read-only")
        if interface.get("mask") is not None:
            raise TypeError(f"{name}: a CUDA array without a mask is taken")
        return view
    if isinstance(x, np.ma.MaskedArray):
        raise TypeError(f"{name}: an array without a mask is taken")
    if writeable and not (isinstance(x, np.ndarray) and x.flags.writeable):
        raise ValueError(f"{name}: a writeable array is taken")
    array = np.asarray(x)
    if not array.dtype.isnative:
        raise TypeError(f"{name}: a dtype of this machine's byte order is taken, not {array.dtype}")
    # Of a strided out, this is a copy: take() copies back.
    array = np.require(array, requirements=["C", "A"])
    view.describe(array.shape, array.dtype)
    view.data, view.array = array.ctypes.data, array
    return view


cdef tuple c_strides(View view):
    strides, stride = [], view.itemsize
    for n in reversed(view.shape):
        strides.append(stride)
        stride *= n
    return tuple(reversed(strides))


def stream_handle(stream):
    """A stream as an int: one already, or an object with __cuda_stream__(), as cuda.core has them."""
    handle = stream if isinstance(stream, int) else stream.__cuda_stream__()[1]
    return 0 if handle == 1 else handle


cdef class DeviceArray(View):
    """A copy of an array in the GPU's memory: DeviceArray(array). Upload once, gather many times.

    CuPy, PyTorch and others read it by __cuda_array_interface__, without a copy. The memory is given
    back when the object is collected, by close(), or at the end of a `with` block.
    """
    cdef readonly bint closed

    def __cinit__(self, array=None):
        if array is None:  # for empty()
            return
        array = np.require(array, requirements=["C", "A"])
        if array.dtype.hasobject or not array.dtype.isnative:
            raise TypeError(f"array: numbers in this machine's byte order are taken, not {array.dtype}")
        self.describe(array.shape, array.dtype)
        self.allocate()
        check(gather_copy(<void *>self.data, <void *><size_t>array.ctypes.data, self.nbytes, NULL))

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
        cdef void *data = <void *>self.data
        with nogil:  # it waits for the GPU
            gather_device_free(data)

    def close(self):
        """Gives the memory back. A second close() does nothing."""
        if self.users > 0:
            raise BufferError("another thread is working with this array")
        cdef void *data = <void *>self.data
        self.data, self.closed = 0, True
        check(gather_device_free(data))

    def __enter__(self):
        view_of("DeviceArray", self)
        return self

    def __exit__(self, *exception):
        self.close()

    def get(self):
        """The elements as a new NumPy array. Waits for what is pending."""
        cdef int code
        view_of("DeviceArray", self)
        result = np.empty(self.shape, self.dtype)
        cdef void *to = <void *><size_t>result.ctypes.data
        self.users += 1
        with nogil:
            code = gather_copy(to, <void *>self.data, self.nbytes, <void *>self.stream)
        self.users -= 1
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
