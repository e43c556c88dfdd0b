"""Arrays of CuPy, PyTorch and JAX go in and come out where they are, in the order of their streams; so do their results."""

import os

os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
import cupy
import jax
import numpy as np
import torch
from kinds import outcome
from gather import DeviceArray, add_at, take

jax.config.update("jax_enable_x64", True)
x, i = np.arange(1000, dtype=np.float32), np.random.default_rng(0).integers(-1000, 1000, 5000)
expected = x[i]
values = np.arange(5000, dtype=np.float32) % 9
sums = np.bincount(i % 1000, values, 1000)


class Shown:
    """Only the DLPack of an array."""

    def __init__(self, array):
        self.__dlpack__, self.__dlpack_device__ = array.__dlpack__, array.__dlpack_device__


for name, up, down, pointer, library in [
    ("CuPy", cupy.asarray, cupy.asnumpy, lambda a: a.data.ptr, cupy),
    ("PyTorch", lambda a: torch.from_numpy(a).cuda(), lambda a: a.cpu().numpy(), lambda a: a.data_ptr(), torch),
    ("JAX", jax.device_put, np.asarray, lambda a: a.unsafe_buffer_pointer(), jax.dlpack),
]:
    s, idx = up(x), up(i)
    for shown in lambda a: a, Shown:
        if name != "JAX":  # whose arrays are read only
            out = up(np.zeros(5000, np.float32))
            before = pointer(out)
            assert take(shown(s), shown(idx), out=(a := shown(out))) is a and pointer(out) == before
            assert np.array_equal(down(out), expected)
            out = up(np.zeros(5000, np.float32))
            take(shown(s), shown(idx), out=shown(out), mode="wrap")
            assert np.array_equal(down(out), expected)
            for mode in "raise", "wrap":
                target = up(np.zeros(1000, np.float32))
                add_at(shown(target), shown(idx), shown(up(values)), mode=mode)
                assert np.array_equal(down(target), sums)
        new = take(shown(s), shown(idx))
        there = library.from_dlpack(new) if shown is Shown else new
        assert type(new) is (DeviceArray if shown is Shown else type(s)) and np.array_equal(down(there), expected)
        assert shown is not Shown or pointer(there) == new.__cuda_array_interface__["data"][0]
        del new  # the other library's array keeps the memory
        others = [DeviceArray(np.zeros(5000, np.float32)) for _ in range(9)]  # they would get it otherwise
        assert np.array_equal(down(there), expected)
    print(name, "as NumPy")
new = take(Shown(s), idx)
print(cupy.asarray(new).shape, torch.as_tensor(new, device="cuda").shape)
rows = torch.arange(5000, device="cuda").reshape(10, 100, 5)
for kind in torch.bfloat16, torch.float8_e4m3fn, torch.float16, torch.bool, torch.int64:
    new, right = (
        take(rows.to(kind), idx := torch.tensor([[7, 0], [99, -1]], device="cuda"), axis=1),
        rows.to(kind)[:, idx],
    )
    print(new.dtype, new.shape, bool((new.view(torch.uint8) == right.view(torch.uint8)).all()), end="; ")
for kind in torch.float16, torch.bfloat16:
    target, ones = torch.zeros(3, 5, device="cuda", dtype=kind), torch.ones(4, 5, device="cuda", dtype=kind)
    add_at(target, torch.tensor([2, 0, 2, 2], device="cuda"), ones)
    print(target[:, 4].tolist(), end=" ")
print(outcome(lambda: add_at(rows.float().requires_grad_(), [0], 1.0)))
tensor = torch.zeros(5000)  # in the host's memory
print(take(torch.from_numpy(x), torch.from_numpy(i), out=tensor) is tensor, np.array_equal(tensor.numpy(), expected))
print(outcome(lambda: take(torch.ones(3, device="cuda", requires_grad=True), [0])))
stream = cupy.cuda.Stream(non_blocking=True)
with stream:
    s = cupy.arange(1 << 24, dtype=cupy.float32) * 2  # pending on that stream
    idx = cupy.arange(1 << 24, dtype=cupy.int32)
    new = take(s, idx, mode="clip").get()
print("order kept", bool((new == np.arange(1 << 24, dtype=np.float32) * 2).all()))
with torch.cuda.stream(torch.cuda.Stream()):  # PyTorch's tensors name no stream, but its table does
    a = torch.zeros(1 << 26, device="cuda")
    idx, out = torch.arange(1 << 20, device="cuda"), torch.zeros(1 << 20, device="cuda")
    take(a, idx, out=out, mode="clip")  # CUDA loads the kernel
    for _ in range(200):
        a += 1
    take(a, idx, out=out, mode="clip")
    a += 1
    print("order kept", bool((out == 200).all()))
work = jax.jit(lambda a: jax.lax.fori_loop(0, 200, lambda _, a: a + 1, a))
a = jax.numpy.zeros(1 << 26)
work(a).block_until_ready()
print("order kept", bool((take(work(a), idx.cpu().numpy(), mode="clip") == 200).all()))  # JAX has only begun
with cupy.cuda.Stream.ptds:  # the per-thread stream
    s = cupy.zeros(1 << 28, cupy.float32)
    take(s, np.zeros(1 << 20, np.int32), stream=2)
    for _ in range(100):  # 50 ms of work
        s += 1
    new = take(s, np.zeros(1 << 20, np.int32), stream=2)
print("order kept", bool((new == 100).all()))
