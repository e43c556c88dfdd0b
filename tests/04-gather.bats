load helpers

setup() {
    cd "$TOP/04-gather" || return 1
}

@test "04: the article's input: 1 Mi of 128 Mi values, all equal to NumPy's" {
    try "$TEST_PYTHON" test_gather.py
    assert_success
    assert_equal "$output" "(1048576,)
1048576"
    assert_quiet
}

@test "04: the libraries offer their interface and nothing else, and name no absolute path" {
    run interface_of libcuda_index.so
    assert_output 'Gather
GatherErrorName
GatherErrorText'
    assert_no_absolute_path libcuda_index.so
    module=$(echo wrapper.*.so)
    run interface_of "$module"
    assert_output PyInit_wrapper
    assert_no_absolute_path "$module"
}

@test "04: every size around a block's edge agrees with NumPy, in shape, dtype and every bit" {
    try_python <<'PROGRAM'
import numpy as np
from wrapper import cuda_gather
random = np.random.default_rng()
for n in [*range(1, 70), 255, 256, 257, 511, 512, 513, 1000, 1023, 1024, 1025, 100003]:
    for m in 1, 2, 255, 256, 257, 1000:
        x = random.random(m, dtype=np.float32)
        idx = random.integers(-m, m, size=n, dtype=np.int32)
        res = cuda_gather(x, idx)
        assert type(res) is np.ndarray and res.dtype == np.float32 and res.shape == (n,), (n, m)
        assert np.array_equal(res, x[idx]), (n, m)
strange = np.array([np.nan, -0.0, np.inf, -np.inf, 1e-45, np.nan], np.float32)
strange.view(np.uint32)[5] |= 123
idx = np.array([5, 4, 3, 2, 1, 0, -1], np.int32)
assert np.array_equal(cuda_gather(strange, idx).view(np.uint32), strange[idx].view(np.uint32))
print("equal")
PROGRAM
    assert_success
    assert_output equal
}

@test "04: a bad index is NumPy's IndexError, word for word, for the first bad one" {
    try_python <<'PROGRAM'
import numpy as np
from wrapper import cuda_gather

def words(function, *arguments):
    try:
        return repr(function(*arguments))
    except IndexError as error:
        return f"IndexError: {error}"

x = np.arange(5, dtype=np.float32)
many = np.zeros(1000000, np.int32)
many[654321], many[999999] = 77, -78
bad = [[5], [-6], [0, 1, 7, -9], [2**31 - 1], [-(2**31)]]
bad64 = [[2**31], [2**32], [-(2**31) - 1], [2**63 - 1], [-(2**63)], [1, 2**32 + 1]]
cases = [(x, np.array(i, t)) for t in (np.int32, np.int64) for i in bad] + [(x, np.array(i, np.int64)) for i in bad64]
cases += [(x, many), (x[:0], np.array([0], np.int32)), (x[:0], np.array([-1], np.int64))]
for a, idx in cases:
    ours, numpys = words(cuda_gather, a, idx), words(lambda a, idx: a[idx], a, idx)
    assert numpys.startswith("IndexError") and ours == numpys, (ours, numpys)
print(len(cases), "agree;", words(cuda_gather, x, many))
print(cuda_gather(x, np.array([4, -5], np.int64)))  # and the next call works
PROGRAM
    assert_success
    assert_output '19 agree; IndexError: index 77 is out of bounds for axis 0 with size 5
[4. 0.]'
}

@test "04: empty, read-only, strided, reversed, unaligned and int64 arrays agree with NumPy" {
    try_python <<'PROGRAM'
import numpy as np
from wrapper import cuda_gather
x = np.arange(20, dtype=np.float32)
idx = np.array([19, 0, -20, 7, 7, -1], np.int32)
readonly_x, readonly_idx = x.copy(), idx.copy()
readonly_x.flags.writeable = readonly_idx.flags.writeable = False
unaligned = np.frombuffer(b"\0" + x.tobytes(), np.float32, offset=1)
assert not unaligned.flags.aligned
cases = {
    "no index": (x, idx[:0]), "no index, no source": (x[:0], idx[:0]), "read-only": (readonly_x, readonly_idx),
    "strided": (np.repeat(x, 3)[::3], np.repeat(idx, 2)[::2]), "reversed": (x[::-1], idx[::-1]),
    "column": (np.arange(400, dtype=np.float32).reshape(20, 20)[:, 3], idx), "broadcast": (np.broadcast_to(x[3], 20), idx),
    "unaligned": (unaligned, idx), "int64": (x, idx.astype(np.int64)), "int64 strided": (x, idx.astype(np.int64)[::-2]),
}
for name, (a, i) in cases.items():
    before = a.copy(), i.copy()
    res = cuda_gather(a, i)
    assert res.dtype == np.float32 and res.shape == i.shape and np.array_equal(res, a[i]), name
    assert np.array_equal(a, before[0]) and np.array_equal(i, before[1]), f"{name}: an argument was changed"
    assert res.flags.writeable and res.flags.owndata, name
print(len(cases), "agree")
PROGRAM
    assert_success
    assert_output '10 agree'
}

@test "04: what is not taken is refused, by name: what came and what is taken" {
    try_python <<'PROGRAM'
import numpy as np
from wrapper import cuda_gather
x, idx = np.zeros(4, np.float32), np.zeros(2, np.int32)
for a, i in [
    ([1.0], idx), (None, idx), (x.astype(np.float64), idx), (x.astype(">f4"), idx), (x.reshape(2, 2), idx), (np.float32(1), idx),
    (x, [0]), (x, None), (x, idx.astype(np.uint64)), (x, idx.astype(bool)), (x, idx.astype(float)), (x, idx.reshape(1, 2)),
    (x, np.array(1, np.int32)), (np.ma.array(x, mask=[0, 1, 0, 0]), idx), (np.broadcast_to(x[0], 2**31), idx), (x, np.broadcast_to(idx[0], 2**31)),
]:
    try:
        print(cuda_gather(a, i))
    except (TypeError, ValueError) as error:
        print(type(error).__name__, error, sep=": ")
PROGRAM
    assert_success
    assert_output 'TypeError: x: a NumPy array of float32 is taken, not list
TypeError: x: a NumPy array of float32 is taken, not NoneType
TypeError: x: float32 is taken, not float64
TypeError: x: float32 is taken, not >f4
ValueError: x: one dimension is taken, not 2
TypeError: x: a NumPy array of float32 is taken, not float32
TypeError: idx: a NumPy array of int32 or int64 is taken, not list
TypeError: idx: a NumPy array of int32 or int64 is taken, not NoneType
TypeError: idx: int32 or int64 is taken, not uint64
TypeError: idx: int32 or int64 is taken, not bool
TypeError: idx: int32 or int64 is taken, not float64
ValueError: idx: one dimension is taken, not 2
ValueError: idx: one dimension is taken, not 0
TypeError: x: a NumPy array of float32 is taken, not MaskedArray
ValueError: x: at most 2147483647 elements are taken, not 2147483648
ValueError: idx: at most 2147483647 elements are taken, not 2147483648'
    assert_equal "$stderr" ""
}

@test "04: a CUDA failure is an exception, and Python goes on" {
    try_python CUDA_VISIBLE_DEVICES= <<'PROGRAM'
import numpy as np
from wrapper import CudaError, cuda_gather
for _ in range(2):
    try:
        cuda_gather(np.zeros(4, np.float32), np.zeros(2, np.int32))
    except CudaError as error:
        print(error.code, error.name, error.text, sep=", ")
print("Python goes on")
PROGRAM
    assert_success
    assert_output '100, cudaErrorNoDevice, no CUDA-capable device is detected
100, cudaErrorNoDevice, no CUDA-capable device is detected
Python goes on'
    refute_regex "$stderr" 'CUDA error'
}

@test "04: an error that somebody else left behind is not taken for this call's" {
    # one runtime for all, as on the stand-in and with a shared libcudart
    ../common/cpu/nvcc -O1 -I../common -shared -Xcompiler -fPIC -o "$BATS_TEST_TMPDIR/libcuda_index.so" cuda_index.cu
    try_python LD_LIBRARY_PATH="$BATS_TEST_TMPDIR" <<'PROGRAM'
import ctypes
import numpy as np
from wrapper import cuda_gather
runtime = ctypes.CDLL("../common/cpu/lib/libcpu_cuda.so")
print(runtime.cudaSetDevice(99), runtime.cudaPeekAtLastError())
print(cuda_gather(np.float32([5, 6]), np.int32([1])), runtime.cudaGetLastError())
PROGRAM
    assert_success
    assert_output '101 101
[6.] 0'
}

@test "04: CudaError has code, name and text, and can be pickled" {
    try_python <<'PROGRAM'
import pickle, wrapper
error = pickle.loads(pickle.dumps(wrapper.CudaError(700, "cudaErrorIllegalAddress", "an illegal memory access")))
print(isinstance(error, RuntimeError), error.code, error.name, error.text)
print(error)
PROGRAM
    assert_success
    assert_output 'True 700 cudaErrorIllegalAddress an illegal memory access
CUDA error 700, cudaErrorIllegalAddress: an illegal memory access'
}

@test "04: importing the module makes no CUDA call" {
    try "$TEST_PYTHON" -c "import wrapper"
    assert_success
    assert_equal "$output$stderr" ""
}

@test "04: the C interface refuses what makes no sense, and leaves the result alone when an index is bad" {
    try_python <<'PROGRAM'
import ctypes
from ctypes import byref, c_float, c_int
library = ctypes.CDLL("./libcuda_index.so")
library.Gather.argtypes = [ctypes.c_void_p] * 3 + [c_int] * 2
source, index, res = (c_float * 3)(10, 11, 12), (c_int * 4)(0, 2, -1, -3), (c_float * 4)(7, 7, 7, 7)
print(library.Gather(source, index, res, 4, 3), list(res))
index[2], index[3] = 3, -4
res[:] = [7] * 4
print(library.Gather(source, index, res, 4, 3), list(res))
print([library.Gather(*a) for a in [(None, index, res, 4, 3), (source, None, res, 4, 3), (source, index, None, 4, 3),
                                    (source, index, res, -1, 3), (source, index, res, 4, -1), (None, None, None, 0, 0)]])
print(list(res))
PROGRAM
    assert_success
    assert_output '0 [10.0, 12.0, 12.0, 10.0]
-3 [7.0, 7.0, 7.0, 7.0]
[1, 1, 1, 1, 1, 0]
[7.0, 7.0, 7.0, 7.0]'
}

@test "04: the header is C and C++, with no CUDA in it" {
    echo '#include "cuda_index.cuh"
    int main(void) { return Gather(0, 0, 0, 0, 0); }' >"$BATS_TEST_TMPDIR/use.c"
    for compiler in "gcc -x c -std=c11" "g++ -x c++"; do
        # shellcheck disable=SC2086
        run $compiler -Wall -Wextra -pedantic -Werror -I. "$BATS_TEST_TMPDIR/use.c" -o "$BATS_TEST_TMPDIR/use" \
            -x none -L. -lcuda_index "-Wl,-rpath,$PWD"
        assert_success
        try "$BATS_TEST_TMPDIR/use"
        assert_success
    done
}

@test "04: calls from several threads at once" {
    try_python <<'PROGRAM'
from concurrent.futures import ThreadPoolExecutor
import numpy as np
from wrapper import cuda_gather

def work(seed):
    random = np.random.default_rng(seed)
    for _ in range(20):
        x = random.random(5000, dtype=np.float32)
        idx = random.integers(-5000, 5000, size=3000)
        if seed % 2:
            idx[1234] = 5000
            try:
                cuda_gather(x, idx)
                return False
            except IndexError:
                pass
        elif not np.array_equal(cuda_gather(x, idx), x[idx]):
            return False
    return True

with ThreadPoolExecutor(4) as pool:
    print(list(pool.map(work, range(4))))
PROGRAM
    assert_success
    assert_output '[True, True, True, True]'
}

@test "04: whichever CUDA call fails, an exception comes and no device memory is left behind" {
    # The stand-in fails the k-th call on demand: its build of the library, under the same module.
    ../common/cpu/nvcc -O1 -I../common -shared -Xcompiler -fPIC -o "$BATS_TEST_TMPDIR/libcuda_index.so" cuda_index.cu
    cat >"$BATS_TEST_TMPDIR/program.py" <<'PROGRAM'
import numpy as np
from wrapper import CudaError, cuda_gather
x, idx = np.arange(300, dtype=np.float32), np.arange(299, -1, -1)
try:
    print("right" if np.array_equal(cuda_gather(x, idx), x[idx]) else "wrong")
except (CudaError, MemoryError) as error:
    print(type(error).__name__, error, sep=": ")
PROGRAM
    fail_call() {
        try env PYTHONPATH=. LD_LIBRARY_PATH="$BATS_TEST_TMPDIR" CPU_CUDA_LEAKS=1 CPU_CUDA_FAIL="$1" \
            CPU_CUDA_FAIL_CODE="$2" "$TEST_PYTHON" "$BATS_TEST_TMPDIR/program.py"
    }
    # 4 allocations, 3 copies in, the launch, 2 copies out; after them there is only cudaFree
    for k in {1..10}; do
        fail_call "$k" 999
        assert_success
        assert_output 'CudaError: CUDA error 999, cudaErrorUnknown: unknown error'
    done
    fail_call 11 999
    assert_success
    assert_output right
    for k in 1 4; do
        fail_call "$k" 2
        assert_success
        assert_output 'MemoryError: the GPU has no room for these arrays (3600 bytes)'
    done
}

@test "04: no access outside an array: compute-sanitizer has no complaint" {
    requires gpu
    requires compute-sanitizer
    cat >"$BATS_TEST_TMPDIR/program.py" <<'PROGRAM'
import numpy as np
from wrapper import cuda_gather
for n in 1, 255, 256, 257, 1000:
    x = np.arange(100, dtype=np.float32)
    idx = (np.arange(n) % 200 - 100).astype(np.int32)
    assert np.array_equal(cuda_gather(x, idx), x[idx])
PROGRAM
    try env PYTHONPATH=. compute-sanitizer --tool memcheck --leak-check full --error-exitcode 9 "$TEST_PYTHON" "$BATS_TEST_TMPDIR/program.py"
    assert_success
    assert_output --partial 'ERROR SUMMARY: 0 errors'
}

# ---- gather.take

@test "04: take answers as numpy.take: modes, dtypes, shapes, places, with out and without" {
    try "$TEST_PYTHON" test_take.py
    assert_success
    assert_output '577 of 577 as numpy.take'
    assert_quiet
}

@test "04: gather_c gathers without Python, and is told of a bad index" {
    try ./gather_c
    assert_success
    assert_output '1000 of 1000 right
index[700] = 1000000 is out of range'
    try env CUDA_VISIBLE_DEVICES= ./gather_c
    assert_failure 1
    assert_regex "$stderr" 'gather_c: CUDA error 100, cudaErrorNoDevice: no CUDA-capable device is detected'
    run interface_of libgather.so
    assert_output 'gather
gather_copy
gather_device_allocate
gather_device_count
gather_device_free
gather_device_of
gather_error_name
gather_error_text
gather_launch
gather_pin
gather_pinned_allocate
gather_pinned_free
gather_unpin
gather_use_device
gather_wait_for'
    for file in libgather.so gather_c gather.*.so; do
        assert_no_absolute_path "$file"
    done
}

@test "04: take refuses what it cannot take, in NumPy's words where NumPy has some" {
    try_python <<'PROGRAM'
import copy
import numpy as np
from gather import DeviceArray, pin, pinned_empty, take

x, i = np.arange(5, dtype=np.float32), np.array([1, 2])
read_only = np.zeros(2, np.float32)
read_only.flags.writeable = False
closed = DeviceArray(x)
closed.close()
closed.close()
for call in [
    lambda: take(x, [5]), lambda: take(x, [0, -6]), lambda: take(x, np.array([2**40])), lambda: take(x[:0], [0], mode="wrap"),
    lambda: take(x, i, mode="huh"), lambda: take(x.reshape(5, 1), i), lambda: take(x.astype(np.float16), i),
    lambda: take(np.array([1, None]), i), lambda: take(x.astype(">f4"), i), lambda: take(x, [1.5]), lambda: take(x, np.array([2**63], np.uint64)), lambda: take(x, [2**64 - 1], mode="wrap"),
    lambda: take(x, i, np.zeros(3, np.float32)), lambda: take(x, i, np.zeros(2)), lambda: take(x, i, read_only), lambda: take(x, i, [0, 0]),
    lambda: take(np.ma.masked_array(x), i), lambda: take(closed, i), lambda: closed.get(), lambda: closed.__enter__(),
    lambda: DeviceArray(np.array([None])), lambda: pin([1]), lambda: pin(x[::2]), lambda: take(x, i, stream="1"),
    lambda: take(x, np.ma.masked_array(i)), lambda: DeviceArray(np.ma.masked_array(x)), lambda: DeviceArray(None), lambda: DeviceArray(),
    lambda: DeviceArray.empty(4, object), lambda: pinned_empty(4, [("a", "O")]), lambda: DeviceArray.empty(2**61 + 1, np.float64),
    lambda: DeviceArray.empty((3, 6148914691236517206)), lambda: pinned_empty(2**62), lambda: pinned_empty(2**64), lambda: DeviceArray.empty(-1),
    lambda: DeviceArray.empty((2.5,)), lambda: type("Mine", (DeviceArray,), {}), lambda: copy.copy(DeviceArray(x)),
    lambda: np.asarray(DeviceArray(x)), lambda: DeviceArray(x) + x, lambda: DeviceArray(DeviceArray(x)),
]:
    try:
        print("NOT REFUSED", call())
    except Exception as error:
        print(type(error).__name__, error, sep=": ")
PROGRAM
    assert_success
    assert_output "IndexError: index 5 is out of bounds for axis 0 with size 5
IndexError: index -6 is out of bounds for axis 0 with size 5
IndexError: index 1099511627776 is out of bounds for axis 0 with size 5
IndexError: cannot do a non-empty take from an empty axes.
ValueError: clipmode must be one of 'clip', 'raise', or 'wrap' (got 'huh')
ValueError: source: one dimension is taken, not 2
TypeError: source: a dtype of 4 or 8 bytes is taken, not float16
TypeError: source: a dtype of 4 or 8 bytes is taken, not object
TypeError: source: a dtype of this machine's byte order is taken, not >f4
TypeError: index: int32 or int64 is taken, not float64
OverflowError: index: 9223372036854775808 does not fit into int64
OverflowError: index: 18446744073709551615 does not fit into int64
ValueError: out: the shape of index, (2,), is taken, not (3,)
TypeError: out: float32 is taken, as the source has, not float64
ValueError: out: a writeable array is taken
ValueError: out: a writeable array is taken
TypeError: source: an array without a mask is taken
ValueError: source: this DeviceArray is closed
ValueError: DeviceArray: this DeviceArray is closed
ValueError: DeviceArray: this DeviceArray is closed
TypeError: dtype: numbers in this machine's byte order are taken, not object
TypeError: x: a contiguous NumPy array is taken
TypeError: x: a contiguous NumPy array is taken
TypeError: stream: an int or what has __cuda_stream__() is taken, not '1'
TypeError: index: an array without a mask is taken
TypeError: array: an array without a mask is taken
TypeError: dtype: numbers in this machine's byte order are taken, not object
TypeError: __cinit__() takes exactly 1 positional argument (0 given)
TypeError: dtype: numbers in this machine's byte order are taken, not object
TypeError: dtype: numbers in this machine's byte order are taken, not [('a', 'O')]
ValueError: shape: (2305843009213693953,) is too big
ValueError: shape: (3, 6148914691236517206) is too big
ValueError: shape: (4611686018427387904,) is too big
ValueError: shape: (18446744073709551616,) is too big
ValueError: shape: negative dimensions are not allowed
TypeError: 'float' object cannot be interpreted as an integer
TypeError: type 'gather.DeviceArray' is not an acceptable base type
TypeError: no default __reduce__ due to non-trivial __cinit__
TypeError: DeviceArray: NumPy cannot read the GPU's memory; get() copies it into an array
TypeError: DeviceArray: NumPy cannot read the GPU's memory; get() copies it into an array
TypeError: DeviceArray: NumPy cannot read the GPU's memory; get() copies it into an array"
}

@test "04: take: out that is strided, overlaps, or stays as it was; read-only and strided sources; a memory map" {
    try_python <<'PROGRAM'
import numpy as np
from gather import CudaError, DeviceArray, pin, pinned_empty, take

x, i = np.arange(10, dtype=np.float64), np.array([9, 0, -1])
wide = np.full((3, 2), 7.0)
assert take(x, i, out=wide[:, 0]).base is wide
print(wide.tolist())
y = x.copy()
take(y, np.arange(9), out=y[1:])  # into itself
print(y.tolist())
out = np.full(3, 7.0)
for source in x, DeviceArray(x):
    try:
        take(source, np.array([0, 10, 1]), out)
    except IndexError as error:
        print(error, out.tolist())
try:
    d = DeviceArray(x)
    take(d, DeviceArray(np.arange(10)), out=d)
except ValueError as error:
    print(error)
print(take(x[::-3], [0, 1]), take(np.broadcast_to(np.float32(3), (1000,)), [999]))
path = __file__ + ".data"
x.tofile(path)
print(take(np.memmap(path, np.float64, "r"), i), take(np.memmap(path, np.float64, "r"), np.arange(1000) % 10).sum())
p = pinned_empty(10, np.float64)
p[...] = x
view = p[2:4]
del p  # the memory lives as long as a view of it
print(view, take(view, [1]), pinned_empty((0, 3)).shape, pinned_empty((2, 3), np.int64).dtype)
with pin(x), pin(np.empty(0)):
    print(take(x, i), take(x[5:], [0]))
print(take(x, i))
big = np.arange(1 << 20, dtype=np.float64)
print(type(take(x, 3)).__name__, take(x, np.array([True, False])), take(x, np.array([1], np.uint64)), take(x, np.array([-1], ">i8")))
# addresses at which the kernel, which reads 8 bytes at once, cannot read
half = np.arange(2001, dtype=np.float32)[1:].view(np.complex64)
packed = np.frombuffer(bytes(1) + np.arange(10.0).tobytes(), [("a", "<f4"), ("b", "<f4")], offset=1)
text = pinned_empty(17, np.uint8)[1:].view("S8")
take(np.array([b"one", b"two"]).astype("S8"), [1, 0], text)
print(take(half, [999, 0]).tolist(), take(packed, [9]).view(np.float64), *text.astype(str))
pinning = pin(x)
pinning.__exit__()
with pinning:
    pass
pinning.__exit__()
print(DeviceArray.empty(np.int64(5)), pinned_empty(np.int64(5)).shape, take(x, i, stream=np.int64(0)))
with pin(big[: 1 << 19]):  # the half of it: CUDA copies nothing that is pinned in part
    try:
        print((take(big, [5, -1]) == big[[5, -1]]).all())
    except CudaError as error:
        print(error.code == 1)
PROGRAM
    assert_success
    assert_output '[[9.0, 7.0], [0.0, 7.0], [9.0, 7.0]]
[0.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
index 10 is out of bounds for axis 0 with size 10 [7.0, 7.0, 7.0]
index 10 is out of bounds for axis 0 with size 10 [7.0, 7.0, 7.0]
out: it overlaps with source or index
[9. 6.] [3.]
[9. 0. 9.] 4500.0
[2. 3.] [3.] (0, 3) int64
[9. 0. 9.] [5.]
[9. 0. 9.]
float64 [1. 0.] [1.] [9.]
[(1999+2000j), (1+2j)] [9.] two one
<DeviceArray of float32, shape (5,)> (5,) [9. 0. 9.]
True'
}

@test "04: take of more indices than go through the scratch memory at a time; cudaDeviceReset frees that memory" {
    build_tools
    try_python TOOLS="$BATS_TEST_TMPDIR/tools.so" <<'PROGRAM'
import ctypes, itertools, os
import numpy as np
from gather import DeviceArray, pinned_empty, take

CHUNK = 1 << 17
random = np.random.default_rng(0)
def pinned(a):
    copy = pinned_empty(a.shape, a.dtype)
    copy[...] = a
    return copy
places = {"ordinary": lambda a: a, "pinned": pinned, "device": DeviceArray}
def host(a):
    return a.get() if isinstance(a, DeviceArray) else a
def check(n, index_type, mode, where):
    x = random.integers(0, 2**31, 1000).astype(np.int32 if index_type is np.int32 else np.int64)
    i = random.integers(-1000, 1000, n).astype(index_type)
    source, index, out = (places[w](a) for w, a in zip(where, (x, i, np.full(n, -1, x.dtype))))
    expected = x[i] if mode != "clip" else x[np.maximum(i, 0)]
    assert np.array_equal(host(take(source, index, mode=mode)), expected), (n, mode, where)
    assert take(source, index, out, mode) is out and np.array_equal(host(out), expected), (n, mode, where)
    for bad in {0, min(n - 1, CHUNK), n - 1}:  # the first bad index is told, whichever chunk it is in
        j = i.copy()
        j[n - 1] = 5000  # told only if it is the first
        j[bad] = outside = -1001 - bad if bad == CHUNK else 1000 + bad
        out = places[where[2]](np.full(n, -1, x.dtype))
        try:
            take(source, places[where[1]](j), out)
            print("NOT REFUSED", n, bad, where)
        except IndexError as error:
            assert str(error) == f"index {outside} is out of bounds for axis 0 with size 1000", (error, where)
        assert where[2] != "ordinary" or (out == -1).all(), (n, bad, where)

for where in itertools.product(places, repeat=3):
    check(CHUNK + 1, np.int64, "raise", where)
modes = itertools.cycle(("raise", "wrap", "clip"))
for n in CHUNK - 1, CHUNK, 2 * CHUNK - 1, 2 * CHUNK, 3 * CHUNK + 7:
    for index_type in np.int32, np.int64:
        check(n, index_type, next(modes), ("device", "ordinary", "ordinary"))

# the same addresses may be another's after a reset
x, i = np.arange(10, dtype=np.float32), np.arange(9, -1, -1)
print(take(x, i, mode="wrap"))
ctypes.CDLL(os.environ["TOOLS"]).reset()
others = [pinned_empty(1 << 22, np.uint8) for _ in range(4)]
for other in others:
    other[...] = 77
print(take(x, i), int(take(x, np.resize(i, CHUNK + 1)).sum()), {int(other.min()) for other in others})
PROGRAM
    assert_success
    assert_output '[9. 8. 7. 6. 5. 4. 3. 2. 1. 0.]
[9. 8. 7. 6. 5. 4. 3. 2. 1. 0.] 589839 {77}'
}

@test "04: take reads and writes what has a __cuda_array_interface__ in place, and gives one back" {
    try_python <<'PROGRAM'
import re
import numpy as np
from gather import DeviceArray, take

class CudaArray:  # as those of other libraries look from outside
    def __init__(self, x, **more):
        self.owner = DeviceArray(x)
        self.__cuda_array_interface__ = {**self.owner.__cuda_array_interface__, **more}

x = CudaArray(np.arange(10, dtype=np.float32))
i, out = CudaArray(np.array([[3, -1], [0, 4]])), CudaArray(np.zeros((2, 2), np.float32))
new = take(x, i)
print(type(new).__name__, new.get().tolist(), new.__cuda_array_interface__["typestr"], new.shape)
assert take(x, i, out) is out
print(out.owner.get().tolist())  # written where it is
print(type(take(x, np.array([1]))).__name__, type(take(np.arange(3.0), i.owner, mode="wrap")).__name__)
take(x, i, new, mode="clip")
print(new.get().tolist())
host = np.zeros(4, np.float32)
for name, call in [
    ("strided", lambda: take(CudaArray(np.arange(10, dtype=np.float32), strides=(8,), shape=(5,)), i)),
    ("read-only", lambda: take(x, i, CudaArray(np.zeros((2, 2), np.float32), data=(out.owner.__cuda_array_interface__["data"][0], True)))),
    ("masked", lambda: take(CudaArray(np.arange(10, dtype=np.float32), mask=x), i)),
    ("bad", lambda: take(x, CudaArray(np.array([0, 10, -11])))),
    ("byte order", lambda: take(CudaArray(np.arange(10, dtype=np.float32), typestr=">f4"), i)),
    ("no type", lambda: take(CudaArray(np.arange(10, dtype=np.float32), typestr=None), i)),
    ("objects", lambda: take(CudaArray(np.arange(10), typestr="|O"), i)),
    ("half", lambda: take(CudaArray(np.arange(10), typestr="<c8", shape=(4,), data=(x.owner.__cuda_array_interface__["data"][0] + 4, False)), i)),
    ("shape", lambda: take(CudaArray(np.arange(10, dtype=np.float32), shape=(10.5,)), i)),
    ("large", lambda: take(CudaArray(np.arange(10, dtype=np.float32), shape=(2**40, 2**40)), i)),
    ("address", lambda: take(CudaArray(np.arange(10, dtype=np.float32), data=(4096, False)), i)),
    ("address", lambda: take(x, i, CudaArray(np.zeros((2, 2), np.float32), data=(host.ctypes.data, False)))),
]:
    try:
        print("NOT REFUSED", name, call())
    except (ValueError, TypeError, IndexError) as error:
        print(name, type(error).__name__, re.sub("address, 0x[0-9a-f]*[048c], is", "address is", str(error).replace(hex(host.ctypes.data), "HOST")))
plain = CudaArray(np.arange(10, dtype=np.float32), strides=[4], stream=None)  # said out loud: contiguous, and no stream
print(take(plain, i).get().tolist())
PROGRAM
    assert_success
    assert_output "DeviceArray [[3.0, 9.0], [0.0, 4.0]] <f4 (2, 2)
[[3.0, 9.0], [0.0, 4.0]]
ndarray DeviceArray
[[3.0, 0.0], [0.0, 4.0]]
strided ValueError source: a contiguous CUDA array is taken
read-only ValueError out: the array is read-only
masked TypeError source: a CUDA array without a mask is taken
bad IndexError index 10 is out of bounds for axis 0 with size 10
byte order TypeError source: numbers in this machine's byte order are taken, not '>f4'
no type TypeError source: numbers in this machine's byte order are taken, not None
objects TypeError source: numbers in this machine's byte order are taken, not '|O'
half ValueError source: its address is no multiple of 8
shape TypeError 'float' object cannot be interpreted as an integer
large ValueError shape: (1099511627776, 1099511627776) is too big
address ValueError source: there is no CUDA memory at its address, 0x1000
address ValueError out: there is no CUDA memory at its address, HOST
[[3.0, 9.0], [0.0, 4.0]]"
}

@test "04: take: arrays of CuPy and PyTorch go in and come out where they are" {
    requires gpu
    "$TEST_PYTHON" -c 'import cupy, torch' 2>/dev/null || skip "needs CuPy and PyTorch"
    try_python <<'PROGRAM'
import cupy, numpy as np, torch
from gather import DeviceArray, take
x, i = np.arange(1000, dtype=np.float32), np.random.default_rng(0).integers(-1000, 1000, 5000)
expected = x[i]
for name, up, down, pointer in [
    ("CuPy", cupy.asarray, cupy.asnumpy, lambda a: a.data.ptr),
    ("PyTorch", lambda a: torch.from_numpy(a).cuda(), lambda a: a.cpu().numpy(), lambda a: a.data_ptr()),
]:
    s, idx, out = up(x), up(i), up(np.zeros(5000, np.float32))
    before = pointer(out)
    assert take(s, idx, out) is out and pointer(out) == before and np.array_equal(down(out), expected)
    out = up(np.zeros(5000, np.float32))
    take(s, idx, out, mode="wrap")
    assert np.array_equal(down(out), expected)
    new = take(s, idx)
    there = cupy.asarray(new) if name == "CuPy" else torch.as_tensor(new, device="cuda")
    assert pointer(there) == new.__cuda_array_interface__["data"][0] and np.array_equal(down(there), expected)
    print(name, type(new).__name__, "without a copy")
stream = cupy.cuda.Stream(non_blocking=True)
with stream:
    s = cupy.arange(1 << 24, dtype=cupy.float32) * 2  # pending on that stream
    idx = cupy.arange(1 << 24, dtype=cupy.int32)
    new = take(s, idx, mode="clip")
print("order kept", bool((new.get() == np.arange(1 << 24, dtype=np.float32) * 2).all()))
with cupy.cuda.Stream.ptds:  # the per-thread stream: another one in a thread of take's own
    s = cupy.zeros(1 << 28, cupy.float32)
    take(s, np.zeros(1 << 20, np.int32), stream=2)
    for _ in range(100):  # 50 ms of work
        s += 1
    new = take(s, np.zeros(1 << 20, np.int32), stream=2)
print("order kept", bool((new == 100).all()))
PROGRAM
    assert_success
    assert_output 'CuPy DeviceArray without a copy
PyTorch DeviceArray without a copy
order kept True
order kept True'
}

@test "04: take in a context that is not its device's primary one, as PyCUDA makes" {
    requires gpu
    try_python <<'PROGRAM'
import ctypes, numpy as np
from gather import DeviceArray, take
cuda = ctypes.CDLL("libcuda.so.1")
x = np.arange(1 << 26, dtype=np.float32)
i = np.random.default_rng(0).integers(-x.size, x.size, 1 << 20)  # an ordinary index of many chunks
primary = DeviceArray(x)
print((take(primary, i) == x[i]).all())
context, current = ctypes.c_void_p(), ctypes.c_void_p()
print(cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0))
d_x = DeviceArray(x)
print((take(d_x, i) == x[i]).all(), (take(d_x, i, np.zeros(i.size, np.float32)) == x[i]).all(), (take(x, i) == x[i]).all())
print(cuda.cuCtxGetCurrent(ctypes.byref(current)), current.value == context.value)
address = ctypes.c_uint64(d_x.__cuda_array_interface__["data"][0])
for value in range(1001):  # 60 ms of work, pending on this context's default stream
    error = cuda.cuMemsetD32Async(address, value, ctypes.c_size_t(x.size), None)
print(error, (take(d_x, i).view(np.int32) == value).all())
d_x.close()
print(cuda.cuCtxDestroy_v2(context), (take(primary, i) == x[i]).all())
PROGRAM
    assert_success
    assert_output 'True
0
True True True
0 True
0 True
0 True'
}

@test "04: take leaves nothing on the device; a DeviceArray in use by another thread goes when that is done" {
    build_tools
    try_python TOOLS="$BATS_TEST_TMPDIR/tools.so" <<'PROGRAM'
import ctypes, os, threading
import numpy as np
from gather import DeviceArray, pin, pinned_empty, take
free_bytes = ctypes.CDLL(os.environ["TOOLS"]).free_bytes
free_bytes.restype = ctypes.c_size_t
x, i = np.arange(1 << 20, dtype=np.float32), np.arange(1 << 16, dtype=np.int32)
d_x, d_i, d_out = DeviceArray(x), DeviceArray(i), DeviceArray.empty(1 << 16)
take(x, i), take(x, np.resize(i, 1 << 18)), take(d_x, i), take(d_x, d_i, d_out)  # pinned and pooled memory stays
before = free_bytes()
for k in range(300):
    take(d_x, d_i, d_out, ("raise", "wrap", "clip")[k % 3])
for k in range(20):
    take(x, i), take(x, np.resize(i, 1 << 18)), take(d_x, i), take(d_x, d_i), DeviceArray(x).close(), pinned_empty(1 << 20)
    with pin(x):
        take(x, i)
    try:
        take(x, [1 << 20])
    except IndexError:
        pass
print(before - free_bytes())
twice = DeviceArray(np.arange(1 << 20))
take(twice, twice).close(), twice.close()  # source and index are one
print(before - free_bytes())
outcomes = set()
def use(d):
    try:
        while True:
            outcomes.add("right" if (take(d, i) == x[i]).all() else "WRONG")
    except ValueError as error:
        outcomes.add(str(error))
for attempt in range(10):
    d = DeviceArray(x)
    threads = [threading.Thread(target=use, args=(d,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    while attempt == 0 and not outcomes:
        pass
    d.close()
    for thread in threads:
        thread.join()
print(sorted(outcomes), before - free_bytes())
PROGRAM
    assert_success
    assert_output "0
0
['right', 'source: this DeviceArray is closed'] 0"
}

@test "04: whichever CUDA call of take fails, an exception comes, and nothing stays" {
    local cpu=$BATS_TEST_TMPDIR/cpu k
    mkdir "$cpu"
    cp gather.*.so "$cpu"
    "$TOP/common/cpu/nvcc" -I../common -shared -Xcompiler -fPIC,-fvisibility=hidden -o "$cpu/libgather.so" gather*.cu
    cat >"$cpu/loop.py" <<'PROGRAM'
import os, sys
import numpy as np
from gather import CudaError, DeviceArray, take
what = sys.argv[1]  # few indices: the source is pinned; many: it is uploaded, in parts if need be
x = np.arange((18 if what in ("parts", "wrap") else 1) << 20, dtype=np.float32)
i = np.resize(np.arange(1000) * 17, 1000 if what == "pinned" else 4 << 20)
out = np.full(i.size, -1, np.float32)
status = 0
for k in sys.argv[2:]:  # each in a process of its own, and CUDA is not used before
    child = os.fork()
    if child:
        status |= os.waitpid(child, 0)[1]
        continue
    os.environ["CPU_CUDA_FAIL"] = k
    try:
        if what == "pinned":
            take(x, i)  # the second time, the scratch memory is there
        if what == "device":
            result = take(DeviceArray(x[:100]), DeviceArray(i[:5])).get()
        else:
            result = take(x, i, out, "wrap" if what == "wrap" else "raise")
        print(k, "right" if (result == x[i[: len(result)]]).all() else "WRONG", flush=True)
    except (CudaError, MemoryError) as error:
        print(k, type(error).__name__, "right" if (out == -1).all() else "WRONG", flush=True)
    sys.exit()
sys.exit(status != 0)
PROGRAM
    cd "$cpu" || return 1
    # From the first call to the last (some are the same in all), and one that is not reached; not those by which
    # the scratch memory is freed at the end.
    local -A calls=([pinned]=$(seq 32) [parts]="$(seq 8 29) 60 82 83" [wrap]="8 11 12 13" [device]=$(seq 12 30))
    for what in pinned parts wrap device; do
        # shellcheck disable=SC2086 # several arguments
        try env CPU_CUDA_LEAKS=1 "$TEST_PYTHON" loop.py $what ${calls[$what]} 999
        assert_success # CPU_CUDA_LEAKS=1: nothing stays
        for line in "${lines[@]}"; do
            assert_regex "$line" '^[0-9]+ (MemoryError )?right$' # no other error follows from the one asked for
        done
        assert_line --regexp '^[0-9]+ MemoryError right$'
        assert_line '999 right'
    done
    # a device without memory pools: scratch memory from cudaMalloc
    echo 'int cudaMemPoolCreate(void *pool, const void *properties) { return 801; }
          int cudaFreeAsync(void *pointer, void *stream) { return 801; }' | gcc -x c -shared -fPIC -o no_pools.so -
    for what in pinned parts device; do
        try env CPU_CUDA_LEAKS=1 LD_PRELOAD="$cpu/no_pools.so" "$TEST_PYTHON" loop.py $what 999
        assert_success
        assert_output '999 right'
    done
    # somebody calls cudaDeviceReset(), and the first buffer comes to lie where the second was
    echo '#include <sys/mman.h>
          int cudaHostRegister(void *, unsigned long, unsigned), cudaHostUnregister(void *);
          static char *place(int k) { return (char *)(1ul << 44) + k * (16ul << 20); }
          int cudaMallocHost(void **pointer, unsigned long bytes)
          {
              static int calls, where[] = {0, 1, 1, 2};
              *pointer = mmap(place(where[calls++]), bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
              return cudaHostRegister(*pointer, bytes, 0);
          }
          int cudaDeviceReset(void) { return cudaHostUnregister(place(0)) + cudaHostUnregister(place(1)); }' |
        gcc -x c -shared -fPIC -o places.so - -L"$TOP/common/cpu/lib" -lcpu_cuda -Wl,-rpath,"$TOP/common/cpu/lib"
    cat >reset.py <<'PROGRAM'
import ctypes, sys
import numpy as np
from gather import take
x = np.arange(1000, dtype=np.float32)
i = np.random.default_rng(0).integers(-1000, 1000, 1 << 20)
for k in range(2):
    print((take(x, i) == x[i]).all(), ctypes.CDLL(None).cudaDeviceReset() if k == 0 else "")
PROGRAM
    try env LD_PRELOAD="$cpu/places.so" "$TEST_PYTHON" reset.py
    assert_success
    assert_output 'True 0
True '
    # a machine with two GPUs, and a stream of the other one: it is refused before anything runs there
    echo 'int cudaGetDeviceCount(int *count) { *count = 2; return 0; }
          int cudaEventRecord(void *event, void *stream) { return stream ? 400 : 0; }
          int cpu_cuda_launch() { __builtin_trap(); }' | gcc -x c -shared -fPIC -o other.so -
    cat >stream.py <<'PROGRAM'
import ctypes, sys
import numpy as np
from gather import CudaError, DeviceArray, take
cuda, stream = ctypes.CDLL(sys.argv[1]), ctypes.c_void_p()
cuda.cudaStreamCreate(ctypes.byref(stream))
d_x, d_i = DeviceArray(np.arange(5.0)), DeviceArray(np.arange(5))
for source, index in (np.arange(5.0), [1]), (d_x, [1]), (d_x, d_i):
    try:
        print("NOT REFUSED", take(source, index, mode="wrap", stream=stream.value))
    except CudaError as error:
        print(error)
PROGRAM
    try env LD_PRELOAD="$cpu/other.so" "$TEST_PYTHON" stream.py "$TOP/common/cpu/lib/libcpu_cuda.so"
    assert_success
    assert_output 'CUDA error 400, cudaErrorInvalidResourceHandle: invalid resource handle
CUDA error 400, cudaErrorInvalidResourceHandle: invalid resource handle
CUDA error 400, cudaErrorInvalidResourceHandle: invalid resource handle'
}

@test "04: take beside other threads that close its arrays, pin its source, or copy it" {
    try_python <<'PROGRAM'
import threading, time
import numpy as np
from gather import DeviceArray, pin, take

def while_taking(call, *arrays, **more):
    """What `call`, 100 times, and the takes of two other threads meanwhile come to."""
    outcomes, done = set(), threading.Event()
    def other():
        while not done.is_set():
            outcomes.add(("take", outcome(lambda: take(*arrays, **more))))
    threads = [threading.Thread(target=other) for _ in range(2)]
    for thread in threads:
        thread.start()
    for k in range(100):
        outcomes.add(("call", outcome(call)))
    done.set()
    for thread in threads:
        thread.join()
    return sorted(outcomes)
def outcome(call):
    try:
        call()
        return "right"
    except Exception as error:
        return f"{type(error).__name__} {error}"

x, few = np.arange(1 << 20, dtype=np.float64), np.arange(1000)
def pin_it():
    with pin(x):
        assert (take(x, few) == few).all()
print(while_taking(pin_it, x, few))
print(while_taking(lambda: DeviceArray(x).close(), x[: 1 << 19], few))

bad = np.zeros(1 << 21, np.int64)
bad[-1] = 77
seen = set()
for k in range(30):
    index = DeviceArray(bad)
    closer = threading.Thread(target=lambda: (time.sleep(0.001 * (k % 10)), index.close()))
    closer.start()
    seen.add(outcome(lambda: take(few[:10], index)))
    closer.join()
closed = {"ValueError index: this DeviceArray is closed", "ValueError source, index or out: this DeviceArray was closed meanwhile"}
print(sorted(seen - closed))

class Closes:  # a stream whose owner closes the source
    def __cuda_stream__(self):
        d_x.close()
        return 0, 0
d_x = DeviceArray(x)
print(outcome(lambda: take(d_x, few, stream=Closes())), take(x, [5]))
PROGRAM
    assert_success
    assert_output "[('call', 'right'), ('take', 'right')]
[('call', 'right'), ('take', 'right')]
['IndexError index 77 is out of bounds for axis 0 with size 10']
ValueError source, index or out: this DeviceArray was closed meanwhile [5.]"
}

@test "04: take on streams: work stays where the arrays name it, and nobody overwrites what is still to be read" {
    build_tools
    try_python TOOLS="$BATS_TEST_TMPDIR/tools.so" <<'PROGRAM'
import ctypes, os
import numpy as np
from gather import DeviceArray, pinned_empty, take
tools = ctypes.CDLL(os.environ["TOOLS"])
tools.new_stream.restype = ctypes.c_void_p
A, B = tools.new_stream(), tools.new_stream()
n = 1 << 24
x, y, index = np.arange(n, dtype=np.float32), np.full(n, -1, np.float32), np.arange(n, dtype=np.int32)
d_x, d_y, d_index, d_out = DeviceArray(x), DeviceArray(y), DeviceArray(index), DeviceArray.empty(n)

take(d_x, d_index, d_out, mode="wrap", stream=A)  # reads d_x, and does not wait
take(d_y, d_index, d_x, mode="wrap", stream=B)  # overwrites it
print((d_out.get() == x).all(), (d_x.get() == -1).all())

class OnA:  # an array of a library that works on stream A
    def __init__(self, x):
        self.owner = DeviceArray(x)
        self.address = self.owner.__cuda_array_interface__["data"][0]
        self.__cuda_array_interface__ = {**self.owner.__cuda_array_interface__, "stream": A}
source, where = OnA(x), OnA(index)
minus = pinned_empty(n)
minus[...] = -1
new = take(source, where, mode="wrap")  # does not wait
code = tools.copy_on(ctypes.c_void_p(A), ctypes.c_void_p(source.address), ctypes.c_void_p(minus.ctypes.data), ctypes.c_size_t(4 * n))
print(code, new.__cuda_array_interface__["stream"] == A, (new.get() == x).all())
another = OnA(x)  # all under new names: to free memory is to wait
newer = take(another, where, mode="wrap", stream=B)
tools.copy_on(ctypes.c_void_p(A), ctypes.c_void_p(another.address), ctypes.c_void_p(minus.ctypes.data), ctypes.c_size_t(4 * n))
print((newer.get() == x).all())

waited = take(d_y, d_index, stream=A)  # "raise" waits: after that the stream may go
for d in d_x, d_y, d_index, d_out, new, newer:
    d.get()
print(tools.end_stream(ctypes.c_void_p(A)), (waited.get() == -1).all(), waited.__cuda_array_interface__["stream"])

class Stream:  # as other libraries have them
    def __init__(self):
        self.handle = tools.new_stream()
    def __cuda_stream__(self):
        return 0, self.handle
    def __del__(self):
        tools.end_stream(ctypes.c_void_p(self.handle))
e_x, e_index = DeviceArray(x), DeviceArray(index)
first = take(e_x, e_index, mode="wrap", stream=Stream())  # what is computed there keeps it
second = take(first, e_index, mode="wrap")
del first
print((second.get() == x).all(), (take(second, [5])), (e_x.get() == x).all(), take(e_x, [5]))  # what was only read has nothing to do with it
PROGRAM
    assert_success
    assert_output 'True True
0 True True
True
0 True 1
True [5.] True [5.]'
}

@test "04: Python ends while other threads are in take; forks while they are; somebody else resets the device" {
    # On a GPU CUDA promises nothing while the process ends: there a run has ended in a mutex, most likely the driver's.
    for k in 1 2 3; do
        [ "$TEST_BACKEND" = cpu ] || break
        try_python <<'PROGRAM'
import threading, time
import numpy as np
from gather import take
x, i = np.arange(1 << 20, dtype=np.float64), np.arange(1 << 20)
def forever():
    while True:
        take(x, i)
for k in range(4):
    threading.Thread(target=forever, daemon=True).start()
time.sleep(0.2)
PROGRAM
        assert_success
    done
    try_python <<'PROGRAM'
import os, threading, time, warnings
import numpy as np
from gather import CudaError, DeviceArray, take
warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12: of a fork with threads
x, i = np.arange(1 << 20, dtype=np.float64), np.arange(1 << 20)
d_x, done, codes = DeviceArray(x), False, set()
def until_done():
    while not done:
        take(x, i)
thread = threading.Thread(target=until_done)
thread.start()
time.sleep(0.2)
for k in range(6):
    child = os.fork()
    if child == 0:
        code = 0
        for call in lambda: take(x, i), lambda: take(d_x, i), d_x.get:
            try:
                call()
                code = 99
            except CudaError as error:
                code = code or error.code
        os._exit(code)
    codes.add(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
done = True
thread.join()
print(codes, take(x, [7]))
PROGRAM
    assert_success
    assert_output '{3} [7.]'
    build_tools
    try_python TOOLS="$BATS_TEST_TMPDIR/tools.so" <<'PROGRAM'
import ctypes, os
import numpy as np
from gather import CudaError, take
x = np.arange(1000.0)
print(take(x, [5]), ctypes.CDLL(os.environ["TOOLS"]).reset())
try:
    print(take(x, [5]))
except CudaError:
    print("[5.]")  # an error is right, too; a crash is not
PROGRAM
    assert_success
    assert_output '[5.] 0
[5.]'
}

@test "04: take works on the GPU on which the arrays lie, and on no other" {
    cp ./*.so "$BATS_TEST_TMPDIR"
    cd "$BATS_TEST_TMPDIR" || return 1
    # In the library's place: a machine with two GPUs, as far as take can see. What is called on which, is printed.
    cat >fake.c <<'PROGRAM'
#include "gather.cuh"
#include <stdio.h>
#include <stdlib.h>
static int current;
static int say(const char *what) { printf("%s on %d\n", what, current); return fflush(stdout); }
int gather_device_count(int *count) { *count = 2; return 0; }
int gather_use_device(int device, int *before) { *before = current; current = device; return 0; }
int use(int device) { return current = device; }
int gather_device_of(const void *pointer, int *device) { *device = *(int *)pointer; return 0; }
int gather_device_allocate(void **pointer, size_t bytes) { *pointer = malloc(bytes); *(int *)*pointer = current; return 0; }
int gather_device_free(void *pointer) { return 0; }
int gather_launch(const struct gather_job *job, unsigned long long *first_bad) { return say("launch"); }
int gather(const struct gather_job *job, size_t *first_bad) { return say("gather"); }
int gather_copy(void *to, const void *from, size_t bytes, void *stream) { return say("copy"); }
int gather_pinned_allocate(void **pointer, size_t bytes) { *pointer = malloc(bytes); return 0; }
int gather_pinned_free(void *pointer) { return 0; }
int gather_pin(void *pointer, size_t bytes) { return 0; }
int gather_unpin(void *pointer) { return 0; }
int gather_wait_for(void *stream, void *other) { return 0; }
const char *gather_error_name(int code) { return ""; }
const char *gather_error_text(int code) { return ""; }
PROGRAM
    gcc -shared -fPIC -I"$TOP/04-gather" -o libgather.so fake.c
    try_python <<'PROGRAM'
import ctypes
import numpy as np
from gather import DeviceArray, take
use = ctypes.CDLL("./libgather.so").use
x, i = np.zeros(3, np.float32), np.zeros(2, np.int32)
here, i_here = DeviceArray(x), DeviceArray(i)
use(1)
there, i_there = DeviceArray(x), DeviceArray(i)
use(0)
take(there, i), take(x, i), take(here, i)  # x: on the current one, which is what it was
new = take(there, i_there, mode="wrap")
new.get(), here.get()
take(there, i_there, mode="clip", out=new)
for arrays in (here, i_there), (there, i_there, take(here, i_here)):
    try:
        take(*arrays)
    except ValueError as error:
        print(error, flush=True)
take(x, i)
PROGRAM
    assert_success
    assert_output 'copy on 0
copy on 0
copy on 1
copy on 1
gather on 1
gather on 0
gather on 0
launch on 1
copy on 1
copy on 0
launch on 1
gather on 0
source, index and out: one GPU is taken, not both 0 and 1
source, index and out: one GPU is taken, not both 1 and 0
gather on 0'
}

@test "04: other Python threads go on while the GPU works: no call that waits holds the GIL" {
    cp ./*.so "$BATS_TEST_TMPDIR"
    cd "$BATS_TEST_TMPDIR" || return 1
    # In the libraries' place: functions that fail, with code 1, if their caller holds the GIL.
    cat >fake.c <<'PROGRAM'
#include "cuda_index.cuh"
#include "gather.cuh"
#include <stdio.h>
int PyGILState_Check(void);
static long long memory[1000];
int Gather(const float *source, const int *index, float *result, int N, int M) { return PyGILState_Check(); }
int gather_launch(const struct gather_job *job, unsigned long long *first_bad) { return 0; }
int gather(const struct gather_job *job, size_t *first_bad) { *first_bad = 0; return PyGILState_Check() ? 1 : job->M == 3 ? 0 : -1; }
int gather_device_allocate(void **pointer, size_t bytes) { *pointer = memory; return PyGILState_Check(); }
int gather_device_free(void *pointer) { return PyGILState_Check(); }
int gather_pinned_allocate(void **pointer, size_t bytes) { *pointer = memory; return PyGILState_Check(); }
int gather_pinned_free(void *pointer) { return PyGILState_Check() ? fprintf(stderr, "held\n") : 0; }
int gather_pin(void *pointer, size_t bytes) { return PyGILState_Check(); }
int gather_unpin(void *pointer) { return PyGILState_Check(); }
int gather_copy(void *to, const void *from, size_t bytes, void *stream) { return PyGILState_Check(); }
int gather_wait_for(void *stream, void *other) { return 0; }
int gather_device_count(int *count) { *count = 1; return 0; }
int gather_use_device(int device, int *before) { return 0; }
int gather_device_of(const void *pointer, int *device) { *device = 0; return 0; }
const char *gather_error_name(int code) { return "held"; }
const char *gather_error_text(int code) { return "the GIL is held"; }
const char *GatherErrorName(int code) { return "held"; }
const char *GatherErrorText(int code) { return "the GIL is held"; }
PROGRAM
    gcc -shared -fPIC -I"$TOP/04-gather" -o libgather.so fake.c
    cp libgather.so libcuda_index.so
    try_python <<'PROGRAM'
import numpy as np
from gather import DeviceArray, pin, pinned_empty, take
from wrapper import cuda_gather
x, i = np.ones(3, np.float32), np.zeros(2, np.int32)
take(x, i)
pinned_empty(3)
with pin(x):
    pass
try:
    take(np.ones(4), DeviceArray(i))  # "an index is bad", and element() fetches it
except IndexError:
    pass
cuda_gather(x, i)
with DeviceArray(x) as d_x:
    take(d_x, i)
    d_x.get()
print("without the GIL")
PROGRAM
    assert_success
    assert_output 'without the GIL'
    assert_equal "$stderr" ""
}

@test "04: the tables of the page are those of bench.json" {
    mkdir "$BATS_TEST_TMPDIR/page"
    cp README.md bench.json bench_page.py "$BATS_TEST_TMPDIR/page"
    try "$TEST_PYTHON" "$BATS_TEST_TMPDIR/page/bench_page.py" tables
    assert_success
    run diff README.md "$BATS_TEST_TMPDIR/page/README.md"
    assert_success
}

@test "04: the stage runs alone, beside common, and clean removes what was built" {
    run_alone 04-gather
    assert_line --partial test_gather.py
    assert_line '(1048576,)'
    assert_line '1048576'
    assert_line '577 of 577 as numpy.take'
}
