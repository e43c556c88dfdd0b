"""What gather() asks CUDA for, on stream 5, with more elements than a machine has room for. (With shims/sizes.c.)"""

import ctypes
import os

P, N, I = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
array = P(1 << 45)  # nobody reads what is there


class Job(ctypes.Structure):
    _fields_ = [(f"{name}_{place}", P) for name in ("source", "index", "result") for place in ("host", "device")]
    _fields_ += [("N", N), ("M", N), ("element_bytes", I), ("index_bytes", I), ("mode", I), ("stream", P)]


gather, bad = ctypes.CDLL(os.environ["ROOM"] + "/libgather.so").gather, ctypes.byref(N())
for n, m, element_bytes, index_bytes in (2**32, 2**33, 4, 8), (2**34 + 3, 2**32, 8, 4):
    job = Job(array, None, array, None, array, None, n, m, element_bytes, index_bytes, 0, 5)
    print(" ->", gather(ctypes.byref(job), bad), flush=True)
