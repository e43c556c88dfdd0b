"""An array in the memory of the CPU stand-in's GPU, of which other libraries know nothing: DLPack shows where it is."""

import ctypes
import os

import numpy as np

import axpy


class Tensor(ctypes.Structure):  # DLManagedTensorVersioned of dlpack.pxd
    _fields_ = [("version", ctypes.c_uint32 * 2), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]
    _fields_ += [("flags", ctypes.c_uint64), ("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2)]
    _fields_ += [
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
    ]
    _fields_ += [
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
    ]


NAME = b"dltensor_versioned"
new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)


class StandInArray:
    def __init__(self, array):
        self.array = np.ascontiguousarray(array)
        self.cuda = ctypes.CDLL(os.path.join(os.path.dirname(axpy.__file__), "libcpu_cuda.so"))
        self.memory = ctypes.c_void_p()
        assert self.cuda.cudaMalloc(ctypes.byref(self.memory), ctypes.c_size_t(self.array.nbytes)) == 0
        self.copy(self.memory, self.array.ctypes)
        code, shape = "iufVVcb".index(array.dtype.kind), (ctypes.c_int64 * array.ndim)(*array.shape)
        kind = array.ndim, code, 8 * array.itemsize, 1, shape
        self.tensor = Tensor((1, 0), None, None, 0, self.memory, (2, 0), *kind)

    def copy(self, to, source):
        default = 4  # cudaMemcpyDefault: it finds out itself where both are
        to, source = [getattr(p, "data_as", lambda _: p)(ctypes.c_void_p) for p in (to, source)]
        assert self.cuda.cudaMemcpy(to, source, ctypes.c_size_t(self.array.nbytes), default) == 0

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, stream=None, max_version=None):
        return new_capsule(ctypes.addressof(self.tensor), NAME, None)

    def get(self):
        self.copy(self.array.ctypes, self.memory)
        return self.array

    def __del__(self):
        self.cuda.cudaFree(self.memory)
