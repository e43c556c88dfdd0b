"""Writes the pages' tables and its plot from bench.jsonl, which make bench has written.

Run:   python3 figures.py
"""

import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.append(str(HERE.parent.parent / "common/bench"))
from bench_page import fill, plot, size, table

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


def shares_table(rows):
    """Where the time goes, for the most indices on two ranks."""
    lines = []
    for way, line in rows[max(rows)].items():
        if line["who"] == "ours" and line["ranks"] == 2:
            parts = [1e3 * line[part] for part in PARTS]
            lines.append((way, *(f"{ms:.1f}" for ms in [*parts, line["ms"] - sum(parts), line["ms"]])))
    return table(["", *PARTS, "rest", "all"], lines)


def main():
    with open(HERE / "bench.jsonl") as f:
        lines = [json.loads(line) for line in f]
    if not all(line["right"] for line in lines):
        sys.exit("bench.jsonl: a result is wrong")
    rows = times(lines, 1024)
    parts = {"times": times_table(rows), "shares": shares_table(rows), "large": times_table(times(lines, 49152))}
    fill([HERE / "README.md", HERE / "README.zh.md"], parts)
    lines = {way: (list(rows), [row[way]["ms"] for row in rows.values()]) for way in WAYS.values()}
    plot(HERE / "times.svg", lines, "indices of each rank", "ms")


if __name__ == "__main__":
    main()
