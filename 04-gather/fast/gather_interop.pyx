# cython: language_level=3, freethreading_compatible=True
"""Arrays of others: array_of finds out where the array of NumPy, CuPy, PyTorch or JAX lies, and what it holds.

Build: make build
Run:   make run, which calls it by gather.pyx: it has nothing for Python
"""
import numpy as np

from cpython.number cimport PyNumber_Index
from cpython.pycapsule cimport PyCapsule_IsValid

from gather_arrays cimport Array, new_array
from gather_arrays import DeviceArray
from dlpack cimport DLManagedTensorVersioned, DLPackExchangeAPI, DLTensor, kDLComplex, kDLCUDA
from dlpack cimport capsule_from, data_of, dtype_of, exchange_table, is_contiguous, shape_of, tensor_in
from gather_memory cimport INVALID_VALUE, gather_find
from gather_streams cimport check
from gather_streams import stream_handle

cdef object ONE = 1  # the default stream, as CuPy names it


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
    if not x.flags.c_contiguous or x.ctypes.data % alignment(x.itemsize) != 0:
        return new_array(x.copy())  # in C's order
    array = new_array(x)
    find(name, array, <size_t>array.memory.host)
    return array


cdef numpy_array(str name, x):
    """x as a NumPy array, if it is in the host's memory. Of a subclass only the array; of what has DLPack the memory itself."""
    if isinstance(x, np.ndarray) or not hasattr(x, "__dlpack__"):
        return np.asarray(x)
    try:
        array = np.from_dlpack(x)
        # An older PyTorch cannot say by DLPack that its memory may be written, and NumPy takes it for read-only.
        return array if array.flags.writeable or not hasattr(x, "new_empty") else x.numpy()
    except (BufferError, RuntimeError) as error:
        raise TypeError(f"{name}: NumPy cannot read it: {error}") from error


cdef Array device_array_of(str name, x, bint writeable):
    """x as an Array if a GPU has it: a DeviceArray, or what has DLPack or __cuda_array_interface__. Else None."""
    if type(x) is DeviceArray:
        return x
    if type(x) is np.ndarray:
        return None
    if hasattr(x, "is_neg") and x.is_neg():  # PyTorch; in any place, and DLPack does not tell it
        raise TypeError(f"{name}: its memory holds the negative of its elements: resolve_neg() computes them")
    cdef const DLPackExchangeAPI *table = exchange_table(type(x))
    if table != NULL:
        return exchanged_array(name, x, table, writeable)
    interface = getattr(x, "__cuda_array_interface__", None)
    # Where an interface names no stream, as JAX's, nothing says what is pending: DLPack orders it.
    if interface is not None and ("stream" in interface or not hasattr(x, "__dlpack_device__")):
        return cuda_array(name, x, interface, writeable)
    if not hasattr(x, "__dlpack_device__") or x.__dlpack_device__()[0] != kDLCUDA:
        return None
    cdef bint is_read_only = False
    capsule = capsule_from(x)
    cdef Array array = dlpack_array(name, capsule, tensor_in(name, capsule, &is_read_only), 0)
    # An older PyTorch cannot say by DLPack that its memory may be written: its interface does.
    if is_read_only and interface is not None and PyCapsule_IsValid(capsule, "dltensor"):
        is_read_only = interface["data"][1]
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
        says = <dict?>interface  # so typed, get is fast
        typestr, shape, (address, read_only) = says["typestr"], says["shape"], says["data"]
        strides, stream, mask = says.get("strides"), says.get("stream"), says.get("mask")
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
    array.stream = 0 if stream is None or stream is ONE else stream_handle(stream, f"{name}'s stream")
    array.owner, array.gpu, array.is_cuda = x, -1, True
    if array.size > 0:
        find(name, array, address)
    return array


cdef size_t alignment(size_t itemsize):
    """Of what the address of such elements has to be a multiple, so that a kernel reads them as numbers."""
    return min(itemsize & -itemsize, 8) or 1


cdef int check_address(str name, size_t address, size_t itemsize) except -1:
    if address % alignment(itemsize) != 0:
        raise ValueError(f"{name}: its address, {address:#x}, is no multiple of {alignment(itemsize)}")
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
