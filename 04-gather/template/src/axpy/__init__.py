"""axpy(a, x, y) is a * x + y on the GPU. available() says whether there is one, and why_not() why not."""  # CHANGE

from ._axpy import available, axpy, axpy_on_gpu, why_not
from .cuda_error import CudaError

__all__ = ["CudaError", "available", "axpy", "axpy_on_gpu", "why_not"]
