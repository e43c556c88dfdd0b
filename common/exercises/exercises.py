#!/usr/bin/env python3
"""Which exercises pass, which is next, and what is wrong with it. make calls this, here and in a stage:

    exercises.py check STAGE...         the exercises of these stages; EXERCISE: only that one
    exercises.py watch STAGE...         the next one, whenever one of its files is saved
    exercises.py hint|compare|reset STAGE...   of EXERCISE: one more hint; both answers; the file as it was

ANSWERS: a folder with answers, seen from where make is typed; else your own files, which lie in exercises/. They are
put there when they are first asked for, and git ignores them: a new version never meets your answers.

The exercises of a stage and their order are the headings of exercises/README.md: "## guard: ...". An exercise is a
folder, exercises/guard. Its files that have a hole, or a bug with the mark "// was: ", are the solution; a learner
finds each of them without the lines in the hole, or with the bug. The others are the check's: guard_check.cu (or .c,
.py) and what is given, such as libguard.cu; answers.txt is for develop.py. An answer and the check are built in a
folder of their own, .tried/guard/cpu, as a stage is, and the check runs. An answer passes if the check ends with exit
status 0 and the word in the variable PASSED as its last line, and the CPU stand-in has no complaint. The stand-in is
the judge on every machine. Where there is a GPU, the same check runs there once more.
"""

import concurrent.futures
import contextlib
import difflib
import fcntl
import hashlib
import os
import pathlib
import re
import shutil
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
BUG = re.compile(r"^( *).* (?://|#) was: (.*)$", re.M)  # what the solution has, and what the learner finds
running = set()  # processes
doctor = {}  # what make has to know, for each backend
is_chinese = (os.environ.get("LC_ALL") or os.environ.get("LANG", "")).startswith("zh")


# ---- What there is


def names_in(page):
    return re.findall(r"^## (\w+)[:：]", page.read_text(encoding="utf-8"), re.M) if page.exists() else []


def exercises(stage):
    """The folders of a stage's exercises, in their order."""
    page = stage / "exercises/README.md"
    return [page.parent / name for name in names_in(page) if (page.parent / name).is_dir()]


def section(folder, page):
    """What a page says of an exercise."""
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    found = re.search(rf"^## {folder.name}[:：].*?(?=^## |\Z)", text, re.M | re.S)
    return found[0] if found else ""


def page_of(folder):
    """The page that has the exercise, in the reader's language if there is one."""
    chinese = folder.parent / "README.zh.md"
    return chinese if is_chinese and section(folder, chinese) else folder.parent / "README.md"


def place_of(folder):
    """This page's name, for people."""
    return f"{stage_of(folder).name}/exercises/{page_of(folder).name}, {folder.name}"


def stage_of(folder):
    return folder.parent.resolve().parent


def sources(folder):
    return [path for path in sorted(folder.iterdir()) if path.suffix in SOURCES]


def is_solution(path):
    text = path.read_text()
    return bool(HOLE.search(text) or BUG.search(text))


def solutions(folder):
    return [path for path in sources(folder) if is_solution(path)]


def at_first(solution):
    """A file as a learner finds it: without the lines of the holes; or, if a bug is to be found, with it."""
    return BUG.sub(r"\1\2", HOLE.sub(r"\1\3", solution.read_text()))


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
                    status = f"it had not ended after {seconds} seconds, which is its limit"
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


# What a check includes is no program by itself. A check may say with which options it is built. The learner's own
# headers lie in ../../.. (.top leads to the repository while make runs: make knows no names with a space, which its path
# may have; and a copy of the folder that follows links would copy all of it.)
MAKEFILE = """\
COMMON := .top/common
SPECIAL := {included}
include $(COMMON)/stage.mk
NVCCFLAGS += -I../../.. -I$(COMMON)/exercises
{name}_check: {included}
{name}_check: NVCCFLAGS += {options}
{name}_check: LINK += {options}
$(BUILDS): $(wildcard ../../../*.h ../../../*.cuh $(COMMON)/exercises/*.*)
"""


def make_room(folder, answers, backend):
    """The folder in which the exercise is built, with its files as they are now."""
    room = answers / ".tried" / folder.name / backend
    room.mkdir(parents=True, exist_ok=True)
    texts = {path.name: (answers / path.name if is_solution(path) else path).read_bytes() for path in sources(folder)}
    check = b"\n".join(text for file, text in texts.items() if "_check." in file).decode()
    included = " ".join(file for file in texts if f'#include "{file}"' in check)
    options = " ".join(re.findall(r"Built with: (.*)", check))
    texts["Makefile"] = MAKEFILE.format(name=folder.name, included=included, options=options).encode()
    for path in room.iterdir():
        made_by_cython = path.suffix == ".c" and path.stem + ".pyx" in texts
        if path.suffix in SOURCES and path.name not in texts and not made_by_cython:
            path.unlink()
    for file, text in texts.items():  # what is as it was keeps its time: make does not build it again
        if not (room / file).exists() or (room / file).read_bytes() != text:
            (room / file).write_bytes(text)
    return room


def key_of(folder, answers):
    """What decides whether an answer passes: the files that people change. What passed is not tried again."""
    files = [answers / path.name if is_solution(path) else path for path in sources(folder)]
    files += sorted([*answers.glob("*.h"), *answers.glob("*.cuh"), *HERE.iterdir(), COMMON / "check.h"])
    files += sorted(path for path in stage_of(folder).iterdir() if path.suffix in (".h", ".py"))
    files += sorted(path for path in (COMMON / "cpu").rglob("*") if not {"lib", "__pycache__"} & set(path.parts))
    return hashlib.sha256(b"".join(path.read_bytes() for path in files if path.is_file())).hexdigest()


def build(room, settings):
    top = room / ".top"
    top.unlink(missing_ok=True)
    top.symlink_to(os.path.relpath(COMMON.parent, room.resolve()))
    flags = [f"CFLAGS={os.environ['CFLAGS']}"] if os.environ.get("CFLAGS") else []
    try:
        make = [os.environ.get("MAKE", "make"), "-s", "--no-print-directory", "build", *flags]
        return run(make, room, **settings)
    finally:
        top.unlink()


def compile_errors(text):
    """The first errors of compiler and linker, in a few lines."""
    text = "\n".join(line[:500] for line in text.splitlines())
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
    # Of this the check knows nothing: it has passed.
    if complaints and complaints[0].startswith("never freed"):
        said.append("  look at  is everything freed that is allocated, in each case?")
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
        crash = f"  wrong    the program crashed, signal {-status}, {what}"
        tried = [line for line in out.splitlines() if line.startswith("  tried ")]
        return [crash, *tried[-1:], f"  look at  {look_at}", *err.splitlines()[-3:]]
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


def attempt(folder, answers, backend="cpu"):
    """What is wrong with one answer, as lines; empty if it passes. Two makes at once: one waits for the other."""
    tried = answers / ".tried" / folder.name
    tried.mkdir(parents=True, exist_ok=True)
    with open(tried / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return attempt_alone(folder, answers, backend)


def attempt_alone(folder, answers, backend):
    room, settings = make_room(folder, answers, backend), shared(folder)
    status, out, err = build(room, {**settings, **for_make(backend)})
    if "make would write over" in err:  # a file is not as make left it; nothing in this folder is anybody's own
        shutil.rmtree(room)
        room = make_room(folder, answers, backend)
        status, out, err = build(room, {**settings, **for_make(backend)})
    if isinstance(status, str):
        return [f"  wrong    it does not compile: {status}"]
    if status != 0:
        return ["  wrong    it does not compile"] + [f"  {line[:200]}" for line in compile_errors(err + out)]
    warnings = room / ".warnings"  # of the last time that something was built
    newest = max(path.stat().st_mtime for path in room.iterdir() if path.is_file())
    if not warnings.exists() or newest > warnings.stat().st_mtime:
        warnings.write_text(err)
    try:
        status, out, err = run_check(folder, room, backend)
    except OSError as error:  # a file that make takes for built, and which this machine does not take for a program
        return [
            f"  wrong    ./{folder.name}_check cannot be started: {error.strerror}",
            f"  look at  rm -r '{room}' and try again",
        ]
    wrong = judge(status, out, err)
    if wrong:
        printed = [line for line in out.splitlines() if line.strip() and not line.startswith(("  ", "passed"))]
        wrong += [f"  printed  {line[:100]}" for line in printed[:5]]
        own = "|".join(re.escape(path.name) for path in solutions(folder))
        found = re.findall(rf"^(?:\S*/)?((?:{own}):\d.*warning: .*)", warnings.read_text(), re.M)
        wrong += [f"  warning  {line}" for line in found[:1]]
    return wrong


def shared(folder):
    """Settings by which an answer finds what the exercises share; cuda_loader.h, cuda_error.py."""
    path = f"{HERE}:{COMMON}:{stage_of(folder)}"
    return {"PYTHONPATH": path, "C_INCLUDE_PATH": path}


def run_check(folder, room, backend, **more):
    """Exit status, stdout and stderr of a check that has been built."""
    settings, command = shared(folder), [f"./{folder.name}_check"]
    if (room / f"{folder.name}_check.py").exists():
        python = os.environ.get("PY", sys.executable)
        command = [os.path.abspath(python) if "/" in python else python, f"{folder.name}_check.py"]
    if backend == "cpu":  # its libcuda, also where there is a driver
        settings["LD_LIBRARY_PATH"] = f"{COMMON}/cpu/lib:{os.environ.get('LD_LIBRARY_PATH', '')}".rstrip(":")
        settings["CUDA_VISIBLE_DEVICES"] = "0"
        settings["CPU_CUDA_SEED"] = str(int.from_bytes(os.urandom(2), "big") + 1)  # another order of the threads
    return run(command, room, SECONDS, **settings, BACKEND=backend, **more)


def backends():
    return ["cpu", "cuda"] if os.environ.get("BACKEND") == "cuda" else ["cpu"]


def record(folder, answers):
    """(the file that keeps what has passed, the line that it has if this answer has)"""
    return answers / ".tried" / folder.name / "passed", f"{key_of(folder, answers)} {backends()[-1]}\n"


def has_passed(folder, answers):
    key, line = record(folder, answers)
    return key.exists() and line in key.read_text()


def state(folder, answers, is_asked=True):
    """How it stands: "passed", "to do" or "not yet", and what is to be said of it.

    A bug that is to be found is not told before somebody asks for it.
    """
    todo, files = [], solutions(folder)
    for path in files:
        if not (answers / path.name).exists():
            return "to do", [f"  to do    there is no file {path.name} in {answers}"]
        text = (answers / path.name).read_text(errors="replace")
        hole = re.search(r"YOUR LINES, about", text)
        line = text.count("\n", 0, hole.start()) + 1 if hole else 0
        if text == at_first(path) and hole:
            todo.append(f"  to do    {path.name}, line {line}: there your lines are missing")
        elif text == at_first(path) and not is_asked:
            more = f"make exercises EXERCISE={folder.name} tells more"
            todo.append(f"  to do    {path.name}: read it, and find the bug; {more}")
    if len(todo) == len(files):
        return "to do", todo
    if has_passed(folder, answers):
        return "passed", []
    key, line = record(folder, answers)  # of what is tried now: it may be saved again meanwhile
    for backend in backends():
        wrong = attempt(folder, answers, backend)
        if wrong:
            return "not yet", (["  on the GPU:"] if backend == "cuda" else []) + wrong
    key.write_text(line)
    return "passed", []


# ---- What make asks for


def colored(text, code):
    return f"\033[{code}m{text}\033[0m" if sys.stdout.isatty() else text


def put(folder):
    """A learner's files, where there are none yet. One that is as it was put is renewed when the solution changes."""
    for solution in solutions(folder):
        target, first = folder.parent / solution.name, at_first(solution)
        known = folder.parent / ".tried" / folder.name / f"{solution.name}.first"
        text = target.read_text(errors="replace") if target.is_file() else ""
        if not os.path.lexists(target) or text == first or known.exists() and text == known.read_text():
            known.parent.mkdir(parents=True, exist_ok=True)
            known.write_text(first)
            if text != first:
                target.write_text(first)


def folder_of(folder, answers):
    """Where the answer lies."""
    path = folder.parent / answers
    return path.resolve() if path.is_dir() else sys.exit(f"ANSWERS: there is no folder {path}")


def learned(text):
    found = re.search(r"^\*\*(?:You have learned|你学到了)[:：]\*\* ?(.*?)\n\n", text + "\n\n", re.M | re.S)
    return " ".join(found[1].split("\n")) if found else ""


def hints_of(text):
    return re.findall(r"<details><summary>.*?</summary>\n(.*?)</details>", text, re.S)


def say_wrong(folder, lines):
    lines = [colored(line, 31) if line.startswith(("  wrong ", "  stand-in ")) else line for line in lines]
    print(f"\n{folder.name}:", *lines, f"  page     {place_of(folder)}", sep="\n")
    print(f"  hint     make hint EXERCISE={folder.name}")


def say_passed(folder):
    print(f"\n{learned(section(folder, page_of(folder)))}")
    print(f"make compare EXERCISE={folder.name} shows your lines beside the solution's")


def check(todo, answers, is_one):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        states = list(pool.map(lambda one: state(one, folder_of(one, answers), is_one), todo))
    is_passed = [what == "passed" for what, _ in states]
    first = is_passed.index(False) if False in is_passed else None
    for i, folder in enumerate(todo):
        if i == 0 or folder.parent != todo[i - 1].parent:
            print(stage_of(folder).name)
        color = {"passed": 32, "not yet": 31, "to do": 0}[states[i][0]]
        print("  " + colored(f"{states[i][0]:7}", color) + f"  {folder.name}{'    <- next' if i == first else ''}")
    if first is not None:
        say_wrong(todo[first], states[first][1])
    elif is_one and not answers:
        say_passed(todo[0])
    print(f"\n{sum(is_passed)} of {len(todo)} exercises pass")
    return first is not None


def watch(todo, answers):
    """Checks the next exercise whenever one of its files is saved, until all pass."""
    for folder in todo:
        own = folder_of(folder, answers)
        said, last, tries = "", None, 0
        while said != "passed":
            files = [own / path.name for path in solutions(folder)] + sorted(own.glob("*.*h"))
            now = [path.stat().st_mtime_ns if path.exists() else 0 for path in files]
            if now == last:
                time.sleep(0.3)
                continue
            last, tries = now, tries + 1
            said, lines = state(folder, own, is_asked=tries > 1)
            if said == "passed" and tries == 1:
                break  # it had passed before
            print("\033[2J\033[H" * sys.stdout.isatty(), end="")
            what = colored(said, 32 if said == "passed" else 31)
            passed = sum(has_passed(one, folder_of(one, answers)) for one in todo)
            print(f"{passed} of {len(todo)} pass    {stage_of(folder).name}, {folder.name}: {what}")
            if said == "passed":
                say_passed(folder)
                time.sleep(3 * sys.stdout.isatty())  # to read it
            else:
                say_wrong(folder, lines)
                names = " or ".join(path.name for path in files)
                print(f"\nThis waits until you save {names}; Ctrl-C ends it.", flush=True)
    print(f"{len(todo)} of {len(todo)} exercises pass")


def hint(folder):
    hints = hints_of(section(folder, page_of(folder)))
    if not hints:
        sys.exit(f"there are no hints in {place_of(folder)}")
    counter = folder.parent / ".tried" / folder.name / "hints"
    counter.parent.mkdir(parents=True, exist_ok=True)
    seen = int(counter.read_text()) % len(hints) if counter.exists() else 0
    counter.write_text(str(seen + 1))
    print(f"hint {seen + 1} of {len(hints)}, from {place_of(folder)}\n\n{hints[seen].strip()}")


def compare(folder):
    for path in solutions(folder):
        own = folder.parent / path.name
        texts = [file.read_text(errors="replace").splitlines() if file.exists() else [] for file in (own, path)]
        lines = list(difflib.unified_diff(*texts, f"yours: {path.name}", "the solution", n=2, lineterm=""))
        print("\n".join(lines) if lines else f"{path.name}: yours is as the solution is")


def reset(folder):
    for path in solutions(folder):
        target = folder.parent / path.name
        if os.path.lexists(target) and not (target.is_file() and target.read_text(errors="replace") == at_first(path)):
            names = (target.with_name(f"{path.name}.{n}.mine") for n in range(1, 10**6))
            kept = next(name for name in names if not os.path.lexists(name))
            target.rename(kept)
            print(f"{path.name}: what you wrote is now in {kept.name}")
    put(folder)


def main(what, *stages):
    every = [folder for stage in stages for folder in exercises(pathlib.Path(stage))]
    only, answers = os.environ.get("EXERCISE", ""), os.environ.get("ANSWERS", "")
    todo = [folder for folder in every if only in ("", folder.name)]
    names = " ".join(folder.name for folder in every)
    if not every:
        sys.exit("there are no exercises here")
    if not todo:
        sys.exit(f"no such exercise: {only}; there are: {names}")
    for folder in [] if answers else every:
        put(folder)
    if what in ("hint", "compare", "reset"):
        if not only:
            sys.exit(f"which one? make {what} EXERCISE=...; there are: {names}")
        return {"hint": hint, "compare": compare, "reset": reset}[what](todo[0])
    return check(todo, answers, bool(only)) if what == "check" else watch(todo, answers)


def end_all():
    """After Ctrl-C."""
    for process in list(running):
        end(process)
    os._exit(130)


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except KeyboardInterrupt:
        end_all()
