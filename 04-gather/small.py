"""A gather that you can check in your head.

Build: make build
Run:   python3 small.py
"""

import numpy as np

from wrapper import cuda_gather

x = np.array([5, 6, 7], np.float32)
idx = np.array([2, 0, -1, -3])
print(cuda_gather(x, idx))
