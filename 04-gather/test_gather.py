"""Gathers 1 Mi of 128 Mi random values on the GPU. Prints the shape, and how many equal NumPy's.

Build: make build
Run:   python3 test_gather.py
"""

import sys

import numpy as np

from wrapper import cuda_gather

SOURCE_SIZE = 128 * 1024 * 1024
INDEX_SIZE = 1024 * 1024

random = np.random.default_rng(0)
x = random.random(SOURCE_SIZE, dtype=np.float32)
idx = random.integers(SOURCE_SIZE, size=INDEX_SIZE, dtype=np.int32)

res = cuda_gather(x, idx)
equal = np.sum(res == x[idx])
print(res.shape)
print(equal)
sys.exit(0 if res.shape == (INDEX_SIZE,) and equal == INDEX_SIZE else 1)
