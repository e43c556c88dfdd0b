from cuda_error import CudaError as CudaError
import numpy as np
from numpy.typing import NDArray

def cuda_gather(x: NDArray[np.float32], idx: NDArray[np.int32] | NDArray[np.int64]) -> NDArray[np.float32]: ...
