load helpers
cd "$TOP/04-gather/fast" || exit 1

@test "fast: take answers as numpy.take: modes, dtypes, shapes, places, with out and without" {
    try "$TEST_PYTHON" test_take.py
    assert_output '577 of 577 as numpy.take'
    assert_quiet
}

@test "fast: gather_c without a device says so, and exits with 1" { # what it gathers: pages.bats
    FAILS=1 try env CUDA_VISIBLE_DEVICES= ./gather_c
    assert_regex "$stderr" 'gather_c: CUDA error 100, cudaErrorNoDevice: no CUDA-capable device is detected'
}

@test "fast: packs: any number of indices, also those that are left over; nothing is written behind the result" {
    local n
    for n in 1 2 3 4 5 511 512 513 1000003; do
        try ./packs $n
        assert_output "1 each: $n of $n right
4 each: $n of $n right"
        assert_quiet
    done
    for n in 0 -1 x 12x '' 268435457; do
        FAILS=2 try ./packs "$n"
        assert_equal "$stderr" './packs N: a number from 1 to 268435456'
    done
}

@test "fast: packs, gather_c and overlap notice wrong elements, and exit with 1" {
    find_compiler
    sed 's/i = 4 \* p; i < N/i = 4 * p + 1; i < N/' packs.cu >"$BATS_TEST_TMPDIR/packs.cu" # one is left out
    "${compile[@]}" -I"$TOP/common" -o "$BATS_TEST_TMPDIR/packs" "$BATS_TEST_TMPDIR/packs.cu"
    FAILS=1 try "$BATS_TEST_TMPDIR/packs" 7
    assert_output $'1 each: 7 of 7 right\n4 each: 6 of 7 right'
    sed 's/return (size_t)j;/return 0;/' gather.cu >"$BATS_TEST_TMPDIR/gather.cu"
    "${compile[@]}" -I. -I"$TOP/common" -shared -Xcompiler -fPIC -o "$BATS_TEST_TMPDIR/libgather.so" \
        "$BATS_TEST_TMPDIR/gather.cu" gather_memory.cu
    FAILS=1 try env LD_LIBRARY_PATH="$BATS_TEST_TMPDIR" ./gather_c
    assert_line '1 of 1000 right'
    FAILS=1 try env LD_LIBRARY_PATH="$BATS_TEST_TMPDIR" ./overlap 12
    assert_output --partial '| 1 of 4096 |'
}

@test "fast: overlap: in pieces and on two streams as in one" {
    try ./overlap 12
    assert_equal "${#lines[@]}" 6
    [ "$(grep -c '| 4096 of 4096 |$' <<<"$output")" = 4 ]
    [ "$TEST_BACKEND" = cuda ] || [ "$(grep -c '| on a GPU only |' <<<"$output")" = 4 ]
    try ./overlap 4 # the least
    local wrong
    for wrong in 3 29 x 12x; do
        FAILS=2 try ./overlap $wrong
        assert_equal "$stderr" './overlap P: 2^P indices, P from 4 to 28'
    done
}

@test "fast: what can go wrong, of take, add_at and cuda_gather: what comes is what the page shows, row by row" {
    export PYTHONPATH=$PWD:$PWD/..:$BATS_TEST_DIRNAME
    EXPECTED='the source has [0-9]* bytes, not [0-9]*: out of bounds' try "$TEST_PYTHON" "$BATS_TEST_DIRNAME/04-gather-fast/what_can_go_wrong.py"
    assert_output --regexp '^[0-9]+ rows, 0 wrong$'
}

@test "fast: the C functions return a code for what makes no sense" {
    EXPECTED='the target is NULL' agrees 04-gather-fast/c_interface
}

@test "fast: out that is strided, overlaps, or stays as it was; odd addresses; pinned memory; a memory map" {
    EXPECTED='the source has [0-9]* bytes, not [0-9]*: out of bounds' agrees 04-gather-fast/layouts
}

@test "fast: elements and rows around the kernel's units, columns and blocks, and the way back, with a bad index at each end" {
    agrees 04-gather-fast/rows
    assert_quiet
}

@test "fast: DLPack, by its method and by its table of C functions: arrays of others, and a DeviceArray for others" {
    agrees 04-gather-fast/exchange
    assert_quiet
}

@test "fast: arrays of CuPy, PyTorch and JAX go in and come out where they are" {
    requires gpu
    "$TEST_PYTHON" -c 'import cupy, jax, torch' 2>/dev/null || skip "needs CuPy, PyTorch and JAX"
    agrees 04-gather-fast/other_libraries
}

@test "fast: take leaves nothing on the device" {
    build_counted libgather.so gather.cu gather_memory.cu
    agrees 04-gather-fast/leaves_nothing
}

@test "fast: threads that share a source, pin it, upload it, or let go of it (make soak has more)" {
    try "$TEST_PYTHON" "$BATS_TEST_DIRNAME/soak/soak.py" threads 1 0 "$RANDOM"
    assert_quiet
}

@test "fast: drawn cases, as NumPy (make soak has more)" {
    "$TEST_PYTHON" -c 'import hypothesis' 2>/dev/null || skip "needs Hypothesis: .venv/bin/python -m pip install hypothesis"
    try "$TEST_PYTHON" "$BATS_TEST_DIRNAME/soak/soak.py" drawn 0 1000 "$RANDOM" # try shows the command, with the seed
    assert_output '1000 cases as NumPy'
}

@test "fast: work stays on the stream that the arrays name, and nobody overwrites what is still to be read" {
    build_tools
    EXPECTED='never freed.* stream' agrees 04-gather-fast/streams TOOLS="$BATS_TEST_TMPDIR/tools.so"
    refute_regex "$stderr" 'event\(s\)' # those that it makes go again
}

@test "fast: forks while threads are in take; Python ends while they are" {
    agrees 04-gather-fast/forks
    # On a GPU CUDA promises nothing while the process ends.
    [ "$TEST_BACKEND" = cuda ] || EXPECTED='never freed|nobody waited' agrees 04-gather-fast/ends
}

@test "fast: an array on another GPU is refused; a call asks CUDA at most once where an array is; first calls at once make one pool" {
    use_shim devices
    agrees 04-gather-fast/devices LD_PRELOAD=./devices.so PYTHONPATH="$ROOM"
}

@test "fast: a device without pools of memory: take is right" {
    use_shim devices
    try env LD_PRELOAD=./devices.so NO_POOLS=1 PYTHONPATH="$ROOM" "$TEST_PYTHON" -c '
import numpy as np, gather
x, i = np.arange(5000.0), np.arange(4999, -1, -1)
print((gather.take(x, i) == x[i]).all())'
    assert_output True
}

# ---- What the library promises

@test "fast: whichever CUDA call of a program fails, a line says so and the exit status is 1" {
    each_call_fails ./{gather_c,'overlap 4','packs 7'}
}

@test "fast: whichever CUDA call fails, an exception comes, out is as it was, nothing stays; an older error is not taken for take's" {
    requires stand-in
    EXPECTED=cudaSetDevice agrees 04-gather-fast/failing_calls
}

@test "fast: other Python threads go on while the GPU works: no call of CUDA that waits holds the GIL" {
    use_gil_shim ./libgather.so
    EXPECTED='never freed: 1 stream' agrees 04-gather-fast/gil LD_PRELOAD=./gil.so PYTHONPATH="$ROOM"
}

@test "fast: more elements than a machine has room for: no number is cut to 32 bits, and all is on the job's stream" {
    use_shim sizes
    agrees 04-gather-fast/far_sizes LD_PRELOAD=./sizes.so
}
