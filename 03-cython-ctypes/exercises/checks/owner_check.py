"""What is allocated after each step? And calls that fail."""

import numpy as np

from exercise import expect, expect_each_failure, expect_error, expect_no_error, free_bytes, passed, rng, wrong


def filled_and_closed():
    import owner  # not before: its last lines may use CUDA

    owner.Filled(5, 1.0).close()


OWN, DEALLOC = "__cinit__: does each object have memory of its own?", "__dealloc__: it runs when the object ends"
TWICE = "close: how do a second close and __dealloc__ know that the memory is freed already?"

expect_each_failure(
    "Filled(5, 1.0).close()",
    filled_and_closed,
    look_at="owner_allocate, owner_fill, and owner_free in close: check(...) looks at the code of each",
    has_frees=True,
)
from owner import Filled  # noqa: E402

start = free_bytes()


def allocated(objects, look_at, after):
    """These, and no other, have memory now."""
    came, expected = start - free_bytes(), sum(4 * elements for elements in objects)
    if start and came != expected:  # 0 on a GPU
        wrong(look_at, f"{after}: {came} bytes are allocated on the GPU, expected {expected}")


n, value = int(rng.integers(300, 5000)), float(rng.integers(1, 1000))
x = expect_no_error("__cinit__", "Filled(n, value)", lambda: Filled(n, value))
y = expect_no_error("__cinit__", "a second object", lambda: Filled(1, value + 1))
allocated([n, 1], OWN, "two objects")
for name, one, expected in ("first", x, np.full(n, value, np.float32)), ("second", y, np.float32([value + 1])):
    came = expect_no_error("__cinit__: self.n, self.d_x", f"get() of the {name} object", one.get)
    expect("__cinit__: self.n, owner_fill, memory of its own", f"get() of the {name} object", expected, came)
one = y = None
allocated([n], DEALLOC, "one of two objects has ended, without close()")
expect_no_error("close", "close()", x.close)
allocated([], "close: owner_free", "close()")
expect_no_error(TWICE, "a second close()", x.close)
expect_error("get: is there still memory?", ValueError, "get() after close()", x.get)
x = None
allocated([], TWICE, "the end of an object that was closed")


class Subclass(Filled):
    def __init__(self, *_):
        pass

    close = __del__ = __init__


look_at = "__cinit__ runs once for each object; __init__ may run never, or twice"
x = Subclass(4, 2.0)
allocated([4], look_at, "an object of a subclass whose __init__ does nothing")
x = None
allocated(
    [],
    "__dealloc__ calls owner_free itself: self.close() may be that of a subclass",
    "the end of an object of a subclass whose close() does nothing",
)
x = Filled(4, 2.0)
try:
    x.__init__(4, 2.0)
except TypeError:
    pass
allocated([4], look_at, "x.__init__(4, 2.0), called by hand")
x = None
passed()
