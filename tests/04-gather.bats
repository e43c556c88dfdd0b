load helpers

setup() {
    cd "$TOP/04-gather" || return 1
}

# The article's gather on the stand-in, whatever backend is tested: its library, under the same module.
cpu_library() {
    [ -e "$BATS_FILE_TMPDIR/libcuda_index.so" ] || "$TOP/common/cpu/nvcc" -O1 -I../common -shared -Xcompiler -fPIC -o "$BATS_FILE_TMPDIR/libcuda_index.so" cuda_index.cu
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
    agrees 04-gather/every_size
    assert_quiet
}

@test "04: a bad index is NumPy's IndexError, word for word, for the first bad one" {
    agrees 04-gather/bad_index
}

@test "04: empty, read-only, strided, reversed, unaligned and int64 arrays agree with NumPy" {
    agrees 04-gather/layouts
}

@test "04: what can go wrong, of cuda_gather and take: what comes is what the page shows, row by row" {
    export PYTHONPATH=$PWD:$PWD/fast
    EXPECTED='the source is not as large as that' try "$TEST_PYTHON" "$BATS_TEST_DIRNAME/04-gather-fast/what_can_go_wrong.py"
    assert_success
    assert_output --regexp '^[0-9]+ rows, 0 wrong$'
}

@test "04: a CUDA failure is an exception with code, name and text, and Python goes on" {
    agrees 04-gather/no_device CUDA_VISIBLE_DEVICES=
    refute_regex "$stderr" 'CUDA error'
}

@test "04: an error that somebody else left behind is not taken for this call's, and none is left" {
    cpu_library
    EXPECTED=CPU_CUDA_FAIL try env PYTHONPATH=. LD_LIBRARY_PATH="$BATS_FILE_TMPDIR" "$TEST_PYTHON" "$BATS_TEST_DIRNAME/04-gather/older_error.py" \
        "$TOP/common/cpu/lib/libcpu_cuda.so"
    assert_success
    assert_output '101 101
[6.] 0
719 0'
}

@test "04: test_gather.py notices a wrong element and a wrong shape, and exits with 1" {
    sed 's/^SOURCE_SIZE = .*/SOURCE_SIZE = 1000/; s/^INDEX_SIZE = .*/INDEX_SIZE = 100/' test_gather.py >"$BATS_TEST_TMPDIR/test_gather.py"
    cd "$BATS_TEST_TMPDIR" || return 1
    echo 'def cuda_gather(x, idx): return x[idx] + (idx == idx[7])' >wrapper.py
    try "$TEST_PYTHON" test_gather.py
    assert_failure 1
    assert_output '(100,)
99'
    echo 'def cuda_gather(x, idx): return x[idx][None]' >wrapper.py
    try "$TEST_PYTHON" test_gather.py
    assert_failure 1
    assert_output '(1, 100)
100'
}

@test "04: importing the module makes no CUDA call" {
    try "$TEST_PYTHON" -c "import wrapper"
    assert_success
    assert_equal "$output$stderr" ""
}

@test "04: the C interface refuses what makes no sense, and leaves the result alone when an index is bad" {
    agrees 04-gather/c_interface
}

@test "04: the header is C and C++, with no CUDA in it" {
    for compiler in "gcc -x c -std=c11" "g++ -x c++"; do
        # shellcheck disable=SC2086
        run $compiler -Wall -Wextra -pedantic -Werror -I. "$BATS_TEST_DIRNAME/04-gather/use.c" -o "$BATS_TEST_TMPDIR/use" \
            -x none -L. -lcuda_index "-Wl,-rpath,$PWD"
        assert_success
        try "$BATS_TEST_TMPDIR/use"
        assert_success
    done
}

@test "04: calls from several threads at once" {
    agrees 04-gather/threads
}

@test "04: other Python threads go on while the GPU works: Gather is called without the GIL" {
    cp wrapper.*.so cuda_error.py "$BATS_TEST_TMPDIR"
    gcc -x c -shared -fPIC -o "$BATS_TEST_TMPDIR/libcuda_index.so" - <<'PROGRAM'
int PyGILState_Check(void);
int Gather(const float *source, const int *index, float *res, int N, int M) { return PyGILState_Check(); }
const char *GatherErrorName(int code) { return "held"; }
const char *GatherErrorText(int code) { return "the GIL is held"; }
PROGRAM
    cd "$BATS_TEST_TMPDIR" || return 1
    try "$TEST_PYTHON" -c "
import numpy as np, wrapper
wrapper.cuda_gather(np.ones(3, np.float32), np.zeros(2, np.int32))
print('without the GIL')"
    assert_success
    assert_output 'without the GIL'
}

@test "04: whichever CUDA call fails, an exception comes and no device memory is left behind" {
    cpu_library
    agrees 04-gather/failing_call LD_LIBRARY_PATH="$BATS_FILE_TMPDIR"
}

@test "04: no access outside an array: compute-sanitizer has no complaint" {
    requires gpu
    requires compute-sanitizer
    try env PYTHONPATH=. compute-sanitizer --tool memcheck --leak-check full --error-exitcode 9 "$TEST_PYTHON" \
        "$BATS_TEST_DIRNAME/04-gather/sanitized.py"
    assert_success
    assert_output --partial 'ERROR SUMMARY: 0 errors'
    assert_line --index 4 True
}

@test "04: the tables of the pages are those of bench.jsonl" {
    cp -r "$TOP/04-gather" "$TOP/common" "$BATS_TEST_TMPDIR"
    try "$TEST_PYTHON" "$BATS_TEST_TMPDIR/04-gather/fast/bench/page.py"
    assert_success
    for page in *.md fast/*.md fast/bench/*.{md,svg}; do
        run diff "$page" "$BATS_TEST_TMPDIR/04-gather/$page"
        assert_success
    done
    try "$TEST_PYTHON" -c '
import re
ladder = open("fast/bench/README.md").read().split("<!-- ladder -->")[1].split("<!-- end")[0]
measured = [float(ms) for ms in re.findall(r"(?m)^\|.*?\| ([\d.]+) \|", ladder)]
pages = "where.svg", "where.zh.svg", "README.md", "README.zh.md"
shown = [ms for name in pages for ms in re.findall(r"([\d.]+) ms", open("fast/" + name).read())]
print(len(shown), [ms for ms in shown if ms not in [f"{x:.{len(ms.partition(chr(46))[2])}f}" for x in measured]])'
    assert_output '31 []' # the numbers in the figures and the lessons, and those that are not in the table
}

@test "04: the room fast runs alone, with its stage beside common, and clean removes what was built" {
    takes_long
    run_alone 04-gather 04-gather/fast
    assert_line '577 of 577 as numpy.take'
}
