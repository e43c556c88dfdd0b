load helpers

# tests/run itself.

@test "tests/run: no Bats, an old Bats" {
    hide bats
    FAILS=yes try tests/run 01-hello-kernel
    assert_equal "$stderr" 'bats is missing: sudo apt-get install -y bats bats-assert'
    local bats=$BATS_TEST_TMPDIR/all-but/bats # which is not there now
    program "$bats" 'echo Bats 1.2.1'
    FAILS=yes try tests/run 01-hello-kernel
    assert_regex "$stderr" '^bats 1.2 is too old, 1.5 is needed: git clone '
}

@test "tests/run: counts, and fails with no test, with all skipped, with one failed, with one lost" {
    cd "$BATS_TEST_TMPDIR" || return 1
    touch none.bats
    FAILS=yes try env PATH="$outside" "$TOP/tests/run" none.bats
    assert_line --index -1 '0 passed, 0 failed, 0 skipped'
    printf '@test "a" {\n skip "why"\n}\n' >skipped.bats
    FAILS=yes try env PATH="$outside" "$TOP/tests/run" skipped.bats
    assert_line --index -2 'left out: 1 x why'
    assert_line --index -1 '0 passed, 0 failed, 1 skipped'
    printf '@test "a" {\n true\n}\n@test "b" {\n false\n}\n@test "c" {\n skip\n}\n' >mixed.bats
    FAILS=yes try env PATH="$outside" "$TOP/tests/run" mixed.bats
    assert_line --index -3 'failed: mixed.bats: b'
    assert_line --index -2 'left out: 1 x no reason'
    assert_line --index -1 '1 passed, 1 failed, 1 skipped'
    try env PATH="$outside" "$TOP/tests/run" mixed.bats '^a'
    assert_line --index -1 '1 passed, 0 failed, 0 skipped'
    FAILS=yes try env PATH="$outside" "$TOP/tests/run" mixed.bats nothing
    assert_line --index -2 'tests/run: nothing of mixed.bats was executed'
    printf '@test "a" {\n true\n}\n' >good.bats
    try env PATH="$outside" "$TOP/tests/run" good.bats
    assert_line --index -1 '1 passed, 0 failed, 0 skipped'
    FAILS=yes try env PATH="$outside" "$TOP/tests/run" good.bats skipped.bats
    assert_line --index -3 'tests/run: nothing of skipped.bats was executed'
    assert_line --index -1 '1 passed, 0 failed, 1 skipped'
    program bin/bats 'case $1 in --version) echo Bats 1.8.2;; *) echo 1..2; echo ok 1 a;; esac'
    FAILS=yes try env PATH="$PWD/bin:$outside" "$TOP/tests/run" good.bats
    assert_line --index -1 '1 passed, 1 failed, 0 skipped'
}

@test "tests/run: what needs a GPU is skipped for want of one; with REQUIRE_GPU=1 it fails" {
    cd "$BATS_TEST_TMPDIR" || return 1
    printf 'load "%s"\n@test "a" {\n requires gpu\n}\n@test "b" {\n true\n}\n' "$TOP/tests/helpers" >gpu.bats
    try env PATH="$outside" BACKEND=cpu REQUIRE_GPU= "$TOP/tests/run" gpu.bats
    assert_line --regexp '^ok 1 a # skip needs an NVIDIA GPU'
    assert_line --index -1 '1 passed, 0 failed, 1 skipped'
    FAILS=yes try env PATH="$outside" BACKEND=cpu REQUIRE_GPU=1 "$TOP/tests/run" gpu.bats
    assert_line --index -1 '1 passed, 1 failed, 0 skipped'
}

@test "tests/run: it builds first: what has been changed is what is tested; what cannot be built is not tested" {
    copy_out tests 01-hello-kernel
    rm tests/01-hello-kernel.bats 01-hello-kernel/[!h]*.cu
    printf 'load helpers\n@test "hello" {\n try ./01-hello-kernel/hello\n assert_output "Hello"\n}\n' >tests/01-hello-kernel.bats
    local greeting
    for greeting in Hello Hallo; do
        sed -i "s/printf(\".*\")/printf(\"$greeting\")/; s/<<<1, [0-9]*>>>/<<<1, 1>>>/" 01-hello-kernel/hello.cu
        BACKEND=cpu FAILS=any try env PATH="$outside" tests/run 01-hello-kernel
        assert_line --partial "-o hello hello.cu"
        assert_line --index -1 --regexp "^$([ $greeting = Hello ] && echo 1 passed, 0 || echo 0 passed, 1) failed"
    done
    echo 'no C' >>01-hello-kernel/hello.cu
    FAILS=yes BACKEND=cpu try env PATH="$outside" tests/run 01-hello-kernel
    assert_equal "${stderr##*$'\n'}" 'tests/run: 01-hello-kernel could not be built'
    refute_output --partial 'ok 1'
}

@test "tests/run: a file that is not there is named, with those that are; Bats alone says what to type" {
    FAILS=yes try tests/run nothing 'as NumPy'
    assert_regex "$stderr" '^tests/run: there is no file of tests nothing; there are: .* make .* stand-in'
    FAILS=yes try env -u TEST_BACKEND PATH="$outside" bats tests/01-hello-kernel.bats
    assert_regex "$output$stderr" 'type tests/run FILE \[PATTERN\], not bats: ' # newer ones say it on stderr
}
