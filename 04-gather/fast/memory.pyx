# cython: language_level=3, freethreading_compatible=True
"""Where arrays lie: DeviceArray owns memory of the GPU, pinned_empty and pin make memory that the GPU reaches too,
and array_of finds out where the arrays of others are.

Build: make build
Run:   python3 -c "import numpy as np, memory; print(memory.DeviceArray(np.arange(3.)).get())"
"""
import operator

import numpy as np

from cpython.buffer cimport PyBuffer_FillInfo
from cpython.number cimport PyNumber_Index
cimport cython

from cuda_error import exception_for
from dlpack cimport DLManagedTensorVersioned, DLPackExchangeAPI, DLTensor, kDLComplex, kDLCUDA
from dlpack cimport capsule_from, capsule_of, data_of, dtype_of, exchange_table, is_contiguous, shape_of, tensor_in

cdef object EMPTY = object()  # what DeviceArray.empty() gives to DeviceArray()


cdef int check(int code, size_t wanted=0) except -1:
    if code != 0:
        raise exception_for(code, gather_error_name(code).decode(), gather_error_text(code).decode(), wanted)
    return 0


@cython.auto_pickle(False)
cdef class Array:
    """A contiguous array: where it is, how much, and of what."""

    cdef describe(self, shape, dtype, str name=None):
        """Shape and dtype. TypeError or ValueError, which names the array, if there is no such array of numbers."""
        try:
            dtype = np.dtype(dtype)
        except (TypeError, ValueError, SyntaxError):
            raise TypeError(f"{name or 'dtype'}: {dtype!r} is no dtype") from None
        if dtype.hasobject or not dtype.isnative:
            raise TypeError(f"{name or 'dtype'}: numbers in this machine's byte order are taken, not {dtype}")
        try:
            shape = tuple([PyNumber_Index(n) for n in (shape if isinstance(shape, (tuple, list)) else (shape,))])
        except TypeError:
            raise TypeError(f"{name or 'shape'}: a shape of integers is taken, not {shape!r}") from None
        size, nbytes = 1, dtype.itemsize or 1
        for n in shape:
            if n < 0:
                raise ValueError(f"{name or 'shape'}: negative dimensions are not allowed")
            size *= n
            nbytes *= n or 1
        if nbytes >= 2**63:  # as NumPy counts, without zeros
            raise ValueError(f"{name or 'shape'}: {shape} is too big")
        self.shape, self.dtype, self.size, self.itemsize = shape, dtype, size, dtype.itemsize
        self.nbytes = self.size * self.itemsize

    cdef bint overlaps(self, Array other):
        cdef size_t a = <size_t>(self.memory.host or self.memory.device)
        cdef size_t b = <size_t>(other.memory.host or other.memory.device)
        return self.nbytes > 0 and other.nbytes > 0 and a < b + other.nbytes and b < a + self.nbytes

    # Another thread may launch into this array meanwhile; without a GIL, a lock keeps both fields together.
    cdef get_stream(self, size_t *stream):
        """Its stream; returns what keeps it alive."""
        with cython.critical_section(self):
            stream[0] = self.stream
            return self.stream_owner

    cdef set_stream(self, size_t stream, owner):
        with cython.critical_section(self):
            self.stream, self.stream_owner = stream, owner

    cdef object element(self, size_t i):
        """The element i, wherever the array is."""
        value = np.empty(1, self.dtype)
        cdef void *to = <void *><size_t>value.ctypes.data
        cdef char *elements = <char *>(self.memory.device if self.memory.host == NULL else self.memory.host)
        cdef int code
        with nogil:
            code = gather_copy(to, elements + i * self.itemsize, self.itemsize, NULL)
        check(code)
        return value[0]


@cython.final
cdef class DeviceArray(Array):
    """A copy of an array in the current GPU's memory: DeviceArray(array). Upload once, gather many times.

    CuPy, PyTorch, JAX and others read it by DLPack or __cuda_array_interface__, without a copy, as in
    torch.from_dlpack(d). The memory is given back when nobody refers to the object any more.
    Raises TypeError for what is no array of numbers, MemoryError, CudaError.
    """

    def __cinit__(self, array):
        if array is EMPTY:
            return
        if isinstance(array, np.ma.MaskedArray):
            raise TypeError("array: an array without a mask is taken")
        array = np.require(np.asarray(array), requirements=["C", "A"])  # of a subclass only the array
        self.describe(array.shape, array.dtype, "array")
        self.allocate()
        cdef void *source = <void *><size_t>array.ctypes.data
        cdef int code
        with nogil:  # other Python threads go on meanwhile; none of them has this object yet
            code = gather_copy(self.memory.device, source, self.nbytes, NULL)
        check(code)

    @staticmethod
    def empty(shape, dtype=np.float32):
        """A DeviceArray of that shape (an int, or a tuple of them), with any content."""
        cdef DeviceArray new = DeviceArray.__new__(DeviceArray, EMPTY)
        new.describe(shape, dtype)
        new.allocate()
        return new

    cdef allocate(self):
        cdef int code
        with nogil:
            code = gather_device_allocate(&self.memory.device, self.nbytes)
        check(code, self.nbytes)
        self.gpu, self.is_cuda = current_gpu(), True

    def __dealloc__(self):
        cdef void *memory = self.memory.device
        if memory != NULL:  # else CUDA is left alone, which may not have been used at all
            with nogil:  # it waits for the GPU; an error is lost: nobody could catch an exception here
                gather_device_free(memory)

    def get(self):
        """The elements as a new NumPy array. Waits for what is pending."""
        result = np.empty(self.shape, self.dtype)
        cdef void *to = <void *><size_t>result.ctypes.data
        cdef size_t stream
        cdef int code
        stream_owner = self.get_stream(&stream)  # lives until this is done, whatever other threads do
        with nogil:
            code = gather_copy(to, self.memory.device, self.nbytes, <void *>stream)
        check(code)
        return result

    def __array__(self, *_, **__):  # else NumPy would make an array of one object of it
        raise TypeError("DeviceArray: NumPy cannot read the GPU's memory; get() copies it into an array")

    def __repr__(self):
        return f"<DeviceArray of {self.dtype}, shape {self.shape}>"

    @property
    def __cuda_array_interface__(self):
        return {"shape": self.shape, "typestr": self.dtype.str, "data": (<size_t>self.memory.device, False),
                "strides": None, "version": 3, "stream": self.stream or 1}

    def __dlpack_device__(self):
        return kDLCUDA, self.gpu

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        """For from_dlpack(d) of a library, which works on `stream`; that comes after what is pending here."""
        if copy or dl_device not in (None, self.__dlpack_device__()):
            raise BufferError("a DeviceArray shows its memory where it is; get() copies it into a NumPy array")
        if stream is not None and stream == 0:
            raise ValueError("stream: 0 has no meaning in DLPack; 1 is the default stream")
        if stream != -1:  # -1: the library sees to it
            let_wait(<void *><size_t>stream_handle(stream or 1), self)
        is_versioned = max_version is not None and max_version[0] > 0
        return capsule_of(self, self.memory.device, self.gpu, self.shape, self.dtype, is_versioned)


# ---- Arrays of others

cdef Array array_of(str name, x, bint writeable=False):
    """x as an Array: on the GPU, see device_array_of, or a NumPy array, which is copied if it is strided."""
    cdef Array array = device_array_of(name, x, writeable)
    if array is not None:
        return array
    if isinstance(x, np.ma.MaskedArray):
        raise TypeError(f"{name}: an array without a mask is taken")
    is_array, x = isinstance(x, np.ndarray) or hasattr(x, "__dlpack__"), numpy_array(name, x)
    if writeable and not (is_array and x.flags.writeable):
        raise ValueError(f"{name}: a writeable array is taken")
    if x.dtype.hasobject or not x.dtype.isnative:
        raise TypeError(f"{name}: numbers in this machine's byte order are taken, not {x.dtype}")
    if not x.flags.c_contiguous or is_misaligned(x.ctypes.data, x.itemsize):
        return new_array(x.copy())  # in C's order
    array = new_array(x)
    find(name, array, <size_t>array.memory.host)
    return array


cdef numpy_array(str name, x):
    """x as a NumPy array, if it is in the host's memory. Of a subclass only the array; of what has DLPack the memory itself."""
    if isinstance(x, np.ndarray) or not hasattr(x, "__dlpack__"):
        return np.asarray(x)
    try:
        return np.from_dlpack(x)
    except (BufferError, RuntimeError) as error:
        raise TypeError(f"{name}: NumPy cannot read it: {error}") from error


cdef Array device_array_of(str name, x, bint writeable):
    """x as an Array if a GPU has it: a DeviceArray, or what has DLPack or __cuda_array_interface__. Else None."""
    if type(x) is DeviceArray:
        return x
    if type(x) is np.ndarray:
        return None
    cdef const DLPackExchangeAPI *table = exchange_table(type(x))
    if table != NULL:
        return exchanged_array(name, x, table, writeable)
    interface, has_dlpack = getattr(x, "__cuda_array_interface__", None), hasattr(x, "__dlpack_device__")
    # Where an interface names no stream, as JAX's, nothing says what is pending: DLPack orders it.
    if interface is not None and (not has_dlpack or "stream" in interface):
        return cuda_array(name, x, interface, writeable)
    if not has_dlpack or x.__dlpack_device__()[0] != kDLCUDA:
        return None
    cdef bint is_read_only = False
    capsule = capsule_from(x)
    cdef Array array = dlpack_array(name, capsule, tensor_in(name, capsule, &is_read_only), 0)
    if writeable and is_read_only:
        raise ValueError(f"{name}: a writeable array is taken")
    array.must_wait = True  # on which stream its library works is not known
    return array


cdef Array exchanged_array(str name, x, const DLPackExchangeAPI *table, bint writeable):
    """x as an Array if a GPU has it, by the functions of its library, as PyTorch has them. Else None."""
    cdef DLTensor tensor
    cdef DLManagedTensorVersioned *managed
    cdef void *stream = NULL
    cdef bint is_read_only = False
    table.dltensor_from_py_object_no_sync(<void *>x, &tensor)
    if writeable:  # the other function tells it
        table.managed_tensor_from_py_object_no_sync(<void *>x, &managed)
        is_read_only = managed.flags & 1
        if managed.deleter != NULL:
            managed.deleter(managed)
    if tensor.device.device_type != kDLCUDA:
        return None
    if getattr(x, "requires_grad", False):
        raise TypeError(f"{name}: it requires a gradient, which nothing here computes: detach() it")
    if tensor.dtype.code == kDLComplex and hasattr(x, "is_conj") and x.is_conj():
        raise TypeError(f"{name}: its memory holds the conjugate of its elements: resolve_conj() computes them")
    if is_read_only:
        raise ValueError(f"{name}: a writeable array is taken")
    table.current_work_stream(kDLCUDA, tensor.device.device_id, &stream)
    return dlpack_array(name, x, &tensor, <size_t>stream)


cdef Array dlpack_array(str name, owner, const DLTensor *tensor, size_t stream):
    """What a tensor of DLPack on a GPU describes. Its library vouches for the memory."""
    cdef Array array = Array.__new__(Array)
    cdef int d
    array.dtype = dtype_of(tensor.dtype)
    if array.dtype is None:
        raise TypeError(f"{name}: NumPy's numbers are taken, not DLPack's type {tensor.dtype.code}, {tensor.dtype.bits} bits")
    array.shape = shape_of(tensor)
    array.size, array.itemsize = 1, array.dtype.itemsize
    for d in range(tensor.ndim):
        array.size *= tensor.shape[d]
    if min(array.shape, default=0) < 0 or (array.size > 0 and data_of(tensor) == NULL):
        raise ValueError(f"{name}: DLPack says that it has the shape {array.shape} and lies at {<size_t>data_of(tensor):#x}")
    if not is_contiguous(tensor):
        raise ValueError(f"{name}: a contiguous CUDA array is taken")
    array.nbytes = array.size * array.itemsize
    array.memory.device = data_of(tensor)
    check_address(name, <size_t>array.memory.device, array.itemsize)
    array.gpu, array.is_cuda, array.owner = tensor.device.device_id, True, owner
    array.stream = 0 if stream == 1 else stream  # 1: the default stream
    return array


cdef Array new_array(x):
    """A NumPy array that was made just now, contiguous and in ordinary memory: CUDA is not asked where it lies."""
    cdef Array array = Array.__new__(Array)
    array.shape, array.dtype, array.size, array.itemsize = x.shape, x.dtype, x.size, x.itemsize
    array.nbytes = array.size * array.itemsize
    array.memory.host, array.gpu, array.owner = <void *><size_t>x.ctypes.data, -1, x
    return array


cdef int find(str name, Array array, size_t address) except -1:
    """Fills in where the array at that address lies."""
    cdef int code
    with nogil:
        code = gather_find(&array.memory, &array.gpu, <void *>address, array.nbytes)
    if code == INVALID_VALUE or (array.is_cuda and array.memory.device == NULL):
        raise ValueError(f"{name}: there are not {array.nbytes} bytes of CUDA memory at its address, {address:#x}")
    return check(code)


cdef Array cuda_array(str name, x, interface, bint writeable):
    """What the __cuda_array_interface__ of x describes."""
    cdef Array array = Array.__new__(Array)
    try:
        typestr, shape, (address, read_only) = interface["typestr"], interface["shape"], interface["data"]
        strides, stream, mask = interface.get("strides"), interface.get("stream"), interface.get("mask")
        address, strides = PyNumber_Index(address), None if strides is None else tuple(strides)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise TypeError(f"{name}: its __cuda_array_interface__ is no dict with typestr, shape, data and good strides") from None
    if not isinstance(typestr, str):
        raise TypeError(f"{name}: a typestr is taken, not {typestr!r}")
    array.describe(shape, typestr, name)
    if not 0 <= address < 2**64:
        raise ValueError(f"{name}: {address} is no address")
    if strides is not None and array.size > 0 and not has_strides_of_c(array, strides):
        raise ValueError(f"{name}: a contiguous CUDA array is taken")
    if writeable and read_only:
        raise ValueError(f"{name}: a writeable array is taken")
    if mask is not None:
        raise TypeError(f"{name}: a CUDA array without a mask is taken")
    check_address(name, address, array.itemsize)
    array.stream = 0 if stream is None else stream_handle(stream, f"{name}'s stream")
    array.owner, array.gpu, array.is_cuda = x, -1, True
    if array.size > 0:
        find(name, array, address)
    return array


cdef bint is_misaligned(size_t address, size_t itemsize):
    """True if the kernel, which reads 4 or 8 bytes at once, cannot read these elements where they are."""
    return (itemsize == 4 or itemsize == 8) and address % itemsize != 0


cdef int check_address(str name, size_t address, size_t itemsize) except -1:
    if is_misaligned(address, itemsize):
        raise ValueError(f"{name}: its address, {address:#x}, is no multiple of {itemsize}")
    return 0


cdef bint has_strides_of_c(Array array, strides):
    """True if the elements lie side by side, in C's order. The stride of a single element does not matter."""
    wanted = array.itemsize
    if len(strides) != len(array.shape):
        return False
    for n, stride in zip(reversed(array.shape), reversed(strides)):
        if n != 1 and stride != wanted:
            return False
        wanted *= n
    return True


def stream_handle(stream, name="stream"):
    """A stream as an int: one already, or an object with __cuda_stream__(), as cuda.core has them."""
    try:
        _, handle = stream.__cuda_stream__() if hasattr(stream, "__cuda_stream__") else (0, stream)
        handle = operator.index(handle)
    except (TypeError, ValueError):
        raise TypeError(f"{name}: an int or what has __cuda_stream__() is taken, not {stream!r}") from None
    if not 0 <= handle < 2**64:
        raise ValueError(f"{name}: {handle} is no stream")
    return 0 if handle == 1 else handle  # 1: the default stream


cdef int let_wait(void *stream, Array array) except -1:
    """What is put on `stream` from now on comes after what is pending on the array's own stream."""
    cdef size_t own
    stream_owner = array.get_stream(&own)  # lives until this is done
    return wait_for(stream, <void *>own)


cdef int wait_for(void *stream, void *other) except -1:
    """What is put on `stream` from now on comes after what is pending on `other`."""
    cdef int code = 0
    if stream != other:
        with nogil:
            code = gather_wait_for(stream, other)
    return check(code)


cdef int current_gpu() except -1:
    cdef int number, code
    with nogil:
        code = gather_current_device(&number)
    check(code)
    return number


# ---- Pinned memory

cdef class PinnedMemory:
    """Page-locked memory that is given back when nobody refers to it any more; NumPy does, as a base."""
    cdef void *data
    cdef size_t nbytes

    def __cinit__(self, size_t nbytes):
        cdef int code
        self.nbytes = nbytes
        with nogil:
            code = gather_pinned_allocate(&self.data, max(nbytes, 1))
        try:
            check(code)
        except MemoryError:
            raise MemoryError(f"there is no room for {nbytes} bytes of pinned memory") from None

    def __dealloc__(self):
        cdef void *data = self.data
        if data != NULL:
            with nogil:  # it waits for the GPU
                gather_pinned_free(data)

    def __getbuffer__(self, Py_buffer *view, int flags):
        PyBuffer_FillInfo(view, self, self.data, self.nbytes, 0, flags)


def pinned_empty(shape, dtype=np.float32):
    """A NumPy array in pinned memory, with any content: the kernel reads and writes it where it is."""
    cdef Array array = Array.__new__(Array)
    array.describe(shape, dtype)
    return np.ndarray(array.shape, array.dtype, buffer=PinnedMemory(array.nbytes))


class pin:
    """with pin(x): in the block, the memory of the NumPy array x is pinned. It must not go before.

    Pin arrays whole. What is pinned only in part no kernel reads, and CUDA does not copy it: take raises
    ValueError. What is pinned already cannot be pinned again: CudaError 712.
    """

    def __init__(self, x):
        array = np.asarray(x)  # of a subclass only the array
        if not isinstance(x, np.ndarray) or not array.flags.c_contiguous:
            raise TypeError("x: a contiguous NumPy array is taken")
        self.x, self.array, self.pinned = x, array, 0

    def __enter__(self):
        cdef size_t address = self.array.ctypes.data, nbytes = self.array.nbytes
        cdef int code
        if nbytes > 0:
            with nogil:
                code = gather_pin(<void *>address, nbytes)
            check(code)
            self.pinned = address
        return self.x

    def __exit__(self, *exception):
        cdef size_t address = self.pinned
        cdef int code
        self.pinned = 0
        if address != 0:
            with nogil:
                code = gather_unpin(<void *>address)
            check(code)
