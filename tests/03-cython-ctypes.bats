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

@test "03: the module offers PyInit_hello and nothing else, and names no absolute path" {
    module=$(echo hello.*.so)
    run interface_of "$module"
    assert_output PyInit_hello
    assert_no_absolute_path "$module"
    run interface_of libhello.so
    assert_output 'hello_error_name
hello_error_text
hello_from_gpu'
    assert_no_absolute_path libhello.so
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
    cp libhello.so "$BATS_TEST_TMPDIR/"
    try_python LD_LIBRARY_TEST_PATH="/nowhere:$BATS_TEST_TMPDIR" <<'PROGRAM'
import hello
print(hello.find_library())
PROGRAM
    assert_success
    assert_output "$BATS_TEST_TMPDIR/libhello.so"
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
    done
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

@test "03: importing the module makes no CUDA call" {
    try "$TEST_PYTHON" -c "import hello"
    assert_success
    assert_equal "$output$stderr" ""
}

@test "03: the stage runs alone, beside common" {
    copy_out 03-cython-ctypes
    try_make -C 03-cython-ctypes run
    assert_success
    assert_equal "$(grep -c '^Hello World From GPU!' <<<"$output")" 6
    assert_equal "$(grep -c '^Load cuda function successfully!' <<<"$output")" 2
}
