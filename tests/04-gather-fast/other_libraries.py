"""Arrays of CuPy and PyTorch go in and come out where they are, in the order of their streams."""

import cupy
import numpy as np
import torch
from gather import take

x, i = np.arange(1000, dtype=np.float32), np.random.default_rng(0).integers(-1000, 1000, 5000)
expected = x[i]
for name, up, down, pointer in [
    ("CuPy", cupy.asarray, cupy.asnumpy, lambda a: a.data.ptr),
    ("PyTorch", lambda a: torch.from_numpy(a).cuda(), lambda a: a.cpu().numpy(), lambda a: a.data_ptr()),
]:
    s, idx, out = up(x), up(i), up(np.zeros(5000, np.float32))
    before = pointer(out)
    print(name, take(s, idx, out) is out and pointer(out) == before and np.array_equal(down(out), expected))
    out = up(np.zeros(5000, np.float32))
    take(s, idx, out, mode="wrap")
    print(np.array_equal(down(out), expected))
    new = take(s, idx)
    there = cupy.asarray(new) if name == "CuPy" else torch.as_tensor(new, device="cuda")
    print(pointer(there) == new.__cuda_array_interface__["data"][0] and np.array_equal(down(there), expected))
stream = cupy.cuda.Stream(non_blocking=True)
with stream:
    s = cupy.arange(1 << 24, dtype=cupy.float32) * 2  # pending on that stream
    idx = cupy.arange(1 << 24, dtype=cupy.int32)
    new = take(s, idx, mode="clip")
print("order kept", bool((new.get() == np.arange(1 << 24, dtype=np.float32) * 2).all()))
with cupy.cuda.Stream.ptds:  # the per-thread stream
    s = cupy.zeros(1 << 28, cupy.float32)
    take(s, np.zeros(1 << 20, np.int32), stream=2)
    for _ in range(100):  # 50 ms of work
        s += 1
    new = take(s, np.zeros(1 << 20, np.int32), stream=2)
print("order kept", bool((new == 100).all()))
