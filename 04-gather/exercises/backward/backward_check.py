"""The way back against np.add.at."""

import sys
import types

import numpy as np

from exercise import expect, expect_no_error, passed, rng, wrong

calls = []


def add_at(target, index, values):
    """As that of 04-gather/fast, which takes no other dtype or shape."""
    calls.append(values.size)
    if values.dtype != target.dtype or values.shape != index.shape + target.shape[1:]:
        raise TypeError(f"add_at: {values.dtype} of shape {values.shape} for {target.dtype} of shape {target.shape}")
    np.add.at(target, index, values)


sys.modules["gather"] = types.ModuleType("gather")
sys.modules["gather"].add_at = add_at
import backward

for rows, rest, shape, dtype in (  # a source of shape (rows, *rest)
    (5, (3,), (4,), "d"),
    (1, (), (1,), "d"),
    (40, (2, 3), (9, 30), "f"),
    (6, (3,), (3, 2, 5), "f"),
    (3, (), (0,), "d"),
    (4, (2, 3), (7,), "D"),
    (5, (0,), (4,), "d"),
):
    index, grad = rng.integers(rows, size=shape), rng.integers(-99, 100, (*shape, *rest)).astype(dtype)  # exact sums
    if dtype == "d":
        grad += 2.0**-30  # which a float32 loses
    if dtype == "D":
        grad *= 1 + 2j
    before = grad.copy(), index.copy()
    what = f"a source of shape {(rows, *rest)}, an index of shape {shape}, your result"
    expected = np.zeros((rows, *rest), dtype)
    np.add.at(expected, index, grad)
    for _ in range(2):  # a new array each time
        got = expect_no_error("what add_at takes", what, lambda: backward.backward(grad, index, (rows, *rest)))
    expect("grad is only read", f"{what}: grad afterwards", before[0], grad)
    expect("index is only read", f"{what}: index afterwards", before[1], index)
    look_at = "is it 0 at first, and of grad's dtype? Does each of equal indices add its row, for any shape of index?"
    expect(look_at, what, expected, got)
if len(calls) != 14:
    wrong("add_at, which does it on the GPU", f"expected one call of add_at for each index, got {len(calls)} for 14")
passed()
