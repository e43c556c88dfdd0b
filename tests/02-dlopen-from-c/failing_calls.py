"""Whichever CUDA call of vector_add fails: its code comes, b is as it was, nothing stays. See failing.py."""

import ctypes

import failing
import numpy as np

vector_add = ctypes.CDLL("./libvector_add.so").vector_add
hello = ctypes.CDLL("./libhello.so").hello_from_gpu
x = np.full(300, 3, "f")


def checked(code):
    if code != 0:
        raise RuntimeError(code)


def add(b):
    checked(vector_add(x.ctypes, b.ctypes, b.size))
    for refused in (None, b.ctypes, 300), (x.ctypes, None, 300), (x.ctypes, b.ctypes, -1):
        assert vector_add(*refused) == 1, ("vector_add takes", refused)
    assert vector_add(None, None, 0) == 0, "vector_add of nothing is no error"
    return b


TRIED = {"vector_add": (add, x, None)}
failing.all_fail(TRIED, (2, 700), RuntimeError)
failing.none_takes_an_older_error({**TRIED, "hello_from_gpu": (lambda out: hello(), 0, None)})
