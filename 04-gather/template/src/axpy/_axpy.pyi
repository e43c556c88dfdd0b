from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

def why_not() -> str: ...
def available() -> bool: ...
def axpy(a: float, x: Floats, y: Floats) -> Floats: ...  # CHANGE: as in _axpy.pyx
def axpy_on_gpu(a: float, x: Any, y: Any, out: Any) -> Any: ...  # CHANGE
