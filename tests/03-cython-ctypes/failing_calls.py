"""Whichever CUDA call of this stage's modules fails: an exception comes, out is as it was, nothing stays. See failing.py."""

import failing
import four_ways
import multiply
import numpy as np
from cuda_error import CudaError
from device_array import DeviceArray, multiply as on_device


def on_the_device(out):
    d_x = DeviceArray(x)
    on_device(d_x, d_x, d_x)
    return d_x.get()


def way(multiply_by):
    return lambda out: (multiply_by(x, x, out), out)[1]


x = np.full(300, 3, "f")
odd = np.zeros(1201, np.uint8)[1:].view("f")  # at an address that 4 does not divide
MODULES = {
    "multiply": (lambda out: multiply.multiply(x, x, out), x * x, None),
    "multiply, strided out": (lambda out: multiply.multiply(x, x, out), x * x, np.zeros(900, "f")[::-3]),
    "multiply, odd out": (lambda out: multiply.multiply(x, x, out), x * x, odd),
    "DeviceArray": (on_the_device, x * x, None),
}
WAYS = {w: (way(getattr(four_ways, w)), x * x, None) for w in ("by_ctypes", "by_ndpointer", "by_linking", "by_dlopen")}
failing.all_fail(MODULES, (2, 700), (CudaError, MemoryError))
failing.all_fail(WAYS, (700,), CudaError)
failing.none_takes_an_older_error(MODULES | WAYS)
