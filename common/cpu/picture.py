#!/usr/bin/env python3
"""Draws which thread of a kernel touches which element of memory: picture.py OUT.svg < LAUNCHES, for check/record.c

Writes the picture to OUT.svg, and a table to stderr. The input, with tabs between the words:

    launch  VectorAdd  vector_add.cu:47  16 1 1  256 1 1     the kernel, its launch, the grid, a block
    line    vector_add.cu:12  read  4096  16384  512         what all threads did there: accesses, bytes, sectors
    access  0  5  0  20  4                                   one access of the first warp: line, thread, allocation,
                                                             offset in it, bytes
A panel shows the first access of each thread at a line to an allocation.
"""

import html
import sys

SECTOR, WARP, STEP, LEFT = 32, 32, 26, 34  # bytes; threads; pixels: from one thread to the next, and left of all
WIDTH = WARP * STEP
NOTE = "A shaded box is a sector: a GPU moves all of it. Threads touch the coloured elements. Below: offsets in bytes."
STYLE = """<style>
text { font: 13px system-ui, sans-serif; fill: #1f2328; } .heading { font-size: 17px; font-weight: 600; }
.note, .offset { font-size: 12px; fill: #59636e; } .number { font-size: 10px; fill: #ffffff; }
.offset, .number { text-anchor: middle; } .sector { fill: #d3dfec; stroke: #9fb0c2; } .paper { fill: #ffffff; }
.untouched { fill: #ffffff; stroke: #b6c1cd; } .idle { fill: #8b949e; } line { stroke-width: 1.6; opacity: 0.85; }
</style>"""


def launches(text):
    found = []
    for line in text:
        what, *words = line.rstrip("\n").split("\t")
        if what == "launch":
            grid, block = ([int(n) for n in sizes.split()] for sizes in words[2:])
            found.append({"kernel": words[0], "launch": words[1], "grid": grid, "block": block})
            found[-1].update(lines=[], accesses=[])
        elif what == "line":
            found[-1]["lines"].append(dict(zip(("place", "kind", "accesses", "bytes", "sectors"), words)))
        else:
            numbers = zip(("line", "thread", "memory", "offset", "bytes"), map(int, words))
            found[-1]["accesses"].append(dict(numbers))
    return found


def size(sizes):  # [16, 8, 1] is 16 x 8
    return " x ".join(str(n) for i, n in enumerate(sizes) if i == 0 or max(sizes[i:]) > 1)


def heading(launch):
    return f"kernel {launch['kernel']} ({launch['launch']}), {size(launch['grid'])} blocks of {size(launch['block'])} threads"


def table(launch):
    rows = [["place", "kind", "accesses", "bytes asked", "32-byte sectors", "efficiency"]]
    for line in launch["lines"]:
        rows.append([*line.values(), f"{100 * int(line['bytes']) / (SECTOR * int(line['sectors'])):.1f} %"])
    widths = [max(map(len, column)) for column in zip(*rows)]
    texts = ["  ".join(f"{cell:{side}{width}}" for cell, side, width in zip(row, "<<>>>>", widths)) for row in rows]
    return "\n".join([heading(launch), *texts])


def colour(lane):  # from blue to orange
    return f"hsl({(205 + lane * 6) % 360}, 60%, 48%)"


def text(x, y, style, words):
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}">{html.escape(str(words))}</text>'


def box(x, y, width, height, look, title):  # look: a class of STYLE, or a colour
    look = f'fill="{look}"' if look.startswith("hsl") else f'class="{look}"'
    shape = f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height}" rx="2" {look}>'
    return f"{shape}<title>{title}</title></rect>"


def panel(launch, line, accesses, y):
    """What the warp does at one line. Returns the SVG, and where the next panel begins."""
    lanes = {}
    for access in accesses:
        lanes.setdefault(access["thread"], access)
    element = SECTOR  # its bytes are those of an access, or fewer if accesses differ
    while any(access["bytes"] % element or access["offset"] % element for access in lanes.values()):
        element //= 2
    users = {}  # of each element that is touched: the lanes
    for lane, access in lanes.items():
        for index in range(access["offset"] // element, (access["offset"] + access["bytes"]) // element):
            users.setdefault(index, []).append(lane)
    per_sector = SECTOR // element
    sectors = sorted({index // per_sector for index in users})
    asked = sum(access["bytes"] for access in lanes.values())
    verb = "write" if line["kind"] == "write" else "ask for"
    what = f"{line['place']}, {line['kind']}, memory {accesses[0]['memory']}: {len(lanes)} threads {verb} {asked} bytes"
    svg = [text(LEFT, y, "", f"{what}, {len(sectors)} sectors of 32 bytes")]
    for lane in range(min(WARP, launch["block"][0] * launch["block"][1] * launch["block"][2])):
        look = colour(lane) if lane in lanes else "idle"
        svg.append(box(LEFT + lane * STEP + 2, y + 14, STEP - 4, 20, look, f"thread {lane}"))
        svg.append(text(LEFT + (lane + 0.5) * STEP, y + 27.5, "number", lane))
    per_row = max(16, WIDTH // (STEP * per_sector))
    pitch = min(WIDTH / min(len(sectors), per_row), STEP * per_sector)
    gap = 0 if sectors[-1] - sectors[0] < len(sectors) else pitch / 4  # not side by side in memory
    width = (pitch - gap) / per_sector  # of an element, with the space around it
    corners = {s: (LEFT + i % per_row * pitch, y + 128 + i // per_row * 54) for i, s in enumerate(sectors)}
    for s, (x, row) in corners.items():
        title = f"bytes {s * SECTOR} to {s * SECTOR + SECTOR - 1}"
        svg.append(box(x + 1, row - 4, pitch - gap - 2, 24, "sector", title))
        svg.append(text(x + (pitch - gap) / 2, row + 32, "offset", s * SECTOR))
        for index in range(s * per_sector, (s + 1) * per_sector):
            left = x + (index - s * per_sector + 0.1) * width
            look = colour(users[index][0]) if index in users else "untouched"
            svg += [
                f'<line x1="{LEFT + (lane + 0.5) * STEP:.1f}" y1="{y + 34}" x2="{left + 0.4 * width:.1f}" y2="{row}" '
                f'stroke="{colour(lane)}"/>'
                for lane in users.get(index, ())
            ]
            svg.append(box(left, row, 0.8 * width, 16, look, f"bytes {index * element} to {(index + 1) * element - 1}"))
    return svg, corners[sectors[-1]][1] + 78


def main(out):
    svg, y = [text(LEFT, 30, "note", NOTE)], 66
    for launch in launches(sys.stdin):
        print(table(launch), file=sys.stderr)
        svg.append(text(LEFT, y, "heading", heading(launch)))
        y += 32
        panels = {}
        for access in launch["accesses"]:
            panels.setdefault((access["line"], access["memory"]), []).append(access)
        for line, memory in sorted(panels):
            part, y = panel(launch, launch["lines"][line], panels[line, memory], y)
            svg += part
        y += 10
    sizes = f'width="{WIDTH + 2 * LEFT}" height="{y}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {sizes}>{STYLE}<rect class="paper" {sizes}/>'
    try:
        with open(out, "w", encoding="utf-8") as f:
            f.write("\n".join([head, *svg, "</svg>\n"]))
    except OSError as error:
        sys.exit(f"CPU_CUDA_PICTURE: {error}")


if __name__ == "__main__":
    main(sys.argv[1])
