"""The exercises of a stage, solved and as a learner finds them: solved_and_unsolved.py STAGE.

Each has a solution that passes, a check and wrong answers. Its skeleton is the solution less the marked lines; it
compiles, is refused, and the page shows with which words. Prints what is not so, and at the end how many exercises
there are.
"""

import concurrent.futures
import importlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(TESTS), str(TESTS.parent), str(TESTS.parent.parent / "common")]
import exercises
import pages


def is_changed(path):
    """Whether git knows another version: a learner's own answer."""
    git = ["git", "-C", path.parent]
    return subprocess.run([*git, "diff", "--quiet", "HEAD", "--", path.name], capture_output=True).returncode == 1


def faults_of(stage, name):
    folder, page = stage / "exercises", (stage / "exercises/README.md").read_text()
    solutions = exercises.files_of(name, folder / "solutions")
    if not solutions or not exercises.files_of(name, folder / "checks"):
        return f"{name}: no solution, or no check\n"
    faults = ""
    with tempfile.TemporaryDirectory() as answers:  # the same room for both: what the check brings is built once
        for path in solutions:
            shutil.copy(path, answers)
        if said := exercises.attempt(stage, name, pathlib.Path(answers)):
            faults += f"{name}: the solution does not pass: {said}\n"
        for path in solutions:
            text = path.read_text()
            own = folder / path.name
            pathlib.Path(answers, path.name).write_text(exercises.skeleton(text))
            if text.count("YOUR LINES, about") != text.count("END OF YOUR LINES"):
                faults += f"{path.name}: a hole without an end\n"
            if not own.exists() or own.read_text() != exercises.skeleton(text) and not is_changed(own):
                faults += f"{path.name}: the skeleton is not the solution less its lines: make reset EXERCISE={name}\n"
        if not any("YOUR LINES" in path.read_text() for path in solutions):
            faults += f"{name}: no hole\n"
        if len(importlib.import_module(f"wrong_{stage.name[:2]}").WRONG.get(name, [])) < 5:
            faults += f"{name}: fewer than five wrong answers\n"
        is_short = name in exercises.exercises(stage)[:1] and all(path.suffix != ".pyx" for path in solutions)
        if os.environ.get("WRONG_ANSWERS") != "all" and not is_short:
            return faults  # it takes long: what the other unsolved ones say is asked for by make test-all
        said = exercises.attempt(stage, name, pathlib.Path(answers))
    if not said or "does not compile" in said[0]:
        faults += f"{name}: unsolved, the check says {said}\n"
    shown = re.search(rf"```console\n\$ make exercises EXERCISE={name}\n(.*?)```", page, re.S)
    text = "\n".join(["", f"{name}:", *said, "", ""])
    if not shown or not pages.pattern_of(shown[1]).fullmatch(text):
        faults += f"{name}: the page does not show this:{text}"
    return faults


if __name__ == "__main__":
    stage = pathlib.Path(sys.argv[1]).resolve()
    names = exercises.exercises(stage)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        print(*pool.map(lambda name: faults_of(stage, name), names), sep="", end="")
    print(len(names), "exercises")
