"""Whichever CUDA call fails, an exception comes, and nothing stays on the device."""

import numpy as np
from failing_calls import each_failing_call
from wrapper import CudaError, cuda_gather

x, idx = np.arange(300, dtype=np.float32), np.arange(299, -1, -1)


def gather():
    try:
        return "right" if np.array_equal(cuda_gather(x, idx), x[idx]) else "WRONG"
    except (CudaError, MemoryError) as error:
        return f"[{type(error).__name__}: {error}]"


each_failing_call(gather, 999)
each_failing_call(gather, 2)
