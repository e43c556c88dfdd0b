load helpers

# make sanitize, and common/sanitize, which it calls.

@test "sanitize: clean has to be clean, reported has to be reported" {
    cd "$BATS_TEST_TMPDIR" || return 1
    local options=(-g -fsanitize=address -fsanitize=undefined)
    find_compiler
    if [ "$TEST_BACKEND" = cuda ]; then
        options=()
        requires compute-sanitizer
    fi
    cat >program.cu <<'PROGRAM'
#include <cstdlib>
__global__ void fill(float *x, int n) { if (threadIdx.x < n) x[threadIdx.x] = 1; }
int main(int argc, char **argv) {
    float *d_x;
    cudaMalloc(&d_x, 16 * sizeof *d_x);
    fill<<<1, 1000>>>(d_x, atoi(argv[1]));
    cudaDeviceSynchronize();
    if (argc == 2) cudaFree(d_x);
    return 0;
}
PROGRAM
    "${compile[@]}" "${options[@]}" -o program program.cu
    export BACKEND=$TEST_BACKEND TOOLS=memcheck
    try "$TOP/common/sanitize" clean './program 16'
    assert_output --regexp '^ok, no complaint of [a-z-]+: +\./program 16$'
    try "$TOP/common/sanitize" reported './program 1000' # far outside
    assert_output --regexp '^ok, found as it should be by [a-z-]+: +\./program 1000$'
    FAILS=1 try "$TOP/common/sanitize" clean './program 16' './program 1000' './program 16 keep' # the last one leaks
    assert_line --regexp '^NOT CLEAN under [a-z-]+: \./program 1000$'
    assert_line --regexp '^NOT CLEAN under [a-z-]+: \./program 16 keep$'
    FAILS=1 try "$TOP/common/sanitize" reported './program 16'
    assert_line --regexp '^NOT REPORTED by [a-z-]+: \./program 16$'
    FAILS=1 try "$TOP/common/sanitize" clean ./nothere
    FAILS=1 try "$TOP/common/sanitize" reported ./nothere
    FAILS=yes BACKEND='' try "$TOP/common/sanitize" clean './program 16' # for which device? nothing is guessed
    refute_output --partial 'ok,'
    if [ "$TEST_BACKEND" = cpu ]; then # built as usual, there is nothing that could complain
        "${compile[@]}" -o program program.cu
        FAILS=1 try "$TOP/common/sanitize" clean './program 16'
        assert_line 'it was built without -fsanitize=address'
    fi
}

@test "sanitize: make sanitize ends as its commands do, and what it built goes" {
    copy_out # common
    mkdir stage
    printf '%s\n' 'COMMON := ../common' 'include $(COMMON)/stage.mk' 'sanitized: build' "$(printf '\t')exit \$(STATUS)" >stage/Makefile
    echo 'int main(void) { return 0; }' >stage/program.cu
    try_make -C stage sanitize STATUS=0
    FAILS=yes try_make -C stage sanitize STATUS=3
    assert [ ! -e stage/program ]
}
