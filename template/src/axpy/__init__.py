"""a * x + y on the GPU: axpy(a, x, y). available() says whether there is one, and why_not() why not."""

from ._axpy import available, axpy, why_not
from .cuda_error import CudaError

__all__ = ["CudaError", "available", "axpy", "why_not"]
