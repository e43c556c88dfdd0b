"""Several sizes, none at all too, arrays that are read-only, and calls that fail. What arrives at C is looked at."""

import ctypes
import os

import numpy as np

from exercise import at_a_wall, expect, expect_each_failure, expect_no_error, passed, rng, wrong


def sum_and_difference(x, y):
    import two_results  # not before: its last lines may use CUDA

    return two_results.sum_and_difference(x, y)


def random(n):
    return at_a_wall(rng.integers(-999, 1000, n).astype(np.float32))


x, y = random(5), random(5)
expect_each_failure("sum_and_difference(x, y) of 5 elements", lambda: sum_and_difference(x, y))
seen = (ctypes.c_size_t * 6).in_dll(ctypes.CDLL(os.path.abspath("libtwo_results.so")), "two_results_seen")
kept = []  # results of earlier calls: each call has to make new arrays
for n in 3, 3, 1, 0, 257, int(rng.integers(300, 5000)), 70000:
    x, y = (random(n), random(n)) if n else np.zeros((2, 0), np.float32)
    copies, what, calls = (x.copy(), y.copy()), f"sum_and_difference(x, y) of {n} elements", seen[5]
    x.flags.writeable = y.flags.writeable = n != 257
    came = expect_no_error(
        "the memoryviews, and the call of the C function" if n else "no elements: is C called all the same?",
        what,
        lambda: sum_and_difference(x, y),
    )
    if type(came) not in (tuple, list) or len(came) != 2:
        wrong("the function returns the two arrays: return ..., ...", f"{what}: expected two arrays, came {came!r:.60}")
    if n and seen[4] != n:
        wrong("x.shape[0] is the number of elements", f"{what}: n in C is {seen[4]}, expected {n}")
    for i, expected in enumerate((x + y, x - y)):
        name = ("the first result, x + y: (x + y)", "the second result, x - y: (x - y)")[i]
        look_at = "np.empty(n, np.float32) is returned, not its memoryview; the order of arguments and results"
        expect(look_at, f"{what}: {name}", expected, came[i])
        for other in (x, y, *kept):
            if np.shares_memory(came[i], other):
                wrong("each result is a new array", f"{what}: result {i + 1} is in the memory of another array")
        if n and seen[2 + i] != came[i].ctypes.data:
            wrong(
                "what is returned is the array in which C has written",
                f"{what}: C did not write into the array that is returned as result {i + 1}",
            )
        kept.append(came[i])
    for name, array, copy in ("x", x, copies[0]), ("y", y, copies[1]):
        expect("x and y are read, not written", f"{what}: afterwards {name}", copy, array)
passed()
