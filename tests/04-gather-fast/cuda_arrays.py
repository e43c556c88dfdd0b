"""take reads and writes what has a __cuda_array_interface__ in place, and gives one back."""
import re

import numpy as np
from arrays import CudaArray, outcome
from gather import DeviceArray, take

floats = np.arange(10, dtype=np.float32)
x, i, out = CudaArray(floats), CudaArray(np.array([[3, -1], [0, 4]])), CudaArray(np.zeros((2, 2), np.float32))
new = take(x, i)
print(type(new).__name__, new.get().tolist(), new.__cuda_array_interface__["typestr"], new.shape)
print(take(x, i, out) is out, out.owner.get().tolist())  # written where it is
print(type(take(x, np.array([1]))).__name__, type(take(np.arange(3.0), i.owner, mode="wrap")).__name__)
print(take(x, i, new, mode="clip") is new, new.get().tolist())
plain = CudaArray(floats, strides=[4], stream=None)  # said out loud: contiguous, and no stream
print(take(plain, i).get().tolist())
one = CudaArray(np.array([[5]]), strides=(800, 16))  # of a single element the stride does not matter
print(take(plain, one).get().tolist(), take(plain, CudaArray(np.zeros((3, 0), np.int32))), take(plain, CudaArray(np.array(7))))
host = np.zeros(4, np.float32)
for name, call in [
    ("strided", lambda: take(CudaArray(floats, strides=(8,), shape=(5,)), i)),
    ("read-only", lambda: take(x, i, CudaArray(np.zeros((2, 2), np.float32), data=(out.address, True)))),
    ("masked", lambda: take(CudaArray(floats, mask=x), i)),
    ("bad", lambda: take(x, CudaArray(np.array([0, 10, -11])))),
    ("byte order", lambda: take(CudaArray(floats, typestr=">f4"), i)),
    ("no type", lambda: take(CudaArray(floats, typestr=None), i)),
    ("objects", lambda: take(CudaArray(np.arange(10), typestr="|O"), i)),
    ("half", lambda: take(CudaArray(np.arange(10), typestr="<c8", shape=(4,), data=(x.address + 4, False)), i)),
    ("shape", lambda: take(CudaArray(floats, shape=(10.5,)), i)),
    ("large", lambda: take(CudaArray(floats, shape=(2**40, 2**40)), i)),
    ("address", lambda: take(CudaArray(floats, data=(4096, False)), i)),
    ("address", lambda: take(x, i, CudaArray(np.zeros((2, 2), np.float32), data=(host.ctypes.data, False)))),
]:
    print(name, re.sub("address, 0x[0-9a-f]*", "address, 0x…", outcome(call)))
