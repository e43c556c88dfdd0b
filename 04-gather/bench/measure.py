"""What bench.py measures with: clocks, and the C functions of libbench.so and libgather.so."""

import ctypes
import os
import statistics
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
P, S, I = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int


class Job(ctypes.Structure):
    """struct gather_job of gather.cuh; of each array the address for the CPU, then that for the device."""

    _fields_ = [(f"{array}_{side}", P) for array in ("source", "index", "result") for side in ("host", "device")]
    _fields_ += [("N", S), ("M", S), ("element_bytes", I), ("index_bytes", I), ("mode", I), ("stream", P)]


def load():
    """libbench.so, with the types of its functions."""
    bench = ctypes.CDLL(os.path.join(HERE, "libbench.so"))
    for name, arguments in dict(
        clock_start=[], clock_stop=[], wait=[], free_bytes=[], start_only=[], random_reads=[P, S, S, ctypes.c_uint, P],
        copy_on_device=[P, P, S], both_ways=[P, P, P, P, S], article_gather=[P, P, P, I, I],
        gather_unchecked=[P, P, P, I], launch_loop=[P, ctypes.POINTER(Job), I],
    ).items():  # fmt: skip
        getattr(bench, name).argtypes = arguments
    bench.clock_stop.restype, bench.free_bytes.restype = ctypes.c_float, S
    return bench


bench = load()
gather_launch = ctypes.CDLL(os.path.join(HERE, "..", "fast", "libgather.so")).gather_launch
gather_launch.argtypes = [ctypes.POINTER(Job), P]


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


def device(calls, repeats=9):
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
