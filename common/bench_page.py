#!/usr/bin/env python3
"""Puts what make bench kept into a stage's pages: python3 common/bench_page.py 01-hello-kernel

Its pages are README.md and README.zh.md. A page has marks, <!-- bench.txt --> and <!-- end of bench.txt -->; what is
between them becomes the stage's bench.txt. Other names in the marks: 04-gather/bench/page.py. Needs Python's standard library only.
"""

import os
import re
import sys


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def fill(page, parts):
    """Writes parts[name] between the marks of each name in the page. Returns the names that are there."""
    text = read(page)
    names = re.findall(r"^<!-- end of (\S+) -->$", text, re.MULTILINE)
    for name in names:
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        text, count = re.subn(f"{begin}.*?{end}", lambda _: f"{begin}\n{parts[name]}\n{end}", text, flags=re.DOTALL)
        if count != 1:
            sys.exit(f"{page}: the marks {begin.strip()} … {end.strip()} have to be there once")
    with open(page, "w", encoding="utf-8") as f:
        f.write(text)
    return names


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    stage = sys.argv[1]
    for page in "README.md", "README.zh.md":
        if fill(os.path.join(stage, page), {"bench.txt": read(os.path.join(stage, "bench.txt"))}) != ["bench.txt"]:
            sys.exit(f"{stage}/{page}: the marks of bench.txt are not there")
