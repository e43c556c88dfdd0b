"""What lies on another GPU than the current one is refused; what lies in the host's memory is not. (With shim.c.)"""

import ctypes

import numpy as np
from kinds import CudaArray, outcome
from gather import DeviceArray, take

shim = ctypes.CDLL(None)
x, i = np.arange(5.0), np.array([1, 4])
here, i_here = DeviceArray(x), DeviceArray(i)
print(take(here, i).get())
shim.make_current(1)
out = DeviceArray.empty(2, np.float64)
print(outcome(lambda: take(here, i)))
print(outcome(lambda: take(x, i_here)))
shim.make_current(0)
print(outcome(lambda: take(here, i, out=out)))
print(outcome(lambda: take(here, i_here, mode="wrap")), take(here, i_here, mode="wrap").get())
shim.lies_on(1)
print(outcome(lambda: take(CudaArray(x), i)))
