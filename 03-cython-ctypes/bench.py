"""What a call costs: the same kernel on 1,024 floats, launched in every way, without a wait in between.

Build: make build
Run:   make bench (on a GPU only), or python3 bench.py quick

Whoever is installed of CuPy, cuda.core, Numba and PyTorch is measured as well, on a kernel of its own
that does the same. With "quick", only the ways of this repository are called, ten times instead of 1,000:
this shows that all is well, not how long it takes.
"""

import ctypes
import os
import sys

import numpy as np

import four_ways
import multiply as multiply_module
from device_array import DeviceArray, multiply as multiply_device_arrays

COMMON = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common")
sys.path[:0] = [COMMON, os.path.join(COMMON, "bench")]
from clock import micros_a_call
from doctor import gpu

QUICK = sys.argv[1:] == ["quick"]
N, CALLS = 1024, 10 if QUICK else 1000
SOURCE = """extern "C" __global__ void multiply(const float *a, const float *b, float *result, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        result[i] = a[i] * b[i];
}"""
a = np.random.default_rng(1).random(N, dtype=np.float32)
b = np.random.default_rng(2).random(N, dtype=np.float32)


def our_ways():
    """(name, call, wait, result) of each way of this repository."""
    d_a, d_b = DeviceArray(a), DeviceArray(b)
    wait = four_ways.wait

    def fresh():
        """A result of its own for each way: what another way has written does not count."""
        d_result = DeviceArray(np.zeros(N, np.float32))
        return d_result, [d.address for d in (d_a, d_b, d_result)]

    d_result, addresses = fresh()
    yield "C loop", lambda: four_ways.launch_loop(*addresses, N, CALLS), wait, d_result.get

    d_result, addresses = fresh()
    call = ctypes.CDLL(four_ways.LIBRARY)["multiply_on_device"]
    call.argtypes, call.restype = [ctypes.c_void_p] * 3 + [ctypes.c_size_t], ctypes.c_int
    yield "ctypes", lambda: call(*addresses, N), wait, d_result.get

    d_result, addresses = fresh()
    # An array whose address is the GPU's: ndpointer looks at what it is, and nobody reads it.
    arrays = [np.ctypeslib.as_array((ctypes.c_float * N).from_address(p)) for p in addresses]
    checked = ctypes.CDLL(four_ways.LIBRARY)["multiply_on_device"]
    checked.argtypes = [four_ways.array_in, four_ways.array_in, four_ways.array_out, ctypes.c_size_t]
    checked.restype = ctypes.c_int
    yield "ctypes with ndpointer", lambda: checked(*arrays, N), wait, d_result.get

    d_result, _ = fresh()
    yield "Cython, linked", lambda: multiply_device_arrays(d_a, d_b, d_result), wait, d_result.get
    d_result, addresses = fresh()
    by_dlopen = four_ways.launch_by_dlopen
    yield "Cython, dlopen", lambda: by_dlopen(*addresses, N), wait, d_result.get


def cupy_way():
    import cupy

    kernel = cupy.RawKernel(SOURCE, "multiply")
    d_a, d_b, d_result = cupy.asarray(a), cupy.asarray(b), cupy.zeros(N, cupy.float32)
    arguments, size = (d_a, d_b, d_result, np.uint64(N)), (256,)
    wait = cupy.cuda.runtime.deviceSynchronize
    return lambda: kernel((N // 256,), size, arguments), wait, d_result.get


def cuda_core_way():
    import cupy  # for the arrays
    from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

    device = Device()
    device.set_current()
    stream = device.default_stream
    program = Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{device.arch}"))
    kernel = program.compile("cubin").get_kernel("multiply")
    d_a, d_b, d_result = cupy.asarray(a), cupy.asarray(b), cupy.zeros(N, cupy.float32)
    config = LaunchConfig(grid=N // 256, block=256)
    pointers = d_a.data.ptr, d_b.data.ptr, d_result.data.ptr
    size = np.uint64(N)
    return lambda: launch(stream, config, kernel, *pointers, size), stream.sync, d_result.get


def numba_way():
    for old, new in ("row_stack", "vstack"), ("in1d", "isin"), ("trapz", "trapezoid"):
        if not hasattr(np, old) and hasattr(np, new):  # NumPy 2.5 has them no more, Numba asks for them
            setattr(np, old, getattr(np, new))
    from numba import cuda

    @cuda.jit
    def kernel(a, b, result):
        i = cuda.grid(1)
        if i < result.size:
            result[i] = a[i] * b[i]

    d_a, d_b, d_result = cuda.to_device(a), cuda.to_device(b), cuda.device_array_like(a)
    configured = kernel[N // 256, 256]
    return lambda: configured(d_a, d_b, d_result), cuda.synchronize, d_result.copy_to_host


def torch_way():
    import torch

    d_a, d_b = torch.from_numpy(a).cuda(), torch.from_numpy(b).cuda()
    d_result = torch.empty_like(d_a)
    return lambda: torch.mul(d_a, d_b, out=d_result), torch.cuda.synchronize, lambda: d_result.cpu().numpy()


def other_ways():
    """The same of those libraries that are installed; a line on stderr for each that is not."""
    for name, way in (
        ("CuPy RawKernel", cupy_way),
        ("cuda.core", cuda_core_way),
        ("Numba", numba_way),
        ("PyTorch, torch.mul", torch_way),
    ):
        try:
            call, wait, result = way()
            call()
            wait()
            yield name, call, wait, result
        except Exception as error:  # whatever a library finds missing
            print(f"{name} is not measured: {type(error).__name__}: {error}", file=sys.stderr)


def main():
    first, _ = gpu()
    if first is None:
        sys.exit("times are taken on a GPU only: the CPU stand-in is never timed")
    print(f"{first[0]}: a * b on {N} floats in device memory, no wait in between\n")
    print("| way | µs a call | fastest to slowest | times the C loop |")
    print("|---|---|---|---|")
    base = None
    for ways in our_ways(), [] if QUICK else other_ways():
        for name, call, wait, result in ways:
            call()
            wait()
            if not np.array_equal(result(), a * b):
                sys.exit(f"{name}: the result is not NumPy's")
            if base is None:  # the C loop: one call of it is CALLS launches
                times = {key: t / CALLS for key, t in micros_a_call(call, wait, 1).items()}
                base = times["median"]
            else:
                times = micros_a_call(call, wait, CALLS)
            print(
                "| {} | {median:.2f} | {low:.2f} to {high:.2f} | {:.2f} |".format(name, times["median"] / base, **times)
            )

    print("\nNumPy arrays in and out, 400 floats:\n\n| way | µs a call | fastest to slowest |\n|---|---|---|")
    x, y, z = a[:400].copy(), b[:400].copy(), np.zeros(400, np.float32)
    for name, call in (
        ("four_ways.by_ctypes(a, b, result)", lambda: four_ways.by_ctypes(x, y, z)),
        ("four_ways.by_ndpointer(a, b, result)", lambda: four_ways.by_ndpointer(x, y, z)),
        ("four_ways.by_linking(a, b, result)", lambda: four_ways.by_linking(x, y, z)),
        ("four_ways.by_dlopen(a, b, result)", lambda: four_ways.by_dlopen(x, y, z)),
        ("multiply(a, b)", lambda: multiply_module.multiply(x, y)),
        ("NumPy, a * b", lambda: x * y),
    ):
        times = micros_a_call(call, lambda: None, CALLS)
        print("| {} | {median:.2f} | {low:.2f} to {high:.2f} |".format(name, **times))


if __name__ == "__main__":
    main()
