"""Times of a gather over several ranks, each with its own GPU: what make bench runs, under mpirun.

bench.py ours [SOURCE_MiB]     a line of JSON for each size: seconds, the parts, what carried
bench.py torch [SOURCE_MiB]    the same by PyTorch, with all_to_all_single over NCCL
Each rank holds SOURCE_MiB of float32 (1024 if nothing else is said), and 1 to 256 Mi random int64 indices, on its GPU.
"""

import json
import os
import sys

from mpi4py import MPI

comm = MPI.COMM_WORLD
MI = 1 << 20
RUNS = 7


def measure(call, parts=lambda: {}):
    """The median of some runs, each as long as its slowest rank; the parts of the run of that time."""
    runs = []
    for _ in range(RUNS + 1):
        comm.Barrier()
        start = MPI.Wtime()
        call()
        runs.append((comm.allreduce(MPI.Wtime() - start, MPI.MAX), parts()))
    runs = sorted(runs[1:], key=lambda run: run[0])  # the first one warms up
    return runs[len(runs) // 2]


def say(who, source_mib, mi, seconds, right, **parts):
    right = comm.allreduce(right, MPI.MIN)
    figures = dict(who=who, ranks=comm.size, source_mib=source_mib, mi=mi, ms=seconds * 1e3, right=right, **parts)
    if comm.rank == 0:
        print(json.dumps(figures), flush=True)


def ours(source_mib, sizes):
    import cupy
    import numpy as np
    from many import Plan

    elements = source_mib * MI // 4
    with cupy.cuda.Device(comm.rank % cupy.cuda.runtime.getDeviceCount()):
        where = cupy if source_mib < 16384 else np  # a large one is on the GPU only once
        slice = where.arange(elements, dtype=np.float32)
        plan = Plan(comm, slice)
        del slice
        cupy.get_default_memory_pool().free_all_blocks()
        random = cupy.random.default_rng(comm.rank)
        for n in sizes:
            index = random.integers(0, plan.size, n * MI, dtype=cupy.int64)
            cupy.cuda.Device().synchronize()
            seconds, parts = measure(lambda: plan.take(index), lambda: plan.seconds)
            expected = (index % elements).astype(cupy.float32)
            right = bool((cupy.asarray(plan.take(index)) == expected).all())
            say("ours", source_mib, n, seconds, right, **parts)
            del index, expected
            cupy.get_default_memory_pool().free_all_blocks()


def torch_nccl(source_mib, sizes):
    import torch
    import torch.distributed as dist

    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29517")
    torch.cuda.set_device(comm.rank % torch.cuda.device_count())
    dist.init_process_group("nccl", rank=comm.rank, world_size=comm.size)
    elements = source_mib * MI // 4
    source = torch.arange(elements, dtype=torch.float32, device="cuda")

    def take(index):
        owner = index // elements  # slices of one length; else torch.bucketize
        owner, order = torch.sort(owner.to(torch.uint8))
        out = torch.bincount(owner, minlength=comm.size)
        wanted = index[order] % elements
        come = torch.empty_like(out)
        dist.all_to_all_single(come, out)
        out, come = out.tolist(), come.tolist()
        others = torch.empty(sum(come), dtype=index.dtype, device="cuda")
        dist.all_to_all_single(others, wanted, come, out)
        got = torch.empty(len(index), dtype=source.dtype, device="cuda")
        dist.all_to_all_single(got, source[others], out, come)
        result = torch.empty_like(got)
        result[order] = got
        torch.cuda.synchronize()
        return result

    for n in sizes:
        index = torch.randint(0, elements * comm.size, (n * MI,), device="cuda")
        seconds, _ = measure(lambda: take(index))
        right = bool((take(index) == (index % elements).to(torch.float32)).all())
        say("PyTorch, NCCL", source_mib, n, seconds, right)
        del index
        torch.cuda.empty_cache()
    dist.destroy_process_group()


if __name__ == "__main__":
    source_mib = int(sys.argv[2]) if len(sys.argv) > 2 else 1024
    sizes = [int(n) for n in sys.argv[3].split(",")] if len(sys.argv) > 3 else [1, 4, 16, 64, 256]
    {"ours": ours, "torch": torch_nccl}[sys.argv[1]](source_mib, sizes)
