# cython: language_level=3, freethreading_compatible=True
"""DLPack: looks into the arrays of other libraries, and shows one's own to them. Nothing is copied."""
import numpy as np

from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid, PyCapsule_New
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.stdlib cimport free, malloc

cdef extern from "Python.h":
    int Py_IsInitialized() nogil

cdef object dtype_named(str name):
    """A dtype of NumPy's for numbers that NumPy does not have: their bytes, in a field of that name."""
    return np.dtype([(name, "V2" if name == "bfloat16" else "V1")])


cdef dict codes = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}  # DLDataTypeCode, by NumPy's kinds
cdef dict dtypes = {(codes[dtype.kind], 8 * dtype.itemsize): dtype for dtype in map(np.dtype, "?bhilBHILefdFD")}
# Of what NumPy has no numbers: bytes with a name
dtypes[4, 16] = dtype_named("bfloat16")
dtypes.update({(7 + i, 8): dtype_named(f"float8_{kind}") for i, kind in enumerate(
    ("e3m4", "e4m3", "e4m3b11fnuz", "e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz", "e8m0fnu"))})
cdef dict types = {dtype: key for key, dtype in dtypes.items()}


cdef const DLPackExchangeAPI *exchange_table(object type) except? NULL:
    """The table of a type of arrays, or NULL if its library has none."""
    capsule = getattr(type, "__dlpack_c_exchange_api__", None)
    if capsule is None or not PyCapsule_IsValid(capsule, "dlpack_exchange_api"):
        return NULL
    table = <const DLPackExchangeAPI *>PyCapsule_GetPointer(capsule, "dlpack_exchange_api")
    return table if table.version.major == 1 and table.dltensor_from_py_object_no_sync != NULL else NULL


cdef object capsule_from(object x):
    """What x.__dlpack__() gives; the default stream comes after what is pending on the stream of its library."""
    try:
        return x.__dlpack__(stream=1, max_version=(1, 3))
    except TypeError:  # its library is older than DLPack 1
        return x.__dlpack__(stream=1)


cdef const DLTensor *tensor_in(str name, object capsule, bint *is_read_only) except NULL:
    """What __dlpack__() has given: it holds as long as the capsule lives."""
    cdef DLManagedTensorVersioned *versioned
    is_read_only[0] = True
    if PyCapsule_IsValid(capsule, "dltensor"):  # which cannot say whether it may be written
        return &(<DLManagedTensor *>PyCapsule_GetPointer(capsule, "dltensor")).dl_tensor
    versioned = <DLManagedTensorVersioned *>PyCapsule_GetPointer(capsule, "dltensor_versioned")
    if versioned.version.major != 1:
        raise BufferError(f"{name}: DLPack 1 is taken, not {versioned.version.major}")
    is_read_only[0] = versioned.flags & 1
    return &versioned.dl_tensor


cdef object dtype_of(DLDataType dtype):
    """NumPy's dtype; of what NumPy has no numbers, one of bytes; None for what does not fill bytes."""
    return dtypes.get((dtype.code, dtype.bits)) if dtype.lanes == 1 else None


cdef tuple shape_of(const DLTensor *tensor):
    return tuple([tensor.shape[d] for d in range(tensor.ndim)])


cdef void *data_of(const DLTensor *tensor) noexcept nogil:
    return <char *>tensor.data + tensor.byte_offset


cdef bint is_contiguous(const DLTensor *tensor) noexcept:
    """True if the elements lie side by side, in C's order. The stride of a single element does not matter."""
    cdef int64_t wanted = 1
    cdef int d
    if tensor.strides == NULL:
        return True
    for d in range(tensor.ndim):
        if tensor.shape[d] == 0:
            return True
    for d in range(tensor.ndim - 1, -1, -1):
        if tensor.shape[d] != 1 and tensor.strides[d] != wanted:
            return False
        wanted *= tensor.shape[d]
    return True


# ---- One's own array for others. The memory is one piece: struct, shape, strides.

cdef object capsule_of(object owner, void *data, int gpu, tuple shape, object dtype, bint is_versioned):
    """The capsule for __dlpack__: an array of the GPU's, contiguous, that keeps its owner until nobody uses it."""
    if dtype not in types:
        raise BufferError(f"DLPack has no {dtype}")
    cdef size_t head = sizeof(DLManagedTensorVersioned) if is_versioned else sizeof(DLManagedTensor)
    cdef char *memory = <char *>malloc(head + 2 * len(shape) * sizeof(int64_t))
    if memory == NULL:
        raise MemoryError()
    versioned, managed = <DLManagedTensorVersioned *>memory, <DLManagedTensor *>memory
    cdef DLTensor *tensor = &versioned.dl_tensor if is_versioned else &managed.dl_tensor
    tensor.data, tensor.byte_offset, tensor.ndim = data, 0, len(shape)
    tensor.device.device_type, tensor.device.device_id = kDLCUDA, gpu
    tensor.dtype.code, tensor.dtype.bits = types[dtype]
    tensor.dtype.lanes = 1
    tensor.shape = <int64_t *>(memory + head)
    tensor.strides = tensor.shape + tensor.ndim
    cdef int64_t stride = 1
    cdef int d
    for d in range(tensor.ndim - 1, -1, -1):
        tensor.shape[d], tensor.strides[d] = shape[d], stride
        stride *= tensor.shape[d]
    if is_versioned:
        versioned.version.major, versioned.version.minor, versioned.flags = 1, 3, 0
        versioned.manager_ctx, versioned.deleter = <void *>owner, delete_versioned
    else:
        managed.manager_ctx, managed.deleter = <void *>owner, delete_managed
    Py_INCREF(owner)
    return PyCapsule_New(memory, "dltensor_versioned" if is_versioned else "dltensor", capsule_destructor)


cdef void capsule_destructor(object capsule) noexcept:
    """Nobody has taken what is in it: who does renames the capsule, and calls deleter when done."""
    if PyCapsule_IsValid(capsule, "dltensor_versioned"):
        delete_versioned(<DLManagedTensorVersioned *>PyCapsule_GetPointer(capsule, "dltensor_versioned"))
    elif PyCapsule_IsValid(capsule, "dltensor"):
        delete_managed(<DLManagedTensor *>PyCapsule_GetPointer(capsule, "dltensor"))


cdef void delete_versioned(DLManagedTensorVersioned *tensor) noexcept nogil:
    delete(tensor.manager_ctx, tensor)


cdef void delete_managed(DLManagedTensor *tensor) noexcept nogil:
    delete(tensor.manager_ctx, tensor)


cdef void delete(void *owner, void *memory) noexcept nogil:
    """A consumer calls it in any thread, also after Python's end."""
    if Py_IsInitialized():
        with gil:
            Py_DECREF(<object>owner)
    free(memory)
