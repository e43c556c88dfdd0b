"""filled, of which each call may fail; then check, with several codes."""

import ctypes
import importlib

import numpy as np

from exercise import expect, expect_each_failure, expect_error, expect_kernel, expect_no_error, free_bytes
from exercise import passed, rng, wrong

expect_each_failure(
    "filled(5, 1.0)",
    lambda: importlib.import_module("exception").filled(5, 1.0),
    look_at="does check get each call's code, that of library.release too, and raise? Does the exception leave filled?",
    has_frees=True,
)

import exception  # not before, as its last lines may use CUDA
from cuda_error import CudaError

expect_no_error("0 says that all went well", "check(0)", lambda: exception.check(0))
for code in 2, 700, 1, 9, 712, 719, 999, 12345, -1, int(rng.integers(3, 800)):
    error = MemoryError if code == 2 else CudaError
    look_at = "which code becomes which exception? See the text under def check"
    raised = expect_error(look_at, error, f"check({code})", lambda: exception.check(code))
    got = (raised.code, raised.name, raised.text) if error is CudaError else None
    expected = (code, exception.library.error_name(code).decode(), exception.library.error_text(code).decode())
    if got not in (None, expected):
        wrong(
            "CudaError(code, name, text): name and text come from the library, as str",
            f"check({code}): expected code, name and text {expected}, got {got}",
        )

for n in 3, 256, int(rng.integers(300, 100000)):
    value = float(rng.integers(1, 1000))
    look_at, what = "library.fill, then library.read_back into result.ctypes.data", f"filled({n}, {value})"
    got = expect_no_error(look_at, what, lambda: exception.filled(n, value))
    expect(look_at, what, np.full(n, value, np.float32), got)
    expect_kernel(what, lambda: exception.filled(n, value), got)
before = free_bytes()
what = 'filled(5, "no number")'
expect_error("library.fill", ctypes.ArgumentError, what, lambda: exception.filled(5, "no number"))
if free_bytes() < before:
    wrong(
        "Python comes to the lines in `finally` with any exception and without one",
        f"{what}, in which ctypes raises ArgumentError: library.release is not called",
    )
passed()
