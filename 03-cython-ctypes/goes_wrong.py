"""What goes wrong between Python and a C library, each provoked in a process of its own.

Build: make build
Run:   python3 goes_wrong.py no_argtypes, freed, strided, int64_index, exit_in_library, printf_order,
       library_path or fork
"""

import ctypes
import os
import sys
import warnings

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
POINTER, SIZE = ctypes.c_void_p, ctypes.c_size_t


def load(name):
    return ctypes.CDLL(os.path.join(HERE, name))


def declared_multiply():
    """multiply() as it has to be called: with argtypes, and here with addresses."""
    multiply = load("libmultiply.so").multiply
    multiply.argtypes, multiply.restype = [POINTER, POINTER, POINTER, SIZE], ctypes.c_int
    return multiply


def no_argtypes():
    """Without argtypes ctypes takes a Python int for a C int of 32 bits: of a pointer half is left."""
    multiply = load("libmultiply.so").multiply
    a = np.ones(1 << 20, np.float32)  # so large that it lies beyond the first 4 GiB
    print("the address needs more than 32 bits:", a.ctypes.data >= 2**32)
    print("multiply() gets the lower 32, and the process ends:")
    sys.stdout.flush()
    multiply(a.ctypes.data, a.ctypes.data, a.ctypes.data, a.size)
    print("this is not printed")


def freed():
    """An address keeps no array alive: the temporary is gone before the call, its memory used again."""
    multiply, ones, result = declared_multiply(), np.ones(100, np.float32), np.zeros(100, np.float32)
    address = np.full(100, 2, np.float32).ctypes.data  # nothing refers to this array any more
    sevens = np.full(100, 7, np.float32)  # noqa: F841 it gets the memory
    multiply(address, ones.ctypes.data, result.ctypes.data, result.size)
    print("2 * 1 =", result[0])


def strided():
    """C knows an address and a count: it takes the elements that lie side by side."""
    multiply, ones, result = declared_multiply(), np.ones(4, np.float32), np.zeros(4, np.float32)
    x = np.arange(8, dtype=np.float32)[::2]
    multiply(x.ctypes.data, ones.ctypes.data, result.ctypes.data, result.size)
    print(x, "* 1 =", result)


def int64_index():
    """NumPy's default integer has 64 bits; read as C ints, every second one is an upper half."""
    pick = load("libgoes_wrong.so").pick
    pick.argtypes, pick.restype = [POINTER, ctypes.c_int, POINTER, POINTER, ctypes.c_int], ctypes.c_int
    source, result = np.arange(10, 20, dtype=np.float32), np.zeros(4, np.float32)
    index = np.array([1, 2, 3, 4])
    pick(source.ctypes.data, source.size, index.ctypes.data, result.ctypes.data, result.size)
    print("source[[1 2 3 4]] =", result, "not", source[index])


def exit_in_library():
    """A library that calls exit() ends Python: no exception, no finally, no saved work."""
    library = load("libgoes_wrong.so")
    print("before")
    try:
        library.launch_or_exit()
        print("after")
    finally:
        print("finally")


def printf_order():
    """Python and C each keep what they print in a buffer of their own: through a pipe the order is lost."""
    library = load("libgoes_wrong.so")
    print("1: Python, before")
    library.greet()
    print("3: Python, after")


def library_path():
    """The loader reads LD_LIBRARY_PATH when the process starts: later changes are not seen."""
    os.environ["LD_LIBRARY_PATH"] = HERE
    try:
        ctypes.CDLL("libmultiply.so")
    except OSError as error:
        print(error)


def fork():
    """CUDA does not survive a fork: the child has the parent's state, and no way to the GPU."""
    from multiply import CudaError, multiply

    warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of a fork with threads
    x = np.ones(3, np.float32)
    print("parent:", multiply(x, x))
    sys.stdout.flush()
    child = os.fork()  # what multiprocessing does with its start method "fork"
    if child == 0:
        try:
            print("child:", multiply(x, x))
        except CudaError as error:
            print("child:", error)
        sys.stdout.flush()
        os._exit(0)
    os.waitpid(child, 0)
    print("parent:", multiply(x, x))


FAILURES = [no_argtypes, freed, strided, int64_index, exit_in_library, printf_order, library_path, fork]

if __name__ == "__main__":
    wanted = [f for f in FAILURES if f.__name__ in sys.argv[1:2]]
    if not wanted:
        sys.exit("\n".join(f"{f.__name__:16} {f.__doc__}" for f in FAILURES))
    wanted[0]()
