"""Which compiler: nvcc, if there is one, else the CPU stand-in. BACKEND=cuda or cpu decides otherwise."""

import glob
import os
import shutil
import sys

VERSION = "0.1.0"  # CHANGE


def nvcc():
    """The path of nvcc: $CUDACXX, on PATH, where the CUDA Toolkit lies, or from PyPI; None: the stand-in is to be taken."""
    if os.environ.get("BACKEND") == "cpu":
        return None
    from_pypi = [path for folder in sys.path for path in glob.glob(f"{folder}/nvidia/cu*/bin/nvcc")]
    found = os.environ.get("CUDACXX") or shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    found = found or next(iter(from_pypi), None)
    if found is None and os.environ.get("BACKEND") == "cuda":
        sys.exit("BACKEND=cuda: there is no nvcc; CUDA_FROM_PYPI=1 fetches one for the build")
    return found


def dynamic_metadata(field, settings=None, *_):
    """For scikit-build-core: a build with the stand-in is never taken for one for a GPU."""
    return VERSION if nvcc() else VERSION + "+cpu"


if __name__ == "__main__":
    print(nvcc() or "", end="")
