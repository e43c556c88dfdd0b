#!/usr/bin/env python3
"""Puts what make bench kept into a stage's pages: python3 common/bench/bench_page.py 01-hello-kernel

A page of the stage may have marks, <!-- bench.txt --> and <!-- end of bench.txt -->; what is between them becomes the
stage's bench.txt. Other names in the marks: 04-gather/fast/bench/page.py. Needs Python's
standard library only; a plot needs matplotlib.
"""

import io
import pathlib
import re
import sys


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def fill(page, parts):
    """Writes parts[name] between the marks of each name in the page. Returns the names that are there."""
    text = read(page)
    names = re.findall(r"^<!-- end of (\S+) -->$", text, re.MULTILINE)
    if not names:
        return []
    for name in names:
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        text, count = re.subn(f"{begin}.*?{end}", lambda _: f"{begin}\n{parts[name]}\n{end}", text, flags=re.DOTALL)
        if count != 1:
            sys.exit(f"{page}: the marks {begin.strip()} … {end.strip()} have to be there once")
    with open(page, "w", encoding="utf-8") as f:
        f.write(text)
    return names


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines) + "\n"


def size(count, unit=""):
    for power, name in (30, "Gi"), (20, "Mi"), (10, "Ki"):
        if count >= 1 << power:
            return f"{count >> power} {name}{unit}"
    return f"{count} {unit}".strip()


def log_log(axes, lines):
    """Draws {name: ([x], [y])} with a tick for every second power of two along x."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    for name, (x, y) in lines.items():
        axes.loglog(x, y, label=name, linewidth=2 if name == "NumPy" else 1.2)
    for axis, base, text in (axes.xaxis, 4, lambda x, _: size(int(x))), (axes.yaxis, 10, lambda y, _: f"{y:g}"):
        axis.set_major_locator(LogLocator(base))
        axis.set_major_formatter(FuncFormatter(text))
        axis.set_minor_locator(NullLocator())
    axes.legend(frameon=False, fontsize=7)


def save(figure, path):
    """As an SVG of few lines."""
    for axes in figure.axes:
        for artist in axes.get_children():
            artist.set_clip_on(False)
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    text = re.sub(r"<metadata>.*?</metadata>\n", "", text.getvalue(), flags=re.DOTALL)
    text = re.sub(r" *\n(?! *<(g id|path|text)) *", " ", text)
    with open(path, "w") as f:
        f.write(text)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    stage = pathlib.Path(sys.argv[1])
    if not sum([fill(page, {"bench.txt": read(stage / "bench.txt")}) for page in stage.glob("*.md")], []):
        sys.exit(f"{stage}: no page has the marks of bench.txt")
