"""Other Python threads go on while the GPU works: shims/gil.c tells what calls CUDA here and holds the GIL."""

import device_array
import four_ways
import hello
import multiply
import numpy as np

x = np.ones(3, np.float32)
hello.run_cuda(), hello.run_cuda_dlopen()
device_array.DeviceArray(x).get()  # (its multiply does hold it: it launches, and waits for nothing)
multiply.multiply(x, x)
for way in four_ways.by_ctypes, four_ways.by_ndpointer, four_ways.by_linking, four_ways.by_dlopen:
    way(x, x, np.empty_like(x))
print("all called")
