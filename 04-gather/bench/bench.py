"""How fast is gather, beside NumPy, the libraries, and what the hardware allows? Writes bench.json.

Build: make build, here, in .. and in ../fast
Run:   make bench (on a GPU only), then python3 page.py: the tables and plots of the pages

Whatever is timed is compared with NumPy's result first.
"""

import ctypes
import itertools
import json
import os
import subprocess
import sys
import time

import numpy as np

import peers as libraries
from gather import DeviceArray, pin, pinned_empty, take
from measure import HERE, Job, address, bench, device, gather_launch, peak_bytes, summary, wall, walls
from wrapper import cuda_gather

KI, MI = 1 << 10, 1 << 20
random = np.random.default_rng(0)


def check(name, got, expected):
    if not np.array_equal(got, expected):
        sys.exit(f"{name}: the result is not NumPy's")


def on_device(peers, d_x, d_sets, d_out, expected):
    """{way: milliseconds of the kernel}: this take and the peers, on the same arrays, several index sets in turn."""
    ways = {"this take": device([lambda i=i: take(d_x, i, d_out, "clip") for i in d_sets])}
    check("this take", (take(d_x, d_sets[0], d_out), d_out.get())[1], expected)
    for name, peer in peers.items():
        if peer["view"] is None or peer.get("index", d_sets[0].dtype) != d_sets[0].dtype:
            continue
        s, out, arrays = peer["view"](d_x), peer["view"](d_out), [peer["view"](i) for i in d_sets]
        take(d_x, DeviceArray(np.zeros(d_out.shape, np.int32)), d_out)  # so that it is not there already
        ways[name] = device([lambda i=i: peer["out"](s, i, out) for i in arrays])
        check(name, (peer["out"](s, arrays[0], out), peer["wait"](), d_out.get())[2], expected)
        del s, out, arrays
        peer["forget"]()
    return ways


def random_indices(peers):
    """The kernel with random indices from sources of four sizes, and the floor: reads alone and a copy."""
    rows = []
    for M in MI, 8 * MI, 128 * MI, 2048 * MI:
        x = np.arange(M, dtype=np.int32)
        d_x, sink = DeviceArray(x), DeviceArray(np.zeros(1, np.float32))
        bad = DeviceArray(np.array([-1]))  # as unsigned, larger than any position
        for N, count in (MI, 16), (16 * MI, 4), (64 * MI, 2):
            sets = [random.integers(M, size=N, dtype=np.int32) for _ in range(count)]
            d_sets, d_out = [DeviceArray(s) for s in sets], DeviceArray.empty(N, np.int32)
            row = {"M": M, "N": N, "ways": on_device(peers, d_x, d_sets, d_out, x[sets[0]])}
            a_x, a_out, a_sets = address(d_x), address(d_out), [address(s) for s in d_sets]
            jobs = [Job(None, a_x, None, a, None, a_out, N, M, 4, 4, 0, None) for a in a_sets]
            row["raise"] = device([lambda j=j: gather_launch(ctypes.byref(j), address(bad)) for j in jobs])
            row["unchecked"] = device([lambda a=a: bench.gather_unchecked(a_x, a, a_out, N) for a in a_sets])
            reads = device([lambda k=k: bench.random_reads(a_x, M, N, k, address(sink)) for k in range(count)])
            copy = device([lambda a=a: bench.copy_on_device(a_out, a, 4 * N) for a in a_sets])
            row["floor"] = reads["median"] + copy["median"] - device([bench.start_only] * count)["median"]
            rows.append(row)
            print(f"random: {M} from, {N} indices", file=sys.stderr, flush=True)
    return rows


def distributions(peers, N=16 * MI):
    """The kernel with other indices, four widths, three sizes of the source; and a copy of the bytes that must move."""
    rows = []
    dice = random.random(N)
    spread = np.sort(dice)
    order = {
        "random": lambda M: dice * M,
        "sorted": lambda M: spread * M,
        "sequential": lambda M: np.arange(N) % M,
        "constant": lambda M: np.full(N, M // 2),
        "runs of 32": lambda M: (dice[: N // 32] * (M // 32)).astype(np.int64).repeat(32) * 32 + np.arange(N) % 32,
    }
    room = DeviceArray.empty(32 * N, np.uint8), DeviceArray.empty(32 * N, np.uint8)
    for element_type, index_type in itertools.product((np.int32, np.int64), (np.int32, np.int64)):
        element_bytes, index_bytes = element_type().nbytes, index_type().nbytes
        for source_bytes in 256 * KI, 16 * MI, 512 * MI:
            M = source_bytes // element_bytes
            x = np.arange(M, dtype=element_type)
            d_x, d_out = DeviceArray(x), DeviceArray.empty(N, element_type)
            for name, indices in order.items():
                index = indices(M).astype(index_type)
                touched = np.zeros(source_bytes // 32, bool)  # the sectors: what the memory hands out at least
                touched[index // (32 // element_bytes)] = True
                moved = int(32 * touched.sum() + N * (index_bytes + element_bytes))
                copy = device([lambda: bench.copy_on_device(address(room[0]), address(room[1]), moved // 2)])
                row = {"indices": name, "source_bytes": source_bytes, "element_bytes": element_bytes}
                row.update(index_bytes=index_bytes, moved=moved, copy=copy)
                row["ways"] = on_device(peers, d_x, [DeviceArray(index)], d_out, x[index])
                rows.append(row)
        print(f"distributions: {element_bytes}, {index_bytes} bytes", file=sys.stderr, flush=True)
    return rows


def ladder(peers):
    """The article's input, 1 Mi from 128 Mi floats, from the slowest way to the fastest, then the libraries.

    Eight sets of indices in turn: what one of them has brought into a cache is of little use to the next.
    """
    x = random.random(128 * MI, dtype=np.float32)
    sets = [random.integers(x.size, size=MI, dtype=np.int32) for _ in range(8)]
    expected, out = x[sets[0]], np.empty(MI, np.float32)
    d_x, d_sets, d_out = DeviceArray(x), [DeviceArray(idx) for idx in sets], DeviceArray(out)
    p_sets, p_out = [pinned_empty(MI, np.int32) for _ in sets], pinned_empty(MI, np.float32)
    for p_idx, idx in zip(p_sets, sets):
        p_idx[...] = idx
    rows = []

    def row(name, call, result=None, forget=lambda: None, wait=bench.wait):
        check(name, call(0) if result is None else (call(0), result())[1], expected)
        forget()  # what a library keeps from that call would not show in the peak
        turn = itertools.cycle([(len(rows) + k) % 8 for k in range(8)])  # each way begins with other indices
        rows.append({"way": name, "peak_bytes": peak_bytes(lambda: call(1))})
        start = time.perf_counter()
        call(2)
        repeats = min(101, max(9, int(0.3 / (time.perf_counter() - start))))
        rows[-1].update(wall(lambda: call(next(turn)), repeats, wait=wait))

    def pinned_for_the_call(k):
        with pin(x):
            return take(x, sets[k])

    row("NumPy: x[idx]", lambda k: x[sets[k]])
    row("NumPy: np.take(x, idx, out=out, mode='wrap')", lambda k: np.take(x, sets[k], out=out, mode="wrap"))
    row("cuda_gather(x, idx)", lambda k: cuda_gather(x, sets[k]))
    row("take(x, idx)", lambda k: take(x, sets[k]))
    row("with pin(x): take(x, idx), pinned for this call", pinned_for_the_call)
    with pin(x):
        row("take(x, idx), x pinned before", lambda k: take(x, sets[k]))
    row("take(d_x, idx)", lambda k: take(d_x, sets[k]))
    row("take(d_x, p_idx, p_out)", lambda k: take(d_x, p_sets[k], p_out))
    row("take(d_x, d_idx, d_out)", lambda k: take(d_x, d_sets[k], d_out), d_out.get)
    for name, peer in peers.items():
        typed = [idx.astype(peer.get("index", idx.dtype)) for idx in sets]
        up, down, get = peer["up"], peer["down"], peer["take"]
        peer["forget"]()
        row(f"{name}: one shot", lambda k: down(get(up(x), up(typed[k]))), forget=peer["forget"], wait=peer["wait"])
        peer["forget"]()
    a_out, a_idx, a_p_out, a_p_idx = map(address, (d_out, d_sets[0], p_out, p_sets[0]))
    floor = wall(lambda: bench.both_ways(a_out, a_p_idx, a_p_out, a_idx, 4 * MI), 21)
    article = subprocess.run([sys.executable, __file__, "article"], stdout=subprocess.PIPE, check=True)
    rows.insert(2, json.loads(article.stdout))  # in a process of its own: it resets the device
    return {"rows": rows, "pcie_floor": floor}


def article_alone():
    """The article's Gather."""
    x, idx = random.random(128 * MI, dtype=np.float32), random.integers(128 * MI, size=MI, dtype=np.int32)
    out = np.zeros(MI, np.float32)
    call = lambda: bench.article_gather(x.ctypes.data, idx.ctypes.data, out.ctypes.data, MI, x.size)
    times = wall(call, 5, 1, lambda: None)
    check("article_gather", out, x[idx])
    print(json.dumps({"way": "the article's Gather", "peak_bytes": 4 * (x.size + 2 * MI), **times}))


def resident(peers):
    """From NumPy index to NumPy result with the source on the GPU, 2^8 to 2^24 indices. The ways take turns:
    how long that takes depends on where NumPy finds room for the result, and on what the CPU's caches hold."""
    x = random.random(128 * MI, dtype=np.float32)
    d_x, rows = DeviceArray(x), []
    sources = {name: peer["view"](d_x) if peer["view"] else peer["up"](x) for name, peer in peers.items()}
    for power in range(8, 25, 2):
        sets = [random.integers(x.size, size=1 << power, dtype=np.int32) for _ in range(8 if power <= 20 else 2)]
        p_idx, p_out = pinned_empty(1 << power, np.int32), pinned_empty(1 << power, np.float32)
        p_idx[...] = sets[0]

        def way(get, typed):
            check("resident", get(typed[0]), x[sets[0]])
            turn = itertools.cycle(typed)
            return lambda: get(next(turn))

        calls = {
            "NumPy": (way(lambda i: np.take(x, i, mode="wrap"), sets), bench.wait),
            "this take": (way(lambda i: take(d_x, i), sets), bench.wait),
            "pinned index and out": (way(lambda i: take(d_x, i, p_out), [p_idx]), bench.wait),
        }
        for name, peer in peers.items():
            typed = [idx.astype(peer.get("index", idx.dtype)) for idx in sets]
            s, up, down, get = sources[name], peer["up"], peer["down"], peer["take"]
            fetch = lambda i, s=s, up=up, down=down, get=get: down(get(s, up(i)))
            calls[name] = way(fetch, typed), peer["wait"]
        times = walls(list(calls.values()), 101 if power <= 16 else 31 if power <= 20 else 7)
        rows.append({"N": 1 << power, "ways": dict(zip(calls, times))})
    return rows


def calls(peers):
    """Microseconds a call on 1,024 elements, without a wait in between."""
    x, idx = random.random(1024, dtype=np.float32), random.integers(1024, size=1024, dtype=np.int32)
    d_x, d_idx, d_out = DeviceArray(x), DeviceArray(idx), DeviceArray(x)
    job = Job(None, address(d_x), None, address(d_idx), None, address(d_out), 1024, 1024, 4, 4, 1, None)
    launch = ctypes.cast(gather_launch, ctypes.c_void_p)
    rows = []

    def row(name, call, wait=bench.wait, count=1000):
        times = []
        for _ in range(24):
            wait()
            start = time.perf_counter()
            for _ in range(count):
                call()
            times.append((time.perf_counter() - start) / 1000 * 1e6)
            wait()
        rows.append({"way": name, **summary(times[3:])})

    row("C loop of gather_launch()", lambda: bench.launch_loop(launch, ctypes.byref(job), 1000), count=1)
    row("take, three DeviceArrays", lambda: take(d_x, d_idx, d_out, "wrap"))
    row("the same, mode raise: waits", lambda: take(d_x, d_idx, d_out))
    for name, peer in peers.items():
        i = peer["up"](idx.astype(peer.get("index", idx.dtype)))
        s, o = peer["up"](x), peer["up"](x.copy())
        row(name, (lambda: peer["out"](s, i, o)) if peer["out"] else (lambda: peer["take"](s, i)), peer["wait"])
        if name in ("CuPy take", "torch.index_select"):
            row(f"take, arrays of {name.split(' ')[0].split('.')[0]}", lambda: take(s, i, o, "wrap"), peer["wait"])
    before = bench.free_bytes()
    for _ in range(10000):
        take(d_x, d_idx, d_out)
    return {"rows": rows, "bytes_lost_in_10000_calls": before - bench.free_bytes()}


def machine():
    sys.path.insert(0, os.path.join(HERE, "..", "..", "common"))
    from doctor import gpu

    smi = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    names = "numpy", "cupy", "torch", "jax", "numba", "triton"
    return {
        "gpu": gpu()[0],
        "driver": subprocess.run(smi, capture_output=True, text=True).stdout.strip().split("\n")[0],
        "versions": {n: getattr(sys.modules[n], "__version__", "") for n in names if n in sys.modules},
    }


def main():
    peers = libraries.peers()
    result = machine()
    for part in calls, resident, ladder, distributions, random_indices:
        start = time.perf_counter()
        result[part.__name__] = part(peers)
        print(f"{part.__name__}: {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    result["bad_index"] = libraries.bad_indices()
    with open(os.path.join(HERE, "bench.json"), "w") as f:
        json.dump(result, f, indent=1)
        f.write("\n")


if __name__ == "__main__":
    article_alone() if sys.argv[1:] == ["article"] else main()
