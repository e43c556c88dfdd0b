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

@test "01: threads: each of 2 blocks of 4 threads knows its element, in whatever order" {
    local expected='' block thread
    for block in 0 1; do
        for thread in 0 1 2 3; do
            expected+="block $block of 2, thread $thread of 4: element $((4 * block + thread))"$'\n'
        done
    done
    try ./threads
    assert_success
    assert_equal "$(sort <<<"$output")" "${expected%$'\n'}"
    assert_quiet
}

@test "01: threads: on the stand-in, CPU_CUDA_SEED shows other orders" {
    "$TOP/common/cpu/nvcc" -I../common -o "$BATS_TEST_TMPDIR/threads" threads.cu
    orders=$(for seed in 1 2 3 4; do CPU_CUDA_SEED=$seed "$BATS_TEST_TMPDIR/threads" 2>/dev/null | head -n 1; done | sort -u)
    [ "$(wc -l <<<"$orders")" -gt 1 ]
}

@test "01: limits: a launch at each limit runs, and one beyond does not" {
    try ./limits
    assert_success
    assert_equal "${#lines[@]}" 10
    for what in 'threads in a block, x +1024' 'threads in a block, y +1024' 'threads in a block, z +64' \
        'threads in a block, all in all +1024' 'blocks in a grid, x +2147483647' 'blocks in a grid, y +65535' \
        'blocks in a grid, z +65535' 'bytes of shared memory +49152'; do
        assert_line --regexp "^$what  runs  cudaErrorInvalid(Value|Configuration)\$" # CUDA 13 and 12
    done
    assert_line --index 9 --regexp '^1125899906842624 blocks become 0 in a dim3: cudaErrorInvalid(Value|Configuration)$'
}

@test "01: devices lists them, and runs a kernel on the one that is chosen" {
    try ./devices
    assert_success
    assert_line --index 0 --regexp '^device 0: .+, PCI bus [0-9A-Fa-f]{4}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.0$'
    assert_line --index 1 --regexp '^  compute capability [0-9]+\.[0-9], [0-9]+ multiprocessors, [0-9]+\.[0-9] GB of memory$'
    assert_quiet
    try ./devices 0
    assert_success
    assert_line --index -1 'a kernel ran on device 0'
}

@test "01: devices: a device that is not there, or is no number" {
    count=$(./devices 2>/dev/null | grep -c '^device')
    for wrong in 99 -1 '' one 0x 99999999999999999999; do
        try ./devices "$wrong"
        assert_failure 1
        assert_regex "$stderr" "there is no device $wrong: they are numbered 0 to $((count - 1))"
        refute_output --partial 'a kernel ran'
    done
    try env CUDA_VISIBLE_DEVICES= ./devices 0
    assert_failure 1
    line=$(grep -n 'CHECK(cudaGetDeviceCount' devices.cu | cut -d: -f1)
    assert_regex "$stderr" "devices.cu:$line: CUDA error 100, cudaErrorNoDevice: no CUDA-capable device is detected"
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
