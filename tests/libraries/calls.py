"""Calls as a user makes them, for mypy: each that is wrong says so with type: ignore, and mypy tells if it is none."""

import device_array
import numpy as np
from gather import DeviceArray, add_at, pin, pinned_empty, take
from multiply import multiply
from numpy.typing import NDArray
from typing_extensions import assert_type
from wrapper import cuda_gather

x: NDArray[np.float32] = np.ones(3, np.float32)
d: NDArray[np.float64] = np.ones(3)
i = np.zeros(2, np.int32)
assert_type(multiply(x, x, out=x), NDArray[np.float32])
multiply(d, x)  # type: ignore[arg-type]
multiply(x)  # type: ignore[call-arg]

on_gpu = device_array.DeviceArray(x)
device_array.multiply(on_gpu, on_gpu, on_gpu)
device_array.multiply(on_gpu, on_gpu)  # type: ignore[call-arg]
device_array.multiply(on_gpu, on_gpu, x)  # type: ignore[arg-type]
on_gpu.shape = ()  # type: ignore[misc]

assert_type(cuda_gather(x, i), NDArray[np.float32])
cuda_gather(x, x)  # type: ignore[arg-type]

source = DeviceArray(d)
assert_type(take(source, i, 0), DeviceArray)
assert_type(take(source, i, out=x), NDArray[np.float32])
assert_type(take([1.0, 2.0], [0], out=DeviceArray.empty((1,), np.float64), mode="wrap", stream=1), DeviceArray)
assert_type(take(source, i, None, x), NDArray[np.float32])
take(source, i, "0")  # type: ignore[call-overload]
add_at(source, i, 1.0)
add_at([1.0], i, 1.0)  # type: ignore[arg-type]
take(source, i, mode="clamp")  # type: ignore[call-overload]
take(source)  # type: ignore[call-overload]
take(source, i, stream="1")  # type: ignore[call-overload]
with pin(d) as pinned:
    assert_type(pinned, NDArray[np.float64])
pinned_empty((2, 3), "f4")[0] = source.get()
pin([1.0])  # type: ignore[type-var]
source.close()  # type: ignore[attr-defined]
