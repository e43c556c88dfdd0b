"""Other Python threads go on while the GPU works: no call of CUDA holds the GIL. (With gil.c.)"""

import threading

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


class Stream:  # as an int: the fake library takes long to copy there
    handle, ended = 7, False

    def __cuda_stream__(self):
        return 0, self.handle

    def __del__(self):
        Stream.ended = True


new = take(DeviceArray(x), DeviceArray(i), mode="wrap", stream=Stream())
reader = threading.Thread(target=new.get)
reader.start()
take(DeviceArray(x), DeviceArray(i), new, mode="wrap", stream=6)  # new lies on another stream now
print("the stream lives as long as get() uses it:", reader.is_alive() and not Stream.ended)
reader.join()
print("and no longer:", Stream.ended)
print("without the GIL")
