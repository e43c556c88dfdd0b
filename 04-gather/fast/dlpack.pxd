# DLPack 1.3, with which Python's array libraries show each other their arrays: its structs, in the names of
# its dlpack.h, and what dlpack.pyx offers to other modules in Cython.
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef enum:
    kDLCUDA = 2  # DLDeviceType: a GPU's memory. All others are left to NumPy
    kDLComplex = 5  # DLDataTypeCode

cdef struct DLDevice:
    int32_t device_type
    int32_t device_id

cdef struct DLDataType:
    uint8_t code
    uint8_t bits
    uint16_t lanes

cdef struct DLTensor:
    void *data
    DLDevice device
    int32_t ndim
    DLDataType dtype
    int64_t *shape
    int64_t *strides  # in elements; NULL: in C's order
    uint64_t byte_offset

cdef struct DLPackVersion:
    uint32_t major
    uint32_t minor

cdef struct DLManagedTensor:  # a tensor that is given away; its owner calls deleter. Up to version 0.8
    DLTensor dl_tensor
    void *manager_ctx
    void (*deleter)(DLManagedTensor *) noexcept

cdef struct DLManagedTensorVersioned:  # since 1.0
    DLPackVersion version
    void *manager_ctx
    void (*deleter)(DLManagedTensorVersioned *) noexcept
    uint64_t flags  # 1: read only
    DLTensor dl_tensor

cdef struct DLPackExchangeAPI:  # a table of C functions for the arrays of a type, without a Python call. Since 1.3
    DLPackVersion version
    void *prev_api
    void *managed_tensor_allocator
    int (*managed_tensor_from_py_object_no_sync)(void *object, DLManagedTensorVersioned **tensor) except -1
    void *managed_tensor_to_py_object_no_sync
    int (*dltensor_from_py_object_no_sync)(void *object, DLTensor *tensor) except -1
    int (*current_work_stream)(int32_t device_type, int32_t device_id, void **stream) except -1


cdef const DLPackExchangeAPI *exchange_table(object type) except? NULL
cdef object capsule_from(object x)
cdef const DLTensor *tensor_in(str name, object capsule, bint *is_read_only) except NULL
cdef object capsule_of(object owner, void *data, int gpu, tuple shape, object dtype, bint is_versioned)
cdef object dtype_named(str name)
cdef object dtype_of(DLDataType dtype)
cdef tuple shape_of(const DLTensor *tensor)
cdef void *data_of(const DLTensor *tensor) noexcept nogil
cdef bint is_contiguous(const DLTensor *tensor) noexcept
