"""Wrong answers to the exercises of a stage: each has to be refused, and the message has to name its cause.

refuse.py STAGE [EXERCISE]...: those of wrong.py. A line for each that passed, or was refused for another reason; the
last line says how many were refused. (Where the table has no message, the answer is a right one, in another style, and
has to pass.) SHOW=1 prints what the checks say. Without SLOW=1, answers to three exercises are drawn; of those whose
check differs from the last commit, as somebody is at work on them, all answers are tried.
"""

import concurrent.futures
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import threading

TESTS = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(TESTS), str(TESTS.parent.parent / "common/exercises")]
import exercises
from wrong import WRONG

workplace = threading.local()  # a folder for each exercise: what a wrong answer does not change is built once


def refuse(stage, name, what, changes, pattern):
    """What is wrong with the check's answer; empty if the wrong answer was refused for its cause."""
    if not hasattr(workplace, name):
        setattr(workplace, name, tempfile.TemporaryDirectory())
    folder = getattr(workplace, name).name
    texts = {path.name: path.read_text() for path in exercises.solutions(stage, name)}
    if isinstance(changes, str):  # what stands in place of the first hole's lines
        changes = [(next(m[2] for text in texts.values() for m in exercises.HOLE.finditer(text)), changes)]
    for old, new in changes:
        if not any(old in text for text in texts.values()):
            return f"{name}, {what}: the solution has no {old!r}\n"
        texts = {file: text.replace(old, new) for file, text in texts.items()}
    for file, text in texts.items():
        pathlib.Path(folder, file).write_text(text)
    said = "\n".join(exercises.attempt(stage, name, pathlib.Path(folder)))
    if pattern is None:
        return said and f"{name}, {what}: a right answer is refused\n{said}\n"
    if not said:
        return f"{name}, {what}: PASSES\n"
    if os.environ.get("SHOW"):
        print(f"---- {name}, {what}\n{said}")
    if not re.search(pattern, said) or "does not compile" in said and "compile" not in pattern:
        return f"{name}, {what}: no {pattern!r} in\n{said}\n"
    if same := re.search(r"expected (\S+), came \1(?!\S)", said):
        return f"{name}, {what}: {same[0]}\n"
    return ""


def is_changed(stage, name):
    """Whether git says that the exercise's check, its solution, or what all checks share is not as in the last commit."""
    shared = [path for path in exercises.HERE.iterdir() if path.stem in ("exercise", "library")]
    paths = [*shared, *exercises.of_check(stage, name), *exercises.solutions(stage, name)]
    git = ["git", "-C", stage, "diff", "--quiet", "HEAD", "--", *paths]
    return subprocess.run(git, capture_output=True).returncode == 1


if __name__ == "__main__":
    stage, only = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    todo = []
    names = only or exercises.exercises(stage)
    drawn = random.sample(names, min(3, len(names)))
    for name in names:
        is_all = only or os.environ.get("SLOW") == "1" or is_changed(stage, name)
        answers = WRONG[name] if is_all else [random.choice(WRONG[name])] if name in drawn else []
        todo += [(stage, name, *one) for one in answers]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        faults = list(pool.map(lambda one: refuse(*one), todo))
    print("".join(faults), end="")
    print(f"{faults.count('')} of {len(todo)} wrong answers are refused, and right ones pass")
    sys.exit(any(faults) or not todo)
