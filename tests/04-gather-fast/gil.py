"""Other Python threads go on while the GPU works: no call that waits holds the GIL. (With gil.c.)"""
import numpy as np
from gather import DeviceArray, pin, pinned_empty, take
from wrapper import cuda_gather

x, i = np.ones(3, np.float32), np.zeros(2, np.int32)
take(x, i)
pinned_empty(3)
with pin(x):
    pass
try:
    take(np.ones(4), DeviceArray(i))  # "an index is bad", and it is fetched
except IndexError:
    pass
cuda_gather(x, i)
d_x = DeviceArray(x)
take(d_x, i)
d_x.get()
del d_x
print("without the GIL")
