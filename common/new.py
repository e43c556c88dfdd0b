"""make new: a package of one's own, made of 04-gather/template. new.py NAME FOLDER FROM"""

import builtins
import importlib.util
import keyword
import os
import pathlib
import re
import runpy
import shutil
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
TEMPLATE = TOP / "04-gather/template"
STARTS = {name: TEMPLATE.with_name(f"template.{name}.diff") for name in ("rows", "window")}  # FROM: what differs then


def names_inside():
    """The words of the template's sources and tests, without those of comments and strings: NAME would be one of them."""
    kinds = ".py", ".pyi", ".pyx", ".cu", ".h"
    files = [path for folder in ("src", "tests") for path in (TEMPLATE / folder).rglob("*.*") if path.suffix in kinds]
    texts = [path.read_text(encoding="utf-8") for path in files]
    texts += [change for start in STARTS for name, change in changes(start) if name.endswith(kinds)]
    beside = r'"""[\s\S]*?"""|"[^"\n]*"|#.*|//.*'
    return {word for text in texts for word in re.findall(r"\w+", re.sub(beside, "", text))} - {"axpy"}


def changes(start):
    """The names of files, and the changes of each."""
    text = STARTS[start].read_text(encoding="utf-8")
    return re.findall(r"^--- (.*)\n\+\+\+ .*\n((?:[@ +-].*\n|\n)+?)(?=--- |\Z)", text, re.M)


def patch(folder, start):
    """Changes the files of the folder for this start. Each hunk replaces lines that a file has once."""
    for name, change in changes(start):
        text = (folder / name).read_text(encoding="utf-8")
        for hunk in re.split("^@@.*\n", change, flags=re.M)[1:]:
            lines = hunk.splitlines(keepends=True)
            old, new = ("".join(line[1:] for line in lines if line[0] in marks) for marks in (" -", " +"))
            if text.count(old) != 1:
                raise OSError(0, f"{STARTS[start].name} does not fit {name}: {old}")
            text = text.replace(old, new)
        (folder / name).write_text(text, encoding="utf-8")


def refusal(name, folder, start):
    """Why there can be no such package, or ""."""
    if start not in ("", *STARTS):
        return f"FROM={start}: {', '.join(STARTS)}, or nothing"
    if not re.fullmatch("[a-z][a-z0-9_]*", name):
        return f"NAME={name}: small letters, digits and _, beginning with a letter, as in NAME=moving_average"
    cython = "cdef", "cimport", "cpdef", "ctypedef", "include"
    if keyword.iskeyword(name) or hasattr(builtins, name) or name in cython:
        return f"NAME={name}: this word has a meaning in Python or Cython"
    if name in {"numpy", "pytest", *getattr(sys, "stdlib_module_names", ())} or importlib.util.find_spec(name):
        return f"NAME={name}: there is a Python module of this name"
    if name in names_inside():
        return f"NAME={name}: the package uses this name itself"
    if TOP in folder.parents:
        return f"{folder} is inside the tutorial's own folder: name another, DIR=~/{name}"
    return f"{folder} is there already" if os.path.lexists(folder) else ""


def make(name, folder, start):
    """Everything is made beside its place, and moved there at the end: all of it is there, or nothing."""
    begun = folder.with_name(f".{folder.name}.{os.getpid()}")
    leave = shutil.ignore_patterns(*(TEMPLATE / ".gitignore").read_text().replace("/", "").split())
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(TEMPLATE, begun, ignore=leave)
        if start:
            patch(begun, start)
        for path in [p for p in begun.rglob("*") if p.is_file()]:
            path.write_text(path.read_text(encoding="utf-8").replace("axpy", name), encoding="utf-8")
        for path in sorted(begun.rglob("*axpy*"), reverse=True):  # what is in a folder comes before the folder
            path.rename(path.with_name(path.name.replace("axpy", name)))
        (begun / "vendor").mkdir()
        runpy.run_path(str(TOP / "common/cpu/build_wheel.py"))["build_wheel"](begun / "vendor")
        for shared in "cuda_error.py", "fast/dlpack.pxd", "fast/dlpack.pyx":
            shutil.copy(TOP / "04-gather" / shared, begun / "src" / name)
        shutil.copy(TOP / "LICENSE", begun)
        begun.rename(folder)
    finally:
        shutil.rmtree(begun, ignore_errors=True)


if __name__ == "__main__":
    name, place, start = sys.argv[1:]
    folder = pathlib.Path(os.path.abspath(os.path.expanduser(place or f"~/{name}")))
    try:
        wrong = refusal(name, folder, start) or make(name, folder, start)
    except OSError as error:
        why = error.strerror or error.args[0][0][2]  # copytree's error is a list of (from, to, why)
        wrong = f"{folder} cannot be written: {why}"
    if wrong:
        sys.exit(wrong)
    print(f"{folder}: cd there, and make test. Its README.md says what to change.")
