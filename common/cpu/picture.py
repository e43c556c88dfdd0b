#!/usr/bin/env python3
"""Draws which thread of a kernel touches which element of memory: python3 picture.py OUT.svg < LAUNCHES

Writes the picture to OUT.svg, and a table to stderr. Each line of the input is a JSON object, for one launch:

    {"kernel": "VectorAdd", "launch": "vector_add.cu:47", "grid": [16, 1, 1], "block": [256, 1, 1],
     "lines": [{"place": "vector_add.cu:12", "kind": "read",
                "accesses": 4096, "bytes": 16384, "requests": 128, "sectors": 512}],
     "memory": [{"bytes": 16384}],
     "touches": [{"line": 0, "block": [0, 0, 0], "thread": [5, 0, 0], "memory": 0, "offset": 20, "bytes": 4}]}

lines:   what all threads did at one line of the source; kind is read, write or atomic. A request is what the
         threads of a warp ask for together. For each request, a GPU moves whole sectors of 32 bytes.
memory:  the pieces of memory that the kernel touched. Each begins where a sector begins.
touches: what the first warps did, in order. "line" and "memory" are indices, "offset" is in bytes.

A panel shows a line of the source, a piece of memory, and there the first access of each thread of one warp.
"""

import colorsys
import html
import json
import sys

SECTOR, WARP = 32, 32  # bytes, threads
STEP = 26  # pixels from one thread to the next
LEFT, WIDTH = 34, WARP * STEP  # where threads and memory are on the page
VERBS = {"read": ("asks for", "ask for"), "write": ("writes", "write"), "atomic": ("changes", "change")}

STYLE = """<style>
text { font: 13px system-ui, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1f2328; }
.heading { font-size: 17px; font-weight: 600; }
.title { font-weight: 600; }
.note, .small, .skipped { font-size: 12px; fill: #59636e; }
.number, .small { font-size: 10px; text-anchor: middle; }
.number { fill: #ffffff; }
.skipped { text-anchor: middle; }
.paper { fill: #ffffff; }
.sector { fill: #d3dfec; stroke: #9fb0c2; }
.untouched { fill: #ffffff; stroke: #b6c1cd; }
.idle { fill: #8b949e; }
line { stroke-width: 1.5; stroke-opacity: 0.8; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .note, .small, .skipped { fill: #9aa6b2; }
  .paper { fill: #0d1117; }
  .sector { fill: #2b3a4d; stroke: #50627a; }
  .untouched { fill: #10161e; stroke: #435061; }
}
</style>"""


def count(number, one, many):
    return f"{number} {one if str(number) == '1' else many}"


def size(three):  # [16, 8, 1] is 16 x 8
    return " x ".join(str(n) for n in three[: 3 if three[2] > 1 else 2 if three[1] > 1 else 1])


def position(three, sizes):  # [5, 1, 0] is (5, 1) in a block of 16 x 8, and 5 in one of 256
    dimensions = len(size(sizes).split(" x "))
    return str(three[0]) if dimensions == 1 else f"({', '.join(str(n) for n in three[:dimensions])})"


def printable(text):
    return "".join(c if c.isprintable() else "?" for c in str(text))


def heading(launch):
    blocks, threads = count(size(launch["grid"]), "block", "blocks"), count(size(launch["block"]), "thread", "threads")
    return printable(f"kernel {launch['kernel']} ({launch['launch']}), {blocks} of {threads}")


def table(launch):
    """The text for stderr."""
    if not launch["lines"]:
        return heading(launch) + "\nThis kernel did not touch the device's memory."
    rows = [["place", "kind", "accesses", "bytes asked", "32-byte sectors", "efficiency"]]
    for line in launch["lines"]:
        efficiency = f"{100 * line['bytes'] / (SECTOR * line['sectors']):.1f} %" if line["sectors"] else "-"
        row = [line["place"], line["kind"], line["accesses"], line["bytes"], line["sectors"], efficiency]
        rows.append([printable(cell) for cell in row])
    widths = [max(len(cell) for cell in column) for column in zip(*rows)]
    text = heading(launch)
    for row in rows:
        left = [cell.ljust(width) for cell, width in zip(row[:2], widths[:2])]
        right = [cell.rjust(width) for cell, width in zip(row[2:], widths[2:])]
        text += "\n" + "  ".join(left + right)
    return text


def text(x, y, style, words):
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}">{html.escape(printable(words))}</text>'


def box(x, y, width, height, look, title=""):
    """look is a class of STYLE, or a colour."""
    look = f'fill="{look}"' if look.startswith("#") else f'class="{look}"'
    title = f"<title>{html.escape(title)}</title>" if title else ""
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height}" rx="2" {look}>{title}</rect>'


def colour(lane):
    """From blue (the first thread of a warp) by violet and red to orange (the last one)."""
    rgb = colorsys.hls_to_rgb((0.55 + 0.52 * lane / (WARP - 1)) % 1, 0.52, 0.62)
    return "#" + "".join(f"{round(255 * part):02x}" for part in rgb)


def number(launch, thread):
    """The number of a thread in its block. 32 numbers that follow each other, from 0 on, are a warp."""
    return thread[0] + launch["block"][0] * (thread[1] + launch["block"][1] * thread[2])


def warp_of(launch, touch):
    return touch["block"], number(launch, touch["thread"]) // WARP


def element_size(touches):
    """As many bytes as an access has. If accesses differ, a power of two that divides them all."""
    element = SECTOR
    while any(touch["bytes"] % element or touch["offset"] % element for touch in touches):
        element //= 2
    return element


def panel(launch, line, touches, y):
    """What the first warp of touches does. Returns the SVG, and where the next panel begins."""
    block, warp = warp_of(launch, touches[0])
    of_warp = [touch for touch in touches if warp_of(launch, touch) == (block, warp)]
    first = {}  # lane, the number of a thread in its warp: its first access
    for touch in of_warp:
        first.setdefault(number(launch, touch["thread"]) % WARP, touch)
    element = element_size(first.values())
    touched = {}  # element, counted from the beginning of the memory: the lanes that touch it
    for lane, touch in first.items():
        for index in range(touch["offset"] // element, (touch["offset"] + touch["bytes"]) // element):
            touched.setdefault(index, []).append(lane)
    per_sector = SECTOR // element
    sectors = sorted({index // per_sector for index in touched})

    # Where the sectors are. If they fit, an element is as wide as a thread.
    per_row = max(8, WIDTH // (STEP * per_sector))
    pitch = min(WIDTH / min(len(sectors), per_row), STEP * per_sector)
    gap = 6 if sectors[-1] - sectors[0] < len(sectors) else min(20, pitch / 4)
    left, top = LEFT + max(0, WIDTH - pitch * len(sectors)) / 2, y + 150
    where = {s: (left + gap / 2 + i % per_row * pitch, top + i // per_row * 54) for i, s in enumerate(sectors)}
    width = (pitch - gap) / per_sector  # of an element, with the space around it
    inset = min(2.5, width / 6)

    def place(index):  # of an element
        x, y = where[index // per_sector]
        return x + index % per_sector * width, y

    def range_of(index):
        return f"bytes {index * element} to {(index + 1) * element - 1}"

    words = VERBS.get(line["kind"], VERBS["read"])
    asked = sum(touch["bytes"] for touch in first.values())
    title = f"{line['place']}, {line['kind']}"
    svg = [f'<text x="{LEFT}" y="{y}"><tspan class="title">{html.escape(printable(title))}</tspan>'
           f'<tspan dx="14">{count(len(first), "thread", "threads")} {words[len(first) != 1]} '
           f'{count(asked, "byte", "bytes")}: {count(len(sectors), "sector", "sectors")} of 32 bytes</tspan></text>']

    x_size, y_size, z_size = launch["block"]
    threads = [[n % x_size, n // x_size % y_size, n // x_size // y_size]
               for n in range(warp * WARP, min(warp * WARP + WARP, x_size * y_size * z_size))]
    names = [position(thread, launch["block"]) for thread in threads]
    note = f"block {position(block, launch['grid'])}, threads {names[0]} to {names[-1]}"
    svg.append(text(LEFT, y + 26, "note", note + ("; the numbers are threadIdx.x" if y_size * z_size > 1 else "")))
    start = LEFT + (WARP - len(threads)) * STEP / 2

    for lane, touch in first.items():
        for index in [i for i in touched if lane in touched[i]]:
            pass
    memory = launch["memory"][touches[0]["memory"]]["bytes"]
    for i, s in enumerate(sectors):
        x, row = where[s]
        svg.append(box(x - 1.5, row - 4, pitch - gap + 3, 24, "sector", f"bytes {s * SECTOR} to {(s + 1) * SECTOR - 1}"))
        if i and s > sectors[i - 1] + 1:
            svg.append(text(x - gap / 2, row + 10, "skipped", "\u2026"))
    for index, lanes in touched.items():
        x, row = place(index)
        for lane in lanes:
            svg.append(f'<line x1="{start + (lane + 0.5) * STEP:.1f}" y1="{y + 54}" x2="{x + width / 2:.1f}" y2="{row}" '
                       f'stroke="{colour(lane)}"/>')
    for lane, (thread, name) in enumerate(zip(threads, names)):
        x = start + lane * STEP
        svg.append(box(x + 2, y + 34, STEP - 4, 20, colour(lane) if lane in first else "idle", f"thread {name}"))
        svg.append(text(x + STEP / 2, y + 47.5, "number", thread[0]))
    for i, s in enumerate(sectors):
        for index in range(s * per_sector, (s + 1) * per_sector):
            x, row = place(index)
            if index in touched:
                svg.append(box(x + inset, row, width - 2 * inset, 16, colour(touched[index][0]), range_of(index)))
            elif (index + 1) * element <= memory:
                svg.append(box(x + inset, row, width - 2 * inset, 16, "untouched", range_of(index)))
        label = str(s * SECTOR)
        if i % per_row % -(-len(label) * 7 // int(pitch)) == 0:
            svg.append(text(where[s][0] + (pitch - gap) / 2, where[s][1] + 32, "small", label))
    y = where[sectors[-1]][1] + 50
    svg.append(text(LEFT, y, "note", f"memory {touches[0]['memory']}, {count(memory, 'byte', 'bytes')}; "
                    "the numbers are offsets in bytes"))
    if len(of_warp) > len(first):
        y += 18
        svg.append(text(LEFT, y, "note", "The threads come here more than once. This is the first time."))
    others = len({json.dumps(warp_of(launch, touch)) for touch in touches}) - 1
    if others:
        y += 18
        svg.append(text(LEFT, y, "note", f"{count(others, 'more warp was', 'more warps were')} recorded, and not drawn."))
    return svg, y + 44


def picture(launches):
    svg, y = [], 36
    if not launches:
        svg.append(text(LEFT, y, "note", "No kernel was launched."))
        y += 30
    for launch in launches:
        svg.append(text(LEFT, y, "heading", heading(launch)))
        y += 32
        parts = {}
        for touch in launch["touches"]:
            parts.setdefault((touch["line"], touch["memory"]), []).append(touch)
        for index, memory in sorted(parts):
            part, y = panel(launch, launch["lines"][index], parts[index, memory], y)
            svg += part
        if not parts:
            svg.append(text(LEFT, y, "note", "No access to the device's memory was recorded."))
            y += 44
    width = WIDTH + 2 * LEFT
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width} {y}" width="{width}" height="{y}">'
            "<title>Which thread touches which element of memory</title>")
    return "\n".join([head, STYLE, f'<rect class="paper" width="{width}" height="{y}"/>'] + svg + ["</svg>", ""])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    launches = [json.loads(line) for line in sys.stdin.buffer if line.strip()]
    for launch in launches:
        print(table(launch), file=sys.stderr)
    with open(sys.argv[1], "w", encoding="utf-8") as f:
        f.write(picture(launches))
