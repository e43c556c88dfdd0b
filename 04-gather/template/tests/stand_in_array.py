"""An array in the memory of the CPU stand-in's GPU, of which other libraries know nothing: DLPack shows where it is."""

import ctypes
import os

import numpy as np

from axpy import _axpy

pointer_in = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


class StandInArray:
    def __init__(self, array):
        self.cuda = ctypes.CDLL(os.path.join(os.path.dirname(_axpy.__file__), "libcpu_cuda.so"))
        memory, self.nbytes = ctypes.c_void_p(), ctypes.c_size_t(array.nbytes)
        room = ctypes.c_size_t(max(array.nbytes, 1))  # for an empty array too: cudaMalloc gives no address for 0 bytes
        assert self.cuda.cudaMalloc(ctypes.byref(memory), room) == 0
        self.memory = memory
        there = (ctypes.c_char * array.nbytes).from_address(memory.value)
        self.array = np.ndarray(array.shape, array.dtype, there)  # what DLPack shows; a test may put a view of it here
        self.copy(self.array, np.ascontiguousarray(array))

    def copy(self, to, source):
        default = 4  # cudaMemcpyDefault: it finds out itself where both are
        to, source = [x.ctypes.data_as(ctypes.c_void_p) for x in (to, source)]
        assert self.cuda.cudaMemcpy(to, source, self.nbytes, default) == 0

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, **asked):
        capsule = self.array.__dlpack__(max_version=(1, 0))
        device = pointer_in(capsule, b"dltensor_versioned") + 40  # in DLManagedTensorVersioned of dlpack.pxd
        (ctypes.c_int32 * 2).from_address(device)[:] = self.__dlpack_device__()
        return capsule

    def get(self):
        result = np.empty_like(self.array)
        self.copy(result, self.array)
        return result

    def __del__(self):
        if hasattr(self, "memory"):  # else there was no memory, or the GPU's error stays
            self.cuda.cudaFree(self.memory)
