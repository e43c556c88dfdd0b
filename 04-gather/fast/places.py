"""A gather whose arrays lie in pinned memory and on the GPU: nothing is copied for a call.

Build: make build
Run:   python3 places.py
"""

import numpy as np

from gather import DeviceArray, pinned_empty, take

x = np.arange(10, dtype=np.float32)
d_x = DeviceArray(x)  # a copy in the GPU's memory
p_idx, p_out = pinned_empty(5, np.int32), pinned_empty(5, np.float32)
p_idx[...] = [9, 0, -1, 1, 2]
print(take(d_x, p_idx, out=p_out))

d_idx, d_out = DeviceArray(np.array([1, 2])), DeviceArray.empty(2, np.float32)
print(take(d_x, d_idx, out=d_out).get())
