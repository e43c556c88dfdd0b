"""take leaves nothing on the device, and holds no array of the host. libgather.so is built with held.h, of shims."""

import ctypes
import sys

import numpy as np
from kinds import outcome
from gather import DeviceArray, add_at, pin, pinned_empty, take

held_bytes = ctypes.CDLL("libgather.so").held_bytes
held_bytes.restype = ctypes.c_size_t
x, i = np.arange(1 << 20, dtype=np.float32), np.arange(1 << 16, dtype=np.int32)
many = np.resize(i, 1 << 18)
d_x, d_i, d_out = DeviceArray(x), DeviceArray(i), DeviceArray.empty(1 << 16)


def every_way():
    take(x, i), take(x, many), take(d_x, i), take(d_x, d_i), DeviceArray(x), pinned_empty(1 << 20)
    take(x.reshape(-1, 4), i, 0), take(d_x, d_i, out=d_out)
    add_at(x, i, 0), add_at(x, many, x[many]), add_at(d_x, d_i, d_out), add_at(x, d_i, d_out)
    with pin(x):
        take(x, i)
    outcome(lambda: add_at(x, [1 << 20], 1))
    return outcome(lambda: take(x, [1 << 20]))


every_way()  # what is kept for the next call is there now
before, held = held_bytes(), [sys.getrefcount(array) for array in (x, i, many)]
for k in range(300):
    take(d_x, d_i, out=d_out, mode=("raise", "wrap", "clip")[k % 3])
    add_at(d_x, d_i, d_out, mode=("raise", "wrap", "clip")[k % 3])
for k in range(10):
    every_way()
print(before > 0, held_bytes() - before, every_way())
print(held == [sys.getrefcount(array) for array in (x, i, many)])
twice = DeviceArray(np.arange(1 << 20))
result = take(twice, twice)  # source and index are one
print((result.get() == np.arange(1 << 20)).all())
del twice, result
print(held_bytes() - before)
