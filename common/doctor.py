#!/usr/bin/env python3
"""What this machine has and lacks. Make asks; so can you.

    doctor.py                 a table of all that is needed, and the command that mends what is missing
    doctor.py need TOOL ...   silent if these are there, else one line for each that is not, and exit status 1
    doctor.py device          for make: the backend, its nvcc, "gpu" or "no-gpu", and a line for people
    doctor.py python          for make: the interpreter with Cython and NumPy, its extension suffix, its headers

Needs Python's standard library only.
"""

import ctypes
import glob
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig

HERE = os.path.dirname(os.path.abspath(__file__))
VENV = os.path.join(os.path.dirname(HERE), ".venv")


def gpu():
    """(name of the first GPU, None), or (None, why there is none), as the driver says."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None, "there is no NVIDIA driver (libcuda.so.1)"
    error = driver.cuInit(0)
    if error == 100:
        return None, "the NVIDIA driver sees no GPU"
    if error != 0:
        return None, f"the NVIDIA driver answers with error {error}"
    name = ctypes.create_string_buffer(256)
    error = driver.cuDeviceGetName(name, 256, 0)
    if error != 0:
        return None, f"the NVIDIA driver answers with error {error}"
    return name.value.decode(), None


def find_nvcc():
    """$NVCC, or the nvcc on PATH, or at the toolkit's usual place, or of venv.py; or None."""
    if os.environ.get("NVCC"):
        return shutil.which(os.environ["NVCC"])
    if shutil.which("nvcc"):
        return "nvcc"
    toolkit = os.path.join(os.environ.get("CUDA_HOME") or "/usr/local/cuda", "bin", "nvcc")
    if os.access(toolkit, os.X_OK):
        return toolkit
    found = glob.glob(VENV + "/lib/python*/site-packages/nvidia/cu*/bin/nvcc")
    complete = os.path.exists(os.path.join(VENV, "requirements-nvcc.txt"))  # venv.py's last step
    return found[0] if found and complete else None


def cuda_of(nvcc):
    """The major version of CUDA that nvcc belongs to, 13; PyPI's is 13 (requirements-nvcc.txt); None if it says none."""
    if nvcc is None:
        return 13
    ask = dict(stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    release = re.search(r"release (\d+)", subprocess.run([nvcc, "--version"], **ask).stdout)
    return int(release[1]) if release else None


def why_not_with(nvcc):
    """Why the first GPU does not run what nvcc compiles, and what mends it; None if it does."""
    driver = ctypes.CDLL("libcuda.so.1")
    version, major, minor = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    error = driver.cuDriverGetVersion(ctypes.byref(version))
    for number, attribute in (major, 75), (minor, 76):  # the compute capability
        error = error or driver.cuDeviceGetAttribute(ctypes.byref(number), attribute, 0)
    if error != 0:
        return f"the NVIDIA driver answers with error {error}"
    cuda = cuda_of(nvcc)
    if cuda is None:
        return None
    source = "" if nvcc and not nvcc.startswith(VENV) else " of PyPI, as there is no other,"
    if version.value // 1000 < cuda:
        has = f"{version.value // 1000}.{version.value % 1000 // 10}"
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
    """What make builds for: (backend, nvcc, "gpu" or "no-gpu", why). Stops with one line if it cannot."""
    wanted = os.environ.get("BACKEND", "")
    if wanted not in ("", "cuda", "cpu"):
        sys.exit(f"BACKEND={wanted}: it can be cuda or cpu")
    name, no_gpu = gpu()
    nvcc = find_nvcc()
    if os.environ.get("NVCC") and not nvcc and wanted != "cpu":
        sys.exit(
            f"NVCC={os.environ['NVCC']}: there is no such program; leave NVCC unset, or: make BACKEND=cpu"
        )
    if not no_gpu:
        no_gpu = why_not_with(nvcc)
    if os.environ.get("REQUIRE_GPU") == "1" and no_gpu and not wanted:
        sys.exit(f"REQUIRE_GPU=1, but {no_gpu}")
    if wanted == "cuda" or (wanted == "" and not no_gpu):
        if no_gpu and not nvcc:
            sys.exit(
                "BACKEND=cuda needs nvcc: https://developer.nvidia.com/cuda-downloads, or: make BACKEND=cpu"
            )
        why = "BACKEND=cuda was asked for" if wanted else "it answers"
        why += f", but there is no GPU to run on: {no_gpu}" if no_gpu else ""
        why += "" if nvcc else "; nvcc comes from PyPI"
        if nvcc and nvcc.startswith(VENV):  # as seen from a stage
            nvcc = os.path.join("..", os.path.relpath(nvcc, os.path.dirname(VENV)))
        line = f"GPU{', ' + name if name else ''}, because {why}"
        return "cuda", nvcc or "from-pypi", "no-gpu" if no_gpu else "gpu", line
    why = "BACKEND=cpu was asked for" if wanted else no_gpu
    return (
        "cpu",
        "../common/cpu/nvcc",
        "no-gpu" if no_gpu else "gpu",
        f"CPU stand-in, because {why}",
    )


def has_packages(python):
    """True if that interpreter has Cython >= 3.1 and NumPy."""
    code = (
        "from importlib.metadata import version; version('numpy'); "
        "raise SystemExit([int(n) for n in version('Cython').split('.')[:2]] < [3, 1])"
    )
    try:
        return subprocess.run([python, "-c", code], stderr=subprocess.DEVNULL).returncode == 0
    except OSError:
        return False


def python():
    """(interpreter, extension suffix, folder of Python.h): this one if it has the packages, or .venv's."""
    interpreter = os.environ.get("PYTHON") or "python3"
    # one name for .venv, whether it is activated or not
    in_venv = os.path.exists(VENV) and os.path.samefile(sys.prefix, VENV)
    if in_venv or not has_packages(sys.executable):
        interpreter = "../.venv/bin/python"
    return interpreter, sysconfig.get_config_var("EXT_SUFFIX"), sysconfig.get_path("include")


def apt(package):
    return f"sudo apt-get install -y {package}"


def bats_version():
    try:
        text = subprocess.run(["bats", "--version"], stdout=subprocess.PIPE, text=True).stdout
    except OSError:
        return None
    return tuple(int(n) for n in re.findall(r"\d+", text)[:2])


def bats_library(name):
    folders = os.environ.get("BATS_LIB_PATH", "").split(":") + [
        "/usr/lib/bats",
        "/usr/lib",
        "/usr/local/lib",
    ]
    return any(f and os.path.exists(os.path.join(f, name, "load.bash")) for f in folders)


def missing(tool):
    """None if `tool` is there; else what is wrong and the command that mends it."""
    if tool in ("gcc", "g++"):
        variable = "CC" if tool == "gcc" else "CXX"
        compiler = os.environ.get(variable) or tool
        if " " in compiler:
            return f"{variable}={compiler}: one program, without options"
        if not shutil.which(compiler):
            return f"{compiler} is missing: {apt('g++')}"
    elif tool == "Python.h":
        if not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")):
            return f"Python.h is missing for {sys.executable}: {apt('python3-dev')}"
    elif tool == "venv":
        if not has_packages(sys.executable) and not has_packages(
            os.path.join(VENV, "bin", "python")
        ):
            if not importlib.util.find_spec("ensurepip"):
                return f"{sys.executable} cannot make a virtual environment: {apt('python3-venv')}"
    elif tool == "bats":
        version = bats_version()
        if version is None:
            return f"bats is missing: {apt('bats bats-assert')}"
        if version < (1, 5):
            return (
                f"bats {'.'.join(map(str, version))} is too old, 1.5 is needed: "
                "git clone https://github.com/bats-core/bats-core && sudo bats-core/install.sh /usr/local"
            )
    elif tool in ("bats-assert", "bats-support"):
        if not bats_library(tool):
            return f"{tool} is missing: {apt('bats-assert')} (BATS_LIB_PATH names other folders)"
    elif tool == "write":
        if not os.access(".", os.W_OK):
            return f"{os.getcwd()} is read-only: copy the repository to a folder of yours, and make there"
    elif not shutil.which(tool):
        return f"{tool} is missing: {apt(tool)}"
    return None


def table():
    """Prints a line for each thing; returns 1 if something is missing that nothing can replace."""
    status = 0
    for tool in ("make", "gcc", "g++", "Python.h", "venv", "bats", "bats-assert", "bats-support"):
        problem = missing(tool)
        print(f"{'MISSING' if problem else 'ok':9}{problem or tool}")
        status = 1 if problem else status
    print(f"{'ok':9}python3: {sys.version.split()[0]}, {sys.executable}")
    if has_packages(sys.executable):
        where = "python3 has them"
    elif has_packages(os.path.join(VENV, "bin", "python")):
        where = "in .venv"
    else:
        where = "make will put them into .venv"
    print(f"{'ok':9}Cython >= 3.1 and NumPy: {where}")
    print(f"{'ok' if find_nvcc() else '-':9}nvcc: {find_nvcc() or 'none'}")
    name, no_gpu = gpu()
    print(f"{'ok' if name else '-':9}GPU: {name or 'none, ' + no_gpu}")
    backend, _, _, line = device()
    print(f"make run would use: {line}")
    return status


def main(arguments):
    if arguments == ["device"]:
        print(*device())
    elif arguments == ["python"]:
        print(*python())
    elif arguments[:1] == ["need"]:
        problems = [p for p in map(missing, arguments[1:]) if p]
        print(*problems, sep="\n", end="\n" if problems else "", file=sys.stderr)
        sys.exit(1 if problems else 0)
    elif not arguments:
        sys.exit(table())
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
