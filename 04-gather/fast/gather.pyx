# cython: language_level=3, freethreading_compatible=True
"""Gather at the hardware's speed: take(source, index) is numpy.take(source, index), on the GPU.

Build: make build
Run:   python3 -c "import numpy as np, gather; print(gather.take(np.arange(5.), np.array([4, -5])))"

The arrays may lie anywhere: NumPy arrays; NumPy arrays in pinned memory (pinned_empty, pin); a DeviceArray;
or what has DLPack or __cuda_array_interface__, as the arrays of CuPy, PyTorch, JAX and Numba have.
All work is done on the current GPU; an array on another one is refused.
"""
import numpy as np

from cuda_error import CudaError
from gather_arrays cimport Array, let_wait, new_array
from gather_memory cimport INVALID_VALUE
from gather_interop cimport array_of, device_array_of, numpy_array
from gather_streams cimport check, current_gpu, wait_for
from gather_arrays import DeviceArray
from gather_pinned import pin, pinned_empty
from gather_streams import stream_handle

cdef dict modes = {"raise": GATHER_RAISE, "wrap": GATHER_WRAP, "clip": GATHER_CLIP}
cdef object int32 = np.dtype(np.int32), int64 = np.dtype(np.int64)


cdef Array index_array(index):
    """The index: int32 and int64 as they are, other integers of NumPy's as int64, all else an exception."""
    cdef Array array = device_array_of("index", index, False)
    if array is None:
        array = array_of("index", as_int64(index))
    if array.dtype is not int32 and array.dtype is not int64 and array.dtype != int32 and array.dtype != int64:
        raise TypeError(f"index: int32 or int64 is taken, not {array.dtype}")
    return array


cdef as_int64(index):
    """What numpy.take takes as well: bool, integers of other sizes, lists, and [], which is float64."""
    if isinstance(index, np.ma.MaskedArray):
        return index  # array_of refuses it
    index = numpy_array("index", index)
    if index.dtype.kind == "u" and index.itemsize == 8 and index.size > 0 and index.max() > 2**63 - 1:
        raise OverflowError(f"index: {index.max()} does not fit into int64")
    if (index.dtype.kind in "biu" and index.dtype != int32) or (index.size == 0 and index.dtype == np.float64):
        return index.astype(np.int64, copy=False)
    return index


cdef Array result_array(out, Array src, Array idx):
    """Where the kernel is to write: in a new array, or in out; in a new one too if it cannot write there."""
    if out is None:
        return DeviceArray.empty(idx.shape, src.dtype) if idx.is_cuda else new_array(np.empty(idx.shape, src.dtype))
    cdef Array res = array_of("out", out, writeable=True)
    if res.shape != idx.shape:
        raise ValueError(f"out: the shape of index, {idx.shape}, is taken, not {res.shape}")
    if res.dtype is not src.dtype and res.dtype != src.dtype:
        raise TypeError(f"out: {src.dtype} is taken, as the source has, not {res.dtype}")
    if not res.overlaps(src) and not res.overlaps(idx):
        return res
    if res.is_cuda:
        raise ValueError("out: it overlaps with source or index")
    return new_array(np.empty(idx.shape, src.dtype))


cdef int check_gpu(str name, Array array, int current) except -1:
    if array.gpu != current and array.gpu >= 0:
        raise ValueError(f"{name}: it lies on GPU {array.gpu}, and GPU {current} is the current one: make the other one "
                         f"current, as cupy.cuda.Device({array.gpu}).use() or torch.cuda.set_device({array.gpu}) do")
    return 0


cdef int hand_back(void *stream, Array array) except -1:
    """After a launch on `stream`: whoever goes on with the array on its own stream comes after it."""
    cdef size_t own
    stream_owner = array.get_stream(&own)  # lives until this is done
    return wait_for(<void *>own, stream)


def take(source, index, out=None, mode="raise", stream=None):
    """source[index] for a one-dimensional source, as numpy.take has it.

    source: M elements of 4 or 8 bytes, of any kind. index: integers, of any shape.
    out: an array of index's shape and source's dtype for the result, or None: then a new one is made,
    a DeviceArray if index lies on the device, else a NumPy array. Returns it.
    mode: what an index outside does. "raise": IndexError, and -M to -1 count from the end; "wrap":
    it is taken modulo M; "clip": it becomes 0 or M - 1.
    stream: where to work, as an int or an object with __cuda_stream__(); None: the one that an array
    names (PyTorch's: its current one), else the default stream. It has to live as long as what was
    computed on it is used.
    With source, index and out on the device, whose libraries name a stream, and mode "wrap" or "clip", take
    only launches, and whoever reads the result on that stream gets it; in all other cases it waits.
    Raises IndexError (then out is undefined if it is pinned or on the device, else as it was),
    TypeError, ValueError, OverflowError, MemoryError, CudaError.
    """
    cdef Array src = array_of("source", source), idx = index_array(index), named
    cdef size_t named_stream
    if len(src.shape) != 1:
        raise ValueError(f"source: one dimension is taken, not {len(src.shape)}")
    if src.itemsize != 4 and src.itemsize != 8:
        raise TypeError(f"source: a dtype of 4 or 8 bytes is taken, not {src.dtype}")
    if not isinstance(mode, str) or mode not in modes:
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")
    handle = None if stream is None else stream_handle(stream)
    cdef Array res = result_array(out, src, idx)
    cdef int current = current_gpu()
    check_gpu("source", src, current)
    check_gpu("index", idx, current)
    check_gpu("out", res, current)

    if handle is None:
        named = idx if idx.stream else src if src.stream else res
        stream = named.get_stream(&named_stream)
        handle = named_stream
    if idx.size > 0:
        if src.size == 0:
            raise IndexError("cannot do a non-empty take from an empty axes.")
        gather_into(src, idx, res, modes[mode], <void *><size_t>handle, stream)
    if type(res) is DeviceArray:
        return res
    if out is None:
        return res.owner[()] if res.shape == () else res.owner
    if not res.is_cuda:
        array = numpy_array("out", out)
        if not np.may_share_memory(array, res.owner):
            array[...] = res.owner
    return out


cdef gather_into(Array src, Array idx, Array res, gather_mode mode, void *stream, stream_owner):
    cdef gather_job job
    cdef size_t first_bad = 0
    cdef int code
    cdef Array array
    job.source, job.index, job.result = src.memory, idx.memory, res.memory
    job.N, job.M, job.element_bytes, job.index_bytes = idx.size, src.size, src.itemsize, idx.itemsize
    job.mode, job.stream = mode, stream
    for array in (src, idx, res):
        if array.is_cuda:
            let_wait(stream, array)
    # Stream 2 is another one in each thread: nobody else could wait for a launch there.
    must_wait = src.must_wait or idx.must_wait or res.must_wait or mode == GATHER_RAISE or stream == <void *>2
    if src.gpu >= 0 and idx.gpu >= 0 and res.gpu >= 0 and not must_wait:
        with nogil:
            code = gather_launch(&job, NULL)
        check(code)
        hand_back(stream, src)
        hand_back(stream, idx)
        if type(res) is DeviceArray:
            res.set_stream(<size_t>stream, stream_owner)
        else:
            hand_back(stream, res)
        return
    with nogil:  # other Python threads go on while the GPU works
        code = gather(&job, &first_bad)
    if code == 0:
        return
    if code == -1:
        raise IndexError(f"index {idx.element(first_bad)} is out of bounds for axis 0 with size {src.size}")
    arrays = ("source", src), ("index", idx), ("out", res)
    copied = {name: array.nbytes for name, array in arrays if array.memory.device == NULL}
    try:
        check(code, sum(copied.values()))
    except MemoryError as error:
        raise MemoryError(f"{error}: pin them, and the kernel works on them where they are") from None
    except CudaError as error:
        if code == INVALID_VALUE and copied:
            raise ValueError(f"{' or '.join(copied)}: CUDA cannot copy it. "
                             "Is it pinned only in part? Pin the whole array") from error
        raise
