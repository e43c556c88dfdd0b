"""Work stays on the stream that the arrays name, and nobody overwrites what is still to be read."""

import itertools
import os

import numpy as np
from kinds import CudaArray, pinned, tools
from gather import DeviceArray, add_at, take
from shown import Shown, exchange_api

tools = tools()
A, B = tools.new_stream(), tools.new_stream()
n = 1 << (24 if os.environ["TEST_BACKEND"] == "cuda" else 18)  # a GPU has to be busy for a while
x, y, index = np.arange(n, dtype=np.float32), np.full(n, -1, np.float32), np.arange(n, dtype=np.int32)
d_x, d_y, d_index, d_out = DeviceArray(x), DeviceArray(y), DeviceArray(index), DeviceArray.empty(n)

take(d_x, d_index, out=d_out, mode="wrap", stream=A)  # reads d_x, and does not wait
take(d_y, d_index, out=d_x, mode="wrap", stream=B)  # overwrites it
print((d_x.get() == -1).all(), (d_out.get() == x).all())  # first what came last

sums = DeviceArray(np.zeros(n, np.float32))
take(DeviceArray(x), d_index, out=d_y, mode="wrap", stream=B)
add_at(sums, d_index, d_y, mode="wrap", stream=A)  # comes after what is written there
take(d_out, d_index, out=d_y, mode="wrap", stream=B)  # overwrites what it reads
print(sums.__cuda_array_interface__["stream"] == A, (sums.get() == x).all())
take(DeviceArray(y), d_index, out=d_y, mode="wrap")

pending, zeros = CudaArray(np.zeros(n, np.int32), stream=B), pinned(index)
on_b = tools.copy_later(B, pending.address, zeros.ctypes.data, 4 * n)  # the index is not there yet
late = take(d_index, pending, mode="wrap", stream=A)
print((late.get() == index).all())

source, where, minus, backwards = CudaArray(x, stream=A), CudaArray(index, stream=A), pinned(y), pinned(index[::-1])
new = take(source, where, mode="wrap")  # does not wait
code = tools.copy_on(A, source.address, minus.ctypes.data, 4 * n)
print(code, new.__cuda_array_interface__["stream"] == A, (new.get() == x).all())
# all under new names, as to free memory is to wait; and none on the default stream, which orders the work of all
another, index_of_b = CudaArray(x, stream=A), CudaArray(index, stream=B)
newer = take(another, index_of_b, mode="wrap", stream=B)
tools.copy_on(A, another.address, minus.ctypes.data, 4 * n)
print((newer.get() == x).all())
base, elsewhere = CudaArray(x, stream=B), CudaArray(index, stream=A)
newest = take(base, elsewhere, mode="wrap", stream=B)
tools.copy_on(A, elsewhere.address, backwards.ctypes.data, 4 * n)
print((newest.get() == x).all())

read, copy = CudaArray(x, stream=B), DeviceArray(y)  # out is still to be read
tools.copy_later(B, copy.__cuda_array_interface__["data"][0], read.address, 4 * n)
take(d_y, d_index, out=read, mode="wrap", stream=A)
print((copy.get() == x).all(), (read.owner.get() == -1).all())
out = take(d_x, d_index, mode="wrap", stream=B)
take(d_x, CudaArray(index, stream=A), out=out, mode="wrap")  # where the index comes first, if nobody names a stream
print(out.__cuda_array_interface__["stream"] == A)

waited = take(d_y, d_index, stream=A)  # "raise" waits: after that the stream may go
for d in d_x, d_y, d_index, d_out, new, newer, newest, copy, out:
    d.get()
print(tools.end_stream(A), (waited.get() == -1).all(), waited.__cuda_array_interface__["stream"])

A, kept = tools.new_stream(), []  # all arrays live: to free one is to wait
for source, where, work in itertools.product((1, A, B), (1, A, B), (None, A, B)):
    kept.append((CudaArray(x, stream=source), CudaArray(index, stream=where)))
    kept.append(take(*kept[-1], mode="wrap", stream=work))
    if not (kept[-1].get() == x).all():  # the result is read first
        print("read too early:", source, where, work)
kept.clear()

# managed memory, which the host reaches too: what is pending on its stream comes first all the same
managed = CudaArray(x[:1], shape=(n,), stream=B, data=(tools.new_managed(4 * n), False))
address = managed.__cuda_array_interface__["data"][0]
on_device = CudaArray(x)
tools.copy_later(B, address, minus.ctypes.data, 4 * n)
tools.copy_later(B, address, on_device.address, 4 * n)
print((take(managed, np.arange(5), stream=tools.new_stream()).get() == x[:5]).all())


class Stream:  # as other libraries have them
    def __init__(self):
        self.handle = tools.new_stream()

    def __cuda_stream__(self):
        return 0, self.handle

    def __del__(self):
        tools.end_stream(self.handle)


e_x, e_index = DeviceArray(x), DeviceArray(index)
own = Stream()
first = take(e_x, e_index, mode="wrap", stream=own)  # what is computed there keeps it
print(first.__cuda_array_interface__["stream"] == own.handle)
del own
second = take(first, e_index, mode="wrap")
del first
print((second.get() == x).all(), take(second, [5]).get(), (e_x.get() == x).all(), take(e_x, [5]).get())
# Stream 2 is another one in each thread: take waits for what it does there.
print(take(e_x, e_index, mode="wrap", stream=2).__cuda_array_interface__["stream"])

# DLPack: what others read comes after what is pending; take waits for arrays that name no stream, and works on the
# stream that a table names
A, B, address = tools.new_stream(), tools.new_stream(), lambda d: d.__cuda_array_interface__["data"][0]
to, exported = DeviceArray(y), take(d_index, d_index, mode="wrap", stream=A)
capsule = exported.__dlpack__(stream=B)
tools.copy_on(B, address(to), address(exported), 4 * n)
print((to.get().view(np.int32) == index).all())
shown, sevens = DeviceArray(x), pinned(np.full(n, 7, np.float32))
new = take(Shown(shown), d_index, mode="wrap")
tools.copy_on(A, address(shown), sevens.ctypes.data, 4 * n)
print((new.get() == x).all())


class OnA(Shown):
    __dlpack_c_exchange_api__ = exchange_api(A, [])


later, out = DeviceArray(x), DeviceArray(y)
tools.copy_later(A, address(later), sevens.ctypes.data, 4 * n)
new = take(OnA(later), d_index, mode="wrap")
print(new.__cuda_array_interface__["stream"] == A, (new.get() == 7).all())
take(later, d_index, out=OnA(out), mode="wrap", stream=B)
tools.copy_on(A, address(to), address(out), 4 * n)  # its library goes on with it
print((to.get() == 7).all())
