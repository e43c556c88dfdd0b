"""What the libraries of the stages ask CUDA for, with more elements than a machine has room for; gather on stream 5. (With sizes.c.)"""

import ctypes
import os

P, N, I = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
array = P(1 << 45)  # nobody reads what is there


class Job(ctypes.Structure):
    _fields_ = [(f"{name}_{place}", P) for name in ("source", "index", "result") for place in ("host", "device")]
    _fields_ += [("N", N), ("M", N), ("element_bytes", I), ("index_bytes", I), ("mode", I), ("stream", P)]


def take(n, m, element_bytes, index_bytes):
    return ctypes.byref(Job(array, None, array, None, array, None, n, m, element_bytes, index_bytes, 0, 5)), P(
        ctypes.addressof(N())
    )


gather = "04-gather/fast/libgather.so", "gather"
for library, function, arguments in (
    ("02-dlopen-from-c/libvector_add.so", "vector_add", (array, array, I(2**30))),
    ("02-dlopen-from-c/libvector_add.so", "vector_add", (array, array, I(2**31 - 1))),
    ("03-cython-ctypes/libmultiply.so", "multiply", (array, array, array, N(2**32 + 1))),
    ("04-gather/libcuda_index.so", "Gather", (array, array, array, I(2**30), I(2**31 - 1))),
    ("04-gather/libcuda_index.so", "Gather", (array, array, array, I(2**31 - 1), I(2**30))),
    (*gather, take(2**32, 2**33, 4, 8)),
    (*gather, take(2**34 + 3, 2**32, 8, 4)),
):
    call = getattr(ctypes.CDLL(f"{os.environ['TOP']}/{library}"), function)
    print(function, end=":", flush=True)
    print(" ->", call(*arguments), flush=True)
