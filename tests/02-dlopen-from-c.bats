load helpers

setup() {
    cd "$TOP/02-dlopen-from-c" || return 1
}

GREETINGS='Hello World From GPU!
Hello World From GPU!
Hello World From GPU!'

# The program alone in a folder, for a library to be put beside it.
hello_c_alone() {
    cp hello_c "$BATS_TEST_TMPDIR"
    cd "$BATS_TEST_TMPDIR" || return 1
}

@test "02: libhello.so offers its interface and nothing else" {
    run interface_of libhello.so
    assert_output 'hello_error_name
hello_error_text
hello_from_gpu'
}

@test "02: libhello_c.so offers hello_c and nothing else" {
    run interface_of libhello_c.so
    assert_output 'hello_c'
}

@test "02: libraries and program name no absolute path" {
    assert_no_absolute_path libhello.so
    assert_no_absolute_path libhello_c.so
    assert_no_absolute_path hello_c
}

@test "02: hello_c knows no CUDA: it is linked with neither library nor runtime" {
    run readelf -d hello_c libhello_c.so
    assert_success
    refute_output --partial cuda
    refute_output --partial libhello.so
}

@test "02: hello_c greets three times" {
    try ./hello_c
    assert_success
    assert_equal "$output" "$GREETINGS"
    assert_quiet
}

@test "02: hello_c finds its library from any folder" {
    cd /
    try "$TOP/02-dlopen-from-c/hello_c"
    assert_success
    assert_equal "$output" "$GREETINGS"
}

@test "02: the same C code as a library, called from Python in one line" {
    try "$TEST_PYTHON" -c "import ctypes; print(ctypes.CDLL('./libhello_c.so').hello_c(None, 0))"
    assert_success
    assert_equal "$output" "$GREETINGS
0"
}

@test "02: no library: the loader's words, exit status 1" {
    hello_c_alone
    try ./hello_c
    assert_failure 1
    assert_equal "$output" ""
    assert_equal "$stderr" "hello_c: libhello.so: cannot open shared object file: No such file or directory"
}

@test "02: an object file is no library" {
    hello_c_alone
    echo 'int hello_from_gpu(void) { return 0; }' | gcc -x c -c -o libhello.so -
    try ./hello_c
    assert_failure 1
    assert_regex "$stderr" 'hello_c: .*libhello.so: only ET_DYN and ET_EXEC can be loaded'
}

@test "02: a library without extern \"C\": the loader names the symbol it misses" {
    hello_c_alone
    echo 'int hello_from_gpu() { return 0; }' | g++ -x c++ -shared -fPIC -o libhello.so -
    try ./hello_c
    assert_failure 1
    assert_regex "$stderr" 'hello_c: .*libhello.so: undefined symbol: hello_from_gpu'
}

@test "02: without a device, hello_c prints the library's code, name and text" {
    try env CUDA_VISIBLE_DEVICES= ./hello_c
    assert_failure 1
    assert_equal "$output" ""
    assert_regex "$stderr" "hello_c: CUDA error 100, cudaErrorNoDevice: no CUDA-capable device is detected"
}

@test "02: the library returns its code, prints nothing and lets the process live" {
    try_python CUDA_VISIBLE_DEVICES= <<'PROGRAM'
import ctypes
why = ctypes.create_string_buffer(200)
print(ctypes.CDLL("./libhello.so").hello_from_gpu())
print(ctypes.CDLL("./libhello_c.so").hello_c(why, ctypes.c_size_t(200)), why.value.decode())
PROGRAM
    assert_success
    assert_output '100
100 CUDA error 100, cudaErrorNoDevice: no CUDA-capable device is detected'
    refute_regex "$stderr" 'CUDA error'
}

@test "02: the stage runs alone, beside common" {
    copy_out 02-dlopen-from-c
    try_make -C 02-dlopen-from-c run
    assert_success
    assert_output --partial "$GREETINGS
0"
}
