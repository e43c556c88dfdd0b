"""What is not taken is refused, by name: what came and what is taken."""
import numpy as np
from wrapper import cuda_gather

x, idx = np.zeros(4, np.float32), np.zeros(2, np.int32)
for a, i in [
    ([1.0], idx), (None, idx), (x.astype(np.float64), idx), (x.astype(">f4"), idx), (x.reshape(2, 2), idx), (np.float32(1), idx),
    (x, [0]), (x, None), (x, idx.astype(np.uint64)), (x, idx.astype(bool)), (x, idx.astype(float)), (x, idx.reshape(1, 2)),
    (x, np.array(1, np.int32)), (np.ma.array(x, mask=[0, 1, 0, 0]), idx), (np.broadcast_to(x[0], 2**31), idx),
    (x, np.broadcast_to(idx[0], 2**31)),
]:  # fmt: skip
    try:
        print("NOT REFUSED", cuda_gather(a, i))
    except (TypeError, ValueError) as error:
        print(type(error).__name__, error, sep=": ")
