"""Where do the GPU and NumPy cross? Part of bench.py."""

import itertools

import numpy as np

from bench_tools import wall
from gather import DeviceArray, pinned_empty, take

MI = 1 << 20
NUMPY = "NumPy, np.take(x, idx, out=out, mode='wrap')"
random = np.random.default_rng(1)


def curves():
    """Milliseconds against N (from 128 Mi floats) and against M (1 Mi indices): NumPy and three ways.

    Every call takes other indices, so that none finds its elements in a cache because it was there before.
    """
    many = random.integers(1 << 31, size=1 << 25)
    p_many = pinned_empty(many.shape, np.int32)

    def point(x, n):
        idx = (many % x.size).astype(np.int32)
        p_many[...] = idx
        d_x, out, p_out = DeviceArray(x), np.empty(n, x.dtype), pinned_empty(n, x.dtype)
        starts = itertools.cycle(range(0, many.size - n + 1, max(n, 1)))

        def time_of(call, indices):
            return wall(lambda: (lambda k: call(indices[k : k + n]))(next(starts)), 5, 1)["median"]

        return {
            "N": n,
            "M": x.size,
            NUMPY: time_of(lambda i: np.take(x, i, out=out, mode="wrap"), idx),
            "take(x, idx)": time_of(lambda i: take(x, i, out), idx),
            "take(d_x, idx)": time_of(lambda i: take(d_x, i, out), idx),
            "take(d_x, p_idx, p_out)": time_of(lambda i: take(d_x, i, p_out), p_many),
        }

    x = random.random(128 * MI, dtype=np.float32)
    against_n = [point(x, int(n)) for n in np.logspace(1, 7.5, 14)]
    against_m = [point(x[:m], MI) for m in np.logspace(2, 8.1, 13).astype(int)]
    return {"against_N": against_n, "against_M": against_m}
