"""How often a call asks CUDA where memory is; what lies on another GPU than the current one is refused. (With shims/devices.c.)"""

import concurrent.futures
import ctypes

import numpy as np
from kinds import CudaArray, outcome
from gather import DeviceArray, take

shim = ctypes.CDLL(None)
x, i = np.arange(5.0), np.array([1, 4])
with concurrent.futures.ThreadPoolExecutor(8) as threads:  # the first calls of all come at once
    results = [threads.submit(take, x, i) for _ in range(8)]
print(all((result.result() == x[i]).all() for result in results), "pools:", shim.pools_so_far())
for kind in DeviceArray, CudaArray:
    for mode in "raise", "wrap":
        arrays = kind(x), kind(i), kind(np.zeros(2))
        before = shim.asked_so_far()
        take(*arrays[:2], out=arrays[2], mode=mode)
        print(kind.__name__, mode, shim.asked_so_far() - before)
for name, arrays in ("new out", (x, i)), ("strided", (x[::2], i[::-1])):
    before = shim.asked_so_far()
    take(*arrays, mode="wrap")
    print(name, shim.asked_so_far() - before)

here, i_here = DeviceArray(x), DeviceArray(i)
print(take(here, i).get())
shim.make_current(1)
out = DeviceArray(np.zeros(2))
print(outcome(lambda: take(here, i)))
print(outcome(lambda: take(x, i_here)))
shim.make_current(0)
print(outcome(lambda: take(here, i, out=out)))
print(outcome(lambda: take(here, i_here, mode="wrap")), take(here, i_here, mode="wrap").get())
# The default stream is one of each GPU's: what is pending for an array is on that of its own, whichever is current.
for work in out.get, lambda: out.__dlpack__(stream=2):
    work()
    print("of GPU", shim.gpu_of_last_work(), "while another is current:", outcome(lambda: take(here, i)))
shim.lies_on(1)
print(outcome(lambda: take(CudaArray(x), i)))
