"""The learner's test has to pass with a clip that is right, and to fail with each that is wrong."""

import runpy
import sys
import types

import numpy as np

from exercise import in_a_process, passed, wrong


def right(x, low, high):
    if not isinstance(x, np.ndarray) or x.dtype != np.float32:
        raise TypeError("float32")
    return np.clip(x, np.float32(low), np.float32(high))


def but(change):
    """As it should be, and then changed: change(result, x, low, high) returns another result."""
    return lambda x, low, high: change(right(x, low, high), x, low, high)


def replaced(result, where, by=77):
    result[where] = by
    return result


def in_place(x, low, high):
    x[...] = right(x, low, high)
    return x.copy()


def no_steps(x, low, high):
    has_steps = isinstance(x, np.ndarray) and x.size > 1 and x.strides[0] != x.itemsize
    return right(np.resize(x.base, x.size) if has_steps else x, low, high)


def wrong_error(x, low, high):
    if isinstance(x, np.ndarray) and x.dtype == np.float64:
        raise ValueError("float64")
    return right(x, low, high)


EACH = "is each element compared, the first and the last one, too?"
WRONG = [
    ("has no upper limit", "is there an element above high?", but(lambda r, x, low, high: x.clip(low))),
    ("has no lower limit", "is there an element below low?", but(lambda r, x, low, high: x.clip(None, high))),
    ("makes low of all below high", "is one between them?", but(lambda r, x, low, high: replaced(r, r < high, low))),
    ("has the elements in another order", EACH, but(lambda r, x, low, high: r[::-1].copy())),
    ("is wrong in the first element", EACH, but(lambda r, x, low, high: replaced(r, slice(1)))),
    ("is wrong in the last element", EACH, but(lambda r, x, low, high: replaced(r, slice(-1, None)))),
    ("returns one element too many", "is the size looked at?", but(lambda r, x, low, high: np.append(r, r[:1]))),
    ("adds 0.001 to each element", "is it compared exactly?", but(lambda r, x, low, high: r + np.float32(0.001))),
    ("is 0.1 % too large", "is it compared exactly?", but(lambda r, x, low, high: r * np.float32(1.001))),
    ("is 0.0001 % too large", "is it compared exactly?", but(lambda r, x, low, high: r * np.float32(1.000001))),
    (
        "loses the elements behind the last full block of 256",
        "is there a size above 256 that 256 does not divide?",
        but(lambda r, x, low, high: replaced(r, slice(x.size // 256 * 256 if x.size > 256 else x.size, None), 0)),
    ),
    (
        "turns NaN into low",
        "is there a NaN, and does the comparison see it?",
        but(lambda r, x, low, high: replaced(r, np.isnan(x), low)),
    ),
    ("returns float64", "is the dtype of the result looked at?", but(lambda r, x, low, high: r.astype(float))),
    ("writes to x as well", "is x compared with what it was?", in_place),
    ("takes the wrong elements of a strided array", "is there an x[::2] whose numbers differ?", no_steps),
    ("fails for an empty array", "is there an array of no element?", but(lambda r, x, *_: r if x.size else r[0])),
    ("takes float64", "does it try that a float64 array raises TypeError?", lambda x, *by: right(np.float32(x), *by)),
    ("raises ValueError for float64", "is it TypeError, and nothing else?", wrong_error),
]


def answer(function):
    """ "passes", or with what the learner's test ends, with this function as clip. In a process of its own."""
    sys.modules["clip_module"] = types.ModuleType("clip_module")
    sys.modules["clip_module"].clip = function
    try:
        runpy.run_path("clip_test.py", run_name="__main__")
    except BaseException as error:
        if not (isinstance(error, SystemExit) and error.code in (None, 0)):
            return f"{type(error).__name__} {error}".strip().replace("\n", " ")[:150]
    return "passes"


# First, and then somewhere among the others, clip is right: how often a test has run says nothing.
others = [*WRONG, *[("is right", "what does the test expect?", right)] * 3]
for what, look_at, function in [others[-1], *(others[i] for i in np.random.permutation(len(others)))]:
    got, said = in_a_process(lambda: answer(function))
    if function is right and got != "passes":
        wrong(look_at, f"clip is right, and your test ends with {got or 'a crash'}")
    if function is not right and got == "passes":
        wrong(look_at, f"your test passes with a clip that {what}")
passed()
