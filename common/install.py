#!/usr/bin/env python3
"""Fills ../.venv with the packages of requirements files, if they are not there yet: install.py requirements.txt

One line if it cannot be: no network, no venv module. Needs Python's standard library only.
"""

import fcntl
import os
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


def stamp(requirements):
    """(the file in .venv that says what was installed there, what has to stand in it). A moved .venv does not have it."""
    with open(os.path.join(HERE, requirements)) as f:
        return os.path.join(VENV, requirements), f"{f.read()}# for {sys.version} in {VENV}\n"


def is_complete(requirements):
    """True if these packages are in .venv, which is of this Python and was not moved. Starts no other Python."""
    path, wanted = stamp(requirements)
    try:
        with open(path) as f:
            return f.read() == wanted and os.path.exists(PYTHON)
    except OSError:
        return False


def run(command, complaint):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        last = (done.stdout.strip().splitlines() or ["no message"])[-1]
        sys.exit(f"{complaint} ({last})")
    return done.stdout


def version_of(python):
    """sys.version of that Python, if it has pip, behind what it prints at its start; else ""."""
    try:
        command = [python, "-c", "import pip, sys; print(sys.version)"]
        return subprocess.check_output(command, stderr=subprocess.DEVNULL, text=True).strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def prepare_venv():
    """A .venv of this Python with pip. One that make did not make is taken as it is, or left alone."""
    is_good = version_of(PYTHON).endswith(sys.version)
    is_ours = os.path.exists(OURS) or (os.path.isdir(VENV) and not os.listdir(VENV))
    if is_good and not is_ours:
        return
    if os.path.lexists(VENV) and (os.path.islink(VENV) or not is_ours):
        sys.exit(
            f"{VENV} is of another Python or without pip, and was not made by make: "
            "move it away, or name a Python that has the packages: make PYTHON=..."
        )
    os.makedirs(VENV, exist_ok=True)
    open(OURS, "w").close()  # first, and it stays: what is broken off may be made anew
    others = [] if is_good else [name for name in os.listdir(VENV) if name != os.path.basename(OURS)]
    if others:
        print(".venv is of another Python, or broken: it is made anew", file=sys.stderr, flush=True)
    for name in others:
        path = os.path.join(VENV, name)
        shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.remove(path)
    options = ["--without-pip"] if is_good else []  # if it was moved: the scripts are written anew, the packages stay
    complaint = f"{VENV} could not be made: sudo apt-get install -y python3-venv, or another folder"
    run([sys.executable, "-m", "venv", *options, VENV], complaint)


def fill(requirements):
    print(f"Python packages of common/{requirements} go into .venv (once)", file=sys.stderr, flush=True)
    prepare_venv()
    wheels = os.path.join(os.path.dirname(HERE), "offline", "pypi")  # make offline has filled it
    options = ["--no-index", "--find-links", wheels] if os.path.isdir(wheels) else []
    options += ["--disable-pip-version-check", "-r", os.path.join(HERE, requirements)]
    run(
        [PYTHON, "-m", "pip", "install", *options],
        f"PyPI did not give the packages of common/{requirements}: check the network and make again, "
        + CURE.get(requirements, ""),
    )
    path, wanted = stamp(requirements)
    with open(path, "w") as f:
        f.write(wanted)


def install(requirements):
    if is_complete(requirements):
        return
    lock = os.open(HERE, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)  # of two makes at once, one waits, and then all is there
        if not is_complete(requirements):
            fill(requirements)
    finally:
        os.close(lock)  # the next one goes on


if __name__ == "__main__":
    try:
        for name in sys.argv[1:]:
            install(name)
    except OSError as error:
        sys.exit(f"{VENV} could not be filled: {error}")
