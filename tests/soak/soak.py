"""Load tests: what make soak runs. Prints a line for each part; exit status 1 if one failed.

    soak.py [SECONDS [CASES [SEED]]]     all parts: so many seconds of threads, so many drawn cases
    soak.py PART SECONDS CASES SEED      one of them: threads, calls, drawn

Settings: TEST_BACKEND, cuda or cpu; TOOLS, tests/tools.cu as a library.
"""

import gc
import importlib.util
import os
import random
import resource
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
FOLDERS = "../04-gather/fast", "../04-gather", "../03-cython-ctypes", "04-gather-fast"
sys.path[:0] = [os.path.join(TESTS, folder) for folder in FOLDERS]

import numpy as np
from kinds import outcome, pinned, tools
from gather import DeviceArray, pin, pinned_empty, take
from multiply import multiply
from wrapper import cuda_gather

IS_GPU = os.environ.get("TEST_BACKEND") == "cuda"
STAND_IN = "CPU stand-in: this program runs on the CPU, not on a GPU\n"


def fault(*command, limit=300):
    """(what is wrong, stdout) of Python with the modules: nothing, if it ends with exit status 0 and is quiet."""
    settings = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONFAULTHANDLER": "1"}
    command = ["timeout", "--foreground", str(limit), sys.executable, "-W", "ignore::DeprecationWarning", *command]
    done = subprocess.run(command, capture_output=True, text=True, env=settings)
    said = done.stderr.replace(STAND_IN, "")
    if (done.returncode, said) == (0, ""):
        return "", done.stdout
    hangs = " (it hangs)" if done.returncode == 124 else ""
    return f"{command[6:]}: exit status {done.returncode}{hangs}\n{done.stdout[-2000:]}{said}", done.stdout


# ---- The parts. Each prints its figures, or ends with what is wrong.


def threads(seconds, count, seed):
    """16 threads gather from sources that they share and from their own, into all places, and let go of them."""
    x = np.arange(1 << 16, dtype=np.float32)
    shared = [x, pinned(x), DeviceArray(x)]
    end, calls, wrong = time.monotonic() + seconds, [0] * 16, []
    everywhere = np.copy, pinned, DeviceArray

    def work(k):
        r = random.Random(f"{seed} {k}")
        while time.monotonic() < end and not wrong:
            own, size = x + np.float32(r.randrange(1000)), r.choice((1, 100, 3000, 20000, 70000))
            i = np.random.default_rng(r.randrange(2**32)).integers(-x.size, x.size, size)
            mode, is_own = r.choice(("raise", "wrap", "clip")), r.random() < 0.75
            placed = r.choice(everywhere)(own) if is_own else r.choice(shared)
            expected = (own if is_own else x)[np.maximum(i, 0) if mode == "clip" else i]
            out = r.choice((lambda _: None, *everywhere))(np.zeros_like(expected))
            if r.random() < 0.1:
                shared[2] = DeviceArray(x)  # the one before goes when nobody works with it any more
            with pin(own):
                result = take(placed, r.choice(everywhere)(i), out=out, mode=mode)
            right = np.array_equal(result.get() if type(result) is DeviceArray else result, expected)
            right &= np.array_equal(cuda_gather(own, i[:1000]), own[i[:1000]])
            right &= np.array_equal(multiply(own[:1000], own[:1000]), own[:1000] * own[:1000])
            bad = r.randrange(size)
            i[bad] = x.size + bad
            said = f"IndexError: index {i[bad]} is out of bounds for axis 0 with size {x.size}"
            if not right or str(outcome(lambda: take(placed, i))) != said:
                wrong.append(f"thread {k}: {type(placed)}, {size} indices, mode {mode}, out {type(out)}")
            calls[k] += 4

    def safely(k):
        error = outcome(lambda: work(k))
        wrong.extend([f"thread {k}: {error}"] if error else [])

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(safely, range(16)))
    sys.exit("\n".join(wrong)) if wrong else print(f"{sum(calls)} calls of 16 threads right")


def calls(seconds, count, seed):
    """Small calls, five times as many as drawn cases. No byte on the device may stay, no reference, no object."""
    x, i, out = np.arange(1000, dtype=np.float32), np.array([5, -1, 7]), np.zeros(3, np.float32)
    d_x, d_i, d_out, p = DeviceArray(x), DeviceArray(i), DeviceArray(out), pinned(x)
    free_bytes = tools().free_bytes

    def call_all(n):
        for k in range(n):
            take(p, i, out=out, mode="wrap"), take(p, [1, 2]), take(d_x, i), take(d_x, d_i, out=d_out, mode="clip")
            outcome(lambda: take(d_x, [1000])), outcome(lambda: take(x, [0.5]))
            if IS_GPU or k % 200 == 0:  # new memory: the stand-in keeps a note of all that was freed
                take(x, i), take(x[::2], i[::-1]), pinned_empty(3), take(DeviceArray(x), d_i)
                cuda_gather(x, i), multiply(out, out)
            if k % 100 == 0:
                d_out.get()  # waits for what was only launched
        gc.collect()
        references = [sys.getrefcount(a) for a in (x, i, out, d_x, d_i, d_out, p, x.dtype, i.dtype)]
        most_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return (free_bytes(), references), sys.getallocatedblocks(), most_kib

    call_all(1000)  # what is made once, is there now
    before, now = call_all(1000), call_all(count * 5 // (12 if IS_GPU else 6))
    # 2 MiB: 32 bytes, the least that malloc gives, are 3 MiB after 10^5 calls. The stand-in's notes are more than that.
    has_grown = IS_GPU and now[2] > before[2] + 2048
    if now[0] != before[0] or now[1] > before[1] + 100 or has_grown:
        sys.exit(f"(free bytes, references), objects, KiB of the process: {before}; after the calls {now}")
    print(f"{count * 5} calls leave nothing; the process grew by {now[2] - before[2]} KiB")


def drawn(seconds, count, seed):
    """Drawn cases, as NumPy; few in each process: the stand-in keeps a note of all that was freed, and becomes slow."""
    cases, each = os.path.join(TESTS, "soak/cases.py"), 5000
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        run = lambda k: fault(cases, f"{seed}{k}", str(min(each, count - k)))[0]
        wrong = "".join(pool.map(run, range(0, count, each)))
    sys.exit(wrong) if wrong else print(f"{count} cases as NumPy")


PARTS = {part.__name__: part for part in (threads, calls, drawn)}


def main(seconds="60", count="200000", seed=""):
    if not importlib.util.find_spec("hypothesis"):
        sys.exit(f"Hypothesis, which draws the cases, is missing: {sys.executable} -m pip install hypothesis")
    seed = seed or str(random.randrange(10**9))
    print(f"seed {seed}", flush=True)
    failed = False
    for name in PARTS:
        start, limit = time.monotonic(), 600 + float(seconds) + int(count) / 40
        wrong, printed = fault(__file__, name, seconds, count, seed, limit=limit)
        word = "FAILED" if wrong else "ok"
        print(f"{word:7} {name:10} {time.monotonic() - start:5.0f} s  {wrong or printed.strip()}", flush=True)
        failed |= bool(wrong)
    return failed


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in PARTS:
        part, seconds, count, seed = sys.argv[1:]
        sys.exit(PARTS[part](float(seconds), int(count), seed))
    sys.exit(main(*sys.argv[1:]))
