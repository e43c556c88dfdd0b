from typing import Any, Literal, SupportsIndex, TypeVar, overload

from cuda_error import CudaError as CudaError
from gather_arrays import DeviceArray as DeviceArray
from gather_arrays import _CudaArray, _DLPackArray
from numpy.typing import ArrayLike, NDArray
from gather_pinned import pin as pin
from gather_pinned import pinned_empty as pinned_empty
from gather_streams import _CudaStream
from gather_streams import stream_handle as stream_handle

_OnDevice = DeviceArray | _CudaArray | _DLPackArray
_Array = ArrayLike | _OnDevice
_Axis = SupportsIndex | None
_Stream = SupportsIndex | _CudaStream | None
_Mode = Literal["raise", "wrap", "clip"]
_Out = TypeVar("_Out", bound=NDArray[Any] | _OnDevice)

@overload
def take(
    source: DeviceArray,
    index: _Array,
    axis: _Axis = None,
    out: None = None,
    mode: _Mode = "raise",
    stream: _Stream = None,
) -> DeviceArray: ...
@overload
def take(
    source: _Array, index: _Array, axis: _Axis = None, out: None = None, mode: _Mode = "raise", stream: _Stream = None
) -> Any: ...  # of the source's kind
@overload
def take(
    source: _Array, index: _Array, axis: _Axis, out: _Out, mode: _Mode = "raise", stream: _Stream = None
) -> _Out: ...
@overload
def take(
    source: _Array, index: _Array, axis: _Axis = None, *, out: _Out, mode: _Mode = "raise", stream: _Stream = None
) -> _Out: ...
def add_at(
    target: NDArray[Any] | _OnDevice,
    index: _Array,
    values: _Array,
    axis: _Axis = 0,
    mode: _Mode = "raise",
    stream: _Stream = None,
) -> None: ...
