"""How often a call asks CUDA where memory is, for arrays of this module and of other libraries. (With shim.c.)"""

import ctypes

import numpy as np
from arrays import CudaArray
from gather import DeviceArray, take

shim = ctypes.CDLL(None)
for kind in DeviceArray, CudaArray:
    for mode in "raise", "wrap":
        arrays = kind(np.arange(5.0)), kind(np.array([1, 4])), kind(np.zeros(2))
        before = shim.asked_so_far()
        take(*arrays, mode)
        print(kind.__name__, mode, shim.asked_so_far() - before)
x, i = np.arange(5.0), np.array([1, 4])
for name, arrays in ("new out", (x, i)), ("strided", (x[::2], i[::-1])):
    before = shim.asked_so_far()
    take(*arrays, mode="wrap")
    print(name, shim.asked_so_far() - before)
