# cython: language_level=3, freethreading_compatible=True
"""Where arrays lie: Array describes one, and DeviceArray owns memory of the GPU.

Build: make build
Run:   python3 -c "import numpy as np, gather_arrays as g; print(g.DeviceArray(np.arange(3.)).get())"
"""
import numpy as np

from cpython.number cimport PyNumber_Index
cimport cython

from dlpack cimport capsule_of, kDLCUDA
from gather_memory cimport gather_copy, gather_device_allocate, gather_device_free, gather_use_device
from gather_streams cimport check, current_gpu, wait_for
from gather_streams import stream_handle

cdef object EMPTY = object()  # what DeviceArray.empty() gives to DeviceArray()
cdef dict known = {np.dtype(code).str: np.dtype(code) for code in "?bhilBHILefdFD"}  # faster than np.dtype(typestr)


@cython.auto_pickle(False)
cdef class Array:
    """A contiguous array: where it is, how much, and of what."""

    cdef describe(self, shape, dtype, str name=None):
        """Shape and dtype. TypeError or ValueError, which names the array, if there is no such array of numbers."""
        try:
            dtype = known[dtype] if type(dtype) is str and dtype in known else np.dtype(dtype)
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
        cdef int code, before
        stream_owner = self.get_stream(&stream)  # lives until this is done, whatever other threads do
        with nogil:
            code = gather_use_device(self.gpu, &before)  # each GPU has a default stream of its own
            if code == 0:
                code = gather_copy(to, self.memory.device, self.nbytes, <void *>stream)
                gather_use_device(before, &before)
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
        cdef int before
        if stream != -1:  # -1: the library sees to it
            check(gather_use_device(self.gpu, &before))
            try:
                let_wait(<void *><size_t>stream_handle(stream or 1), self)
            finally:
                gather_use_device(before, &before)
        is_versioned = max_version is not None and max_version[0] > 0
        return capsule_of(self, self.memory.device, self.gpu, self.shape, self.dtype, is_versioned)


cdef Array new_array(x):
    """A NumPy array that was made just now, contiguous and in ordinary memory: CUDA is not asked where it lies."""
    cdef Array array = Array.__new__(Array)
    array.shape, array.dtype, array.size, array.itemsize = x.shape, x.dtype, x.size, x.itemsize
    array.nbytes = array.size * array.itemsize
    array.memory.host, array.gpu, array.owner = <void *><size_t>x.ctypes.data, -1, x
    return array


cdef int let_wait(void *stream, Array array) except -1:
    """What is put on `stream` from now on comes after what is pending on the array's own stream."""
    cdef size_t own
    stream_owner = array.get_stream(&own)  # lives until this is done
    return wait_for(stream, <void *>own)
