"""What the checks of the exercises share, those in Python: the lines that say what is wrong with an answer."""

import ctypes
import mmap
import os
import subprocess
import sys

import numpy as np

rng = np.random.default_rng()  # other numbers in each run


def wrong(look_at, what):
    """Says what is wrong, and ends the check."""
    print(f"  wrong    {what}\n  look at  {look_at}", flush=True)
    os._exit(1)  # no more words about what is still allocated


def passed():
    """The last line of a check: exercises.py asks for this word, so that an answer that ends the program is noticed."""
    print(os.environ.get("PASSED", "passed"))


def expect(look_at, name, expected, came):
    """`came` has to be a NumPy array with the dtype, the shape and the elements of `expected`."""
    if type(came) is not np.ndarray:
        wrong(look_at, f"{name}: expected a NumPy array, came {type(came).__name__}")
    if came.dtype != expected.dtype or came.shape != expected.shape:
        wrong(
            look_at,
            f"{name}: expected {expected.dtype} of shape {expected.shape}, came {came.dtype} of shape {came.shape}",
        )
    differ = ~(came == expected)  # NaN is equal to nothing
    if differ.any():
        first = tuple(int(i) for i in np.argwhere(differ)[0])
        wrong(look_at, f"{name}[{', '.join(map(str, first))}]: expected {expected[first]}, came {came[first]}")


def expect_error(look_at, error, name, call):
    """call() has to raise an exception of this class; returns it."""
    try:
        came = call()
    except error as raised:
        return raised
    except Exception as raised:
        wrong(look_at, f"{name}: expected {error.__name__}, came {type(raised).__name__}: {raised}")
    wrong(look_at, f"{name}: expected {error.__name__}, came no exception, but {came!r:.60}")


def without_device(program):
    """What a Python program prints where CUDA finds no device: every CUDA call fails, with error 100."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.stdout.strip() or f"exit status {done.returncode}: {done.stderr.strip()[-200:]}"


def expect_no_device(look_at, call):
    """Where CUDA finds no device, `call`, an expression such as "module.function(x)", has to raise CudaError 100.

    x: three float32. An answer that returns something did not ask the GPU, or did not look at the error.
    """
    came = without_device(f"""
import {call.split(".")[0]}, numpy as np
x = np.ones(3, np.float32)
try:
    print(f"came no exception, but {{{call}!r:.60}}")
except Exception as error:
    print("came", type(error).__name__, error)
""")
    if not came.startswith("came CudaError CUDA error 100, cudaErrorNoDevice"):
        wrong(look_at, f"without a GPU: expected CudaError 100, cudaErrorNoDevice, {came}")


def poison_empty():
    """From here on np.empty gives poisoned arrays, with room behind them for an answer that writes too far."""
    empty = np.empty

    def poisoned_empty(shape, dtype=float, **more):
        n = int(np.prod(shape))
        array = empty(8 * n + 1000, dtype, **more)
        array.fill(-7777)
        return array[:n].reshape(shape)

    np.empty = poisoned_empty


def before_a_wall(array):
    """The same elements at the end of a page of memory: whoever reads behind them crashes."""
    bytes = -(-array.nbytes // mmap.PAGESIZE) * mmap.PAGESIZE
    memory = mmap.mmap(-1, bytes + mmap.PAGESIZE)
    result = np.frombuffer(memory, array.dtype, array.size, bytes - array.nbytes)
    result[:] = array
    wall = ctypes.c_void_p(result.ctypes.data + array.nbytes)
    if ctypes.CDLL(None, use_errno=True).mprotect(wall, ctypes.c_size_t(mmap.PAGESIZE), 0) != 0:
        raise OSError(ctypes.get_errno(), "mprotect")
    return result
