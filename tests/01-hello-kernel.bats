load helpers

setup() {
    cd "$TOP/01-hello-kernel" || return 1
}

GREETINGS='Hello World From GPU!
Hello World From GPU!
Hello World From GPU!'

@test "01: hello greets once for each of its three threads" {
    try ./hello
    assert_success
    assert_equal "$output" "$GREETINGS"
    assert_quiet
}

@test "01: without a device, CHECK says where, which code and what it means, and hello exits with 1" {
    try env CUDA_VISIBLE_DEVICES= ./hello
    assert_failure 1
    assert_equal "$output" ""
    line=$(grep -n 'CHECK(cudaGetLastError' hello.cu | cut -d: -f1)
    assert_regex "$stderr" "hello.cu:$line: CUDA error 100, cudaErrorNoDevice: no CUDA-capable device is detected"
}

@test "01: the stage runs alone, beside common" {
    copy_out 01-hello-kernel
    try_make -C 01-hello-kernel run
    assert_success
    assert_line --index 1 --regexp '^Device: '
    assert_output --partial "$GREETINGS"
}

@test "01: hello needs no library by an absolute path" {
    assert_no_absolute_path hello
}
