#!/usr/bin/env python3
"""Which exercises pass, which is next, and what is wrong with it. make calls this, here and in a stage:

    exercises.py check STAGE...         the exercises of these stages; EXERCISE: only that one
    exercises.py watch STAGE...         the next one, whenever one of its files is saved
    exercises.py hint|compare|reset STAGE...   of EXERCISE: one more hint; both answers; the file as it was

ANSWERS: the folder with the answers, such as solutions in exercises/, or one elsewhere; else your own files, which lie in
exercises/. They are put there when they are first asked for, and git ignores them: a new version never meets your answers.

The exercises of a stage and their order are the headings of exercises/README.md: "## 2. guard: ...". An answer has
the files that the solution has. With what exercises/checks has for it (guard_check.cu or guard_check.py, libguard.cu,
...) they are built in a folder of their own, .tried/guard/cpu, as a stage is, and the check runs. An answer passes if the
check ends with exit status 0 and the word in the variable PASSED as its last line, and the CPU stand-in has no complaint.
The stand-in is the judge on every machine. Where there is a GPU, the same check runs there once more.
"""

import concurrent.futures
import contextlib
import difflib
import fcntl
import hashlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
COMMON = HERE.parent
PASSED = f"passed {os.urandom(8).hex()}"  # another word in each run: an answer cannot say it by itself
SECONDS = 60  # for a check
MOST_OUTPUT = 2_000_000  # bytes
SOURCES = (".cu", ".cuh", ".h", ".c", ".py", ".pyx")
# A hole: what is asked for, the learner's lines, the end.
HOLE = re.compile(
    r"^(.*YOUR LINES, about .*\n(?:(?!.*END OF YOUR LINES)\s*(?://|#).*\n)*)((?:.*\n)*?)(.*END OF YOUR LINES)", re.M
)
BUG = re.compile(r"^( *).* // was: (.*)$", re.M)  # what the solution has, and what the learner finds
running = set()  # processes
doctor = {}  # what make has to know, for each backend
is_chinese = (os.environ.get("LC_ALL") or os.environ.get("LANG", "")).startswith("zh")


# ---- What there is


def exercises(stage):
    """The names of a stage's exercises, in their order."""
    page = stage / "exercises/README.md"
    return re.findall(r"^## \d+\. (\w+)", page.read_text(), re.M) if page.exists() else []


def section(stage, name):
    """What the page says of an exercise, in the reader's language, and the page's name."""
    page = stage / "exercises" / ("README.zh.md" if is_chinese else "README.md")
    found = re.search(rf"^## \d+\. {name}\b.*?(?=^## |\Z)", page.read_text(encoding="utf-8"), re.M | re.S)
    return found[0] if found else "", f"{stage.resolve().name}/exercises/{page.name}, {name}"


def solutions(stage, name):
    folder = stage / "exercises/solutions"
    return [path for path in sorted(folder.iterdir()) if re.fullmatch(rf"(lib)?{name}\.\w+", path.name)]


def at_first(solution):
    """A file as a learner finds it: without the lines of the holes; or, if a bug is to be found, with it."""
    return BUG.sub(r"\1\2", HOLE.sub(r"\1\3", solution.read_text()))


def of_check(stage, name):
    folder = stage / "exercises/checks"
    pattern = rf"(lib)?{name}(_.*)?\.\w+"
    return [path for path in sorted(folder.iterdir()) if re.fullmatch(pattern, path.name) and path.suffix in SOURCES]


# ---- Running


def run(command, folder, seconds=None, **settings):
    """Exit status, stdout, stderr. The status is a text if the time was over, or too much was printed."""
    env = {**os.environ, "PASSED": PASSED, **settings}
    env["PYTHONDONTWRITEBYTECODE"] = "1"  # of two answers within a second Python may take the older one's
    env["PYTHONOPTIMIZE"] = ""  # or an assert would not be looked at
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        begun = time.monotonic()
        process = subprocess.Popen(
            command, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True
        )
        running.add(process)
        status = None
        while status is None:
            try:
                status = process.wait(0.05)
            except subprocess.TimeoutExpired:
                if max(os.fstat(file.fileno()).st_size for file in (out, err)) > MOST_OUTPUT:
                    status = "it printed more than 2 MB"
                elif seconds and time.monotonic() - begun > seconds:
                    status = f"it had not ended after {seconds} seconds, which is the limit of make exercises"
        running.discard(process)
        end(process)
        for file in (out, err):
            file.seek(0)
        return status, *(file.read(MOST_OUTPUT).decode(errors="replace") for file in (out, err))


def end(process):
    """Also what it has started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


# ---- One exercise


def make_room(stage, name, answers, backend):
    """The folder in which the exercise is built, with its files as they are now."""
    room = answers / ".tried" / name / backend
    room.mkdir(parents=True, exist_ok=True)
    own = [answers / path.name for path in solutions(stage, name)]
    checks = [path for path in of_check(stage, name) if path.name not in [p.name for p in own]]
    texts = {path.name: path.read_bytes() for path in own + checks if path.exists()}
    top = room / ".top"  # make knows no names with a space: they may be in the way from here to the repository
    top.unlink(missing_ok=True)
    top.symlink_to(os.path.relpath(COMMON.parent, room.resolve()))
    # What a check includes is no program by itself. A check may say with which options it is built. The learner's own
    # headers lie in ../../..
    text = b"\n".join(text for file, text in texts.items() if "_check." in file).decode()
    included = [file for file in texts if f'#include "{file}"' in text]
    options = " ".join(re.findall(r"Built with: (.*)", text))
    makefile = f"COMMON := .top/common\nSPECIAL := {' '.join(included)}\ninclude $(COMMON)/stage.mk\n{name}_check: {' '.join(included)}\n"
    makefile += f"NVCCFLAGS += -I../../.. -I$(COMMON)/exercises\n{name}_check: NVCCFLAGS += {options}\n{name}_check: LINK += {options}\n"
    makefile += "$(BUILDS): $(wildcard ../../../*.h ../../../*.cuh $(COMMON)/exercises/*.*)\n"
    texts["Makefile"] = makefile.encode()
    for path in room.iterdir():
        made_by_cython = path.suffix == ".c" and path.stem + ".pyx" in texts
        if path.suffix in SOURCES and path.name not in texts and not made_by_cython:
            path.unlink()
    for file, text in texts.items():  # what is as it was keeps its time: make does not build it again
        if not (room / file).exists() or (room / file).read_bytes() != text:
            (room / file).write_bytes(text)
    return room


def key_of(stage, name, answers):
    """What decides whether an answer passes, as one number: the files that people change. What passed is not tried again."""
    files = [answers / path.name for path in solutions(stage, name)] + of_check(stage, name)
    files += sorted([*answers.glob("*.h"), *answers.glob("*.cuh"), *HERE.iterdir(), COMMON / "check.h"])
    files += sorted(path for path in stage.iterdir() if path.suffix in (".h", ".py"))
    files += sorted(path for path in (COMMON / "cpu").rglob("*") if not {"lib", "__pycache__"} & set(path.parts))
    return hashlib.sha256(b"".join(path.read_bytes() for path in files if path.is_file())).hexdigest()


def compile_errors(text):
    """The first errors of compiler and linker, in a few lines."""
    text = re.sub(r"^\S*/(?=[\w.]+:\d)", "", text, flags=re.M)
    found, lines = [], [line for line in text.splitlines() if line.strip()]
    for i, line in enumerate(lines):
        undefined = re.search(r"undefined reference to [`'](.*)'", line)
        if undefined:
            found.append(f"the function {undefined[1]} is used, and nobody defines it")
        elif re.search(r"jump to label|transfer of control bypasses", line):
            crossed = re.search(r"crosses initialization of .(.*?)[’']", "\n".join(lines[i : i + 4]))
            found.append(line)
            if crossed:
                found.append(f"goto jumps over the declaration of {crossed[1]}: declare it before the first goto")
        elif re.search(r"error:|\.pyx:\d+:\d+: (?!Warning)|catastrophic", line):
            found += [line] + [more for more in lines[i + 1 : i + 3] if re.match(r"\s|E\w+Error", more)]
    unique = list(dict.fromkeys(found)) or [x for x in lines if not re.match("make|In file|Device: ", x)]
    return unique[:8]


def judge(status, out, err):
    """What is wrong, in a few lines; empty if the answer passes."""
    err = err.replace("CPU stand-in: this program runs on the CPU, not on a GPU\n", "")
    is_done = out.splitlines()[-1:] == [PASSED]
    complaints = [x.removeprefix("CPU stand-in: ") for x in err.splitlines() if x.startswith("CPU stand-in: ")]
    complaints = [x for x in complaints if is_done or not x.startswith("never freed")]
    said = [line for line in out.splitlines() if line.startswith(("  wrong ", "  look at ", "  log "))]
    if isinstance(status, str):
        return [f"  wrong    {status}", "  look at  loops that do not end, and who waits for whom"]
    if status == 0 and is_done and not complaints:
        return []
    if said or complaints:
        return [f"  stand-in {complaint}" for complaint in complaints[:1]] + said
    if status == 0:
        return ["  wrong    the program ended before the check was done", "  look at  exit, return, sys.exit"]
    died = {
        4: ("an instruction that is none", "a division by zero; a function that ends without return"),
        6: ("abort", "assert, an exception that nobody caught, or free of a wrong pointer"),
        8: ("an arithmetic error", "a division by zero"),
        11: ("a bad address on the host", "pointers of the host; a recursion without an end"),
    }
    if status < 0:
        what, look_at = died.get(-status, ("", "pointers of the host"))
        return [
            f"  wrong    the program crashed, signal {-status}, {what}",
            f"  look at  {look_at}",
            *err.splitlines()[-3:],
        ]
    return ["  wrong    it stopped with an exception, or an error"] + err.splitlines()[-4:]


def for_make(backend):
    """Settings with which make builds for this backend, whatever the machine has."""
    if backend not in doctor:
        keep = {key: value for key, value in os.environ.items() if not (backend == "cpu" and key == "NVCC")}
        known = os.environ.get("DOCTOR") if backend == os.environ.get("BACKEND") else None
        ask = [sys.executable, COMMON / "doctor.py", "make"]
        doctor[backend] = known or subprocess.check_output(ask, text=True, env={**keep, "BACKEND": backend})
    more = {"NVCC": ""} if backend == "cpu" else {}
    return {"DOCTOR": doctor[backend], "BACKEND": backend, "MAKEFLAGS": "", "MAKEOVERRIDES": "", **more}


def attempt(stage, name, answers, backend="cpu"):
    """What is wrong with one answer, as lines; empty if it passes. Two makes at once: one waits for the other."""
    folder = answers / ".tried" / name
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return attempt_alone(stage, name, answers, backend)


def attempt_alone(stage, name, answers, backend):
    missing = [path.name for path in solutions(stage, name) if not (answers / path.name).exists()]
    if missing:
        return [f"  wrong    there is no file {missing[0]} in {answers}", "  look at  make reset brings it back"]
    room = make_room(stage, name, answers, backend)
    path = f"{HERE}:{COMMON}:{stage.resolve()}"  # what the exercises share; cuda_loader.h, cuda_error.py
    settings = {"PYTHONPATH": path, "C_INCLUDE_PATH": path}
    flags = [f"CFLAGS={os.environ['CFLAGS']}"] if os.environ.get("CFLAGS") else []
    make = [os.environ.get("MAKE", "make"), "-s", "--no-print-directory", "build", *flags]
    status, out, err = run(make, room, **settings, **for_make(backend))
    if status != 0:
        return ["  wrong    it does not compile"] + [f"  {line[:200]}" for line in compile_errors(err + out)]
    warnings = room / ".warnings"  # of the last time that something was built
    if not warnings.exists() or any(
        p.stat().st_mtime > warnings.stat().st_mtime for p in room.iterdir() if p.is_file()
    ):
        warnings.write_text(err)
    command = [f"./{name}_check"]
    if (room / f"{name}_check.py").exists():
        python = os.environ.get("PY", sys.executable)
        command = [os.path.abspath(python) if "/" in python else python, f"{name}_check.py"]
    if backend == "cpu":  # its libcuda, also where there is a driver
        settings["LD_LIBRARY_PATH"] = f"{COMMON}/cpu/lib:{os.environ.get('LD_LIBRARY_PATH', '')}".rstrip(":")
        settings["CUDA_VISIBLE_DEVICES"] = "0"
        settings["CPU_CUDA_SEED"] = str(int.from_bytes(os.urandom(2), "big") + 1)  # another order of the threads
    status, out, err = run(command, room, SECONDS, **settings, BACKEND=backend)
    wrong = judge(status, out, err)
    if wrong:
        wrong += [
            f"  printed  {line[:100]}"
            for line in out.splitlines()
            if line.strip() and not line.startswith(("  ", "passed"))
        ][:5]
        own = "|".join(re.escape(path.name) for path in solutions(stage, name))
        found = re.findall(rf"^(?:\S*/)?((?:{own}):\d.*warning: .*)", warnings.read_text(), re.M)
        wrong += [f"  warning  {line}" for line in found[:1]]
    return wrong


def backends():
    return ["cpu", "cuda"] if os.environ.get("BACKEND") == "cuda" else ["cpu"]


def record(stage, name, answers):
    """(the file that keeps what has passed, the line that it has if this answer has)"""
    return answers / ".tried" / name / "passed", f"{key_of(stage, name, answers)} {backends()[-1]}\n"


def has_passed(stage, name, answers):
    key, line = record(stage, name, answers)
    return key.exists() and line in key.read_text()


def state(stage, name, answers, is_asked=True):
    """How it stands: "passed", "to do" or "not yet", and what is to be said of it.

    A bug that is to be found is not told before somebody asks for it.
    """
    todo = []
    for path in solutions(stage, name):
        text = (answers / path.name).read_text(errors="replace") if (answers / path.name).exists() else ""
        hole = re.search(r"YOUR LINES, about", text)
        line = text.count("\n", 0, hole.start()) + 1 if hole else 0
        if text == at_first(path) and hole:
            todo.append(f"  to do    {path.name}, line {line}: there your lines are missing")
        elif text == at_first(path) and not is_asked:
            todo.append(f"  to do    {path.name}: read it, and find the bug; make exercises EXERCISE={name} tells more")
    if len(todo) == len(solutions(stage, name)):
        return "to do", todo
    if has_passed(stage, name, answers):
        return "passed", []
    key, line = record(stage, name, answers)
    for backend in backends():
        wrong = attempt(stage, name, answers, backend)
        if wrong:
            return "not yet", (["  on the GPU:"] if backend == "cuda" else []) + wrong
    key.write_text(line)
    return "passed", []


# ---- What make asks for


def colored(text, code):
    return f"\033[{code}m{text}\033[0m" if sys.stdout.isatty() else text


def put(stage, name):
    """A learner's files, where there are none yet."""
    for solution in solutions(stage, name):
        target = stage / "exercises" / solution.name
        if not os.path.lexists(target):
            target.write_text(at_first(solution))


def folder_of(stage, answers):
    path = stage / "exercises" / answers if answers else stage / "exercises"
    return path.resolve() if path.is_dir() else sys.exit(f"ANSWERS: there is no folder {path}")


def learned(stage, name):
    found = re.search(
        r"^\*\*(?:You have learned|你学到了)[:：]\*\* ?(.*?)\n\n", section(stage, name)[0] + "\n\n", re.M | re.S
    )
    return " ".join(found[1].split("\n")) if found else ""


def say_wrong(stage, name, lines):
    lines = [colored(line, 31) if line.startswith(("  wrong ", "  stand-in ")) else line for line in lines]
    print(f"\n{name}:", *lines, f"  page     {section(stage, name)[1]}", sep="\n")
    print(f"  hint     make hint EXERCISE={name}")


def say_passed(stage, name):
    print(f"\n{learned(stage, name)}\nmake compare EXERCISE={name} shows your lines beside the solution's")


def check(todo, answers, is_one):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        states = list(pool.map(lambda one: state(*one, folder_of(one[0], answers), is_one), todo))
    is_passed = [what == "passed" for what, _ in states]
    first = is_passed.index(False) if False in is_passed else None
    for i, (stage, name) in enumerate(todo):
        if i == 0 or stage != todo[i - 1][0]:
            print(stage.resolve().name)
        color = {"passed": 32, "not yet": 31, "to do": 0}[states[i][0]]
        print("  " + colored(f"{states[i][0]:7}", color) + f"  {name}{'    <- next' if i == first else ''}")
    if first is not None:
        say_wrong(*todo[first], states[first][1])
    elif is_one and not answers:
        say_passed(*todo[0])
    print(f"\n{sum(is_passed)} of {len(todo)} exercises pass")
    return first is not None


def watch(todo, answers):
    """Checks the next exercise whenever one of its files is saved, until all pass."""
    for stage, name in todo:
        folder = folder_of(stage, answers)
        said, last, tries = "", None, 0
        while said != "passed":
            files = [folder / path.name for path in solutions(stage, name)] + sorted(folder.glob("*.*h"))
            now = [path.stat().st_mtime_ns if path.exists() else 0 for path in files]
            if now == last:
                time.sleep(0.3)
                continue
            last, tries = now, tries + 1
            said, lines = state(stage, name, folder, is_asked=tries > 1)
            if said == "passed" and tries == 1:
                break  # it had passed before
            print("\033[2J\033[H" * sys.stdout.isatty(), end="")
            what = colored(said, 32 if said == "passed" else 31)
            passed = sum(has_passed(*one, folder_of(one[0], answers)) for one in todo)
            print(f"{passed} of {len(todo)} pass    {stage.resolve().name}, {name}: {what}")
            if said == "passed":
                say_passed(stage, name)
                time.sleep(3 * sys.stdout.isatty())  # to read it
            else:
                say_wrong(stage, name, lines)
                print(
                    f"\nThis waits until you save {' or '.join(path.name for path in files)}; Ctrl-C ends it.",
                    flush=True,
                )
    print(f"{len(todo)} of {len(todo)} exercises pass")


def hint(stage, name):
    text, page = section(stage, name)
    hints = re.findall(r"<details><summary>.*?</summary>\n(.*?)</details>", text, re.S)
    counter = stage / "exercises/.tried" / name / "hints"
    counter.parent.mkdir(parents=True, exist_ok=True)
    seen = int(counter.read_text()) if counter.exists() else 0
    counter.write_text(str((seen + 1) % len(hints)))
    print(f"hint {seen + 1} of {len(hints)}, from {page}\n\n{hints[seen].strip()}")


def compare(stage, name):
    for path in solutions(stage, name):
        own = stage / "exercises" / path.name
        texts = [file.read_text(errors="replace").splitlines() if file.exists() else [] for file in (own, path)]
        lines = list(difflib.unified_diff(*texts, f"yours: {path.name}", "the solution", n=2, lineterm=""))
        print("\n".join(lines) if lines else f"{path.name}: yours is as the solution is")


def reset(stage, name):
    for path in solutions(stage, name):
        target = stage / "exercises" / path.name
        if os.path.lexists(target) and not (target.is_file() and target.read_text(errors="replace") == at_first(path)):
            names = (target.with_name(f"{path.name}.{n}.mine") for n in range(1, 10**6))
            kept = next(name for name in names if not os.path.lexists(name))
            target.rename(kept)
            print(f"{path.name}: what you wrote is now in {kept.name}")
    put(stage, name)


def main(what, *stages):
    stages = [pathlib.Path(stage) for stage in stages]
    only, answers = os.environ.get("EXERCISE", ""), os.environ.get("ANSWERS", "")
    every = [(stage, name) for stage in stages for name in exercises(stage)]
    todo = [one for one in every if only in ("", one[1])]
    names = " ".join(name for _, name in every)
    if not every:
        sys.exit("there are no exercises here")
    if not todo:
        sys.exit(f"no such exercise: {only}; there are: {names}")
    for one in [] if answers else every:
        put(*one)
    if what in ("hint", "compare", "reset"):
        if not only:
            sys.exit(f"which one? make {what} EXERCISE=...; there are: {names}")
        return {"hint": hint, "compare": compare, "reset": reset}[what](*todo[0])
    return check(todo, answers, bool(only)) if what == "check" else watch(todo, answers)


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except KeyboardInterrupt:
        for process in list(running):
            end(process)
        os._exit(130)
