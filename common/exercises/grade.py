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
import stat
import subprocess
import sys

import exercises

GIB = 1 << 30
BUILD_SECONDS = 120
MOST_BYTES = 1_000_000  # of a file
LIMITS = {  # of each process. Address space would be too little: the stand-in reserves much and uses little.
    resource.RLIMIT_DATA: 4 * GIB,
    resource.RLIMIT_FSIZE: 256 << 20,
    resource.RLIMIT_CORE: 0,
    resource.RLIMIT_CPU: 300,
}
KEPT = "PATH", "LANG", "CC", "CXX", "CFLAGS", "DOCTOR", "BACKEND", "PY", "MAKE"  # no password of the teacher's is there
CHECKS_OWN = re.compile(r"\b(exercise\.cuh|exercise\.h|import exercise|from exercise|__main__|sys\.modules|PASSED)\b")
MARKS = {"passed": "+", "not yet": "-", "to do": "."}


def refuse(text):
    print(text, file=sys.stderr)
    sys.exit(2)


# ---- The sandbox


@functools.cache
def readable():
    """Folders of the system and of Python that compilers and checks need."""
    python = "import sys; print(sys.prefix, sys.base_prefix, sep='\\n')"
    folders = subprocess.check_output([os.environ.get("PY", sys.executable), "-c", python], text=True).splitlines()
    folders += [str(pathlib.Path(found).parent.parent) for tool in ("make", "g++") if (found := shutil.which(tool))]
    system = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/alternatives", "/etc/ld.so.cache"]
    return system + [folder for folder in dict.fromkeys(folders) if not re.match("/usr(/|$)|/$", folder)]


def sandbox(room, is_writable, shown=()):
    """The words before a command that runs in this folder; `shown` are files that it may read."""
    words = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--proc", "/proc"]
    words += ["--dev", "/dev", "--size", str(256 << 20), "--tmpfs", "/tmp", "--setenv", "HOME", "/tmp"]
    for path in [*readable(), exercises.COMMON, *shown]:
        words += ["--ro-bind-try", path, path]
    return [*words, "--bind" if is_writable else "--ro-bind", room, room, "--chdir", room, "--"]


@functools.cache
def processes():
    """How many the user of this program has, each with its threads."""
    shown = subprocess.run(["ps", "-L", "--no-headers", "-U", str(os.getuid())], capture_output=True, text=True).stdout
    return shown.count("\n")


def limit():
    for which, most in [*LIMITS.items(), (resource.RLIMIT_NPROC, processes() + 500)]:
        hard = resource.getrlimit(which)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(which, (most, most))


def run_in_sandbox(command, room, seconds=None, **settings):
    """exercises.run, but in the sandbox. Only a build may write into its folder."""
    stage = pathlib.Path(settings["PYTHONPATH"].split(":")[-1])
    shown = [path for path in stage.iterdir() if path.suffix in (".h", ".py")]
    is_build = seconds is None
    words = sandbox(room.resolve(), is_build, shown) + [str(word) for word in command]
    return run_outside(words, room, seconds or BUILD_SECONDS, preexec_fn=limit, **settings)


def need_sandbox():
    if not shutil.which("bwrap"):
        refuse("make grade runs what students wrote in a sandbox: sudo apt-get install -y bubblewrap")
    tried = subprocess.run([*sandbox("/tmp", False), "true"], capture_output=True, text=True)
    if tried.returncode != 0:
        refuse(f"bubblewrap can make no sandbox on this machine: {tried.stderr.strip()}")


# ---- One student


def find(student, stage, name):
    """Where a student's file lies, or None."""
    places = [student / place / name for place in ("", "exercises", stage.name, f"{stage.name}/exercises")]
    return next((path for path in places if os.path.lexists(path)), None)


def fetch(path, room):
    """Copies a student's file. What is wrong with it, or None. No link is followed, and nothing is waited for."""
    if path.parent.resolve() != path.parent.absolute():
        return f"{path.name} lies behind a link"
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as f:
            if not stat.S_ISREG(os.fstat(f.fileno()).st_mode):
                return f"{path.name} is no file"
            data = f.read(MOST_BYTES + 1)
        data.decode()
    except UnicodeDecodeError:
        return f"{path.name} is no text"
    except OSError as error:
        return f"{path.name} cannot be read: {error.strerror}"
    if len(data) > MOST_BYTES or b"\0" in data:
        return f"{path.name} is larger than 1 MB, or no text"
    if not (room / path.name).exists() or (room / path.name).read_bytes() != data:
        (room / path.name).write_bytes(data)


def grade_one(student, folder, room):
    """(the state, the reason) of a student's answer to an exercise."""
    room.mkdir(parents=True, exist_ok=True)
    for solution in exercises.solutions(folder):
        path = find(student, exercises.stage_of(folder), solution.name)
        if not path:
            return "to do", f"there is no file {solution.name}"
        if reason := fetch(path, room) or meddles(folder, (room / path.name).read_text()):
            return "not yet", reason
    what, lines = exercises.state(folder, room)
    if what == "passed" and not is_refused(folder, room):
        return "not yet", "the answer changes its check: look at it"
    return what, plain(lines)


def meddles(folder, text):
    """What in an answer is for its check and not for the task, or None."""
    checks = "".join(path.read_text() for path in [*folder.glob("*_check.*"), *exercises.HERE.glob("*.*h")])
    macros = re.findall(r"(?:#|%:)\s*define\s+(\w+)", text.replace("\\\n", ""))
    found = [name for name in macros if re.search(rf"\b{name}\b", checks)] + CHECKS_OWN.findall(text)
    return f"the answer reaches for its check, by {found[0]}: look at it" if found else None


def is_refused(folder, room):
    """Whether the check can still say no, when it is told to."""
    word = f"refuse {os.urandom(8).hex()}"
    status, out, _ = exercises.run_check(folder, room / ".tried" / folder.name / "cpu", "cpu", PASSED=word)
    return status == 1 and f"  wrong    {word}" in out.splitlines()


def plain(lines):
    """The first lines in one, without what a terminal or a spreadsheet would take for a command."""
    said = [" ".join(re.sub(r"^  (wrong|stand-in|to do) ", "", x).split()) for x in lines if "  look at" not in x]
    return "".join(c if c.isprintable() else "?" for c in "; ".join(said[:2]))[:300].lstrip("=+-@")


def key_of(folder, student):
    """What decides a grade: the student's files, as they were last written, and all that a check is made of."""
    key = hashlib.sha256(common_key(exercises.stage_of(folder), folder))
    for solution in exercises.solutions(folder):
        path = find(student, exercises.stage_of(folder), solution.name)
        known = path and path.lstat()
        key.update(repr(path and (str(path), known.st_mode, known.st_size, known.st_mtime_ns)).encode())
    return key.hexdigest()


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
        old, key = known.get(folder.name), key_of(folder, student)
        if old and old["key"] == key:
            result[folder.name] = old
            continue
        room = grades / "tried" / student.name / exercises.stage_of(folder).name / "exercises"
        state, reason = grade_one(student, folder, room)
        result[folder.name] = {"state": state, "reason": reason, "key": key}
    return result


def table(todo, rows):
    """A line for each student: + passed, - not yet, . nothing handed in."""
    width = max([len(name) for name in rows] + [7])
    for i, folder in enumerate(todo):
        print(" " * width, " " + "| " * i + folder.name)
    for name, result in rows.items():
        marks = " ".join(MARKS[result[folder.name]["state"]] for folder in todo)
        passed = sum(one["state"] == "passed" for one in result.values())
        print(f"{plain([name]):{width}}  {marks}  {passed} of {len(todo)}")


def main(answers, *stages):
    every = [folder for stage in stages for folder in exercises.exercises(pathlib.Path(stage))]
    only = os.environ.get("EXERCISE", "")
    todo = [folder.resolve() for folder in every if only in ("", folder.name)]
    if not todo:
        refuse(f"no such exercise: {only}; there are: {' '.join(folder.name for folder in every)}")
    if not answers:
        refuse("which folder? make grade ANSWERS=folder, in which each student has a folder")
    answers = pathlib.Path(answers)
    if not answers.is_dir():
        refuse(f"ANSWERS: there is no folder {answers}")
    need_sandbox()
    for name in set(os.environ) - set(KEPT):
        del os.environ[name]
    os.environ.update(LANG="C.UTF-8", BACKEND="cpu")

    students = sorted(path for path in answers.iterdir() if not path.name.startswith("."))
    grades = answers.resolve().with_name(f"{answers.resolve().name}.grades")
    grades.mkdir(exist_ok=True)
    kept = grades / "grades.json"
    known = json.loads(kept.read_text()) if kept.exists() else {}
    rows = {}

    def of(student):
        if student.is_symlink() or not student.is_dir():
            why = "a zip file: unpack it" if student.suffix == ".zip" else "no folder"
            return {folder.name: {"state": "to do", "reason": why, "key": ""} for folder in todo}
        return grade_student(student, todo, grades, known.get(student.name, {}))

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for student, result in zip(students, pool.map(of, students)):
            rows[student.name] = result
            passed = sum(one["state"] == "passed" for one in result.values())
            print(
                f"{len(rows)} of {len(students)}: {plain([student.name])}, {passed} passed", file=sys.stderr, flush=True
            )
            known[student.name] = {**known.get(student.name, {}), **result}
            kept.write_text(json.dumps(known))
    with open(grades / "grades.csv", "w", newline="", encoding="utf-8") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(("student", "exercise", "state", "reason"))
        for name, result in rows.items():
            out.writerows((plain([name]), one, got["state"], got["reason"]) for one, got in result.items())
    table(todo, rows)
    print(f"\n+ passed, - not yet, . nothing handed in. The reasons: {grades / 'grades.csv'}")


run_outside, exercises.run = exercises.run, run_in_sandbox
if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except KeyboardInterrupt:
        exercises.end_all()
