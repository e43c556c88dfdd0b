"""What is allocated after each step? And calls that fail."""

import importlib

import numpy as np

from exercise import expect, expect_each_failure, expect_error, expect_kernel, expect_no_error, free_bytes
from exercise import passed, rng, wrong

TWICE = "close: how do a second close and __dealloc__ know that the memory is freed already?"

expect_each_failure(
    "Filled(5, 1.0).close()",
    lambda: importlib.import_module("owner").Filled(5, 1.0).close(),
    look_at="owner_allocate, owner_fill, and owner_free in close: check(...) looks at the code of each",
    has_frees=True,
)
from owner import Filled  # not before, as its last lines may use CUDA

start = free_bytes()


def allocated(objects, look_at, after):
    """These, and no other, have memory now."""
    got, expected = start - free_bytes(), sum(4 * elements for elements in objects)
    if start and got != expected:  # 0 on a GPU
        wrong(look_at, f"{after}: {got} bytes are allocated on the GPU, expected {expected}")


n, value = int(rng.integers(300, 5000)), float(rng.integers(1, 1000))
objects = [expect_no_error("__cinit__", "Filled", lambda: Filled(*one)) for one in ((n, value), (1, value + 1))]
allocated([n, 1], "__cinit__: does each object have memory of its own?", "two objects")
for name, x, expected in zip(("first", "second"), objects, np.split(np.float32([value] * n + [value + 1]), [n])):
    got = expect_no_error("__cinit__: self.n, self.d_x", f"get() of the {name} object", x.get)
    expect("__cinit__: self.n, owner_fill, memory of its own", f"get() of the {name} object", expected, got)
expect_kernel(f"Filled({n}, {value}).get()", lambda: Filled(n, value).get(), np.full(n, value, np.float32))
x = objects.pop()
del x
allocated([n], "__dealloc__: it runs when the object ends", "one of two objects has ended, without close()")
x = objects.pop()
expect_no_error("close", "close()", x.close)
allocated([], "close: owner_free", "close()")
expect_no_error(TWICE, "a second close()", x.close)
expect_error("get: is there still memory?", ValueError, "get() after close()", x.get)
del x
allocated([], TWICE, "the end of an object that was closed")


class Subclass(Filled):
    def __init__(self, *_):
        pass

    close = __del__ = __init__


x = Subclass(4, 2.0)
allocated([4], "__cinit__ runs always, __init__ only if it is called", "an object of a class with another __init__")
del x
look_at = "__dealloc__ calls owner_free itself: self.close() and __del__ may be those of a subclass"
allocated([], look_at, "the end of an object of a class with another close() and __del__")
passed()
