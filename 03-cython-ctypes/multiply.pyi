from typing import Literal

from cuda_error import CudaError as CudaError
import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float32]

def check_array(name: str, array: object) -> _Floats: ...
def fits(array: _Floats, order: Literal["C", "F"]) -> bool: ...
def multiply(a: _Floats, b: _Floats, out: _Floats | None = None) -> _Floats: ...
