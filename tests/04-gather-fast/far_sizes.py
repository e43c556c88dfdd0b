"""What gather() and gather_add() ask CUDA for, on stream 5, with more elements than a machine has room for. (With shims/sizes.c.)"""

import ctypes
import os

P, N, I = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
array = P(1 << 45)  # nobody reads what is there


class Job(ctypes.Structure):
    _fields_ = [(f"{name}_{place}", P) for name in ("source", "index", "result") for place in ("host", "device")]
    _fields_ += [("outer", N), ("N", N), ("M", N), ("element_bytes", N), ("index_bytes", I), ("mode", I), ("stream", P)]


library, bad = ctypes.CDLL(os.environ["ROOM"] + "/libgather.so"), ctypes.byref(N())
for outer, n, m, element_bytes, index_bytes in (
    (1, 2**32, 2**33, 4, 8), (1, 2**34 + 3, 2**32, 8, 4), (1, 2**33, 2**32, 1, 4),
    (2**33, 5, 3, 4, 8), (1, 2**35, 3, 12, 4), (1, 3, 5, 2**33 + 1, 4), (1, 2**33, 5, 2**14, 4),
):  # fmt: skip
    job = Job(array, None, array, None, array, None, outer, n, m, element_bytes, index_bytes, 0, 5)
    print(" ->", library.gather(ctypes.byref(job), bad), flush=True)
    if element_bytes % 4 == 0:
        print(" add ->", library.gather_add(ctypes.byref(job), 0, bad), flush=True)
