"""What can go wrong, and what you see: the rows of the tables in 04-gather/WHAT_CAN_GO_WRONG.md.

what_can_go_wrong.py        runs each row, and compares what it gives with the row, and the page with the rows
what_can_go_wrong.py page   prints the tables, for the page

A row: code of one line, what comes (an exception, or what a Python prompt prints), what to do.
"""
import contextlib
import io
import pathlib
import re
import sys

PAGE = pathlib.Path(__file__).resolve().parents[2] / "04-gather/WHAT_CAN_GO_WRONG.md"
BEGIN, END = "<!-- rows -->\n", "<!-- end of rows -->\n"

NAMES = """\
import copy
import numpy as np
from gather import DeviceArray, pin, pinned_empty, take
from wrapper import cuda_gather

x = np.arange(5, dtype=np.float32)
i = np.array([1, 2])
big = np.arange(1 << 20, dtype=np.float32)
d_x, d_i = DeviceArray(x), DeviceArray(i)
read_only = np.zeros(2, np.float32)
read_only.flags.writeable = False

class Other:  # d_x, as another library would show it, but for some changes
    def __init__(self, **changes):
        self.__cuda_array_interface__ = {**d_x.__cuda_array_interface__, **changes}

class Stream:  # a stream of another library
    def __init__(self, *handle):
        self.handle = handle
    def __cuda_stream__(self):
        return self.handle
"""

ONE_ROW = "`.ravel()` makes one row of elements of it"
FLOAT32 = "`.astype(np.float32)`. The numbers lose digits, so it is your decision"
INTEGERS = "`.astype(np.int64)`, if they are whole numbers"
TOO_MANY = "do it in parts, or use `take`"
IN_RANGE = 'look where the index comes from; or `take` with `mode="wrap"` or `mode="clip"`'
ARRAY = "`np.array(...)` makes an array of it"
NATIVE = "`.astype(np.float32)`: the same numbers in this machine's byte order"
NUMBERS = "an array of Python objects has no numbers that C can read: give a dtype"
NO_MASK = "`.filled(value)` puts a value of yours in place of what is masked"
NEW_OUT = "let `out` be `np.empty(index.shape, source.dtype)`, or leave it out"
MAY_WRITE = "another `out`, or `out.copy()`"
GET = "`d_x.get()` copies it into a NumPy array"
LIBRARY = "the library that made the array says something wrong of it: report it there"
CONTIGUOUS = "make it contiguous: `cupy.ascontiguousarray(a)`, `tensor.contiguous()`"
STREAM = "`cupy_stream.ptr`, `torch_stream.cuda_stream`"
SMALLER = "take a smaller shape"
WHOLE = "pin the whole array, or nothing of it"

GROUPS = {
    "`cuda_gather(x, idx)`": [
        ("cuda_gather(x, np.array([0, 5]))", "IndexError: index 5 is out of bounds for axis 0 with size 5", IN_RANGE),
        ("cuda_gather(x, np.array([-6]))", "IndexError: index -6 is out of bounds for axis 0 with size 5", IN_RANGE),
        ("cuda_gather(x, np.array([2**32]))", "IndexError: index 4294967296 is out of bounds for axis 0 with size 5", IN_RANGE),
        ("cuda_gather(x[:0], i)", "IndexError: index 1 is out of bounds for axis 0 with size 0", "an empty source has nothing to pick"),
        ("cuda_gather([1.0], i)", "TypeError: x: a NumPy array of float32 is taken, not list", ARRAY),
        ("cuda_gather(None, i)", "TypeError: x: a NumPy array of float32 is taken, not NoneType", ARRAY),
        ("cuda_gather(np.float32(1), i)", "TypeError: x: a NumPy array of float32 is taken, not float32", ARRAY),
        ("cuda_gather(np.ma.array(x, mask=x > 2), i)", "TypeError: x: a NumPy array of float32 is taken, not MaskedArray", NO_MASK),
        ("cuda_gather(x.astype(float), i)", "TypeError: x: float32 is taken, not float64", FLOAT32),
        ('cuda_gather(x.astype(">f4"), i)', "TypeError: x: float32 is taken, not >f4", NATIVE),
        ("cuda_gather(x.reshape(5, 1), i)", "ValueError: x: one dimension is taken, not 2", ONE_ROW),
        ("cuda_gather(np.broadcast_to(x[0], 2**31), i)", "ValueError: x: at most 2147483647 elements are taken, not 2147483648", TOO_MANY),
        ("cuda_gather(x, [0])", "TypeError: idx: a NumPy array of int32 or int64 is taken, not list", ARRAY),
        ("cuda_gather(x, None)", "TypeError: idx: a NumPy array of int32 or int64 is taken, not NoneType", ARRAY),
        ("cuda_gather(x, i.astype(np.uint64))", "TypeError: idx: int32 or int64 is taken, not uint64", INTEGERS),
        ("cuda_gather(x, i.astype(float))", "TypeError: idx: int32 or int64 is taken, not float64", INTEGERS),
        ("cuda_gather(x, x > 2)", "TypeError: idx: int32 or int64 is taken, not bool", "`np.flatnonzero(x > 2)` gives the positions"),
        ("cuda_gather(x, i.reshape(1, 2))", "ValueError: idx: one dimension is taken, not 2", ONE_ROW),
        ("cuda_gather(x, np.array(1))", "ValueError: idx: one dimension is taken, not 0", ONE_ROW),
        ("cuda_gather(x, np.broadcast_to(i[0], 2**31))", "ValueError: idx: at most 2147483647 elements are taken, not 2147483648", TOO_MANY),
    ],
    "`take`: source and index": [
        ("take(x, [5])", "IndexError: index 5 is out of bounds for axis 0 with size 5", IN_RANGE),
        ("take(x, [0, -6])", "IndexError: index -6 is out of bounds for axis 0 with size 5", IN_RANGE),
        ("take(x, np.array([2**40]))", "IndexError: index 1099511627776 is out of bounds for axis 0 with size 5", IN_RANGE),
        ("take(d_x, DeviceArray(np.array([0, 5])))", "IndexError: index 5 is out of bounds for axis 0 with size 5", IN_RANGE),
        ('take(x[:0], [0], mode="wrap")', "IndexError: cannot do a non-empty take from an empty axes.", "an empty source has nothing to pick"),
        ("take(x.reshape(5, 1), i)", "ValueError: source: one dimension is taken, not 2", ONE_ROW),
        ("take(x.astype(np.float16), i)", "TypeError: source: a dtype of 4 or 8 bytes is taken, not float16", "`.astype(np.float32)`"),
        ('take(x.astype(">f4"), i)', "TypeError: source: numbers in this machine's byte order are taken, not >f4", NATIVE),
        ("take(np.array([1, None]), i)", "TypeError: source: numbers in this machine's byte order are taken, not object", NUMBERS),
        ("take(None, i)", "TypeError: source: numbers in this machine's byte order are taken, not object", ARRAY),
        ("take(np.ma.array(x, mask=x > 2), i)", "TypeError: source: an array without a mask is taken", NO_MASK),
        ("take(x, None)", "TypeError: index: numbers in this machine's byte order are taken, not object", ARRAY),
        ("take(x, [1.5])", "TypeError: index: int32 or int64 is taken, not float64", INTEGERS),
        ("take(x, DeviceArray(x))", "TypeError: index: int32 or int64 is taken, not float32", INTEGERS),
        ("take(x, np.ma.array(i))", "TypeError: index: an array without a mask is taken", NO_MASK),
        ("take(x, np.array([2**63], np.uint64))", "OverflowError: index: 9223372036854775808 does not fit into int64", IN_RANGE),
        ('take(x, [2**64 - 1], mode="wrap")', "OverflowError: index: 18446744073709551615 does not fit into int64", IN_RANGE),
        ('take(x, np.array([2**64 - 1], ">u8"), mode="clip")', "OverflowError: index: 18446744073709551615 does not fit into int64", IN_RANGE),
    ],
    "`take`: out, mode, stream": [
        ("take(x, i, np.zeros(3, np.float32))", "ValueError: out: the shape of index, (2,), is taken, not (3,)", NEW_OUT),
        ("take(x, i, np.zeros(2))", "TypeError: out: float32 is taken, as the source has, not float64", NEW_OUT),
        ("take(x, i, read_only)", "ValueError: out: a writeable array is taken", MAY_WRITE),
        ("take(x, i, [0, 0])", "ValueError: out: a writeable array is taken", NEW_OUT),
        ("take(d_x, DeviceArray(np.arange(5)), out=d_x)", "ValueError: out: it overlaps with source or index", "another `out`"),
        ('take(x, i, mode="huh")', "ValueError: clipmode must be one of 'clip', 'raise', or 'wrap' (got 'huh')", "one of the three words"),
        ("take(x, i, mode=[])", "ValueError: clipmode must be one of 'clip', 'raise', or 'wrap' (got [])", "one of the three words"),
        ('take(x, i, stream="1")', "TypeError: stream: an int or what has __cuda_stream__() is taken, not '1'", STREAM),
        ("take(x, i, stream=-1)", "ValueError: stream: -1 is no stream", STREAM),
        ("take(x, i, stream=2**64)", "ValueError: stream: 18446744073709551616 is no stream", STREAM),
        ("take(x, i, stream=Stream())", "TypeError: stream: an int or what has __cuda_stream__() is taken, not <Stream object at 0x…>", LIBRARY),
        ('take(x, i, stream=Stream(0, "1"))', "TypeError: stream: an int or what has __cuda_stream__() is taken, not <Stream object at 0x…>", LIBRARY),
    ],
    "`DeviceArray`": [
        ("np.asarray(d_x)", "TypeError: DeviceArray: NumPy cannot read the GPU's memory; get() copies it into an array", GET),
        ("d_x + x", "TypeError: DeviceArray: NumPy cannot read the GPU's memory; get() copies it into an array", GET),
        ("DeviceArray(d_x)", "TypeError: DeviceArray: NumPy cannot read the GPU's memory; get() copies it into an array", "`d_x` itself, or `DeviceArray(d_x.get())`"),
        ("copy.copy(d_x)", "TypeError: no default __reduce__ due to non-trivial __cinit__", "`DeviceArray(d_x.get())`"),
        ("class Mine(DeviceArray): pass", "TypeError: type 'gather.DeviceArray' is not an acceptable base type", "a class that has a DeviceArray, and is none"),
        ("DeviceArray()", "TypeError: __cinit__() takes exactly 1 positional argument (0 given)", "`DeviceArray.empty(shape, dtype)`"),
        ("DeviceArray(None)", "TypeError: array: numbers in this machine's byte order are taken, not object", ARRAY),
        ("DeviceArray(np.array([None]))", "TypeError: array: numbers in this machine's byte order are taken, not object", NUMBERS),
        ("DeviceArray(np.ma.array(x))", "TypeError: array: an array without a mask is taken", NO_MASK),
        ("DeviceArray.empty(4, object)", "TypeError: dtype: numbers in this machine's byte order are taken, not object", NUMBERS),
        ('DeviceArray.empty(4, "huh")', "TypeError: dtype: 'huh' is no dtype", "for example `np.float32`"),
        ("DeviceArray.empty(-1)", "ValueError: shape: negative dimensions are not allowed", SMALLER),
        ("DeviceArray.empty((2.5,))", "TypeError: shape: a shape of integers is taken, not (2.5,)", "`int(n)`"),
        ("DeviceArray.empty(None)", "TypeError: shape: a shape of integers is taken, not None", "`()` is the shape of a single element"),
        ("DeviceArray.empty(2**61 + 1, np.float64)", "ValueError: shape: (2305843009213693953,) is too big", SMALLER),
        ("DeviceArray.empty((3, 6148914691236517206))", "ValueError: shape: (3, 6148914691236517206) is too big", SMALLER),
        ("DeviceArray.empty(2**50)", "MemoryError: the GPU has no room for these arrays (4503599627370496 bytes)", "free other arrays; look at `nvidia-smi`; or pin the array and leave it where it is"),
    ],
    "`pinned_empty` and `pin`": [
        ("pinned_empty(2**62)", "ValueError: shape: (4611686018427387904,) is too big", SMALLER),
        ("pinned_empty(2**64)", "ValueError: shape: (18446744073709551616,) is too big", SMALLER),
        ("pinned_empty((2**62, 0))", "ValueError: shape: (4611686018427387904, 0) is too big", SMALLER),
        ('pinned_empty("4")', "TypeError: shape: a shape of integers is taken, not '4'", "`int(n)`"),
        ('pinned_empty(4, [("a", "O")])', "TypeError: dtype: numbers in this machine's byte order are taken, not [('a', 'O')]", NUMBERS),
        ("pin([1])", "TypeError: x: a contiguous NumPy array is taken", ARRAY),
        ("pin(x[::2])", "TypeError: x: a contiguous NumPy array is taken", "pin the array that it is a part of"),
        ("with pin(big), pin(big): pass", "CudaError: CUDA error 712, cudaErrorHostMemoryAlreadyRegistered: part or all of the requested memory range is already mapped", "pin an array once, around all calls"),
        ("with pin(big[:1000]): take(big, d_i)", "ValueError: source: it is pinned only in part, and CUDA does not copy that: pin the whole array", WHOLE),
        ("with pin(big[:1000]), pin(big[-1000:]): take(big, d_i)", "ValueError: source: it is pinned only in part, and CUDA does not copy that: pin the whole array", WHOLE),
    ],
    "Arrays of other libraries": [
        ("take(Other(shape=(2**40,)), i)", "ValueError: source: there are not 4398046511104 bytes of CUDA memory at its address, 0x…", LIBRARY),
        ("take(Other(data=(4096, False)), i)", "ValueError: source: there are not 20 bytes of CUDA memory at its address, 0x…", LIBRARY),
        ("take(Other(data=(x.ctypes.data, False)), i)", "ValueError: source: there are not 20 bytes of CUDA memory at its address, 0x…", LIBRARY),
        ("take(Other(data=(2**64 - 4, False)), i)", "ValueError: source: there are not 20 bytes of CUDA memory at its address, 0x…", LIBRARY),
        ("take(Other(data=(-4, False)), i)", "ValueError: source: -4 is no address", LIBRARY),
        ("take(Other(data=None), i)", "TypeError: source: its __cuda_array_interface__ is no dict with typestr, shape, data and good strides", LIBRARY),
        ("take(Other(strides=4), i)", "TypeError: source: its __cuda_array_interface__ is no dict with typestr, shape, data and good strides", LIBRARY),
        ("take(Other(strides=(8,), shape=(2,)), i)", "ValueError: source: a contiguous CUDA array is taken", CONTIGUOUS),
        ("take(Other(strides=()), i)", "ValueError: source: a contiguous CUDA array is taken", LIBRARY),
        ("take(x, i, Other(data=(0, True), shape=(2,)))", "ValueError: out: a writeable array is taken", MAY_WRITE),
        ("take(Other(mask=d_x), i)", "TypeError: source: a CUDA array without a mask is taken", "another library's way to fill what is masked"),
        ('take(Other(typestr=">f4"), i)', "TypeError: source: numbers in this machine's byte order are taken, not >f4", LIBRARY),
        ('take(Other(typestr="|O"), i)', "TypeError: source: numbers in this machine's byte order are taken, not object", LIBRARY),
        ('take(Other(typestr="huh"), i)', "TypeError: source: 'huh' is no dtype", LIBRARY),
        ("take(Other(typestr=None), i)", "TypeError: source: a typestr is taken, not None", LIBRARY),
        ("take(Other(shape=(2.5,)), i)", "TypeError: source: a shape of integers is taken, not (2.5,)", LIBRARY),
        ("take(Other(shape=(2**40, 2**40)), i)", "ValueError: source: (1099511627776, 1099511627776) is too big", LIBRARY),
        ('take(Other(stream="1"), i)', "TypeError: source's stream: an int or what has __cuda_stream__() is taken, not '1'", LIBRARY),
    ],
    "No exception, and perhaps not what you want": [
        ('take(x, [7, -6], mode="wrap")', "array([2., 4.], dtype=float32)", "`wrap` counts on from the other end. `raise` tells you"),
        ('take(x, [7, -1], mode="clip")', "array([4., 0.], dtype=float32)", "with `clip`, -1 is the first element, not the last"),
        ("take(x, [True, False])", "array([1., 0.], dtype=float32)", "True and False are the numbers 1 and 0. `np.flatnonzero(mask)` gives positions"),
        ("cuda_gather(np.array([16777217]).astype(np.float32), np.array([0]))", "array([1.6777216e+07], dtype=float32)", "float32 has room for 7 digits. `take` also has float64"),
        ("y = x.copy(); d_y = DeviceArray(y); y[0] = 9; d_y.get()", "array([0., 1., 2., 3., 4.], dtype=float32)", "a DeviceArray is a copy. Make a new one when the array has changed"),
    ],
}  # fmt: skip


def seen(code, names):
    """What a Python prompt prints of this line, in short; addresses as 0x…"""
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(code + "\n", "row", "single"), names)
        text = printed.getvalue().strip()
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
    return re.sub("0x[0-9a-f]+", "0x…", text.replace("<__main__.", "<"))


def cell(code):
    return f"`{code}`".replace("|", r"\|")


def tables():
    lines = ["```python", *NAMES.splitlines(), "```", ""]
    for title, rows in GROUPS.items():
        lines += [f"### {title}", "", "| what you do | what you see | what to do |", "|---|---|---|"]
        lines += [f"| {cell(code)} | {cell(text)} | {cure} |" for code, text, cure in rows] + [""]
    return "\n".join(lines)


if sys.argv[1:] == ["page"]:
    sys.exit(print(tables()))
names, count, wrong = {"__name__": "__main__"}, 0, 0
exec(NAMES, names)
for rows in GROUPS.values():
    for code, text, _ in rows:
        count += 1
        now = seen(code, names)
        if now != text:
            wrong += 1
            print(f"{code}\n  the row:    {text}\n  what comes: {now}")
page_has = PAGE.read_text().split(BEGIN)[-1].split(END)[0].strip() == tables().strip()
print(f"{wrong} wrong; the page has {'these' if page_has else 'NOT these'} rows")
