"""Clocks of make bench, for Python: each time is {"median", "low", "high"} of several."""

import statistics
import time


def summary(times):
    return {"median": statistics.median(times), "low": min(times), "high": max(times)}


def micros_a_call(call, wait, calls=1000, repeats=21):
    """Microseconds on the host's clock of one of so many calls, with no wait in between."""
    times = []
    for _ in range(repeats + 3):
        wait()
        start = time.perf_counter()
        for _ in range(calls):
            call()
        times.append((time.perf_counter() - start) / calls * 1e6)
        wait()
    return summary(times[3:])  # those before warm up


def millis_in_turn(calls, repeats=9, warm_up=2):
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
