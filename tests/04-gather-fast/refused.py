"""What take cannot take is refused, in NumPy's words where NumPy has some."""
import copy

import numpy as np
from arrays import outcome
from gather import DeviceArray, pin, pinned_empty, take

x, i = np.arange(5, dtype=np.float32), np.array([1, 2])
read_only = np.zeros(2, np.float32)
read_only.flags.writeable = False
masked = np.ma.masked_array
for call in [
    lambda: take(x, [5]),
    lambda: take(x, [0, -6]),
    lambda: take(x, np.array([2**40])),
    lambda: take(x[:0], [0], mode="wrap"),
    lambda: take(x, i, mode="huh"),
    lambda: take(x.reshape(5, 1), i),
    lambda: take(x.astype(np.float16), i),
    lambda: take(np.array([1, None]), i),
    lambda: take(x.astype(">f4"), i),
    lambda: take(x, [1.5]),
    lambda: take(x, np.array([2**63], np.uint64)),
    lambda: take(x, [2**64 - 1], mode="wrap"),
    lambda: take(x, np.array([2**64 - 1], ">u8"), mode="clip"),
    lambda: take(x, i, np.zeros(3, np.float32)),
    lambda: take(x, i, np.zeros(2)),
    lambda: take(x, i, read_only),
    lambda: take(x, i, [0, 0]),
    lambda: take(masked(x), i),
    lambda: take(x, masked(i)),
    lambda: take(x, i, stream="1"),
    lambda: pin([1]),
    lambda: pin(x[::2]),
    lambda: DeviceArray(np.array([None])),
    lambda: DeviceArray(masked(x)),
    lambda: DeviceArray(None),
    lambda: DeviceArray(),
    lambda: DeviceArray.empty(4, object),
    lambda: DeviceArray.empty(2**61 + 1, np.float64),
    lambda: DeviceArray.empty((3, 6148914691236517206)),
    lambda: DeviceArray.empty(-1),
    lambda: DeviceArray.empty((2.5,)),
    lambda: pinned_empty(4, [("a", "O")]),
    lambda: pinned_empty(2**62),
    lambda: pinned_empty(2**64),
    lambda: type("Mine", (DeviceArray,), {}),
    lambda: copy.copy(DeviceArray(x)),
    lambda: np.asarray(DeviceArray(x)),
    lambda: DeviceArray(x) + x,
    lambda: DeviceArray(DeviceArray(x)),
]:
    print(outcome(call))
