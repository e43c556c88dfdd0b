"""Other Python threads go on while the GPU works: no call of CUDA holds the GIL. (With gil.c.)"""
import numpy as np
from gather import DeviceArray, pin, pinned_empty, take

x, i = np.ones(3, np.float32), np.zeros(2, np.int32)
take(x, i)
pinned_empty(3)
with pin(x):
    pass
try:
    take(np.ones(4), DeviceArray(i))  # "an index is bad", and it is fetched
except IndexError:
    pass
d_x = DeviceArray(x)
take(d_x, i)
d_x.get()
take(d_x, DeviceArray(i), mode="wrap", stream=5)  # launches, and orders streams
del d_x
print("without the GIL")
