"""Sizes around the fours of the kernel, a block, and the scratch memory; arrays in all places; a bad index in each part."""

import itertools

import numpy as np
from kinds import CudaArray, host, outcome, pinned
from gather import DeviceArray, take

random = np.random.default_rng(0)
wrong = 0
PLACES = {"ordinary": np.copy, "pinned": pinned, "device": DeviceArray}


def check(n, index_type, element_type, mode, places):
    """take against NumPy; then with a bad index at the start, within and at the end."""
    global wrong
    x = random.integers(0, 2**31, 1000).astype(element_type)
    i = random.integers(-1000, 1000, n).astype(index_type)
    source, index, out = (PLACES[p](a) for p, a in zip(places, (x, i, np.zeros_like(x, shape=n))))
    expected = x[np.maximum(i, 0)] if mode == "clip" else x[i]
    right = take(source, index, out=out, mode=mode) is out and np.array_equal(host(out), expected)
    wrong += not (right and np.array_equal(host(take(source, index, mode=mode)), expected))
    for bad in {0, n // 2, n - 1}:
        j = i.copy()
        j[n - 1] = 5000  # told only if it is the first
        j[bad] = 1000 + bad
        out = PLACES[places[2]](np.full(n, 7, element_type))
        said = outcome(lambda: take(source, PLACES[places[1]](j), out=out))
        wrong += said != f"IndexError: index {1000 + bad} is out of bounds for axis 0 with size 1000"
        wrong += places[2] == "ordinary" and not (out == 7).all()


types = list(itertools.product((np.int32, np.int64), (np.float32, np.float64)))
for n in 1, 2, 3, 4, 5, 7, 8, 1023, 1024, 1025, 1028, 16385, 32768, 32769, 270000:
    for k, places in enumerate(itertools.product(PLACES, repeat=3)):
        if n > 20000 and (k + n) % 3:
            continue  # of the large ones, a third
        check(n, *types[k % 4], ("raise", "wrap", "clip")[k % 3], places)

# at addresses that are no multiple of 16 the kernel goes one by one
x, i = random.random(1000, dtype=np.float32), random.integers(-1000, 1000, 1001).astype(np.int32)
d_x, d_i, d_out = DeviceArray(x), CudaArray(i), CudaArray(np.zeros(1001, np.float32))
for far in 1, 2:
    later_i = CudaArray(i, data=(d_i.address + 4 * far, False), shape=(999,))
    later_out = CudaArray(x, data=(d_out.address + 4 * far, False), shape=(999,))
    for index, out in (later_i, DeviceArray(x[:999])), (CudaArray(i[far : far + 999]), later_out), (later_i, later_out):
        for mode in "raise", "wrap":
            take(d_x, index, out=out, mode=mode)
            written = out.get() if isinstance(out, DeviceArray) else d_out.owner.get()[far : far + 999]
            wrong += not np.array_equal(written, x[i[far : far + 999]])
    wrong += d_out.owner.get()[0] != 0
print(wrong, "wrong")
