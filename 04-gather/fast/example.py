"""take() with NumPy arrays, with an index of two dimensions, in its three modes, and with arrays on the GPU.

Build: make build
Run:   python3 example.py
"""

import numpy as np

from gather import DeviceArray, take

x = np.arange(10.0)
print(take(x, [[9, -1], [0, 3]]))
print(take(x, [12, -11], mode="wrap"), take(x, [12, -11], mode="clip"))
d_x = DeviceArray(x)  # uploaded once
print(take(d_x, [1, 2]), take(d_x, DeviceArray(np.array([3, 4]))).get())
try:
    take(x, [5, 10])
except IndexError as error:
    print(error)
