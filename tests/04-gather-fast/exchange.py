"""DLPack: arrays of others by their method or their table of C functions, and DeviceArray's capsules, field by field."""

import ctypes
import re
import sys
import threading

import numpy as np
from arrays import outcome
from ctypes import POINTER, c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p
from gather import DeviceArray, take


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


# ---- Arrays of others

x, i = np.arange(10.0), np.array([[9, 0], [-1, 3]], np.int32)
expected = x[i]
for kind in Versioned, Old:  # on the GPU
    s, idx, out = [Shown(DeviceArray(a), kind) for a in (x, i, np.zeros((2, 2)))]
    print(take(s, idx, out) is out, (out.array.get() == expected).all(), s.asked, end=" ")
    print(take(s, idx, out, "wrap", stream=2) is out, (take(x, idx).get() == expected).all())
s, idx, out = Shown(x), Shown(i), Shown(np.zeros((2, 2)))  # in the host's memory
print(take(s, idx, out) is out, (out.array == expected).all(), (take(s, Shown(i > 0)) == x[(i > 0) + 0]).all())
wide = np.zeros((2, 5))
take(s, i, Shown(wide[:, ::4]))
print(wide.tolist())
read_only = np.zeros((2, 2))
read_only.flags.writeable = False
d = DeviceArray(x)
matrix = DeviceArray(np.zeros((2, 2)))
for source, target in [
    (x, Shown(read_only)),
    (x, Shown(matrix, flags=1)),
    (x, Shown(np.zeros((2, 2)).astype(">f8"))),
    (Shown(d, strides=(c_int64 * 1)(2)), None),
    (Shown(d, lanes=2), None),
    (Shown(d, code=4), None),
    (Shown(d, offset=4), None),
    (Shown(d, version=(c_uint32 * 2)(2, 0)), None),
    (Shown(d, device=(c_int32 * 2)(2, 63)), None),
    (Shown(d, bits=32, code=0, offset=8), None),
    (Shown(d, strides=None), None),
]:
    answer = outcome(lambda: np.asarray(take(source, i, target)).tolist())
    print(re.sub("0x[0-9a-f]*|(?<=cannot read it): .*", "...", str(answer)))  # an address; NumPy's words


# ---- By a table of C functions

streams = []


class Api(ctypes.Structure):
    _fields_ = [("version", c_uint32 * 2), ("others", c_void_p * 4)]
    _fields_ += [("tensor", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, POINTER(Tensor)))]
    _fields_ += [("stream", ctypes.PYFUNCTYPE(ctypes.c_int, c_int32, c_int32, POINTER(c_void_p)))]


def tensor_of(array, to):
    capsule = array.array.__dlpack__(max_version=(1, 0))
    ctypes.memmove(to, ctypes.byref(inside(capsule, Versioned).tensor), ctypes.sizeof(Tensor))
    array.capsule = capsule  # shape and strides live there
    return 0


def current_stream(device_type, device, to):
    streams.append((device_type, device))
    to[0] = 1  # the default stream
    return 0


functions = Api._fields_[2][1](tensor_of), Api._fields_[3][1](current_stream)
tables = [Api((major, 3), (c_void_p * 4)(), *functions) for major in (1, 2)]


class Fast(Shown):
    __dlpack_c_exchange_api__ = new_capsule(ctypes.addressof(tables[0]), b"dlpack_exchange_api", None)

    @property
    def __cuda_array_interface__(self):
        raise AssertionError("the table is faster")


class Newer(Shown):  # of a table that is not known, nothing is used
    __dlpack_c_exchange_api__ = new_capsule(ctypes.addressof(tables[1]), b"dlpack_exchange_api", None)


s, idx, out = [Fast(DeviceArray(a)) for a in (x, i, np.zeros((2, 2)))]
print(
    take(s, idx, out, "wrap") is out,
    (out.array.get() == expected).all(),
    streams,
    (take(s, idx).get() == expected).all(),
)
streams.clear()
print((take(Newer(d), i) == expected).all(), streams)
s = Fast(x)  # on the host: by NumPy
print((take(s, i) == expected).all())
idx.requires_grad = True
print(outcome(lambda: take(x, idx)))
conjugate = Fast(DeviceArray(np.zeros(3, np.complex64)))
print(take(conjugate, [0]), end=" ")
conjugate.is_conj = lambda: True
print(outcome(lambda: take(conjugate, [0])))


class Both(Shown):  # an interface that names no stream
    __cuda_array_interface__ = {"version": 2, "data": None}


s = Both(d)
print((take(s, i) == expected).all(), s.asked)
idx = out = conjugate = None  # at Python's end nobody gives back what is in a capsule


# ---- A DeviceArray for others: NumPy's capsule of the same array is the model

for dtype in "?bhilBHILefdFD":
    for shape in (), (3,), (0,), (4, 1, 5):
        array = np.zeros(shape, dtype)
        new = DeviceArray(array)
        address = new.__cuda_array_interface__["data"][0]
        for kind, version in (Versioned, (1, 0)), (Old, None), (Old, (0, 8)):
            capsule, model = new.__dlpack__(max_version=version), array.__dlpack__(max_version=version)
            assert fields(capsule, kind) == fields(model, kind), (
                dtype,
                shape,
                fields(capsule, kind),
                fields(model, kind),
            )
            tensor = inside(capsule, kind).tensor
            assert tuple(tensor.device) == new.__dlpack_device__() == (2, 0) and (tensor.data or 0) == address
            assert kind is Old or (inside(capsule, kind).version[0], inside(capsule, kind).flags) == (1, 0)
d = DeviceArray(x)
references = sys.getrefcount(d)
for version in None, (1, 3):
    kind = Versioned if version else Old
    capsule = d.__dlpack__(max_version=version)
    taken = inside(capsule, kind)
    set_name(capsule, b"used_" + kind.name)
    del capsule  # a consumer has taken what was in it, and gives it back later, in a thread that Python does not know
    thread = threading.Thread(target=taken.deleter, args=[ctypes.addressof(taken)])
    print(sys.getrefcount(d) - references, end=" ")
    thread.start()
    thread.join()
    print(sys.getrefcount(d) - references)
for wanted in {"copy": True}, {"dl_device": (1, 0)}, {"stream": 0}, {"stream": "1"}, {"stream": -2}:
    print(outcome(lambda: d.__dlpack__(**wanted)))
print(outcome(lambda: DeviceArray(np.array([b"one"])).__dlpack__()))
print(type(d.__dlpack__(copy=False, dl_device=(2, 0), stream=-1)).__name__, outcome(lambda: take(d.__dlpack__(), i)))
