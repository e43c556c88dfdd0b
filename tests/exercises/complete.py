"""What belongs to each exercise of the stages named is there, and is what it says: complete.py STAGE...

A solution with marks around what the learner writes, a check, wrong answers, and a section with hints on the page of
either language. Prints what is not so, and at the end how many exercises there are.
"""

import pathlib
import re
import sys

TESTS = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(TESTS), str(TESTS.parent.parent / "common/exercises")]
import exercises
from wrong import WRONG


def faults_of(stage, number, name):
    solutions, checks = exercises.solutions(stage, name), exercises.of_check(stage, name)
    for path in solutions:
        text = path.read_text()
        if text.count("YOUR LINES, about") != text.count("END OF YOUR LINES"):
            yield f"{path.name}: a hole without an end"
    if not any(f"Exercise {number}, {name}:" in path.read_text() for path in solutions):
        yield f"its file does not say that it is exercise {number}"
    if all(path.read_text() == exercises.at_first(path) for path in solutions):
        yield "there is nothing to do"
    if not any(path.stem.endswith("_check") for path in checks):
        yield "no check"
    if sum(pattern is not None for *_, pattern in WRONG.get(name, [])) < 3:
        yield "fewer than three wrong answers"
    for exercises.is_chinese in (False, True):
        text, page = exercises.section(stage, name)
        if len(re.findall("<details><summary>", text)) < 2 or not exercises.learned(stage, name):
            yield f"{page}: two hints, and what was learned"


if __name__ == "__main__":
    todo = [(path, *one) for path in map(pathlib.Path, sys.argv[1:]) for one in enumerate(exercises.exercises(path), 1)]
    for stage, number, name in todo:
        print(*(f"{name}: {fault}\n" for fault in faults_of(stage.resolve(), number, name)), sep="", end="")
    print(len(todo), "exercises")
