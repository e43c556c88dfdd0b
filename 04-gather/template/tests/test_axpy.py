"""What axpy promises. They need a GPU, or a build with the CPU stand-in: make test chooses."""

import concurrent.futures
import importlib.metadata
import itertools
import os
import subprocess
import sys

import numpy as np
import pytest

import axpy
from stand_in_array import StandInArray

if not axpy.available():
    pytest.exit(
        f"nothing can be tested here, {axpy.why_not()}: make test BACKEND=cpu, or BACKEND=cpu pip install ., takes the stand-in",
        returncode=1,
    )
IS_STAND_IN = importlib.metadata.version("axpy").endswith("+cpu")
rng = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def the_stand_in_has_no_complaint(capfd):
    yield
    told = [line for line in capfd.readouterr().err.splitlines() if line.startswith("CPU stand-in: ")]
    assert [line for line in told if "this program runs on the CPU" not in line] == []


def some(shape):  # CHANGE: small whole numbers, as then each result is exact, in whatever order it is computed
    return rng.integers(-100, 100, shape).astype(np.float32)


def expected(a, x, y):  # CHANGE: the same in NumPy, as plain as it can be
    return np.float32(a) * x + y


@pytest.mark.parametrize("n", [0, 1, 255, 256, 257, 1000, 1 << 20])  # around a block
def test_sizes(n):
    x, y = some(n), some(n)
    np.testing.assert_array_equal(axpy.axpy(3, x, y), expected(3, x, y), strict=True)


def test_shapes_and_strides():
    wide = some((6, 40))
    unaligned = np.frombuffer(bytes(1) + some(40).tobytes(), np.float32, offset=1)
    strided = wide[::2, ::-3], wide.T, np.broadcast_to(wide[0], (9, 40)), unaligned
    for x in some(()), some((2, 0)), some((3, 4, 5)), *strided:
        y = some(x.shape)
        before = x.copy(), y.copy()
        np.testing.assert_array_equal(axpy.axpy(-2, x, y), expected(-2, x, y), strict=True)
        np.testing.assert_array_equal((x, y), before)


@pytest.mark.parametrize(  # CHANGE: what is refused, and how
    "a, x, y, error, words",
    [
        (1, some(3).astype(float), some(3), TypeError, "x: a NumPy array of float32 is taken, not float64"),
        (1, some(3), [1, 2, 3], TypeError, "y: a NumPy array of float32 is taken, not list"),
        (1, some(4), some((2, 2)), ValueError, r"one shape is taken, not \(4,\) and \(2, 2\)"),
        ("1", some(3), some(3), TypeError, "must be real number, not str"),
    ],
)
def test_refused(a, x, y, error, words):
    with pytest.raises(error, match=words):
        axpy.axpy(a, x, y)


LIBRARIES = {
    "cupy": lambda cupy, x: cupy.asarray(x),
    "jax": lambda jax, x: jax.device_put(x),
    "torch": lambda torch, x: torch.from_numpy(x).cuda(),
}


@pytest.mark.parametrize("name", ["stand-in"] if IS_STAND_IN else LIBRARIES)
def test_arrays_on_a_gpu(name):
    x, y, nothing = some(1200), some(1200), np.full(1200, np.nan, np.float32)  # what is in out does not count
    if IS_STAND_IN:
        to_gpu = new = StandInArray
    else:  # JAX's arrays are read only: out is one of PyTorch's
        library, torch = pytest.importorskip(name), pytest.importorskip("torch")
        to_gpu, new = lambda x: LIBRARIES[name](library, x), lambda x: torch.from_numpy(x).cuda()
    out = new(nothing)
    assert axpy.axpy_on_gpu(3, to_gpu(x), to_gpu(y), out) is out  # CHANGE
    result = out.get() if IS_STAND_IN else out.cpu().numpy()
    np.testing.assert_array_equal(result, expected(3, x, y), strict=True)
    empty = new(some(0))
    assert axpy.axpy_on_gpu(3, empty, empty, empty) is empty  # CHANGE
    for wrong, error in (some(3), TypeError), (to_gpu(some(3)), ValueError), (to_gpu(some(1200) > 0), TypeError):
        with pytest.raises(error):
            axpy.axpy_on_gpu(3, to_gpu(x), wrong, out)  # CHANGE


def test_threads():
    xs = [some(5000) for _ in range(40)]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for x, result in zip(xs, pool.map(lambda x: axpy.axpy(2, x, x), xs)):
            np.testing.assert_array_equal(result, expected(2, x, x))  # CHANGE


PROGRAM = """import numpy as np, axpy
try:
    print(axpy.axpy(2, np.ones(300, "f"), np.ones(300, "f")).sum())  # CHANGE
except (axpy.CudaError, MemoryError) as error:
    print(type(error).__name__, error)
"""


def run(**settings):
    command = [sys.executable, "-c", PROGRAM]
    return subprocess.run(command, env={**os.environ, **settings}, capture_output=True, text=True)


def test_without_a_gpu():
    assert "CudaError CUDA error 100, cudaErrorNoDevice" in run(CUDA_VISIBLE_DEVICES="").stdout


@pytest.mark.skipif(not IS_STAND_IN, reason="the stand-in alone makes calls fail")
def test_each_cuda_call_fails_in_turn():
    for k in itertools.count(1):
        done = run(CPU_CUDA_FAIL=str(k), CPU_CUDA_LEAKS="1")  # 2: no memory; a leak is an exit status
        if f"CPU_CUDA_FAIL: call {k}, " not in done.stderr:
            break
        is_free = f"call {k}, cudaFree" in done.stderr  # an error of it is lost, and the result is there
        assert done.returncode == 0 and (is_free or "MemoryError" in done.stdout), done.stdout + done.stderr
    ones = np.ones(300, np.float32)
    assert k > 3  # some calls have failed
    assert float(done.stdout) == expected(2, ones, ones).sum()  # CHANGE
