"""take in a context that is not its device's primary one, as PyCUDA makes."""

import ctypes

import numpy as np
from gather import DeviceArray, take

cuda = ctypes.CDLL("libcuda.so.1")
x = np.arange(1 << 26, dtype=np.float32)
i = np.random.default_rng(0).integers(-x.size, x.size, 1 << 20)
few = i[:1000].copy()
primary = DeviceArray(x)
print((take(primary, i) == x[i]).all(), (take(primary, few) == x[few]).all())
context, current = ctypes.c_void_p(), ctypes.c_void_p()
print(cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0))
d_x = DeviceArray(x)
print((take(d_x, i) == x[i]).all(), (take(d_x, few) == x[few]).all(), (take(x, i) == x[i]).all())
print(cuda.cuCtxGetCurrent(ctypes.byref(current)), current.value == context.value)
address = ctypes.c_uint64(d_x.__cuda_array_interface__["data"][0])
for value in range(1001):  # 60 ms of work, pending on this context's default stream
    error = cuda.cuMemsetD32Async(address, value, ctypes.c_size_t(x.size), None)
print(error, (take(d_x, i).view(np.int32) == value).all())
del d_x
print(cuda.cuCtxDestroy_v2(context), (take(primary, i) == x[i]).all())
