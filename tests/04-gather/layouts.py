"""Empty, read-only, strided, reversed, unaligned and int64 arrays agree with NumPy."""

import sys

import numpy as np
from wrapper import cuda_gather

x = np.arange(20, dtype=np.float32)
idx = np.array([19, 0, -20, 7, 7, -1], np.int32)
readonly_x, readonly_idx = x.copy(), idx.copy()
readonly_x.flags.writeable = readonly_idx.flags.writeable = False
unaligned = np.frombuffer(b"\0" + x.tobytes(), np.float32, offset=1)
cases = {
    "no index": (x, idx[:0]), "no index, no source": (x[:0], idx[:0]), "read-only": (readonly_x, readonly_idx),
    "strided": (np.repeat(x, 3)[::3], np.repeat(idx, 2)[::2]), "reversed": (x[::-1], idx[::-1]),
    "column": (np.arange(400, dtype=np.float32).reshape(20, 20)[:, 3], idx), "broadcast": (np.broadcast_to(x[3], 20), idx),
    "unaligned": (unaligned, idx), "int64": (x, idx.astype(np.int64)), "int64 strided": (x, idx.astype(np.int64)[::-2]),
}  # fmt: skip
for name, (a, i) in cases.items():
    before = a.copy(), i.copy()
    res = cuda_gather(a, i)
    if not (res.dtype == np.float32 and res.shape == i.shape and np.array_equal(res, a[i])):
        print(name, "is wrong")
    if not (np.array_equal(a, before[0]) and np.array_equal(i, before[1])):
        print(name, "changed an argument")
    if not (res.flags.writeable and res.flags.owndata):
        print(name, "gives no array of its own")
print(len(cases), "looked at; unaligned:", not unaligned.flags.aligned)
held = sys.getrefcount(x), sys.getrefcount(idx)
for _ in range(10):
    cuda_gather(x, idx)
print("nothing holds them:", held == (sys.getrefcount(x), sys.getrefcount(idx)))
