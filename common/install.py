#!/usr/bin/env python3
"""Fills ../.venv with the packages of requirements files, if they are not there yet: install.py requirements.txt

One line if it cannot be: no network, no venv module. Needs Python's standard library only.
"""

import fcntl
import glob
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
VENV = os.path.join(os.path.dirname(HERE), ".venv")
PYTHON = os.path.join(VENV, "bin", "python")
OURS = os.path.join(VENV, "made-by-make")  # a file: this .venv may be made anew
CURE = {
    "requirements.txt": "or name a Python that has them: make PYTHON=...",
    "requirements-nvcc.txt": "install the CUDA Toolkit, or: make BACKEND=cpu",
}


def read(path):
    try:
        with open(path) as f:
            return f.read()
    except OSError:
        return ""


def note(requirements):
    """(where it is noted what was installed, and what has to stand there)."""
    wanted = read(os.path.join(HERE, requirements))
    return os.path.join(VENV, requirements), f"{wanted}# for {sys.version}\n"


def is_complete(requirements):
    """True if these packages are in .venv, which is of this Python and was not moved. Starts no other Python."""
    path, wanted = note(requirements)
    if read(path) != wanted or not os.path.exists(PYTHON):
        return False
    # pip's folder for each package, name-version.dist-info: gone if somebody removed the packages
    there = {os.path.basename(p).split("-")[0].lower() for p in glob.glob(VENV + "/lib/*/site-packages/*.dist-info")}
    names = re.findall(r"^[\w-]+", wanted, re.M)
    if not there.issuperset(name.replace("-", "_").lower() for name in names):
        return False
    activate = read(os.path.join(VENV, "bin", "activate"))  # puts a folder on PATH: is it this one?
    return VENV in activate or os.path.realpath(VENV) in activate


def run(command, complaint):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        last = (done.stdout.strip().splitlines() or ["no message"])[-1]
        free = shutil.disk_usage(os.path.dirname(VENV)).free >> 20
        if free < 200:
            last += f"; the disk has only {free} MB left"
        sys.exit(f"{complaint} ({last})")


def version_of(python):
    """sys.version of that Python, if it has pip, behind what it prints at its start; else ""."""
    try:
        command = [python, "-c", "import pip, sys; print(sys.version)"]
        return subprocess.check_output(command, stderr=subprocess.DEVNULL, text=True).strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def make_venv(*options):
    complaint = f"{VENV} could not be made: sudo apt-get install -y python3-venv, or another folder"
    try:
        os.makedirs(VENV, exist_ok=True)
        open(OURS, "w").close()  # first: what is broken off may be made anew
    except OSError as error:
        sys.exit(f"{complaint} ({error})")
    run([sys.executable, "-m", "venv", *options, VENV], complaint)


def renew_venv():
    """A .venv of this Python in place of one of another Python, or a broken one. What make did not make, it leaves."""
    if version_of(PYTHON).endswith(sys.version):
        if os.path.exists(OURS):
            make_venv("--without-pip")  # if it was moved: writes the scripts anew, the packages stay
        return
    if os.path.lexists(VENV):
        if os.path.islink(VENV) or not os.path.exists(OURS):
            sys.exit(
                f"{VENV} is of another Python or without pip, and was not made by make: "
                "move it away, or name a Python that has the packages: make PYTHON=..."
            )
        shutil.rmtree(VENV)
    try:
        make_venv()
    except SystemExit:
        shutil.rmtree(VENV, ignore_errors=True)  # half-built
        raise


def install(requirements):
    if is_complete(requirements):
        return
    try:
        with open(__file__, "r+") as lock:  # of two makes at once, one waits, and then all is there
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not is_complete(requirements):
                fill(requirements)
    except OSError as error:
        sys.exit(f"{VENV} could not be filled: {error}")


def fill(requirements):
    print(f"Python packages of common/{requirements} go into .venv (once)", file=sys.stderr, flush=True)
    renew_venv()
    path, wanted = note(requirements)
    wheels = os.path.join(os.path.dirname(HERE), "offline", "pypi")  # make offline has filled it
    options = ["--no-index", "--find-links", wheels] if os.path.isdir(wheels) else []
    options += ["--disable-pip-version-check", "-r", os.path.join(HERE, requirements)]
    run(
        [PYTHON, "-m", "pip", "install", *options],
        f"PyPI did not give the packages of common/{requirements}: check the network and make again, "
        + CURE.get(requirements, ""),
    )
    with open(path, "w") as f:
        f.write(wanted)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        install(name)
