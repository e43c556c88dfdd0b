from typing import Any, Literal, SupportsIndex, TypeVar, overload

from cuda_error import CudaError as CudaError
from memory import DeviceArray as DeviceArray
from memory import pin as pin
from memory import pinned_empty as pinned_empty
from memory import _CudaArray, _CudaStream, _DLPackArray
from memory import stream_handle as stream_handle
from numpy.typing import ArrayLike, NDArray

_OnDevice = DeviceArray | _CudaArray | _DLPackArray
_Mode = Literal["raise", "wrap", "clip"]
_Out = TypeVar("_Out", bound=NDArray[Any] | _OnDevice)

@overload
def take(
    source: ArrayLike | _OnDevice,
    index: ArrayLike | _OnDevice,
    out: None = None,
    mode: _Mode = "raise",
    stream: SupportsIndex | _CudaStream | None = None,
) -> Any: ...  # a NumPy array or, for an index on the GPU, a DeviceArray
@overload
def take(
    source: ArrayLike | _OnDevice,
    index: ArrayLike | _OnDevice,
    out: _Out,
    mode: _Mode = "raise",
    stream: SupportsIndex | _CudaStream | None = None,
) -> _Out: ...
