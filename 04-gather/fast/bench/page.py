"""Writes the tables of the pages, and a plot, from bench.jsonl, which make bench has written.

Run:   python3 page.py
"""

import json
import pathlib
import re
import sys
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
STAGE = HERE.parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(STAGE.parent / "common/bench"))
from bench_page import fill, plot, size, table


def code(text):
    return re.sub(r"^(NumPy: )?(.*\)|x\[idx\])", r"\1`\2`", text)


def digits(t):
    """Three of them: what comes behind is less than the times differ by."""
    return f"{t:#.3g}".rstrip(".")


def runs(times):
    """Cells: the times of the fastest run and of the slowest."""
    return digits(min(times)), digits(max(times))


def beside_ours(ways, ours="this take"):
    """Cells: our time, the fastest library's, how many times as fast ours is, and the time of our Triton kernel."""
    others = {name: t for name, t in ways.items() if name not in (ours, "Triton kernel")}
    name, other = min(others.items(), key=lambda pair: pair[1])
    times_as_fast = f"{other / ways[ours]:.2f}" if ways[ours] >= 0.005 else "-"  # shorter times are mostly the start
    triton = [us(ways["Triton kernel"])] if "Triton kernel" in ways else []
    return us(ways[ours]), f"{us(other)}, {name}", times_as_fast, *triton


BESIDE = "fastest library", "times as fast", "Triton kernel"
AS_INDEX_SELECT = "F.embedding", "torch x[idx]", "torch.gather"  # equally fast, with rows of 64 bytes and more


def ladder(bench):
    return table(
        ["way", "fastest run, ms", "slowest run"], [(code(r["way"]), *runs(r["time"])) for r in bench["ladder"]]
    )


def a_call(bench):
    ways = "NumPy: x[idx]", "cuda_gather(x, idx)"
    return table(
        ["way", "ms"], [(code(r["way"]), f"{min(r['time']):.1f}") for r in bench["ladder"] if r["way"] in ways]
    )


def us(ms):
    """Microseconds of milliseconds, in as many digits as a reader needs."""
    return f"{1e3 * ms:.{2 if ms < 0.01 else 1 if ms < 1 else 0}f}"


def random(bench):
    rows = []
    for r in bench["random_indices"]:
        checked = f"{r['raise'] / r['unchecked']:.3f}"
        rows.append((size(4 * r["M"], "B"), size(r["N"]), *beside_ours(r["ways"]), checked))
    return table(["source", "indices", "this take", *BESIDE, "raise / simple kernel"], rows)


def libraries(bench):
    (row,) = [r for r in bench["random_indices"] if (r["M"], r["N"]) == (128 << 20, 16 << 20)]
    ways = {**row["ways"], "kernel": row["unchecked"]}
    names = {
        "CuPy take": ("`cupy.take(x, idx)`", "Python, 1"),
        "torch.index_select": ("`torch.index_select(x, 0, idx)`", "Python, 1"),
        "thrust::gather": ("`thrust::gather(…)`", "C++, 4"),
        "Triton kernel": ("a kernel in Triton", "Python, 8"),
        "kernel": ("a kernel without a check, four indices a thread", "CUDA C, 8"),
        "this take": ("`take(x, idx)` of fast", "CUDA C and Cython, 1900"),
    }
    return table(["way", "language, lines", "ms"], [(*names[n], f"{ways[n]:.3f}") for n in names if n in ways])


def distributions(bench, only=lambda r: True):
    head = ["indices", "element, index", "this take", *BESIDE, "a copy", "GB/s"]
    rows = []
    for r in bench["distributions"]:
        if only(r):
            place = r["indices"], f"{r['element_bytes']}, {r['index_bytes']}"
            rate = f"{r['moved'] / r['ways']['this take'] / 1e6:.0f}"
            rows.append((*place, *beside_ours(r["ways"]), us(r["copy"]), rate))
    return table(head, rows)


def share_of_copy(r):
    return f"{100 * r['copy'] / r['ways']['this take']:.0f} %"


def all_rows(bench):
    head = ["indices", "row, bytes", "element", "rows", "share of a copy", "this take", *BESIDE]
    rows = []
    for r in bench["rows"]:
        place = r["indices"], str(r["row_bytes"]), r["element"], size(r["N"])
        ways = dict(r["ways"])
        if r["row_bytes"] >= 64:  # PyTorch's are equally fast
            ways["PyTorch"] = min(ways.pop(way) for way in ("torch.index_select", *AS_INDEX_SELECT))
        rows.append((*place, share_of_copy(r), *beside_ours(ways)))
    return table(head, rows)


def rows(bench):
    """Random indices, the larger count of each kind of rows; all ways."""
    most = {(r["element"], r["row_bytes"]): r for r in bench["rows"] if r["indices"] == "random"}
    ways = [way for way in bench["rows"][0]["ways"] if way not in AS_INDEX_SELECT]
    lines = []
    for (element, row_bytes), r in most.items():
        times = (us(r["ways"][way]) for way in ways)
        lines.append((element, row_bytes, size(r["N"]), *times, share_of_copy(r)))
    return table(["element", "row, bytes", "rows", *ways, "share of a copy"], lines)


def add_rows(bench):
    head = ["element", "numbers in a row", "rows added", "rows of the target", "this add_at", *BESIDE[:2]]
    rows = []
    for r in bench["add_rows"]:
        place = r["element"], str(r["width"]), size(r["N"]), size(r["M"])
        rows.append((*place, *beside_ours(r["ways"], "this add_at")))
    return table(head, rows)


def fours(bench):
    return distributions(bench, lambda r: (r["element_bytes"], r["index_bytes"]) == (4, 4))


def resident(bench):
    names = list(bench["resident"][0]["ways"])
    rows = [(size(r["N"]), *(digits(min(r["ways"][n])) for n in names)) for r in bench["resident"]]
    return table(["indices", *names], rows)


def calls(bench):
    return table(
        ["way", "fastest run, µs a call", "slowest run"], [(r["way"], *runs(r["time"])) for r in bench["calls"]]
    )


def bad_index(bench):
    rows = [(r["library"], *(f"`{a}`" for a in r["answers"])) for r in bench["bad_index"]]
    return table(["library", "index 5", "index -1", "index -6"], rows)


def lessons(bench):
    tables = {}
    for r in bench["lessons"]:
        tables.setdefault(r["what"].split(" ")[0], {}).setdefault((r["what"], r["size"]), {})[r["way"]] = r["ms"]
    return "\n".join(
        table(
            [file, "n", *next(iter(cases.values()))],
            [(what.split(": ")[1], size(n), *map(us, ways.values())) for (what, n), ways in cases.items()],
        )
        for file, cases in ((name.rstrip(":"), cases) for name, cases in tables.items())
    )


def machine(bench):
    parts = {}
    for here in bench["machine"]:
        versions = ", ".join(f"{name} {version}" for name, version in here["versions"].items())
        key = f"{here['gpu']}, driver {here['driver']}, CPU {here['cpu']}; {versions}; {here['day']}"
        parts.setdefault(key, []).extend(here["parts"])
    lines = (f"- {here}: {', '.join(f'`{name}`' for name in its_parts)}" for here, its_parts in parts.items())
    return "".join(textwrap.fill(line, 120, subsequent_indent="  ", break_on_hyphens=False) + "\n" for line in lines)


def main():
    bench = {}
    with open(HERE / "bench.jsonl") as f:
        for row in map(json.loads, f):
            bench.setdefault(row.pop("part"), []).append(row)
    tables = (
        machine,
        ladder,
        a_call,
        libraries,
        random,
        distributions,
        fours,
        rows,
        all_rows,
        add_rows,
        lessons,
        resident,
        calls,
        bad_index,
    )
    parts = {t.__name__: t(bench) for t in tables}
    fill([page for folder in (".", "fast", "fast/bench") for page in (STAGE / folder).glob("*.md")], parts)
    measured = bench["resident"]
    lines = {
        name: ([r["N"] for r in measured], [min(r["ways"][name]) for r in measured]) for name in measured[0]["ways"]
    }
    x_name = "indices (from 128 Mi floats, which are on the GPU; for NumPy they are not)"
    plot(HERE / "resident.svg", lines, x_name, "ms a call")
    measured = {r["row_bytes"]: r for r in bench["rows"] if r["indices"] == "random" and r["element"] == "float16"}
    lines = {}
    for row_bytes, r in measured.items():  # the larger count of each
        for name in (name for name in r["ways"] if name not in AS_INDEX_SELECT):
            xs, ys = lines.setdefault(name, ([], []))
            xs.append(row_bytes)
            ys.append(1e6 * r["ways"][name] / r["N"])
    names = bench["resident"][0]["ways"]
    plot(HERE / "rows.svg", lines, "bytes in a row (float16, random indices)", "ns a row", names)


if __name__ == "__main__":
    main()
