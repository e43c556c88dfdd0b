"""How often a call asks CUDA where memory is, for arrays of this module and of other libraries. (With shim.c.)"""

import concurrent.futures
import ctypes

import numpy as np
from kinds import CudaArray
from gather import DeviceArray, take

shim = ctypes.CDLL(None)
x, i = np.arange(5.0), np.array([1, 4])
with concurrent.futures.ThreadPoolExecutor(8) as threads:  # the first calls of all come at once
    results = [threads.submit(take, x, i) for _ in range(8)]
print(all((result.result() == x[i]).all() for result in results), "pools:", shim.pools_so_far())
for kind in DeviceArray, CudaArray:
    for mode in "raise", "wrap":
        arrays = kind(np.arange(5.0)), kind(np.array([1, 4])), kind(np.zeros(2))
        before = shim.asked_so_far()
        take(*arrays[:2], out=arrays[2], mode=mode)
        print(kind.__name__, mode, shim.asked_so_far() - before)
for name, arrays in ("new out", (x, i)), ("strided", (x[::2], i[::-1])):
    before = shim.asked_so_far()
    take(*arrays, mode="wrap")
    print(name, shim.asked_so_far() - before)
