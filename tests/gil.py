"""Other Python threads go on while the GPU works: what calls CUDA here is told by gil.c, if it holds the GIL."""

import ctypes
import threading

import device_array
import four_ways
import hello
import multiply
import numpy as np
from gather import DeviceArray, pin, pinned_empty, take
from wrapper import cuda_gather

x, i = np.ones(3, np.float32), np.zeros(2, np.int32)
hello.run_cuda(), hello.run_cuda_dlopen()
device_array.DeviceArray(x).get()  # (its multiply does hold it: it launches, and waits for nothing)
multiply.multiply(x, x), cuda_gather(x, i)
for way in four_ways.by_ctypes, four_ways.by_ndpointer, four_ways.by_linking, four_ways.by_dlopen:
    way(x, x, np.empty_like(x))

take(x, i), pinned_empty(3)
with pin(x):
    pass
try:
    take(x, DeviceArray(i + 3))  # a bad index, and it is fetched
except IndexError:
    pass
d_x = DeviceArray(x)
take(d_x, i), d_x.get()
take(d_x, DeviceArray(i), mode="wrap", stream=2)  # launches, and orders streams
del d_x


class Stream:  # where a copy takes long
    handle, ended = ctypes.c_void_p(), False

    def __cuda_stream__(self):
        return 0, self.handle.value

    def __del__(self):
        Stream.ended = True


ctypes.CDLL("libcpu_cuda.so").cudaStreamCreate(ctypes.byref(Stream.handle))
new = take(DeviceArray(x), DeviceArray(i), mode="wrap", stream=Stream())
reader = threading.Thread(target=new.get)
reader.start()
take(DeviceArray(x), DeviceArray(i), new, mode="wrap", stream=1)  # new lies on another stream now
print("the stream lives as long as get() uses it:", reader.is_alive() and not Stream.ended)
reader.join()
print("and no longer:", Stream.ended)
