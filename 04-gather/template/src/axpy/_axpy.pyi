import numpy as np
from numpy.typing import NDArray

def why_not() -> str: ...
def available() -> bool: ...
def axpy(
    a: float, x: NDArray[np.float32], y: NDArray[np.float32]
) -> NDArray[np.float32]: ...  # CHANGE: as in _axpy.pyx
