"""Drawn cases of take, cuda_gather and multiply, compared with NumPy.

    cases.py SEED FIRST LAST    the cases FIRST to LAST - 1, on all cores; the first that fails is made small and printed
    cases.py SEED NUMBER        one case
    cases.py 'x = ...'          the line of Python of a case

A case is a line of Python, and what it is depends on seed and number alone. The line runs twice: with the functions of
this repository, and with words of the same meaning that stay in NumPy. Then results, arguments and exceptions are compared.
"""

import math
import multiprocessing
import os
import random
import re
import signal
import subprocess
import sys

import numpy as np

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path[:0] = [os.path.join(TOP, folder) for folder in ("04-gather/fast", "04-gather", "03-cython-ctypes")]

import gather
from gather import DeviceArray, pinned_empty
from multiply import multiply
from wrapper import cuda_gather

SECONDS = 60  # a thousand cases that take longer hang
AT_ONCE = 20000  # cases of a process: the stand-in keeps a note of all memory that was freed, and becomes slow


# ---- Arrays in all layouts: the words of which a line is made


def elements(shape, dtype):
    return np.arange(1, 1 + math.prod(shape)).astype(dtype).reshape(shape)


def indices(shape, first, M, step, others):
    """Indices from first to M - 1 in steps; `others`, {position: index}, are put where they say."""
    index = first + np.arange(math.prod(shape)) * step % max(M - first, 1)
    for position, value in others.items():
        index[position] = value
    return index.reshape(shape)


def zeros(shape, dtype, new):
    a = new(shape, dtype)
    a[...] = np.zeros((), dtype)
    return a


def plain(a, new=np.empty):
    return fill(zeros(a.shape, a.dtype, new), a)


def fill(b, a):
    b[...] = a
    return b


def strided(a, new=np.empty):
    return fill(zeros((*a.shape, 2), a.dtype, new)[..., 1], a)


def reverse(a, new=np.empty):
    return fill(zeros(a.shape, a.dtype, new)[(slice(None, None, -1),) * a.ndim], a)


def fortran(a, new=np.empty):
    return fill(zeros(a.shape[::-1], a.dtype, new).T, a)


def shifted(a, new=np.empty):
    """One element behind the start of its memory: the address is no multiple of 16."""
    return fill(zeros((a.size + 2,), a.dtype, new)[1:-1].reshape(a.shape), a)


def unaligned(a, new=np.empty):
    return fill(zeros((a.nbytes + 1,), "u1", new)[1:].view(a.dtype).reshape(a.shape), a)


def read_only(a, new=np.empty):
    b = plain(a, new)
    b.flags.writeable = False
    return b


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


# ---- The same in NumPy


class OnDevice(np.ndarray):
    """What stands for an array on the device."""


def on_device(a, skip=0):
    if not a.dtype.isnative:
        raise TypeError
    b = shifted(a) if skip else np.array(a)
    return b.view(OnDevice)


def numpy_take(source, index, out, mode):
    """What take promises, and in its order."""
    is_on_device, index = type(index) is OnDevice, np.asarray(index)
    if not source.dtype.isnative or (is_on_device and index.dtype not in (np.int32, np.int64)):
        raise TypeError
    if index.dtype.kind == "u" and index.size and int(index.max()) >= 2**63:
        raise OverflowError
    if index.dtype.kind == "f" and index.size:  # a list with numbers above and below 2**63
        raise TypeError
    if source.itemsize not in (4, 8):
        raise TypeError
    if out is not None:
        if not out.flags.writeable or out.shape != index.shape:
            raise ValueError
        if out.dtype != source.dtype:
            raise TypeError
        if type(out) is OnDevice and (np.shares_memory(out, source) or np.shares_memory(out, index)):
            raise ValueError
    index = np.array(index, np.int64)
    if mode == "wrap" and source.size:
        index %= source.size  # numpy.take goes there in steps of the size, which may take years
    result = np.take(np.array(source), index, mode=mode)
    if out is None and is_on_device:
        out = np.empty(index.shape, source.dtype).view(OnDevice)
    return result if out is None else fill(out, result)


def numpy_gather(x, idx):
    if x.dtype != np.float32 or not isinstance(idx, np.ndarray) or idx.dtype not in (np.int32, np.int64):
        raise TypeError
    if idx.ndim != 1:
        raise ValueError
    return x[idx]


def numpy_multiply(a, b, out):
    if a.dtype != np.float32:
        raise TypeError
    if a.shape != b.shape:
        raise ValueError
    if out is not None and out.dtype != np.float32:
        raise TypeError
    if out is not None and (out.shape != a.shape or not out.flags.writeable):
        raise ValueError
    return np.asarray(np.multiply(a, b, out))


LAYOUTS = (plain, strided, reverse, fortran, shifted, unaligned, read_only)
WORDS = {f.__name__: f for f in (elements, indices, *LAYOUTS)}
HERE = WORDS | {"pinned": pinned, "DeviceArray": DeviceArray, "CudaArray": CudaArray,
                "take": gather.take, "cuda_gather": cuda_gather, "multiply": multiply}  # fmt: skip
NUMPY = WORDS | {"pinned": np.empty, "DeviceArray": on_device, "CudaArray": on_device,
                 "take": numpy_take, "cuda_gather": numpy_gather, "multiply": numpy_multiply}  # fmt: skip


# ---- A case: options, and the line they make

SIZES = (0, 1, 2, 3, 4, 5, 7, 8, 9, 31, 127, 128, 129, 513)
SHAPES = (*((n,) for n in SIZES), (), (1, 1), (2, 3), (3, 0, 2), (2, 3, 4))
LARGE = ((16384,), (16385,), (32768,), (32769,), (200, 200))  # around what fits into the memory that take keeps
DTYPES = ("f4", "f8", "i4", "i8", "u4", "u8", "c8", "m8[s]", "M8[s]", "S4", "S8", "U1", "U2", "V8")
REFUSED = ("f2", ">f4", "c16", "?")
INDEX_DTYPES = ("i1", "i2", "u1", "u2", "u4", "u8", "?", ">i4", ">i8")
FAR = (2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**32, 2**40, 2**63 - 1, -(2**63), 1 - 2**63)
ON_HOST = [f"{layout.__name__}(%s{new})" for new in ("", ", pinned") for layout in LAYOUTS]
ANYWHERE = ON_HOST + ["DeviceArray(%s)"] * 3 + ["CudaArray(%s)", "CudaArray(%s, 1)"]
SIMPLEST = {"x": "plain(%s)", "i": "plain(%s)", "out": None, "M": 1, "shape": (1,), "first": 0, "step": 1, "others": {},
            "dtype": "f4", "index dtype": "i8", "mode": "raise"}  # fmt: skip


def draw(seed, number):
    r = random.Random(f"{seed} {number}")

    def mostly(usual, p, others):
        return usual if r.random() < p else r.choice(others)

    function = mostly("take", 0.9, ("cuda_gather", "multiply"))
    places = ANYWHERE if function == "take" else ON_HOST
    M = r.choice(SIZES)
    shape = mostly(r.choice(SHAPES), 0.998, LARGE)
    n = math.prod(shape)
    others = [mostly(r.choice((M, -M - 1, M + 1)), 0.5, FAR) for _ in range(r.choice((0, 0, 0, 0, 1, 1, 2, 3)))]
    return {
        "function": function,
        "x": mostly("plain(%s)", 0.4, places),
        "i": mostly(mostly("plain(%s)", 0.4, places), 0.9, ("(%s).tolist()",)),
        "out": mostly(None, 0.3, (*places, "x", f"x[:{n}]", f"x[::-1][:{n}]", "i", "i[::-1]")),
        "M": M,
        "shape": shape,
        "first": r.choice((0, -M)),
        "step": r.randrange(1, 1000),
        "others": {r.randrange(n): other for other in others if n},
        "dtype": mostly(r.choice(DTYPES), 0.98, REFUSED) if function == "take" else mostly("f4", 0.95, DTYPES),
        "index dtype": mostly(r.choice(("i4", "i8")), 0.8, INDEX_DTYPES),
        "out shape": mostly(shape, 0.97, SHAPES),
        "out dtype": mostly("", 0.97, DTYPES),
        "mode": mostly("raise", 0.4, ("raise", "wrap", "clip")),
    }


def line(case):
    """The case as a line of Python."""
    function, shape, dtype, index_dtype = case["function"], case["shape"], case["dtype"], case["index dtype"]
    x, i, out, others = case["x"], case["i"], case["out"], case["others"]
    if function == "multiply":
        x %= f"elements({shape}, '{dtype}')"
        i = i.removesuffix(".tolist()") % f"elements({case['out shape']}, 'f4')"
    else:
        others = {position: index for position, index in others.items() if position < math.prod(shape)}
        x %= f"elements({(case['M'],)}, '{dtype}')"
        i %= f"indices({shape}, {case['first']}, {case['M']}, {case['step']}, {others}).astype('{index_dtype}')"
    if out and "%s" in out:
        out %= f"elements({case['out shape']}, '{case['out dtype'] or dtype}')"
    elif out and out.startswith("x") and "Array" in x:
        out = "x"
    elif out and out.startswith("i"):  # as elements of the source's dtype
        is_right = np.dtype(dtype).itemsize == np.dtype(index_dtype).itemsize and not re.search("tolist|Array", i)
        out = out.replace("i", f"i.view('{dtype}')") if is_right else None
    arguments = {"take": f"x, i, out, '{case['mode']}'", "cuda_gather": "x, i", "multiply": "x, i, out"}
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
    kind = "device" if type(a) in (DeviceArray, OnDevice) else type(a).__name__
    return f"{kind} of {a.dtype.str}, shape {a.shape}"


def difference(text):
    """How the line differs from what it does in NumPy; empty if it does not."""
    code = compile(text, "case", "exec")
    (here, raised), (numpy, expected) = run(code, HERE), run(code, NUMPY)
    if raised.split(":")[0] != expected.split(":")[0] or (expected.startswith("IndexError") and raised != expected):
        return f"it raises {raised or 'nothing'}, NumPy {expected or 'nothing'}"
    is_undefined = raised and re.search("pinned|Array", text)  # what is out, or shares memory with it
    for name in "x", "i", "out":
        if name in here and not is_undefined and memory(here[name]) != memory(numpy[name]):
            return f"{name} differs"
    if raised:
        return ""
    r, r_numpy = here["r"], numpy["r"]
    if (r is here["out"]) != (r_numpy is numpy["out"]):
        return f"it returns {r!r}"
    if r is not here["out"] and (form(r), memory(r)) != (form(r_numpy), memory(r_numpy)):
        return f"{form(r)}: {r.get() if type(r) is DeviceArray else r}; NumPy: {form(r_numpy)}: {r_numpy}"
    return ""


def simpler(case):
    """The same case with one option simpler."""
    for option, value in SIMPLEST.items():
        if case[option] != value:
            yield case | {option: value}
    n = math.prod(case["shape"])
    yield from (case | {"shape": (fewer,), "out shape": (fewer,)} for fewer in (n // 2, n - 1) if 0 < fewer < n)
    yield from (case | {"M": fewer} for fewer in (case["M"] // 2, case["M"] - 1) if 0 < fewer < case["M"])
    yield from (case | {"others": {p: v for p, v in case["others"].items() if p != one}} for one in case["others"])
    yield from (case | {"others": {p // 2: v for p, v in case["others"].items()}} for p in case["others"] if p)


def said_of(text):
    """How a line fails, in a process of its own, which it may end; empty if it does not fail."""
    done = subprocess.run([sys.executable, __file__, text], capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stdout or f"exit status {done.returncode}\n{done.stderr}"


def shrink(case):
    found = True
    while found:
        found = next((c for c in simpler(case) if line(c) != line(case) and said_of(line(c))), None)
        case = found or case
    return line(case)


def work(seed, numbers, at):
    """Runs cases until one fails; at.value: which one."""
    for k, at.value in enumerate(numbers):
        if k % 1000 == 0:
            signal.alarm(SECONDS)
        if difference(line(draw(seed, at.value))):
            sys.exit(1)


def run_cases(seed, first, last):
    fork = multiprocessing.get_context("fork")  # CUDA has not been used yet
    cores = min(os.cpu_count(), 8)
    at = [fork.Value("q", lock=False) for _ in range(cores)]
    for start in range(first, last, cores * AT_ONCE):
        end = min(start + cores * AT_ONCE, last)
        processes = [fork.Process(target=work, args=(seed, range(start + k, end, cores), at[k])) for k in range(cores)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
        for process, number in zip(processes, at):
            if process.exitcode:
                said = failure(seed, number.value)
                sys.exit(f"case {number.value} of seed {seed} fails (exit status {process.exitcode})\n{said}")
    print(f"{last - first} cases as NumPy")


def failure(seed, number):
    """The line of a case that failed, made small."""
    case = draw(seed, number)
    if not said_of(line(case)):
        return f'alone it does not fail: tests/soak/cases.py "{line(case)}"'
    text = shrink(case)
    return f'tests/soak/cases.py "{text}"\n{said_of(text)}'


if __name__ == "__main__":
    if len(sys.argv) == 2:
        sys.exit(difference(sys.argv[1]) or 0)
    first = int(sys.argv[2])
    run_cases(sys.argv[1], first, int(sys.argv[3]) if len(sys.argv) > 3 else first + 1)
