"""cuda_gather is as NumPy's indexing, in shape, dtype and every bit; a bad index is NumPy's IndexError, word for word."""

import sys

import numpy as np
from wrapper import check_array, cuda_gather


def words(function, *arguments, error=IndexError):
    try:
        return repr(function(*arguments))
    except error as caught:
        return f"{error.__name__}: {caught}"


def expect_as_numpy(what, x, idx):
    before = x.copy(), idx.copy()
    res = cuda_gather(x, idx)
    assert type(res) is np.ndarray and res.dtype == np.float32 and res.shape == idx.shape, what
    assert np.array_equal(res.view(np.uint32), x[idx].view(np.uint32)), what
    assert np.array_equal(before[0], x, equal_nan=True) and np.array_equal(before[1], idx), what
    assert res.flags.writeable and res.flags.owndata, what


# every size around a block's edge
random = np.random.default_rng(0)
for n in [*range(1, 70), 255, 256, 257, 511, 512, 513, 1000, 1023, 1024, 1025, 100003]:
    for m in 1, 2, 255, 256, 257, 1000:
        expect_as_numpy((n, m), random.random(m, dtype=np.float32), random.integers(-m, m, size=n, dtype=np.int32))
strange = np.array([np.nan, -0.0, np.inf, -np.inf, 1e-45, np.nan], np.float32)
strange.view(np.uint32)[5] |= 123
expect_as_numpy("strange", strange, np.array([5, 4, 3, 2, 1, 0, -1], np.int32))

# layouts
x = np.arange(20, dtype=np.float32)
idx = np.array([19, 0, -20, 7, 7, -1], np.int32)
readonly_x, readonly_idx = x.copy(), idx.copy()
readonly_x.flags.writeable = readonly_idx.flags.writeable = False
unaligned = np.frombuffer(b"\0" + x.tobytes(), np.float32, offset=1)
assert not unaligned.flags.aligned
for name, (a, i) in {
    "no index": (x, idx[:0]), "no index, no source": (x[:0], idx[:0]), "read-only": (readonly_x, readonly_idx),
    "strided": (np.repeat(x, 3)[::3], np.repeat(idx, 2)[::2]), "reversed": (x[::-1], idx[::-1]),
    "column": (np.arange(400, dtype=np.float32).reshape(20, 20)[:, 3], idx), "broadcast": (np.broadcast_to(x[3], 20), idx),
    "unaligned": (unaligned, idx), "int64": (x, idx.astype(np.int64)), "int64 strided": (x, idx.astype(np.int64)[::-2]),
}.items():  # fmt: skip
    expect_as_numpy(name, a, i)
held = sys.getrefcount(x), sys.getrefcount(idx)
for _ in range(10):
    cuda_gather(x, idx)
assert held == (sys.getrefcount(x), sys.getrefcount(idx)), "cuda_gather holds x or idx after a call"

# a bad index: the first one is told
x = np.arange(5, dtype=np.float32)
many = np.zeros(1000000, np.int32)
many[654321], many[999999] = 77, -78
bad = [[5], [-6], [0, 1, 7, -9], [2**31 - 1], [-(2**31)]]
bad64 = [[2**31], [2**32], [-(2**31) - 1], [2**63 - 1], [-(2**63)], [1, 2**32 + 1]]
cases = [(x, np.array(i, t)) for t in (np.int32, np.int64) for i in bad] + [(x, np.array(i, np.int64)) for i in bad64]
for a, idx in cases + [(x, many), (x[:0], np.array([0], np.int32)), (x[:0], np.array([-1], np.int64))]:
    numpys = words(lambda a, idx: a[idx], a, idx)
    assert numpys.startswith("IndexError") and words(cuda_gather, a, idx) == numpys, (idx, numpys)
expect_as_numpy("the next call", x, np.array([4, -5], np.int64))
zero = np.zeros(1, np.int32)
for a, idx in (np.ma.array(x, mask=x > 3), zero), (x, np.ma.array(zero, mask=[1])):
    outcome = words(cuda_gather, a, idx, error=TypeError)
    assert outcome.endswith("is taken, not MaskedArray"), outcome
for size in 2**31 - 1, 2**31:  # the largest that C's int holds, and one more
    array = np.broadcast_to(np.float32(0), size)
    is_taken = words(check_array, "x", array, np.float32, error=ValueError).startswith("array")
    assert is_taken == (size < 2**31), f"a source of {size} elements is {'taken' if is_taken else 'refused'}"
