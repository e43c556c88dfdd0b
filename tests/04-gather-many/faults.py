"""On rank 1 each CUDA call fails once: all ranks are told the same, nobody waits for ever, and the next call is right."""

import ctypes
import os

import numpy as np
from mpi4py import MPI

from gather import DeviceArray
from many import Plan, take

comm = MPI.COMM_WORLD
slice, index = np.arange(100, dtype=np.float64) + 100 * comm.rank, np.arange(0, 300, 7) + comm.rank
on_gpu = DeviceArray(index)
runtime, number = ctypes.CDLL(os.environ["CPU_CUDA"]), ctypes.c_int()


def fail(which, counted):
    """The `which`-th CUDA call from now on fails: no room, or something else. The stand-in counts them: first up to `counted`."""
    os.environ.update(CPU_CUDA_FAIL=str(counted), CPU_CUDA_FAIL_CODE="2" if which % 2 else "801")
    while runtime.cudaGetDevice(ctypes.byref(number)) == 0:
        pass
    os.environ.pop("CPU_CUDA_FAIL")
    runtime.cudaGetLastError()
    os.environ["CPU_CUDA_FAIL"] = str(counted + which)


said, failed = set(), 0
for attempt in range(1, 200):
    if comm.rank == 1:
        fail(attempt, 2000 * attempt)
    plan = error = there = None
    try:
        plan = Plan(comm, slice)
        for n in 1, 50:  # the second one needs more work memory
            if (plan.take(np.tile(index, n)) != np.tile(index, n)).any():
                print("WRONG")
        there = plan.take(on_gpu)
    except Exception as caught:
        error = f"{type(caught).__name__}: {caught}"
    os.environ.pop("CPU_CUDA_FAIL", None)
    if there and (there.get() != index).any():
        print("WRONG on the device")
    if error and plan and (plan.take(index) != index).any():
        print("WRONG after", error)
    if len(set(comm.allgather(error))) > 1:
        print("not the same on all ranks:", error)
    said.add(error)
    failed += error is not None


class OnStream:
    """An array on the device, and on a stream that does not exist."""

    __cuda_array_interface__ = {"shape": (3,), "typestr": "<i8", "data": (4096, False), "version": 3, "stream": 12345}


try:
    take(comm, slice, OnStream() if comm.rank == 1 else index)
except RuntimeError as caught:
    error = f"{type(caught).__name__}: {caught}"
print(*set(comm.gather(error) or []), end="\n" if comm.rank == 0 else "")
last = (take(comm, slice, index) == index).all()
if comm.rank == 0:
    print(*sorted(said - {None}), sep="\n")
    print("more than fifty calls fail:", failed > 50, "the next one is right:", last)
