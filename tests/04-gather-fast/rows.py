"""Elements and rows around the sizes at which the kernel changes its ways, there and back: units of up to 16 bytes, a block's columns, its
rows, the scratch memory, addresses; a bad index at each end; what lies beside a sum stays as it is, to the bit."""

import itertools

import numpy as np
from kinds import PLACES, CudaArray, host, outcome
from gather import DeviceArray, add_at, take
from shown import Shown

random = np.random.default_rng(0)
places = itertools.cycle(itertools.product(PLACES.values(), repeat=3))
turns = itertools.cycle(itertools.product((np.int32, np.int64), ("raise", "wrap", "clip")))
BYTES = *range(1, 18), 24, 31, 32, 33, 48, 100, 2032, 2048, 2064, 5000
COUNTS = 1, 2, 3, 4, 5, 31, 129, 513
ELEMENTS = itertools.product((4, 8), (7, 8, 1023, 1024, 1025, 1028, 16385, 32768, 32769, 270000), range(5))  # places
wrong = checked = 0


def notice(is_right, *what):
    global wrong, checked
    checked += 1
    wrong += not is_right
    if not is_right and wrong < 9:
        print("not as NumPy:", *what)


def indices(n, M, index_type, mode):
    i = random.integers(-M, M, n).astype(index_type)
    return np.maximum(i, 0) if mode == "clip" else i


# ---- take

for row, n, *_ in (*itertools.product(BYTES, COUNTS), *ELEMENTS):
    for outer in (1, 3) if row * n < 20000 else (1,):
        (source_at, index_at, out_at), (index_type, mode) = next(places), next(turns)
        x, i = random.integers(0, 256, (outer, 50, row), np.uint8), indices(n, 50, index_type, mode)
        source, index, out = source_at(x), index_at(i), out_at(np.zeros((outer, n, row), np.uint8))
        right = take(source, index, axis=1, out=out, mode=mode) is out and np.array_equal(host(out), x[:, i])
        notice(right and np.array_equal(host(take(source, index, 1, mode=mode)), x[:, i]), "take", row, n, outer, mode)
        for bad in {0, n // 2, n - 1}:
            j = i.copy()
            j[n - 1] = 99
            j[bad] = 50 + bad
            said = outcome(lambda: take(source, index_at(j), axis=1))
            notice(said == f"IndexError: index {50 + bad} is out of bounds for axis 1 with size 50", said)
base, kept = CudaArray(np.arange(4096, dtype=np.uint8)), np.arange(4096, dtype=np.uint8)
# addresses that are no multiple of a row's units
for skip, row in itertools.product((1, 2, 4, 8), (1, 2, 4, 8, 16, 24)):
    shifted = CudaArray(np.zeros(1, np.uint8), data=(base.address + skip, False), shape=(40, row))
    new = take(shifted, [39, 0, 7], 0).get()
    notice(np.array_equal(new, kept[skip : skip + 40 * row].reshape(40, row)[[39, 0, 7]]), "address", skip, row)
# index and result of elements, at addresses that are no multiple of 16
x, i = random.random(1000, dtype=np.float32), random.integers(-1000, 1000, 1001).astype(np.int32)
d_x, d_i, d_out = DeviceArray(x), CudaArray(i), CudaArray(np.zeros(1001, np.float32))
for far, mode in itertools.product((1, 2), ("raise", "wrap")):
    later_i = CudaArray(i, data=(d_i.address + 4 * far, False), shape=(999,))
    later_out = CudaArray(x, data=(d_out.address + 4 * far, False), shape=(999,))
    for index, out in (later_i, DeviceArray(x[:999])), (CudaArray(i[far : far + 999]), later_out), (later_i, later_out):
        take(d_x, index, out=out, mode=mode)
        written = out.get() if isinstance(out, DeviceArray) else d_out.owner.get()[far : far + 999]
        notice(np.array_equal(written, x[i[far : far + 999]]) and d_out.owner.get()[0] == 0, "shifted", far, mode)

# ---- add_at

for dtype, width, n in itertools.product(
    ("f2", "f4", "f8", "c16", "i4", "u8"), (1, 2, 3, 4, 5, 127, 129), (1, 3, 5, 130)
):
    (target_at, index_at, values_at), (index_type, mode) = next(places), next(turns)
    outer = 1 + n % 2
    x = random.integers(0, 4, (outer, 7, width)).astype(dtype)
    i, v = indices(n, 7, index_type, mode), random.integers(-2, 3, (outer, n, width)).astype(dtype)
    target, index, values = target_at(x), index_at(i), values_at(v)
    np.add.at(x, (slice(None), i), v)
    add_at(target, index, values, axis=1, mode=mode)
    notice(np.array_equal(host(target), x), "add_at", dtype, width, n, mode)
    i[n - 1] = 7
    said = outcome(lambda: add_at(target, index_at(i), values, axis=1))
    notice(
        said == "IndexError: index 7 is out of bounds for axis 1 with size 7" and np.array_equal(host(target), x), said
    )


def bfloat16(a):
    return (a.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


# A half at each end of an array, of which the word's other half is somebody else's; and beside a sum there may lie -0.
for name, code, bits in ("float16", 2, lambda a: a.astype(np.float16).view(np.uint16)), ("bfloat16", 4, bfloat16):
    for first, last, i in itertools.product((0, 1, 2, 3), (6, 7), (0, -1, 2)):
        x = np.array([-0.0, 1, -0.0, np.inf, -0.0, 5, -0.0, 3])
        memory = CudaArray(bits(x))
        target = CudaArray(bits(x[first:last]), data=(memory.address + 2 * first, False), typestr="<f2")
        if name == "bfloat16":  # only DLPack knows it
            there = DeviceArray(bits(x[first:last]))
            target, values = Shown(there, code=code), Shown(DeviceArray(bits(np.array([2.0]))), code=code)
        else:
            values = DeviceArray(np.full(1, 2, np.float16))
        add_at(target, DeviceArray(np.array([i])), values, mode="wrap")
        x[first:last][i] += 2
        now = there.get() if name == "bfloat16" else memory.owner.get()
        notice(np.array_equal(now, bits(x[first:last] if name == "bfloat16" else x)), name, first, last, i)
many = np.zeros(1000, np.int64)
add_at(many, np.zeros(100000, np.int32), np.ones(100000, np.int64))  # all at one place: none is lost
notice(many[0] == 100000 and not many[1:].any(), "many")
print(wrong, "wrong" if checked > 1000 else "of too few")
