# cython: language_level=3, freethreading_compatible=True
"""Streams, the current GPU, and the exception for a code of libgather.so.

Build: make build
Run:   python3 -c "import gather_streams as g; print(g.stream_handle(0))"
"""
import operator

from cuda_error import exception_for
from gather_memory cimport gather_current_device, gather_error_name, gather_error_text, gather_wait_for


cdef int check(int code, size_t wanted=0) except -1:
    if code != 0:
        raise exception_for(code, gather_error_name(code).decode(), gather_error_text(code).decode(), wanted)
    return 0


def stream_handle(stream, name="stream"):
    """A stream as an int: one already, or an object with __cuda_stream__(), as cuda.core has them."""
    try:
        _, handle = stream.__cuda_stream__() if hasattr(stream, "__cuda_stream__") else (0, stream)
        handle = operator.index(handle)
    except (TypeError, ValueError):
        raise TypeError(f"{name}: an int or what has __cuda_stream__() is taken, not {stream!r}") from None
    if not 0 <= handle < 2**64:
        raise ValueError(f"{name}: {handle} is no stream")
    return 0 if handle == 1 else handle  # 1: the default stream


cdef int wait_for(void *stream, void *other) except -1:
    """What is put on `stream` from now on comes after what is pending on `other`."""
    cdef int code = 0
    if stream != other:
        with nogil:
            code = gather_wait_for(stream, other)
    return check(code)


cdef int current_gpu() except -1:
    cdef int number, code
    with nogil:
        code = gather_current_device(&number)
    check(code)
    return number
