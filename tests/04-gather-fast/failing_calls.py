"""Whichever CUDA call of take and add_at fails: an exception comes, out is as it was (but for the copy of the result itself), nothing stays.
See failing.py."""

import ctypes

import failing
import numpy as np
from gather import CudaError, DeviceArray, add_at, pin, take

runtime = ctypes.CDLL("libcpu_cuda.so")


def pinned_for_a_while(out):
    with pin(source):
        return take(source, few)


def on_another_stream(out):
    stream = ctypes.c_void_p()
    if runtime.cudaStreamCreate(ctypes.byref(stream)) != 0:
        raise MemoryError(runtime.cudaGetLastError())
    try:
        return take(DeviceArray(source), DeviceArray(few), mode="wrap", stream=stream.value).get()
    finally:
        while runtime.cudaStreamDestroy(stream) != 0:  # it fails, too
            runtime.cudaGetLastError()


def added_on_the_device(out):
    target = DeviceArray(out)
    add_at(target, DeviceArray(few), DeviceArray(np.ones(1000, "f")), mode="wrap")
    return target.get()


source, few = np.arange(1 << 15, dtype="f"), np.arange(1000) * 17
many = np.resize(few, 1 << 17)  # which are copied: then what fails may be the copy of the result, or the wait for it
counts, counts_of_many = (np.bincount(index, minlength=source.size).astype("f") for index in (few, many))
TRIED = {
    "take, many": (lambda out: take(source, many, out=out), source[many], None),
    "take, again": (lambda out: (take(source, few), take(source, few, out=out))[1], source[few], None),
    "take, pinned": (pinned_for_a_while, source[few], None),
    "take, launched": (lambda out: take(DeviceArray(source), DeviceArray(few), mode="wrap").get(), source[few], None),
    "take, rows": (
        lambda out: take(source.reshape(-1, 8), few % 4096, 0, out),
        source.reshape(-1, 8)[few % 4096],
        None,
    ),
    "add_at": (lambda out: add_at(out, few, 1) or out, counts, None),
    "add_at, many": (lambda out: add_at(out, many, np.ones(many.shape, "f"), mode="clip") or out, counts_of_many, None),
    "add_at, launched": (added_on_the_device, counts, None),
    "take, two streams": (on_another_stream, source[few], None),
}
failing.all_fail(TRIED, (2,), (CudaError, MemoryError))
failing.none_takes_an_older_error(TRIED)
