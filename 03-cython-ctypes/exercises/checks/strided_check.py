"""The check of exercise 4: arrays with several strides. The library says with what it was called."""

import ctypes
import mmap
import os

import numpy as np

from exercise import expect, expect_error, expect_no_device, passed, poison_empty, rng, wrong
from strided import doubled

library = ctypes.CDLL(os.path.abspath("libstrided.so"))  # the same one that the module uses
CODE = "what the C function returns: check(...) raises it"


poison_empty()


def seen(kind, name):
    return kind.in_dll(library, f"strided_{name}").value


def random(*shape):
    return rng.integers(-999, 1000, shape).astype(np.float32)


n = int(rng.integers(300, 5000))
records = np.zeros(n, [("a", np.int8), ("b", np.float32)])  # 5 bytes each
records["b"] = random(n)
pages = mmap.mmap(-1, 2**32 + 12, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ)  # all zeros
for name, x in [
    ("x[::3]", random(30)[::3]),
    ("x", random(n)),
    ("matrix[:, 2]", random(n, 7)[:, 2]),
    ("matrix[1]", random(7, n)[1]),
    ("x[5:6]", random(9)[5:6]),
    ("x[::2], read-only", random(2 * n)[::2]),
    ('records["b"]', records["b"]),
    ("x[::2**30 + 2]", np.frombuffer(pages, np.float32)[:: 2**30 + 2]),
    ("x[:0]", random(3)[:0]),
]:
    if "read-only" in name:
        x.flags.writeable = False
    is_large = x.strides[0] >= 2**31  # a GPU takes no such stride, and says so
    copy, calls, what = x.copy(), seen(ctypes.c_int, "calls"), f"doubled({name}) of {x.size} elements"
    came = error = None
    try:
        came = doubled(x)
    except Exception as raised:
        error = f"{what}: came {type(raised).__name__}: {raised}"
    calls = seen(ctypes.c_int, "calls") - calls
    if error and calls == 0:
        wrong("what comes before the call: only a stride of 0 or below is refused", error)
    if x.size > 0:
        if calls != 1:
            wrong("c_doubled: once for each call of doubled", f"{what}: the C function was called {calls} times")
        if seen(ctypes.c_void_p, "x") != x.ctypes.data:
            wrong(
                "the address of the first element of x itself, not of a copy",
                f"{what}: C got an address that is not that of x",
            )
        if seen(ctypes.c_size_t, "n") != x.size:
            wrong("the number of elements of x", f"{what}: C got the number {seen(ctypes.c_size_t, 'n')}")
        if seen(ctypes.c_size_t, "stride") != x.strides[0] and x.size > 1:
            wrong(
                "the stride, in bytes: how far is it from one element of x to the next? Does it fit in its type?",
                f"{what}: C got the stride {seen(ctypes.c_size_t, 'stride')}, expected {x.strides[0]}",
            )
    if error and is_large:
        continue
    if error:
        wrong("the call: where does the result go?", error)
    if not np.array_equal(x, copy):
        wrong("x is read, not written", f"{what}: x is not what it was")
    expect(CODE if is_large else "the call: where does the result go?", f"{what}: the result", 2 * x, came)

for name, x in [
    ("x[::-1]", random(5)[::-1]),
    ("x[::-2]", random(n)[::-2]),
    ("np.broadcast_to(x, 5), whose elements are all the same memory", np.broadcast_to(random(1), 5)),
]:
    look_at = "a stride of 0 or below: ValueError, before C is called"
    what = f"doubled({name}), a stride of {x.strides[0]}"
    calls = seen(ctypes.c_int, "calls")
    expect_error(look_at, ValueError, what, lambda: doubled(x))
    if seen(ctypes.c_int, "calls") != calls:
        wrong(look_at, f"{what}: the C function was called, then came ValueError")

expect_no_device(CODE, "strided.doubled(x[::2])")
passed()
