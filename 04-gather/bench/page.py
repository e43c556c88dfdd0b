"""Writes the tables of the stage's pages, and a plot, from bench.json, which make bench has written.

Run:   python3 page.py (needs matplotlib: pip install matplotlib)
       python3 page.py tables (without the plot: needs Python's standard library only)
"""

import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
STAGE = os.path.dirname(HERE)
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(STAGE, "..", "common"))
from bench_page import fill  # noqa: E402


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines) + "\n"


def code(text):
    return f"`{text}`" if "(" in text else text


def size(count, unit=""):
    for power, name in (30, "Gi"), (20, "Mi"), (10, "Ki"):
        if count >= 1 << power:
            return f"{count >> power} {name}{unit}"
    return f"{count} {unit}".strip()


def spread(t, digits):
    return f"{t['low']:.{digits}f} to {t['high']:.{digits}f}"


def fastest_other(ways):
    """(its name, its median)."""
    return min(((name, t["median"]) for name, t in ways.items() if name != "this take"), key=lambda pair: pair[1])


def ladder(bench, only=None):
    rows = [
        (code(r["way"]), f"{r['median']:.3f}", spread(r, 3), f"{r['peak_bytes'] / 1e6:.0f}")
        for r in bench["ladder"]["rows"]
        if not only or any(word in r["way"] for word in only)
    ]
    floor = bench["ladder"]["pcie_floor"]
    rows.append(("PCIe alone: 4 MB each way at once", f"{floor['median']:.3f}", spread(floor, 3), ""))
    return table(["way", "ms", "fastest to slowest", "device memory, MB"], rows)


def steps(bench):
    return ladder(bench, ["NumPy", "article", "cuda_gather", "take(x", "take(d_x"])


def random(bench):
    head = ["source", "indices", "this take", "fastest other", "floor", "of the floor", "check costs"]
    rows = []
    for r in bench["random_indices"]:
        ours, (name, other) = r["ways"]["this take"]["median"], fastest_other(r["ways"])
        cost = r["raise"]["median"] / r["unchecked"]["median"]
        times = f"{ours:.4f}", f"{other:.4f}, {name}", f"{r['floor']:.4f}", f"{100 * r['floor'] / ours:.0f} %"
        rows.append((size(4 * r["M"], "B"), size(r["N"]), *times, f"{cost:.3f}"))
    return table(head, rows)


def distributions(bench, only=None):
    head = ["indices", "source", "element, index", "this take", "fastest other", "times as fast", "a copy of the bytes"]
    rows = []
    for r in bench["distributions"]:
        if only and not only(r):
            continue
        ours, (name, other) = r["ways"]["this take"]["median"], fastest_other(r["ways"])
        place = r["indices"], size(r["source_bytes"], "B"), f"{r['element_bytes']}, {r['index_bytes']}"
        rows.append((*place, f"{ours:.4f}", f"{other:.4f}, {name}", f"{other / ours:.2f}", f"{r['copy']['median']:.4f}"))
    return table(head, rows)


def fours(bench):
    return distributions(bench, lambda r: (r["element_bytes"], r["index_bytes"], r["source_bytes"]) == (4, 4, 512 << 20))


def resident(bench):
    names = list(bench["resident"][0]["ways"])
    rows = [(size(r["N"]), *(f"{r['ways'][n]['median']:.4f}" for n in names)) for r in bench["resident"]]
    return table(["indices", *names], rows)


def calls(bench):
    rows, base = bench["calls"]["rows"], bench["calls"]["rows"][0]["median"]
    rows = [(r["way"], f"{r['median']:.2f}", spread(r, 2), f"{r['median'] / base:.2f}") for r in rows]
    return table(["way", "µs a call", "fastest to slowest", "times the C loop"], rows)


def bad_index(bench):
    rows = [(name, *(f"`{a}`" for a in answers)) for name, answers in bench["bad_index"].items()]
    return table(["library", "index 5", "index -1", "index -6"], rows)


def machine(bench):
    versions = ", ".join(f"{name} {version}" for name, version in bench["versions"].items())
    return f"{bench['gpu']}, driver {bench['driver']}; {versions}.\n"


def plot(bench, path):
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    plt.rcParams.update({"svg.hashsalt": "gather", "svg.fonttype": "none", "font.size": 9})
    figure, axes = plt.subplots(figsize=(7, 4))
    points = bench["resident"]
    for name in points[0]["ways"]:
        style = dict(color="black", linewidth=2) if name == "NumPy" else {}
        times = [p["ways"][name]["median"] for p in points]
        axes.loglog([p["N"] for p in points], times, label=name, marker="o", markersize=3, **style)
    axes.set_xlabel("indices (from 128 Mi floats, which are on the GPU; for NumPy they are not)")
    axes.set_ylabel("ms a call")
    axes.grid(True, which="major", alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main():
    with open(os.path.join(HERE, "bench.json")) as f:
        bench = json.load(f)
    tables = machine, ladder, steps, random, distributions, fours, resident, calls, bad_index
    parts = {t.__name__: t(bench) for t in tables}
    pages = "README.md", "README.zh.md", "fast/README.md", "bench/README.md"
    used = [name for page in pages for name in fill(os.path.join(STAGE, page), parts)]
    if set(used) != set(parts):
        sys.exit(f"in no page: {', '.join(set(parts) - set(used))}")
    if sys.argv[1:] != ["tables"]:
        plot(bench, os.path.join(HERE, "resident.svg"))


if __name__ == "__main__":
    main()
