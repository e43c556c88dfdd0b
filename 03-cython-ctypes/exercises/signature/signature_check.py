"""What is declared, and means of random numbers."""

import ctypes
import traceback

import numpy as np

from exercise import expect_no_error, passed, rng, wrong

try:
    import signature
except (TypeError, AttributeError) as error:
    line = traceback.extract_tb(error.__traceback__)[-1].lineno
    wrong(
        "argtypes is a list of ctypes' types, such as ctypes.c_int without (); restype is one type",
        f"signature.py, line {line}: {type(error).__name__}: {error}",
    )

# None: a pointer, for which several types are right; the calls say whether this one is.
IN_C = [
    ("mean", "float", ctypes.c_float, ["const float *x", "size_t n", "double scale", "int *code"]),
    ("error_text", "const char *", ctypes.c_char_p, ["int code"]),
]
ONLY = {"size_t n": ctypes.c_size_t, "double scale": ctypes.c_double, "int code": ctypes.c_int}
for name, result_in_c, result, arguments in IN_C:
    function = getattr(signature.library, name)
    types = function.argtypes or []
    if len(types) != len(arguments):
        look_at = f"library.{name}.argtypes = [...], with a type for each argument; that of the result is in restype"
        wrong(look_at, f"library.{name}.argtypes: {len(arguments)} arguments in C, but {len(types)} types are declared")
    for argument, got in zip(arguments, types):
        if ONLY.get(argument, got) is not got:
            wrong(
                "ctypes has a type for each C type; its name is c_ and C's name",
                f"library.{name}.argtypes: in C it is {argument}, got {got.__name__}",
            )
    if function.restype is not result:
        got = getattr(function.restype, "__name__", function.restype)
        got = f"{got}, which is what ctypes takes if nothing is declared" if got == "c_int" else got
        wrong(f"library.{name}.restype = ...", f"library.{name} returns {result_in_c} in C, in ctypes {got}")

for n in 4, 1, int(rng.integers(1000, 5000)):
    x, scale = rng.integers(-9, 10, n).astype(np.float32), int(rng.integers(3, 99)) / 7
    expected = np.float32(x.astype(float).sum() / n * scale)
    what, pointers = f"mean(x, {scale:.3f}) of {n} elements", "argtypes: which arguments are pointers, and to what?"
    got = expect_no_error(pointers, what, lambda: signature.mean(x, scale))
    if got != expected:
        wrong("argtypes of mean, in the order of the C function", f"{what}: expected {expected}, got {got}")
passed()
