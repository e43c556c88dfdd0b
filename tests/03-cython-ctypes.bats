load helpers
cd "$TOP/03-cython-ctypes" || exit 1

@test "03: libhello.cu is the file of stage 02" {
    assert_same ../02-dlopen-from-c/libhello.cu libhello.cu
}

@test "03: both ways greet three times and say so, in order, through a pipe, again and again" {
    try_python <<'PROGRAM'
import hello
for _ in range(2):
    hello.run_cuda()
    print("between")
    hello.run_cuda_dlopen()
PROGRAM
    local greeted=$'Hello World From GPU!\nHello World From GPU!\nHello World From GPU!\nLoad cuda function successfully!'
    assert_output "$greeted
between
$greeted
$greeted
between
$greeted"
    assert_quiet
}

@test "03: the library is found beside the module, or where HELLO_LIBRARY_PATH says; else the exception tells what is wrong" {
    cd "$BATS_TEST_TMPDIR" || return 1
    mkdir 'no file' later object other unnamed $'no UTF-8 \xff'
    cp "$OLDPWD/libhello.so" .
    cp libhello.so later/
    mkfifo 'no file/libhello.so'
    echo 'int hello_from_gpu(void) { return 0; }' | gcc -x c -c -o object/libhello.so -
    echo 'int other(void) { return 0; }' | gcc -x c -shared -fPIC -o other/libhello.so -
    echo 'int hello_from_gpu(void) { return 77; } char *hello_error_name(int code) { return 0; } char *hello_error_text(int code) { return 0; }' |
        gcc -x c -shared -fPIC -o unnamed/libhello.so -
    echo text >$'no UTF-8 \xff/libhello.so'
    try_python PYTHONPATH="$OLDPWD" PYTHONUNBUFFERED=1 PYTHONIOENCODING=utf-8:surrogateescape <<'PROGRAM'
import os
import hello
here, beside = os.getcwd(), hello.find_library()
print(os.path.relpath(beside, os.path.dirname(hello.__file__)))
# nothing between two ":" is no folder, not the working one, which has a libhello.so
for places in f"/nowhere::{here}/no file:{here}:{here}/later:", ":":
    os.environ["HELLO_LIBRARY_PATH"] = places
    print(hello.find_library().replace(os.path.dirname(beside), "beside").replace(here, "here"))
for places in "/nowhere:/neither", "object", "no UTF-8 \udcff", "other", "unnamed":
    os.environ["HELLO_LIBRARY_PATH"] = places if "/" in places else f"{here}/{places}"
    for way in ("run_cuda", "run_cuda_dlopen")["\udcff" in places:]:  # ctypes takes UTF-8 only
        if os.fork() == 0:  # the second way keeps the library that it has opened
            try:
                getattr(hello, way)()
            except Exception as error:
                # as bytes, since an exception may have what is no ASCII decoded in another way than a path
                says = os.fsencode(f"{type(error).__name__}: {error}\n")
                os.write(1, says.replace(os.fsencode(here), b"here"))
            os._exit(0)
        os.wait()
PROGRAM
    assert_equal "$(uniq -c <<<"$output" | sed 's/^ *//')" "1 libhello.so
1 here/libhello.so
1 beside/libhello.so
2 FileNotFoundError: libhello.so is not there; tried: /nowhere/libhello.so, /neither/libhello.so (HELLO_LIBRARY_PATH names other folders)
2 OSError: here/object/libhello.so: only ET_DYN and ET_EXEC can be loaded
$(printf '1 OSError: here/no UTF-8 \xff/libhello.so: file too short')
2 AttributeError: here/other/libhello.so: undefined symbol: hello_from_gpu
2 CudaError: CUDA error 77, no name: no text"
}

# ---- NumPy arrays in and out

@test "03: every way multiplies 400 floats as NumPy does" {
    try "$TEST_PYTHON" test_multiply.py
    assert_output "multiply(a, b): 400 of 400 equal to NumPy's
four_ways.by_ctypes(a, b, result): 400 of 400 equal to NumPy's
four_ways.by_ndpointer(a, b, result): 400 of 400 equal to NumPy's
four_ways.by_linking(a, b, result): 400 of 400 equal to NumPy's
four_ways.by_dlopen(a, b, result): 400 of 400 equal to NumPy's
two DeviceArrays: 400 of 400 equal to NumPy's"
    assert_quiet
}

@test "03: multiply takes any shape and layout, result in a new array or in out" {
    agrees 03-cython-ctypes/shapes
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

@test "03: the four ways refuse what C would misread" {
    try_python <<'PROGRAM'
import numpy as np
import four_ways

x = np.ones(4, np.float32)
read_only = np.ones(4, np.float32)
read_only.flags.writeable = False
unaligned = np.zeros(17, np.uint8)[1:].view(np.float32)
masked = np.ma.array(x, mask=[0, 1, 0, 0])
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
    other = [unaligned, masked] if way is four_ways.by_ctypes else [unaligned]
    for a, b, result in [places for y in other for places in ((y, x, x), (x, y, x), (x, x, y))]:
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
    assert_output 'by_ctypes ValueError ValueError TypeError TypeError TypeError TypeError
by_ndpointer ValueError ValueError TypeError TypeError TypeError TypeError
by_linking ValueError ValueError ValueError ValueError ValueError ValueError
by_dlopen ValueError ValueError ValueError ValueError ValueError ValueError
refused refused refused refused refused refused refused refused refused 
arrays of one size are taken, not [4, 3, 4]'
}

# ---- An object that owns device memory

@test "03: DeviceArray: up, multiply there, and back" {
    try_python <<'PROGRAM'
import numpy as np
from device_array import DeviceArray, multiply

random = np.random.default_rng(0)
for shape in (400,), (20, 10), (0,), (3, 0), (), (1,):
    a, b = random.random(shape, dtype=np.float32), random.random(shape, dtype=np.float32)
    d_a, d_b = DeviceArray(a), DeviceArray(b)
    multiply(d_a, d_b, d_b)
    multiply(d_a, d_b, d_b)
    result = d_b.get()
    assert np.array_equal(result, a * (a * b)) and result.shape == shape, ("multiplied", shape)
    assert np.array_equal(d_a.get(), a), ("as it was", shape)
x = np.arange(60, dtype=np.float32)
odd = np.frombuffer(bytes(1) + x.tobytes(), np.float32, offset=1)
for a in x[::2], x[::-3], x[7:7], x.reshape(3, 4, 5).T, x.reshape(6, 10)[1::2, ::-2], np.broadcast_to(x[:3], (2, 3)), odd:
    assert np.array_equal(DeviceArray(a).get(), a), ("layout", a.shape, a.strides)
strided = DeviceArray(np.arange(12, dtype=np.float32).reshape(3, 4).T[::2])
print(strided, strided.shape, strided.get().tolist())
PROGRAM
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

@test "03: nothing stays allocated: collected, failed in the constructor, multiplied; threads copy what another lets go of" {
    build_counted libmultiply.so libmultiply.cu
    try_python <<'PROGRAM'
import ctypes, threading
import numpy as np
from device_array import DeviceArray, multiply
import multiply as on_host

held_bytes = ctypes.CDLL("libmultiply.so").held_bytes
held_bytes.restype = ctypes.c_size_t
x = np.ones(1 << 20, np.float32)
on_host.multiply(x, x)
def taken():
    return held_bytes() / x.nbytes
d_x = DeviceArray(x)
print("arrays in use:", taken())
del d_x
print("collected:", taken())

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
print("failed:", taken())
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
print("copied:", outcomes == [True] * 20, taken())
PROGRAM
    assert_output 'arrays in use: 1.0
collected: 0.0
failed: 0.0
copied: True 0.0'
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
    assert_output '2 None
0 0
1 1 [1.0, 2.0, 3.0, 4.0]
1 1
0 0 [1.0, 4.0, 9.0, 16.0]
1 1 1 1 1 1 1 1 1 1 1 0
0 0 1
0 [1.0, 16.0, 81.0, 256.0]'
}

# ---- What the libraries promise

@test "03: whichever CUDA call fails, an exception comes, out is as it was, nothing stays; an older error is not taken for theirs" {
    requires stand-in
    EXPECTED=cudaSetDevice agrees 03-cython-ctypes/failing_calls
}

@test "03: other Python threads go on while the GPU works: no call of CUDA that waits holds the GIL" {
    use_gil_shim ./lib{hello,multiply}.so
    try_python LD_PRELOAD=./gil.so PYTHONPATH="$ROOM" <<'PROGRAM'
import device_array
import four_ways
import hello
import multiply
import numpy as np

x = np.ones(3, np.float32)
hello.run_cuda(), hello.run_cuda_dlopen()
device_array.DeviceArray(x).get()  # (its multiply does hold it: it launches, and waits for nothing)
multiply.multiply(x, x)
for way in four_ways.by_ctypes, four_ways.by_ndpointer, four_ways.by_linking, four_ways.by_dlopen:
    way(x, x, np.empty_like(x))
print("all called")
PROGRAM
    assert_line --index -1 'all called'
    refute_output --partial 'holds the GIL'
}

@test "03: multiply: more elements than a machine has room for: no number is cut to 32 bits" {
    use_shim sizes
    try_python LD_PRELOAD=./sizes.so <<'PROGRAM'
import ctypes, os
multiply, array = ctypes.CDLL(os.environ["ROOM"] + "/libmultiply.so").multiply, ctypes.c_void_p(1 << 45)  # nobody reads it
print(" ->", multiply(array, array, array, ctypes.c_size_t(2**32 + 1)))
PROGRAM
    assert_output ' malloc 17179869188 malloc 17179869188 copy 17179869188 copy 17179869188 launch 16777217 x 256 copy 17179869188 -> 0'
}

# ---- What goes wrong: pages.bats runs goes_wrong.py with each name, as the page has it

@test "03: goes_wrong library_path: from the start, LD_LIBRARY_PATH is looked at" {
    try env LD_LIBRARY_PATH="$PWD${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$TEST_PYTHON" goes_wrong.py library_path
    assert_output ''
}

@test "03: goes_wrong without a name lists them" {
    FAILS=1 try "$TEST_PYTHON" goes_wrong.py
    assert_equal "$(cut -d' ' -f1 <<<"$stderr" | tr '\n' ' ')" \
        'no_argtypes freed strided int64_index exit_in_library printf_order library_path fork '
}

@test "03: the stage runs alone, beside common, and clean removes what was built" {
    takes_long
    run_alone 03-cython-ctypes
    assert_equal "$(grep -c '^Hello World From GPU!' <<<"$output")" 6
    assert_equal "$(grep -c '^Load cuda function successfully!' <<<"$output")" 2
}
