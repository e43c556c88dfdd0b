"""Arrays of which nothing is known but DLPack: by its method, or by its C exchange API, a table of functions."""

import ctypes
from ctypes import POINTER, c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p

from gather import DeviceArray


class Tensor(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("device", c_int32 * 2), ("ndim", c_int32), ("code", c_uint8), ("bits", c_uint8)]
    _fields_ += [("lanes", c_uint16), ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)), ("offset", c_uint64)]


DELETER = ctypes.CFUNCTYPE(None, c_void_p)


class Old(ctypes.Structure):  # DLManagedTensor
    _fields_ = [("tensor", Tensor), ("context", c_void_p), ("deleter", DELETER)]
    name = b"dltensor"


class Versioned(ctypes.Structure):
    _fields_ = [("version", c_uint32 * 2), ("context", c_void_p), ("deleter", DELETER), ("flags", c_uint64)]
    _fields_ += [("tensor", Tensor)]
    name = b"dltensor_versioned"


def python(name, result, *arguments):
    function = ctypes.PYFUNCTYPE(result, *arguments)
    return function((name, ctypes.pythonapi))


pointer_in = python("PyCapsule_GetPointer", c_void_p, ctypes.py_object, ctypes.c_char_p)
set_name = python("PyCapsule_SetName", ctypes.c_int, ctypes.py_object, ctypes.c_char_p)
new_capsule = python("PyCapsule_New", ctypes.py_object, c_void_p, ctypes.c_char_p, c_void_p)


def inside(capsule, kind):
    return kind.from_address(pointer_in(capsule, kind.name))


def fields(capsule, kind):
    t = inside(capsule, kind).tensor
    shape = t.shape[: t.ndim]
    return t.code, t.bits, t.lanes, t.offset, shape, 0 in shape or t.strides[: t.ndim]


class Shown:
    """An array of which nothing is known but DLPack; `changes` are made to its tensor."""

    def __init__(self, array, kind=Versioned, flags=0, **changes):
        self.array, self.kind, self.flags, self.changes, self.asked = array, kind, flags, changes, []

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **asked):
        self.asked.append(asked)
        if self.kind is Old and "max_version" in asked:
            raise TypeError("__dlpack__() got an unexpected keyword argument 'max_version'")
        capsule = self.array.__dlpack__(**asked)
        if isinstance(self.array, DeviceArray):
            there = inside(capsule, self.kind)
            for name, value in self.changes.items():
                setattr(there if name == "version" else there.tensor, name, value)
            if self.kind is Versioned:
                there.flags |= self.flags
        return capsule


# ---- The C exchange API

TENSOR_OF = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, c_void_p)
STREAM_OF = ctypes.PYFUNCTYPE(ctypes.c_int, c_int32, c_int32, POINTER(c_void_p))
EXCHANGE_API, USED = b"dlpack_exchange_api", b"used_dltensor_versioned"  # a capsule keeps a pointer to its name


class Table(ctypes.Structure):
    _fields_ = [("version", c_uint32 * 2), ("prev_api", c_void_p), ("allocator", c_void_p), ("managed", TENSOR_OF)]
    _fields_ += [("to_object", c_void_p), ("tensor", TENSOR_OF), ("stream", STREAM_OF)]


@TENSOR_OF
def tensor_of(array, to):
    array.capsule = array.array.__dlpack__(max_version=(1, 0))  # shape and strides live there
    ctypes.memmove(to, ctypes.byref(inside(array.capsule, Versioned).tensor), ctypes.sizeof(Tensor))
    return 0


@TENSOR_OF
def managed_of(array, to):
    capsule = array.__dlpack__(max_version=(1, 0))
    c_void_p.from_address(to).value = pointer_in(capsule, Versioned.name)
    set_name(capsule, USED)
    return 0


def exchange_api(stream, asked, major=1):
    """The capsule of a table whose current stream is that one; `asked` is told of which device."""

    @STREAM_OF
    def current_stream(device_type, device, to):
        asked.append((device_type, device))
        to[0] = stream
        return 0

    table = Table((major, 3), None, None, managed_of, None, tensor_of, current_stream)
    tables.append(table)
    return new_capsule(ctypes.addressof(table), EXCHANGE_API, None)


tables = []  # they live as long as the process
