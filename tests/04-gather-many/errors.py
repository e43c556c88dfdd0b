"""What is wrong on one rank is told on all of them: the same kind, the same words, and the next call works. On three ranks."""

import numpy as np
from mpi4py import MPI

from many import Plan, take

comm = MPI.COMM_WORLD
rank = comm.rank
slice = np.arange(10 * rank, 10 * rank + 10, dtype=np.float32)  # the whole source: 0 to 29
good = np.array([0, 10, -1])


class Broken:
    """No array: `kind`, or a class of its own for it, which cannot be sent, as its arguments are not those of its __init__."""

    def __init__(self, kind):
        class Unknown(kind):
            def __init__(self, one, two):
                Exception.__init__(self, f"{one} {two}")

        self.error = Unknown("no", "array")

    def __array__(self, *arguments, **more):
        raise self.error


def on(ranks, bad, otherwise=good):
    return bad if rank in ranks else otherwise


for what, call in {
    "right": lambda: take(comm, slice, good),
    "one": lambda: take(comm, slice, on([1], np.array([0, 30, 31]))),
    "several": lambda: take(comm, slice, on([1, 2], np.array([0, 40 + rank]))),
    "all": lambda: take(comm, slice, np.array([1, 2, -31 - rank])),
    "wrap": lambda: take(comm, slice, np.array([-31, 30]), mode="wrap"),
    "clip": lambda: take(comm, slice, np.array([-31, 30]), mode="clip"),
    "int64": lambda: take(comm, slice, on([2], np.array([2**40]))),
    "no source": lambda: take(comm, slice[:0], good),
    "nothing": lambda: take(comm, slice[:0], good[:0]),
    "no dimension": lambda: take(comm, slice, np.int64(29)),
    "list": lambda: take(comm, slice, [[3, -3]]),
    "dtypes": lambda: take(comm, slice.astype(on([2], "f8", "f4")), good),
    "dtypes of one size": lambda: take(comm, slice.astype(on([1], "i4", "f4")), good),
    "a float": lambda: take(comm, slice, on([2], np.array([1.5]))),
    "empty floats": lambda: take(comm, slice, on([2], np.array([]))),
    **{
        kind.__name__: lambda kind=kind: take(comm, slice, on([1, 2], Broken(kind if rank == 1 else TypeError)))
        for kind in (Exception, KeyError, TypeError, ValueError, IndexError, OverflowError, MemoryError)
    },
    "no slice": lambda: take(comm, on([2], Broken(MemoryError), slice), good),
    "too large": lambda: take(comm, slice, on([0], np.array([2**63], np.uint64))),
    "two dimensions": lambda: take(comm, on([1], slice.reshape(5, 2), slice), good),
    "halves": lambda: take(comm, slice.astype("f2"), good),
    "a mask": lambda: take(comm, slice, on([2], np.ma.array([1, 2, 3], mask=[0, 1, 0]))),
    "mode": lambda: take(comm, slice, good, mode=on([1], "huh", "raise")),
    "plan": lambda: (lambda plan: [plan.take(good).tolist(), plan.take(good + rank).tolist(), plan.size])(
        Plan(comm, slice)
    ),
    "right again": lambda: take(comm, slice, good),
}.items():
    try:
        outcome = str(call())
    except Exception as error:
        outcome = f"{type(error).__name__}: {error}"
    outcomes = comm.gather(outcome)
    if rank == 0:
        print(what, "|", *(outcomes if len(set(outcomes)) > 1 else outcomes[:1]))
