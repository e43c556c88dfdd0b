"""make new: a package of one's own, made of 04-gather/template. new.py NAME FOLDER"""

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


def names_inside():
    """The words of the template's sources and tests, without those of comments and strings: NAME would be one of them."""
    kinds = ".py", ".pyi", ".pyx", ".cu", ".h"
    files = [path for folder in ("src", "tests") for path in (TEMPLATE / folder).rglob("*.*") if path.suffix in kinds]
    beside = r'"""[\s\S]*?"""|"[^"\n]*"|#.*|//.*'
    return {word for path in files for word in re.findall(r"\w+", re.sub(beside, "", path.read_text()))} - {"axpy"}


def refusal(name, folder):
    """Why there can be no such package, or ""."""
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


def make(name, folder):
    """Everything is made beside its place, and moved there at the end: all of it is there, or nothing."""
    begun = folder.with_name(f".{folder.name}.{os.getpid()}")
    leave = shutil.ignore_patterns(*(TEMPLATE / ".gitignore").read_text().replace("/", "").split())
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(TEMPLATE, begun, ignore=leave)
        for path in [p for p in begun.rglob("*") if p.is_file()]:
            path.write_text(path.read_text().replace("axpy", name))
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
    name, folder = sys.argv[1], pathlib.Path(os.path.abspath(os.path.expanduser(sys.argv[2] or f"~/{sys.argv[1]}")))
    try:
        wrong = refusal(name, folder) or make(name, folder)
    except OSError as error:
        why = error.strerror or error.args[0][0][2]  # copytree's error is a list of (from, to, why)
        wrong = f"{folder} cannot be written: {why}"
    if wrong:
        sys.exit(wrong)
    print(f"{folder}: cd there, and make test. Its README.md says what to change.")
