"""The sums of several arrays; each CUDA call that fails; nothing stays on the GPU."""

import gc
import importlib

import numpy as np

from exercise import expect_each_failure, expect_kernel, expect_no_error, free_bytes
from exercise import is_on_stand_in, passed, rng, see, wrong

LOOK_AT = "who refers to the object when C runs? Its memory is freed when nobody does"
x = np.ones(300, np.float32)
expect_each_failure("sum_of(x)", lambda: importlib.import_module("lifetime").sum_of(x), arguments=LOOK_AT)
from lifetime import sum_of  # not before, as its last lines may use CUDA

before = None
for n in 300, 1, 257, int(rng.integers(1000, 5000)):
    x = (rng.integers(-99, 100, n) / 4).astype(np.float32)
    got, seen = expect_no_error(LOOK_AT, f"sum_of(x) of {n} elements", lambda: see(lambda: sum_of(x)))
    if got != x.sum(dtype=np.float64):
        wrong(LOOK_AT, f"sum_of(x) of {n} elements: expected {x.sum(dtype=np.float64)}, got {got}")
    if is_on_stand_in and seen["reads"] < n:
        wrong("who adds? The threads of the kernel", f"the threads read {seen['reads']} of {n} elements")
    expect_kernel(f"sum_of(x) of {n} elements", lambda: sum_of(x), float(x.sum(dtype=np.float64)) or np.nan)
    gc.collect()
    if before is not None and free_bytes() < before:
        wrong("the memory is freed, after the sum", f"sum_of(x) of {n} elements: memory stays on the GPU")
    before = free_bytes()
passed()
