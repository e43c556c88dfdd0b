"""The check of exercise 4: numbers that are not the same after a visit to the other type.

On a GPU also: compute-sanitizer --tool memcheck
"""

import ctypes
import pathlib

import numpy as np

import dtype
from exercise import before_a_wall, expect, expect_error, passed, rng, without_device, wrong

LOOK_AT = {
    "float32": "libdtype.cu: the guard, the index, and how many bytes an element of type T has",
    "float64": "libdtype.cu: how many bytes has an element of T? dtype.pyx: does float64 have a branch of its own?",
}


def numbers(size, type):
    """Numbers with all the digits that the type has; the first ones are too large or too small for a smaller type."""
    x = (rng.standard_normal(size) * 10.0 ** rng.integers(-30, 30, size)).astype(type)
    special = [1e300, 5e-324, 1 / 3, -0.1] if type == "float64" else [3e38, 1e-45, 1 / 3, -0.1]
    x[:4] = np.array(special[:size], type)
    return x


def check(x, idx, name):
    before, type = x.copy(), x.dtype.name
    expected = x[idx]
    try:
        came = dtype.gather(x, idx)
    except Exception as error:
        wrong(LOOK_AT[type], f"{name}, {type}: expected no error, came {error.__class__.__name__}: {error}")
    if came.dtype == np.float64 and came.shape == expected.shape and not np.array_equal(came, expected):
        with np.errstate(over="ignore", under="ignore"):
            if np.array_equal(came, expected.astype(np.float32)):
                wrong(
                    "where does a float64 become a float on its way from x to the result?",
                    f"{name}, {type}: the digits are lost that a float32 cannot keep",
                )
    expect(LOOK_AT[type], f"{name}, {type}: gather(x, idx)", expected, came)
    if not np.array_equal(x, before):
        wrong("x is read, not written", f"{name}, {type}: x has changed")


for type in "float32", "float64":
    many = int(rng.integers(1000, 5000)), int(rng.integers(1000, 30000))
    for size, n in (1, 1), (5, 3), (300, 256), (256, 257), many:
        check(numbers(size, type), rng.integers(size, size=n, dtype=np.int32), f"{n} of {size} elements")
    # The C function, with room behind the result that it must not touch, and a source that it must not read beyond.
    source, index, result = before_a_wall(numbers(9, type)), np.arange(5, dtype=np.int32), np.full(100, 7, type)
    function = ctypes.CDLL("./libdtype.so")["gather_" + type]
    function(
        *[ctypes.c_void_p(a.ctypes.data) if isinstance(a, np.ndarray) else a for a in (source, 9, index, 5, result)]
    )
    if (result[5:] != 7).any():
        wrong(LOOK_AT[type], f"gather_{type} of libdtype.cu has written behind the end of the result")

    odd = np.array([np.nan, np.inf, -np.inf, -0.0], type)
    came = dtype.gather(odd, np.arange(4, dtype=np.int32))
    if came.tobytes() != odd.tobytes():
        wrong("libdtype.cu: the kernel copies an element, and computes nothing", f"{type}: from {odd} came {came}")

    few = np.array([0, 2, 1], np.int32)
    check(numbers(12, type)[::-3], few, "every third element")
    check(numbers(3, type), np.zeros(0, np.int32), "no index")
    check(numbers(5, type), np.array([1, 3, 1, 4], np.int32)[::2], "every second index")

    x = numbers(5, type)
    for other in np.float16, np.int64, np.complex64, x.dtype.newbyteorder():
        name = f"x of {np.dtype(other)}"
        expect_error("the dtypes that are taken", TypeError, name, lambda: dtype.gather(np.ones(5, other), few))
    outside = np.array([0, 5], np.int32)
    expect_error("the bounds", IndexError, "index 5 of 5 elements", lambda: dtype.gather(x, outside))

    came = without_device(f"""
import numpy as np, dtype
try:
    print("no exception, but", dtype.gather(np.ones(3, "{type}"), np.zeros(2, np.int32)))
except Exception as error:
    print(type(error).__name__, getattr(error, "code", error))""")
    if came != "CudaError 100":
        look_at = "the code that the C function returns, and who computes: the GPU or NumPy?"
        wrong(look_at, f"without a GPU, {type}: expected CudaError 100, came {came}")
if b"_Z6GatherIdE" not in pathlib.Path("libdtype.so").read_bytes():  # its name in the library
    wrong("gather_float64 of libdtype.cu: who computes?", "there is no kernel Gather<double>")
if pathlib.Path("dtype.c").read_text().count("PyEval_SaveThread") < 2:
    wrong("dtype.pyx: with nogil", "float64: while the GPU works, Python's other threads have to wait")
passed()
