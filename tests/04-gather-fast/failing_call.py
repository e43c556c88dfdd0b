"""Whichever CUDA call of take fails, an exception comes, and nothing stays. out is as it was, unless what fails is the
copy of the result itself, or the wait for it: so of many indices, which are copied. No error is left behind, and an older one,
of somebody else, is not taken for this call's."""

import ctypes

import numpy as np
from failing_calls import each_failing_call
from gather import CudaError, DeviceArray, pin, take

runtime = ctypes.CDLL("libcpu_cuda.so")  # one runtime for all, as with a shared libcudart
x = np.arange(1 << 15, dtype=np.float32)
few, many = np.arange(1000) * 17, np.resize(np.arange(1000) * 17, 1 << 17)


def tried(name, index, call):
    out = np.full(index.size, -1, np.float32)

    def run():
        try:
            result = call(out)
            return "right" if (result == x[index]).all() else "WRONG"
        except (CudaError, MemoryError) as error:
            if runtime.cudaPeekAtLastError() != 0:
                return "LEFT BEHIND"
            return type(error).__name__ if (out == -1).all() else "CHANGED out"

    print(name, end=": ", flush=True)
    each_failing_call(run)


def pinned_for_a_while(out):
    with pin(x):
        return take(x, few)


def on_another_stream(out):
    stream = ctypes.c_void_p()
    if runtime.cudaStreamCreate(ctypes.byref(stream)) != 0:
        raise MemoryError(runtime.cudaGetLastError())
    try:
        return take(DeviceArray(x), DeviceArray(few), mode="wrap", stream=stream.value).get()
    finally:
        while runtime.cudaStreamDestroy(stream) != 0:  # it fails, too
            runtime.cudaGetLastError()


tried("ordinary", many, lambda out: take(x, many, out))
tried("again", few, lambda out: (take(x, few), take(x, few, out))[1])
tried("pinned", few, pinned_for_a_while)
tried("launched", few, lambda out: take(DeviceArray(x), DeviceArray(few), mode="wrap").get())
tried("two streams", few, on_another_stream)

d_x, d_few = DeviceArray(x), DeviceArray(few)
for call in (lambda: take(x, few)), (lambda: take(d_x, d_few, mode="wrap").get()):
    print(runtime.cudaSetDevice(99), (call() == x[few]).all(), runtime.cudaGetLastError())
