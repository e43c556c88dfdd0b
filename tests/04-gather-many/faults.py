"""On rank 1 CUDA calls fail, one after the other: all ranks are told the same, nobody waits for ever, and the next call is right."""

import os

import numpy as np
from mpi4py import MPI

from many import take

comm = MPI.COMM_WORLD
slice, index = np.arange(100, dtype=np.float64) + 100 * comm.rank, np.arange(0, 300, 7) + comm.rank
said, failed, number, quiet, error = set(), 0, 0, 0, "none yet"
for attempt in range(200):
    quiet = 0 if error else quiet + 1
    if comm.rank == 1 and (
        error or quiet > 1
    ):  # CUDA's calls are counted from the first attempt on: another one each time
        number += 13 + failed % 47 + 70 * quiet  # a failed cudaFree is no error: then on, to one that is to come
        quiet = 0
        os.environ.update(CPU_CUDA_FAIL=str(number), CPU_CUDA_FAIL_CODE="2")
    try:
        result, error = take(comm, slice, index), None
        if (result != index).any():
            print("WRONG")
    except (MemoryError, RuntimeError) as caught:
        error = f"{type(caught).__name__}: {caught}"
    if len(set(comm.allgather(error))) > 1:
        print("not the same on all ranks:", error)
    said.add(error)
    failed += error is not None
os.environ.pop("CPU_CUDA_FAIL", None)


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
