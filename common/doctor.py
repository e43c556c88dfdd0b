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


def ask(command):
    """(exit status, stdout and stderr) of a command; 127 if there is none of that name."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    except OSError as error:
        return 127, str(error)
    return done.returncode, done.stdout.strip()


# ---- The device


def gpu():
    """(name of the first GPU, None), or (None, why there is none), as the driver says."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None, "there is no NVIDIA driver (libcuda.so.1)"
    error = driver.cuInit(0)
    if error == 100:
        return None, "the NVIDIA driver sees no GPU"
    name = ctypes.create_string_buffer(256)
    error = error or driver.cuDeviceGetName(name, 256, 0)
    if error != 0:
        return None, f"the NVIDIA driver answers with error {error}"
    return name.value.decode(), None


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


def cuda_of(nvcc):
    """The major version of CUDA that nvcc belongs to, 13; PyPI's is 13 (requirements-nvcc.txt); None if it says none."""
    if nvcc is None:
        return 13
    release = re.search(r"release (\d+)", ask([nvcc, "--version"])[1])
    return int(release[1]) if release else None


def why_not_with(nvcc):
    """Why the first GPU does not run what nvcc compiles, and what mends it; None if it does."""
    driver = ctypes.CDLL("libcuda.so.1")
    known, major, minor = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    error = driver.cuDriverGetVersion(ctypes.byref(known))
    for number, attribute in (major, 75), (minor, 76):  # the compute capability
        error = error or driver.cuDeviceGetAttribute(ctypes.byref(number), attribute, 0)
    if error != 0:
        return f"the NVIDIA driver answers with error {error}"
    cuda = cuda_of(nvcc)
    if cuda is None:
        return None
    source = "" if nvcc and not nvcc.startswith(VENV) else " of PyPI, as there is no other,"
    if known.value // 1000 < cuda:
        has = f"{known.value // 1000}.{known.value % 1000 // 10}"
        return (
            f"the NVIDIA driver knows CUDA {has} and the nvcc{source} is of CUDA {cuda}: "
            f"install a newer driver, or the CUDA Toolkit {has}"
        )
    oldest = {11: (3, 5), 12: (5, 0)}.get(cuda, (7, 5))
    if (major.value, minor.value) < oldest:
        return (
            f"the GPU's compute capability is {major.value}.{minor.value} and the nvcc{source} of CUDA {cuda} "
            f"knows those from {oldest[0]}.{oldest[1]} on: install an older CUDA Toolkit"
        )
    return None


def device():
    """What make builds for: {BACKEND, NVCC, HAS_GPU, DEVICE: a line for people}. Stops with one line if it cannot."""
    wanted = os.environ.get("BACKEND", "")
    if wanted not in ("", "cuda", "cpu"):
        sys.exit(f"BACKEND={wanted}: it can be cuda or cpu")
    name, no_gpu = gpu()
    nvcc = find_nvcc()
    if os.environ.get("NVCC") and not nvcc and wanted != "cpu":
        sys.exit(f"NVCC={os.environ['NVCC']}: there is no such program; leave NVCC unset, or: make BACKEND=cpu")
    no_gpu = no_gpu or why_not_with(nvcc)
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
    line = f"GPU{', ' + name if name else ''}, because {why}"
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
        value = value.replace("$", "$$").replace("#", r"\#")
        if value.startswith(TOP + "/"):
            value = "$(TOP)" + value[len(TOP) + 1 :]
        if name in ("PY", "NVCC"):  # part of commands
            value = value.replace(" ", r"\ ")
        lines.append(f"override {name} := {value}")
    return "|".join(lines)


# ---- The trial

KERNEL = r"""#include <stdio.h>
__global__ void seven(int *x) { *x = 7; }
int main() { int *d, h = 0; cudaMalloc(&d, 4); seven<<<1, 1>>>(d); cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost); printf("%d\n", h); }
"""


def try_kernel(found):
    """What is wrong with compiling and running a kernel, or ""."""
    if found["INSTALL_NVCC"]:
        install.install(found["INSTALL_NVCC"])
    with open("seven.cu", "w") as f:
        f.write(KERNEL)
    library = os.path.join(os.path.dirname(os.path.dirname(found["NVCC"])), "lib")  # where PyPI's nvcc has its own
    status, text = ask([found["NVCC"], "-o", "seven", "seven.cu", "-L" + library])
    if status == 0 and not found["HAS_GPU"] and found["BACKEND"] == "cuda":
        return ""  # nothing to run it on
    if status == 0:
        status, text = ask(["./seven"])
    return "" if status == 0 and text.splitlines()[-1:] == ["7"] else f"a kernel does not run: {text}"


def try_module():
    """What is wrong with making and importing a Python module, or ""."""
    found = python()
    if found["INSTALL_PYTHON"]:
        install.install(found["INSTALL_PYTHON"])
    with open("seven.pyx", "w") as f:
        f.write("import numpy\ndef seven(): return int(numpy.int32(7))\n")
    compiler = [os.environ.get("CC") or "gcc", "-shared", "-fPIC", "-I" + found["PYTHON_INCLUDE"]]
    status, text = ask([found["PY"], "-m", "cython", "-3", "seven.pyx"])
    if status == 0:
        status, text = ask([*compiler, "-o", "seven" + found["EXT"], "seven.c"])
    if status == 0:
        status, text = ask(
            [found["PY"], "-c", "import sys; sys.path.insert(0, '.'); import seven; print(seven.seven())"]
        )
    return "" if status == 0 and text.splitlines()[-1:] == ["7"] else f"a Cython module does not run: {text}"


def try_tests():
    with open("seven.bats", "w") as f:
        f.write("".join(f"load {shlex.quote(bats_library(n))}\n" for n in ("bats-support", "bats-assert")))
        f.write("@test 'seven' { run echo 7; assert_output 7; }\n")
    status, text = ask(["bats", "--formatter", "tap", "seven.bats"])
    return "" if status == 0 and "ok 1 seven" in text else f"Bats does not run: {text}"


def trial():
    """Tries all that make run and make test need; prints a line for each. True if nothing is missing."""
    complaints = []

    def report(name, complaint):
        print(f"{'MISSING' if complaint else 'ok':9}{complaint or name}", flush=True)
        complaints.extend([complaint] if complaint else [])
        return not complaint

    print(f"{'ok':9}python3: {sys.version.split()[0]}, {sys.executable}")
    report("make", "" if shutil.which("make") else f"make is missing: {apt('make')}")
    nvcc, (name, no_gpu) = find_nvcc(), gpu()
    release = re.search(r"release ([\d.]+)", ask([nvcc, "--version"])[1]) if nvcc else None
    print(
        f"{'ok' if nvcc else '-':9}nvcc: {shutil.which(nvcc) if nvcc else 'none'}{', CUDA ' + release[1] if release else ''}"
    )
    print(f"{'ok' if name else '-':9}GPU: {name or 'none, ' + no_gpu}")
    has_compiler = report("C and C++ compiler", missing_compiler())
    has_headers = report("Python.h, and Cython and NumPy or a way to install them", missing_for_python())
    has_bats = report("Bats, bats-support, bats-assert", missing_for_tests())
    found, here = device(), os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for wanted, name, attempt in (
            (has_compiler, "a kernel compiles and runs", lambda: try_kernel(found)),
            (has_compiler and has_headers, "a Cython module compiles and runs", try_module),
            (has_bats, "a test runs", try_tests),
        ):
            if wanted:
                try:
                    report(name, attempt())
                except (SystemExit, OSError) as stopped:  # what cannot be installed, in a line
                    report(name, str(stopped))
        os.chdir(here)
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
