"""What axpy promises. They need a GPU, or a build with the CPU stand-in: make test chooses."""

import concurrent.futures
import importlib.metadata
import itertools
import os
import re
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


def each_refused(call, arrays, wrong, error, words):
    """Each array in turn is replaced by a wrong one; words: what the exception says, {name}: of which array."""
    for name in arrays:
        with pytest.raises(error, match=words.format(name=name)):
            call(**{**arrays, name: wrong})


@pytest.mark.parametrize(  # CHANGE: what is refused, and how
    "wrong, error, words",
    [
        (some(3).astype(float), TypeError, "{name}: a NumPy array of float32 is taken, not float64"),
        (some(3).astype(">f4"), TypeError, "{name}: a NumPy array of float32 is taken, not >f4"),
        ([1, 2, 3], TypeError, "{name}: a NumPy array of float32 is taken, not a list"),
        (np.ma.zeros(3, np.float32), TypeError, "{name}: a NumPy array of float32 is taken, not float32 MaskedArray"),
        (some((3, 1)), ValueError, r"one shape is taken, not \(3"),
    ],
)
def test_refused(wrong, error, words):
    each_refused(lambda x, y: axpy.axpy(1, x, y), {"x": some(3), "y": some(3)}, wrong, error, words)
    with pytest.raises(TypeError, match="must be real number, not str"):
        axpy.axpy("1", some(3), some(3))


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
    arrays = {"x": to_gpu(x), "y": to_gpu(y), "out": out}  # CHANGE, below too
    for wrong, error, words in [
        (x, TypeError, "{name}: an array on a GPU is taken, not ndarray"),
        (to_gpu(x > 0), TypeError, "{name}: a contiguous array of float32 is taken"),
        (to_gpu(some(3)), ValueError, r"one shape is taken, not .*\(3,\)"),
        *(of_the_stand_in(x) if IS_STAND_IN else ()),
    ]:
        each_refused(lambda x, y, out: axpy.axpy_on_gpu(3, x, y, out), arrays, wrong, error, words)


def of_the_stand_in(x):
    """Arrays that the libraries do not make: strided, at an odd address; and one that is read only, as JAX's are."""
    strided, odd, read_only = map(StandInArray, (np.repeat(x, 2), np.zeros(x.nbytes + 4, np.uint8), x))
    strided.array, odd.array = strided.array[::2], odd.array[1:-3].view(np.float32)
    read_only.array.flags.writeable = False
    with pytest.raises(ValueError, match="out: a writeable array is taken"):
        axpy.axpy_on_gpu(3, StandInArray(x), StandInArray(x), read_only)  # CHANGE
    yield strided, TypeError, "{name}: a contiguous array of float32 is taken"
    yield odd, ValueError, "{name}: its address is no multiple of 4"


def test_threads():
    xs = [some(5000) for _ in range(40)]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for x, result in zip(xs, pool.map(lambda x: axpy.axpy(2, x, x), xs)):
            np.testing.assert_array_equal(result, expected(2, x, x))  # CHANGE


def test_a_derivative_for_pytorch():
    torch = pytest.importorskip("torch")

    class Operation(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, x, y):
            ctx.a = a
            return torch.from_numpy(axpy.axpy(a, x.detach().numpy(), y.detach().numpy()))  # CHANGE

        @staticmethod
        def backward(ctx, grad):
            zeros = np.zeros(grad.shape, np.float32)
            return None, torch.from_numpy(axpy.axpy(ctx.a, grad.numpy(), zeros)), grad  # CHANGE: by a, x and y

    x, y = (torch.tensor(some(300), requires_grad=True) for _ in range(2))
    grad, step = some(300), some(300)
    Operation.apply(3, x, y).backward(torch.from_numpy(grad))
    change = axpy.axpy(3, step, step).astype(float) @ grad  # CHANGE: of the loss, by a step; the operation is linear
    assert (x.grad + y.grad).numpy().astype(float) @ step == change


PROGRAM = """import os, sys, numpy as np, axpy
from stand_in_array import StandInArray
what, k = sys.argv[1:]
to = {"axpy": np.array, "axpy_on_gpu": StandInArray}[what]
arrays = [to(np.ones(300, "f")) for _ in (["x", "y"] if what == "axpy" else ["x", "y", "out"])]  # CHANGE
os.environ["CPU_CUDA_FAIL"] = k  # from here on
try:
    result = getattr(axpy, what)(2, *arrays)  # CHANGE
    os.environ["CPU_CUDA_FAIL"] = ""
    print((result.get() if what == "axpy_on_gpu" else result).sum())
except (axpy.CudaError, MemoryError) as error:
    print(type(error).__name__, error)
os.environ["CPU_CUDA_FAIL"] = ""
"""


def run(what, k="", **settings):
    command, here = [sys.executable, "-c", PROGRAM, what, k], os.path.dirname(os.path.abspath(__file__))
    return subprocess.run(command, env={**os.environ, **settings}, cwd=here, capture_output=True, text=True)


def test_without_a_gpu():
    assert "CudaError CUDA error 100, cudaErrorNoDevice" in run("axpy", CUDA_VISIBLE_DEVICES="").stdout


@pytest.mark.skipif(not IS_STAND_IN, reason="the stand-in alone makes calls fail")
@pytest.mark.parametrize("what", ["axpy", "axpy_on_gpu"])
def test_each_cuda_call_fails_in_turn(what):
    ones = np.ones(300, np.float32)
    right = f"{expected(2, ones, ones).sum()}\n"  # CHANGE
    for k in itertools.count(1):
        done = run(what, str(k), CPU_CUDA_LEAKS="1")  # 2: no memory; a leak is an exit status
        if f"CPU_CUDA_FAIL: call {k}, " not in done.stderr:
            break
        cleans_up = re.search(f"call {k}, cuda(Free|SetDevice)", done.stderr)  # an error of it is lost
        is_told = "MemoryError" in done.stdout or (cleans_up and done.stdout == right)
        assert done.returncode == 0 and is_told, done.stdout + done.stderr
    assert k > 3  # some calls have failed
    assert done.stdout == right
