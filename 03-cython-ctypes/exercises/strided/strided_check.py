"""Arrays with several strides, and calls that fail. What arrives at C is looked at."""

import ctypes
import importlib
import mmap
import os

import numpy as np

from exercise import at_a_wall, expect, expect_each_failure, expect_error, expect_kernel, in_words, passed, rng, wrong


def random(*shape):
    return at_a_wall(rng.integers(-999, 1000, shape).astype(np.float32))


some = random(50)[::5]
expect_each_failure("doubled(x[::5]) of 10 elements", lambda: importlib.import_module("strided").doubled(some))
from strided import doubled  # not before, as its last lines may use CUDA

seen = (ctypes.c_size_t * 4).in_dll(ctypes.CDLL(os.path.abspath("libstrided.so")), "strided_seen")
n = int(rng.integers(300, 5000))
records = np.zeros(n, [("a", np.int8), ("b", np.float32)])  # 5 bytes each
records["b"] = random(n)
pages = mmap.mmap(-1, 2**32 + 12, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ)  # all zeros
for name, x in [
    ("x[::5]", some),
    ("x", random(n)),
    ("x", random(70000)),
    ("matrix[:, 2]", random(n, 7)[:, 2]),
    ("x[5:6]", random(9)[5:6]),
    ("a read-only x[::2]", np.frombuffer(random(2 * n).tobytes(), np.float32)[::2]),
    ('records["b"]', records["b"]),
    ("x[:0]", random(3)[:0]),
    ("x[::2**30 + 2]", np.frombuffer(pages, np.float32)[:: 2**30 + 2]),  # a GPU takes no such stride, and says so
]:
    what, copy, calls = f"doubled({name}) of {x.size} elements", x.copy(), seen[3]
    got = raised = None
    try:
        got = doubled(x)
    except Exception as error:
        raised = error
    if raised and seen[3] == calls:
        wrong("only a stride of 0 or below is refused", f"{what}: got {in_words(raised)}")
    for look_at, name, expected, in_c in [
        ("c_doubled: once for each call of doubled", "the number of calls", 1, seen[3] - calls),
        ("the address of the first element of x itself, not of a copy", "the address of x", x.ctypes.data, seen[0]),
        ("x.shape[0] is the number of elements", "n", x.size, seen[2]),
        ("how many bytes is it to the next element? Is its type large enough?", "stride", x.strides[0], seen[1]),
    ]:
        if x.size > (name == "stride") and in_c != expected:
            wrong(look_at, f"{what}: {name} in C: expected {expected}, got {in_c}")
    if raised and x.size and x.strides[0] < 2**31:
        wrong("the call: where does the result go?", f"{what}: got {in_words(raised)}")
    expect("the call: where does the result go?", f"{what}: the result", 2 * x, 2 * x if raised else got)
    expect("x is read, not written", f"{what}: afterwards x", copy, x)

expect_kernel("doubled(x[::5])", lambda: doubled(some), 2 * some)

calls, look_at = seen[3], "a stride of 0 or below: ValueError before the call"
for x in random(5)[::-1], random(n)[::-2], np.broadcast_to(random(1), 5):
    what = f"doubled(x) for a stride of {x.strides[0]}"
    expect_error(look_at, ValueError, what, lambda: doubled(x))
    if seen[3] != calls:
        wrong(look_at, f"{what}: C was called, then got ValueError")
passed()
