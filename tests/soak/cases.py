"""Drawn calls of take, add_at, cuda_gather and multiply, compared with NumPy.

    cases.py SEED COUNT    so many calls; Hypothesis draws them, and makes one that fails small
    cases.py 'x = ...'     one of them again

A call is a line of Python. It runs twice: with the functions of this repository, and with words of the same meaning
that stay in NumPy. Then results, arguments and exceptions are compared. It is printed before that, in case of a crash.
"""

import functools
import math
import os
import re
import sys

import numpy as np
import soak  # it finds the modules
from gather import DeviceArray, add_at, pinned_empty
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

# ---- Arrays in all layouts: the words of which a line is made


def elements(shape, dtype):
    return (1 + np.arange(math.prod(shape)) % 50000).astype(dtype).reshape(shape)


def few(shape, dtype):
    """Small numbers, whose sums are exact in whichever order."""
    return (elements(shape, "i8") % 3).astype(dtype)


def indices(shape, first, M, step, others):
    """Indices from first to M - 1 in steps; `others`, {position: index}, are put where they say."""
    index = first + np.arange(math.prod(shape)) * step % max(M - first, 1)
    for position, value in others.items():
        index[position] = value
    return index.reshape(shape)


def fill(b, a):
    b[...] = a
    return b


def layout(part):
    """A function that copies an array to a part of memory that `new` makes."""
    return lambda a, new=np.empty: fill(part(a, lambda shape, dtype: fill(new(shape, dtype), np.zeros((), dtype))), a)


def read_only(a, new=np.empty):
    b = LAYOUTS["plain"](a, new)
    b.flags.writeable = False
    return b


LAYOUTS = {
    "plain": layout(lambda a, zeros: zeros(a.shape, a.dtype)),
    "strided": layout(lambda a, zeros: zeros((*a.shape, 2), a.dtype)[..., 1]),
    "reverse": layout(lambda a, zeros: zeros(a.shape, a.dtype)[(..., *[slice(None, None, -1)] * a.ndim)]),
    "fortran": layout(lambda a, zeros: zeros(a.shape[::-1], a.dtype).T),
    "shifted": layout(lambda a, zeros: zeros((a.size + 2,), a.dtype)[1:-1].reshape(a.shape)),  # not at a multiple of 16
    "unaligned": layout(lambda a, zeros: zeros((a.nbytes + 1,), "u1")[1:].view(a.dtype).reshape(a.shape)),
    "read_only": read_only,
}


def pinned(shape, dtype):
    """Of any dtype, also those that pinned_empty refuses."""
    return pinned_empty(math.prod(shape) * np.dtype(dtype).itemsize, "u1").view(dtype).reshape(shape)


class CudaArray:
    """An array of another library, `skip` elements behind the start of its memory."""

    def __init__(self, a, skip=0):
        around = np.zeros(skip, a.dtype)
        self.memory = DeviceArray(np.concatenate([around, a.ravel(), around], dtype=a.dtype))
        interface = self.memory.__cuda_array_interface__
        address = interface["data"][0] + skip * a.itemsize
        self.__cuda_array_interface__ = {**interface, "data": (address, False), "shape": a.shape}


# ---- The same in NumPy. An exception names the argument, with a colon: the rest of its text is not compared.


class OnDevice(np.ndarray):
    """What stands for an array on the device."""


def refuse(is_refused, error, name):
    if is_refused:
        raise error(f"{name}:")


def on_device(a, skip=0):
    refuse(not a.dtype.isnative, TypeError, "array")
    return LAYOUTS["shifted" if skip else "plain"](a).view(OnDevice)


def cuda_array(a, skip=0):
    return on_device(a.view(a.dtype.str), skip)  # which knows no names of fields


def numpy_index(name, source, index, axis, mode):
    """The index, the shape that is taken and the mode, as take and add_at promise it, and in their order."""
    is_on_device, index = type(index) is OnDevice, np.asarray(index)
    refuse(not source.dtype.isnative, TypeError, name)
    refuse(is_on_device and index.dtype not in (np.int32, np.int64), TypeError, "index")
    refuse(index.dtype.kind == "u" and index.size and int(index.max()) >= 2**63, OverflowError, "index")
    refuse(index.dtype.kind == "f" and index.size, TypeError, "index")  # a list with numbers above and below 2**63
    refuse(name == "target" and source.dtype.str[1:] not in ADDED, TypeError, name)
    shape = source.shape or (1,)
    np.empty((0,) * len(shape)).sum(axis)  # AxisError
    M = source.size if axis is None else shape[axis]
    index = np.array(index, np.int64)
    if mode == "wrap":  # numpy.take goes there in steps of the size: that may take years, and of size 0 it never ends
        index, mode = index % max(M, 1), "clip"
    if axis is None or len(shape) == 1:
        return index, index.shape, mode
    k = axis % len(shape)
    return index, shape[:k] + index.shape + shape[k + 1 :], mode


def numpy_take(source, index, axis, out, mode):
    given, (index, shape, mode) = index, numpy_index("source", source, index, axis, mode)
    if out is not None:
        refuse(not out.flags.writeable or out.shape != shape, ValueError, "out")
        refuse(out.dtype != source.dtype, TypeError, "out")
        overlaps = np.shares_memory(out, source) or np.shares_memory(out, np.asarray(given))
        refuse(type(out) is OnDevice and overlaps, ValueError, "out")
    result = np.take(np.array(source), index, axis, mode=mode)
    if out is None and type(source) is OnDevice:
        out = np.empty(shape, source.dtype).view(OnDevice)
    return result if out is None else fill(out, result)


def numpy_add_at(target, index, values, axis, mode):
    refuse(not target.flags.writeable, ValueError, "target")
    given, (index, shape, mode) = index, numpy_index("target", target, index, axis, mode)
    is_on_device = type(values) is OnDevice
    if type(values) in (int, float):
        values = np.array(values, target.dtype)
    refuse(not np.can_cast(values.dtype, target.dtype) or not values.dtype.isnative, TypeError, "values")
    refuse(is_on_device and values.dtype != target.dtype, TypeError, "values")
    refuse(is_on_device and values.shape != shape, ValueError, "values")
    added = np.array(np.broadcast_to(values.astype(target.dtype), shape))
    overlaps = np.shares_memory(target, values) or np.shares_memory(target, np.asarray(given))
    refuse(type(target) is OnDevice and overlaps, ValueError, "target")
    np.take(np.empty(target.shape, "?"), index, axis, mode=mode)  # IndexError
    sums = np.array(target) if axis is not None and target.ndim else np.array(target).ravel()
    if sums.size:
        M = sums.shape[axis or 0]
        at = index % M if mode != "clip" else np.clip(index, 0, M - 1)
        np.add.at(sums, (*[slice(None)] * ((axis or 0) % sums.ndim), at), added)
    target[...] = sums.reshape(target.shape)


def numpy_gather(x, idx):
    refuse(x.dtype != np.float32, TypeError, "x")
    refuse(not isinstance(idx, np.ndarray) or idx.dtype not in (np.int32, np.int64), TypeError, "idx")
    refuse(idx.ndim != 1, ValueError, "idx")
    return x[idx]


def numpy_multiply(a, b, out):
    refuse(a.dtype != np.float32, TypeError, "a")
    refuse(a.shape != b.shape, ValueError, "a and b")
    refuse(out is not None and out.dtype != np.float32, TypeError, "out")
    refuse(out is not None and (out.shape != a.shape or not out.flags.writeable), ValueError, "out")
    return np.asarray(np.multiply(a, b, out))


WORDS = {"elements": elements, "few": few, "indices": indices, **LAYOUTS}
HERE = {**WORDS, "pinned": pinned, "DeviceArray": DeviceArray, "CudaArray": CudaArray,
        "take": soak.take, "add_at": add_at, "cuda_gather": soak.cuda_gather, "multiply": soak.multiply}  # fmt: skip
NUMPY = {**WORDS, "pinned": np.empty, "DeviceArray": on_device, "CudaArray": cuda_array, "take": numpy_take,
         "add_at": numpy_add_at, "cuda_gather": numpy_gather, "multiply": numpy_multiply}  # fmt: skip

# ---- Drawing a line

SIZES = (1, 0, 2, 3, 4, 5, 7, 8, 9, 31, 127, 128, 129, 513)
SHAPES = (*((n,) for n in SIZES), (), (1, 1), (2, 3), (3, 0, 2), (2, 3, 4))
LARGE = ((16384,), (16385,), (32768,), (32769,), (200, 200))  # around what fits into the memory that take keeps
DTYPES = ("f4", "f8", "i4", "i8", "u4", "u8", "c8", "m8[s]", "M8[s]", "S4", "S8", "U1", "U2", "V8",
          "f2", "?", "i1", "u2", "c16", "S3", "V6", "U3", "U4", "V40", "i4, f8, S3")  # fmt: skip
ADDED = ("f4", "f8", "f2", "c8", "c16", "i4", "i8", "u4", "u8")
REFUSED = (">f4", ">c16")
INDEX_DTYPES = ("i1", "i2", "u1", "u2", "u4", "u8", "?", ">i4", ">i8")
FAR = (2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**32, 2**40, 2**63 - 1, -(2**63), 1 - 2**63)
ON_HOST = tuple(f"{name}(%s{new})" for new in ("", ", pinned") for name in LAYOUTS)
ANYWHERE = (*ON_HOST, *["DeviceArray(%s)"] * 3, "CudaArray(%s)", "CudaArray(%s, 1)")


@functools.cache
def mostly(usual, others, times):
    """One of `usual`, `times` as often as one of `others`."""
    weight = max(1, times * len(others) // len(usual))
    return st.sampled_from(usual * weight + others)


@st.composite
def lines(draw):
    function = draw(mostly(("take", "take", "take", "add_at"), ("cuda_gather", "multiply"), 9))
    places = ANYWHERE if function in ("take", "add_at") else ON_HOST
    M = draw(st.sampled_from(SIZES))
    shape = draw(mostly((*SHAPES, *[(M,)] * 5), LARGE, 500))
    usual = {"take": DTYPES, "add_at": ADDED}.get(function, ("f4",))
    dtype = draw(mostly(usual, REFUSED if function == "take" else DTYPES, 50 if function == "take" else 20))
    sizes, axis = (M,), None
    if function in ("take", "add_at"):
        sizes = draw(mostly(((M,),), ((M, 3), (2, M), (3, M, 5), (M, 1, 16), (0, M), (M, 0), (2, 3, 4, M), ()), 1))
        axis = draw(mostly((None, *range(-len(sizes), len(sizes))), (len(sizes), -len(sizes) - 1), 20))
        M = math.prod(sizes) if axis is None else (sizes or (1,))[axis] if -len(sizes) <= axis < len(sizes) else M
    index_dtype = draw(mostly(("i8", "i4"), INDEX_DTYPES, 4))
    x = draw(mostly(("plain(%s)",), places, 1))
    i = draw(mostly(("plain(%s)",), (*places, *["(%s).tolist()"] * 3), 1))
    n, taken = math.prod(shape), shape
    if axis is not None and -len(sizes) <= axis < len(sizes):
        taken = sizes[: axis % len(sizes)] + shape + sizes[axis % len(sizes) + 1 :]
    out_shape = draw(mostly((taken,), SHAPES, 30))
    views = ("x", f"x[:{n}]", f"x[::-1][:{n}]", "i", "i[::-1]")
    out = draw(st.sampled_from((*[None] * 10, *places, *views * 3)))
    if function == "multiply":
        x %= f"elements({shape}, '{dtype}')"
        i = i.removesuffix(".tolist()") % f"elements({out_shape}, 'f4')"
    else:
        other = mostly((M, -M - 1, M + 1), FAR, 1)
        others = draw(st.dictionaries(st.integers(0, n - 1), other, max_size=3)) if n and draw(st.booleans()) else {}
        first, step = draw(st.sampled_from((0, -M))), draw(st.integers(1, 999))
        x %= f"{'few' if function == 'add_at' else 'elements'}({sizes}, '{dtype}')"
        i %= f"indices({shape}, {first}, {M}, {step}, {others}).astype('{index_dtype}')"
    if function == "add_at":
        out = draw(mostly(("plain(%s)", *places), (*["2"] * 3, "-1.5"), 20))
        out = out if "%" not in out else out % f"few({out_shape}, '{draw(mostly((dtype,), ADDED, 30))}')"
    elif out in places:
        out %= f"elements({out_shape}, '{draw(mostly((dtype,), DTYPES, 30))}')"
    elif out and out.startswith("x") and "Array" in x:
        out = "x"
    elif out and out.startswith("i"):  # as elements of the source's dtype
        is_right = np.dtype(dtype).itemsize == np.dtype(index_dtype).itemsize and not re.search("tolist|Array", i)
        out = out.replace("i", f"i.view('{dtype}')") if is_right else None
    mode = draw(mostly(("raise",), ("wrap", "clip"), 1))
    arguments = {
        "take": f"x, i, {axis}, out, '{mode}'",
        "add_at": f"x, i, out, {axis}, '{mode}'",
        "cuda_gather": "x, i",
        "multiply": "x, i, out",
    }
    return f"x = {x}; i = {i}; out = {out}; r = {function}({arguments[function]})"


# ---- Running it


def run(code, words):
    """The variables of a line, and what it raises."""
    names = dict(words)
    try:
        exec(code, names)
        return names, ""
    except Exception as error:
        return names, f"{type(error).__name__}: {error}"


def memory(a):
    """The bytes of an array and of what lies around it, wherever that is."""
    a = a.memory if type(a) is CudaArray else a
    while isinstance(getattr(a, "base", None), np.ndarray):
        a = a.base
    a = a.get() if type(a) is DeviceArray else a
    return a.tobytes() if isinstance(a, (np.ndarray, np.generic)) else repr(a)


def form(a):
    if a is None:
        return "None"
    kind = "device" if type(a) in (DeviceArray, OnDevice) else type(a).__name__
    return f"{kind} of {a.dtype.str}, shape {a.shape}"


def check(line):
    """AssertionError if the line does something else than in NumPy."""
    print(line, flush=True)
    (here, raised), (numpy, expected) = run(line, HERE), run(line, NUMPY)
    if raised.startswith("CudaError"):  # each later call would fail as well: nothing smaller can be looked for
        print(raised, flush=True)
        os._exit(1)
    is_right = raised.startswith(expected) if expected.endswith(":") else raised == expected
    assert is_right, f"it raises {raised or 'nothing'}, NumPy {expected or 'nothing'}"
    # after an IndexError of take, what is out, or shares memory with it, may have any content
    if not raised.startswith("IndexError") or not re.search("(pinned|Array).*take", line):
        for name in {"x", "i", "out"} & here.keys():
            assert memory(here[name]) == memory(numpy[name]), f"{name} differs"
    if not raised:
        r, r_numpy = here["r"], numpy["r"]
        assert (r is here["out"]) == (r_numpy is numpy["out"]), f"it returns {r!r}"
        assert r is here["out"] or (form(r), memory(r)) == (form(r_numpy), memory(r_numpy)), f"{r!r}, NumPy {r_numpy!r}"


if __name__ == "__main__":
    if len(sys.argv) == 2:
        sys.exit(check(sys.argv[1]))
    all_right = settings(max_examples=int(sys.argv[2]), deadline=None, database=None, suppress_health_check=HealthCheck)
    seed(int(sys.argv[1]))(all_right(given(line=lines())(check)))()
