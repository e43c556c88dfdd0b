"""DLPack: arrays of others by their method or their C exchange API, and DeviceArray's capsules, field by field."""

import ctypes
import re
import sys
import threading

import numpy as np
from kinds import host, outcome
from ctypes import c_int32, c_int64, c_uint32
from gather import DeviceArray, take
from shown import Old, Shown, Versioned, exchange_api, fields, inside, set_name


# ---- Arrays of others

x, i = np.arange(10.0), np.array([[9, 0], [-1, 3]], np.int32)
expected = x[i]
for kind in Versioned, Old:  # on the GPU
    s, idx, out = Shown(DeviceArray(x), kind), Shown(DeviceArray(i), kind), Shown(DeviceArray(np.zeros((2, 2))))
    print(take(s, idx, out=out) is out, (out.array.get() == expected).all(), s.asked, end=" ")
    print(take(s, idx, out=out, mode="wrap", stream=2) is out, (take(s, i).get() == expected).all())
s, idx, out = Shown(x), Shown(i), Shown(np.zeros((2, 2)))  # in the host's memory
print(take(s, idx, out=out) is out, (out.array == expected).all(), (take(s, Shown(i > 0)) == x[(i > 0) + 0]).all())
wide = np.zeros((2, 5))
take(s, i, out=Shown(wide[:, ::4]))
print(wide.tolist())
read_only = np.zeros((2, 2))
read_only.flags.writeable = False
d = DeviceArray(x)
matrix = DeviceArray(np.zeros((2, 2)))
# ---- By the C exchange API

streams = []


class Fast(Shown):
    __dlpack_c_exchange_api__ = exchange_api(1, streams)

    @property
    def __cuda_array_interface__(self):
        raise AssertionError("the table is faster")


for source, target in [
    (x, Shown(read_only)),
    (x, Shown(matrix, flags=1)),
    (x, Shown(matrix, Old)),
    (x, Fast(matrix, flags=1)),
    (x, Shown(np.zeros((2, 2)).astype(">f8"))),
    (Shown(d, strides=(c_int64 * 1)(2)), None),
    (Shown(d, lanes=2), None),
    (Shown(d, code=4), None),
    (Shown(d, offset=4), None),
    (Shown(d, version=(c_uint32 * 2)(2, 0)), None),
    (Shown(d, device=(c_int32 * 2)(2, 63)), None),
    (Shown(d, bits=32, code=0, offset=8), None),
    (Shown(d, strides=None), None),
    (Shown(d, data=None), None),
    (Shown(d, shape=(c_int64 * 1)(-1)), None),
]:
    answer = outcome(lambda: host(take(source, i, out=target)).tolist())
    print(re.sub("0x[0-9a-f]*|(?<=cannot read it): .*", "...", str(answer)))  # an address; NumPy's words


class Newer(Shown):  # of a table that is not known, nothing is used
    __dlpack_c_exchange_api__ = exchange_api(1, streams, major=2)


s, idx, out = [Fast(DeviceArray(a)) for a in (x, i, np.zeros((2, 2)))]
is_out = take(s, idx, out=out, mode="wrap") is out
print(is_out, (out.array.get() == expected).all(), streams, (take(s, idx).get() == expected).all())
streams.clear()
print((take(Newer(d), i).get() == expected).all(), streams)
s = Fast(x)  # on the host: by NumPy
print((take(s, i) == expected).all())
idx.requires_grad = True
print(outcome(lambda: take(x, idx)))
conjugate = Fast(DeviceArray(np.zeros(3, np.complex64)))
print(take(conjugate, [0]).get(), end=" ")
conjugate.is_conj = lambda: True
print(outcome(lambda: take(conjugate, [0])))
for negated in Fast(d), Shown(d), Shown(x):  # by the table, by the method, and in the host's memory
    negated.is_neg = lambda: True
    print(outcome(lambda: take(negated, i)))


class Both(Shown):  # an interface that names no stream
    __cuda_array_interface__ = {"version": 2, "data": None}


s = Both(d)
print((take(s, i).get() == expected).all(), s.asked)


class OldTensor(Shown):  # as of a PyTorch without DLPack 1: only the interface says whether it may be written
    is_read_only = False

    @property
    def __cuda_array_interface__(self):
        return {"version": 2, "data": (0, self.is_read_only)}

    def new_empty(self, shape):
        return OldTensor(DeviceArray.empty(shape, self.array.dtype), Old)


s, old = OldTensor(d, Old), OldTensor(matrix, Old)
print((take(s, i).array.get() == expected).all(), (take(s, i, out=old).array.get() == expected).all(), end=" ")
old.is_read_only = True
print(outcome(lambda: take(s, i, out=old)), outcome(lambda: take(s, i, out=OldTensor(matrix, flags=1))))


class Empty(Shown):  # as PyTorch's tensors
    def new_empty(self, shape):
        return Empty(DeviceArray.empty(shape, self.array.dtype))


class Standard(Shown):  # as JAX's arrays, and all that keep to the array API standard
    def __array_namespace__(self):
        return type("Library", (), {"from_dlpack": lambda array: Standard(array)})


Lost = type("Lost", (Shown,), {"__module__": "gone.long_ago"})
for s in Empty(d), Standard(d), Standard(x), Lost(d), Shown(d), Shown(x), d, x:  # the result is of the source's kind
    new = take(s, i)
    print(type(new).__name__, type(getattr(new, "array", new)).__name__, end=" ")
    print((host(getattr(new, "array", new)) == expected).all(), take(s, i, out=out) is out)
halves = Shown(DeviceArray(np.arange(5, dtype=np.uint16)), code=4)  # bfloat16: to NumPy they are bytes
print(take(halves, [4, 0]).dtype, take(halves, [4, 0]).get().view(np.uint16))
quarters = DeviceArray(np.arange(5, dtype=np.uint8))
print(*[take(Shown(quarters, code=7 + k), [4]).dtype.names[0] for k in range(8)], end=" ")
print(outcome(lambda: take(Shown(quarters, code=15), i)))
print(inside(take(halves, [4]).__dlpack__(max_version=(1, 0)), Versioned).tensor.code)
idx = out = conjugate = negated = old = s = None  # at Python's end nobody gives back what is in a capsule


# ---- A DeviceArray for others: NumPy's capsule of the same array is the model

for dtype in "?bhilBHILefdFD":
    for shape in (), (3,), (0,), (4, 1, 5):
        array = np.zeros(shape, dtype)
        new = DeviceArray(array)
        address = new.__cuda_array_interface__["data"][0]
        for kind, version in (Versioned, (1, 0)), (Old, None), (Old, (0, 8)):
            capsule, model = new.__dlpack__(max_version=version), array.__dlpack__(max_version=version)
            assert fields(capsule, kind) == fields(model, kind), (dtype, shape, version)
            tensor = inside(capsule, kind).tensor
            assert tuple(tensor.device) == new.__dlpack_device__() == (2, 0) and (tensor.data or 0) == address
            assert kind is Old or (inside(capsule, kind).version[0], inside(capsule, kind).flags) == (1, 0)
d = DeviceArray(x)
references = sys.getrefcount(d)
for version in None, (1, 3):
    kind = Versioned if version else Old
    capsule = d.__dlpack__(max_version=version)
    taken = inside(capsule, kind)
    used = b"used_" + kind.name
    set_name(capsule, used)
    del capsule  # a consumer has taken what was in it, and gives it back later, in another thread
    thread = threading.Thread(target=taken.deleter, args=[ctypes.addressof(taken)])
    print(sys.getrefcount(d) - references, end=" ")
    thread.start()
    thread.join()
    print(sys.getrefcount(d) - references)
for name, wanted in ("max_version", ()), ("copy", True), ("dl_device", (1, 0)), *(("stream", s) for s in (0, "1", -2)):
    print(outcome(lambda: d.__dlpack__(**{name: wanted})))
for dtype in "S3", "g", "G", "M8[s]":
    print(outcome(lambda: DeviceArray(np.zeros(2, dtype)).__dlpack__()))
odd = Shown(d)
odd.__dlpack_device__ = lambda: ()
print(outcome(lambda: take(odd, i)))
empty, no_index = Shown(DeviceArray(np.zeros((2, 0)))), DeviceArray(np.zeros((2, 0), np.int64))
print(take(d, Shown(no_index, strides=(c_int64 * 2)(1, 1)), out=empty) is empty)
one_row = Shown(DeviceArray(np.array([[9, 0]])), strides=(c_int64 * 2)(99, 1))  # the stride of one row does not matter
print(take(d, one_row).get())
print(take(d, DeviceArray(np.zeros(0, np.int64)), out=Shown(d, shape=(c_int64 * 1)(0))) is not None)
print(type(d.__dlpack__(copy=False, dl_device=(2, 0), stream=-1)).__name__, outcome(lambda: take(d.__dlpack__(), i)))
