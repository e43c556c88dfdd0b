"""Compares gather.take with numpy.take: every mode and dtype, shapes of the index, places of the arrays; and rows.

Build: make build
Run:   python3 test_take.py
"""

import itertools
import sys

import numpy as np

from gather import DeviceArray, add_at, pin, pinned_empty, take

random = np.random.default_rng(0)
DTYPES = [np.float32, np.float64, np.int32, np.int64, np.uint32, np.uint64, np.complex64, "M8[s]"]
SHAPES = [(1000,), (257,), (1,), (), (0,), (20, 10), (3, 0, 2), (2, 3, 4, 5)]


def pinned(x):
    copy = pinned_empty(x.shape, x.dtype)
    copy[...] = x
    return copy


def host(x):
    return x.get() if isinstance(x, DeviceArray) else x


PLACES = {"ordinary": lambda x: x, "pinned": pinned, "device": DeviceArray}


def outcome(call):
    """What a call returns, or the IndexError it raises."""
    try:
        return call()
    except IndexError as error:
        return str(error)


def agree(source, index, mode, places):
    """True if take answers as numpy.take does, without out and with it."""
    x, i = PLACES[places[0]](source), PLACES[places[1]](index)
    out = PLACES[places[2]](np.zeros(index.shape, source.dtype))
    expected = outcome(lambda: np.take(source, index, mode=mode))
    new, given = outcome(lambda: take(x, i, mode=mode)), outcome(lambda: take(x, i, None, out, mode))
    if isinstance(expected, str):
        return new == given == expected
    kind = DeviceArray if places[0] == "device" else type(expected)  # of one index: a number
    right = type(new) is kind and given is out and new.dtype == given.dtype == source.dtype
    return right and all(host(r).shape == index.shape and host(r).tobytes() == expected.tobytes() for r in (new, given))


def rows_agree(source, index, place):
    """True if take and add_at are right for rows of three elements, of a matrix that lies there."""
    x, i, where = np.stack([source, source[::-1], source], 1), index % len(source), PLACES[place]
    target, values = where(x), np.ones((*i.shape, 3), x.dtype)
    right = np.array_equal(host(take(target, where(i), axis=0)), x[i])
    np.add.at(x, i, values)
    add_at(target, where(i), where(values))
    return right and np.array_equal(host(target), x)


def main():
    checked = failed = 0
    for dtype, shape, mode in itertools.product(DTYPES, SHAPES, ("raise", "wrap", "clip")):
        for index_dtype, size, far in (np.int32, 100, 0), (np.int64, 3, 1), (np.int64, 70000, 0):
            source = random.integers(0, 256, size * 8, np.uint8)
            source = source[: size * np.dtype(dtype).itemsize].view(dtype)
            index = random.integers(-size, size, shape).astype(index_dtype)
            if far and index.size:  # some indices outside, one of them beyond 32 bits
                index.flat[:: index.size // 2 + 1] += 5
                index.flat[-1] = 2**32 if mode != "wrap" else 2**20  # NumPy wraps step by step
            where = [str(place) for place in random.choice(list(PLACES), 3)]  # of source, index and out
            checked += 1
            if not agree(source, index, mode, where):
                failed += 1
                print("not as numpy.take:", np.dtype(dtype), shape, mode, np.dtype(index_dtype), size, far, where)
    x = random.random(100000, dtype=np.float32)
    index = random.integers(0, 100000, 1000)
    for place in PLACES:
        failed += not rows_agree(random.integers(0, 9, 1000).astype(np.float32), index, place)
    with pin(x):
        failed += not np.array_equal(take(x, index), x[index])
    print(f"{checked + 1 - failed} of {checked + 1} as numpy.take")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
