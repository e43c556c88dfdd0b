"""An operation of PyTorch with two results, x + y and x - y, from one launch.

Build: make build
Run:   python3 both.py
"""

import ctypes
import pathlib

import torch

from gather import DeviceArray

library = ctypes.CDLL(str(pathlib.Path(__file__).resolve().parent / "libboth.so"))
library.both.argtypes = [ctypes.c_void_p] * 4 + [ctypes.c_size_t, ctypes.c_void_p]


def both(x, y):
    """x + y and x - y, for two tensors of float64, of one shape and in one place."""
    if not x.dtype == y.dtype == torch.float64 or x.shape != y.shape or x.device != y.device:
        raise TypeError("two tensors of float64, of one shape and in one place are taken")
    x, y = x.detach().contiguous(), y.detach().contiguous()
    with torch.cuda.device_of(x):
        if x.is_cuda:
            arrays = x, y, torch.empty_like(x), torch.empty_like(x)
            addresses = [array.data_ptr() for array in arrays]
            stream = torch.cuda.current_stream().cuda_stream
        else:  # a kernel needs them in CUDA's memory, on the stand-in too
            arrays = [DeviceArray(array.numpy()) for array in (x, y, x, y)]  # the last two are written over
            addresses = [array.__cuda_array_interface__["data"][0] for array in arrays]
            stream = None
        code = library.both(*addresses, x.numel(), stream)
    if code != 0:
        raise RuntimeError(f"CUDA error {code}")
    return tuple(arrays[2:]) if x.is_cuda else tuple(torch.from_numpy(array.get()) for array in arrays[2:])


class Both(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        return both(x, y)

    @staticmethod
    def backward(ctx, sum_grad, difference_grad):
        return Both.apply(sum_grad, difference_grad)  # not both(): this has a derivative, too


if __name__ == "__main__":
    device = "cuda" if torch.cuda.is_available() else "cpu"
    x, y = torch.tensor([[5.0, 6.0], [3.0, 1.0]], dtype=torch.float64, device=device).requires_grad_()
    print(*[result.tolist() for result in Both.apply(x, y)])
    print("gradcheck:", torch.autograd.gradcheck(Both.apply, (x, y)), torch.autograd.gradgradcheck(Both.apply, (x, y)))
