"""The check of exercise 5: what is allocated after each step? The library counts it."""

import ctypes
import gc
import os

import numpy as np

from cuda_error import CudaError
from exercise import expect, expect_error, expect_no_device, passed, rng, wrong
from owner import Filled

library = ctypes.CDLL(os.path.abspath("libowner.so"))  # the same one that the module uses
DEALLOC = "__dealloc__: it runs when the object ends"
TWICE = "close: how do a second close and __dealloc__ know that the memory is freed already?"


def allocated(expected, look_at, after):
    gc.collect()
    came, unknown = library.owner_allocated(), library.owner_unknown()
    if unknown:
        wrong(look_at, f"{after}: the library got an address that is not allocated, or not any more")
    if came != expected:
        wrong(look_at, f"{after}: how many arrays are on the GPU? expected {expected}, came {came}")


def attempt(name, call):
    try:
        return call()
    except BaseException as raised:
        wrong(
            TWICE if library.owner_unknown() else f"what {name} calls, and with what",
            f"{name}: came {type(raised).__name__}: {raised}",
        )


n, value = int(rng.integers(300, 5000)), float(rng.integers(1, 1000))
x = attempt("Filled(n, value)", lambda: Filled(n, value))
allocated(1, "__cinit__: owner_allocate, into &self.d_x", "Filled(n, value)")
expect("__cinit__: self.n, and owner_fill", "get()", np.full(n, value, np.float32), attempt("get()", x.get))
y = attempt("Filled(1, value)", lambda: Filled(1, value + 1))
expect(
    "__cinit__: does each object have memory of its own?",
    "get() of a second object",
    np.full(1, value + 1, np.float32),
    attempt("get()", y.get),
)
expect(
    "__cinit__: does each object have memory of its own?",
    "get() of the first object",
    np.full(n, value, np.float32),
    attempt("get()", x.get),
)
allocated(2, "__cinit__: does each object have memory of its own?", "two objects")
del y
allocated(1, DEALLOC, "one of two objects has ended, without close()")
attempt("close()", x.close)
allocated(0, "close: owner_free", "close()")
attempt("a second close()", x.close)
allocated(0, TWICE, "a second close()")
expect_error("get: is there still memory?", ValueError, "get() after close()", x.get)
allocated(0, "get", "get() after close()")
del x
allocated(0, TWICE, "the end of an object that was closed")

# What fails in the constructor, before and after there is memory.
expect_error(
    "the code that owner_allocate returns: check(...)", CudaError, "Filled(0, 1.0), no elements", lambda: Filled(0, 1.0)
)
allocated(0, "the code that owner_allocate returns: check(...), before owner_fill", "Filled(0, 1.0)")
expect_error(
    "the code that owner_allocate returns: check(...)", MemoryError, "Filled(2**60, 1.0)", lambda: Filled(2**60, 1.0)
)
allocated(0, "__cinit__", "Filled(2**60, 1.0)")
for _ in range(3):
    expect_error(
        "the code that owner_fill returns: check(...)", CudaError, "Filled(5, NaN)", lambda: Filled(5, float("nan"))
    )
allocated(
    0,
    "who frees if owner_fill fails? __dealloc__ does, once, if the address is in self.d_x by then",
    "Filled(5, NaN) has raised its exception",
)

# Python runs __init__ again if it is called again, and not at all if a subclass does not call it.
x = attempt("Filled(4, 2.0)", lambda: Filled(4, 2.0))
try:
    x.__init__(4, 2.0)
except TypeError:
    pass
allocated(
    1, "__cinit__ runs once; __init__ may run twice, and then allocates twice", "x.__init__(4, 2.0), called by hand"
)


class Subclass(Filled):
    def __init__(self, n, value):
        pass

    def close(self):
        pass

    def __del__(self):
        pass


y = attempt("a subclass whose __init__ does nothing", lambda: Subclass(4, 2.0))
allocated(2, "__cinit__ runs always; __init__ only if a subclass calls it", "an object of a subclass")
del y
allocated(
    1,
    "__dealloc__ calls owner_free itself: it runs always, self.close() and __del__ may be those of a subclass",
    "the end of an object of a subclass, which has a close() and a __del__ that do nothing",
)

fails = ctypes.c_int.in_dll(library, "owner_free_fails")
fails.value = 1
expect_error(
    "close: the code that owner_free returns: check(...)", CudaError, "close(), where owner_free fails", x.close
)
fails.value = 0
attempt("a second close(), after the first has raised CudaError", x.close)
del x
allocated(0, TWICE, "the end of an object whose close() has raised CudaError")

expect_no_device("the code that owner_allocate returns: check(...)", "owner.Filled(3, 1.0)")
passed()
