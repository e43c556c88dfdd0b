"""Gather() refuses what makes no sense, and leaves the result alone when an index is bad."""

import ctypes
import os

library = ctypes.CDLL("./libcuda_index.so")
library.Gather.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_int] * 2
source, index = (ctypes.c_float * 3)(10, 11, 12), (ctypes.c_int * 4)(0, 2, -1, -3)
res = (ctypes.c_float * 4)(7, 7, 7, 7)
print(library.Gather(source, index, res, 4, 3), list(res))
index[2], index[3] = 3, -4
res[:] = [7] * 4
print(library.Gather(source, index, res, 4, 3), list(res))
for arguments in [(None, index, res, 4, 3), (source, None, res, 4, 3), (source, index, None, 4, 3),
                  (source, index, res, -1, 3), (source, index, res, 4, -1), (None, None, None, 0, 0)]:  # fmt: skip
    print(library.Gather(*arguments), list(res))
if os.environ["TEST_BACKEND"] == "cuda":  # 2 GiB and more: an int has no room for the bytes
    M = 2**29 + 1
    large, last = (ctypes.c_float * M)(), (ctypes.c_int * 1)(-1)
    large[M - 1] = 7
    if library.Gather(large, last, res, 1, M) != 0 or res[0] != 7:
        print("wrong beyond 2**29 elements")
