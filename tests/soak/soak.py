"""Load tests: what make soak runs. Prints a line for each part; exit status 1 if one failed.

    soak.py [SECONDS [CASES [SEED]]]     all parts: so many seconds of threads, so many small calls and drawn cases
    soak.py PART SECONDS CASES SEED      one of them: threads, calls, ends, forks, interrupts, drawn

Settings: TEST_BACKEND, cuda or cpu; TOOLS, tests/tools.cu as a library.
"""

import gc
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import cases  # it finds the modules
import numpy as np
from gather import CudaError, DeviceArray, pin, pinned_empty, take
from multiply import multiply
from wrapper import cuda_gather

TESTS = os.path.join(cases.TOP, "tests")
sys.path.append(os.path.join(TESTS, "04-gather-fast"))
from arrays import outcome, pinned, tools

IS_GPU = os.environ.get("TEST_BACKEND") == "cuda"
STAND_IN = "CPU stand-in: this program runs on the CPU, not on a GPU\n"


def python(*command, limit=120):
    """Runs Python with the modules: exit status, stdout and stderr. What takes longer than `limit` seconds hangs."""
    settings = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONFAULTHANDLER": "1"}
    command = [sys.executable, "-W", "ignore::DeprecationWarning", *command]
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=settings, timeout=limit)
    except subprocess.TimeoutExpired:
        return "it hangs", "", ""
    return done.returncode, done.stdout, done.stderr.replace(STAND_IN, "")


def host(x):
    return x.get() if isinstance(x, DeviceArray) else x


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
            own = x + np.float32(r.randrange(1000))
            i = np.random.default_rng(r.randrange(2**32)).integers(
                -x.size, x.size, r.choice((1, 100, 3000, 20000, 70000))
            )
            mode, bad = r.choice(("raise", "wrap", "clip")), r.randrange(i.size)
            which = r.randrange(4)
            source = own if which else x
            expected = source[np.maximum(i, 0) if mode == "clip" else i]
            placed = r.choice(everywhere)(source) if which else r.choice(shared)
            out = r.choice((lambda _: None, *everywhere))(np.zeros_like(expected))
            if r.random() < 0.1:
                shared[2] = DeviceArray(x)  # the one before goes when nobody works with it any more
            with pin(own):
                right = np.array_equal(host(take(placed, r.choice(everywhere)(i), out, mode)), expected)
            right &= np.array_equal(cuda_gather(own, i[:1000]), own[i[:1000]])
            right &= np.array_equal(multiply(own[:1000], own[:1000]), own[:1000] * own[:1000])
            i[bad] = x.size + bad
            said = f"IndexError: index {x.size + bad} is out of bounds for axis 0 with size {x.size}"
            if not right or str(outcome(lambda: take(placed, i))) != said:
                wrong.append(
                    f"thread {k}: {type(placed).__name__}, {i.size} indices, mode {mode}, out {type(out).__name__}"
                )
            calls[k] += 4

    def safely(k):
        try:
            work(k)
        except BaseException as error:
            wrong.append(f"thread {k}: {error!r}")

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(safely, range(16)))
    sys.exit("\n".join(wrong)) if wrong else print(f"{sum(calls)} calls of 16 threads right")


def resident_bytes():
    with open("/proc/self/status") as file:
        return next(int(row.split()[1]) * 1024 for row in file if row.startswith("VmRSS"))


def calls(seconds, count, seed):
    """Small calls, one kind after the other. Nothing may stay: no byte on the device, no reference, no object."""
    x, i, out = np.arange(1000, dtype=np.float32), np.array([5, -1, 7]), np.zeros(3, np.float32)
    d_x, d_i, d_out, p = DeviceArray(x), DeviceArray(i), DeviceArray(out), pinned(x)
    known = x, i, out, d_x, d_i, d_out, p, x.dtype, i.dtype
    free_bytes = tools().free_bytes
    kinds = {
        "take": lambda: take(p, i, out, "wrap"),
        "take of a list": lambda: take(p, [1, 2]),
        "take from the device": lambda: take(d_x, i),
        "take on the device": lambda: take(d_x, d_i, d_out, "clip"),
        "IndexError": lambda: outcome(lambda: take(d_x, [1000])),
        "TypeError": lambda: outcome(lambda: take(x, [0.5])),
    }
    with_new_memory = (
        {  # of the device, or pinned. The stand-in keeps a note of all that was freed: there fewer of these.
            "take of ordinary memory": lambda: take(x, i),
            "take, strided": lambda: take(x[::2], i[::-1]),
            "pinned_empty": lambda: pinned_empty(3),
            "DeviceArray": lambda: take(DeviceArray(x), d_i),
            "cuda_gather": lambda: cuda_gather(x, i),
            "multiply": lambda: multiply(out, out),
        }
    )

    def repeat(call, n):
        for k in range(n):
            call()
            if k % 100 == 0:
                d_out.get()  # waits for what was only launched
        gc.collect()
        return free_bytes(), resident_bytes(), sys.getallocatedblocks(), [sys.getrefcount(a) for a in known]

    each = count // (len(kinds | with_new_memory) if IS_GPU else len(kinds)) + 1
    sum_of_calls, most_bytes = 0, 0
    for name, call in (kinds | with_new_memory).items():
        n = each if IS_GPU or name in kinds else each // 100 + 1
        before = repeat(call, 1000)
        after = repeat(call, n)
        device, resident, blocks = (after[k] - before[k] for k in range(3))
        # 2 MiB: the process's memory varies by 1 MiB, and 32 bytes, the least that malloc gives, are 3 MiB after 10^5 calls
        if device != 0 or resident > 2 << 20 or blocks > 100 or after[3] != before[3]:
            sys.exit(f"{name}: after {n} calls {-device} bytes more on the device, {resident} on the host, "
                     f"{blocks} objects more, references {before[3]} before, {after[3]} afterwards")  # fmt: skip
        sum_of_calls, most_bytes = sum_of_calls + n, max(most_bytes, resident)
    print(f"{sum_of_calls} calls leave nothing; the process grew by {most_bytes >> 10} KiB at most")


BEGIN = """
import atexit, json, os, sys, threading
import numpy as np
from gather import DeviceArray, pin, pinned_empty, take
from wrapper import cuda_gather
x, i = np.arange(1000, dtype=np.float32), np.arange(10)
d, e, p = DeviceArray(x), DeviceArray(i), pinned_empty(1000)
p[...] = x
v, r = p[5:].view(np.int32)[::-1], take(d, e, mode="raise")
cuda_gather(x, i)
"""
ENDS = {  # and the exit status
    "pass": 0,
    "sys.modules.clear()": 0,
    "sys.modules.clear(); globals().clear()": 0,
    "json.kept = d, v, r; del d, p, v, r": 0,
    "cycle = [d, v]; cycle.append(cycle)": 0,
    "pin(x).__enter__()": 0,
    "atexit.register(lambda: print(take(d, e).get()))": 0,
    "atexit.register(lambda: globals().clear())": 0,
    "sys.excepthook = lambda *error: None; raise ValueError(d)": 1,
    "sys.exit(3)": 3,
    "os._exit(7)": 7,
    "os.kill(os.getpid(), 15)": -15,
    "here = threading.local(); here.d = DeviceArray(x)": 0,
    "threading.Thread(target=lambda: [take(d, i) for _ in range(2000)]).start()": 0,
}
AT_WORK = "del d, e, p, v, r; threading.Thread(target=lambda: [take(x, i) for _ in range(10**9)], daemon=True).start()"


def ends(seconds, count, seed):
    """Processes end with live objects. Exit status and stderr are as they should be."""
    r = random.Random(seed)
    programs = [*ENDS.items(), *((f"del {', '.join(r.sample('deipvrx', 7))}", 0) for _ in range(15))]
    if not IS_GPU:  # on a GPU CUDA promises nothing to threads while the process ends
        programs += [(AT_WORK, 0)] * 5

    def run(program):
        status, out, err = python("-c", BEGIN + program[0])
        return "" if (status, err) == (program[1], "") else f"{program[0]}: exit status {status}\n{err}"

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = "".join(pool.map(run, programs))
    sys.exit(wrong) if wrong else print(f"{len(programs)} processes ended as they should")


def gathered(n):
    return take(DeviceArray(np.arange(n)), np.arange(n)[::-1]).tolist()


def forks(seconds, count, seed):
    """A child that is forked after use gets CudaError and ends; the parent goes on. spawn and forkserver work."""
    x, i = np.arange(1 << 20, dtype=np.float32), np.arange(10)
    d, e, p = DeviceArray(x), DeviceArray(i), pinned(x)
    ways = [lambda: take(x, i), lambda: take(d, i), lambda: take(d, e, mode="clip"), lambda: take(p, i), lambda: DeviceArray(x),
            lambda: d.get(), lambda: pinned_empty(3), lambda: cuda_gather(x, i), lambda: multiply(x, x)]  # fmt: skip
    for k in range(50):
        child = os.fork()
        if child == 0:
            signal.alarm(20)  # it hangs
            said = [str(outcome(way)) for way in ways[k % len(ways) :] + ways[: k % len(ways)]]
            os._exit(0 if all(text.startswith("CudaError: CUDA error 3,") for text in said) else 1)
        right = np.array_equal(take(d, i), x[:10])
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status or not right or not np.array_equal(take(x, e).get(), x[:10]):
            sys.exit(f"fork {k}: the child ended with {status}, the parent is {'right' if right else 'WRONG'}")
    for method in "spawn", "forkserver":
        with multiprocessing.get_context(method).Pool(2) as pool:
            if pool.map(gathered, range(20)) != [list(range(n))[::-1] for n in range(20)]:
                sys.exit(f"{method}: wrong results")
    with open(os.path.join(TESTS, "04-gather-fast/forks.txt")) as file:
        expected = file.read()
    for _ in range(3):  # while threads are at work
        done = python(os.path.join(TESTS, "04-gather-fast/forks.py"))
        if done != (0, expected, ""):
            sys.exit(f"forks.py: {done}")
    print(f"{50 + 3 * 5} children got CudaError; spawn and forkserver right")


def interrupts(seconds, count, seed):
    """Ctrl-C in a long call: KeyboardInterrupt comes when it has ended, the next call is right, and nothing stays."""
    r, free_bytes = random.Random(seed), tools().free_bytes
    x, few = np.arange(1 << 20, dtype=np.float32), np.arange(10)
    i = np.random.default_rng(0).integers(0, x.size, 1 << (24 if IS_GPU else 20))
    start = time.monotonic()
    expected = take(x, i)
    length, before = time.monotonic() - start, None
    for k in range(20):
        timer = threading.Timer(r.random() * length, lambda: os.kill(os.getpid(), signal.SIGINT))
        try:
            timer.start()
            take(x, i)
            time.sleep(20)
            sys.exit("KeyboardInterrupt did not come")
        except KeyboardInterrupt:
            pass
        timer.join()
        if not np.array_equal(take(x, few), x[:10]):
            sys.exit("wrong after KeyboardInterrupt")
        now = free_bytes(), [sys.getrefcount(a) for a in (x, i, few, expected)]
        before = before or now
        if now != before:
            sys.exit(f"free bytes and references before {before}, after {k} interrupts {now}")
    if not np.array_equal(take(x, i), expected):
        sys.exit("wrong after the interrupts")
    print(f"20 interrupts of calls of {length * 1000:.0f} ms")


def drawn(seconds, count, seed):
    """Drawn cases, as NumPy."""
    cases.run_cases(seed, 0, count)


# ---- All of them

PARTS = {part.__name__: part for part in (threads, calls, ends, forks, interrupts, drawn)}


def main(seconds="60", count="1000000", seed=""):
    seed = seed or str(random.randrange(10**9))
    print(f"seed {seed}", flush=True)
    failed = False
    for name in PARTS:
        start = time.monotonic()
        limit = 600 + float(seconds) + int(count) / 200
        status, out, err = python(__file__, name, seconds, count, seed, limit=limit)
        word = "ok" if (status, err) == (0, "") else "FAILED"
        print(f"{word:7} {name:10} {time.monotonic() - start:5.0f} s  {out.strip()}", flush=True)
        if word == "FAILED":
            print(f"exit status {status}\n{err}", flush=True)
            failed = True
    return failed


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in PARTS:
        part, seconds, count, seed = sys.argv[1:]
        sys.exit(PARTS[part](float(seconds), int(count), seed))
    sys.exit(main(*sys.argv[1:]))
