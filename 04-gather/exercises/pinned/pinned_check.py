"""Where the arrays lie, and when their memory is given back; what is in them; each CUDA call that fails."""

import ctypes
import gc

import numpy as np

import exercise
from exercise import expect, expect_each_failure, expect_no_error, passed, rng, wrong
from pinned import PinnedMemory, pinned_empty


def expect_pinned(expected, look_at, what, address):
    """What cudaPointerGetAttributes says of the address: 1 is page-locked memory of the host. Only on the stand-in."""
    gc.collect()
    attributes = (ctypes.c_int * 16)()
    if exercise.is_on_stand_in:
        exercise.cuda.cudaPointerGetAttributes(attributes, ctypes.c_void_p(address))
        words = {True: "page-locked memory", False: "no page-locked memory (any more)"}
        if (attributes[0] == 1) != expected:
            wrong(look_at, f"{what}: expected {words[expected]} at its address, got {words[not expected]}")


def check(n, dtype):
    name = f"pinned_empty({n}, {getattr(dtype, '__name__', repr(dtype))})"
    look_at = "how many bytes have n elements, also of a dtype that is a text? Does PinnedMemory keep this number?"
    x = expect_no_error(look_at, name, lambda: pinned_empty(n, dtype))
    if type(x) is not np.ndarray or x.dtype != dtype or x.shape != (n,):
        got = f"{x.dtype} of shape {x.shape}" if type(x) is np.ndarray else type(x).__name__
        wrong("np.ndarray(n, dtype, buffer=...)", f"{name}: expected {np.dtype(dtype)} of shape ({n},), got {got}")
    address = x.ctypes.data
    expect_pinned(True, "whose memory does the array have? buffer=, and PyBuffer_FillInfo", name, address)
    if memoryview(x.base).nbytes != x.nbytes:
        wrong(look_at, f"{name}: expected memory of {x.nbytes} bytes, got {memoryview(x.base).nbytes}")
    expected = rng.integers(1, 100, n).astype(dtype)
    try:
        x[:] = expected
    except ValueError as error:
        wrong("PyBuffer_FillInfo: the fifth argument is 0, not read-only", f"{name}[:] = ...: got {error}")
    other = pinned_empty(n, dtype)
    other[:] = 0
    expect("does each array have memory of its own?", f"{name}, of two", expected, x)
    view = x[n // 2 :]
    del x
    expect_pinned(True, "whose memory has the view? The array refers to it", f"{name}, a view of it is left", address)
    expect("a view of the array keeps the memory", f"{name}[{n // 2}:]", expected[n // 2 :], view)
    del view
    look_at = "__dealloc__ gives the memory back; it runs when nobody refers to the PinnedMemory: who still does?"
    expect_pinned(False, look_at, f"{name}, and nobody has it any more", address)


expect_each_failure("PinnedMemory(20)", lambda: PinnedMemory(20))
for n, dtype in (
    (3, np.float32),
    (1, np.float64),
    (1000, np.int32),
    (7, np.int8),
    (9, np.complex128),
    (5, np.dtype("float64")),
    (2, "f8"),
):
    check(n, dtype)
check(int(rng.integers(5000, 90000)), np.float32)
block = np.frombuffer(memoryview(PinnedMemory(4096)), np.uint8)
if block.size != 4096:
    wrong("PyBuffer_FillInfo: the size, self.bytes", f"PinnedMemory(4096): expected 4096 bytes, got {block.size}")
look_at = "PyBuffer_FillInfo(view, self, ...): the second argument is kept alive as long as somebody has the memory"
expect_pinned(True, look_at, "memoryview(PinnedMemory(4096)), which is all that is left", block.ctypes.data)
del block
block = memoryview(type("Subclass", (PinnedMemory,), {"__init__": lambda *_: None})(64))
if block.nbytes != 64:
    wrong("__cinit__ runs always, __init__ only if it is called", "an object of a class with another __init__ is empty")
del block
expect_no_error("__cinit__: bytes may be 0", "pinned_empty(0)", lambda: pinned_empty(0))
before = exercise.free_bytes()
try:
    pinned_empty(2**62)  # more than NumPy takes
except (TypeError, ValueError, MemoryError, OverflowError):
    pass
if exercise.free_bytes() < before:
    wrong("__dealloc__: it runs also if np.ndarray raises an exception", "pinned_empty(2**62): memory stays allocated")
passed()
