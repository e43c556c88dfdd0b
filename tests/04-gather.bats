load helpers
cd "$TOP/04-gather" || exit 1

@test "04: cuda_gather is as NumPy: every size around a block's edge, each layout, bad indices word for word" {
    try env PYTHONPATH=. "$TEST_PYTHON" "$BATS_TEST_DIRNAME/04-gather/as_numpy.py"
    assert_quiet
}

@test "04: test_gather.py notices a wrong element and a wrong shape, and exits with 1" {
    sed 's/^SOURCE_SIZE = .*/SOURCE_SIZE = 1000/; s/^INDEX_SIZE = .*/INDEX_SIZE = 100/' test_gather.py >"$BATS_TEST_TMPDIR/test_gather.py"
    cd "$BATS_TEST_TMPDIR" || return 1
    echo 'def cuda_gather(x, idx): return x[idx] + (idx == idx[7])' >wrapper.py
    FAILS=1 try "$TEST_PYTHON" test_gather.py
    assert_output '(100,)
99'
    echo 'def cuda_gather(x, idx): return x[idx][None]' >wrapper.py
    FAILS=1 try "$TEST_PYTHON" test_gather.py
    assert_output '(1, 100)
100'
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
    done
}

@test "04: the tables of the pages are those of bench.jsonl" {
    cp -r "$TOP/04-gather" "$TOP/common" "$BATS_TEST_TMPDIR"
    try "$TEST_PYTHON" "$BATS_TEST_TMPDIR/04-gather/fast/bench/page.py"
    for page in *.md fast/*.md fast/bench/*.{md,svg}; do
        assert_same "$BATS_TEST_TMPDIR/04-gather/$page" "$page"
    done
    try "$TEST_PYTHON" -c '
import re
ladder = open("fast/bench/README.md").read().split("<!-- ladder -->")[1].split("<!-- end")[0]
measured = [float(ms) for ms in re.findall(r"(?m)^\|.*?\| ([\d.]+) \|", ladder)]
pages = "where.svg", "where.zh.svg", "README.md", "README.zh.md"
shown = [ms for name in pages for ms in re.findall(r"([\d.]+) ms", open("fast/" + name).read())]
print(len(shown), [ms for ms in shown if ms not in [f"{x:.{len(ms.partition(chr(46))[2])}f}" for x in measured]])'
    assert_output '37 []' # the numbers in the figures and the lessons, and those that are not in the table
}

@test "04: the room fast runs alone, with its stage beside common, and clean removes what was built" {
    takes_long
    run_alone 04-gather 04-gather/fast
    assert_line '577 of 577 as numpy.take'
}

# ---- What the library promises

@test "04: whichever CUDA call fails, an exception comes and nothing stays; an older error is not taken for Gather's" {
    requires stand-in
    EXPECTED=cudaSetDevice try_python PYTHONPATH="$PWD:$BATS_TEST_DIRNAME" <<'PROGRAM'
import failing
import numpy as np
from wrapper import CudaError, cuda_gather

source, backwards = np.arange(1 << 15, dtype="f"), np.arange(299, -1, -1)
TRIED = {"cuda_gather": (lambda out: cuda_gather(source, backwards), source[299::-1], None)}
failing.all_fail(TRIED, (2, 700), (CudaError, MemoryError))
failing.none_takes_an_older_error(TRIED)
PROGRAM
    assert_output "cuda_gather
  2: [MemoryError: the GPU has no room for these arrays (133472 bytes)] right | without a failure: right
  700: [CudaError: CUDA error 700, cudaErrorIllegalAddress: an illegal memory access was encountered] right | without a failure: right"
}

@test "04: other Python threads go on while the GPU works: no call of CUDA that waits holds the GIL" {
    use_gil_shim ./libcuda_index.so
    try_python LD_PRELOAD=./gil.so PYTHONPATH="$ROOM" <<'PROGRAM'
import numpy as np
from wrapper import cuda_gather

print(cuda_gather(np.ones(3, np.float32), np.zeros(2, np.int32)))
PROGRAM
    assert_output '[1. 1.]'
}

@test "04: Gather: more elements than a machine has room for: no number is cut to 32 bits" {
    use_shim sizes
    try_python LD_PRELOAD=./sizes.so <<'PROGRAM'
import ctypes, os
Gather, array = ctypes.CDLL(os.environ["ROOM"] + "/libcuda_index.so").Gather, ctypes.c_void_p(1 << 45)  # nobody reads it
for n, m in (2**30, 2**31 - 1), (2**31 - 1, 2**30):
    print(" ->", Gather(array, array, array, n, m), flush=True)
PROGRAM
    assert_output ' malloc 8589934588 malloc 4294967296 malloc 4294967296 malloc 4 copy 8589934588 copy 4294967296 copy 4 launch 4194304 x 256 copy 4 copy 4294967296 -> 0
 malloc 4294967296 malloc 8589934588 malloc 8589934588 malloc 4 copy 4294967296 copy 8589934588 copy 4 launch 8388608 x 256 copy 4 copy 8589934588 -> 0'
}
