"""Which compiler: nvcc, if there is one, else the CPU stand-in. BACKEND=cuda or cpu decides otherwise."""

import glob
import os
import shlex
import shutil
import subprocess
import sys

VERSION = "0.1.0"  # CHANGE


def is_stand_in(compiler):
    return shutil.which(compiler) and "stand-in" in subprocess.getoutput(f"{shlex.quote(compiler)} --version")


def nvcc():
    """The path of nvcc: $CUDACXX, on PATH, where the CUDA Toolkit lies, or from PyPI; None: the stand-in is to be taken."""
    backend = os.environ.get("BACKEND")
    if backend == "cpu":
        return None
    places = [os.environ.get("CUDACXX"), shutil.which("nvcc"), shutil.which("/usr/local/cuda/bin/nvcc")]
    places += [path for folder in sys.path for path in glob.glob(f"{folder}/nvidia/cu*/bin/nvcc")]
    for found in filter(None, places):
        if not is_stand_in(found):
            return found
        if backend != "cuda":  # somebody has put the stand-in in nvcc's place
            return None
    if backend == "cuda":
        sys.exit("BACKEND=cuda: there is no nvcc; CUDA_FROM_PYPI=1 fetches one for the build")
    return None


def dynamic_metadata(field, settings=None, *_):
    """For scikit-build-core: a build with the stand-in is never taken for one for a GPU."""
    return VERSION if nvcc() else VERSION + "+cpu"


if __name__ == "__main__":
    print(nvcc() or "", end="")
