"""For compute-sanitizer: sizes around a block's edge."""

import numpy as np
from wrapper import cuda_gather

for n in 1, 255, 256, 257, 1000:
    x = np.arange(100, dtype=np.float32)
    idx = (np.arange(n) % 200 - 100).astype(np.int32)
    print(np.array_equal(cuda_gather(x, idx), x[idx]))
