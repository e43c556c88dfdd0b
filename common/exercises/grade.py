"""Grades a folder with the answers of many people: make grade ANSWERS=folder, here or in a stage. EXERCISE: only that one.

Each folder in it is a student's. A file such as guard.cu lies in it, or in its exercises, 01-hello-kernel or
01-hello-kernel/exercises. Nothing is written there: folder.grades, beside it, gets grades.csv (a line for each student
and exercise, with the reason) and what has been tried, so that only what has changed is tried again.

An answer is built and run as make exercises does it on the CPU stand-in, but in a sandbox (bubblewrap): without a
network, with common, the check and the answer alone to read, nothing to write but a small /tmp, and with limits of
time, memory, output and size of files. Its processes end with it. The table is made out here, from what the check
printed. An answer runs in one process with its check, so it could change the check: whoever passes is tried once more,
with a check that has to refuse. Somebody who knows this can still cheat; nobody can reach anything.

Exit status: 0 if the table is complete, whatever stands in it; 2 for a call that is wrong.
"""

import concurrent.futures
import csv
import functools
import hashlib
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys

import exercises

BUILD_SECONDS = 120
MOST_BYTES = 1_000_000  # of a file
MOST_TEMPORARY = 256 << 20  # bytes of files that an answer writes
LIMITS = {  # of each process. Address space would be too little: the stand-in reserves much and uses little.
    "data": 4 << 30,
    "fsize": 256 << 20,
    "core": 0,
    "cpu": 300,
}
KEPT = "PATH", "LANG", "CC", "CXX", "CFLAGS", "DOCTOR", "BACKEND", "PY", "MAKE"  # no password of the teacher's is there
CHECKS_OWN = re.compile(
    r"\bexercise\.(?:cuh|h)\b|\bimport\b.*\bexercise\b|\bfrom exercise\b|\bsys\.modules\b|\bf_globals\b|"
    r"\b(?:getenv|PASSED)\b|\bnamespace\s+std\b"
)
MARKS = {"passed": "+", "not yet": "-", "to do": "."}


def refuse(text):
    print(text, file=sys.stderr)
    sys.exit(2)


# ---- The sandbox


@functools.cache
def readable():
    """Folders of the system and of Python that compilers and checks need."""
    python = "import sys; print(sys.prefix, sys.base_prefix, sep='\\n')"
    own_python = shutil.which(os.environ.get("PY", "")) or sys.executable  # .venv is there only if it is needed
    folders = subprocess.check_output([own_python, "-c", python], text=True).splitlines()
    tools = [shutil.which(tool) for tool in ("make", "g++", "gcc")]
    folders += [str(pathlib.Path(tool).resolve().parent.parent) for tool in tools if tool]
    own = pathlib.Path.home().resolve(), exercises.COMMON  # neither these nor what they lie in
    folders = [folder for folder in folders if not any(path.is_relative_to(folder) for path in own)]
    return ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/alternatives", "/etc/ld.so.cache", *dict.fromkeys(folders)]


def sandbox(room, is_writable, shown=()):
    """The words before a command that runs in this folder; `shown` are files that it may read."""
    words = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--proc", "/proc"]
    words += ["--dev", "/dev", "--setenv", "HOME", "/tmp"]
    for place in "/tmp", "/dev/shm":
        words += ["--size", str(MOST_TEMPORARY), "--tmpfs", place]
    for path in [*readable(), exercises.COMMON, *shown]:
        words += ["--ro-bind-try", path, path]
    words += ["--bind" if is_writable else "--ro-bind", room, room, "--remount-ro", "/dev", "--remount-ro", "/"]
    return [*words, "--chdir", room, "--"]


@functools.cache
def limits():
    """The words before a command that is limited, and that ends first if the machine has no memory left."""
    words = ["choom", "-n", "1000", "--", "prlimit"]
    processes = len(list(pathlib.Path("/proc").glob("[0-9]*/task/*")))  # there are so many, and may be more
    for name, value in {**LIMITS, "nproc": processes + 500}.items():
        hard = resource.getrlimit(getattr(resource, f"RLIMIT_{name.upper()}"))[1]
        words.append(f"--{name}={value if hard == resource.RLIM_INFINITY else min(value, hard)}")
    return [*words, "--"]


def run_in_sandbox(command, room, seconds=None, **settings):
    """exercises.run, but in the sandbox. Only a build may write into its folder."""
    stage = pathlib.Path(settings["PYTHONPATH"].split(":")[-1])
    shown = [path for path in stage.iterdir() if path.suffix in (".h", ".py")]
    is_build = seconds is None
    words = [*limits(), *sandbox(room.resolve(), is_build, shown), *command]
    return run_outside(words, room, seconds or BUILD_SECONDS, **settings)


def need_sandbox():
    if os.geteuid() == 0:
        refuse("make grade limits how many processes there are, but the system does not limit root's: be another user")
    if not shutil.which("bwrap"):
        refuse("make grade runs what students wrote in a sandbox: sudo apt-get install -y bubblewrap")
    tried = subprocess.run([*limits(), *sandbox("/tmp", False), "true"], capture_output=True, text=True)
    if tried.returncode != 0:
        refuse(f"bubblewrap can make no sandbox on this machine: {tried.stderr.strip()}")


# ---- One student


def find(student, stage, name):
    """Where a student's file lies, or None."""
    places = [student / place / name for place in ("", "exercises", stage.name, f"{stage.name}/exercises")]
    return next((path for path in places if os.path.lexists(path)), None)


def read(path):
    """The bytes of a student's file, or in words what is wrong with it. No link is followed, nothing is waited for."""
    if path.parent.resolve() != path.parent:
        return f"{path.name} lies behind a link"
    try:
        if path.is_dir():
            return f"{path.name} is a folder"
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as f:
            if not stat.S_ISREG(os.fstat(f.fileno()).st_mode):
                return f"{path.name} is no file"
            data = f.read(MOST_BYTES + 1)
        data.decode()
    except UnicodeDecodeError:
        return f"{path.name} is no text in UTF-8"
    except OSError as error:
        return f"{path.name} cannot be read: {error.strerror}"
    return data if len(data) <= MOST_BYTES and b"\0" not in data else f"{path.name} is larger than 1 MB, or no text"


def files_of(student, folder):
    """{name: bytes, or what is wrong} of what a student hands in for an exercise: its files, and headers beside them."""
    files = {}
    for solution in exercises.solutions(folder):
        path = find(student, exercises.stage_of(folder), solution.name)
        files[solution.name] = read(path) if path else f"there is no file {solution.name}"
        for header in sorted([*path.parent.glob("*.h"), *path.parent.glob("*.cuh")])[:20] if path else []:
            files[header.name] = read(header)
    return files


def grade_one(files, folder, room):
    """(the state, the reason) of a student's answer to an exercise."""
    for header in [path for path in room.glob("*.*h") if path.name not in files]:
        header.unlink()
    for name, data in files.items():
        if isinstance(data, str):
            return ("to do" if data.startswith("there is no") else "not yet"), data
        if reason := meddles(folder, data.decode()):
            return "not yet", reason
        (room / name).write_bytes(without_macros(data) if name.endswith((".cu", ".cuh", ".h", ".c")) else data)
    exercises.record(folder, room)[0].unlink(missing_ok=True)  # what is tried is what is built
    what, lines = exercises.state(folder, room)
    if what == "passed" and not is_refused(folder, room):
        return "not yet", "the answer changes its check: look at it"
    return what, reason_of(lines)


def meddles(folder, text):
    """What in an answer is for its check and not for the task, or None. Comments may say anything."""
    shared = "".join(path.read_text() for path in exercises.HERE.glob("*.*h"))
    given = "".join(path.read_text() for path in exercises.solutions(folder))
    comments = r"//.*|/\*.*?\*/" if not list(folder.glob("*.py*")) else r"#.*"
    code = re.sub(comments, "", text.replace("\\\n", ""), flags=re.S if "/" in comments else 0)
    functions = set(re.findall(r"\bstatic\b[^(;=]*?\b(\w+)\(", shared))
    found = CHECKS_OWN.findall(code)
    found += [name for name in re.findall(r"\b(\w+)\s*\(", code) if name in functions and name not in given]
    return f"the answer reaches for its check, by {found[0].strip()}: look at it" if found else None


def without_macros(data):
    """A text in C at whose end its own macros end: the check behind it means what it says."""
    names = re.findall(rb"(?:#|%:)[ \t]*define[ \t]+(\w+)", data.replace(b"\\\n", b""))
    return data + b"".join(b"\n#undef " + name for name in dict.fromkeys(names)) + b"\n" * bool(names)


def is_refused(folder, room):
    """Whether the check can still say no, when it is told to."""
    word = f"refuse {os.urandom(8).hex()}"
    status, out, _ = exercises.run_check(folder, room / ".tried" / folder.name / "cpu", "cpu", PASSED=word)
    return status == 1 and f"  wrong    {word}" in out.splitlines()


def plain(text):
    """Without what a terminal or a spreadsheet would take for a command."""
    text = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text[:300])
    return f"'{text}" if text.strip()[:1] in tuple("=+-@＝＋－＠") else text


def reason_of(lines):
    """The first two lines in one."""
    said = [" ".join(re.sub(r"^  (wrong|stand-in|to do) ", "", x).split()) for x in lines if "  look at" not in x]
    return plain("; ".join(said[:2]))


def key_of(folder, files):
    """What decides a grade: the student's files, and all that a check is made of."""
    return hashlib.sha256(common_key(exercises.stage_of(folder), folder) + repr(files).encode()).hexdigest()


@functools.cache
def common_key(stage, folder):
    files = [*folder.iterdir(), *(path for path in stage.iterdir() if path.suffix in (".h", ".py"))]
    files += [path for path in exercises.COMMON.rglob("*") if not {"lib", "dist", "__pycache__"} & set(path.parts)]
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(files) if path.is_file())).digest()


# ---- All


def grade_student(student, todo, grades, known):
    """{exercise: {"state", "reason", "key"}}"""
    result = {}
    for folder in todo:
        files = files_of(student, folder)
        old, key = known.get(folder.name), key_of(folder, files)
        if old and old["key"] == key:
            result[folder.name] = old
            continue
        # Any name may be a student's; that of the folder in which make works is a plain one.
        own = hashlib.sha256(os.fsencode(student.name)).hexdigest()[:16]
        room = grades / "tried" / own / exercises.stage_of(folder).name / "exercises"
        room.mkdir(parents=True, exist_ok=True)
        state, reason = grade_one(files, folder, room)
        result[folder.name] = {"state": state, "reason": reason, "key": key}
    return result


def table(todo, rows):
    """A line for each student: + passed, - not yet, . nothing handed in."""
    width = min(max([len(plain(name)) for name in rows] + [7]), 40)
    for i, folder in enumerate(todo):
        print(" " * width, " " + "| " * i + folder.name)
    for name, result in rows.items():
        marks = " ".join(MARKS[result[folder.name]["state"]] for folder in todo)
        passed = sum(one["state"] == "passed" for one in result.values())
        print(f"{plain(name)[:width]:{width}}  {marks}  {passed} of {len(todo)}")


def main(answers, *stages):
    every = [folder for stage in stages for folder in exercises.exercises(pathlib.Path(stage))]
    only = os.environ.get("EXERCISE", "")
    todo = [folder.resolve() for folder in every if only in ("", folder.name)]
    if not todo:
        refuse(f"no such exercise: {only}; there are: {' '.join(folder.name for folder in every)}")
    if not answers:
        refuse("which folder? make grade ANSWERS=folder, in which each student has a folder")
    if not os.path.isdir(answers):
        refuse(f"ANSWERS: there is no folder {answers}")
    answers = pathlib.Path(answers).resolve()
    need_sandbox()
    for name in set(os.environ) - set(KEPT):
        del os.environ[name]
    os.environ.update(LANG="C.UTF-8", BACKEND="cpu")

    students = sorted(path for path in answers.iterdir() if not path.name.startswith("."))
    grades = answers.with_name(f"{answers.name}.grades")
    try:
        grades.mkdir(exist_ok=True)
    except OSError as error:
        refuse(f"the results go into {grades}: {error.strerror}")
    kept = grades / "grades.json"
    known = json.loads(kept.read_text()) if kept.exists() else {}
    rows = {}
    if not any(path.is_dir() for path in students):
        refuse(f"{answers} has no folder of a student")

    def of(student):
        if student.is_symlink() or not student.is_dir():
            why = "a zip file: unpack it" if student.suffix == ".zip" else "no folder"
            return {folder.name: {"state": "to do", "reason": why, "key": ""} for folder in todo}
        return grade_student(student, todo, grades, known.get(student.name, {}))

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for student, result in zip(students, pool.map(of, students)):
            rows[student.name] = result
            passed = sum(one["state"] == "passed" for one in result.values())
            line = f"{len(rows)} of {len(students)}: {plain(student.name)}, {passed} passed"
            print(line, file=sys.stderr, flush=True)
            known[student.name] = {**known.get(student.name, {}), **result}
            (grades / "new.json").write_text(json.dumps(known))
            os.replace(grades / "new.json", kept)
    with open(grades / "grades.csv", "w", newline="", encoding="utf-8") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(("student", "exercise", "state", "reason"))
        for name in rows:  # with EXERCISE, too, all that is known of them
            out.writerows((plain(name), one, got["state"], got["reason"]) for one, got in known[name].items())
    table(todo, rows)
    print(f"\n+ passed, - not yet, . nothing handed in. The reasons: {grades / 'grades.csv'}")


run_outside, exercises.run = exercises.run, run_in_sandbox
if __name__ == "__main__":
    sys.stdout.reconfigure(errors="replace")
    sys.stderr.reconfigure(errors="replace")
    signal.signal(signal.SIGINT, lambda *_: exercises.end_all())
    sys.exit(main(*sys.argv[1:]))
