# Part of gather.pyx: what an array is for C, and errors as exceptions.

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer

cdef extern from "gather.cuh" nogil:
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
    cdef readonly bint closed

    cdef int release(self) noexcept:
        """One user less; what was closed meanwhile goes with the last one."""
        self.users -= 1
        return self.free() if self.closed and self.users == 0 else 0

    cdef int free(self) noexcept:  # DeviceArray has something to free
        return 0

    cdef describe(self, tuple shape, object dtype):
        self.shape, self.dtype, self.ndim, self.itemsize = shape, dtype, len(shape), dtype.itemsize
        self.size = 1
        for n in shape:
            self.size *= <size_t>n
        self.nbytes = self.size * <size_t>self.itemsize


cdef dict dtypes = {}  # of typestr: np.dtype(typestr) takes longer
cdef dict torch_dtypes = {"torch.float32": np.dtype(np.float32), "torch.float64": np.dtype(np.float64),
                          "torch.int32": np.dtype(np.int32), "torch.int64": np.dtype(np.int64)}
cdef dict torch_types = {}  # of type(x): is it PyTorch's tensor?


cdef bint is_torch(x):
    kind = type(x)
    known = torch_types.get(kind)
    if known is None:
        known = kind.__module__ in ("torch", "torch.nn.parameter") and kind.__name__ in ("Tensor", "Parameter")
        torch_types[kind] = known
    return known


cdef View torch_view(x):
    """A contiguous CUDA tensor of PyTorch, or None. It has __cuda_array_interface__ too, which takes longer."""
    if not (x.is_cuda and x.is_contiguous()) or x.requires_grad or x.is_neg():
        return None
    cdef object dtype = torch_dtypes.get(x.dtype)
    if dtype is None:
        dtype = torch_dtypes.get(str(x.dtype))
        if dtype is None:
            return None
        torch_dtypes[x.dtype] = dtype
    cdef View view = View.__new__(View)
    view.describe((x.numel(),) if x.dim() == 1 else tuple(x.shape), dtype)
    view.data, view.on_device = x.data_ptr(), True
    return view


cdef View view_of(str name, object x, bint writeable=False):
    """x as a View: a DeviceArray, a CUDA array, or a NumPy array, which is copied if it is strided."""
    cdef View view
    if type(x) is DeviceArray:
        if (<DeviceArray>x).closed:
            raise ValueError(f"{name}: this DeviceArray is closed")
        return x
    if is_torch(x):
        view = torch_view(x)
        if view is not None:
            return view
    view = View.__new__(View)
    interface = None if type(x) is np.ndarray else getattr(x, "__cuda_array_interface__", None)
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
    array = x if type(x) is np.ndarray else np.asarray(x)
    dtype, flags = array.dtype, array.flags
    if not dtype.isnative:
        raise TypeError(f"{name}: a dtype of this machine's byte order is taken, not {dtype}")
    if not (flags.c_contiguous and flags.aligned):  # of an out, this is a copy: take() copies back
        array = np.require(array, requirements=["C", "A"])
    view.describe(array.shape, dtype)
    view.data, view.array = address_of(array), array
    return view


cdef size_t address_of(array) except? 0:
    """Where the elements of a contiguous NumPy array are."""
    cdef Py_buffer buffer
    if array.dtype.kind in "mMO":  # of which NumPy gives no buffer
        return array.ctypes.data
    PyObject_GetBuffer(array, &buffer, PyBUF_SIMPLE)  # takes a tenth of the time of array.ctypes
    cdef size_t address = <size_t>buffer.buf
    PyBuffer_Release(&buffer)
    return address


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
