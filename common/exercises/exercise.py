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
    word = os.environ.get("PASSED", "passed")
    if word.startswith("refuse "):
        wrong("make grade tries whether this check can still refuse", word)
    print(f"\n{word}")


def expect(look_at, name, expected, got):
    """`got` has to be a NumPy array with the dtype, the shape and the elements of `expected`."""
    if type(got) is not np.ndarray:
        wrong(look_at, f"{name}: expected a NumPy array, got {type(got).__name__}")
    if got.dtype != expected.dtype or got.shape != expected.shape:
        shapes = f"expected {expected.dtype} of shape {expected.shape}, got {got.dtype} of shape {got.shape}"
        wrong(look_at, f"{name}: {shapes}")
    differ = ~(got == expected)  # NaN is equal to nothing
    if differ.any():
        first = tuple(int(i) for i in np.argwhere(differ)[0])
        wrong(look_at, f"{name}[{', '.join(map(str, first))}]: expected {expected[first]}, got {got[first]}")


def tries(name):
    """Says what comes next: exercises.py shows the last such line if the program crashes in it, or after it."""
    print(f"  tried    {name}", flush=True)


def expect_error(look_at, error, name, call):
    """call() has to raise an exception of this class; returns it."""
    tries(name)
    try:
        got = call()
    except error as raised:
        return raised
    except BaseException as raised:
        wrong(look_at, f"{name}: expected {error.__name__}, got {in_words(raised)}")
    wrong(look_at, f"{name}: expected {error.__name__}, got no exception, but {got!r:.60}")


def expect_no_error(look_at, name, call):
    """What call() returns; it may raise nothing."""
    tries(name)
    try:
        return call()
    except BaseException as raised:
        wrong(look_at, f"{name}: got {in_words(raised)}")


def in_words(raised):
    """An exception, and where: "CudaError 700, cudaErrorIllegalAddress", "TypeError: ... (strided.pyx, line 30)"."""
    if isinstance(raised, MemoryError):
        return "MemoryError"
    if type(raised).__name__ == "CudaError":
        return f"CudaError {raised.code}, {raised.name}"
    others = re.compile(r"_check\.py$|exercise\.py$|^<|/lib/|View\.MemoryView")
    own = [place for place in traceback.extract_tb(raised.__traceback__) if not others.search(place.filename)]
    where = f" ({os.path.basename(own[-1].filename)}, line {own[-1].lineno})" if own else ""
    return f"{type(raised).__name__}: {raised}{where}".replace("\n", " ")


def see(call, blocks=1):
    """What call() returns, and what its launches do (cpu_cuda_seen in cpu/include/cpu_seen.h). All are 0 on a GPU.

    blocks=0: they do nothing.
    """
    names = "launches", "blocks", "threads", "reads", "writes", "atomics", "sectors", "most"
    seen = (ctypes.c_longlong * len(names))()
    if is_on_stand_in:
        cuda.cpu_cuda_watch(seen, blocks)
    result = call()
    if is_on_stand_in:
        cuda.cpu_cuda_watch(None, 0)
    return result, dict(zip(names, seen))


def expect_kernel(name, call, expected):
    """call() once more, in which kernels do nothing: what is as expected all the same, somebody else has computed."""
    got, _ = see(call, blocks=0)
    if is_on_stand_in and np.array_equal(got, expected):
        wrong("who computes: the kernel, or NumPy?", f"{name}: the result is right, too, if no thread of a kernel runs")


def free_bytes():
    """How much memory of the device is free; -1 after an error that stays. On a GPU, which others may use, too: 0."""
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    gc.collect()
    is_known = not is_on_stand_in or cuda.cudaMemGetInfo(ctypes.byref(free), ctypes.byref(total)) == 0
    return free.value if is_known else -1


def in_a_process(call):
    """What call() returns, a text, or "" if its process ends before; and what it writes to stderr.

    In a process of its own, before this one has used CUDA.
    """
    with tempfile.TemporaryFile() as answer, tempfile.TemporaryFile() as said:
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            os.dup2(said.fileno(), 2)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            try:
                os.write(answer.fileno(), call().encode())
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        answer.seek(0)
        said.seek(0)
        return answer.read().decode(), said.read().decode(errors="replace")


def outcome_of(call, fails):
    """With which exception call() ends if CUDA calls fail so, and in a second line whether memory stays allocated."""
    before = free_bytes()
    os.environ.update(fails)
    try:
        call()
        got = "no exception"
    except BaseException as raised:
        got = in_words(raised)
    os.environ.pop("CPU_CUDA_FAIL", None)
    return f"{got}\n{'allocated' if 0 <= free_bytes() < before else ''}"


def expect_each_failure(name, call, look_at=None, arguments=None, has_frees=False):
    """Each CUDA call of call() fails, one by one, alone and with all after it, with two codes. Only on the stand-in.
    "+": all after it, but for those that give memory back; "++": also those, with another code.

    call() has to raise CudaError with this code (MemoryError is as good for code 2). Nothing may stay allocated. Where a
    call fails that gives memory back, call() may raise it or not; if `has_frees` it has to. Before the check itself uses
    CUDA: let call() import the module, whose last lines may use it. arguments: where to look if it fails by itself.
    """
    if not is_on_stand_in:
        return
    arguments = arguments or "what C gets: the addresses, the number of elements (not of bytes), the other arguments"
    look_at = look_at or "each call may fail: is its code looked at, and kept until the end?"

    def try_once(k=0, more="", code=0):
        """Whether there is a k-th call."""
        fails = {"CPU_CUDA_FAIL": f"{k}{more}", "CPU_CUDA_FAIL_CODE": str(code)} if k else {}
        got, said = in_a_process(lambda: outcome_of(call, fails))
        failed = re.search(r"CPU_CUDA_FAIL: call \d+, (.*), fails, as asked", said)
        if k and not failed:
            return False
        what, gives_back, expected = name, False, ["no exception"]
        if k:
            fail = f"and all after it fail with code {code}" if more else f"fails with code {code}"
            what = f"{name}, in which {failed[1]} (CUDA call {k}) {fail}"
            gives_back = re.search("Free|Destroy|Unregister", failed[1])
            if gives_back and more:
                return True
            expected = [f"CudaError {code}"] + ["MemoryError"] * (code == 2)
        faults = [line for line in said.splitlines() if re.match("CPU stand-in: (?!CPU_CUDA_FAIL|this program)", line)]
        print(*faults[:1], sep="\n", end="\n" * bool(faults), file=sys.stderr, flush=True)  # exercises.py shows it
        if not got:
            ends = "does somebody look at its code? And a library never ends the process of its caller"
            wrong(ends if k else arguments, f"{what}: the process has ended, or crashed")
        got, stays = got.rsplit("\n", 1)
        if got.split(",")[0] not in expected and not (got == "no exception" and gives_back and not has_frees):
            first = "the first error counts: it is kept if a call that gives memory back fails, too"
            look = look_at if k else arguments
            if k and got.startswith(("CudaError", "MemoryError")):
                look = first if more == "++" else "is the code that C returned raised as it is?"
            wrong(look, f"{what}: expected {expected[-1]}, got {got}")
        if stays and not gives_back and more != "++":
            look = "all that was allocated is given back, also after an error: in which line, and does it run? If an "
            look += "object has it: who still refers to it? Python finds __dealloc__ only by its exact name"
            wrong(look, f"{what}: memory stays allocated on the device")
        if faults:
            wrong("the line that the stand-in names, and who calls it", f"{what}: then the stand-in sees a fault")
        return True

    try_once()
    k = 1
    while all([try_once(k, more, code) for more in ("", "+", "++") for code in (2, 719)]):
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
