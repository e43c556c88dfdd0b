"""Every size around a block's edge agrees with NumPy, in shape, dtype and every bit."""

import numpy as np
from wrapper import cuda_gather

random = np.random.default_rng()
wrong = 0
for n in [*range(1, 70), 255, 256, 257, 511, 512, 513, 1000, 1023, 1024, 1025, 100003]:
    for m in 1, 2, 255, 256, 257, 1000:
        x = random.random(m, dtype=np.float32)
        idx = random.integers(-m, m, size=n, dtype=np.int32)
        res = cuda_gather(x, idx)
        wrong += not (type(res) is np.ndarray and res.dtype == np.float32 and np.array_equal(res, x[idx]))
strange = np.array([np.nan, -0.0, np.inf, -np.inf, 1e-45, np.nan], np.float32)
strange.view(np.uint32)[5] |= 123
idx = np.array([5, 4, 3, 2, 1, 0, -1], np.int32)
wrong += not np.array_equal(cuda_gather(strange, idx).view(np.uint32), strange[idx].view(np.uint32))
print(wrong, "wrong")
