# cython: language_level=3
import numpy as np

cdef extern from "mine.h":
    int c_half "half"(float *x, int n)


def half(float[::1] x not None):
    code = c_half(&x[0], x.shape[0])
    if code != 0:
        raise RuntimeError(code)
    return np.asarray(x)
