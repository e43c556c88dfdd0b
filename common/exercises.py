#!/usr/bin/env python3
"""Which exercises pass, which is next, and what is wrong with it: make exercises calls this, and make reset.

    exercises.py check STAGE...     the exercises of these stages; EXERCISE: only that one
    exercises.py reset STAGE NAME   the exercise as it was; what you wrote stays beside it

ANSWERS: the folder with the answers, such as solutions in exercises/, or one elsewhere; else your own files.

The exercises of a stage and their order are the headings of exercises/README.md: "## 2. guard: ...". What is called
guard.*, guard_* or libguard.* belongs to it, in the folder of the answers and in exercises/checks. These files are
copied to a folder of their own, .tried/guard, which is built as a stage is; then the check runs. An answer passes if
the check ends with exit status 0 and the line that the variable PASSED holds, and the CPU stand-in has no complaint.
"""

import concurrent.futures
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys

COMMON = pathlib.Path(__file__).resolve().parent
PASSED = f"passed {os.urandom(8).hex()}"  # another word in each run: an answer cannot say it by itself
SECONDS = 60  # a check that takes longer hangs
SOURCES = (".cu", ".cuh", ".h", ".c", ".py", ".pyx", ".mk")
# The lines of a solution that the learner has to find: behind the comment that asks for them, up to the end.
HOLE = re.compile(
    r"^(.*YOUR LINES, about .*\n(?:(?!.*END OF YOUR LINES)\s*(?://|#).*\n)*)(?:.*\n)*?(.*END OF YOUR LINES)", re.M
)


def exercises(stage):
    """The names of a stage's exercises, in their order."""
    page = stage / "exercises" / "README.md"
    return re.findall(r"^## \d+\. (\w+)", page.read_text(), re.M) if page.exists() else []


def files_of(name, folder):
    return [
        path
        for pattern in (f"{name}.*", f"{name}_*", f"lib{name}.*")
        for path in sorted(folder.glob(pattern))
        if path.suffix in SOURCES
    ]


def run(command, folder, seconds, path, **more):
    """Exit status, stdout, stderr; status None if it takes longer. path: for Python's modules and C's headers.

    more: settings for this command alone.
    """
    settings = {**os.environ, "PYTHONPATH": path, "C_INCLUDE_PATH": path, "PASSED": PASSED, **more}
    settings["PYTHONOPTIMIZE"] = ""  # or an assert of the answer would not be looked at
    settings["PYTHONDONTWRITEBYTECODE"] = "1"  # of two answers within a second Python may take the older one's
    settings["CPU_CUDA_SEED"] = str(random.randrange(1000))  # on the stand-in: another order of the threads
    with subprocess.Popen(
        command,
        cwd=folder,
        env=settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            out, err = process.communicate(timeout=seconds)
            return process.returncode, out, err
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.communicate()
            return None, "", ""


# ---- One exercise


def make_room(stage, name, answers):
    """The folder in which the exercise is built, with its files as they are now."""
    room = answers / ".tried" / name
    room.mkdir(parents=True, exist_ok=True)
    texts = {
        path.name: path.read_bytes()
        for folder in (answers, stage / "exercises" / "checks")
        for path in files_of(name, folder)
    }
    top = room / ".top"  # make knows no names with a space: they may be in the way from here to the repository
    top.unlink(missing_ok=True)
    top.symlink_to(os.path.relpath(COMMON.parent, room.resolve()))
    texts["Makefile"] = b"COMMON := .top/common\ninclude $(COMMON)/stage.mk\n-include *.mk\n"
    for path in room.iterdir():
        made_by_cython = path.suffix == ".c" and path.stem + ".pyx" in texts
        if path.suffix in SOURCES and path.name not in texts and not made_by_cython:
            path.unlink()
    for file, text in texts.items():  # what is as it was keeps its time: make does not build it again
        if not (room / file).exists() or (room / file).read_bytes() != text:
            (room / file).write_bytes(text)
    return room


def compile_errors(text):
    """The first errors of a compiler, each with the two lines behind it; Cython says what it is behind the lines."""
    lines = [
        line for line in text.splitlines() if line.strip() and not re.match(r"make|In file included|Device: ", line)
    ]
    starts = [i for i, line in enumerate(lines) if re.search(r"error:|\.pyx:\d+:\d+: (?!Warning)", line)]
    return [line for i in starts[:3] for line in lines[i : i + 3] if line is lines[i] or "error:" not in line] or lines[
        :12
    ]


def judge(status, out, err):
    """What is wrong, in a few lines; empty if the answer passes."""
    has_ended_early = status == 0 and out.splitlines()[-1:] != [PASSED]
    complaints = [
        line.removeprefix("CPU stand-in: ")
        for line in err.splitlines()
        if line.startswith("CPU stand-in: ")
        and not re.search("this program runs on the CPU" + "|never freed" * has_ended_early, line)
    ]
    said = [line for line in out.splitlines() if line.startswith("  ")]
    if status is None:
        return [f"  wrong    it has not ended after {SECONDS} seconds", "  look at  loops, and who waits for whom"]
    if status == 0 and not has_ended_early and not complaints:
        return []
    if said or complaints:
        return [f"  stand-in {complaint}" for complaint in complaints[:1]] + said
    if has_ended_early:
        return ["  wrong    the program ended before the check was done", "  look at  exit, return, sys.exit"]
    if status < 0:
        ended = "what ended it: abort, assert, an exception that nobody caught, or free of a wrong pointer"
        return [
            f"  wrong    the program crashed, signal {-status}",
            "  look at  " + (ended if status == -6 else "pointers of the host"),
        ] + err.splitlines()[-3:]
    return ["  wrong    it stopped with an exception, or an error"] + err.splitlines()[-4:]


def sanitize(room, command, path):
    """What compute-sanitizer finds with the tools that the check names: on a GPU, a race or a read may go unseen."""
    search = os.pathsep.join([os.environ.get("PATH", ""), os.environ.get("NVCC_FOLDER", "")])
    sanitizer = shutil.which("compute-sanitizer", path=search)
    for file in sorted(room.glob("*_check.*")):
        for tool in re.findall(r"compute-sanitizer --tool (\w+)", file.read_text(errors="replace")):
            if not sanitizer:
                return [f"  wrong    {tool} has not looked at it: compute-sanitizer, of the CUDA Toolkit, is missing"]
            options = ["--error-exitcode", "99", "--target-processes", "application-only"]
            options += ["--report-api-errors", "no"] if tool == "memcheck" else []
            # EXACT_ARRAYS: no margins behind them, since the tool looks there
            status, out, err = run([sanitizer, "--tool", tool, *options, *command], room, 300, path, EXACT_ARRAYS="yes")
            if status != 0:
                found = [x.strip("= ") for x in (out + err).splitlines() if re.search("Invalid|hazard| at .*0x", x)]
                said = [line for line in out.splitlines() if line.startswith("  ")]
                return [f"  {tool} {line[:200]}" for line in found[:3] or [f"ends with status {status}"]] + said
    return []


def attempt(stage, name, answers):
    """What is wrong with one answer, as lines; empty if it passes."""
    if not files_of(name, answers):
        return [f"  wrong    there is no file of {name} in {answers}"]
    room = make_room(stage, name, answers)
    path = f"{COMMON}:{stage.resolve()}"  # what the exercises share; cuda_loader.h, cuda_error.py
    make = [os.environ.get("MAKE", "make"), "-s", "--no-print-directory", "build"]
    status, out, err = run(make, room, 300, path)
    if status != 0:
        return ["  wrong    it does not compile"] + [f"  {line[:200]}" for line in compile_errors(err + out)]
    if (room / f"{name}_check.py").exists():
        python = os.environ.get("PY", sys.executable)
        command = [os.path.abspath(python) if "/" in python else python, f"{name}_check.py"]
    else:
        command = [f"./{name}_check" if (room / f"{name}_check.c").exists() else f"./{name}"]
    status, out, err = run(command, room, SECONDS, path)
    wrong = judge(status, out, err)
    if wrong:
        wrong += [f"  printed  {line[:100]}" for line in out.splitlines() if not line.startswith(("  ", "passed"))][:5]
    return wrong or (sanitize(room, command, path) if os.environ.get("BACKEND") == "cuda" else [])


# ---- All of them


def check(stages, answers, only):
    todo = [(stage, name) for stage in stages for name in exercises(stage) if only in ("", name)]
    if not todo:
        names = " ".join(name for stage in stages for name in exercises(stage))
        sys.exit(f"no such exercise: {only}; there are: {names}" if names else "there are no exercises here")

    def folder(stage):
        path = stage / "exercises" / answers if answers else stage / "exercises"
        return path.resolve() if path.is_dir() else sys.exit(f"ANSWERS: there is no folder {path}")

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() if os.environ.get("BACKEND") != "cuda" else 1) as pool:
        wrong = list(pool.map(lambda one: attempt(*one, folder(one[0])), todo))
    first = next((i for i, lines in enumerate(wrong) if lines), None)
    for i, (stage, name) in enumerate(todo):
        if i == 0 or stage != todo[i - 1][0]:
            print(stage.resolve().name)
        print(f"  {'not yet' if wrong[i] else 'passed '}  {name}{'    <- next' if i == first else ''}")
    if first is not None:
        stage, name = todo[first]
        print(f"\n{name}:", *wrong[first], f"  hints    {stage.resolve().name}/exercises/README.md, {name}", sep="\n")
    print(f"\n{wrong.count([])} of {len(wrong)} exercises pass")
    sys.exit(first is not None)


def skeleton(solution):
    return HOLE.sub(r"\1\2", solution)


def reset(stage, name):
    folder = stage / "exercises"
    solutions = files_of(name, folder / "solutions")
    if name not in exercises(stage) or not solutions:
        what = f"no such exercise: {name}" if name else "which one? make reset EXERCISE=..."
        sys.exit(f"{what}; there are: {' '.join(exercises(stage))}")
    for path in solutions:
        target, text = folder / path.name, skeleton(path.read_text())
        if target.exists() and target.read_text(errors="replace") != text:
            kept = next(p for n in range(1, 10**6) for p in [folder / f"{path.name}.{n}.mine"] if not p.exists())
            target.rename(kept)
            print(f"{path.name}: what you wrote is now in {kept.name}")
        target.write_text(text)


if __name__ == "__main__":
    what, *arguments = sys.argv[1:]
    if what == "check":
        check([pathlib.Path(a) for a in arguments], os.environ.get("ANSWERS", ""), os.environ.get("EXERCISE", ""))
    else:
        reset(pathlib.Path(arguments[0]), *(arguments[1:] or [""]))
