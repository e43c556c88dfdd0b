"""Writes the page's tables and its plot from bench.jsonl, which make bench has written.

Run:   python3 figures.py (needs matplotlib: pip install matplotlib)
       python3 figures.py tables (without the plot: needs Python's standard library only)
"""

import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.append(os.path.join(HERE, "..", "..", "common", "bench"))
from bench_page import fill, log_log, save, size, table  # noqa: E402

PARTS = "sort", "there", "gather", "back", "place"
WAYS = {  # (carrier, ranks): as the tables name it
    ("MPI, by pinned memory", 1): "1 rank",
    ("NCCL", 2): "2 ranks, NCCL",
    ("MPI, by pinned memory", 2): "2 ranks, MPI by pinned memory",
    ("PyTorch, NCCL", 1): "PyTorch, 1 rank",
    ("PyTorch, NCCL", 2): "PyTorch, 2 ranks, NCCL",
}


def times(lines, source_mib):
    """{indices of a rank: {way: its line}} for sources of this size."""
    rows = {}
    for line in lines:
        if line["source_mib"] == source_mib:
            rows.setdefault(line["mi"] << 20, {})[WAYS[line.get("carrier", line["who"]), line["ranks"]]] = line
    return rows


def times_table(rows):
    ways = [way for way in WAYS.values() if way in next(iter(rows.values()))]
    return table(
        ["indices of each rank", *ways],
        [(size(n), *(f"{row[way]['ms']:.1f}" for way in ways)) for n, row in rows.items()],
    )


def shares(rows):
    """(way, ms of each part, ms of all) for the most indices, on two ranks."""
    row = rows[max(rows)]
    return [
        (way, [1e3 * row[way][part] for part in PARTS], row[way]["ms"])
        for way in WAYS.values()
        if "2 ranks" in way and "PyTorch" not in way
    ]


def shares_table(rows):
    return table(
        ["", *PARTS, "rest", "all"],
        [(way, *(f"{ms:.1f}" for ms in [*parts, all_ms - sum(parts), all_ms])) for way, parts, all_ms in shares(rows)],
    )


def plot(rows, path):
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    plt.rcParams.update({"svg.hashsalt": "gather", "svg.fonttype": "none", "font.size": 9})
    figure, axes = plt.subplots(1, 2, figsize=(8, 3.2), layout="tight")
    log_log(axes[0], {way: (list(rows), [row[way]["ms"] for row in rows.values()]) for way in WAYS.values()})
    axes[0].set_xlabel("indices of each rank")
    axes[0].set_ylabel("ms")
    for way, parts, all_ms in shares(rows):
        left = 0
        for n, (part, ms) in enumerate(zip([*PARTS, "rest"], [*parts, all_ms - sum(parts)])):
            name = way.removeprefix("2 ranks, ").replace(" by ", "\nby ")
            axes[1].barh(name, ms, left=left, color=f"C{n}", label=part if way.endswith("NCCL") else None)
            left += ms
    axes[1].set_xlabel(f"ms, for {size(max(rows))} indices on each of 2 ranks")
    axes[1].legend(frameon=False, fontsize=7)
    save(figure, path)


def main():
    with open(os.path.join(HERE, "bench.jsonl")) as f:
        lines = [json.loads(line) for line in f]
    if not all(line["right"] for line in lines):
        sys.exit("bench.jsonl: a result is wrong")
    rows = times(lines, 1024)
    parts = {"times": times_table(rows), "shares": shares_table(rows), "large": times_table(times(lines, 49152))}
    if set(fill(os.path.join(HERE, "README.md"), parts)) != set(parts):
        sys.exit("README.md: a table is not there")
    if sys.argv[1:] != ["tables"]:
        plot(rows, os.path.join(HERE, "times.svg"))


if __name__ == "__main__":
    main()
