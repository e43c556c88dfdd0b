"""Several sizes, none at all too, arrays that are read-only, and calls that fail. What arrives at C is looked at."""

import ctypes
import importlib
import os

import numpy as np

from exercise import at_a_wall, expect, expect_each_failure, expect_kernel, expect_no_error, passed, rng, wrong


def random(n):
    return at_a_wall(rng.integers(-999, 1000, n).astype(np.float32))


x, y = random(5), random(5)
expect_each_failure(
    "sum_and_difference(x, y) of 5 elements", lambda: importlib.import_module("two_results").sum_and_difference(x, y)
)
from two_results import sum_and_difference  # not before, as its last lines may use CUDA

seen = (ctypes.c_size_t * 5).in_dll(ctypes.CDLL(os.path.abspath("libtwo_results.so")), "two_results_seen")
kept = []  # results of earlier calls: each call has to make new arrays
for n in 3, 3, 1, 0, 257, int(rng.integers(300, 5000)), 70000:
    x, y = (random(n), random(n)) if n else np.zeros((2, 0), np.float32)
    copies, what = (x.copy(), y.copy()), f"sum_and_difference(x, y) of {n} elements"
    x.flags.writeable = y.flags.writeable = n != 257
    got = expect_no_error(
        "the memoryviews, and the call of the C function" if n else "no elements: is C called all the same?",
        what,
        lambda: sum_and_difference(x, y),
    )
    if type(got) not in (tuple, list) or len(got) != 2:
        wrong("the function returns the two arrays: return ..., ...", f"{what}: expected two arrays, got {got!r:.60}")
    if n and seen[4] != n:
        wrong("x.shape[0] is the number of elements", f"{what}: n in C is {seen[4]}, expected {n}")
    for i, expected in enumerate((x + y, x - y)):
        is_array = type(got[i]) is np.ndarray and got[i].dtype == np.float32
        for other in (x, y, *kept, got[1 - i]):
            if is_array and type(other) is np.ndarray and np.shares_memory(got[i], other):
                wrong("each result is a new array", f"{what}: result {i + 1} is in the memory of another array")
        look_at = "the order of C's arguments, and of the results" if is_array else "return arrays of np.float32"
        expect(look_at, f"{what}: the {['first result, (x + y)', 'second result, (x - y)'][i]}", expected, got[i])
        if n and seen[2 + i] != got[i].ctypes.data:
            wrong("return the arrays in which C has written", f"{what}: C did not write into result {i + 1}")
        kept.append(got[i])
    for i, right in enumerate((x + y, x - y) if n else ()):
        expect_kernel(f"{what}: result {i + 1}", lambda i=i: sum_and_difference(x, y)[i], right)
    for name, array, copy in ("x", x, copies[0]), ("y", y, copies[1]):
        expect("x and y are read, not written", f"{what}: afterwards {name}", copy, array)
passed()
