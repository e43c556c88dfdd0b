"""Where do the GPU and NumPy cross? Part of bench.py."""

import numpy as np

from bench_tools import wall
from gather import DeviceArray, pinned_empty, take

MI = 1 << 20
random = np.random.default_rng(1)


def curves():
    """Milliseconds against N (from 128 Mi floats) and against M (1 Mi indices): NumPy and three ways."""

    def point(x, idx):
        d_x, out = DeviceArray(x), np.empty(idx.shape, x.dtype)
        p_idx, p_out = pinned_empty(idx.shape, idx.dtype), pinned_empty(idx.shape, x.dtype)
        p_idx[...] = idx
        ways = {
            "NumPy, np.take(x, idx, out=out, mode='wrap')": lambda: np.take(x, idx, out=out, mode="wrap"),
            "take(x, idx)": lambda: take(x, idx, out),
            "take(d_x, idx)": lambda: take(d_x, idx, out),
            "take(d_x, p_idx, p_out)": lambda: take(d_x, p_idx, p_out),
        }
        return {"N": idx.size, "M": x.size, **{name: wall(call, 5, 1)["median"] for name, call in ways.items()}}

    x = random.random(128 * MI, dtype=np.float32)
    against_n = [point(x, random.integers(x.size, size=int(n), dtype=np.int32)) for n in np.logspace(1, 7.5, 14)]
    idx = random.integers(1 << 31, size=MI)
    against_m = [point(x[:m], (idx % m).astype(np.int32)) for m in np.logspace(2, 8.1, 13).astype(int)]
    return {"against_N": against_n, "against_M": against_m}
