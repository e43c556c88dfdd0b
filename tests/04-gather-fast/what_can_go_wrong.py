"""What can go wrong: runs each row of 04-gather/fast/WHAT_CAN_GO_WRONG.md, and compares what comes with the row.

The rows are those of all tables under "What you see": code of one line, what comes (an exception, or what a Python
prompt prints; … stands for anything), what to do. The block of Python before them makes their names.
"""

import contextlib
import io
import pathlib
import re
import sys

import pages

PAGE = pathlib.Path(__file__).resolve().parents[2] / "04-gather/fast/WHAT_CAN_GO_WRONG.md"
HEAD = "| what you do | what you see | what to do |"


def seen(code, names):
    """What a Python prompt prints of this line."""
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(code + "\n", "row", "single"), names)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return printed.getvalue().strip()


part = re.search(r"(?ms)^## What you see$(.*)^## What you see on some machines only$", PAGE.read_text())[1]
start, *sections = part.split("\n### ")
names, count, wrong = {"__name__": "__main__"}, 0, 0
exec(re.search(r"(?s)```python run\n(.*?)```", start)[1], names)
for code, row in (map(pages.code_of, row[:2]) for section in sections for row in pages.rows_of(section, HEAD)):
    now = seen(code, names)
    count += 1
    if not re.fullmatch(pages.pattern_of_line(row), now):
        wrong += 1
        print(f"{code}\n  the row:    {row}\n  what comes: {now}")
print(f"{count} rows, {wrong} wrong")
sys.exit(wrong > 0 or count == 0)
