"""Arrays with several strides, and calls that fail. What arrives at C is looked at."""

import ctypes
import mmap
import os

import numpy as np

from exercise import at_a_wall, expect, expect_each_failure, expect_error, expect_no_error, passed, rng, wrong


def doubled(x):
    import strided  # not before: its last lines may use CUDA

    return strided.doubled(x)


def random(*shape):
    return at_a_wall(rng.integers(-999, 1000, shape).astype(np.float32))


some = random(30)[::3]
expect_each_failure("doubled(x[::3]) of 10 elements", lambda: doubled(some))
seen = (ctypes.c_size_t * 4).in_dll(ctypes.CDLL(os.path.abspath("libstrided.so")), "strided_seen")
n = int(rng.integers(300, 5000))
records = np.zeros(n, [("a", np.int8), ("b", np.float32)])  # 5 bytes each
records["b"] = random(n)
pages = mmap.mmap(-1, 2**32 + 12, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ)  # all zeros
for name, x in [
    ("x[::3]", some),
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
    try:
        came = doubled(x)
    except Exception:
        if seen[3] == calls or x.strides[0] < 2**31:
            expect_no_error("only a stride of 0 or below is refused", what, lambda: doubled(x))
        came = 2 * x
    if x.size:
        if seen[3] != calls + 1:
            wrong("c_doubled: once for each call of doubled", f"{what}: C was called {seen[3] - calls} times")
        if seen[0] != x.ctypes.data:
            wrong("the address of the first element of x itself, not of a copy", f"{what}: x in C is another address")
        if seen[2] != x.size:
            wrong("the number of elements of x", f"{what}: n in C is {seen[2]}")
        if seen[1] != x.strides[0] and x.size > 1:
            wrong(
                "how many bytes is it from one element of x to the next? Does the number fit in its type?",
                f"{what}: stride in C is {seen[1]}, expected {x.strides[0]}",
            )
    expect("the call: where does the result go?", f"{what}: the result", 2 * x, came)
    expect("x is read, not written", f"{what}: afterwards x", copy, x)

calls = seen[3]
for name, x in [
    ("x[::-1]", random(5)[::-1]),
    ("x[::-2]", random(n)[::-2]),
    ("np.broadcast_to(x, 5)", np.broadcast_to(random(1), 5)),
]:
    what, look_at = f"doubled({name}), a stride of {x.strides[0]}", "a stride of 0 or below: ValueError before the call"
    expect_error(look_at, ValueError, what, lambda: doubled(x))
    if seen[3] != calls:
        wrong(look_at, f"{what}: C was called, then came ValueError")
passed()
