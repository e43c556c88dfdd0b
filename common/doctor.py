#!/usr/bin/env python3
"""What this machine has and lacks. Make asks; so can you.

    doctor.py         tries all that make run and make test need, a line for each, and the command that mends it
    doctor.py make    for make: which device, compiler and Python, and what is missing, as make's assignments
    doctor.py shell   for tests/run: the same, as a shell's assignments

Needs Python's standard library only. It listens to BACKEND, NVCC, CC, CXX and REQUIRE_GPU.
"""

import ctypes
import glob
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile

if sys.version_info < (3, 9):
    sys.exit(f"{sys.executable} is Python {sys.version.split()[0]}, not 3.9 or newer: make PYTHON=... names another")
from importlib.metadata import PackageNotFoundError, version

sys.dont_write_bytecode = True  # leave nothing behind
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # not there with PYTHONSAFEPATH
import install
from install import HERE, VENV

TOP = os.path.dirname(HERE)


def ask(command, folder=None):
    """(exit status, stdout and stderr) of a command; 127 if there is none of that name."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder)
    except OSError as error:
        return 127, str(error)
    return done.returncode, done.stdout.strip()


# ---- The device


def gpu():
    """((name of the first GPU, its compute capability, the driver's CUDA), None), or (None, why there is none)."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None, "there is no NVIDIA driver (libcuda.so.1)"
    name, known, major, minor = ctypes.create_string_buffer(256), ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    error = driver.cuInit(0)
    if error == 100:
        return None, "the NVIDIA driver sees no GPU"
    error = error or driver.cuDeviceGetName(name, 256, 0) or driver.cuDriverGetVersion(ctypes.byref(known))
    for number, attribute in (major, 75), (minor, 76):
        error = error or driver.cuDeviceGetAttribute(ctypes.byref(number), attribute, 0)
    if error != 0:
        return None, f"the NVIDIA driver answers with error {error}"
    return (name.value.decode(), (major.value, minor.value), (known.value // 1000, known.value % 1000 // 10)), None


def find_nvcc():
    """$NVCC, or the nvcc on PATH, or at the toolkit's usual place, or in .venv; or None."""
    if os.environ.get("NVCC"):
        return shutil.which(os.environ["NVCC"])
    if shutil.which("nvcc"):
        return "nvcc"
    toolkit = os.path.join(os.environ.get("CUDA_HOME") or "/usr/local/cuda", "bin", "nvcc")
    if os.access(toolkit, os.X_OK):
        return toolkit
    found = glob.glob(VENV + "/lib/python*/site-packages/nvidia/cu*/bin/nvcc")
    return found[0] if found and install.is_complete("requirements-nvcc.txt") else None


def release_of(nvcc):
    """The version of CUDA that nvcc belongs to, "13.0"; None if it does not say."""
    release = re.search(r"release ([\d.]+)", ask([nvcc, "--version"])[1])
    return release[1] if release else None


def why_not_with(nvcc, capability, known):
    """Why a GPU of this compute capability, whose driver knows this CUDA, does not run what nvcc compiles; None if it does."""
    release = release_of(nvcc) if nvcc else "13"  # that of PyPI, see requirements-nvcc.txt
    if release is None:
        return None
    cuda = int(release.split(".")[0])
    source = "" if nvcc and not nvcc.startswith(VENV) else " of PyPI, as there is no other,"
    if known[0] < cuda:
        return (
            f"the NVIDIA driver knows CUDA {known[0]}.{known[1]} and the nvcc{source} is of CUDA {cuda}: "
            f"install a newer driver, or the CUDA Toolkit {known[0]}.{known[1]}"
        )
    oldest = {11: (3, 5), 12: (5, 0)}.get(cuda, (7, 5))
    if capability < oldest:
        return (
            f"the GPU's compute capability is {capability[0]}.{capability[1]} and the nvcc{source} of CUDA {cuda} "
            f"knows those from {oldest[0]}.{oldest[1]} on: install an older CUDA Toolkit"
        )
    return None


def device():
    """What make builds for: {BACKEND, NVCC, HAS_GPU, DEVICE: a line for people}. Stops with one line if it cannot."""
    wanted = os.environ.get("BACKEND", "")
    if "'" in TOP:
        sys.exit(f"{TOP}: make cannot work in a folder with an apostrophe in its path: rename it")
    if wanted not in ("", "cuda", "cpu"):
        sys.exit(f"BACKEND={wanted}: it can be cuda or cpu")
    first, no_gpu = gpu()
    nvcc = find_nvcc()
    if os.environ.get("NVCC") and not nvcc and wanted != "cpu":
        sys.exit(f"NVCC={os.environ['NVCC']}: there is no such program; leave NVCC unset, or: make BACKEND=cpu")
    no_gpu = no_gpu or why_not_with(nvcc, *first[1:])
    if os.environ.get("REQUIRE_GPU") == "1" and no_gpu and not wanted:
        sys.exit(f"REQUIRE_GPU=1, but {no_gpu}")
    answer = {"HAS_GPU": "" if no_gpu else "yes", "INSTALL_NVCC": ""}
    if wanted == "cpu" or (wanted == "" and no_gpu):
        why = "BACKEND=cpu was asked for" if wanted else no_gpu
        line = f"CPU stand-in, because {why}"
        return {**answer, "BACKEND": "cpu", "NVCC": os.path.join(HERE, "cpu", "nvcc"), "DEVICE": line}
    if no_gpu and not nvcc:
        sys.exit("BACKEND=cuda needs nvcc: https://developer.nvidia.com/cuda-downloads, or: make BACKEND=cpu")
    why = "BACKEND=cuda was asked for" if wanted else "it answers"
    why += f", but there is no GPU to run on: {no_gpu}" if no_gpu else ""
    if not nvcc:
        why += "; nvcc comes from PyPI"
        library = os.path.basename(sysconfig.get_path("stdlib"))  # python3.11
        nvcc = os.path.join(VENV, "lib", library, "site-packages", "nvidia", "cu13", "bin", "nvcc")
        answer["INSTALL_NVCC"] = "requirements-nvcc.txt"
    line = f"GPU{', ' + first[0] if first else ''}, because {why}"
    return {**answer, "BACKEND": "cuda", "NVCC": nvcc, "DEVICE": line}


# ---- The Python


def has_packages():
    """True if this Python has Cython >= 3.1 and NumPy."""
    try:
        version("numpy")
        return [int(n) for n in version("Cython").split(".")[:2]] >= [3, 1]
    except PackageNotFoundError:
        return False


def python():
    """{PY: this Python if it has the packages, else .venv's; EXT: a module's suffix; where Python.h is; what to install}."""
    in_venv = os.path.exists(VENV) and os.path.samefile(sys.prefix, VENV)  # one name for it, activated or not
    own = has_packages() and not in_venv
    needs = "" if own or install.is_complete("requirements.txt") else "requirements.txt"
    return {
        "PY": os.environ.get("PYTHON") or sys.executable if own else install.PYTHON,
        "EXT": sysconfig.get_config_var("EXT_SUFFIX"),
        "PYTHON_INCLUDE": sysconfig.get_path("include"),
        "INSTALL_PYTHON": needs,
    }


# ---- What is missing


def apt(package):
    return f"sudo apt-get install -y {package}"


def missing_compiler():
    for variable, usual in ("CXX", "g++"), ("CC", "gcc"):
        compiler = os.environ.get(variable) or usual
        if " " in compiler:
            return f"{variable}={compiler}: one program, without options"
        if not shutil.which(compiler):
            return f"{compiler} is missing: {apt('g++')}"
    return ""


def missing_for_python():
    if not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")):
        return f"Python.h is missing for {sys.executable}: {apt('python3-dev')}"
    if python()["INSTALL_PYTHON"] and not importlib.util.find_spec("ensurepip"):
        return f"{sys.executable} cannot make a virtual environment: {apt('python3-venv')}"
    return ""


def bats_library(name):
    """Where that library of Bats is, or None."""
    folders = os.environ.get("BATS_LIB_PATH", "").split(":") + ["/usr/lib/bats", "/usr/lib", "/usr/local/lib"]
    paths = [os.path.join(folder, name, "load.bash") for folder in folders if folder]
    return next(filter(os.path.exists, paths), None)


def missing_for_tests():
    if not shutil.which("bats"):
        return f"bats is missing: {apt('bats bats-assert')}"
    found = re.findall(r"\d+", ask(["bats", "--version"])[1])[:2]
    if tuple(map(int, found)) < (1, 5):
        return (
            f"bats {'.'.join(found)} is too old, 1.5 is needed: "
            "git clone https://github.com/bats-core/bats-core && sudo bats-core/install.sh /usr/local"
        )
    for name in "bats-support", "bats-assert":
        if not bats_library(name):
            return f"{name} is missing: {apt('bats-assert')} (BATS_LIB_PATH names other folders)"
    return ""


# ---- Answers for make and the shell


def answers():
    missing = {"MISSING": missing_compiler(), "MISSING_FOR_PYTHON": missing_for_python()}
    return {**device(), **python(), **missing}


def for_make():
    """One line, with | between the assignments. $(TOP) is the repository, as a stage sees it."""
    try:
        found = answers()
    except SystemExit as stopped:
        return f"$(error {stopped})"
    lines = []
    for name, value in found.items():
        top = "$(TOP)" if value.startswith(TOP + "/") else ""
        value = value.removeprefix(top and TOP + "/").replace("$", "$$").replace("#", r"\#")
        if name in ("PY", "NVCC"):  # part of commands
            value = value.replace(" ", r"\ ")
        lines.append(f"override {name} := {top}{value}")
    return "|".join(lines)


# ---- The trial

KERNEL = r"""#include <stdio.h>
__global__ void seven(int *x) { *x = 7; }
int main() { int *d, h = 0; cudaMalloc(&d, 4); seven<<<1, 1>>>(d); cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost); printf("%d\n", h); }
"""


def attempt(complaint, file, text, *commands):
    """What is wrong with these commands, beside a file with this text, of which the last has to end with 7; or ""."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, file), "w") as f:
            f.write(text)
        for command in commands:
            status, said = ask(command, folder)
            if status != 0:
                return f"{complaint}: {said}"
    return "" if said.split()[-1:] == ["7"] else f"{complaint}: {said}"


def try_kernel(found):
    if found["INSTALL_NVCC"]:
        install.install(found["INSTALL_NVCC"])
    library = os.path.join(os.path.dirname(os.path.dirname(found["NVCC"])), "lib")  # where PyPI's nvcc has its own
    build = [found["NVCC"], "-o", "seven", "seven.cu", "-L" + library]
    run = ["./seven"] if found["HAS_GPU"] or found["BACKEND"] == "cpu" else ["echo", "7"]  # nothing to run it on
    return attempt("a kernel does not run", "seven.cu", KERNEL, build, run)


def try_module():
    found = python()
    if found["INSTALL_PYTHON"]:
        install.install(found["INSTALL_PYTHON"])
    source = "import numpy\ndef seven(): return int(numpy.int32(7))\n"
    to_c = [found["PY"], "-m", "cython", "-3", "seven.pyx"]
    compiler = [os.environ.get("CC") or "gcc", "-shared", "-fPIC", "-I" + found["PYTHON_INCLUDE"]]
    build = [*compiler, "-o", "seven" + found["EXT"], "seven.c"]
    run = [found["PY"], "-c", "import sys; sys.path.insert(0, '.'); import seven; print(seven.seven())"]
    return attempt("a Cython module does not run", "seven.pyx", source, to_c, build, run)


def try_tests():
    source = "".join(f"load {shlex.quote(bats_library(name))}\n" for name in ("bats-support", "bats-assert"))
    source += "@test '7' { run echo 7; assert_output 7; }\n"
    return attempt("Bats does not run", "seven.bats", source, ["bats", "--formatter", "tap", "seven.bats"])


def trial():
    """Tries all that make run and make test need; prints a line for each. True if nothing is missing."""
    complaints = []

    def say(mark, text):
        print(f"{mark:9}{text}", flush=True)

    def report(name, find_complaint, *arguments):
        try:
            complaint = find_complaint(*arguments)
        except (SystemExit, OSError) as stopped:  # what cannot be installed, in a line
            complaint = str(stopped)
        say("MISSING" if complaint else "ok", complaint or name)
        complaints.extend([complaint] if complaint else [])
        return not complaint

    say("ok", f"python3: {sys.version.split()[0]}, {sys.executable}")
    report("make", lambda: "" if shutil.which("make") else f"make is missing: {apt('make')}")
    nvcc, (first, no_gpu) = find_nvcc(), gpu()
    release = nvcc and release_of(nvcc)
    where = shutil.which(nvcc) if nvcc else "none"
    say("ok" if nvcc else "-", f"nvcc: {where}{', CUDA ' + release if release else ''}")
    say("ok" if first else "-", f"GPU: {first[0] if first else 'none, ' + no_gpu}")
    has_compiler = report("C and C++ compiler", missing_compiler)
    has_headers = report("Python.h, and Cython and NumPy or a way to install them", missing_for_python)
    has_bats = report("Bats, bats-support, bats-assert", missing_for_tests)
    found = device()
    if has_compiler:
        report("a kernel compiles and runs", try_kernel, found)
    if has_compiler and has_headers:
        report("a Cython module compiles and runs", try_module)
    if has_bats:
        report("a test runs", try_tests)
    print(f"make run would use: {found['DEVICE']}")
    print("make run and make test: " + ("they will not run here before that is mended" if complaints else "ready"))
    return not complaints


def main(arguments):
    if arguments == ["make"]:
        print(for_make())
    elif arguments == ["shell"]:
        found = {**answers(), "MISSING_FOR_TESTS": missing_for_tests()}
        print("\n".join(f"{name}={shlex.quote(value)}" for name, value in found.items()))
    elif not arguments:
        sys.exit(0 if trial() else 1)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
