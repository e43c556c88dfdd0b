"""The check of exercise 1: what is declared, then calls with random numbers, one that is too large, one that fails."""

import ctypes
import traceback

import numpy as np

from exercise import passed, rng, without_device, wrong

try:
    import signature
except TypeError as error:
    wrong(
        "argtypes is a list of ctypes' types, such as ctypes.c_int without (); restype is one type",
        f"signature.py, line {traceback.extract_tb(error.__traceback__)[-1].lineno}: ctypes does not take this: {error}",
    )


def name(kind):
    return getattr(kind, "__name__", repr(kind))


def declared(function, arguments, types):
    """argtypes is there, and has as many types as C has arguments. types: those that can only be one."""
    of, came_types = f"library.{function}.argtypes", getattr(signature.library, function).argtypes
    if came_types is None:
        wrong(f"{of} = [...], with one type for each argument", f"{of}: nothing is declared")
    if len(came_types) != len(arguments):
        wrong(
            "the C function's arguments, one after the other",
            f"{of} has {len(came_types)} types, the C function has {len(arguments)} arguments",
        )
    for argument, kind, came in zip(arguments, types, came_types):
        if kind is not None and came is not kind:
            wrong(
                "ctypes has a type for each C type; its name is c_ and C's name",
                f"{of}: in C it is {argument}, came {name(came)}",
            )


def returns(function, in_c, kind):
    came = getattr(signature.library, function).restype
    if came is not kind:
        nothing = ", which ctypes takes if nothing is declared" if came is ctypes.c_int else ""
        wrong(f"library.{function}.restype", f"library.{function} returns {in_c} in C, in ctypes {name(came)}{nothing}")


declared(
    "mean", ["const float *x", "size_t n", "double scale", "int *code"], [None, ctypes.c_size_t, ctypes.c_double, None]
)
returns("mean", "float", ctypes.c_float)
declared("error_text", ["int code"], [ctypes.c_int])
returns("error_text", "const char *", ctypes.c_char_p)

for n in 4, 1, int(rng.integers(1000, 5000)):
    x = rng.integers(-9, 10, n).astype(np.float32)
    scale = int(rng.integers(3, 99)) / 7
    expected = np.float32(x.astype(float).sum() / n * scale)
    try:
        came = signature.mean(x, scale)
    except Exception as error:
        wrong(
            "argtypes: which of C's arguments are pointers, and to what?",
            f"mean(x, {scale:.3f}) of {n} elements: came {type(error).__name__}: {error}",
        )
    if type(came) is not float or not came == expected:
        wrong("argtypes and restype of mean", f"mean(x, {scale:.3f}) of {n} elements: expected {expected}, came {came}")

# More elements than any GPU has room for. If the upper half of n is lost, only three are left.
x, code = np.zeros(3, np.float32), ctypes.c_int()
signature.library.mean(x.ctypes.data_as(signature.float_pointer), 2**60 + 3, 1.0, ctypes.byref(code))
if code.value == 0:
    wrong("the type of n in argtypes: how many bits does it have?", "2**60 + 3 elements became 3 on the way to C")

said = without_device("""
import numpy as np, signature
try:
    print("came no exception, but", signature.mean(np.ones(3, np.float32), 1.0))
except RuntimeError as error:
    print("RuntimeError", error)
except Exception as error:
    print("came", type(error).__name__, error)
""")
if said != "RuntimeError no CUDA-capable device is detected":
    wrong(
        "the types of code and of error_text; is the mean computed by the library?",
        f"without a GPU: expected RuntimeError, with the text of error_text, {said}",
    )
passed()
