# cython: language_level=3, freethreading_compatible=True
"""The smallest module that calls a C function of a library. hello.pyx has all that belongs to it.

Build: make build
Run:   python3 -c "import smallest; print(smallest.run_cuda())"
"""
from posix.dlfcn cimport RTLD_NOW, dlopen, dlsym

ctypedef int (*status_function)() noexcept


def run_cuda():
    """Prints the greeting of libhello.so. Returns 0, or the code of the CUDA call that failed."""
    cdef void *library = dlopen("./libhello.so", RTLD_NOW)
    if library == NULL:
        raise OSError("no ./libhello.so in this folder")
    cdef void *address = dlsym(library, "hello_from_gpu")
    if address == NULL:
        raise AttributeError("no hello_from_gpu in libhello.so")
    cdef status_function hello_from_gpu = <status_function>address
    return hello_from_gpu()
