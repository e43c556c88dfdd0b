"""Arrays of all kinds, and what arrives at the library; what is not taken; each CUDA call that fails."""

import ctypes
import pickle

import numpy as np

from exercise import at_a_wall, expect, expect_each_failure, expect_error, expect_kernel, expect_no_error
from exercise import passed, rng, wrong
from clip_module import clip  # after them, so that it cannot change them


class Arrived(ctypes.Structure):
    _fields_ = [("x", ctypes.c_size_t), ("result", ctypes.c_size_t), ("n", ctypes.c_size_t)]
    _fields_ += [("calls", ctypes.c_int), ("has_gil", ctypes.c_int)]


arrived = Arrived.in_dll(ctypes.CDLL("./libclip_module.so"), "arrived")  # the one that the module uses, too


def check(name, x, low, high):
    before, calls = x.copy(), arrived.calls
    expected = np.asarray(np.clip(x, np.float32(low), np.float32(high)))
    got = expect_no_error("what is refused, the two views, and the call of c_clip", name, lambda: clip(x, low, high))
    if x.size > 0 and arrived.calls != calls + 1:
        wrong("c_clip: the GPU computes", f"{name}: c_clip is called {arrived.calls - calls} times, expected 1")
    if x.size > 0 and arrived.n != x.size:
        wrong("the number of elements, not of bytes", f"{name}: c_clip gets n = {arrived.n}, expected {x.size}")
    if x.size > 0 and arrived.x % 4 != 0:
        look_at = '"A" of np.require: at addresses that suit their type'
        wrong(look_at, f"{name}: c_clip gets x at {arrived.x:#x}, no multiple of 4")
    if not np.array_equal(x, before, equal_nan=True) or got is x:
        wrong("the result is a new array", f"{name}: x has changed, or is the result")
    name = f"{name}: clip(x, {low}, {high})"
    expect("what c_clip gets, and what is returned", name, without_nan(expected), without_nan(got))
    if x.size > 0:
        expect_kernel(name, lambda: clip(x, low, high), got)


def without_nan(x):
    return np.where(np.isnan(x), np.float32(1e9), x) if type(x) is np.ndarray and x.dtype == np.float32 else x


def numbers(size):
    return rng.uniform(-9, 9, size).astype(np.float32)


expect_each_failure("clip(x, 0, 1)", lambda: clip(at_a_wall(numbers(9)), 0, 1))
for size in 3, 1, 0, 257, int(rng.integers(1000, 9000)):
    check(f"{size} elements", numbers(size), int(rng.integers(-8, 0)), int(rng.integers(0, 8)))
if arrived.has_gil:
    wrong("with nogil", "c_clip is called with the GIL: while the GPU works, Python's other threads have to wait")
check("with NaN", np.array([np.nan, -5, 0, 5], np.float32), -1, 1)
check("every third element, from the end", numbers(1000)[::-3], -2, 3)
check("an unaligned array", np.frombuffer(b"-" + numbers(300).tobytes(), np.uint8)[1:].view(np.float32), -2, 3)
check("a read-only array", np.frombuffer(numbers(300).tobytes(), np.float32), -2, 3)
check("an array that was pickled", pickle.loads(pickle.dumps(numbers(300))), -2, 3)
check("a subclass of numpy.ndarray", numbers(300).view(np.recarray), -2, 3)
for other in np.ones(3), np.ones(3, np.int32), np.ones(3, ">f4"), [1.0, 2.0], None, list(numbers(2)), numbers(1)[0]:
    name = f"x: {getattr(other, 'dtype', None) or type(other).__name__}, {other!r:.40}"
    expect_error("what is a TypeError?", TypeError, name, lambda: clip(other, 0, 1))
passed()
