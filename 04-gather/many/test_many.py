"""Drawn sources, slices and indices on all ranks, against numpy.take on the whole.

Build: make build
Run:   mpirun -n 4 python3 test_many.py, mpirun -n 4 python3 test_many.py 1000
"""

import sys

import numpy as np
from mpi4py import MPI

from many import take

comm = MPI.COMM_WORLD


def outcome(call):
    try:
        return call(), ""
    except IndexError as error:
        return None, f"{type(error).__name__}: {error}"


def drawn_index(random, low, high, n):
    """Mostly int32 or int64; else what take makes int64 of: bool, other integers, which may be cut, or a list."""
    index = random.integers(low, high, n)
    dtype = random.choice(["i4", "i8"] * 8 + ["?", "i1", "u1", "i2", "u2", "u4", "u8"])
    index = (np.abs(index) if "u" in dtype else index).astype(dtype)
    return index.tolist() if random.integers(10) == 0 else index


def case(random):
    """One case, drawn alike on all ranks; True if this rank's answer is NumPy's."""
    lengths = random.integers(0, random.choice([2, 10, 3000]), comm.size) * random.integers(0, 2, comm.size)
    whole = random.integers(0, 2**31, lengths.sum()).astype(random.choice(["i4", "f4", "i8", "f8"]))
    counts = random.integers(0, random.choice([2, 10, 9000]), comm.size) * random.integers(0, 2, comm.size)
    far = random.choice([0, 0, 0, 1])  # some indices outside
    size = max(1, len(whole))
    low, high = (-size - far, size + far) if random.integers(2) else (size - 1, size + far)  # or all to one rank
    indices = [drawn_index(random, low, high, n) for n in counts]
    mode = str(random.choice(["raise", "wrap", "clip"]))
    mine = np.split(whole, np.cumsum(lengths)[:-1])[comm.rank]
    answer, error = outcome(lambda: take(comm, mine, indices[comm.rank], mode))
    expected = [outcome(lambda: np.take(whole, np.asarray(i).astype("i8"), mode=mode)) for i in indices]
    wanted_error = next((f"{e} (rank {rank})" for rank, (_, e) in enumerate(expected) if e), "")
    if wanted_error or error:
        return error == wanted_error
    return answer.dtype == whole.dtype and np.array_equal(answer, expected[comm.rank][0])


def main(cases):
    random = np.random.default_rng(0)
    right = sum(case(random) for _ in range(cases))
    right = comm.allreduce(int(right), MPI.MIN)
    if comm.rank == 0:
        print(f"{right} of {cases} as numpy.take, on {comm.size} ranks")
    return 0 if right == cases else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 200))
