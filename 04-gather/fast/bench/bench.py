"""How fast is gather, beside NumPy, the libraries, and what the hardware allows? Writes bench.jsonl, one row a line.

Run:   make bench (on a GPU only), then python3 page.py: the tables and plots of the pages
       make bench PARTS='rows add_rows' measures only these parts

What is timed is compared with NumPy's result first; README.md names what is not. Times: milliseconds, but for those of
a call, microseconds.
"""

import ctypes
import itertools
import json
import os
import re
import subprocess
import sys
import time

import numpy as np

import peers as libraries
from gather import DeviceArray, add_at, pin, pinned_empty, take
from wrapper import cuda_gather

HERE = os.path.dirname(os.path.abspath(__file__))
COMMON = os.path.join(HERE, "..", "..", "..", "common")
sys.path[:0] = [COMMON, os.path.join(COMMON, "bench")]
from clock import micros_a_call, millis_in_turn, summary
from doctor import gpu

MI = 1 << 20
RAISE, WRAP = 0, 1  # enum gather_mode
random = np.random.default_rng(0)


# ---- What needs CUDA: libbench.so


def load():
    """libbench.so, with the types of its functions."""
    P, S, I = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    library = ctypes.CDLL(os.path.join(HERE, "libbench.so"))
    for name, arguments in {
        "copy_on_device": [P, P, S],
        "both_ways": [P, P, P, P, S],
        "article_gather": [P, P, P, I, I],
        "gather_unchecked": [P, P, P, I],
        "launch": [P, S, P, P, S, I, P, I],
        "thrust_gather": [P, P, P, S],
    }.items():
        if hasattr(library, name):  # Thrust comes with the CUDA Toolkit
            getattr(library, name).argtypes = arguments
    library.clock_stop.restype = ctypes.c_float
    return library


bench = load()


def address(x):
    return x.__cuda_array_interface__["data"][0] if hasattr(x, "__cuda_array_interface__") else x.ctypes.data


def wall(call, repeats=9, warm_up=2, wait=bench.wait):
    """Milliseconds of one call on the host's clock, the median."""
    return millis_in_turn([(call, wait)], repeats, warm_up)[0]["median"]


def device(ways, repeats=9):
    """Times on the device, as {"ways": {way: milliseconds of one of its calls, the median}, "spread": the slowest series
    divided by the fastest, of the way where that is the most}. By events around 16 calls or more, one right after the
    other, as what a call leaves in the cache to be written falls on the next one. The ways take turns. A copy is no way
    among others: after one of the driver's, a kernel that spares the cache needs 5 % more, however often."""
    times = {way: [] for way in ways}
    for _ in range(repeats + 2):
        for way, calls in ways.items():
            calls = calls * -(-16 // len(calls))
            calls[-1]()  # the first one's cache is then as that of the others
            bench.clock_start()
            for call in calls:
                call()
            times[way].append(bench.clock_stop() / len(calls))
    series = {way: summary(its_times[2:]) for way, its_times in times.items()}
    return {
        "ways": {way: its["median"] for way, its in series.items()},
        "spread": max(its["high"] / its["low"] for its in series.values()),
    }


def copy_millis(to, source, nbytes):
    """Milliseconds of a copy of so many bytes on the device."""
    return device({"copy": [lambda: bench.copy_on_device(address(to), address(source), nbytes)]})["ways"]["copy"]


# ---- What is measured. Each yields its rows.


def check(name, got, expected):
    if not np.array_equal(got, expected):
        sys.exit(f"{name}: the result is not NumPy's")


def check_call(name, call, d_x, d_out, expected):
    """A call that picks from d_x into d_out, where the right result is not there already."""
    take(d_x, DeviceArray(np.zeros(len(expected), np.int32)), 0, d_out)
    call()
    bench.wait()
    check(name, d_out.get(), expected)


def on_device(peers, d_x, d_sets, d_out, expected):
    """{way: its calls}: this take and the peers, on the same arrays, several index sets in turn."""
    ways = {"this take": [lambda i=i: take(d_x, i, None, d_out, "clip") for i in d_sets]}
    for name, peer in peers.items():
        if peer.get("index", d_sets[0].dtype) == d_sets[0].dtype:
            s, out, get = peer["view"](d_x), peer["view"](d_out), peer["out"]
            arrays = [peer["view"](i) for i in d_sets]
            ways[name] = [lambda i=i, s=s, out=out, get=get: get(s, i, out) for i in arrays]
    if hasattr(bench, "thrust_gather") and d_out.dtype.itemsize == d_sets[0].dtype.itemsize == 4:
        n, a_x, a_out, a_sets = len(expected), address(d_x), address(d_out), [address(i) for i in d_sets]
        ways["thrust::gather"] = [lambda a=a: bench.thrust_gather(a_x, a, a_out, n) for a in a_sets]
    for name, calls in ways.items():
        check_call(name, calls[0], d_x, d_out, expected)
    return ways


def random_indices(peers):
    """The kernel with random indices from sources of four sizes, with and without the check."""
    for M in MI, 8 * MI, 128 * MI, 2048 * MI:
        x = np.arange(M, dtype=np.int32)
        d_x = DeviceArray(x)
        bad = DeviceArray(np.array([-1]))  # as unsigned, larger than any position
        for N, count in (MI, 16), (16 * MI, 4), (64 * MI, 2):
            sets = [random.integers(M, size=N, dtype=np.int32) for _ in range(count)]
            d_sets, d_out = [DeviceArray(s) for s in sets], DeviceArray.empty(N, np.int32)
            a_x, a_out, a_sets = address(d_x), address(d_out), [address(s) for s in d_sets]
            ways = on_device(peers, d_x, d_sets, d_out, x[sets[0]])
            own = {
                "raise": [lambda a=a: bench.launch(a_x, M, a, a_out, N, RAISE, address(bad), 1) for a in a_sets],
                "unchecked": [lambda a=a: bench.gather_unchecked(a_x, a, a_out, N) for a in a_sets],
            }
            for name, calls in own.items():
                check_call(name, calls[0], d_x, d_out, x[sets[0]])
            yield {"M": M, "N": N, **device(ways), **device(own)["ways"]}


def distributions(peers, N=16 * MI, source_bytes=512 * MI):
    """The kernel with other indices and four widths; and a copy of the bytes that must move."""
    dice = random.random(N)
    order = {
        "random": lambda M: dice * M,
        "sorted": lambda M: np.sort(dice) * M,
        "sorted, 4 Mi": lambda M: np.sort(dice[: 4 * MI]) * M,
        "sorted, 1 Mi": lambda M: np.sort(dice[:MI]) * M,
        "sequential": lambda M: np.arange(N) % M,
        "constant": lambda M: np.full(N, M // 2),
        "runs of 32": lambda M: (dice[: N // 32] * (M // 32)).astype(np.int64).repeat(32) * 32 + np.arange(N) % 32,
    }
    room = DeviceArray.empty(32 * N, np.uint8), DeviceArray.empty(32 * N, np.uint8)
    for element_type, index_type in itertools.product((np.int32, np.int64), (np.int32, np.int64)):
        element_bytes, index_bytes = element_type().nbytes, index_type().nbytes
        M = source_bytes // element_bytes
        x = np.arange(M, dtype=element_type)
        d_x = DeviceArray(x)
        for name, indices in order.items():
            index = indices(M).astype(index_type)
            d_out = DeviceArray.empty(len(index), element_type)
            touched = np.zeros(source_bytes // 32, bool)  # the sectors: what the memory hands out at least
            touched[index // (32 // element_bytes)] = True
            moved = int(32 * touched.sum() + len(index) * (index_bytes + element_bytes))
            times = device(on_device(peers, d_x, [DeviceArray(index)], d_out, x[index]))
            row = {"indices": name, "source_bytes": source_bytes, "element_bytes": element_bytes}
            yield {**row, "index_bytes": index_bytes, "moved": moved, **times, "copy": copy_millis(*room, moved // 2)}


def rows(_):
    """Rows of 512 MiB, and single elements of 1 and 2 bytes, with three kinds of indices; and a copy of the result."""
    peers, _ = libraries.row_peers()
    types = (np.int8, np.int32, 1), (np.float16, np.int64, 2)
    types += tuple(
        (t, i, b) for t, i in ((np.float16, np.int64), (np.float32, np.int32)) for b in (8, 64, 256, 1024, 4096)
    )
    for (element_type, index_type, row_bytes), index_bytes in itertools.product(types, (MI, 16 * MI)):
        if index_bytes > MI and MI // index_type().nbytes >= 256 * MI // row_bytes:
            continue  # it would be the same again
        width, M = row_bytes // element_type().nbytes, 512 * MI // row_bytes
        N = min(index_bytes // index_type().nbytes, 256 * MI // row_bytes)
        shape = (width,) if width > 1 else ()
        x = random.integers(0, 100, (M, *shape), np.int8).astype(element_type)
        d_x, d_out = DeviceArray(x), DeviceArray.empty((N, *shape), element_type)
        room = DeviceArray.empty(d_out.shape, element_type)
        for name, index in {
            "random": random.integers(M, size=N, dtype=index_type),
            "sorted": np.sort(random.integers(M, size=N, dtype=index_type)),
            "sequential": (np.arange(N) % M).astype(index_type),
        }.items():
            ways, d_index, expected = {}, DeviceArray(index), x[index]
            ways["this take"] = [lambda: take(d_x, d_index, 0, d_out, "clip")]
            for peer, (view, get) in peers.items():
                if shape or peer != "F.embedding":
                    ways[peer] = [get(view(d_x), view(d_index), view(d_out))]
            for way, calls in ways.items():
                if way in ("F.embedding", "torch x[idx]"):  # a new result
                    check(way, calls[0]().cpu().numpy(), expected)
                else:
                    check_call(way, calls[0], d_x, d_out, expected)
            row = {"indices": name, "row_bytes": row_bytes, "element": element_type.__name__, "N": N}
            copy = copy_millis(room, d_out, expected.nbytes)
            yield {**row, "index_bytes": index_type().nbytes, **device(ways), "copy": copy}


def add_rows(_):
    """The way back: 2^24 numbers, but of rows of one number 2^22, into rows that are many, or 1,024 only."""
    _, peers = libraries.row_peers()
    for element_type, width, M in itertools.product((np.float32, np.float64, np.float16), (1, 64, 256), (1024, MI)):
        N, shape = 16 * MI // width if width > 1 else 4 * MI, (width,) if width > 1 else ()
        index = random.integers(M, size=N)
        d_index, d_values = DeviceArray(index), DeviceArray(np.ones((N, *shape), element_type))
        d_target = DeviceArray(np.zeros((M, *shape), element_type))
        ways = {"this add_at": [lambda: add_at(d_target, d_index, d_values, 0, "clip")]}
        for name, (view, add) in peers.items():
            ways[name] = [add(view(d_target), view(d_index), view(d_values))]
        expected = np.bincount(index, minlength=M).reshape(M, *[1] * len(shape))
        for name, calls in ways.items():
            before = d_target.get()
            got = (calls[0](), bench.wait(), d_target.get())[2]
            if element_type != np.float16 or M == MI:  # of few rows, the sums have no more room in 16 bits
                check(name, got - before, np.broadcast_to(expected, got.shape))
        yield {"element": element_type.__name__, "width": width, "M": M, "N": N, **device(ways)}


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
    begin = itertools.count()

    def row(name, call, result=None, wait=bench.wait):
        check(name, call(0) if result is None else (call(0), result())[1], expected)
        turn = itertools.count(next(begin))  # each way begins with other indices
        start = time.perf_counter()
        call(1)
        repeats = min(101, max(9, int(0.3 / (time.perf_counter() - start))))
        return {"way": name, "time": wall(lambda: call(next(turn) % 8), repeats, wait=wait)}

    def pinned_for_the_call(k):
        with pin(x):
            return take(x, sets[k])

    yield row("NumPy: x[idx]", lambda k: x[sets[k]])
    yield row("NumPy: np.take(x, idx, out=out, mode='wrap')", lambda k: np.take(x, sets[k], out=out, mode="wrap"))
    article = subprocess.run([sys.executable, __file__, "article"], stdout=subprocess.PIPE, check=True)
    yield json.loads(article.stdout)  # in a process of its own: it resets the device
    yield row("cuda_gather(x, idx)", lambda k: cuda_gather(x, sets[k]))
    yield row("take(x, idx)", lambda k: take(x, sets[k]))
    yield row("with pin(x): take(x, idx), pinned for this call", pinned_for_the_call)
    with pin(x):
        yield row("take(x, idx), x pinned before", lambda k: take(x, sets[k]))
    yield row("take(d_x, idx, out=out), out a new array", lambda k: take(d_x, sets[k], out=np.empty(MI, np.float32)))
    yield row("take(d_x, p_idx, out=p_out)", lambda k: take(d_x, p_sets[k], out=p_out))
    yield row("take(d_x, d_idx, out=d_out)", lambda k: take(d_x, d_sets[k], out=d_out), d_out.get)
    for name, peer in peers.items():
        typed = [idx.astype(peer.get("index", idx.dtype)) for idx in sets]
        up, down, get = peer["up"], peer["down"], peer["take"]
        peer["forget"]()
        yield row(f"{name}: one shot", lambda k: down(get(up(x), up(typed[k]))), wait=peer["wait"])
        peer["forget"]()
    a_out, a_idx, a_p_out, a_p_idx = map(address, (d_out, d_sets[0], p_out, p_sets[0]))
    copies = wall(lambda: bench.both_ways(a_out, a_p_idx, a_p_out, a_idx, 4 * MI), 21)
    yield {"way": "PCIe alone: 4 MiB each way at once", "time": copies}


def article_alone():
    """The article's Gather."""
    x, idx = random.random(128 * MI, dtype=np.float32), random.integers(128 * MI, size=MI, dtype=np.int32)
    out = np.zeros(MI, np.float32)
    call = lambda: bench.article_gather(x.ctypes.data, idx.ctypes.data, out.ctypes.data, MI, x.size)
    millis = wall(call, 5, 1, lambda: None)
    check("article_gather", out, x[idx])
    print(json.dumps({"way": "the article's Gather", "time": millis}))


def resident(peers):
    """From NumPy index to NumPy result with the source on the GPU, 2^8 to 2^24 indices. The ways take turns:
    how long that takes depends on where NumPy finds room for the result, and on what the CPU's caches hold."""
    x = random.random(128 * MI, dtype=np.float32)
    d_x = DeviceArray(x)
    sources = {name: peer["view"](d_x) for name, peer in peers.items()}
    for power in range(8, 25, 2):
        sets = [random.integers(x.size, size=1 << power, dtype=np.int32) for _ in range(8 if power <= 20 else 2)]
        p_idx, p_out = pinned_empty(1 << power, np.int32), pinned_empty(1 << power, np.float32)
        p_idx[...], out = sets[0], np.zeros(1 << power, np.float32)

        def way(get, typed):
            check("resident", get(typed[0]), x[sets[0]])
            turn = itertools.cycle(typed)
            return lambda: get(next(turn))

        calls = {
            "NumPy": (way(lambda i: np.take(x, i, mode="wrap"), sets), bench.wait),
            "this take": (way(lambda i: take(d_x, i, out=np.empty(i.shape, x.dtype)), sets), bench.wait),
            "out kept": (way(lambda i: take(d_x, i, out=out), sets), bench.wait),
            "pinned index and out": (way(lambda i: take(d_x, i, out=p_out), [p_idx]), bench.wait),
        }
        for name, peer in peers.items():
            typed = [idx.astype(peer.get("index", idx.dtype)) for idx in sets]
            s, up, down, get = sources[name], peer["up"], peer["down"], peer["take"]
            fetch = lambda i, s=s, up=up, down=down, get=get: down(get(s, up(i)))
            calls[name] = way(fetch, typed), peer["wait"]
        times = millis_in_turn(list(calls.values()), 101 if power <= 16 else 31 if power <= 20 else 7)
        yield {"N": 1 << power, "ways": {name: t["median"] for name, t in zip(calls, times)}}


def calls(peers):
    """Microseconds a call on 1,024 elements, without a wait in between."""
    x, idx = random.random(1024, dtype=np.float32), random.integers(1024, size=1024, dtype=np.int32)
    d_x, d_idx, d_out = DeviceArray(x), DeviceArray(idx), DeviceArray(x)
    job = address(d_x), 1024, address(d_idx), address(d_out), 1024, WRAP, None

    def row(name, call, wait=bench.wait):
        return {"way": name, "time": micros_a_call(call, wait)["median"]}

    loop = micros_a_call(lambda: bench.launch(*job, 1000), bench.wait, 1)["median"]
    yield {"way": "C loop of gather_launch()", "time": loop / 1000}
    yield row("take, three DeviceArrays", lambda: take(d_x, d_idx, None, d_out, "wrap"))
    yield row("the same, mode raise: waits", lambda: take(d_x, d_idx, out=d_out))
    for name, peer in peers.items():
        if name == "Triton kernel":
            continue  # no library's function
        i = peer["up"](idx.astype(peer.get("index", idx.dtype)))
        s, o = peer["up"](x), peer["up"](x.copy())
        yield row(name, lambda: peer["out"](s, i, o), peer["wait"])
        if name in ("CuPy take", "torch.index_select"):
            library = re.match(r"\w+", name)[0]
            yield row(f"{library}: x[idx], a new result", lambda: s[i], peer["wait"])
            yield row(f"take, arrays of {library}", lambda: take(s, i, None, o, "wrap"), peer["wait"])


def kernels(path, change=("", "")):
    """{name: a kernel of this file above its main}, compiled by CuPy's NVRTC, after a change of its text."""
    import cupy

    with open(os.path.join(HERE, "../../..", path)) as f:
        text = re.sub(r"#include.*", "", f.read().split("int main")[0]).replace(*change)
    names = re.findall(r"__global__ void (\w+)", text)
    module = cupy.RawModule(code=text, options=("--std=c++17",), name_expressions=names)
    return {name: module.get_function(name) for name in names}


def lessons(peers):
    """The kernels of three lessons beside libraries: a product of matrices, a sum, a gather in packs. The arrays are
    CuPy's, and PyTorch's views of them."""
    import cupy
    import torch

    def rows(what, size, ways, out, expected, tolerance):
        for name, call in ways.items():
            out.fill(0)
            call()
            if not np.allclose(out.get(), expected, rtol=tolerance, atol=0):
                sys.exit(f"{what}, {name}: the result is not NumPy's")
        for name, millis in device({name: [call] for name, call in ways.items()})["ways"].items():
            yield {"what": what, "size": size, "way": name, "ms": millis}

    def multiply(a, b, c, precision):
        torch.backends.cuda.matmul.allow_tf32 = precision == "TF32"
        torch.matmul(a, b, out=c)

    for n in 1024, 4096:
        tiled = kernels("01-hello-kernel/tiles.cu", ("#define N 200", f"#define N {n}"))
        a, b = (random.random((n, n), dtype=np.float32) for _ in range(2))
        d_a, d_b, d_c = cupy.asarray(a), cupy.asarray(b), cupy.zeros((n, n), np.float32)
        t_a, t_b, t_c = map(torch.as_tensor, (d_a, d_b, d_c))
        grid = (n // 16, n // 16), (16, 16), (d_a, d_b, d_c)
        ways = {name: lambda k=k: k(*grid) for name, k in tiled.items()}
        for precision in "float32", "TF32":
            ways[f"torch.matmul, {precision}"] = lambda p=precision: multiply(t_a, t_b, t_c, p)
        yield from rows("tiles.cu: a product of n x n matrices", n, ways, d_c, a @ b, 1e-3)

    for n in MI, 16 * MI, 256 * MI:
        x = random.random(n, dtype=np.float32)
        d_x, d_sum = cupy.asarray(x), cupy.zeros((), np.float32)
        t_x, t_sum = torch.as_tensor(d_x), torch.as_tensor(d_sum)
        add = kernels("01-hello-kernel/sum.cu")["Sum"]
        ways = {
            "Sum": lambda: (d_sum.fill(0), add((512,), (256,), (d_x, np.uint64(n), d_sum))),
            "CuPy": lambda: d_x.sum(out=d_sum),
            "torch.sum": lambda: torch.sum(t_x, 0, out=t_sum),
        }
        yield from rows("sum.cu: a sum of n numbers", n, ways, d_sum, x.sum(dtype=np.float64), 1e-5)

    n = 64 * MI
    x = random.random(n, dtype=np.float32)
    d_x, d_out = cupy.asarray(x), cupy.empty(n, np.float32)
    packs = kernels("04-gather/fast/packs.cu")
    for order in "in order", "random":
        idx = np.arange(n, dtype=np.int32) if order == "in order" else random.integers(n, size=n, dtype=np.int32)
        d_idx = cupy.asarray(idx)
        ways = {
            name: lambda k=packs[name], each=each: k(
                (-(-n // (128 * each)),), (128,), (d_x, d_idx, d_out, np.uint64(n))
            )
            for name, each in (("OneEach", 1), ("FourEach", 4))
        }
        ways["this take"] = lambda: take(d_x, d_idx, None, d_out, "clip")
        yield from rows(f"packs.cu: a gather by n indices, {order}", n, ways, d_out, x[idx], 0)


def machine(parts):
    """What measured these parts."""
    smi = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    versions = {n: sys.modules[n].__version__ for n in ("numpy", "cupy", "torch", "triton") if n in sys.modules}
    driver = subprocess.run(smi, capture_output=True, text=True).stdout.strip().split("\n")[0]
    with open("/proc/cpuinfo") as f:
        cpu = next((line.split(": ")[1].strip() for line in f if line.startswith("model name")), os.uname().machine)
    nvcc = subprocess.run([os.environ.get("NVCC", "nvcc"), "--version"], capture_output=True, text=True).stdout
    versions["nvcc"] = re.search(r"release ([\d.]+)", nvcc)[1]
    here = {"gpu": gpu()[0][0], "driver": driver, "cpu": cpu, "versions": versions, "day": time.strftime("%Y-%m-%d")}
    return {"part": "machine", **here, "parts": parts}


PARTS = {
    f.__name__: f
    for f in (calls, resident, ladder, distributions, random_indices, rows, add_rows, lessons, libraries.bad_index)
}
ON_THE_CPU = "calls", "resident", "ladder"  # what else the CPU does changes their times: they are run again and again
RUNS = 5


def run_alone(name):
    """The rows of a part, from a process of its own: their times depend on where its arrays lie, too."""
    done = subprocess.run([sys.executable, __file__, "alone", name], stdout=subprocess.PIPE, check=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def together(runs):
    """One result of several, which differ in their times: of each there is a list."""
    if isinstance(runs[0], dict):
        return {key: together([run[key] for run in runs]) for key in runs[0]}
    return runs if isinstance(runs[0], float) else runs[0]


def measure(name, peers):
    if name in ON_THE_CPU:
        return [together(rows) for rows in zip(*(run_alone(name) for _ in range(RUNS)))]
    return PARTS[name](peers)


def main(names):
    """Measures the parts of these names, or all; in bench.jsonl the other parts stay as they are."""
    names, peers, kept = names or list(PARTS), libraries.peers(), []
    with open(os.path.join(HERE, "bench.jsonl")) as f:
        for row in map(json.loads, f):
            if row["part"] == "machine":
                row["parts"] = [name for name in row["parts"] if name not in names]
            if row["part"] not in names and row.get("parts", [1]):
                kept.append(json.dumps(row) + "\n")
    with open(os.path.join(HERE, "bench.new"), "w") as f:
        f.writelines(kept)
        for name in names:
            print(name, file=sys.stderr, flush=True)
            for row in measure(name, peers):
                rounded = json.loads(json.dumps(row), parse_float=lambda text: float(f"{float(text):.6g}"))
                print(json.dumps({"part": name, **rounded}), file=f, flush=True)
        print(json.dumps(machine(names)), file=f)
    os.replace(os.path.join(HERE, "bench.new"), os.path.join(HERE, "bench.jsonl"))


if __name__ == "__main__":
    if sys.argv[1:] == ["article"]:
        article_alone()
    elif sys.argv[1:2] == ["alone"]:
        for row in PARTS[sys.argv[2]](libraries.peers()):
            print(json.dumps(row))
    else:
        main(sys.argv[1:])
