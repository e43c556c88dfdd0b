"""a * x + y, compared with NumPy's at sizes around a block; strided arrays; what is refused.

Build: make build
Run:   python3 test_axpy.py
"""

import numpy as np

from axpy import axpy

random = np.random.default_rng()
sizes = 0, 1, 255, 256, 257, 100_000
for n in sizes:
    x, y = (random.integers(-1000, 1000, n).astype(np.float32) for _ in range(2))  # no rounding: both are exact
    np.testing.assert_array_equal(axpy(3, x, y), 3 * x + y, strict=True)
    np.testing.assert_array_equal(axpy(3, x[::-2], y[::-2]), 3 * x[::-2] + y[::-2], strict=True)
for refused, x, y in (TypeError, np.ones(3), y), (ValueError, x[:-1], y), (ValueError, x.reshape(2, -1), y):
    try:
        axpy(3, x, y)
    except refused:
        continue
    raise SystemExit(f"{x.dtype} of shape {x.shape} is taken")
print(f"{len(sizes)} sizes as NumPy")
