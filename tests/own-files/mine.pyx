# cython: language_level=3
cdef extern from "mine.h":
    int c_half "half"(float *x, int n)


def half(x):
    code = c_half(<float *><size_t>x.ctypes.data, len(x))
    if code != 0:
        raise RuntimeError(code)
    return x
