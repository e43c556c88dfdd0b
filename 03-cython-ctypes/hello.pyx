# cython: language_level=3, freethreading_compatible=True
"""Two ways from Python to the same C function: by ctypes, and by C's own dlopen inside Cython.

Build: make build
Run:   python3 -c "import hello; hello.run_cuda()"
       python3 -c "import hello; hello.run_cuda_dlopen()"
"""
import ctypes
import os
import sys

from posix.dlfcn cimport RTLD_NOW, dlerror, dlopen, dlsym

from cuda_error import CudaError


def find_library(name="libhello.so"):
    """The path of the library `name`, which lies beside this module.

    If HELLO_LIBRARY_PATH is set, it is looked for there and nowhere else: in a folder, or in
    several with ":" between them. Raises FileNotFoundError, which lists the paths tried.
    """
    elsewhere = os.environ.get("HELLO_LIBRARY_PATH", "")
    folders = [folder for folder in elsewhere.split(":") if folder] or [os.path.dirname(os.path.abspath(__file__))]
    tried = [os.path.join(folder, name) for folder in folders]
    for path in tried:
        if os.path.isfile(path):
            return path
    raise FileNotFoundError(
        f"{name} is not there; tried: {', '.join(tried)}"
        " (HELLO_LIBRARY_PATH names other folders)")


def run_cuda():
    """Prints the greeting of libhello.so three times, by ctypes.

    Raises FileNotFoundError, OSError (no library), AttributeError (not that function) or CudaError.
    """
    library = ctypes.CDLL(find_library())
    hello_from_gpu = library.hello_from_gpu
    error_name, error_text = library.hello_error_name, library.hello_error_text
    # Left out, ctypes takes every argument and every result for a C int, and cuts a pointer in two.
    hello_from_gpu.argtypes, hello_from_gpu.restype = [], ctypes.c_int
    error_name.argtypes, error_name.restype = [ctypes.c_int], ctypes.c_char_p
    error_text.argtypes, error_text.restype = [ctypes.c_int], ctypes.c_char_p
    sys.stdout.flush()  # the greeting is printed by C, which has a buffer of its own
    code = hello_from_gpu()
    if code != 0:
        name, text = error_name(code) or b"no name", error_text(code) or b"no text"  # NULL comes as None
        raise CudaError(code, name.decode(), text.decode())
    print("Load cuda function successfully!")


ctypedef int (*status_function)() noexcept nogil
ctypedef const char *(*text_function)(int) noexcept nogil

cdef void *library = NULL  # opened once, never closed: it lives as long as this module


cdef void *find_symbol(const char *name) except NULL:
    cdef void *symbol = dlsym(library, name)
    cdef const char *error
    if symbol == NULL:
        error = dlerror()
        raise AttributeError(os.fsdecode(error) if error != NULL else f"{name.decode()} is NULL")
    return symbol


def run_cuda_dlopen():
    """The same by dlopen and dlsym, as in stage 02. Raises the same exceptions."""
    global library
    cdef void *opened
    cdef status_function hello_from_gpu
    cdef text_function error_name, error_text
    cdef const char *name
    cdef const char *text
    cdef int code
    if library == NULL:
        path = os.fsencode(find_library())
        opened = dlopen(path, RTLD_NOW)
        if opened == NULL:
            raise OSError(os.fsdecode(dlerror()))
        library = opened
    hello_from_gpu = <status_function>find_symbol("hello_from_gpu")
    error_name = <text_function>find_symbol("hello_error_name")
    error_text = <text_function>find_symbol("hello_error_text")
    sys.stdout.flush()
    with nogil:  # other Python threads go on while the GPU works
        code = hello_from_gpu()
    if code != 0:
        name, text = error_name(code), error_text(code)
        raise CudaError(code, name.decode() if name != NULL else "no name", text.decode() if text != NULL else "no text")
    print("Load cuda function successfully!")
