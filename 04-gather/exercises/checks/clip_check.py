"""The check of exercise 5: the module; then the learner's test, which has to refuse modules that are broken.

On a GPU also: compute-sanitizer --tool memcheck
"""

import os
import pathlib
import pickle
import runpy
import subprocess
import sys
import types

import numpy as np

from exercise import expect, expect_error, passed, rng, without_device, wrong

# ---- The module


def check(name, x, low, high):
    before, expected = x.copy(), np.clip(x, np.float32(low), np.float32(high))
    try:
        came = module.clip(x, low, high)
    except Exception as error:
        look_at = "clip.pyx: the two views, the call of c_clip; libclip.cu: the guard, the blocks, the copy back"
        wrong(look_at, f"{name}: expected no error, came {type(error).__name__}: {error}")
    if not np.array_equal(x, before, equal_nan=True) or came is x:
        wrong("clip.pyx: the result is a new array", f"{name}: x has changed")
    if type(came) is np.ndarray and came.shape == expected.shape and (np.isnan(came) != np.isnan(expected)).any():
        wrong(
            "libclip.cu: NaN < low and NaN > high are both false; fminf and fmaxf drop NaN",
            f"{name}: NaN stays NaN, and no other number becomes NaN",
        )
    nan = np.isnan(expected)  # they are equal here
    expect(
        "libclip.cu: the kernel, its launch, the copy back; clip.pyx: the call",
        f"{name}: clip(x, {low}, {high})",
        np.where(nan, np.float32(0), expected),
        np.where(nan, np.float32(0), came) if type(came) is np.ndarray else came,
    )


def numbers(size):
    return rng.uniform(-9, 9, size).astype(np.float32)


try:
    import clip as module
except ImportError as error:
    wrong(
        "clip.h: the declaration, without which libclip.so hides the function; clip.pyx: the name of the C function",
        f"import clip: {error}",
    )

check("3 elements", np.array([-5, 0.5, 5], np.float32), -1, 1)
for size in 0, 1, 255, 256, 257, int(rng.integers(1000, 100000)):
    check(f"{size} elements", numbers(size), int(rng.integers(-8, 0)), int(rng.integers(0, 8)))
check("low = high", numbers(300), 2.5, 2.5)
check("no limits", np.concatenate([numbers(10), np.float32([np.inf, -np.inf])]), -np.inf, np.inf)
check("with NaN", np.array([np.nan, -5, np.nan, 5, 0], np.float32), -1, 1)
check("every third element, from the end", numbers(1000)[::-3], -2, 3)
unaligned = np.frombuffer(b"-" + numbers(300).tobytes(), np.uint8)[1:].view(np.float32)
check("an unaligned array", unaligned, -2, 3)
check("a read-only array", np.frombuffer(numbers(300).tobytes(), np.float32), -2, 3)
check("an array that was pickled", pickle.loads(pickle.dumps(numbers(300))), -2, 3)
check("a subclass of numpy.ndarray", numbers(300).view(np.recarray), -2, 3)
floats = list(np.ones(3, np.float32))
for other in np.ones(3), np.ones(3, np.int32), np.ones(3, ">f4"), [1.0, 2.0], None, floats, floats[0]:
    expect_error(
        "clip.pyx: what is taken?",
        TypeError,
        f"x: {getattr(other, 'dtype', type(other).__name__)}",
        lambda: module.clip(other, 0, 1),
    )
expect_error(
    "clip.pyx: the lines that were there",
    ValueError,
    "two dimensions",
    lambda: module.clip(np.ones((2, 2), np.float32), 0, 1),
)

came = without_device("""
import numpy as np, clip
try:
    print("no exception, but", clip.clip(np.ones(3, np.float32), 0, 1))
except Exception as error:
    print(type(error).__name__, getattr(error, "code", error))""")
if came != "CudaError 100":
    wrong(
        "clip.pyx: the code that the C function returns, and who computes: the GPU or NumPy?",
        f"without a GPU: expected CudaError 100, came {came}",
    )

if "PyEval_SaveThread" not in pathlib.Path("clip.c").read_text():
    wrong("clip.pyx: with nogil", "while the GPU works, Python's other threads have to wait")

done = subprocess.run(["./clip_check"], capture_output=True, text=True)
if done.stdout.splitlines()[-1:] != [os.environ.get("PASSED", "passed")]:
    print(done.stdout, end="", flush=True)
    print(done.stderr, end="", file=sys.stderr, flush=True)
    os._exit(1)


# ---- The learner's test: each of these takes the place of the module


def right(x, low, high):
    if not isinstance(x, np.ndarray) or x.dtype != np.float32:
        raise TypeError("float32")
    if x.ndim != 1 or not low <= high:
        raise ValueError
    return np.clip(x, np.float32(low), np.float32(high))


def but(change):
    """As it should be, and then changed: change(result, x, low, high) returns another result."""
    return lambda x, low, high: change(right(x, low, high), x, low, high)


def replaced(result, where, by):
    result[where] = by
    return result


def in_place(x, low, high):
    x[...] = right(x, low, high)
    return x.copy()


def last_block_lost(result, x, low, high):
    return replaced(result, slice(result.size // 256 * 256 if result.size > 256 else result.size, None), 0)


def steps_ignored(x, low, high):  # what counts is only whether it goes forwards or backwards
    is_wide = isinstance(x, np.ndarray) and x.size > 1 and abs(x.strides[0]) > x.itemsize
    return right(np.resize(x.base.reshape(-1), x.size).astype(x.dtype) if is_wide else x, low, high)


def value_error(x, low, high):
    try:
        return right(x, low, high)
    except TypeError as error:
        raise ValueError from error


def no_empty(result, x, low, high):
    if x.size == 0:
        raise ValueError("an empty array")
    return result


BROKEN = [
    ("returns x as it is", "is there an element that clip has to change?", but(lambda result, x, low, high: x.copy())),
    ("returns zeros", "is each element compared?", but(lambda result, x, low, high: np.zeros_like(result))),
    (
        "has no upper limit",
        "is there an element above high?",
        but(lambda result, x, low, high: np.maximum(x, np.float32(low))),
    ),
    (
        "has no lower limit",
        "is there an element below low?",
        but(lambda result, x, low, high: np.minimum(x, np.float32(high))),
    ),
    (
        "takes low for high, and high for low",
        "are there elements below low and above high?",
        but(lambda result, x, low, high: replaced(replaced(result, x < low, high), x > high, low)),
    ),
    (
        "sets what is between low and high to low",
        "is there an element between the two?",
        but(lambda result, x, low, high: replaced(result, (x > low) & (x < high), low)),
    ),
    (
        "is wrong in the last element",
        "is each element compared, the last one too?",
        but(lambda result, x, low, high: replaced(result, slice(-1, None), 77)),
    ),
    (
        "is wrong in the middle",
        "is each element compared?",
        but(
            lambda result, x, low, high: replaced(result, slice(result.size // 2, result.size // 2 + (x.size > 6)), 77)
        ),
    ),
    (
        "returns the elements from the end to the beginning",
        "is each element compared with its own?",
        but(lambda result, x, low, high: result[::-1].copy()),
    ),
    (
        "returns one element too many",
        "is the size of the result looked at?",
        but(lambda result, x, low, high: np.append(result, np.float32(low))),
    ),
    (
        "returns a little more than high",
        "is the result compared exactly?",
        but(lambda result, x, low, high: np.where(x > high, result + np.float32(0.5), result)),
    ),
    (
        "is wrong for 255, 256 and 257 elements",
        "are there sizes around 256?",
        but(lambda result, x, low, high: replaced(result, slice(-1, None), 77) if 255 <= x.size <= 257 else result),
    ),
    (
        "is wrong in the first element",
        "is each element compared, the first one too?",
        but(lambda result, x, low, high: replaced(result, slice(0, 1), 77)),
    ),
    (
        "loses the elements behind the last full block of 256",
        "is there a size above 256 that 256 does not divide?",
        but(last_block_lost),
    ),
    (
        "turns NaN into low",
        "is there a NaN, and does the comparison see it?",
        but(lambda result, x, low, high: replaced(result, np.isnan(x), low)),
    ),
    ("writes to x as well", "is x compared with what it was?", in_place),
    (
        "returns float64",
        "is the dtype of the result looked at?",
        but(lambda result, x, low, high: result.astype(float)),
    ),
    (
        "takes the wrong elements of a strided array",
        "is there every second element of an array, x[::2]?",
        steps_ignored,
    ),
    ("fails for an empty array", "is there an array of no element?", but(no_empty)),
    (
        "takes float64",
        "does it try that a float64 array raises TypeError?",
        lambda x, low, high: right(
            np.asarray(x).astype(np.float32) if getattr(x, "dtype", None) == np.float64 else x, low, high
        ),
    ),
    (
        "raises ValueError for float64",
        "does it try that a float64 array raises TypeError, and no other error?",
        value_error,
    ),
]


def test_refuses(function):
    """Whether the learner's test fails with this function in place of the module's. In a process of its own."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.dup2(1, 2)
            sys.modules["clip"] = types.ModuleType("clip")
            sys.modules["clip"].clip = function
            runpy.run_path("clip_test.py", run_name="__main__")
            status = 0
        except SystemExit as end:
            status = end.code not in (None, 0)
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0


for again in range(3):
    done = subprocess.run([sys.executable, "clip_test.py"], capture_output=True, text=True)
    if done.returncode != 0:
        said = (done.stderr.strip().splitlines() or ["no message"])[-1][:200]
        wrong("clip_test.py: what does it expect?", f"your module is right, and your test fails: {said}")
    if test_refuses(right):
        wrong("clip_test.py: what does it expect?", "your test refuses another clip that is right")
for what, look_at, function in BROKEN:
    if not test_refuses(function):
        wrong(f"clip_test.py: {look_at}", f"your test passes with a clip that {what}")
passed()
