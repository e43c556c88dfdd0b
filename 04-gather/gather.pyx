# cython: language_level=3, boundscheck=False
"""Gather at the hardware's speed: take(source, index) is numpy.take(source, index), on the GPU.

Build: make build
Run:   python3 -c "import numpy as np, gather; print(gather.take(np.arange(5.), np.array([4, -5])))"

The arrays may lie anywhere: NumPy arrays; NumPy arrays in pinned memory (pinned_empty, pin); a
DeviceArray; or what has __cuda_array_interface__, as the arrays of CuPy, PyTorch, JAX and Numba have.
"""
import operator

import numpy as np

include "gather_view.pxi"
include "gather_cuda.pxi"
include "gather_memory.pxi"

cdef extern from "gather.cuh" nogil:
    int gather_launch(const gather_job *job, unsigned long long *first_bad)
    int gather(const gather_job *job, size_t *first_bad)

cdef dict modes = {"raise": GATHER_RAISE, "wrap": GATHER_WRAP, "clip": GATHER_CLIP}
cdef object int32 = np.dtype(np.int32), int64 = np.dtype(np.int64)


cdef View index_view(index):
    """Of the index: int32 and int64 as they are, other integers as int64, all else an exception."""
    if type(index) is not DeviceArray and not is_torch(index) and not hasattr(index, "__cuda_array_interface__"):
        if type(index) is not np.ndarray and not isinstance(index, np.ma.MaskedArray):
            index = np.asarray(index)
        if index.dtype != int32 and index.dtype != int64:
            if index.dtype == np.uint64 and index.size > 0 and index.max() > 2**63 - 1:
                raise OverflowError(f"index: {index.max()} does not fit into int64")
            # numpy.take takes [] too, which is float64
            if index.dtype.kind in "biu" or (index.size == 0 and index.dtype == np.float64):
                index = index.astype(np.int64)
    cdef View view = view_of("index", index)
    if view.dtype is not int32 and view.dtype is not int64 and view.dtype != int32 and view.dtype != int64:
        raise TypeError(f"index: int32 or int64 is taken, not {view.dtype}")
    return view


cdef bint overlap(View a, View b):
    return a.data < b.data + b.nbytes and b.data < a.data + a.nbytes


cdef object element(View view, size_t i):
    """The element i, wherever the array is."""
    value = np.empty(1, view.dtype)
    cdef View to = view_of("value", value)
    cdef int code
    with nogil:
        code = gather_copy(<void *>to.data, <void *>(view.data + i * to.nbytes), to.nbytes, NULL)
    check(code)
    return value[0]


def take(source, index, out=None, mode="raise", stream=None):
    """source[index] for a one-dimensional source, as numpy.take has it.

    source: M elements of 4 or 8 bytes, of any kind. index: integers, of any shape.
    out: an array of index's shape and source's dtype for the result, or None: then a new one is made,
    a DeviceArray if index lies on the device, else a NumPy array. Returns it.
    mode: what an index outside does. "raise": IndexError, and -M to -1 count from the end; "wrap":
    it is taken modulo M; "clip": it becomes 0 or M - 1.
    stream: where to work, as an int or an object with __cuda_stream__(); None: that of the arrays. It
    has to live as long as what was computed on it is used.
    With source, index and out on the device and mode "wrap" or "clip", take only launches, and whoever
    reads the result on that stream gets it; in all other cases it waits.
    Raises IndexError (then out is undefined if it is pinned or on the device, else as it was),
    TypeError, ValueError, OverflowError, MemoryError, CudaError.
    """
    cdef View s = view_of("source", source), i = index_view(index)
    cdef View o = None if out is None else view_of("out", out, True)
    handle = None if stream is None else stream_handle(stream)
    cdef int before = use_device_of(s, i, o)
    try:
        return take_views(s, i, o, out, mode, stream, handle)
    finally:
        use_device(before)


cdef take_views(View s, View i, View o, out, mode, stream, handle):
    cdef gather_job job
    cdef size_t first_bad = 0
    cdef int code
    if s.ndim != 1:
        raise ValueError(f"source: one dimension is taken, not {s.ndim}")
    if s.itemsize != 4 and s.itemsize != 8 or (s.array is not None and s.dtype.hasobject):
        raise TypeError(f"source: a dtype of 4 or 8 bytes is taken, not {s.dtype}")
    job_mode = modes.get(mode)
    if job_mode is None:
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")
    result, keep = out, out is not None
    if o is None:
        result = DeviceArray.empty(i.shape, s.dtype) if i.on_device else np.empty(i.shape, s.dtype)
        o = view_of("out", result)
        if i.size > 0:
            o.stream = i.stream
    else:
        if o.shape != i.shape:
            raise ValueError(f"out: the shape of index, {i.shape}, is taken, not {o.shape}")
        if o.dtype is not s.dtype and o.dtype != s.dtype:
            raise TypeError(f"out: {s.dtype} is taken, as the source has, not {o.dtype}")
        if overlap(o, s) or overlap(o, i):
            if o.on_device:
                raise ValueError("out: it overlaps with source or index")
            o, keep = view_of("out", np.empty(i.shape, s.dtype)), False  # copied to out at the end
    if i.size == 0:
        return result
    if s.size == 0:
        raise IndexError("cannot do a non-empty take from an empty axes.")

    job.N, job.M, job.mode = i.size, s.size, job_mode
    job.element_bytes, job.index_bytes, job.keep_result = s.itemsize, i.itemsize, keep
    kept = stream  # keeps the stream to work on alive
    if handle is None:
        kept = i.kept if i.stream else s.kept if s.stream else o.kept
    order_streams(&job, handle, s, i, o)
    bad = None
    cdef bint launches_only = o.on_device and s.on_device and i.on_device and job.mode != GATHER_RAISE
    if job.stream == <void *>2:  # each thread's own default stream: another thread could not wait for it
        launches_only = False
    # From here on the arrays stay: what another thread closed meanwhile is closed, and what it closes
    # now goes when this call is done with it.
    if s.closed or i.closed or o.closed:
        raise ValueError("source, index or out: this DeviceArray was closed meanwhile")
    if launches_only:
        job.source, job.index, job.result = <void *>s.data, <void *>i.data, <void *>o.data
        code = gather_launch(&job, NULL)
        let_wait(&job, s)
        let_wait(&job, i)
        if type(o) is DeviceArray:
            o.stream, o.kept = <size_t>job.stream, kept
        else:
            let_wait(&job, o)
    else:
        streams = kept, s.kept, i.kept, o.kept  # for this call, whatever other threads do with the arrays
        s.users += 1  # one after the other: two of them may be the same
        i.users += 1
        o.users += 1
        job.source, job.index, job.result = <void *>s.data, <void *>i.data, <void *>o.data
        with nogil:  # other Python threads go on while the GPU works
            code = gather(&job, &first_bad)
        try:
            if code == -1:
                bad = element(i, first_bad)
        finally:
            s.release(), i.release(), o.release()
        if out is None:
            o.stream = 0  # nothing is pending
    if code == -1:
        raise IndexError(f"index {bad} is out of bounds for axis 0 with size {s.size}")
    check(code, i.nbytes + o.nbytes + (0 if s.on_device else s.nbytes))
    if o.array is not None and o.array is not result:
        result[...] = o.array
    return result[()] if out is None and o.array is not None and o.ndim == 0 else result
