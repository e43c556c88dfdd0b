load helpers

setup() {
    cd "$TOP/03-cython-ctypes" || return 1
}

GREETINGS='Hello World From GPU!
Hello World From GPU!
Hello World From GPU!'

# Calls a function of the module, by either way; prints the exception, if there is one, and that Python goes on.
try_way() {
    try_python "${@:2}" <<PROGRAM
import hello
try:
    hello.$1()
except Exception as error:
    print(type(error).__name__, error, sep=": ")
print("Python goes on")
PROGRAM
}

@test "03: libhello.cu is the file of stage 02" {
    run diff libhello.cu ../02-dlopen-from-c/libhello.cu
    assert_success
}

@test "03: each module offers its PyInit and nothing else; modules and libraries name no absolute path" {
    for name in smallest hello multiply four_ways device_array; do
        module=$(echo $name.*.so)
        run interface_of "$module"
        assert_output "PyInit_$name"
        assert_no_absolute_path "$module"
    done
    run interface_of libhello.so
    assert_output 'hello_error_name
hello_error_text
hello_from_gpu'
    run interface_of libmultiply.so
    assert_output 'device_allocate
device_free
device_read
device_wait
device_write
multiply
multiply_error_name
multiply_error_text
multiply_on_device'
    for library in libhello libmultiply libgoes_wrong; do
        assert_no_absolute_path $library.so
    done
}

@test "03: both ways greet three times and say so, in order, through a pipe" {
    for way in run_cuda run_cuda_dlopen; do
        try_python <<PROGRAM
import hello
print("before")
hello.$way()
print("after")
PROGRAM
        assert_success
        assert_equal "$output" "before
$GREETINGS
Load cuda function successfully!
after"
        assert_quiet
    done
}

@test "03: both ways in one process, again and again" {
    try_python <<'PROGRAM'
import hello
for _ in range(3):
    hello.run_cuda()
    hello.run_cuda_dlopen()
PROGRAM
    assert_success
    assert_equal "$(grep -c 'Hello World From GPU!' <<<"$output")" 18
    assert_equal "$(grep -c 'Load cuda function successfully!' <<<"$output")" 6
}

@test "03: the library is found beside the module, from any folder" {
    cd /
    try env PYTHONPATH="$TOP/03-cython-ctypes" "$TEST_PYTHON" -c "import hello; print(hello.find_library())"
    assert_success
    assert_output "$TOP/03-cython-ctypes/libhello.so"
}

@test "03: LD_LIBRARY_TEST_PATH overrides the place" {
    mkdir "$BATS_TEST_TMPDIR/no file" "$BATS_TEST_TMPDIR/later"
    cp libhello.so "$BATS_TEST_TMPDIR/"
    cp libhello.so "$BATS_TEST_TMPDIR/later/"
    mkfifo "$BATS_TEST_TMPDIR/no file/libhello.so"
    # nothing between two ":" is no folder, not the working one, which has a libhello.so
    try_python LD_LIBRARY_TEST_PATH="/nowhere::$BATS_TEST_TMPDIR/no file:$BATS_TEST_TMPDIR:$BATS_TEST_TMPDIR/later:" <<'PROGRAM'
import os
import hello
print(hello.find_library())
os.environ["LD_LIBRARY_TEST_PATH"] = ":"
print(hello.find_library() == os.path.abspath("libhello.so"))
PROGRAM
    assert_success
    assert_output "$BATS_TEST_TMPDIR/libhello.so
True"
}

@test "03: a library that is not there: the exception lists the paths tried" {
    for way in run_cuda run_cuda_dlopen; do
        try_way "$way" LD_LIBRARY_TEST_PATH=/nowhere:/neither
        assert_success
        assert_output "FileNotFoundError: libhello.so is not there; tried: /nowhere/libhello.so, /neither/libhello.so (LD_LIBRARY_TEST_PATH names other folders)
Python goes on"
    done
}

@test "03: a file that is no library, and a library without the function" {
    for way in run_cuda run_cuda_dlopen; do
        echo 'int hello_from_gpu(void) { return 0; }' | gcc -x c -c -o "$BATS_TEST_TMPDIR/libhello.so" -
        try_way "$way" LD_LIBRARY_TEST_PATH="$BATS_TEST_TMPDIR"
        assert_success
        assert_line --index 0 --regexp '^OSError: .*only ET_DYN and ET_EXEC can be loaded'
        assert_line --index 1 'Python goes on'

        echo 'int other(void) { return 0; }' | gcc -x c -shared -fPIC -o "$BATS_TEST_TMPDIR/libhello.so" -
        try_way "$way" LD_LIBRARY_TEST_PATH="$BATS_TEST_TMPDIR"
        assert_success
        assert_line --index 0 --regexp '^AttributeError: .*undefined symbol: hello_from_gpu'
        assert_line --index 1 'Python goes on'

        echo 'int hello_from_gpu(void) { return 77; } char *hello_error_name(int code) { return 0; } char *hello_error_text(int code) { return 0; }' |
            gcc -x c -shared -fPIC -o "$BATS_TEST_TMPDIR/libhello.so" -
        try_way "$way" LD_LIBRARY_TEST_PATH="$BATS_TEST_TMPDIR"
        assert_output 'CudaError: CUDA error 77, no name: no text
Python goes on'
    done
    local folder=$BATS_TEST_TMPDIR/$'\xff' # no UTF-8
    mkdir "$folder"
    echo text >"$folder/libhello.so"
    try_way run_cuda_dlopen LD_LIBRARY_TEST_PATH="$folder" PYTHONIOENCODING=utf-8:surrogateescape
    assert_line --index 0 "OSError: $folder/libhello.so: file too short"
}

@test "03: a CUDA failure is an exception, and Python goes on" {
    for way in run_cuda run_cuda_dlopen; do
        try_way "$way" CUDA_VISIBLE_DEVICES=
        assert_success
        assert_output 'CudaError: CUDA error 100, cudaErrorNoDevice: no CUDA-capable device is detected
Python goes on'
    done
}

@test "03: CudaError has code, name and text, and can be pickled" {
    try_python <<'PROGRAM'
import pickle, hello
error = pickle.loads(pickle.dumps(hello.CudaError(700, "cudaErrorIllegalAddress", "an illegal memory access")))
print(isinstance(error, RuntimeError), error.code, error.name, error.text)
PROGRAM
    assert_success
    assert_output 'True 700 cudaErrorIllegalAddress an illegal memory access'
}

@test "03: importing the modules makes no CUDA call" {
    try "$TEST_PYTHON" -c "import smallest, hello, multiply, four_ways, device_array"
    assert_success
    assert_equal "$output$stderr" ""
}

# ---- NumPy arrays in and out

@test "03: every way multiplies 400 floats as NumPy does" {
    try "$TEST_PYTHON" test_multiply.py
    assert_success
    assert_output "multiply(a, b): 400 of 400 equal to NumPy's
four_ways.by_ctypes(a, b, result): 400 of 400 equal to NumPy's
four_ways.by_ndpointer(a, b, result): 400 of 400 equal to NumPy's
four_ways.by_linking(a, b, result): 400 of 400 equal to NumPy's
four_ways.by_dlopen(a, b, result): 400 of 400 equal to NumPy's
two DeviceArrays: 400 of 400 equal to NumPy's"
    assert_quiet
}

@test "03: multiply takes any shape and layout, result in a new array or in out" {
    try_python <<'PROGRAM'
import sys
import numpy as np
from multiply import multiply

def expect(is_so, *what):
    if not is_so:
        raise AssertionError(what)
random = np.random.default_rng(0)
def new(*shape):
    return random.random(shape, dtype=np.float32)
def read_only(x):
    x.flags.writeable = False
    return x
big = new(40, 30, 20)
unaligned = np.frombuffer(new(7).tobytes().rjust(29), np.uint8)[1:].view(np.float32)
expect(not unaligned.flags.aligned, "unaligned")
count = 0
for a, b in [
    (new(400), new(400)), (new(20, 10), new(20, 10)), (new(2, 3, 4, 5), new(2, 3, 4, 5)), (new(1), new(1)), (new(), new()),
    (new(0), new(0)), (new(0, 5), new(0, 5)), (new(5, 0, 2), new(5, 0, 2)), (new(255), new(255)), (new(257), new(257)),
    (big[::2], big[1::2]), (big[:, ::-3], big[:, ::-3]), (big.T, big.T), (big.T, new(20, 30, 40)), (new(20, 30, 40), big.T),
    (np.asfortranarray(new(20, 10)), np.asfortranarray(new(20, 10))), (np.asfortranarray(new(20, 10)), new(20, 10)),
    (read_only(new(9)), read_only(new(9))), (np.broadcast_to(np.float32(3), (4, 5)), new(4, 5)), (unaligned, new(7)),
    (np.full(6, np.nan, np.float32), np.full(6, np.inf, np.float32)),
]:
    expected = a * b
    kept = a.copy(), b.copy()
    def check(result):
        expect(type(result) is np.ndarray and result.dtype == np.float32 and result.shape == a.shape, (result, a.shape))
        expect(np.array_equal(result, expected, equal_nan=True), (a, b, result))
    result = multiply(a, b)
    check(result)
    expect(result.flags.f_contiguous if a.flags.fnc and b.flags.fnc else result.flags.c_contiguous, "order", a.strides, b.strides)
    expect(not np.shares_memory(result, a) and not np.shares_memory(result, b))
    for out in (np.full(a.shape, 7, np.float32), np.full(a.shape, 7, np.float32, "F"),
                np.zeros(4 * a.size + 1, np.uint8)[1:].view(np.float32).reshape(a.shape),  # unaligned
                np.full(tuple(2 * n for n in a.shape), 7, np.float32)[tuple(slice(None, None, 2) for _ in a.shape) or ...]):
        expect(multiply(a, b, out=out) is out)
        check(out)
    expect(np.array_equal(a, kept[0], equal_nan=True) and np.array_equal(b, kept[1], equal_nan=True))
    if a.flags.writeable:
        expect(multiply(a, b, a) is a)  # in place
        check(a)
    count += 1

mine = np.zeros(6, np.float32).view(type("Mine", (np.ndarray,), {}))  # of a subclass, too, out itself is returned
for out in mine[:3], mine[::2]:
    expect(multiply(np.ones(3, np.float32), np.ones(3, np.float32), out) is out and (out == 1).all(), out)
x = np.arange(10, dtype=np.float32)  # an out that overlaps with an input
multiply(x[:-1], x[:-1], out=x[1:])
expect(x.tolist() == [0, 0, 1, 4, 9, 16, 25, 36, 49, 64], x)
surroundings = np.full((4, 4), 7, np.float32)  # nothing beside a strided out is written
multiply(np.ones((2, 2), "f"), np.ones((2, 2), "f"), out=surroundings[1:3, 1:3])
expect(surroundings.sum() == 12 * 7 + 4, "what surrounds out")
held = sys.getrefcount(x), sys.getrefcount(big)  # nothing holds its arrays after a call
for _ in range(10):
    multiply(x, x), multiply(big[::2], big[1::2])
expect(held == (sys.getrefcount(x), sys.getrefcount(big)), held)
print(count, "pairs of arrays")
PROGRAM
    assert_success
    assert_output '21 pairs of arrays'
}

@test "03: multiply refuses other arrays, and says which and why; out stays as it was" {
    try_python <<'PROGRAM'
import numpy as np
from multiply import multiply

x, out = np.ones(3, np.float32), np.full(3, 7, np.float32)
read_only = np.full(3, 7, np.float32)
read_only.flags.writeable = False
for a, b, o in [([1, 2], x, None), (x, None, None), (x, np.ones(3), None), (np.ones(3, np.int32), x, None),
                (x.astype(">f4"), x, None), (np.ma.masked_array(x), x, None), (x, np.ones(4, np.float32), None),
                (x, np.ones((3, 1), np.float32), None), (x, np.ones(1, np.float32), None), (x, x, [0, 0, 0]),
                (x, x, np.zeros(3)), (x, x, np.zeros(4, np.float32)), (x, x, np.zeros((1, 3), np.float32)), (x, x, read_only), (np.float32(2), x, None),
                (np.array([None, 1, 2]), x, None), (x, np.array(["a"]), out)]:
    try:
        print("NOT REFUSED", multiply(a, b, o))
    except (TypeError, ValueError) as error:
        print(type(error).__name__, error, sep=": ")
if (out != 7).any() or (read_only != 7).any():
    print("WRITTEN")
PROGRAM
    assert_success
    assert_output 'TypeError: a: a NumPy array of float32 is taken, not list
TypeError: b: a NumPy array of float32 is taken, not NoneType
TypeError: b: float32 is taken, not float64
TypeError: a: float32 is taken, not int32
TypeError: a: float32 is taken, not >f4
TypeError: a: a NumPy array of float32 is taken, not MaskedArray
ValueError: a and b: one shape is taken, not (3,) and (4,)
ValueError: a and b: one shape is taken, not (3,) and (3, 1)
ValueError: a and b: one shape is taken, not (3,) and (1,)
TypeError: out: a NumPy array of float32 is taken, not list
TypeError: out: float32 is taken, not float64
ValueError: out: the shape of a and b, (3,), is taken, not (4,)
ValueError: out: the shape of a and b, (3,), is taken, not (1, 3)
ValueError: out: the array is read-only
TypeError: a: a NumPy array of float32 is taken, not float32
TypeError: a: float32 is taken, not object
TypeError: b: float32 is taken, not <U1'
}

@test "03: multiply and DeviceArray: a CUDA failure is an exception, out is untouched, Python goes on" {
    try_python CUDA_VISIBLE_DEVICES= <<'PROGRAM'
import numpy as np
from device_array import CudaError, DeviceArray
from multiply import multiply
import four_ways

x, out = np.ones(3, np.float32), np.full(3, 7, np.float32)
memory = np.full(100, 7, np.float32)
odd = memory.view(np.uint8)[41:53].view(np.float32)  # at an address that 4 does not divide
for call in [lambda: multiply(x, x, out), lambda: multiply(x, x, memory[:9:3]), lambda: multiply(x, x, memory[20:17:-1]),
             lambda: multiply(x, x, odd), lambda: DeviceArray(x), lambda: four_ways.by_ctypes(x, x, out),
             lambda: four_ways.by_ndpointer(x, x, out), lambda: four_ways.by_linking(x, x, out), lambda: four_ways.by_dlopen(x, x, out)]:
    try:
        call()
    except CudaError as error:
        print(error.code, error.name)
print(out, (memory == 7).all())
PROGRAM
    assert_success
    assert_output '100 cudaErrorNoDevice
100 cudaErrorNoDevice
100 cudaErrorNoDevice
100 cudaErrorNoDevice
100 cudaErrorNoDevice
100 cudaErrorNoDevice
100 cudaErrorNoDevice
100 cudaErrorNoDevice
100 cudaErrorNoDevice
[7. 7. 7.] True'
}

@test "03: a GPU without room is a MemoryError that says how much was wanted" {
    try_python <<'PROGRAM'
import cuda_error, pickle
error = cuda_error.exception_for(2, "cudaErrorMemoryAllocation", "out of memory", 123)
print(type(error).__name__, error, sep=": ")
print(repr(cuda_error.exception_for(1, "cudaErrorInvalidValue", "invalid argument", 123)))
PROGRAM
    assert_success
    assert_output "MemoryError: the GPU has no room for these arrays (123 bytes)
CudaError(1, 'cudaErrorInvalidValue', 'invalid argument')"
}

@test "03: the four ways refuse what C would misread" {
    try_python <<'PROGRAM'
import numpy as np
import four_ways

x = np.ones(4, np.float32)
read_only = np.ones(4, np.float32)
read_only.flags.writeable = False
unaligned = np.zeros(17, np.uint8)[1:].view(np.float32)
for way in four_ways.by_ctypes, four_ways.by_ndpointer, four_ways.by_linking, four_ways.by_dlopen:
    answers = []
    for a, b, result in [(x, np.ones(3, np.float32), x), (x, x, np.ones(5, np.float32)), (np.ones(4), x, x), (np.ones(8, np.float32)[::2], x, x),
                         (x, x, read_only), (x, x, np.ones(4, np.int32))]:
        try:
            way(a, b, result)
            answers.append("NOT REFUSED")
        except (TypeError, ValueError) as error:
            answers.append(type(error).__name__)
    print(way.__name__, *answers)
    empty = np.ones(0, np.float32)
    way(empty, empty, empty)
for way in four_ways.by_ctypes, four_ways.by_ndpointer:
    for a, b, result in (unaligned, x, x), (x, unaligned, x), (x, x, unaligned):
        try:
            way(a, b, result)
        except TypeError:
            print("refused", end=" ")
print()
try:
    four_ways.by_linking(x, np.ones(3, np.float32), x)
except ValueError as error:
    print(error)
PROGRAM
    assert_success
    assert_output 'by_ctypes ValueError ValueError TypeError TypeError TypeError TypeError
by_ndpointer ValueError ValueError TypeError TypeError TypeError TypeError
by_linking ValueError ValueError ValueError ValueError ValueError ValueError
by_dlopen ValueError ValueError ValueError ValueError ValueError ValueError
refused refused refused refused refused refused 
arrays of one size are taken, not [4, 3, 4]'
}

# ---- An object that owns device memory

@test "03: DeviceArray: up, multiply there, and back" {
    try_python <<'PROGRAM'
import numpy as np
from device_array import DeviceArray, multiply

def expect(is_so, *what):
    if not is_so:
        raise AssertionError(what)
random = np.random.default_rng(0)
for shape in (400,), (20, 10), (0,), (3, 0), (), (1,):
    a, b = random.random(shape, dtype=np.float32), random.random(shape, dtype=np.float32)
    d_a, d_b = DeviceArray(a), DeviceArray(b)
    multiply(d_a, d_b, d_b)
    multiply(d_a, d_b, d_b)
    result = d_b.get()
    expect(np.array_equal(result, a * (a * b)) and result.shape == shape, "multiplied", shape)
    expect(np.array_equal(d_a.get(), a), "as it was", shape)
x = np.arange(60, dtype=np.float32)
odd = np.frombuffer(bytes(1) + x.tobytes(), np.float32, offset=1)
for a in x[::2], x[::-3], x[7:7], x.reshape(3, 4, 5).T, x.reshape(6, 10)[1::2, ::-2], np.broadcast_to(x[:3], (2, 3)), odd:
    expect(np.array_equal(DeviceArray(a).get(), a), "layout", a.shape, a.strides)
strided = DeviceArray(np.arange(12, dtype=np.float32).reshape(3, 4).T[::2])
print(strided, strided.shape, strided.get().tolist())
PROGRAM
    assert_success
    assert_output '<DeviceArray of float32, shape (2, 3)> (2, 3) [[0.0, 4.0, 8.0], [2.0, 6.0, 10.0]]'
    assert_quiet
}

@test "03: the benchmark's ways, each with a result of its own, multiply" { # its times are taken on a GPU only
    try_python <<'PROGRAM'
import bench
for name, call, wait, result in bench.our_ways():
    call()
    wait()
    print(name, (result() == bench.a * bench.b).all())
PROGRAM
    assert_success
    refute_output --partial False
    assert_line 'C loop True'
}

@test "03: DeviceArray and its multiply refuse other arrays and shapes" {
    try_python <<'PROGRAM'
import numpy as np
from device_array import DeviceArray, multiply

x = np.ones(3, np.float32)
d_x = DeviceArray(x)
for use in (lambda: multiply(DeviceArray(np.ones((1, 3), "f")), d_x, d_x), lambda: multiply(d_x, d_x, DeviceArray(np.ones((3, 1), "f"))),
            lambda: multiply(d_x, None, d_x), lambda: multiply(d_x, x, d_x), lambda: DeviceArray(),
            lambda: DeviceArray([1.0]), lambda: DeviceArray(np.ones(3)), lambda: DeviceArray(None), lambda: np.asarray(d_x)):
    try:
        print("NOT REFUSED", use())
    except (TypeError, ValueError) as error:
        print(type(error).__name__, error, sep=": ")
print(d_x.get())
PROGRAM
    assert_success
    assert_line --index 0 'ValueError: one shape is taken, not (1, 3), (3,) and (3,)'
    assert_line --index 1 'ValueError: one shape is taken, not (3,), (3,) and (3, 1)'
    assert_line --index 2 --regexp '^TypeError: .*(None|NoneType)'
    assert_line --index 3 --regexp "^TypeError: .*numpy.ndarray"
    assert_line --index 4 --regexp '^TypeError: '
    assert_line --index 5 'TypeError: array: a NumPy array of float32 is taken, not list'
    assert_line --index 6 'TypeError: array: float32 is taken, not float64'
    assert_line --index 7 'TypeError: array: a NumPy array of float32 is taken, not NoneType'
    assert_line --index 8 "TypeError: DeviceArray: NumPy cannot read the GPU's memory; get() copies it into an array"
    assert_line --index 9 '[1. 1. 1.]'
    assert_equal "${#lines[@]}" 10
}

# Free device memory as the library's runtime sees it is not in its interface: cudaMemGetInfo of a library of the test's own.
@test "03: nothing stays allocated: collected, failed in the constructor, multiplied; threads copy what another lets go of" {
    build_tools
    try_python TOOLS="$BATS_TEST_TMPDIR/tools.so" <<'PROGRAM'
import ctypes, os, threading
import numpy as np
from device_array import DeviceArray, multiply
import multiply as on_host

free_bytes = ctypes.CDLL(os.environ["TOOLS"]).free_bytes
free_bytes.restype = ctypes.c_size_t
x = np.ones(1 << 20, np.float32)  # 4 MiB
on_host.multiply(x, x)
before = free_bytes()
d_x = DeviceArray(x)
print("4 MiB are in use:", before - free_bytes() == x.nbytes)
del d_x
print("collected:", before - free_bytes())

class Failing(DeviceArray):
    def __init__(self, array):
        raise RuntimeError("in the constructor")
for _ in range(20):
    try:
        Failing(x)
    except RuntimeError:
        pass
    try:
        DeviceArray(np.ones(3))
    except TypeError:
        pass
print("failed:", before - free_bytes())
d_x = DeviceArray(x)
multiply(d_x, d_x, d_x)
on_host.multiply(x, x)
outcomes = []
def copy(d_x):
    try:
        outcomes.extend((d_x.get() == 1).all() for _ in range(5))
    except Exception as error:  # it would end the thread in silence
        outcomes.append(error)
threads = [threading.Thread(target=copy, args=(d_x,)) for _ in range(4)]
for thread in threads:
    thread.start()
del d_x
while threads:
    threads.pop().join()
print("copied:", outcomes == [True] * 20, before - free_bytes())
PROGRAM
    assert_success
    assert_output '4 MiB are in use: True
collected: 0
failed: 0
copied: True 0'
}

@test "03: a refused DeviceArray leaves CUDA alone: a fork after it is harmless" {
    try_python <<'PROGRAM'
import os
import numpy as np
from device_array import DeviceArray
from multiply import multiply
try:
    DeviceArray([1.0])
except TypeError:
    pass
if os.fork() == 0:
    print(multiply(np.ones(2, "f"), np.ones(2, "f")), flush=True)
    os._exit(0)
os.wait()
PROGRAM
    assert_success
    assert_output '[1. 1.]'
}

@test "03: the C interface: sizes that there are not, a pointer that is none, and all well after that" {
    EXPECTED='cudaFree: 0x1000 is not the start' try_python <<'PROGRAM'
import ctypes, os
library, SIZE = ctypes.CDLL("./libmultiply.so"), ctypes.c_size_t
d_x, x = ctypes.c_void_p(5), (ctypes.c_float * 4)(1, 2, 3, 4)
huge = SIZE(2**62 + 2)
print(library.device_allocate(ctypes.byref(d_x), huge), d_x.value)
print(library.device_allocate(ctypes.byref(d_x), SIZE(4)), library.device_write(d_x, x, SIZE(4)))
print(library.device_write(d_x, x, huge), library.device_read(x, d_x, huge), list(x))
print(library.multiply_on_device(d_x, d_x, d_x, SIZE(2**40 + 256)), library.multiply_on_device(d_x, d_x, d_x, SIZE(2**64 - 1)))
print(library.multiply_on_device(d_x, d_x, d_x, SIZE(4)), library.device_read(x, d_x, SIZE(4)), list(x))
if os.environ["TEST_BACKEND"] == "cuda":  # the elements beyond 2**32, in 16 GiB
    d_y, y, far = ctypes.c_void_p(), (ctypes.c_float * 4)(), 2**32
    library.device_allocate(ctypes.byref(d_y), SIZE(far + 4))
    end = ctypes.c_void_p(d_y.value + 4 * far)
    library.device_write(end, x, SIZE(4))
    library.multiply_on_device(d_y, d_y, d_y, SIZE(far + 4))
    if library.device_read(y, end, SIZE(4)) != 0 or list(y) != [1, 16, 81, 256]:
        print("beyond 2**32:", list(y))
    library.device_free(d_y)
for d_a, d_b, d_result in (None, d_x, d_x), (d_x, None, d_x), (d_x, d_x, None):
    print(library.multiply_on_device(d_a, d_b, d_result, SIZE(4)), end=" ")
for a, b, result in (None, x, x), (x, None, x), (x, x, None):
    print(library.multiply(a, b, result, SIZE(4)), end=" ")
print(library.device_allocate(None, SIZE(4)), library.device_write(None, x, SIZE(4)), library.device_write(d_x, None, SIZE(4)), end=" ")
print(library.device_read(None, d_x, SIZE(4)), library.device_read(x, None, SIZE(4)), library.multiply(None, None, None, SIZE(0)))
print(library.device_free(d_x), library.device_free(None), library.device_free(ctypes.c_void_p(4096)))
print(library.multiply(x, x, x, SIZE(4)), list(x))
PROGRAM
    assert_success
    assert_output '2 None
0 0
1 1 [1.0, 2.0, 3.0, 4.0]
1 1
0 0 [1.0, 4.0, 9.0, 16.0]
1 1 1 1 1 1 1 1 1 1 1 0
0 0 1
0 [1.0, 16.0, 81.0, 256.0]'
}

@test "03: whichever CUDA call fails, an exception comes, out is untouched and nothing stays allocated" {
    local cpu=$BATS_TEST_TMPDIR/cpu
    mkdir "$cpu"
    cp ./*.py ./*.so "$cpu"
    "$TOP/common/cpu/nvcc" -I../common -shared -Xcompiler -fPIC,-fvisibility=hidden -o "$cpu/libmultiply.so" libmultiply.cu
    cd "$cpu" || return 1
    try_python PYTHONPATH="$cpu:$BATS_TEST_DIRNAME" <<'PROGRAM'
import numpy as np
from device_array import CudaError, DeviceArray, multiply as on_device
from failing_calls import each_failing_call
from multiply import multiply
x, out = np.full(300, 3, np.float32), np.full(300, 7, np.float32)
def hosts():
    return multiply(x, x, out=out)
def device():
    d_x = DeviceArray(x)
    on_device(d_x, d_x, d_x)
    return d_x.get()
for call in hosts, device:
    def tried():
        try:
            return "right" if (call() == 9).all() else "WRONG"
        except (CudaError, MemoryError) as error:
            word = error if isinstance(error, MemoryError) else type(error).__name__
            return f"[{word}]" if (out == 7).all() else "CHANGED out"
    each_failing_call(tried, 2)
    each_failing_call(tried, 700)
PROGRAM
    assert_success
    # a cudaFree that fails comes after the result, and nobody looks at it
    assert_output 'with a failing call: [the GPU has no room for these arrays (2400 bytes)] right without: right
with a failing call: [CudaError] right without: right
with a failing call: [the GPU has no room for these arrays (1200 bytes)] [the GPU has no room for these arrays] right without: right
with a failing call: [CudaError] right without: right'
}

@test "03: an error that somebody else left behind is not taken for this call's, and none is left" {
    # one runtime for all, as on the stand-in and with a shared libcudart
    ../common/cpu/nvcc -O1 -I../common -shared -Xcompiler -fPIC -o "$BATS_TEST_TMPDIR/libmultiply.so" libmultiply.cu
    EXPECTED=CPU_CUDA_FAIL try_python LD_LIBRARY_PATH="$BATS_TEST_TMPDIR" <<'PROGRAM'
import ctypes, os
import numpy as np
from device_array import DeviceArray, multiply as on_device
from multiply import CudaError, multiply
runtime = ctypes.CDLL("../common/cpu/lib/libcpu_cuda.so")
x = np.full(3, 3, np.float32)
d_x = DeviceArray(x)
print(runtime.cudaSetDevice(99), runtime.cudaPeekAtLastError(), multiply(x, x), runtime.cudaGetLastError())
print(runtime.cudaSetDevice(99), on_device(d_x, d_x, d_x), d_x.get(), runtime.cudaGetLastError())
os.environ["CPU_CUDA_FAIL"] = "1"
os.environ["CPU_CUDA_FAIL_CODE"] = "719"
try:
    multiply(x, x)
except CudaError as error:
    print(error.code, runtime.cudaPeekAtLastError())
PROGRAM
    assert_success
    assert_output '101 101 [9. 9. 9.] 0
101 None [9. 9. 9.] 0
719 0'
}

@test "03: other Python threads go on while the GPU works: no call that waits holds the GIL" {
    cp ./*.py ./*.so "$BATS_TEST_TMPDIR"
    cd "$BATS_TEST_TMPDIR" || return 1
    # In the libraries' place: functions that fail, with code 1, if their caller holds the GIL.
    cat >fake.c <<'PROGRAM'
#include "multiply.h"
#include <stdlib.h>
int PyGILState_Check(void);
static float x;
int multiply(const float *a, const float *b, float *result, size_t n) { return PyGILState_Check(); }
int multiply_on_device(const float *a, const float *b, float *result, size_t n) { return 0; }
int device_allocate(float **d_x, size_t n) { *d_x = &x; return PyGILState_Check(); }
int device_free(float *d_x) { if (PyGILState_Check()) abort(); return 0; } // nobody could catch an exception
int device_write(float *d_x, const float *from, size_t n) { return PyGILState_Check(); }
int device_read(float *to, const float *d_x, size_t n) { return PyGILState_Check(); }
int device_wait(void) { return 0; }
int hello_from_gpu(void) { return PyGILState_Check(); }
const char *multiply_error_name(int code) { return "held"; }
const char *multiply_error_text(int code) { return "the GIL is held"; }
const char *hello_error_name(int code) { return "held"; }
const char *hello_error_text(int code) { return "the GIL is held"; }
PROGRAM
    gcc -shared -fPIC -I"$TOP/03-cython-ctypes" -o libmultiply.so fake.c
    cp libmultiply.so libhello.so
    try_python <<'PROGRAM'
import numpy as np
import four_ways, hello
from device_array import DeviceArray
from multiply import multiply
x = np.ones(3, np.float32)
def all_of_device_array():
    DeviceArray(x).get()
calls = [hello.run_cuda, hello.run_cuda_dlopen, all_of_device_array, lambda: multiply(x, x)]
for way in four_ways.by_ctypes, four_ways.by_ndpointer, four_ways.by_linking, four_ways.by_dlopen:
    calls.append(lambda way=way: way(x, x, x))
for call in calls:
    call()
print(len(calls), "calls without the GIL")
PROGRAM
    assert_success
    assert_line '8 calls without the GIL'
    try "$TEST_PYTHON" test_multiply.py # these functions write no result
    assert_failure 1
    assert_line --regexp '^multiply\(a, b\): [0-9]{1,2} of 400'
}

# ---- What goes wrong: pages.bats runs goes_wrong.py with each name, as the page has it

@test "03: goes_wrong library_path: from the start, LD_LIBRARY_PATH is looked at" {
    try env LD_LIBRARY_PATH="$PWD${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$TEST_PYTHON" goes_wrong.py library_path
    assert_success
    assert_output ''
}

@test "03: goes_wrong without a name lists them" {
    try "$TEST_PYTHON" goes_wrong.py
    assert_failure 1
    assert_equal "$(cut -d' ' -f1 <<<"$stderr" | tr '\n' ' ')" \
        'no_argtypes freed strided int64_index exit_in_library printf_order library_path fork '
}

@test "03: a library and a module of one's own, as the page says" {
    copy_out 03-cython-ctypes
    cd 03-cython-ctypes || return 1
    for file in libmultiply.cu multiply.h multiply.pyx; do
        sed 's/multiply/mine/g; s/Multiply/Mine/g; s/a\[i\] \* b\[i\]/a[i] + b[i]/' "$file" >"${file/multiply/mine}"
    done
    try_make -n build # all of it takes long
    assert_success
    local module
    module=$(grep -o '\-o mine\.[^ ]*' <<<"$output")
    assert_regex "$output" ' -o libmine.so '
    try_make "${module#-o }"
    assert_success
    try_python <<'PROGRAM'
import numpy as np
from mine import mine
print(mine(np.ones(3, np.float32), np.ones(3, np.float32)))
PROGRAM
    assert_success
    assert_output '[2. 2. 2.]'
    try_make clean
    [ ! -e libmine.so ] && [ ! -e mine.c ]
}

@test "03: the stage runs alone, beside common, and clean removes what was built" {
    takes_long
    run_alone 03-cython-ctypes
    assert_equal "$(grep -c '^Hello World From GPU!' <<<"$output")" 6
    assert_equal "$(grep -c '^Load cuda function successfully!' <<<"$output")" 2
}
