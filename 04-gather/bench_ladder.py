"""The article's input, the ways from the slowest to the fastest, and the other libraries. Part of bench.py."""

import itertools
import json
import os
import subprocess
import sys
import time

import numpy as np

from bench_tools import HERE, address, bench, peak_bytes, wall, walls
from gather import DeviceArray, pin, pinned_empty, take
from wrapper import cuda_gather

MI = 1 << 20
random = np.random.default_rng(0)


def article(peers):
    """The ladder: 1 Mi from 128 Mi floats, NumPy array to NumPy array if nothing else is said.

    Eight sets of indices in turn: what one of them has brought into a cache is of little use to the next.
    """
    x = random.random(128 * MI, dtype=np.float32)
    sets = [random.integers(x.size, size=MI, dtype=np.int32) for _ in range(8)]
    expected, out = x[sets[0]], np.empty(MI, np.float32)
    d_x, d_sets, d_out = DeviceArray(x), [DeviceArray(idx) for idx in sets], DeviceArray(out)
    p_sets, p_out = [pinned_empty(MI, np.int32) for _ in sets], pinned_empty(MI, np.float32)
    for p_idx, idx in zip(p_sets, sets):
        p_idx[...] = idx
    rows, resident = [], []

    def row(name, call, result=None, forget=lambda: None, wait=bench.wait, takes_turns=False):
        got = call(0) if result is None else (call(0), result())[1]
        if not np.array_equal(got, expected):
            sys.exit(f"{name}: the result is not NumPy's")
        forget()  # what a library keeps from that call would not show in the peak
        turn = itertools.cycle([(len(rows) + k) % 8 for k in range(8)])  # each way begins with other indices
        rows.append({"way": name, "peak_bytes": peak_bytes(lambda: call(1))})
        if takes_turns:
            resident.append((rows[-1], (lambda: call(next(turn)), wait)))
            return
        start = time.perf_counter()
        call(2)
        repeats = min(101, max(9, int(0.3 / (time.perf_counter() - start))))
        rows[-1].update(wall(lambda: call(next(turn)), repeats, wait=wait))

    row("NumPy: x[idx]", lambda k: x[sets[k]])
    row("NumPy: np.take(x, idx, out=out, mode='wrap')", lambda k: np.take(x, sets[k], out=out, mode="wrap"))
    row("cuda_gather(x, idx)", lambda k: cuda_gather(x, sets[k]))
    row("take(x, idx)", lambda k: take(x, sets[k]))
    with pin(x):
        row("with pin(x): take(x, idx)", lambda k: take(x, sets[k]))
    row("take(DeviceArray(x), idx)", lambda k: take(DeviceArray(x), sets[k]))
    row("take(d_x, idx)", lambda k: take(d_x, sets[k]), takes_turns=True)
    row("take(d_x, p_idx, p_out)", lambda k: take(d_x, p_sets[k], p_out))
    row("take(d_x, d_idx, d_out)", lambda k: take(d_x, d_sets[k], d_out), d_out.get)
    for name, peer in peers.items():
        typed = [idx.astype(peer.get("index", idx.dtype)) for idx in sets]
        up, down, get = peer["up"], peer["down"], peer["take"]
        more = {"forget": peer["forget"], "wait": peer["wait"]}
        peer["forget"]()
        row(f"{name}: one shot", lambda k: down(get(up(x), up(typed[k]))), **more)
        way = lambda k, s=up(x), up=up, down=down, get=get, typed=typed: down(get(s, up(typed[k])))
        row(f"{name}: source resident", way, takes_turns=True, **more)
        peer["forget"]()
    # From NumPy array to NumPy array with the source on the GPU: how long that takes depends on where NumPy finds room
    # for the result, and on what the CPU's caches hold. So these take turns.
    for (its_row, _), times in zip(resident, walls([call for _, call in resident], 101)):
        its_row.update(times)
    d_idx, p_idx = d_sets[0], p_sets[0]
    floor = wall(lambda: bench.both_ways(address(d_out), address(p_idx), address(p_out), address(d_idx), 4 * MI), 21)
    run = [sys.executable, os.path.join(HERE, "bench_tools.py")]  # alone: it resets the device
    rows.insert(2, json.loads(subprocess.run(run, stdout=subprocess.PIPE, check=True).stdout))
    return {"rows": rows, "pcie_floor": floor}
