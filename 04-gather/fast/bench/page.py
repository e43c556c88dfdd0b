"""Writes the tables of the pages, and a plot, from bench.jsonl, which make bench has written.

Run:   python3 page.py
"""

import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
STAGE = HERE.parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(STAGE.parent / "common/bench"))
from bench_page import fill, plot, size, table


def code(text):
    return f"`{text}`" if "(" in text else text


def spread(t, digits):
    return f"{t['low']:.{digits}f} to {t['high']:.{digits}f}"


def fastest_other(ways):
    """(its name, its median)."""
    return min(((name, t) for name, t in ways.items() if name != "this take"), key=lambda pair: pair[1])


def ladder(bench):
    rows = []
    for r in bench["ladder"]:
        memory = f"{r['peak_bytes'] / 1e6:.0f}" if "peak_bytes" in r else ""
        rows.append((code(r["way"]), f"{r['median']:.3f}", spread(r, 3), memory))
    return table(["way", "ms", "fastest to slowest", "device memory, MB"], rows)


def a_call(bench):
    ways = "NumPy: x[idx]", "cuda_gather(x, idx)"
    return table(["way", "ms"], [(code(r["way"]), f"{r['median']:.1f}") for r in bench["ladder"] if r["way"] in ways])


def random(bench):
    head = ["source", "indices", "this take", "fastest other", "floor", "of the floor", "check costs"]
    rows = []
    for r in bench["random_indices"]:
        ours, (name, other) = r["ways"]["this take"], fastest_other(r["ways"])
        cost = r["raise"] / r["unchecked"]
        times = f"{ours:.4f}", f"{other:.4f}, {name}", f"{r['floor']:.4f}", f"{100 * r['floor'] / ours:.0f} %"
        rows.append((size(4 * r["M"], "B"), size(r["N"]), *times, f"{cost:.3f}"))
    return table(head, rows)


def libraries(bench):
    (row,) = [r for r in bench["random_indices"] if (r["M"], r["N"]) == (128 << 20, 16 << 20)]
    ways = {**row["ways"], "kernel": row["unchecked"]}
    names = {
        "CuPy take": ("`cupy.take(x, idx)`", "Python, 1"),
        "torch.index_select": ("`torch.index_select(x, 0, idx)`", "Python, 1"),
        "thrust::gather": ("`thrust::gather(…)`", "C++, 4"),
        "Triton kernel": ("a kernel in Triton", "Python, 10"),
        "kernel": ("a kernel without a check, four indices a thread", "CUDA C, 8"),
        "this take": ("`take(x, idx)` of fast", "CUDA C, 80"),
    }
    return table(["way", "language, lines", "ms"], [(*names[n], f"{ways[n]:.3f}") for n in names if n in ways])


def distributions(bench, only=lambda r: True):
    head = ["indices", "element, index", "this take", "fastest other", "times as fast", "a copy of the bytes"]
    rows = []
    for r in bench["distributions"]:
        if only(r):
            ours, (name, other) = r["ways"]["this take"], fastest_other(r["ways"])
            place = r["indices"], f"{r['element_bytes']}, {r['index_bytes']}"
            rows.append((*place, f"{ours:.4f}", f"{other:.4f}, {name}", f"{other / ours:.2f}", f"{r['copy']:.4f}"))
    return table(head, rows)


def fours(bench):
    return distributions(bench, lambda r: (r["element_bytes"], r["index_bytes"]) == (4, 4))


def resident(bench):
    names = list(bench["resident"][0]["ways"])
    rows = [(size(r["N"]), *(f"{r['ways'][n]:.4f}" for n in names)) for r in bench["resident"]]
    return table(["indices", *names], rows)


def calls(bench):
    base = bench["calls"][0]["median"]
    rows = [(r["way"], f"{r['median']:.2f}", spread(r, 2), f"{r['median'] / base:.2f}") for r in bench["calls"]]
    return table(["way", "µs a call", "fastest to slowest", "times the C loop"], rows)


def bad_index(bench):
    rows = [(r["library"], *(f"`{a}`" for a in r["answers"])) for r in bench["bad_index"]]
    return table(["library", "index 5", "index -1", "index -6"], rows)


def machine(bench):
    (here,) = bench["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in here["versions"].items())
    return f"{here['gpu']}, driver {here['driver']}; {versions}.\n"


def main():
    bench = {}
    with open(HERE / "bench.jsonl") as f:
        for row in map(json.loads, f):
            bench.setdefault(row.pop("part"), []).append(row)
    tables = machine, ladder, a_call, libraries, random, distributions, fours, resident, calls, bad_index
    parts = {t.__name__: t(bench) for t in tables}
    fill([page for folder in (".", "fast", "fast/bench") for page in (STAGE / folder).glob("*.md")], parts)
    rows = bench["resident"]
    lines = {name: ([r["N"] for r in rows], [r["ways"][name] for r in rows]) for name in rows[0]["ways"]}
    x_name = "indices (from 128 Mi floats, which are on the GPU; for NumPy they are not)"
    plot(HERE / "resident.svg", lines, x_name, "ms a call")


if __name__ == "__main__":
    main()
