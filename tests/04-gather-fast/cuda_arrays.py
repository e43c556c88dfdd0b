"""take reads and writes what has a __cuda_array_interface__ in place, and gives one back."""

import numpy as np
from kinds import CudaArray
from gather import take

floats = np.arange(10, dtype=np.float32)
x, i, out = CudaArray(floats), CudaArray(np.array([[3, -1], [0, 4]])), CudaArray(np.zeros((2, 2), np.float32))
new = take(x, i)
print(type(new).__name__, new.get().tolist(), new.__cuda_array_interface__["typestr"], new.shape)
print(take(x, i, out=out) is out, out.owner.get().tolist())  # written where it is
print(type(take(x, np.array([1]))).__name__, type(take(np.arange(3.0), i.owner, mode="wrap")).__name__)
print(take(x, i, out=new, mode="clip") is new, new.get().tolist())
plain = CudaArray(floats, strides=[4], stream=None)  # said out loud: contiguous, and no stream
print(take(plain, i).get().tolist())
one = CudaArray(np.array([[5]]), strides=(800, 16))  # of a single element the stride does not matter
print(
    take(plain, one).get().tolist(),
    take(plain, CudaArray(np.zeros((3, 0), np.int32))),
    take(plain, CudaArray(np.array(7))),
)
