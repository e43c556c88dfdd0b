"""multiply takes any shape and layout, result in a new array or in out."""

import sys
import numpy as np
from multiply import multiply

random = np.random.default_rng(0)


def new(*shape):
    return random.random(shape, dtype=np.float32)


def read_only(x):
    x.flags.writeable = False
    return x


big = new(40, 30, 20)
unaligned = np.frombuffer(new(7).tobytes().rjust(29), np.uint8)[1:].view(np.float32)
assert not unaligned.flags.aligned, "unaligned"
count = 0
PAIRS = [
    (new(400), new(400)), (new(20, 10), new(20, 10)), (new(2, 3, 4, 5), new(2, 3, 4, 5)), (new(1), new(1)), (new(), new()),
    (new(0), new(0)), (new(0, 5), new(0, 5)), (new(5, 0, 2), new(5, 0, 2)), (new(255), new(255)), (new(257), new(257)),
    (big[::2], big[1::2]), (big[:, ::-3], big[:, ::-3]), (big.T, big.T), (big.T, new(20, 30, 40)), (new(20, 30, 40), big.T),
    (np.asfortranarray(new(20, 10)), np.asfortranarray(new(20, 10))), (np.asfortranarray(new(20, 10)), new(20, 10)),
    (read_only(new(9)), read_only(new(9))), (np.broadcast_to(np.float32(3), (4, 5)), new(4, 5)), (unaligned, new(7)),
    (np.full(6, np.nan, np.float32), np.full(6, np.inf, np.float32)),
]  # fmt: skip
for a, b in PAIRS:
    expected = a * b
    kept = a.copy(), b.copy()

    def check(result):
        assert type(result) is np.ndarray and result.dtype == np.float32 and result.shape == a.shape, (result, a.shape)
        assert np.array_equal(result, expected, equal_nan=True), (a, b, result)

    result = multiply(a, b)
    check(result)
    order = "F" if a.flags.fnc and b.flags.fnc else "C"
    assert result.flags[f"{order}_CONTIGUOUS"], ("order", a.strides, b.strides)
    assert not np.shares_memory(result, a) and not np.shares_memory(result, b)
    for out in (
        np.full(a.shape, 7, np.float32),
        np.full(a.shape, 7, np.float32, "F"),
        np.zeros(4 * a.size + 1, np.uint8)[1:].view(np.float32).reshape(a.shape),  # unaligned
        np.full(tuple(2 * n for n in a.shape), 7, np.float32)[tuple(slice(None, None, 2) for _ in a.shape) or ...],
    ):
        assert multiply(a, b, out=out) is out
        check(out)
    assert np.array_equal(a, kept[0], equal_nan=True) and np.array_equal(b, kept[1], equal_nan=True)
    if a.flags.writeable:
        assert multiply(a, b, a) is a  # in place
        check(a)
    count += 1

mine = np.zeros(6, np.float32).view(type("Mine", (np.ndarray,), {}))  # of a subclass, too, out itself is returned
for out in mine[:3], mine[::2]:
    assert multiply(np.ones(3, np.float32), np.ones(3, np.float32), out) is out and (out == 1).all(), out
x = np.arange(10, dtype=np.float32)  # an out that overlaps with an input
multiply(x[:-1], x[:-1], out=x[1:])
assert x.tolist() == [0, 0, 1, 4, 9, 16, 25, 36, 49, 64], x
surroundings = np.full((4, 4), 7, np.float32)  # nothing beside a strided out is written
multiply(np.ones((2, 2), "f"), np.ones((2, 2), "f"), out=surroundings[1:3, 1:3])
assert surroundings.sum() == 12 * 7 + 4, "what surrounds out"
held = sys.getrefcount(x), sys.getrefcount(big)  # nothing holds its arrays after a call
for _ in range(10):
    multiply(x, x), multiply(big[::2], big[1::2])
assert held == (sys.getrefcount(x), sys.getrefcount(big)), held
print(count, "pairs of arrays")
