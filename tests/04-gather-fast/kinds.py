"""What the programs here share: arrays in all places."""

import ctypes
import os

from gather import DeviceArray, pinned_empty


class CudaArray:
    """An array of another library, as it looks from outside; `more` changes what it says of itself."""

    def __init__(self, x, **more):
        self.owner = DeviceArray(x)
        self.address = self.owner.__cuda_array_interface__["data"][0]
        self.__cuda_array_interface__ = {**self.owner.__cuda_array_interface__, **more}


def pinned(x):
    copy = pinned_empty(x.shape, x.dtype)
    copy[...] = x
    return copy


def host(x):
    return x.get() if isinstance(x, DeviceArray) else x


PLACES = {"ordinary": lambda x: x.copy(), "pinned": pinned, "device": DeviceArray}


def outcome(call):
    """What a call returns, or the exception in words."""
    try:
        return call()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def tools():
    """tools.cu as a library: free memory of the device, streams."""
    library = ctypes.CDLL(os.environ["TOOLS"])
    library.free_bytes.restype = ctypes.c_size_t
    library.new_stream.restype = ctypes.c_void_p
    library.end_stream.argtypes = [ctypes.c_void_p]
    library.new_managed.restype, library.new_managed.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    library.copy_later.argtypes = library.copy_on.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_size_t]
    return library
