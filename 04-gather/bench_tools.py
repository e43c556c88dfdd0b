"""What bench.py measures with: clocks, and the C functions of libbench.so and libgather.so."""

import ctypes
import json
import os
import statistics
import sys
import threading
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
MI = 1 << 20


class Job(ctypes.Structure):
    """struct gather_job of gather.cuh."""

    _fields_ = [("source", ctypes.c_void_p), ("index", ctypes.c_void_p), ("result", ctypes.c_void_p)]
    _fields_ += [("N", ctypes.c_size_t), ("M", ctypes.c_size_t), ("element_bytes", ctypes.c_int)]
    _fields_ += [
        ("index_bytes", ctypes.c_int),
        ("mode", ctypes.c_int),
        ("stream", ctypes.c_void_p),
        ("keep_result", ctypes.c_int),
    ]


def load():
    """libbench.so, with the types of its functions."""
    bench = ctypes.CDLL(os.path.join(HERE, "libbench.so"))
    P, S, I = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    for name, arguments in dict(
        clock_start=[], clock_stop=[], wait=[], free_bytes=[], start_only=[], random_reads=[P, S, S, ctypes.c_uint, P],
        copy_on_device=[P, P, S], both_ways=[P, P, P, P, S], article_gather=[P, P, P, I, I],
        gather_unchecked=[P, P, P, I], launch_loop=[P, ctypes.POINTER(Job), I],
    ).items():  # fmt: skip
        getattr(bench, name).argtypes = arguments
    bench.clock_stop.restype, bench.free_bytes.restype = ctypes.c_float, S
    return bench


bench = load()
gather_launch = ctypes.CDLL(os.path.join(HERE, "libgather.so")).gather_launch
gather_launch.argtypes = [ctypes.POINTER(Job), ctypes.c_void_p]


def address(x):
    return x.__cuda_array_interface__["data"][0] if hasattr(x, "__cuda_array_interface__") else x.ctypes.data


def summary(times):
    return {"median": statistics.median(times), "low": min(times), "high": max(times)}


def walls(calls, repeats=9, warm_up=2):
    """Milliseconds of each (call, wait) on the host's clock, until the device has finished. They take turns."""
    times = [[] for _ in calls]
    for _ in range(repeats + warm_up):
        for (call, wait), its_times in zip(calls, times):
            wait()
            start = time.perf_counter()
            call()
            wait()
            its_times.append((time.perf_counter() - start) * 1e3)
    return [summary(its_times[warm_up:]) for its_times in times]


def wall(call, repeats=9, warm_up=2, wait=bench.wait):
    """Milliseconds of one call."""
    return walls([(call, wait)], repeats, warm_up)[0]


def device(calls, repeats=7):
    """Milliseconds of one of the calls on the device, one right after the other: events around all of them."""
    times = []
    for _ in range(repeats + 2):
        bench.clock_start()
        for call in calls:
            call()
        times.append(bench.clock_stop() / len(calls))
    return summary(times[2:])


def peak_bytes(call):
    """How much less free memory the device had while the call ran, as seen some thousand times a second."""
    bench.wait()
    before, least, done = bench.free_bytes(), [bench.free_bytes()], threading.Event()

    def watch():
        while not done.is_set():
            least.append(bench.free_bytes())

    thread = threading.Thread(target=watch)
    thread.start()
    call()
    done.set()
    thread.join()
    return before - min(least)


def article_alone():
    """The article's Gather, in a process of its own."""
    random = np.random.default_rng(0)
    x, idx = random.random(128 * MI, dtype=np.float32), random.integers(128 * MI, size=MI, dtype=np.int32)
    out = np.zeros(MI, np.float32)
    call = lambda: bench.article_gather(x.ctypes.data, idx.ctypes.data, out.ctypes.data, MI, x.size)
    times = wall(call, 5, 1, lambda: None)
    if not np.array_equal(out, x[idx]):
        sys.exit("article_gather: the result is not NumPy's")
    print(json.dumps({"way": "the article's Gather", "peak_bytes": 4 * (x.size + 2 * MI), **times}))


if __name__ == "__main__":
    article_alone()
