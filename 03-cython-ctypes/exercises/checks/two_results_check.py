"""The check of exercise 3: several sizes, none at all too, arrays that are read-only, and a call that fails."""

import ctypes
import os

import numpy as np

from exercise import expect, expect_no_device, passed, poison_empty, rng, wrong
from two_results import sum_and_difference

poison_empty()

kept = []  # results of earlier calls: each call has to make new arrays
for n in 3, 3, 1, 0, 257, int(rng.integers(300, 5000)):
    x, y = (rng.integers(-999, 1000, n).astype(np.float32) for _ in range(2))
    copies, what = (x.copy(), y.copy()), f"sum_and_difference(x, y) of {n} elements"
    if n == 257:
        x.flags.writeable = y.flags.writeable = False
    try:
        came = sum_and_difference(x, y)
    except Exception as raised:
        look_at = (
            "a call with no elements: is C called all the same?"
            if n == 0
            else "the memoryviews, and the call of the C function"
        )
        wrong(look_at, f"{what}: came {type(raised).__name__}: {raised}")
    if type(came) not in (tuple, list) or len(came) != 2:
        wrong("the function returns the two arrays: return ..., ...", f"{what}: expected two arrays, came {came!r:.60}")
    for array in came:
        if type(array) is not np.ndarray:
            wrong(
                "a NumPy array, made by np.empty, is returned; its memoryview is for C",
                f"{what}: expected a NumPy array, came {type(array).__name__}",
            )
    if came[0] is came[1] or np.shares_memory(*came):
        wrong("each result needs an array of its own", f"{what}: both results are the same memory")
    for old in kept:
        if any(np.shares_memory(old, array) for array in came):
            wrong(
                "a call makes new arrays: who called before still has the old ones",
                f"{what}: a result is in the memory of an earlier one",
            )
    for array, copy, name in zip((x, y), copies, "xy"):
        if any(np.shares_memory(array, result) for result in came):
            wrong("the results need arrays of their own", f"{what}: a result is in the memory of {name}")
        if not np.array_equal(array, copy):
            wrong("x and y are read, not written", f"{what}: {name} is not what it was")
    for name, expected, array in (
        ("the first result, (x + y)", x + y, came[0]),
        ("the second result, (x - y)", x - y, came[1]),
    ):
        is_array = array.dtype == expected.dtype and array.shape == expected.shape
        expect(
            "the arguments of the C function, and the order of the results" if is_array else "np.empty(n, np.float32)",
            f"{what}: {name}",
            expected,
            array,
        )
    kept += came

ctypes.c_float.in_dll(ctypes.CDLL(os.path.abspath("libtwo_results.so")), "two_results_more").value = 1000
for name, expected, array in zip(("first", "second"), (x + y + 1000, x - y + 1000), sum_and_difference(x, y)):
    expect(
        "all that is returned comes from the C function, nothing from NumPy",
        f"the C function was told to add 1000 to all: the {name} result",
        expected,
        array,
    )

expect_no_device(
    "what the C function returns: check(...) raises it. And is it the C function that computes?",
    "two_results.sum_and_difference(x, x)",
)
passed()
