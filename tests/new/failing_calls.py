"""Whichever CUDA call of heat_step and heat_step_on_gpu, made by make new, fails: an exception comes, nothing stays. See failing.py."""

import failing
import gather
import heat_step as m
import numpy as np


def on_gpu(out):
    d_x, d_y, d_out = map(gather.DeviceArray, (x, y, out))
    return m.heat_step_on_gpu(3, d_x, d_y, d_out).get()


x, y = np.full(300, 1, "f"), np.full(300, 2, "f")
TRIED = {
    "heat_step": (lambda out: m.heat_step(3, x, y), 3 * x + y, None),
    "heat_step_on_gpu": (on_gpu, 3 * x + y, None),
}
failing.all_fail(TRIED, (2, 700), (gather.CudaError, m.CudaError, MemoryError))
failing.none_takes_an_older_error(TRIED)
