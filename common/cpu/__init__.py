"""The CPU stand-in as an installed package: the command cpu-nvcc."""

import os
import runpy
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    sys.path.insert(0, HERE)
    runpy.run_path(os.path.join(HERE, "nvcc"), run_name="__main__")
