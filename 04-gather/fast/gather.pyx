# cython: language_level=3, boundscheck=False
"""Gather at the hardware's speed: take(source, index) is numpy.take(source, index), on the GPU.

Build: make build
Run:   python3 -c "import numpy as np, gather; print(gather.take(np.arange(5.), np.array([4, -5])))"

The arrays may lie anywhere: NumPy arrays; NumPy arrays in pinned memory (pinned_empty, pin); a
DeviceArray; or what has __cuda_array_interface__, as the arrays of CuPy, PyTorch, JAX and Numba have.
All work is done on the current GPU; an array on another one is refused.
"""
import math
import operator

import numpy as np

from cpython.buffer cimport PyBuffer_FillInfo
cimport cython

from cuda_error import CudaError, exception_for

cdef dict modes = {"raise": GATHER_RAISE, "wrap": GATHER_WRAP, "clip": GATHER_CLIP}
cdef object int32 = np.dtype(np.int32), int64 = np.dtype(np.int64)
cdef enum:
    INVALID_VALUE = 1  # cudaErrorInvalidValue
cdef object EMPTY = object()  # what DeviceArray.empty() gives to DeviceArray()


cdef int check(int code, size_t wanted=0) except -1:
    if code != 0:
        raise exception_for(code, gather_error_name(code).decode(), gather_error_text(code).decode(), wanted)
    return 0


# ---- Arrays, as C sees them

@cython.auto_pickle(False)
cdef class Array:
    """A contiguous array: where it is, how much, and of what."""
    cdef gather_memory memory
    cdef int gpu              # the number of the GPU that it lies on, or -1: in the host's memory
    cdef bint is_cuda         # a DeviceArray or another library's CUDA array; all others are NumPy's
    cdef size_t stream        # of a CUDA array: on which work may be pending; 0: the default stream
    cdef object stream_owner  # what keeps that stream alive, if this DeviceArray has to
    cdef object owner         # what keeps the memory alive, if it is not this object
    cdef readonly tuple shape
    cdef readonly object dtype
    cdef size_t size, nbytes, itemsize

    cdef describe(self, shape, dtype, str name=None):
        """Shape and dtype. TypeError or ValueError, which names the array, if there is no such array of numbers."""
        try:
            dtype = np.dtype(dtype)
        except (TypeError, ValueError, SyntaxError):
            raise TypeError(f"{name or 'dtype'}: {dtype!r} is no dtype") from None
        if dtype.hasobject or not dtype.isnative:
            raise TypeError(f"{name or 'dtype'}: numbers in this machine's byte order are taken, not {dtype}")
        try:
            shape = tuple([operator.index(n) for n in (shape if isinstance(shape, (tuple, list)) else (shape,))])
        except TypeError:
            raise TypeError(f"{name or 'shape'}: a shape of integers is taken, not {shape!r}") from None
        if min(shape, default=0) < 0:
            raise ValueError(f"{name or 'shape'}: negative dimensions are not allowed")
        if math.prod([n or 1 for n in shape]) * (dtype.itemsize or 1) >= 2**63:  # as NumPy counts, without zeros
            raise ValueError(f"{name or 'shape'}: {shape} is too big")
        self.shape, self.dtype, self.size, self.itemsize = shape, dtype, math.prod(shape), dtype.itemsize
        self.nbytes = self.size * self.itemsize

    cdef bint overlaps(self, Array other):
        cdef size_t a = <size_t>(self.memory.host or self.memory.device)
        cdef size_t b = <size_t>(other.memory.host or other.memory.device)
        return a < b + other.nbytes and b < a + self.nbytes


@cython.final
cdef class DeviceArray(Array):
    """A copy of an array in the current GPU's memory: DeviceArray(array). Upload once, gather many times.

    CuPy, PyTorch and others read it by __cuda_array_interface__, without a copy. The memory is given
    back when nobody refers to the object any more.
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
        cdef int code
        stream_owner = self.stream_owner  # lives until this is done, whatever other threads do with this array
        with nogil:
            code = gather_copy(to, self.memory.device, self.nbytes, <void *>self.stream)
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


cdef Array array_of(str name, x, bint writeable=False):
    """x as an Array: a DeviceArray, a CUDA array, or a NumPy array, which is copied if it is strided."""
    if type(x) is DeviceArray:
        return x
    interface = None if type(x) is np.ndarray else getattr(x, "__cuda_array_interface__", None)
    if interface is not None:
        return cuda_array(name, x, interface, writeable)
    if isinstance(x, np.ma.MaskedArray):
        raise TypeError(f"{name}: an array without a mask is taken")
    is_array, x = isinstance(x, np.ndarray), np.asarray(x)  # of a subclass only the array
    if writeable and not (is_array and x.flags.writeable):
        raise ValueError(f"{name}: a writeable array is taken")
    cdef Array array = Array.__new__(Array)
    array.shape, array.dtype, array.size, array.itemsize = x.shape, x.dtype, x.size, x.itemsize
    array.nbytes = array.size * array.itemsize
    if array.dtype.hasobject or not array.dtype.isnative:
        raise TypeError(f"{name}: numbers in this machine's byte order are taken, not {array.dtype}")
    if not x.flags.c_contiguous or is_misaligned(x.ctypes.data, array.itemsize):
        x = x.copy()  # in C's order
    array.owner = x
    find(name, array, x.ctypes.data)
    return array


cdef int find(str name, Array array, size_t address) except -1:
    """Fills in where the array at that address lies."""
    cdef int code
    with nogil:
        code = gather_find(&array.memory, &array.gpu, <void *>address, array.nbytes)
    if code == INVALID_VALUE or (array.is_cuda and array.memory.device == NULL):
        raise ValueError(f"{name}: there are not {array.nbytes} bytes of CUDA memory at its address, {address:#x}")
    return check(code)


cdef int current_gpu() except -1:
    cdef int number, code
    with nogil:
        code = gather_current_device(&number)
    check(code)
    return number


cdef Array cuda_array(str name, x, interface, bint writeable):
    """What the __cuda_array_interface__ of x describes."""
    cdef Array array = Array.__new__(Array)
    try:
        typestr, shape, (address, read_only) = interface["typestr"], interface["shape"], interface["data"]
        strides, stream, mask = interface.get("strides"), interface.get("stream"), interface.get("mask")
        address, strides = operator.index(address), None if strides is None else tuple(strides)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise TypeError(f"{name}: its __cuda_array_interface__ is no dict with typestr, shape, data and good strides") from None
    if not isinstance(typestr, str):
        raise TypeError(f"{name}: a typestr is taken, not {typestr!r}")
    array.describe(shape, typestr, name)
    if not 0 <= address < 2**64:
        raise ValueError(f"{name}: {address} is no address")
    if strides is not None and array.size > 0 and not is_contiguous(array, strides):
        raise ValueError(f"{name}: a contiguous CUDA array is taken")
    if writeable and read_only:
        raise ValueError(f"{name}: a writeable array is taken")
    if mask is not None:
        raise TypeError(f"{name}: a CUDA array without a mask is taken")
    if is_misaligned(address, array.itemsize):
        raise ValueError(f"{name}: its address, {address:#x}, is no multiple of {array.itemsize}")
    array.stream = 0 if stream is None else stream_handle(stream, f"{name}'s stream")
    array.owner, array.gpu, array.is_cuda = x, -1, True
    if array.size > 0:
        find(name, array, address)
    return array


cdef bint is_misaligned(size_t address, size_t itemsize):
    """True if the kernel, which reads 4 or 8 bytes at once, cannot read these elements where they are."""
    return (itemsize == 4 or itemsize == 8) and address % itemsize != 0


cdef bint is_contiguous(Array array, strides):
    """True if the elements lie side by side, in C's order. The stride of a single element does not matter."""
    wanted = array.itemsize
    if len(strides) != len(array.shape):
        return False
    for n, stride in zip(reversed(array.shape), reversed(strides)):
        if n != 1 and stride != wanted:
            return False
        wanted *= n
    return True


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


# ---- take

cdef Array index_array(index):
    """The index: int32 and int64 as they are, other integers of NumPy's as int64, all else an exception."""
    cdef Array array
    if type(index) is DeviceArray:
        array = index
    else:
        interface = None if type(index) is np.ndarray else getattr(index, "__cuda_array_interface__", None)
        if interface is not None:
            array = cuda_array("index", index, interface, False)
        else:
            array = array_of("index", as_int64(index))
    if array.dtype is not int32 and array.dtype is not int64 and array.dtype != int32 and array.dtype != int64:
        raise TypeError(f"index: int32 or int64 is taken, not {array.dtype}")
    return array


cdef as_int64(index):
    """What numpy.take takes as well: bool, integers of other sizes, lists, and [], which is float64."""
    if isinstance(index, np.ma.MaskedArray):
        return index  # array_of refuses it
    index = np.asarray(index)
    if index.dtype.kind == "u" and index.itemsize == 8 and index.size > 0 and index.max() > 2**63 - 1:
        raise OverflowError(f"index: {index.max()} does not fit into int64")
    if (index.dtype.kind in "biu" and index.dtype != int32) or (index.size == 0 and index.dtype == np.float64):
        return index.astype(np.int64, copy=False)
    return index


cdef Array result_array(out, Array src, Array idx):
    """Where the kernel is to write: in a new array, or in out; in a new one too if it cannot write there."""
    if out is None:
        return DeviceArray.empty(idx.shape, src.dtype) if idx.is_cuda else array_of("out", np.empty(idx.shape, src.dtype))
    cdef Array res = array_of("out", out, writeable=True)
    if res.shape != idx.shape:
        raise ValueError(f"out: the shape of index, {idx.shape}, is taken, not {res.shape}")
    if res.dtype is not src.dtype and res.dtype != src.dtype:
        raise TypeError(f"out: {src.dtype} is taken, as the source has, not {res.dtype}")
    if not res.overlaps(src) and not res.overlaps(idx):
        return res
    if not isinstance(out, np.ndarray):
        raise ValueError("out: it overlaps with source or index")
    return array_of("out", np.empty(idx.shape, src.dtype))


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


cdef int check_gpu(str name, Array array, int current) except -1:
    if array.gpu != current and array.gpu >= 0:
        raise ValueError(f"{name}: it lies on GPU {array.gpu}, and GPU {current} is the current one: make the other one "
                         f"current, as cupy.cuda.Device({array.gpu}).use() or torch.cuda.set_device({array.gpu}) do")
    return 0


cdef int let_wait(void *stream, Array array) except -1:
    """What is put on `stream` from now on comes after what is pending on the array's own stream."""
    return wait_for(stream, <void *>array.stream) if array.is_cuda else 0


cdef int hand_back(void *stream, Array array) except -1:
    """After a launch on `stream`: whoever goes on with the array on its own stream comes after it."""
    return wait_for(<void *>array.stream, stream)


cdef int wait_for(void *stream, void *other) except -1:
    cdef int code = 0
    if stream != other:
        with nogil:
            code = gather_wait_for(stream, other)
    return check(code)


cdef object element(Array array, size_t i):
    """The element i, wherever the array is."""
    value = np.empty(1, array.dtype)
    cdef void *to = <void *><size_t>value.ctypes.data
    cdef char *elements = <char *>(array.memory.device if array.memory.host == NULL else array.memory.host)
    cdef int code
    with nogil:
        code = gather_copy(to, elements + i * array.itemsize, array.itemsize, NULL)
    check(code)
    return value[0]


def take(source, index, out=None, mode="raise", stream=None):
    """source[index] for a one-dimensional source, as numpy.take has it.

    source: M elements of 4 or 8 bytes, of any kind. index: integers, of any shape.
    out: an array of index's shape and source's dtype for the result, or None: then a new one is made,
    a DeviceArray if index lies on the device, else a NumPy array. Returns it.
    mode: what an index outside does. "raise": IndexError, and -M to -1 count from the end; "wrap":
    it is taken modulo M; "clip": it becomes 0 or M - 1.
    stream: where to work, as an int or an object with __cuda_stream__(); None: the one that an array
    names, else the default stream. It has to live as long as what was computed on it is used.
    With source, index and out on the device and mode "wrap" or "clip", take only launches, and whoever
    reads the result on that stream gets it; in all other cases it waits.
    Raises IndexError (then out is undefined if it is pinned or on the device, else as it was),
    TypeError, ValueError, OverflowError, MemoryError, CudaError.
    """
    cdef Array src = array_of("source", source), idx = index_array(index), named
    if len(src.shape) != 1:
        raise ValueError(f"source: one dimension is taken, not {len(src.shape)}")
    if src.itemsize != 4 and src.itemsize != 8:
        raise TypeError(f"source: a dtype of 4 or 8 bytes is taken, not {src.dtype}")
    if not isinstance(mode, str) or mode not in modes:
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")
    handle = None if stream is None else stream_handle(stream)
    cdef Array res = result_array(out, src, idx)
    cdef int current = current_gpu()
    check_gpu("source", src, current)
    check_gpu("index", idx, current)
    check_gpu("out", res, current)

    if handle is None:
        named = idx if idx.stream else src if src.stream else res
        handle, stream = named.stream, named.stream_owner
    if idx.size > 0:
        if src.size == 0:
            raise IndexError("cannot do a non-empty take from an empty axes.")
        gather_arrays(src, idx, res, modes[mode], <void *><size_t>handle, stream)
    if type(res) is DeviceArray:
        return res
    if out is None:
        return res.owner[()] if res.shape == () else res.owner
    if isinstance(out, np.ndarray) and not np.may_share_memory(np.asarray(out), res.owner):
        np.asarray(out)[...] = res.owner
    return out


cdef gather_arrays(Array src, Array idx, Array res, gather_mode mode, void *stream, stream_owner):
    cdef gather_job job
    cdef size_t first_bad = 0
    cdef int code
    cdef Array array
    job.source, job.index, job.result = src.memory, idx.memory, res.memory
    job.N, job.M, job.element_bytes, job.index_bytes = idx.size, src.size, src.itemsize, idx.itemsize
    job.mode, job.stream = mode, stream
    let_wait(stream, src)
    let_wait(stream, idx)
    let_wait(stream, res)
    # Stream 2 is another one in each thread: nobody else could wait for a launch there.
    if src.gpu >= 0 and idx.gpu >= 0 and res.gpu >= 0 and mode != GATHER_RAISE and stream != <void *>2:
        with nogil:
            code = gather_launch(&job, NULL)
        check(code)
        hand_back(stream, src)
        hand_back(stream, idx)
        if type(res) is DeviceArray:
            res.stream, res.stream_owner = <size_t>stream, stream_owner
        else:
            hand_back(stream, res)
        return
    with nogil:  # other Python threads go on while the GPU works
        code = gather(&job, &first_bad)
    if code == -1:
        raise IndexError(f"index {element(idx, first_bad)} is out of bounds for axis 0 with size {src.size}")
    copied = [name for name, array in (("source", src), ("index", idx), ("out", res)) if array.memory.device == NULL]
    if code == INVALID_VALUE and copied:
        raise ValueError(f"{' or '.join(copied)}: it is pinned only in part, and CUDA does not copy that: pin the whole array")
    wanted = sum([array.nbytes for array in (src, idx, res) if array.memory.device == NULL])
    try:
        check(code, wanted)
    except MemoryError as error:
        raise MemoryError(f"{error}: pin them, and the kernel works on them where they are") from None
