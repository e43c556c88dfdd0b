"""A DeviceArray is squared five times: all stays on the GPU until get().

Build: make build
Run:   python3 squares.py
"""

import numpy as np

from device_array import DeviceArray, multiply

d_x = DeviceArray(np.full(4, 2, np.float32))
for _ in range(5):
    multiply(d_x, d_x, d_x)
print(d_x, d_x.get())
