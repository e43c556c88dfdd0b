# cython: language_level=3, boundscheck=False
"""Gather at the hardware's speed: take(source, index) is numpy.take(source, index), on the GPU.

Build: make build
Run:   python3 -c "import numpy as np, gather; print(gather.take(np.arange(5.), np.array([4, -5])))"

The arrays may lie anywhere: NumPy arrays; NumPy arrays in pinned memory (pinned_empty, pin); a
DeviceArray; or what has __cuda_array_interface__, as the arrays of CuPy, PyTorch, JAX and Numba have.
"""
import numpy as np

include "gather_view.pxi"
include "gather_memory.pxi"

cdef extern from "gather.cuh" nogil:
    enum gather_mode:
        GATHER_RAISE, GATHER_WRAP, GATHER_CLIP
    struct gather_job:
        const void *source
        const void *index
        void *result
        size_t N, M
        int element_bytes, index_bytes
        gather_mode mode
        void *stream
        unsigned long long *flag
    int gather_launch(const gather_job *job, unsigned long long *first_bad)
    int gather(const gather_job *job, size_t *first_bad)
    int gather_wait_for(void *stream, void *other)

_flag = None  # pinned memory in which the kernel says that an index was bad; freed with the module
cdef dict modes = {"raise": GATHER_RAISE, "wrap": GATHER_WRAP, "clip": GATHER_CLIP}
cdef object int32 = np.dtype(np.int32), int64 = np.dtype(np.int64)


cdef View index_view(index):
    """Of the index: int32 and int64 as they are, narrower integers as int64, all else a TypeError."""
    if type(index) is not np.ndarray and type(index) is not DeviceArray:
        if not is_torch(index) and not hasattr(index, "__cuda_array_interface__"):
            index = np.asarray(index)
            if index.size == 0 and index.dtype == np.float64:  # numpy.take takes [] too
                index = index.astype(np.int64)
    cdef View view = view_of("index", index)
    if view.array is not None and view.dtype != int32 and view.dtype != int64:
        if view.dtype.kind in "iu" and np.can_cast(view.dtype, np.int64):
            view = view_of("index", view.array.astype(np.int64))
    if view.dtype != int32 and view.dtype != int64:
        raise TypeError(f"index: int32 or int64 is taken, not {view.dtype}")
    return view


cdef int order_streams(gather_job *job, object stream, View source, View index, View out) except -1:
    """The stream to work on, told or an array's own; it waits for what the others have pending."""
    cdef View view
    if stream is not None:
        job.stream = <void *><size_t>stream_handle(stream)
    elif source.stream == index.stream == out.stream:
        job.stream = <void *>source.stream
        return 0
    else:
        job.stream = NULL
    for view in (source, index, out):
        if view.on_device and <void *>view.stream != job.stream:
            check(gather_wait_for(job.stream, <void *>view.stream))
    return 0


cdef bint overlap(View a, View b):
    return a.data < b.data + b.nbytes and b.data < a.data + a.nbytes


cdef object element(View view, size_t i):
    """The element i, wherever the array is."""
    value = np.empty(1, view.dtype)
    cdef View to = view_of("value", value)
    check(gather_copy(<void *>to.data, <void *>(view.data + i * to.nbytes), to.nbytes, NULL))
    return value[0]


def take(source, index, out=None, mode="raise", stream=None):
    """source[index] for a one-dimensional source, as numpy.take has it.

    source: M elements of 4 or 8 bytes, of any kind. index: integers, of any shape.
    out: an array of index's shape and source's dtype for the result, or None: then a new one is made,
    a DeviceArray if index lies on the device, else a NumPy array. Returns it.
    mode: what an index outside does. "raise": IndexError, and -M to -1 count from the end; "wrap":
    it is taken modulo M; "clip": it becomes 0 or M - 1.
    stream: where to work, as an int or an object with __cuda_stream__(); None: that of the arrays.
    With source, index and out on the device and mode "wrap" or "clip", take only launches, and whoever
    reads the result on that stream gets it; in all other cases it waits.
    Raises IndexError (then out is undefined if it is pinned or on the device, else as it was),
    TypeError, ValueError, MemoryError, CudaError.
    """
    global _flag
    cdef View s = view_of("source", source), i = index_view(index), o
    cdef gather_job job
    cdef size_t first_bad = 0
    cdef int code
    if s.ndim != 1:
        raise ValueError(f"source: one dimension is taken, not {s.ndim}")
    if s.itemsize != 4 and s.itemsize != 8 or s.dtype.hasobject:
        raise TypeError(f"source: a dtype of 4 or 8 bytes is taken, not {s.dtype}")
    job_mode = modes.get(mode)
    if job_mode is None:
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")
    if out is None:
        result = DeviceArray.empty(i.shape, s.dtype) if i.on_device else np.empty(i.shape, s.dtype)
        o = view_of("out", result)
    else:
        result, o = out, view_of("out", out, True)
        if o.shape != i.shape:
            raise ValueError(f"out: the shape of index, {i.shape}, is taken, not {o.shape}")
        if o.dtype != s.dtype:
            raise TypeError(f"out: {s.dtype} is taken, as the source has, not {o.dtype}")
        if overlap(o, s) or overlap(o, i):
            if o.on_device:
                raise ValueError("out: it overlaps with source or index")
            o = view_of("out", np.empty(i.shape, s.dtype))  # copied to out at the end
    if i.size == 0:
        return result
    if s.size == 0:
        raise IndexError("cannot do a non-empty take from an empty axes.")

    job.source, job.index, job.result = <void *>s.data, <void *>i.data, <void *>o.data
    job.N, job.M, job.mode = i.size, s.size, job_mode
    job.element_bytes, job.index_bytes = s.itemsize, i.itemsize
    job.flag = NULL
    order_streams(&job, stream, s, i, o)
    if o.on_device and s.on_device and i.on_device and job.mode != GATHER_RAISE:
        code = gather_launch(&job, NULL)
    else:
        if _flag is None:
            _flag = PinnedMemory(8)
        job.flag = <unsigned long long *>(<PinnedMemory>_flag).data
        s.users, i.users, o.users = s.users + 1, i.users + 1, o.users + 1
        with nogil:  # other Python threads go on while the GPU works
            code = gather(&job, &first_bad)
        s.release(), i.release(), o.release()
    if code == -1:
        bad = element(i, first_bad)
        raise IndexError(f"index {bad} is out of bounds for axis 0 with size {s.size}")
    check(code, i.nbytes + o.nbytes + (0 if s.on_device else s.nbytes))
    if type(result) is DeviceArray:
        (<DeviceArray>result).stream = <size_t>job.stream
    elif o.array is not None and o.array is not result:
        result[...] = o.array
    return result
