#!/usr/bin/env python3
"""Fills ../.venv with the packages of requirements files, if they are not there yet: venv.py requirements.txt

One line if it cannot be: no network, no venv module. Needs Python's standard library only.
"""

import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
VENV = os.path.join(os.path.dirname(HERE), ".venv")
PYTHON = os.path.join(VENV, "bin", "python")
OURS = os.path.join(VENV, "made-by-make")  # a file: this .venv may be made anew


def run(command, complaint):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        last = (done.stdout.strip().splitlines() or ["no message"])[-1]
        sys.exit(f"{complaint} ({last})")


def version_of(python):
    try:
        command = [python, "-c", "import pip, sys; print(sys.version)"]
        return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


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
    if os.path.lexists(VENV):
        if os.path.islink(VENV) or not os.path.exists(OURS):
            sys.exit(
                f"{VENV} is of another Python or without pip, and was not made by make: "
                "move it away, or name a Python that has the packages: make PYTHON=..."
            )
        shutil.rmtree(VENV)
    make_venv()


def has_moved():
    """True if the repository was moved: bin/activate then puts a folder on the PATH that is not there."""
    with open(os.path.join(VENV, "bin", "activate")) as f:
        text = f.read()
    return VENV not in text and os.path.realpath(VENV) not in text


def main(requirements):
    path = os.path.join(HERE, requirements)
    with open(path) as f:
        wanted = f.read()
    note = os.path.join(VENV, requirements)  # what was installed, and for which Python
    wanted += f"# for {sys.version}\n"
    try:
        with open(note) as f:
            if f.read() == wanted and version_of(PYTHON) == sys.version:
                if os.path.exists(OURS) and has_moved():
                    make_venv("--without-pip")  # writes the scripts anew, the packages stay
                return
    except OSError:
        pass
    print(f"Python packages of common/{requirements} go into .venv (once)", file=sys.stderr)
    if version_of(PYTHON) != sys.version:  # none yet, of another Python, or broken
        renew_venv()
    run(
        [PYTHON, "-m", "pip", "install", "--disable-pip-version-check", "-r", path],
        (
            "PyPI did not give the packages: check the network and make again, or name a Python that has them: "
            "make PYTHON=..."
            if requirements == "requirements.txt"
            else "PyPI did not give nvcc: check the network and make again, install the CUDA Toolkit, or: make BACKEND=cpu"
        ),
    )
    with open(note, "w") as f:
        f.write(wanted)


if __name__ == "__main__":
    for requirements in sys.argv[1:]:
        main(requirements)
