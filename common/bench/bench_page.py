#!/usr/bin/env python3
"""Puts what make bench kept into a stage's pages: python3 common/bench/bench_page.py 01-hello-kernel

A page of the stage may have marks, <!-- bench.txt --> and <!-- end of bench.txt -->; what is between them becomes the
stage's bench.txt. Other names in the marks: 04-gather/fast/bench/page.py.
"""

import math
import pathlib
import re
import sys

COLORS = "#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#bcbd22"
SVG_HEAD = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 740 365" width="740" height="365" role="img" \
aria-label="{label}" font-family="sans-serif" font-size="12" text-anchor="middle">
<style>.page{{fill:#fff}}text{{fill:#1f2328}}.begin{{text-anchor:start}}.end{{text-anchor:end}}polyline,path{{fill:none;\
stroke-width:1.5}}.line{{stroke:#57606a}}@media (prefers-color-scheme:dark){{.page{{fill:#0d1117}}text{{fill:#e6edf3}}\
.line{{stroke:#9da7b3}}}}</style>
<rect class="page" width="740" height="365"/>"""


def fill(pages, parts):
    """Writes parts[name] between the marks of each name in the pages; each has to be in one of them."""
    missing = set(parts)
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for name in re.findall(r"^<!-- end of (\S+) -->$", text, re.MULTILINE):
            begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
            text, count = re.subn(f"{begin}.*?{end}", lambda _: f"{begin}\n{parts[name]}\n{end}", text, flags=re.DOTALL)
            if count != 1:
                sys.exit(f"{page}: the marks {begin.strip()} … {end.strip()} have to be there once")
            missing.discard(name)
        page.write_text(text, encoding="utf-8")
    if missing:
        sys.exit(f"in no page: {', '.join(missing)}")


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines) + "\n"


def size(count, unit=""):
    for power, name in (30, "Gi"), (20, "Mi"), (10, "Ki"):
        if count >= 1 << power:
            return f"{count >> power} {name}{unit}"
    return f"{count} {unit}".strip()


def plot(path, lines, x_name, y_name, names=()):
    """Draws {name: ([x], [y])} as an SVG: both axes logarithmic, with ticks at powers of 4 along x and of 10 along y.

    What is in names as well has the color that it has in a plot of all names."""
    names = [*names, *lines]
    left, right, top, bottom = 50, 710, 10, 320
    xs, ys = [[value for line in lines.values() for value in line[axis]] for axis in (0, 1)]
    low, high = min(ys) / 1.3, max(ys) * 1.3

    def across(x):
        return f"{left + (right - left) * math.log(x / min(xs), max(xs) / min(xs)):.1f}"

    def up(y):
        return f"{bottom - (bottom - top) * math.log(y / low, high / low):.1f}"

    svg = [SVG_HEAD.format(label=f"{y_name} against {x_name}")]
    svg.append(f'<path class="line" d="M{left} {top}V{bottom}H{right}"/>')
    for x in [4**power for power in range(32) if min(xs) <= 4**power <= max(xs)]:
        svg.append(f'<path class="line" d="M{across(x)} {bottom}v5"/><text x="{across(x)}" y="336">{size(x)}</text>')
    for y in [10.0**power for power in range(-9, 9) if low <= 10.0**power <= high]:
        svg.append(
            f'<path class="line" d="M{left} {up(y)}h-5"/><text class="end" x="42" y="{up(y)}" dy="4">{y:g}</text>'
        )
    for row, (name, line) in enumerate(lines.items()):
        points = " ".join(f"{across(x)},{up(y)}" for x, y in zip(*line))
        svg.append(
            f'<g stroke="{COLORS[names.index(name) % len(COLORS)]}"><polyline points="{points}"/><path d="M65 {20 + 18 * row}h25"/></g>'
        )
        svg.append(f'<text class="begin" x="98" y="{24 + 18 * row}">{name}</text>')
    svg.append(f'<text x="380" y="356">{x_name}</text><text transform="translate(12 165) rotate(-90)">{y_name}</text>')
    path.write_text("\n".join([*svg, "</svg>\n"]), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    stage = pathlib.Path(sys.argv[1])
    fill(stage.glob("*.md"), {"bench.txt": (stage / "bench.txt").read_text(encoding="utf-8")})
