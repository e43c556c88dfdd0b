"""What multiply takes: any shape, strided and transposed arrays, no elements, an array for the result.

Build: make build
Run:   python3 arrays.py
"""

import numpy as np

from multiply import multiply

a = np.arange(200, dtype=np.float32).reshape(20, 10)
print(multiply(a, a).shape, multiply(a, a)[19, 9])
print(multiply(a[::7, ::5], a.T.copy()[::5, ::7].T))  # a strided array times a transposed one

empty = np.zeros((3, 0), np.float32)
print(multiply(empty, empty).shape)

out = np.zeros(3, np.float32)
multiply(np.full(3, 2, np.float32), np.full(3, 3, np.float32), out=out)
print(out)
