# Part of gather.pyx: what an array is for C, and errors as exceptions.

cimport cython
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


@cython.auto_pickle(False)
cdef class View:
    """An array as C sees it: contiguous, at an address, in the device's memory or the host's."""
    cdef size_t data, size, nbytes, stream  # stream: on which something may be pending, 0: the default
    cdef int ndim, itemsize, device  # device: its number, if on_device
    cdef readonly tuple shape
    cdef readonly object dtype
    cdef bint on_device
    cdef object array  # the NumPy array, if it is one; keeps it alive
    cdef object kept   # the stream, if it is an object; keeps it alive
    cdef int users     # threads that work with it just now, without the GIL
    cdef readonly bint closed

    cdef int release(self) noexcept:
        """One user less; what was closed meanwhile goes with the last one."""
        self.users -= 1
        return self.free() if self.closed and self.users == 0 else 0

    cdef int free(self) noexcept:  # DeviceArray has something to free
        return 0

    cdef describe(self, tuple shape, object dtype):
        """Shape and dtype, and what follows from them. ValueError if there is no such array."""
        cdef Py_ssize_t n
        self.shape, self.dtype, self.ndim, self.itemsize = shape, dtype, len(shape), dtype.itemsize
        cdef size_t most = (<size_t>-1 >> 1) // <size_t>max(self.itemsize, 1)
        self.size = 1
        for length in shape:
            try:
                n = length
            except OverflowError:
                raise ValueError(f"shape: {shape} is too big") from None
            if n < 0:
                raise ValueError("shape: negative dimensions are not allowed")
            if n > 0 and self.size > most // <size_t>n:
                raise ValueError(f"shape: {shape} is too big")
            self.size *= <size_t>n
        self.nbytes = self.size * <size_t>self.itemsize


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
        return cuda_view(name, interface, writeable)
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
    if is_misaligned(view):  # flags.aligned is not enough: complex64 needs 4 bytes there, the kernel 8
        view.array = array.copy()
        view.data = address_of(view.array)
    return view


cdef bint is_misaligned(View view):
    """True if the kernel, which reads 4 or 8 bytes at once, cannot read these elements where they are."""
    return (view.itemsize == 4 or view.itemsize == 8) and view.data % <size_t>view.itemsize != 0


cdef size_t address_of(array) except? 0:
    """Where the elements of a contiguous NumPy array are."""
    cdef Py_buffer buffer
    if array.dtype.kind in "mMO":  # of which NumPy gives no buffer
        return array.ctypes.data
    PyObject_GetBuffer(array, &buffer, PyBUF_SIMPLE)  # takes a tenth of the time of array.ctypes
    cdef size_t address = <size_t>buffer.buf
    PyBuffer_Release(&buffer)
    return address
