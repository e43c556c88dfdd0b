"""Each CUDA call of the stages' libraries fails in turn, until a run has no failure left: its code or an exception comes, out
is as it was, nothing stays allocated, and no error is left behind. At the end: an older error, which somebody else left
behind, is not taken for a call's own. For the stand-in's libraries."""

import ctypes
import itertools
import os
import sys
import tempfile

import four_ways
import gather
import multiply
import numpy as np
from device_array import DeviceArray, multiply as on_device
from gather import pin, take
from wrapper import CudaError, cuda_gather

runtime = ctypes.CDLL("libcpu_cuda.so")  # one runtime for all, as with a shared libcudart
vector_add = ctypes.CDLL("02-dlopen-from-c/libvector_add.so").vector_add
hello = ctypes.CDLL("02-dlopen-from-c/libhello.so").hello_from_gpu


def each_failing_call(run, code):
    """Calls run() again and again, each time in a process of its own, in which the k-th CUDA call fails with `code`.

    run() returns a word. Prints the different words, and the one of the run in which nothing failed; what is left
    allocated, a crash or an exception is told too. CUDA must not have been used before.
    """
    words = []
    for k in itertools.count(1):
        with tempfile.TemporaryFile("w+") as complaints, tempfile.TemporaryFile("w+") as said:
            sys.stdout.flush()
            child = os.fork()
            if child == 0:
                os.dup2(complaints.fileno(), 2)
                os.environ.update(CPU_CUDA_FAIL=str(k), CPU_CUDA_FAIL_CODE=str(code), CPU_CUDA_LEAKS="1")
                said.write(run())
                said.flush()
                sys.exit()  # the stand-in looks what was not freed
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            complaints.seek(0), said.seek(0)
            text, word = complaints.read(), said.read()
        if status != 0 and f"call {k}, cudaEventDestroy, fails" not in text:  # then the event stays
            print(f"call {k}: exit status {status}\n{text}")
        if f"CPU_CUDA_FAIL: call {k}, " not in text:
            break
        words.append(word)
    print(f"  {code}:", *sorted(set(words)), "| without a failure:", word, flush=True)


def checked(code):
    if code != 0:
        raise CudaError(code, "code", "of a C function")


def add(out):
    checked(vector_add(x.ctypes, out.ctypes, out.size))
    for refused in (None, out.ctypes, 300), (x.ctypes, None, 300), (x.ctypes, out.ctypes, -1):
        assert vector_add(*refused) == 1
    assert vector_add(None, None, 0) == 0
    return out


def on_the_device(out):
    d_x = DeviceArray(x)
    on_device(d_x, d_x, d_x)
    return d_x.get()


def way(multiply_by):
    return lambda out: (multiply_by(x, x, out), out)[1]


def pinned_for_a_while(out):
    with pin(source):
        return take(source, few)


def on_another_stream(out):
    stream = ctypes.c_void_p()
    if runtime.cudaStreamCreate(ctypes.byref(stream)) != 0:
        raise MemoryError(runtime.cudaGetLastError())
    try:
        return take(gather.DeviceArray(source), gather.DeviceArray(few), mode="wrap", stream=stream.value).get()
    finally:
        while runtime.cudaStreamDestroy(stream) != 0:  # it fails, too
            runtime.cudaGetLastError()


x, backwards, source = np.full(300, 3, "f"), np.arange(299, -1, -1), np.arange(1 << 15, dtype="f")
few, many = np.arange(1000) * 17, np.resize(np.arange(1000) * 17, 1 << 17)
odd = np.zeros(1201, np.uint8)[1:].view("f")  # at an address that 4 does not divide
TRIED = {  # what is called with out, the result, out if it is another than new zeros
    "vector_add": (add, x, None),
    "multiply": (lambda out: multiply.multiply(x, x, out), x * x, None),
    "multiply, strided out": (lambda out: multiply.multiply(x, x, out), x * x, np.zeros(900, "f")[::-3]),
    "multiply, odd out": (lambda out: multiply.multiply(x, x, out), x * x, odd),
    "DeviceArray": (on_the_device, x * x, None),
    **{w: (way(getattr(four_ways, w)), x * x, None) for w in ("by_ctypes", "by_ndpointer", "by_linking", "by_dlopen")},
    "cuda_gather": (lambda out: cuda_gather(source, backwards), source[299::-1], None),
    # many indices are copied: then what fails may be the copy of the result itself, or the wait for it
    "take, many": (lambda out: take(source, many, out), source[many], None),
    "take, again": (lambda out: (take(source, few), take(source, few, out))[1], source[few], None),
    "take, pinned": (pinned_for_a_while, source[few], None),
    "take, launched": (
        lambda out: take(gather.DeviceArray(source), gather.DeviceArray(few), mode="wrap").get(),
        source[few],
        None,
    ),
    "take, two streams": (on_another_stream, source[few], None),
}
for name, (call, expected, out) in TRIED.items():
    out = np.zeros_like(expected) if out is None else out

    def run():
        try:
            return "right" if np.array_equal(call(out), expected) else "WRONG"
        except (CudaError, MemoryError) as error:
            if runtime.cudaPeekAtLastError() != 0:
                return "LEFT BEHIND"
            return "CHANGED out" if out.any() else f"[{type(error).__name__}: {error}]"

    print(name)
    for code in (2,) if name.startswith("take") else (700,) if name.startswith("by_") else (2, 700):
        each_failing_call(run, code)

TRIED["hello"] = (lambda out: hello(), 0, None)
for name, (call, expected, out) in TRIED.items():
    out = np.zeros_like(expected) if out is None else out
    before = runtime.cudaSetDevice(99), runtime.cudaPeekAtLastError()
    if before != (101, 101) or not np.array_equal(call(out), expected) or runtime.cudaGetLastError() != 0:
        print(name, "takes an older error for its own, or leaves it")
