#!/usr/bin/env python3
"""Puts what make bench kept into the page: python3 common/bench_page.py 01-hello-kernel

README.md of that stage has two marks, <!-- bench.txt --> and <!-- end of bench.txt -->; what is between
them becomes the stage's bench.txt. Needs Python's standard library only.
"""

import os
import re
import sys


def main(stage):
    page = os.path.join(stage, "README.md")
    with open(os.path.join(stage, "bench.txt"), encoding="utf-8") as f:
        times = f.read()
    with open(page, encoding="utf-8") as f:
        text = f.read()
    begin, end = "<!-- bench.txt -->\n", "\n<!-- end of bench.txt -->"
    text, count = re.subn(f"{begin}.*?{end}", lambda _: f"{begin}\n{times}{end}", text, flags=re.S)
    if count != 1:
        sys.exit(f"{page}: the marks {begin.strip()} … {end.strip()} have to be there once")
    with open(page, "w", encoding="utf-8") as f:
        f.write(text)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
