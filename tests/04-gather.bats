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
    command -v compute-sanitizer >/dev/null || skip "needs compute-sanitizer"
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

@test "04: the stage runs alone, beside common, and clean removes what was built" {
    run_alone 04-gather
    assert_line --partial test_gather.py
    assert_line '(1048576,)'
    assert_line '1048576'
}
