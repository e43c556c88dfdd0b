"""Writes the tables of README.md and the plots beside it from bench.json, which make bench has written.

Run:   python3 bench_page.py (needs matplotlib: pip install matplotlib)
       python3 bench_page.py tables (without the plots: needs Python's standard library only)
"""

import importlib.util
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
NUMPY = "NumPy, np.take(x, idx, out=out, mode='wrap')"


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def code(text):
    return f"`{text}`"


def size(count, unit=""):
    for power, name in (30, "Gi"), (20, "Mi"):
        if count >= 1 << power:
            return f"{count >> power} {name}{unit}"
    return f"{count} {unit}".strip()


def spread(t, digits):
    return f"{t['low']:.{digits}f} to {t['high']:.{digits}f}"


def ladder(bench):
    rows = [
        (
            code(r["way"]) if "(" in r["way"] else r["way"],
            f"{r['median']:.3f}",
            spread(r, 3),
            f"{r['peak_bytes'] / 1e6:.0f}",
        )
        for r in bench["ladder"]["rows"]
    ]
    floor = bench["ladder"]["pcie_floor"]
    rows.append(("PCIe alone: 4 MB each way at once", f"{floor['median']:.3f}", spread(floor, 3), ""))
    return table(["way", "ms", "fastest to slowest", "device memory, MB"], rows)


def kernel(bench):
    head = ["source", "indices", "this take", "fastest other", "floor", "of the floor", "check costs"]
    rows = []
    for r in bench["kernel"]:
        times = {name: t["median"] for name, t in r["ways"].items()}
        ours = times.pop("this take")
        other = min(times, key=times.get)
        cost = r["raise"]["median"] / r["unchecked"]["median"]
        rows.append(
            (
                size(4 * r["M"], "B"),
                size(r["N"]),
                f"{ours:.4f}",
                f"{times[other]:.4f}, {other}",
                f"{r['floor']:.4f}",
                f"{100 * r['floor'] / ours:.0f} %",
                f"{cost:.3f}",
            )
        )
    return table(head, rows)


def others(bench):
    names = list(bench["kernel"][0]["ways"])
    rows = [
        (size(4 * r["M"], "B"), size(r["N"]), *(f"{r['ways'][n]['median']:.4f}" for n in names))
        for r in bench["kernel"]
    ]
    return table(["source", "indices", *names], rows)


def call(bench):
    base = bench["call"]["rows"][0]["median"]
    rows = [(r["way"], f"{r['median']:.2f}", spread(r, 2), f"{r['median'] / base:.2f}") for r in bench["call"]["rows"]]
    return table(["way", "µs a call", "fastest to slowest", "times the C loop"], rows)


def bad_index(bench):
    rows = [(name, *(code(a) for a in answers)) for name, answers in bench["bad_index"].items()]
    return table(["library", "index 5", "index -1", "index -6"], rows)


def machine(bench):
    versions = ", ".join(f"{name} {version}" for name, version in bench["versions"].items())
    return f"{bench['gpu']}, driver {bench['driver']}; {versions}."


def plot(points, against, label, path):
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    plt.rcParams.update({"svg.hashsalt": "gather", "svg.fonttype": "none", "font.size": 9})
    figure, axes = plt.subplots(figsize=(7, 4))
    for name in points[0]:
        if name not in ("N", "M"):
            style = dict(color="black", linewidth=2) if name == NUMPY else {}
            axes.loglog(
                [p[against] for p in points], [p[name] for p in points], label=name, marker="o", markersize=3, **style
            )
    axes.set_xlabel(label)
    axes.set_ylabel("ms a call")
    axes.grid(True, which="major", alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main():
    if sys.argv[1:] != ["tables"] and not importlib.util.find_spec("matplotlib"):
        sys.exit("the plots need matplotlib (pip install matplotlib); bench_page.py tables does without")
    with open(os.path.join(HERE, "bench.json")) as f:
        bench = json.load(f)
    page = os.path.join(HERE, "README.md")
    with open(page, encoding="utf-8") as f:
        text = f.read()
    for part in machine, ladder, kernel, others, call, bad_index:
        begin, end = f"<!-- {part.__name__} -->\n", f"\n<!-- end of {part.__name__} -->"
        text, count = re.subn(f"{begin}.*?{end}", lambda _: f"{begin}\n{part(bench)}\n{end}", text, flags=re.S)
        if count != 1:
            raise SystemExit(f"README.md: {begin.strip()} … {end.strip()} has to be there once")
    with open(page, "w", encoding="utf-8") as f:
        f.write(text)
    if sys.argv[1:] == ["tables"]:
        return
    plot(bench["curves"]["against_N"], "N", "indices (from 128 Mi floats)", os.path.join(HERE, "against_n.svg"))
    plot(
        bench["curves"]["against_M"], "M", "elements of the source (1 Mi indices)", os.path.join(HERE, "against_m.svg")
    )


if __name__ == "__main__":
    main()
