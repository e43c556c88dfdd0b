"""What the checks in Python share: the lines that say what is wrong with an answer.

A check imports the learner's module, or loads its library. What the CPU stand-in knows is not asked for here: bounds,
races, what nobody has written, what is never freed.
"""

import ctypes
import gc
import mmap
import os
import pathlib
import re
import sys
import tempfile
import traceback

import numpy as np

rng = np.random.default_rng()  # other numbers in each run
is_on_stand_in = os.environ.get("BACKEND") == "cpu"  # on a GPU a check only compares numbers
if is_on_stand_in:  # the library that the learner's modules use, too
    cuda = ctypes.CDLL(str(pathlib.Path(__file__).resolve().parent.parent / "cpu/lib/libcpu_cuda.so"))


def wrong(look_at, what):
    """Says what is wrong, and ends the check."""
    print(f"\n  wrong    {what}\n  look at  {look_at}", flush=True)
    os._exit(1)  # no more words about what is still allocated


def passed():
    """The last line of a check: exercises.py asks for this word, so that an answer that ends the program is noticed."""
    print("\n" + os.environ.get("PASSED", "passed"))


def expect(look_at, name, expected, came):
    """`came` has to be a NumPy array with the dtype, the shape and the elements of `expected`."""
    if type(came) is not np.ndarray:
        wrong(look_at, f"{name}: expected a NumPy array, came {type(came).__name__}")
    if came.dtype != expected.dtype or came.shape != expected.shape:
        shapes = f"expected {expected.dtype} of shape {expected.shape}, came {came.dtype} of shape {came.shape}"
        wrong(look_at, f"{name}: {shapes}")
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
    except BaseException as raised:
        wrong(look_at, f"{name}: expected {error.__name__}, came {in_words(raised)}")
    wrong(look_at, f"{name}: expected {error.__name__}, came no exception, but {came!r:.60}")


def expect_no_error(look_at, name, call):
    """What call() returns; it may raise nothing."""
    try:
        return call()
    except BaseException as raised:
        wrong(look_at, f"{name}: came {in_words(raised)}")


def in_words(raised):
    """An exception, and where: "CudaError 700, cudaErrorIllegalAddress", "TypeError: ... (strided.pyx, line 30)"."""
    if isinstance(raised, MemoryError):
        return "MemoryError"
    if type(raised).__name__ == "CudaError":
        return f"CudaError {raised.code}, {raised.name}"
    places = traceback.extract_tb(raised.__traceback__)
    own = [
        place
        for place in places
        if not re.search(r"_check\.py$|exercise\.py$|^<|/lib/|View\.MemoryView", place.filename)
    ]
    where = f" ({os.path.basename(own[-1].filename)}, line {own[-1].lineno})" if own else ""
    return f"{type(raised).__name__}: {raised}{where}".replace("\n", " ")


class Seen(ctypes.Structure):
    """What launches do: cpu_cuda_seen in cpu/include/cpu_seen.h."""

    _fields_ = [
        (name, ctypes.c_longlong)
        for name in ("launches", "blocks", "threads", "reads", "writes", "atomics", "sectors", "most")
    ]


def see(call, is_run=True):
    """What the launches in call() do: blocks, threads, accesses to global memory. All are 0 on a GPU.

    is_run False: they are only counted, and do not run, so that n may be large and the arrays small.
    """
    seen = Seen()
    if is_on_stand_in:
        cuda.cpu_cuda_watch(ctypes.byref(seen), int(is_run))
    call()
    if is_on_stand_in:
        cuda.cpu_cuda_watch(None, 0)
    return seen


def free_bytes():
    """How much memory of the device is free; -1 after an error that stays. On a GPU, which others may use, too: 0."""
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    gc.collect()
    is_known = not is_on_stand_in or cuda.cudaMemGetInfo(ctypes.byref(free), ctypes.byref(total)) == 0
    return free.value if is_known else -1


def in_a_process(call):
    """What call() returns, a text, or None if its process ends before; and what it writes to stderr.

    In a process of its own, before this one has used CUDA.
    """
    with tempfile.TemporaryFile() as answer, tempfile.TemporaryFile() as said:
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            os.dup2(said.fileno(), 2)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            try:
                answer.write(call().encode())
                answer.flush()
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        answer.seek(0)
        said.seek(0)
        return answer.read().decode() or None, said.read().decode(errors="replace")


def expect_each_failure(name, call, leaves_none=False, look_at=None, has_frees=False):
    """Each CUDA call of call() fails, one by one, alone and with all after it, with two codes. Only on the stand-in.

    call() has to raise CudaError with this code (MemoryError is as good for code 2). Nothing may stay allocated, and no
    error may be left behind if `leaves_none`. Where a call fails that gives memory back, call() may raise it or not; if
    `has_frees` it has to. Before the check itself uses CUDA: let call() import the module, whose last lines may use it.
    """
    if not is_on_stand_in:
        return

    def outcome(fails, code):
        before = free_bytes()
        if fails:
            os.environ.update(CPU_CUDA_FAIL=fails, CPU_CUDA_FAIL_CODE=str(code))
        try:
            call()
            came = "no exception"
        except BaseException as raised:
            came = in_words(raised)
        for variable in "CPU_CUDA_FAIL", "CPU_CUDA_FAIL_CODE":
            os.environ.pop(variable, None)
        is_left = leaves_none and cuda.cudaGetLastError() != 0
        return f"{came}\n{'left behind' if is_left else 'allocated' if 0 <= free_bytes() < before else ''}"

    def try_once(k=0, more="", code=0):
        """Whether there is a k-th call."""
        came, said = in_a_process(lambda: outcome(f"{k}{more}" if k else "", code))
        failed = re.search(r"CPU_CUDA_FAIL: call \d+, (.*), fails, as asked", said)
        if k and not failed:
            return False
        fail, failed = f"fail{'s' * (not more)} with code {code}", failed[1] if failed else ""
        what = f"{name}, in which {failed} (CUDA call {k}) {'and all after it ' * bool(more)}{fail}" if k else name
        faults = [line for line in said.splitlines() if re.match("CPU stand-in: (?!CPU_CUDA_FAIL|this program)", line)]
        print(*faults[:1], sep="\n", end="\n" * bool(faults), file=sys.stderr, flush=True)  # exercises.py shows it
        arguments = "what C gets: the addresses, the number of elements (not of bytes), and the others of its arguments"
        if came is None:
            ends = "does somebody look at its code? And a library never ends the process of its caller"
            wrong(ends if k else arguments, f"{what}: the process has ended, or crashed")
        came, stays = came.rsplit("\n", 1)
        gives_back = re.search("Free|Destroy|Unregister", failed) is not None
        expected = ["no exception"] if not k else [f"CudaError {code}"] + ["MemoryError"] * (code == 2)
        may_be = expected + ["no exception"] * (gives_back and not has_frees)
        if came.split(",")[0] not in may_be:
            look = look_at or "each call may fail: is its code looked at, and kept until the end?"
            wrong(look if k else arguments, f"{what}: expected {expected[-1]}, came {came}")
        if stays == "allocated" and not gives_back:
            look = "whatever failed, all that was allocated is given back"
            wrong(look, f"{what}: memory stays allocated on the device")
        if stays == "left behind":
            look = "cudaGetLastError(): a code that is returned is not left for somebody else to find"
            wrong(look, f"{what}: the error is left behind")
        if faults:
            wrong("the line that the stand-in names, and who calls it", f"{what}: then the stand-in sees a fault")
        return True

    try_once()
    k = 1
    while all([try_once(k, more, code) for more in ("", "+") for code in (2, 719)]):
        k += 1
    if k == 1:
        wrong("who computes? The functions of the library use the GPU", f"{name}: no CUDA call was made")


def at_a_wall(array):
    """The same elements at the end of a page of memory: whoever reads or writes behind them crashes."""
    bytes = -(-array.nbytes // mmap.PAGESIZE) * mmap.PAGESIZE
    memory = mmap.mmap(-1, bytes + mmap.PAGESIZE)
    result = np.frombuffer(memory, array.dtype, array.size, bytes - array.nbytes).reshape(array.shape)
    result[...] = array
    wall = ctypes.c_void_p(result.ctypes.data + array.nbytes)
    if ctypes.CDLL(None, use_errno=True).mprotect(wall, ctypes.c_size_t(mmap.PAGESIZE), 0) != 0:
        raise OSError(ctypes.get_errno(), "mprotect")
    return result
