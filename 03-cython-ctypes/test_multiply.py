"""Multiplies 400 random values on the GPU, in each of the ways of this stage, and compares with NumPy.

Build: make build
Run:   python3 test_multiply.py
"""

import sys

import numpy as np

import four_ways
from device_array import DeviceArray, multiply as multiply_on_device
from multiply import multiply

random = np.random.default_rng(0)
a = random.random(400, dtype=np.float32)
b = random.random(400, dtype=np.float32)
failed = 0


def show(name, result):
    global failed
    equal = np.sum(result == a * b)
    failed += equal != a.size
    print(f"{name}: {equal} of {a.size} equal to NumPy's")


show("multiply(a, b)", multiply(a, b))
for way in four_ways.by_ctypes, four_ways.by_ndpointer, four_ways.by_linking, four_ways.by_dlopen:
    result = np.zeros_like(a)
    way(a, b, result)
    show(f"four_ways.{way.__name__}(a, b, result)", result)
d_a, d_b = DeviceArray(a), DeviceArray(b)
multiply_on_device(d_a, d_b, d_a)
show("two DeviceArrays", d_a.get())
sys.exit(1 if failed else 0)
