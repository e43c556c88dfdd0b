# cython: language_level=3, freethreading_compatible=True
"""Gather at the hardware's speed: take is numpy.take on the GPU, and add_at, its way back, is numpy.add.at.

Build: make build
Run:   python3 -c "import numpy as np, gather; print(gather.take(np.arange(5.), np.array([4, -5])))"

The arrays may lie anywhere: NumPy arrays; NumPy arrays in pinned memory (pinned_empty, pin); a DeviceArray;
or what has DLPack or __cuda_array_interface__, as the arrays of CuPy, PyTorch, JAX and Numba have.
All work is done on the current GPU; an array on another one is refused.
"""
import sys

import numpy as np

from cpython.number cimport PyNumber_Index

from cuda_error import CudaError
from dlpack cimport dtype_named
from gather_arrays cimport Array, let_wait, new_array
from gather_memory cimport INVALID_VALUE
from gather_interop cimport array_of, device_array_of, numpy_array
from gather_streams cimport check, current_gpu, wait_for
from gather_arrays import DeviceArray
from gather_pinned import pin, pinned_empty
from gather_streams import stream_handle

cdef dict modes = {"raise": GATHER_RAISE, "wrap": GATHER_WRAP, "clip": GATHER_CLIP}
cdef object int32 = np.dtype(np.int32), int64 = np.dtype(np.int64)
cdef dict numbers = {np.dtype(code): number for codes, number in (  # what add_at adds; a complex number is two
    ("fF", GATHER_FLOAT32), ("dD", GATHER_FLOAT64), ("e", GATHER_FLOAT16), ("iI", GATHER_INT32), ("lL", GATHER_INT64))
    for code in codes}
numbers[dtype_named("bfloat16")] = GATHER_BFLOAT16
cdef object AxisError = getattr(np, "exceptions", np).AxisError  # NumPy 1.24 has no np.exceptions


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


cdef tuple shape_taken(gather_job *job, Array src, Array idx, axis, int *d):
    """The shape of src.take(idx, axis), and what the kernel has to know of it. *d: the axis, counted from 0."""
    cdef Py_ssize_t k, ndim = max(len(src.shape), 1)
    job.outer, job.N, job.M, job.element_bytes, d[0] = 1, idx.size, src.size, src.itemsize, 0
    if axis is None:
        return idx.shape
    k = PyNumber_Index(axis)
    if not -ndim <= k < ndim:
        raise AxisError(axis, ndim)
    d[0] = k % ndim
    for k in range(d[0]):
        job.outer *= <size_t>src.shape[k]
    for k in range(d[0] + 1, ndim):
        job.element_bytes *= <size_t>src.shape[k]
    job.M = src.shape[d[0]] if src.shape else 1
    return idx.shape if ndim == 1 else src.shape[:d[0]] + idx.shape + src.shape[d[0] + 1:]


cdef new_result(source, tuple shape):
    """An array of the source's library for the result, in memory that the library has at hand. Else None."""
    if hasattr(source, "new_empty"):  # PyTorch
        return source.new_empty(shape)
    if type(source).__module__ == "cupy":
        return sys.modules["cupy"].empty(shape, source.dtype)
    return None


cdef from_dlpack_of(source):
    """The from_dlpack of the source's library; None if it has none, or is NumPy or this one."""
    if isinstance(source, (DeviceArray, np.ndarray)) or not hasattr(source, "__dlpack__"):
        return None
    if hasattr(source, "__array_namespace__"):  # JAX
        return source.__array_namespace__().from_dlpack
    return getattr(sys.modules.get(type(source).__module__.partition(".")[0]), "from_dlpack", None)


cdef Array result_array(out, Array src, Array idx, tuple shape):
    """Where the kernel is to write: in a new array, or in out; in a new one too if it cannot write there."""
    if out is None:
        return DeviceArray.empty(shape, src.dtype) if src.is_cuda else new_array(np.empty(shape, src.dtype))
    cdef Array res = array_of("out", out, writeable=True)
    if res.shape != shape:
        raise ValueError(f"out: the shape {shape} is taken, not {res.shape}")
    if res.dtype is not src.dtype and res.dtype != src.dtype:
        raise TypeError(f"out: {src.dtype} is taken, as the source has, not {res.dtype}")
    if not res.overlaps(src) and not res.overlaps(idx):
        return res
    if res.is_cuda:
        raise ValueError("out: it overlaps with source or index")
    return new_array(np.empty(shape, src.dtype))


cdef Array values_array(values, Array target, tuple shape):
    """What is added: as it is, if it lies on the GPU; else as NumPy would have it, of the target's dtype and of this shape."""
    cdef Array val = device_array_of("values", values, False)
    if val is None and not isinstance(values, np.ma.MaskedArray):  # which array_of refuses
        is_number = type(values) in (int, float, complex) and target.dtype.kind in "fiuc"
        values = np.asarray(values, target.dtype if is_number else None) if is_number else numpy_array("values", values)
        if np.can_cast(values.dtype, target.dtype):  # without a loss
            values = np.broadcast_to(values.astype(target.dtype, copy=False), shape)
    if val is None:
        val = array_of("values", values)
    if val.dtype != target.dtype:
        raise TypeError(f"values: {target.dtype} is taken, as the target has, not {val.dtype}")
    if val.shape != shape:
        raise ValueError(f"values: the shape {shape} is taken, not {val.shape}")
    if val.is_cuda and target.is_cuda and target.overlaps(val):
        raise ValueError("target: it overlaps with index or values")
    return val


cdef int check_gpu(str name, Array array, int current) except -1:
    if array.gpu != current and array.gpu >= 0:
        raise ValueError(f"{name}: it lies on GPU {array.gpu}, and GPU {current} is the current one: make the other one "
                         f"current, as cupy.cuda.Device({array.gpu}).use() or torch.cuda.set_device({array.gpu}) do")
    return 0


cdef gather_mode mode_of(mode) except *:
    if not isinstance(mode, str) or mode not in modes:
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")
    return modes[mode]


cdef int write_back(str name, x, Array array) except -1:
    """Copies what a NumPy array could not get directly, because it is strided, or overlaps with what was read."""
    if not array.is_cuda:
        x = numpy_array(name, x)
        if not np.may_share_memory(x, array.owner):
            x[...] = array.owner
    return 0


def take(source, index, axis=None, out=None, mode="raise", stream=None):
    """numpy.take(source, index, axis) on the GPU: source[index], or the same along an axis.

    source: of any shape and dtype but objects. index: integers, of any shape.
    axis: the one that is indexed; None: the source is taken as if it had one dimension.
    out: an array for the result, of its shape and the source's dtype, or None: then a new one is made, of the
    source's kind: NumPy's, a DeviceArray, or that of the library that has made the source. Returns it.
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
    cdef Array src = array_of("source", source), idx = index_array(index)
    cdef gather_job job
    cdef int d
    job.mode = mode_of(mode)
    shape = shape_taken(&job, src, idx, axis, &d)
    if out is None:
        out = new_result(source, shape)
    handle = None if stream is None else stream_handle(stream)
    cdef Array res = result_array(out, src, idx, shape)
    work("source", src, idx, "out", res, res, &job, d, -1, handle, stream)
    if out is not None:
        write_back("out", out, res)
        return out
    result, from_dlpack = res if res.is_cuda else res.owner, from_dlpack_of(source)
    if from_dlpack is not None:
        return from_dlpack(result)
    return result if res.is_cuda or shape else result[()]


def add_at(target, index, values, axis=0, mode="raise", stream=None):
    """numpy.add.at(target, index, values) on the GPU: target[index] += values, for equal indices each time.

    It is the way back of take(target, index, axis), and target, index, axis, mode and stream are as there.
    target: a writeable array of float16, float32, float64, complex64, complex128, integers of 4 or 8 bytes or, by
    DLPack, bfloat16. values: of the target's dtype, in the shape that take gives; in the host's memory also what
    NumPy makes that of, such as a number.
    A sum of floats may differ in its last digits from call to call: the order of the additions is not fixed. In float32
    and complex64, a GPU adds what is nearer to 0 than 2**-126 as 0.
    With all three on the device, whose libraries name a stream, and mode "wrap" or "clip", add_at only launches;
    else it waits. After an IndexError the target is as it was.
    Raises IndexError, TypeError, ValueError, OverflowError, MemoryError, CudaError.
    """
    cdef Array tgt = array_of("target", target, writeable=True), idx = index_array(index)
    cdef gather_job job
    cdef int d
    job.mode = mode_of(mode)
    if tgt.dtype not in numbers:
        raise TypeError(f"target: float16, float32, float64, complex64, complex128, or integers of 4 or 8 bytes are taken, not {tgt.dtype}")
    shape = shape_taken(&job, tgt, idx, axis, &d)
    handle = None if stream is None else stream_handle(stream)
    cdef Array val = values_array(values, tgt, shape)
    if tgt.is_cuda and tgt.overlaps(idx):
        raise ValueError("target: it overlaps with index or values")
    work("target", tgt, idx, "values", val, tgt, &job, d, numbers[tgt.dtype], handle, stream)
    write_back("target", target, tgt)


cdef work(str a, Array src, Array idx, str b, Array res, Array written, gather_job *job, int axis, int number,
          handle, stream_owner):
    """A gather, or with a number's type its way back, from the arrays named a, index and b. handle: None, or the stream."""
    cdef Array array
    cdef size_t first_bad = 0, named_stream
    cdef int code, current = current_gpu()
    check_gpu(a, src, current)
    check_gpu("index", idx, current)
    check_gpu(b, res, current)
    if handle is None:
        array = idx if idx.stream else src if src.stream else res
        stream_owner = array.get_stream(&named_stream)
        handle = named_stream
    if job.N == 0 or job.outer == 0:
        return
    if job.M == 0 and job.element_bytes > 0:
        raise IndexError("cannot do a non-empty take from an empty axes.")
    cdef void *stream = <void *><size_t>handle
    job.source, job.index, job.result = src.memory, idx.memory, res.memory
    job.index_bytes, job.stream = idx.itemsize, stream
    for array in (src, idx, res):
        if array.is_cuda:
            let_wait(stream, array)
    # Stream 2 is another one in each thread: nobody else could wait for a launch there.
    must_wait = src.must_wait or idx.must_wait or res.must_wait or job.mode == GATHER_RAISE or stream == <void *>2
    if src.gpu >= 0 and idx.gpu >= 0 and res.gpu >= 0 and not must_wait:
        with nogil:
            code = gather_launch(job, NULL) if number < 0 else gather_add_launch(job, <gather_number>number)
        check(code)
        for array in (src, idx, res):
            if array is written and type(array) is DeviceArray:
                array.set_stream(<size_t>stream, stream_owner)
            else:
                hand_back(stream, array)
        return
    with nogil:  # other Python threads go on while the GPU works
        code = gather(job, &first_bad) if number < 0 else gather_add(job, <gather_number>number, &first_bad)
    if code == 0:
        return
    if code == -1:
        raise IndexError(f"index {idx.element(first_bad)} is out of bounds for axis {axis} with size {job.M}")
    arrays = (a, src), ("index", idx), (b, res)
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


cdef int hand_back(void *stream, Array array) except -1:
    """After a launch on `stream`: whoever goes on with the array on its own stream comes after it."""
    cdef size_t own
    stream_owner = array.get_stream(&own)  # lives until this is done
    return wait_for(<void *>own, stream)
