"""Numbers that are not the same after a visit to the other type, in arrays of many sizes; each call that fails."""

import ctypes
import os
import pathlib

import numpy as np

import dtype
from exercise import at_a_wall, expect, expect_each_failure, expect_error, expect_kernel, expect_no_error
from exercise import free_bytes, in_a_process, is_on_stand_in, passed, rng, see, wrong

LOOK_AT = {
    "float32": "libdtype.cu: guard, index, the bytes of an element of T; dtype.pyx: elements, not bytes, are counted",
    "float64": "libdtype.cu: the bytes of an element of T; is gather called? dtype.pyx: the branch for float64",
}


def numbers(size, type):
    """Numbers with all the digits that the type has, large and small ones."""
    return (rng.standard_normal(size) * 10.0 ** rng.integers(-30, 30, size)).astype(type)


def check(name, x, idx):
    type, expected = x.dtype.name, x[idx]
    name = f"{type}, {name}: gather(x, idx)"
    got, seen = see(lambda: expect_no_error(LOOK_AT[type], name, lambda: dtype.gather(x, idx)))
    if getattr(got, "dtype", None) == np.float64 and got.shape == expected.shape:
        if (got != expected).any() and (got == expected.astype(np.float32)).all():
            look_at = "where does a float64 become a float on its way from x to the result?"
            wrong(look_at, f"{name}: the digits are lost that a float32 cannot keep")
    expect(LOOK_AT[type], name, expected, got)
    if idx.size > 0:
        expect_kernel(name, lambda: dtype.gather(x, idx), got)
    if is_on_stand_in and seen["threads"] < idx.size:
        wrong("who computes: the threads of the kernel?", f"{name}: {seen['threads']} threads for {idx.size} elements")
    if seen["most"] > 6:
        look_at = "the kernel: thread i reads and writes element i, and no other one"
        wrong(look_at, f"{name}: one thread reads and writes global memory {seen['most']} times, expected 3")


for type in "float32", "float64":
    x, idx = at_a_wall(numbers(9, type)), at_a_wall(np.arange(5, dtype=np.int32))
    expect_each_failure(f"{type}: gather(x, idx)", lambda: dtype.gather(x, idx), arguments=LOOK_AT[type])


def code_of_memory(size, n):
    """What gather_float64 returns if the first copy fails with code 719: the arrays of the host are not there."""
    if free_bytes() < 8 * size + 12 * n + 2**20:
        return "719"  # this machine has too little memory
    os.environ.update(CPU_CUDA_FAIL="4", CPU_CUDA_FAIL_CODE="719")
    return str(ctypes.CDLL("./libdtype.so").gather_float64(None, size, None, n, None))


for size, n in ((2**28, 1), (1, 2**28)) if is_on_stand_in else ():
    got, _ = in_a_process(lambda: code_of_memory(size, n))
    if got != "719":
        what = f"float64, {n} of {size} elements, {8 * max(size, n)} bytes: expected room for them, got error {got}"
        wrong("libdtype.cu: an int cannot count all these bytes, a size_t can", what)
for type in "float32", "float64":
    for size, n in (1, 1), (5, 3), (300, 256), (256, 257), (3000, int(rng.integers(1000, 30000))):
        check(f"{n} of {size} elements", numbers(size, type), rng.integers(size, size=n, dtype=np.int32))
    check("every third element, from the end", numbers(12, type)[::-3], np.array([0, 2, 1], np.int32))
    check("no index", numbers(3, type), np.zeros(0, np.int32))
for other in np.float16, np.int64, np.complex64:
    x, idx = np.ones(5, other), np.zeros(2, np.int32)
    expect_error("the dtypes that are taken", TypeError, f"x of {x.dtype}", lambda: dtype.gather(x, idx))
if pathlib.Path("dtype.c").read_text().count("PyEval_SaveThread") < 2:
    wrong("dtype.pyx: with nogil", "float64: while the GPU works, Python's other threads have to wait")
passed()
