"""Shapes around a block, none at all, strides; who computes; each CUDA call that fails."""

import ctypes
import importlib
import pathlib

import numpy as np

import exercise
from exercise import at_a_wall, expect, expect_each_failure, expect_error, expect_kernel, expect_no_error
from exercise import is_on_stand_in, passed, rng, see, wrong


def numbers(*shape):
    return (rng.integers(-99, 100, shape) / 4).astype(np.float32)  # few digits: the sum is exact in any order


expect_each_failure("row_sum(x)", lambda: importlib.import_module("row_sum").row_sum(at_a_wall(numbers(3, 5))))
from row_sum import row_sum  # not before, as its last lines may use CUDA


def check(name, x):
    before, expected = x.copy(), x.sum(axis=1, dtype=np.float32)
    name = f"{name}, {x.shape[0]} rows and {x.shape[1]} columns: row_sum(x)"
    got, seen = expect_no_error("the views, and the call of c_row_sum", name, lambda: see(lambda: row_sum(x)))
    look_at = "a number for each row: is each element added once, and by the block of its row?"
    expect(look_at if x.size else "no element: each sum is 0; who writes it?", name, expected, got)
    if not np.array_equal(x, before):
        wrong("x is read, not written", f"{name}: x has changed")
    if not (is_on_stand_in and x.size):
        return
    if seen["reads"] < x.size:
        wrong("who adds? The threads of the kernel", f"{name}: the threads read {seen['reads']} of {x.size} elements")
    if seen["most"] > -(-x.shape[1] // 256) + 4:
        wrong(
            "the work: thread t takes the elements t, t + THREADS, t + 2 * THREADS, ... of the row",
            f"{name}: one thread reads and writes global memory {seen['most']} times",
        )
    if seen["writes"] + seen["atomics"] > x.shape[0]:
        wrong(
            "the sum grows in each thread, then in shared memory; one thread of the block writes it",
            f"{name}: {seen['writes'] + seen['atomics']} times something is written to global memory",
        )
    if x.shape[1] > 1000 and seen["sectors"] > x.size / 4:
        wrong("threads side by side read elements side by side", f"{name}: the warps move {seen['sectors']} sectors")
    expect_kernel(name, lambda: row_sum(x), got)


for shape in (
    (3, 256),
    (1, 1),
    (2, 255),
    (5, 257),
    (300, 7),
    (2, 1500),
    (4, 0),
    (0, 4),
    rng.integers(1, 30, 2) * (1, 100),
):
    check("an array", numbers(*shape))
check("every other row, its columns from the end", numbers(20, 300)[::2, ::-1])
check("a transposed array", numbers(20, 300).T)
check("an unaligned array", np.frombuffer(b"-" + numbers(300).tobytes(), np.uint8)[1:].view(np.float32).reshape(3, 100))
check("a read-only array", np.broadcast_to(numbers(1, 500), (3, 500)))
for other, error in (np.ones((3, 2)), TypeError), ([[1.0]], TypeError), (numbers(3), ValueError):
    expect_error("what was given stays as it was", error, f"x: {other!r:.40}", lambda: row_sum(other))
if is_on_stand_in:  # too many bytes for an int, and for any GPU
    library = ctypes.CDLL(str(pathlib.Path("librow_sum.so").resolve()))
    one = (ctypes.c_float * 1)()
    code = library.row_sum(one, ctypes.c_size_t(1), ctypes.c_size_t(2**42 + 1), one)
    exercise.cuda.cudaGetLastError()
    if code != 2:
        wrong("the bytes: are they size_t?", f"2^42 + 1 columns: expected 2, cudaErrorMemoryAllocation, got {code}")
passed()
