"""take() with NumPy arrays, with an index of two dimensions, in its three modes, of rows, and of an array on the GPU.

Build: make build
Run:   python3 example.py
"""

import numpy as np

from gather import DeviceArray, take

x = np.arange(10.0)
print(take(x, [[9, -1], [0, 3]]))
print(take(x, [12, -11], mode="wrap"), take(x, [12, -11], mode="clip"))
print(take(x.reshape(5, 2), [4, 0], axis=0))  # rows
d_x = DeviceArray(x)  # uploaded once
print(take(d_x, [1, 2]).get())
try:
    take(x, [5, 10])
except IndexError as error:
    print(error)
