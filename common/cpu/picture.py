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

import html
import json
import sys

SECTOR, WARP = 32, 32  # bytes, threads
STEP, LEFT = 26, 34  # pixels: from one thread to the next, and left of the first one
WIDTH = WARP * STEP
COLOURS = [(31, 127, 191), (112, 92, 214), (190, 66, 176), (209, 72, 52), (178, 106, 20)]  # from blue to orange
LEGEND = ("A shaded box is a sector of 32 bytes: a GPU moves all of it. "
          "The threads touch the coloured elements, and not the empty ones.")
STYLE = """<style>
text { font: 13px system-ui, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1f2328; }
.heading { font-size: 17px; font-weight: 600; } .title { font-weight: 600; }
.note, .offset, .skipped { font-size: 12px; fill: #59636e; }
.number, .offset { font-size: 10px; } .long { font-size: 8px; } .number, .offset, .skipped { text-anchor: middle; }
.number, .paper, .untouched { fill: #ffffff; } .untouched { stroke: #b6c1cd; } .idle { fill: #8b949e; }
.sector { fill: #d3dfec; stroke: #9fb0c2; } line { stroke-width: 1.6; stroke-opacity: 0.85; }
.offset { stroke: #ffffff; stroke-width: 3px; paint-order: stroke; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; } .note, .offset, .skipped { fill: #9aa6b2; } .offset { stroke: #0d1117; }
  .paper, .untouched { fill: #0d1117; } .untouched { stroke: #435061; } .idle { fill: #484f58; }
  .sector { fill: #2b3a4d; stroke: #50627a; }
}
</style>"""


def count(number, one, many):
    return f"{number} {one if str(number) == '1' else many}"


def axes(sizes):  # [16, 8, 1] has 2
    return 3 if sizes[2] > 1 else 2 if sizes[1] > 1 else 1


def size(sizes):  # [16, 8, 1] is 16 x 8
    return " x ".join(str(n) for n in sizes[:axes(sizes)])


def position(three, sizes):  # [5, 1, 0] is (5, 1) in a block of 16 x 8; [5, 0, 0] is 5 in a block of 256
    return f"({', '.join(str(n) for n in three[:axes(sizes)])})" if axes(sizes) > 1 else str(three[0])


def printable(words):
    return "".join(c if c.isprintable() else "?" for c in str(words))


def heading(launch):
    blocks, threads = count(size(launch["grid"]), "block", "blocks"), count(size(launch["block"]), "thread", "threads")
    return printable(f"kernel {launch['kernel']} ({launch['launch']}), {blocks} of {threads}")


def table(launch):
    if not launch["lines"]:
        return heading(launch) + "\nThis kernel did not touch the device's memory."
    rows = [["place", "kind", "accesses", "bytes asked", "32-byte sectors", "efficiency"]]
    for line in launch["lines"]:
        efficiency = f"{100 * line['bytes'] / (SECTOR * line['sectors']):.1f} %" if line["sectors"] else "-"
        row = [line["place"], line["kind"], line["accesses"], line["bytes"], line["sectors"], efficiency]
        rows.append([printable(cell) for cell in row])
    widths = [max(len(cell) for cell in column) for column in zip(*rows)]
    texts = ["  ".join(f"{cell:{side}{width}}" for cell, side, width in zip(row, "<<>>>>", widths)) for row in rows]
    return "\n".join([heading(launch)] + texts)


def text(x, y, style, words):
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}">{html.escape(printable(words))}</text>'


def box(x, y, width, height, look, title):  # look is a class of STYLE, or a colour
    look = f'fill="{look}"' if look.startswith("#") else f'class="{look}"'
    return (f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height}" rx="2" {look}>'
            f"<title>{html.escape(title)}</title></rect>")


def byte_range(first, size):
    return f"bytes {first} to {first + size - 1}"


def colour(lane):
    part, rest = divmod(lane * (len(COLOURS) - 1), WARP)
    return "#" + "".join(f"{a + (b - a) * rest // WARP:02x}" for a, b in zip(COLOURS[part], COLOURS[part + 1]))


def warp_and_lane(launch, touch):
    """The threads 0 to 31 of a block are a warp, 32 to 63 the next one. Lane is the number in the warp."""
    x, y, z = touch["thread"]
    warp, lane = divmod(x + launch["block"][0] * (y + launch["block"][1] * z), WARP)
    return (tuple(touch["block"]), warp), lane


def panel(launch, line, touches, y):
    """Draws what the first warp of touches does. Returns the SVG, and where the next panel begins."""
    warps = {}  # for each warp, the first access of each lane
    for touch in touches:
        warp, lane = warp_and_lane(launch, touch)
        warps.setdefault(warp, {}).setdefault(lane, touch)
    (block, warp), lanes = next(iter(warps.items()))
    element = SECTOR  # the bytes of an element are those of an access, or fewer if accesses differ
    while any(touch["bytes"] % element or touch["offset"] % element for touch in lanes.values()):
        element //= 2
    touched = {}  # for each element that is touched, its lanes
    for lane, touch in lanes.items():
        for index in range(touch["offset"] // element, (touch["offset"] + touch["bytes"]) // element):
            touched.setdefault(index, []).append(lane)
    per_sector = SECTOR // element
    sectors = sorted({index // per_sector for index in touched})

    # The title.
    memory = touches[0]["memory"]
    title = f"{line['place']}, {line['kind']}" + (f", memory {memory}" if len(launch["memory"]) > 1 else "")
    verbs = ("thread writes", "threads write") if line["kind"] == "write" else ("thread asks for", "threads ask for")
    asked = f"{count(len(lanes), *verbs)} {count(sum(touch['bytes'] for touch in lanes.values()), 'byte', 'bytes')}"
    svg = [f'<text x="{LEFT}" y="{y}"><tspan class="title">{html.escape(printable(title))}</tspan>'
           f'<tspan dx="14">{asked}: {count(len(sectors), "sector", "sectors")} of 32 bytes</tspan></text>']

    # The threads.
    x_size, y_size, z_size = launch["block"]
    numbers = range(warp * WARP, min((warp + 1) * WARP, x_size * y_size * z_size))
    threads = [[n % x_size, n // x_size % y_size, n // x_size // y_size] for n in numbers]
    names = [position(thread, launch["block"]) for thread in threads]
    note = f"block {position(block, launch['grid'])}, "
    note += f"threads {names[0]} to {names[-1]}" if len(names) > 1 else f"thread {names[0]}"
    note += "; the numbers are threadIdx.x" if axes(launch["block"]) > 1 else ""
    svg.append(text(LEFT, y + 24, "note", note))
    for lane, name in enumerate(names):
        look = colour(lane) if lane in lanes else "idle"
        svg.append(box(LEFT + lane * STEP + 2, y + 32, STEP - 4, 20, look, f"thread {name}"))
        svg.append(text(LEFT + (lane + 0.5) * STEP, y + 45.5, "number long" if threads[lane][0] > 999 else "number",
                        threads[lane][0]))

    # The sectors: side by side if there is room for elements as wide as threads; else narrow ones, in rows.
    per_row = max(16 if element >= 4 else 8, WIDTH // (STEP * per_sector))
    pitch = min(WIDTH / min(len(sectors), per_row), STEP * per_sector)
    gap = 0 if sectors[-1] - sectors[0] < len(sectors) else min(20, pitch / 4)
    left = LEFT + max(0, len(threads) * STEP - pitch * len(sectors)) / 2 + gap / 2
    corners = {s: (left + i % per_row * pitch, y + 146 + i // per_row * 54) for i, s in enumerate(sectors)}
    width = (pitch - gap) / per_sector  # of an element, with the space around it
    space = min(3.5, width / 5)
    edge = min(1.5, space - 1)

    def element_box(index, look):
        x, row = corners[index // per_sector]
        x += index % per_sector * width + space
        return box(x, row, width - 2 * space, 16, look, byte_range(index * element, element))

    memory_bytes = launch["memory"][memory]["bytes"]
    for s, (x, row) in corners.items():
        svg.append(box(x + edge, row - 4, pitch - gap - 2 * edge, 24, "sector", byte_range(s * SECTOR, SECTOR)))
        svg += [element_box(index, "untouched") for index in range(s * per_sector, (s + 1) * per_sector)
                if index not in touched and (index + 1) * element <= memory_bytes]
    for index, users in touched.items():
        x, row = corners[index // per_sector]
        x += (index % per_sector + 0.5) * width
        svg += [f'<line x1="{LEFT + (lane + 0.5) * STEP:.1f}" y1="{y + 52}" x2="{x:.1f}" y2="{row}" '
                f'stroke="{colour(lane)}"/>' for lane in users]
    svg += [element_box(index, colour(users[0])) for index, users in touched.items()]
    for i, (s, (x, row)) in enumerate(corners.items()):
        if i % per_row % (len(str(s * SECTOR)) * 7 // int(pitch) + 1) == 0:  # if there is room
            svg.append(text(x + (pitch - gap) / 2, row + 32, "offset", s * SECTOR))
        if i and s > sectors[i - 1] + 1:
            svg.append(text(x - gap / 2, row + 10, "skipped", "…"))

    notes = [f"memory {memory}, {count(memory_bytes, 'byte', 'bytes')}; the numbers are offsets in bytes"]
    if len(touches) > sum(len(lanes) for lanes in warps.values()):
        notes.append("The threads touch this memory more than once at this line. Only the first time is drawn.")
    if len(warps) > 1:
        notes.append(f"Not drawn: {count(len(warps) - 1, 'more warp', 'more warps')}.")
    y = corners[sectors[-1]][1] + 50
    svg += [text(LEFT, y + 18 * i, "note", note) for i, note in enumerate(notes)]
    return svg, y + 18 * len(notes) + 26


def section(launch, y):
    svg, panels = [text(LEFT, y, "heading", heading(launch))], {}
    y += 32
    for touch in launch["touches"]:
        panels.setdefault((touch["line"], touch["memory"]), []).append(touch)
    for line, memory in sorted(panels, key=lambda key: key[0]):
        part, y = panel(launch, launch["lines"][line], panels[line, memory], y)
        svg += part
    if not panels:
        svg.append(text(LEFT, y, "note", "The first warps did not touch the device's memory."))
    return svg, y + 10 if panels else y + 44


def main(out):
    tables, svg, y = [], [text(LEFT, 30, "note", LEGEND)], 66
    for i, line in enumerate(sys.stdin.buffer, 1):
        try:
            launch = json.loads(line.strip())
            tables.append(table(launch))
            part, y = section(launch, y)
        except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError) as error:
            sys.exit(printable(f"picture.py: cannot read line {i} of the input ({type(error).__name__}: {error})"))
        svg += part
    if tables:
        print("\n".join(tables), file=sys.stderr)
    sizes = f'width="{WIDTH + 2 * LEFT}" height="{y}"'
    head = [f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {WIDTH + 2 * LEFT} {y}" {sizes}>',
            "<title>Which thread touches which element of memory</title>", STYLE, f'<rect class="paper" {sizes}/>']
    try:
        with open(out, "w", encoding="utf-8") as f:
            f.write("\n".join(head + svg + ["</svg>", ""]))
    except OSError as error:
        sys.exit(f"picture.py: {error}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
