"""Calls from several threads at once; each is right, or its own error."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from wrapper import cuda_gather


def work(seed):
    random = np.random.default_rng(seed)
    for _ in range(20):
        x = random.random(5000, dtype=np.float32)
        idx = random.integers(-5000, 5000, size=3000)
        if seed % 2:
            idx[1234] = 5000
            try:
                cuda_gather(x, idx)
                return "no error"
            except IndexError:
                pass
        elif not np.array_equal(cuda_gather(x, idx), x[idx]):
            return "wrong"
    return "right"


with ThreadPoolExecutor(4) as pool:
    print(*pool.map(work, range(4)))
