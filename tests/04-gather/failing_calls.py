"""Whichever CUDA call of cuda_gather fails: an exception comes, and nothing stays. See failing.py."""

import failing
import numpy as np
from wrapper import CudaError, cuda_gather

source, backwards = np.arange(1 << 15, dtype="f"), np.arange(299, -1, -1)
TRIED = {"cuda_gather": (lambda out: cuda_gather(source, backwards), source[299::-1], None)}
failing.all_fail(TRIED, (2, 700), (CudaError, MemoryError))
failing.none_takes_an_older_error(TRIED)
