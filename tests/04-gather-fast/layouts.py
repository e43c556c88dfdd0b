"""out that is strided, overlaps, or stays as it was; strided and read-only sources; odd addresses; a memory map."""

import ctypes
import tempfile

import numpy as np
from kinds import CudaArray, outcome, pinned
from gather import CudaError, DeviceArray, pin, pinned_empty, take

x, i = np.arange(10, dtype=np.float64), np.array([9, 0, -1])
wide = np.full((3, 2), 7.0)
print(take(x, i, out=wide[:, 0]).base is wide, wide.tolist())
y = x.copy()
take(y, np.arange(9), out=y[1:])  # into itself
print(y.tolist())
both = pinned(np.array([2, 0, 1, 1], np.int32))
take(np.array([5, 6, 7], np.int32), both[:3], out=both[1:])  # into its own index
print(both.tolist())
out = np.full(3, 7.0)
for source in x, DeviceArray(x):
    print(outcome(lambda: take(source, np.array([0, 10, 1]), out=out)), out)
d = DeviceArray(x)
print(outcome(lambda: take(d, DeviceArray(np.arange(10)), out=d)))
eight, where = DeviceArray(np.arange(8.0)), DeviceArray(np.arange(4))
at = eight.__cuda_array_interface__["data"][0]
left, middle, right = (CudaArray(np.zeros(4), data=(at + 8 * first, False)) for first in (0, 3, 4))
# They touch; the ones after them share one.
print(take(left, where, out=right) is right, take(right, where, out=left) is left, eight.get())
print(*[outcome(lambda: take(a, where, out=b)) for a, b in ((left, middle), (middle, left), (middle, right))], sep="\n")
print(*[outcome(lambda: take(x, i, stream=number)) for number in (2**64, -1)], sep="\n")
print(take(x[::-3], [0, 1]), take(np.broadcast_to(np.float32(3), (1000,)), [999]))
with tempfile.NamedTemporaryFile() as file:
    x.tofile(file.name)
    print(take(np.memmap(file.name, np.float64, "r"), i))

p = pinned(x)
view = p[2:4]
del p  # the memory lives as long as a view of it
print(view, take(view, [1]), pinned_empty((0, 3)).shape, pinned_empty((2, 3), np.int64).dtype)
with pin(x), pin(np.empty(0)):
    print(take(x, i), take(x[5:], [0]))
pinning = pin(x)
pinning.__exit__()
with pinning:
    pass
pinning.__exit__()
try:
    with pin(x):
        ctypes.CDLL("./libgather.so").gather_unpin(ctypes.c_void_p(x.ctypes.data))  # as somebody else may do
        raise KeyError("inside")
except CudaError as error:
    print(error.name, "after", repr(error.__context__))
big = np.arange(1 << 20, dtype=np.float64)
with pin(big[: 1 << 19]):  # the half of it: CUDA copies nothing that is pinned in part
    print(outcome(lambda: take(big, [5, -1])))
with pin(big[: 1 << 18]), pin(big[1 << 19 :]):  # both ends of it; and a part of what is pinned
    print(outcome(lambda: take(big, [5, -1])), take(big[1000:2000], [5]))

print(
    type(take(x, 3)).__name__,
    take(x, np.array([True, False])),
    take(x, np.array([1], np.uint64)),
    take(x, np.array([2**63 - 1], np.uint64), mode="clip"),  # the largest that int64 holds
    take(x, np.array([-1], ">i8")),
)
print(DeviceArray.empty(np.int64(5)), pinned_empty(np.int64(5)).shape, take(x, i, stream=np.int64(0)), take(x, []))


class Liar(np.ndarray):
    """A subclass that says something else of itself than what it is."""

    flags, shape, ctypes = [property(lambda self, name=name: getattr(x, name)) for name in ("flags", "shape", "ctypes")]


third = x[::3].view(Liar)
print(DeviceArray(third).get(), take(third, np.array([3, 0]).view(Liar)), outcome(lambda: pin(third)))
read_only = np.zeros(3)
read_only.flags.writeable = False
with pin(wide.view(Liar)):
    print(outcome(lambda: take(x, i, out=read_only.view(Liar))), take(x, i, out=wide[:, 0].view(Liar)).view(np.ndarray))
# addresses at which the kernel, which reads 8 bytes at once, cannot read
half = np.arange(2001, dtype=np.float32)[1:].view(np.complex64)
packed = np.frombuffer(bytes(1) + np.arange(10.0).tobytes(), [("a", "<f4"), ("b", "<f4")], offset=1)
text = pinned_empty(17, np.uint8)[1:].view("S8")
take(np.array([b"one", b"two"]).astype("S8"), [1, 0], out=text)
print(take(half, [999, 0]).tolist(), take(packed, [9]).view(np.float64), *text.astype(str))
plain = CudaArray(np.arange(10, dtype=np.float32), strides=[4], stream=None)  # said out loud: contiguous, and no stream
one = CudaArray(np.array([[5]]), strides=(800, 16))  # of a single element the stride does not matter
print(take(plain, one).get(), *[take(plain, CudaArray(i)) for i in (np.zeros((3, 0), np.int32), np.array(7))])
