"""The check of exercise 2: several codes, then calls of which one fails: which exception, and is all released?"""

import contextlib
import io

import numpy as np

import exception
from cuda_error import CudaError
from exercise import expect, passed, rng, without_device, wrong

library = exception.library
OUT_OF_MEMORY = 2


def expect_raised(code, name, call, look_at=None):
    """call() has to raise what belongs to this code, and to print nothing. look_at: if check(code) does so."""
    expected = MemoryError if code == OUT_OF_MEMORY else CudaError
    came, printed = None, io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            returned = call()
        except BaseException as raised:  # SystemExit too
            came = raised
    if came is None:
        wrong(
            look_at or "an error is raised: raise CudaError(...), not return, not print",
            f"{name}: expected {expected.__name__}, came no exception, but {returned!r:.60}",
        )
    if not isinstance(came, expected):
        wrong(
            look_at or "which code becomes which exception? See the text under def check",
            f"{name}: expected {expected.__name__}, came {type(came).__name__}: {came}",
        )
    if expected is CudaError:
        should = (code, library.error_name(code).decode(), library.error_text(code).decode())
        if (came.code, came.name, came.text) != should:
            wrong(
                look_at or "CudaError(code, name, text): name and text come from the library, as str",
                f"{name}: expected code, name and text {should}, came {(came.code, came.name, came.text)}",
            )
    if printed.getvalue():
        wrong("the exception says it all: who catches it decides what is printed", f"{name}: somebody prints")


# In a process of its own: an answer may end it.
said = without_device("""
import contextlib, io, exception
came = "no exception"
with contextlib.redirect_stdout(io.StringIO()):
    for call in lambda: exception.check(2), lambda: exception.filled(3, 1.0):
        try:
            call()
        except BaseException as error:
            came = f"{type(error).__name__}: {error}"
print("came", came)
""")
if not said.startswith("came "):
    wrong(
        "an error is raised; a library never ends the process of its caller",
        f"check ends Python: expected an exception, came {said.split(':')[0]}",
    )

codes = [0, OUT_OF_MEMORY, 700, 1, 9, 101, 719, 999, 12345, *map(int, rng.integers(1, 800, 5))]
for code in codes:
    if code != 0:
        expect_raised(code, f"check({code})", lambda: exception.check(code))
        continue
    try:
        exception.check(0)
    except BaseException as raised:
        wrong("0 says that all went well", f"check(0): expected no exception, came {type(raised).__name__}: {raised}")

if said != "came CudaError: CUDA error 100, cudaErrorNoDevice: no CUDA-capable device is detected":
    wrong("filled and check(code)", f"filled(3, 1.0) without a GPU: expected CudaError 100, cudaErrorNoDevice, {said}")

# From here on the check sees what is allocated and released, and may let a call fail.
real = {name: getattr(library, name) for name in ("allocate", "fill", "read_back", "release")}
failing, code, held, twice = None, 0, [], False
is_other = False  # then library.fill fills the first two elements with -1


def allocate(d_x, n):
    if failing == "allocate":
        return code
    status = real["allocate"](d_x, n)
    if status == 0:
        held.append(d_x._obj.value)
    return status


def release(d_x):
    global twice
    address = getattr(d_x, "value", d_x)
    if address in held:
        held.remove(address)
    elif address:  # NULL is fine
        twice = True
        return 1
    return real["release"](d_x)


def call(name):
    def called(*arguments):
        if not held:
            wrong("the order: library.release comes last", f"library.{name} is called, and d_x is released already")
        status = real[name](*arguments)
        if name == "fill" and is_other:
            real["fill"](arguments[0], 2, -1)
        return code if name == failing else 999 if failing == "fill" else status  # 999: read_back, after an error

    return called


seen = dict(allocate=allocate, fill=call("fill"), read_back=call("read_back"), release=release)
for name, function in seen.items():
    setattr(library, name, function)
    for own in [own for own, value in vars(exception).items() if value is real[name]]:  # release = library.release
        setattr(exception, own, function)


def expect_released(what):
    if twice:
        wrong(
            "library.release: once for each library.allocate",
            f"{what}: library.release gets an address that is not allocated, or not any more",
        )
    if held:
        wrong(
            "library.release: Python comes to a line in `finally` with an exception and without one",
            f"{what}: d_x is not released",
        )


for n in 3, 256, int(rng.integers(300, 5000)):
    value = float(rng.integers(1, 1000))
    try:
        came = exception.filled(n, value)
    except BaseException as raised:
        wrong(
            "library.fill and library.read_back",
            f"filled({n}, {value}): expected an array, came {type(raised).__name__}: {raised}",
        )
    expect(
        "library.fill, then library.read_back into result.ctypes.data",
        f"filled({n}, {value})",
        np.full(n, value, np.float32),
        came,
    )
    expect_released(f"filled({n}, {value})")

is_other = True
expect(
    "library.read_back brings all elements, as they are on the GPU; NumPy fills none",
    "library.fill makes the first two elements -1: filled(5, 1.0)",
    np.array([-1, -1, 1, 1, 1], np.float32),
    exception.filled(5, 1.0),
)
is_other = False

for code in OUT_OF_MEMORY, 700, int(rng.integers(3, 99)):
    for failing in "allocate", "fill", "read_back":
        then = ", then library.read_back 999" if failing == "fill" else ""
        what = f"filled(5, 1.0), in which library.{failing} returns {code}{then}"
        expect_raised(
            code,
            what,
            lambda: exception.filled(5, 1.0),
            f"filled: check(...) looks at what library.{failing} returns, and at that alone",
        )
        expect_released(what)


def interrupted(*_):
    raise KeyboardInterrupt


failing = None
for value, what in ("no number", "ctypes raises ArgumentError"), (1.0, "Ctrl-C raises KeyboardInterrupt"):
    try:
        exception.filled(5, value)
    except BaseException:
        pass
    expect_released(f"filled(5, {value!r}), in which {what}")
    library.fill = interrupted
passed()
