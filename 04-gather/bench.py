"""How fast is gather, beside NumPy, the libraries, and what the hardware allows? Writes bench.json.

Build: make build
Run:   make bench (on a GPU only), then python3 bench_page.py: the tables and plots of README.md

Whatever is timed is compared with NumPy's result first.
"""

import ctypes
import json
import os
import subprocess
import sys
import time

import numpy as np

import bench_curves
import bench_ladder
import bench_peers
from bench_tools import HERE, Job, address, bench, device, gather_launch, summary, wall
from gather import DeviceArray, take

MI = 1 << 20
random = np.random.default_rng(0)


def kernels(peers):
    """The kernel alone, all arrays on the device, several index sets in turn; and the floor."""
    rows = []
    for M in MI, 8 * MI, 128 * MI, 2048 * MI:
        x = random.random(M, dtype=np.float32)
        bad = DeviceArray(np.array([-1]))  # as unsigned, larger than any position
        d_x, sink = DeviceArray(x), DeviceArray(np.zeros(1, np.float32))
        sources = {name: peer["up"](x) for name, peer in peers.items()}
        for N in MI, 16 * MI, 64 * MI, 256 * MI:
            sets = [
                random.integers(M, size=N, dtype=np.int32)
                for _ in range(16 if N <= MI else 4 if N <= 16 * MI else 2 if N <= 64 * MI else 1)
            ]
            d_sets, d_out = [DeviceArray(s) for s in sets], DeviceArray.empty(N, np.float32)
            repeats = 9 if N > 16 * MI else 15
            row = {"M": M, "N": N, "ways": {}}

            def ours(mode):
                return device([lambda s=s: take(d_x, s, d_out, mode) for s in d_sets], repeats)

            expected = x[sets[0]]
            take(d_x, d_sets[0], d_out, "clip")
            if not np.array_equal(d_out.get(), expected):
                sys.exit("take: the result is not NumPy's")
            row["ways"]["this take"] = ours("clip")
            jobs = [Job(address(d_x), address(s), address(d_out), N, M, 4, 4, 0, None) for s in d_sets]
            a_bad = address(bad)
            row["raise"] = device([lambda j=j: gather_launch(ctypes.byref(j), a_bad) for j in jobs], repeats)
            a_x, a_out, a_sink, a_sets = address(d_x), address(d_out), address(sink), [address(s) for s in d_sets]
            plain = [lambda a=a: bench.gather_unchecked(a_x, a, a_out, N) for a in a_sets]
            row["unchecked"] = device(plain, repeats)
            reads = [lambda k=k: bench.random_reads(a_x, M, N, k, a_sink) for k in range(len(sets))]
            row["random_reads"] = device(reads, repeats)
            row["copy"] = device([lambda a=a: bench.copy_on_device(a_out, a, 4 * N) for a in a_sets], repeats)
            row["start"] = device([bench.start_only] * len(sets), repeats)
            row["floor"] = row["random_reads"]["median"] + row["copy"]["median"] - row["start"]["median"]
            for name, peer in peers.items():
                arrays = [peer["up"](s.astype(peer.get("index", s.dtype))) for s in sets]
                out = peer["up"](np.zeros(N, np.float32))
                if peer["out"]:
                    peer["out"](sources[name], arrays[0], out)
                got = peer["down"](out if peer["out"] else peer["take"](sources[name], arrays[0]))
                if not np.array_equal(got, expected):
                    sys.exit(f"{name}: the result is not NumPy's")
                if peer["out"]:
                    calls = [lambda i=i: peer["out"](sources[name], i, out) for i in arrays]
                    row["ways"][name] = device(calls, repeats)
                else:
                    row["ways"][name] = wall(lambda: [peer["take"](sources[name], i) for i in arrays])
                    row["ways"][name] = {k: v / len(arrays) for k, v in row["ways"][name].items()}
                del arrays, out
                peer["forget"]()
            rows.append(row)
            print(f"kernel: {M} from, {N} indices", file=sys.stderr)
        del sources
    return rows


def calls(peers):
    """Microseconds a call on 1,024 elements, without a wait in between."""
    x, idx = random.random(1024, dtype=np.float32), random.integers(1024, size=1024, dtype=np.int32)
    d_x, d_idx, d_out = DeviceArray(x), DeviceArray(idx), DeviceArray(x)
    job = Job(address(d_x), address(d_idx), address(d_out), 1024, 1024, 4, 4, 1, None)
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
    for name, peer in peers.items():
        i = peer["up"](idx.astype(peer.get("index", idx.dtype)))
        s, o = peer["up"](x), peer["up"](x.copy())
        row(name, (lambda: peer["out"](s, i, o)) if peer["out"] else (lambda: peer["take"](s, i)), peer["wait"])
        if name in ("CuPy take", "torch.index_select"):
            row(f"take, arrays of {name.split(' ')[0].split('.')[0]}", lambda: take(s, i, o, "wrap"), peer["wait"])
    before = bench.free_bytes()
    for _ in range(10000):
        take(d_x, d_idx, d_out, "raise")
    return {"rows": rows, "bytes_lost_in_10000_calls": before - bench.free_bytes()}


def main():
    peers = bench_peers.peers()
    sys.path.insert(0, os.path.join(HERE, "..", "common"))
    from doctor import gpu

    smi = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    result = {
        "gpu": gpu()[0],
        "driver": subprocess.run(smi, capture_output=True, text=True).stdout.strip().split("\n")[0],
        "versions": {
            name: getattr(sys.modules[name], "__version__", "")
            for name in ("numpy", "cupy", "torch", "jax", "numba", "triton")
            if name in sys.modules
        },
        "call": calls(peers),
        "ladder": bench_ladder.article(peers),
        "bad_index": bench_peers.bad_indices(),
        "curves": bench_curves.curves(),
        "kernel": kernels(peers),
    }
    with open(os.path.join(HERE, "bench.json"), "w") as f:
        json.dump(result, f, indent=1)
        f.write("\n")


if __name__ == "__main__":
    main()
