"""How fast is gather, beside NumPy, the libraries, and what the hardware allows? Writes bench.json.

Build: make build
Run:   make bench (on a GPU only), then make bench-page: the tables and plots of README.md

Whatever is timed is compared with NumPy's result first.
"""

import ctypes
import json
import os
import statistics
import subprocess
import sys
import threading
import time

import numpy as np

import bench_peers
from gather import DeviceArray, pin, pinned_empty, take
from wrapper import cuda_gather

HERE = os.path.dirname(os.path.abspath(__file__))
MI = 1 << 20
random = np.random.default_rng(0)


class Job(ctypes.Structure):
    """struct gather_job of gather.cuh."""

    _fields_ = [("source", ctypes.c_void_p), ("index", ctypes.c_void_p), ("result", ctypes.c_void_p)]
    _fields_ += [("N", ctypes.c_size_t), ("M", ctypes.c_size_t), ("element_bytes", ctypes.c_int)]
    _fields_ += [("index_bytes", ctypes.c_int), ("mode", ctypes.c_int), ("stream", ctypes.c_void_p)]


def load():
    """libbench.so, with the types of its functions."""
    bench = ctypes.CDLL(os.path.join(HERE, "libbench.so"))
    P, S, I = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    for name, arguments in dict(
        clock_start=[], clock_stop=[], wait=[], free_bytes=[], random_reads=[P, S, S, ctypes.c_uint, P],
        copy_on_device=[P, P, S], both_ways=[P, P, P, P, S], article_gather=[P, P, P, I, I],
        gather_unchecked=[P, P, P, I], launch_loop=[P, ctypes.POINTER(Job), I],
    ).items():  # fmt: skip
        getattr(bench, name).argtypes = arguments
    bench.clock_stop.restype, bench.free_bytes.restype = ctypes.c_float, S
    return bench


bench = load()


def address(x):
    return x.__cuda_array_interface__["data"][0] if hasattr(x, "__cuda_array_interface__") else x.ctypes.data


def summary(times):
    return {"median": statistics.median(times), "low": min(times), "high": max(times)}


def wall(call, repeats=9, warm_up=2, wait=bench.wait):
    """Milliseconds of a call on the host's clock, until the device has finished."""
    times = []
    for _ in range(repeats + warm_up):
        wait()
        start = time.perf_counter()
        call()
        wait()
        times.append((time.perf_counter() - start) * 1e3)
    return summary(times[warm_up:])


def device(calls, repeats=7):
    """Milliseconds of one of the calls on the device, which are made in turn: events around all of them."""
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


def article(peers):
    """The ladder: one gather of 1 Mi from 128 Mi floats, NumPy array to NumPy array if nothing else is said."""
    x, idx = random.random(128 * MI, dtype=np.float32), random.integers(128 * MI, size=MI, dtype=np.int32)
    expected, out = x[idx], np.empty(MI, np.float32)
    d_x, d_idx, d_out = DeviceArray(x), DeviceArray(idx), DeviceArray(out)
    p_idx, p_out = pinned_empty(MI, np.int32), pinned_empty(MI, np.float32)
    p_idx[...] = idx
    rows = []

    def row(name, call, result=None, **more):
        got = call() if result is None else (call(), result())[1]
        if not np.array_equal(got, expected):
            sys.exit(f"{name}: the result is not NumPy's")
        rows.append({"way": name, "peak_bytes": peak_bytes(call), **wall(call, **more)})

    row("NumPy: x[idx]", lambda: x[idx])
    row("NumPy: np.take(x, idx, out=out, mode='wrap')", lambda: np.take(x, idx, out=out, mode="wrap"))
    row("cuda_gather(x, idx)", lambda: cuda_gather(x, idx))
    row("take(x, idx)", lambda: take(x, idx))
    with pin(x):
        row("with pin(x): take(x, idx)", lambda: take(x, idx))
    row("take(DeviceArray(x), idx)", lambda: take(DeviceArray(x), idx))
    row("take(d_x, idx)", lambda: take(d_x, idx))
    row("take(d_x, p_idx, p_out)", lambda: take(d_x, p_idx, p_out))
    row("take(d_x, d_idx, d_out)", lambda: take(d_x, d_idx, d_out), d_out.get)
    for name, peer in peers.items():
        i = idx.astype(peer.get("index", idx.dtype))
        up, down, get = peer["up"], peer["down"], peer["take"]
        peer["forget"]()
        row(f"{name}: one shot", lambda: down(get(up(x), up(i))), wait=peer["wait"])
        p_x = up(x)
        peer["forget"]()
        row(f"{name}: source resident", lambda: down(get(p_x, up(i))), wait=peer["wait"])
        del p_x
        peer["forget"]()
    floor = wall(lambda: bench.both_ways(address(d_out), address(p_idx), address(p_out), address(d_idx), 4 * MI), 21)
    run = [sys.executable, os.path.join(HERE, "bench.py"), "article"]  # it resets the device
    rows.insert(2, json.loads(subprocess.run(run, stdout=subprocess.PIPE, check=True).stdout))
    return {"rows": rows, "pcie_floor": floor}


def article_alone():
    """The article's Gather, in a process of its own."""
    x, idx = random.random(128 * MI, dtype=np.float32), random.integers(128 * MI, size=MI, dtype=np.int32)
    out = np.zeros(MI, np.float32)
    call = lambda: bench.article_gather(x.ctypes.data, idx.ctypes.data, out.ctypes.data, MI, x.size)
    times = wall(call, 5, 1, lambda: None)
    if not np.array_equal(out, x[idx]):
        sys.exit("article_gather: the result is not NumPy's")
    print(json.dumps({"way": "the article's Gather", "peak_bytes": 4 * (x.size + 2 * MI), **times}))


def kernels(peers):
    """The kernel alone, all arrays on the device, several index sets in turn; and the floor."""
    rows = []
    for M in MI, 8 * MI, 128 * MI, 2048 * MI:
        x = random.random(M, dtype=np.float32)
        d_x, sink = DeviceArray(x), DeviceArray(np.zeros(1, np.float32))
        sources = {name: peer["up"](x) for name, peer in peers.items()}
        for N in MI, 16 * MI, 64 * MI, 256 * MI:
            sets = [random.integers(M, size=N, dtype=np.int32) for _ in range(4 if N <= 16 * MI else 2)]
            d_sets, d_out = [DeviceArray(s) for s in sets], DeviceArray.empty(N, np.float32)
            repeats = 9 if N > 16 * MI else 15
            row = {"M": M, "N": N, "ways": {}}

            def ours(mode):
                return device([lambda s=s: take(d_x, s, d_out, mode) for s in d_sets], repeats)

            take(d_x, d_sets[0], d_out, "clip")
            if not np.array_equal(d_out.get(), x[sets[0]]):
                sys.exit("take: the result is not NumPy's")
            row["ways"]["this take"] = ours("clip")
            plain = [lambda s=s: bench.gather_unchecked(address(d_x), address(s), address(d_out), N) for s in d_sets]
            row["unchecked"] = device(plain, repeats)
            row["random_reads"] = device(
                [lambda k=k: bench.random_reads(address(d_x), M, N, k, address(sink)) for k in range(len(sets))], repeats
            )
            row["copy"] = device([lambda s=s: bench.copy_on_device(address(d_out), address(s), 4 * N) for s in d_sets])
            row["floor"] = row["random_reads"]["median"] + row["copy"]["median"]
            for name, peer in peers.items():
                arrays = [peer["up"](s.astype(peer.get("index", s.dtype))) for s in sets]
                out = peer["up"](np.zeros(N, np.float32))
                if peer["out"]:
                    peer["out"](sources[name], arrays[0], out)
                got = peer["down"](out if peer["out"] else peer["take"](sources[name], arrays[0]))
                if not np.array_equal(got, x[sets[0]]):
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
    launch = ctypes.cast(ctypes.CDLL(os.path.join(HERE, "libgather.so")).gather_launch, ctypes.c_void_p)
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


def curves():
    """Milliseconds against N (from 128 Mi floats) and against M (1 Mi indices): NumPy and three ways."""

    def point(x, idx):
        d_x, out = DeviceArray(x), np.empty(idx.shape, x.dtype)
        p_idx, p_out = pinned_empty(idx.shape, idx.dtype), pinned_empty(idx.shape, x.dtype)
        p_idx[...] = idx
        ways = {
            "NumPy, np.take(x, idx, out=out, mode='wrap')": lambda: np.take(x, idx, out=out, mode="wrap"),
            "take(x, idx)": lambda: take(x, idx, out),
            "take(d_x, idx)": lambda: take(d_x, idx, out),
            "take(d_x, p_idx, p_out)": lambda: take(d_x, p_idx, p_out),
        }
        return {"N": idx.size, "M": x.size, **{name: wall(call, 5, 1)["median"] for name, call in ways.items()}}

    x = random.random(128 * MI, dtype=np.float32)
    against_n = [point(x, random.integers(x.size, size=int(n), dtype=np.int32)) for n in np.logspace(1, 7.5, 14)]
    idx = random.integers(1 << 31, size=MI)
    against_m = [point(x[:m], (idx % m).astype(np.int32)) for m in np.logspace(2, 8.1, 13).astype(int)]
    return {"against_N": against_n, "against_M": against_m}


def bad_indices():
    """What a bad index does: each library with 5, -1 and -6 of 5 elements, in a process of its own."""
    table = {}
    for name, program in bench_peers.BAD_INDEX.items():
        answers = []
        for index in 5, -1, -6:
            done = subprocess.run(
                [sys.executable, "-c", program.format(i=index)], capture_output=True, text=True, cwd=HERE
            )
            last = (done.stdout if done.returncode == 0 else done.stderr).strip().splitlines() or ["nothing"]
            errors = [line for line in last if "Error" in line.split(":")[0]] or last[-1:]
            answers.append(last[-1] if done.returncode == 0 else errors[-1][:90])
        table[name] = answers
    return table


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
        "ladder": article(peers),
        "bad_index": bad_indices(),
        "curves": curves(),
        "kernel": kernels(peers),
    }
    with open(os.path.join(HERE, "bench.json"), "w") as f:
        json.dump(result, f, indent=1)
        f.write("\n")


if __name__ == "__main__":
    article_alone() if sys.argv[1:] == ["article"] else main()
