"""Other Python threads go on while the GPU works: shims/gil.c tells what calls CUDA here and holds the GIL."""

import ctypes
import threading

import numpy as np
from gather import DeviceArray, add_at, pin, pinned_empty, take

x, i = np.ones(3, np.float32), np.zeros(2, np.int32)
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
add_at(x, i, 1), add_at(d_x, i, 1), add_at(d_x, DeviceArray(i), DeviceArray(x[:2]), mode="wrap", stream=2)
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
take(DeviceArray(x), DeviceArray(i), out=new, mode="wrap", stream=1)  # new lies on another stream now
print("the stream lives as long as get() uses it:", reader.is_alive() and not Stream.ended)
reader.join()
print("and no longer:", Stream.ended)
