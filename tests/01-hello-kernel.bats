load helpers
cd "$TOP/01-hello-kernel" || exit 1

# Compiles a program anew, for the backend that is tested, with a change: recompile NAME 'sed command'
recompile() {
    find_compiler
    sed "$2" "$1.cu" >"$BATS_TEST_TMPDIR/$1.cu"
    "${compile[@]}" -I../common -o "$BATS_TEST_TMPDIR/$1" "$BATS_TEST_TMPDIR/$1.cu"
}

@test "01: vector_add notices a kernel that skips an element, and exits with 1" {
    recompile vector_add 's/if (i < n) .*/if (i < n - (blockDim.x == 100))/'
    FAILS=1 try "$BATS_TEST_TMPDIR/vector_add"
    assert_line --index 1 '10486 blocks of  100 threads: 1048575 of 1048576 right'
    assert_line --index 4 ' 1024 blocks of 1024 threads: 1048576 of 1048576 right'
}

@test "01: threads, grid: each thread knows its block, its place there and its element, in whatever order" {
    try ./threads
    assert_same <(for e in {0..7}; do echo "block $((e / 4)) of 2, thread $((e % 4)) of 4: element $e"; done) <(sort <<<"$output") threads
    try ./grid
    assert_same <(for e in {0..23}; do
        printf 'row %d, column %d: element %2d, block (%d, %d), thread (%d, %d)\n' $((e / 6)) $((e % 6)) "$e" \
            $((e % 6 / 3)) $((e / 6 / 2)) $((e % 6 % 3)) $((e / 6 % 2))
    done) <(sort <<<"$output") grid
}

@test "01: threads: on the stand-in, CPU_CUDA_SEED shows other orders" {
    requires stand-in
    orders=$(for seed in 1 2 3 4; do CPU_CUDA_SEED=$seed ./threads 2>/dev/null | head -n 1; done | sort -u)
    [ "$(wc -l <<<"$orders")" -gt 1 ]
}

@test "01: limits: what it says has run, has run" { # the limits: pages.bats
    recompile limits 's/Nothing(void) {}/Nothing(void) { *(volatile int *)8 = 0; }/'
    FAILS=1 EXPECTED='is not launched|follows a null pointer' try "$BATS_TEST_TMPDIR/limits"
    refute_output --partial runs
}

@test "01: devices: of two devices each is shown as it is, and a kernel runs on the one that was chosen" {
    requires stand-in
    recompile devices 's/Nothing(void) {}/Nothing(void) { printf("I run\\n"); }/'
    gcc -x c -shared -fPIC -I"$TOP/common/cpu/include" -o "$BATS_TEST_TMPDIR/two.so" - <<'PROGRAM' # a second device, which is called One
#define _GNU_SOURCE
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
static int current;
cudaError_t cudaGetDeviceCount(int *count) { return *count = 2, 0; }
cudaError_t cudaDeviceGetPCIBusId(char *bus, int size, int device) { return snprintf(bus, size, "bus %d", device), 0; }
cudaError_t cudaSetDevice(int device) { return current = device, 0; }
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device)
{
    *p = (struct cudaDeviceProp){.major = 8 + device, .minor = 2 * device, .multiProcessorCount = 100 + device};
    p->totalGlobalMem = 80050000000 + device * 1000000000; // a GB is 10^9 bytes
    return strcpy(p->name, device ? "One" : "Zero"), 0;
}
cudaError_t cudaDeviceSynchronize(void)
{
    cudaError_t (*real)(void) = dlsym(RTLD_NEXT, "cudaDeviceSynchronize");
    return printf("waits for device %d\n", current), real();
}
PROGRAM
    cd "$BATS_TEST_TMPDIR" || return 1
    try env LD_PRELOAD=./two.so ./devices 1
    assert_output 'device 0: Zero, PCI bus bus 0
  compute capability 8.0, 100 multiprocessors, 80.0 GB of memory
device 1: One, PCI bus bus 1
  compute capability 9.2, 101 multiprocessors, 81.0 GB of memory
waits for device 1
I run
a kernel ran on device 1'
}

@test "01: devices: a device that is not there, or is no number" {
    try ./devices 0
    assert_line --index 0 --regexp '^device 0: .+, PCI bus [0-9A-Fa-f]{4}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.0$'
    assert_line --index -1 'a kernel ran on device 0'
    count=$(grep -c '^device' <<<"$output")
    for wrong in 99 "$count" -1 '' one 0x 4294967296 99999999999999999999; do
        FAILS=1 try ./devices "$wrong"
        assert_regex "$stderr" "there is no device $wrong: they are numbered 0 to $((count - 1))"
        refute_output --partial 'a kernel ran'
    done
}

@test "01: silent: each way ends as it should (what CHECK says: pages.bats), and it says what it takes" {
    local seen=1 all='' wanted arguments shown complaints wrong
    [ "$TEST_BACKEND" = cpu ] || seen=0 all='1000 of 1000 elements are 7' # a GPU shows nothing of two of the faults
    while IFS='|' read -r wanted arguments shown complaints; do
        # shellcheck disable=SC2086
        FAILS=any EXPECTED=${complaints//, /|} try ./silent $arguments
        assert_regex "$arguments: $status, $output" "^$arguments: $wanted, $shown\$"
    done <<TABLE
0|big_block|0 of 1000 elements are 7|is not launched, nobody asked
1|big_block check||is not launched, never freed
0|no_wait|$([ "$seen" = 1 ] || echo '(Hello from a kernel)?')|ended before kernel Greet ran
0|no_wait check|Hello from a kernel
$seen|no_guard|$all|kernel FillWithoutGuard writes
0|no_guard check|1000 of 1000 elements are 7
0|host_pointer|x\[0\] is 0|kernel Fill writes, nobody asked
1|host_pointer check||kernel Fill writes
1|late||follows a null pointer
1|late check||follows a null pointer
$seen|race|[0-9]{1,3} of 1000 threads are counted|kernel Count has a race
0|race check|1000 of 1000 threads are counted
TABLE
    for wrong in '' huh 'late huh' 'late check more'; do
        # shellcheck disable=SC2086
        FAILS=2 try ./silent $wrong
        assert_equal "$stderr" './silent big_block|no_wait|no_guard|host_pointer|late|race [check]'
    done
}

@test "01: timing tells no times of the stand-in" {
    requires stand-in
    FAILS=1 try ./timing
    assert_output ''
    assert_regex "$stderr" 'times are taken on a GPU only: the CPU stand-in is never timed'
    for wrong in 1 29 20x; do
        FAILS=2 try ./timing $wrong
        assert_equal "$stderr" './timing P: 2^P floats, P from 2 to 28'
    done
}

@test "01: the lines of measure.md, at the end of the loop of vector_add.cu: it tells its times, and all is still right" {
    find_compiler
    cd "$BATS_TEST_TMPDIR" || return 1
    sed -n '/^ *double seconds = device_time/,/^ *printf/p' "$TOP/01-hello-kernel/measure.md" >lines
    sed -e 's|"check.h"|"bench/bench.h"|' -e '/all_right &&/r lines' "$TOP/01-hello-kernel/vector_add.cu" >mine.cu
    "${compile[@]}" -I"$TOP/common" -o mine mine.cu
    try ./mine
    assert_equal "$(grep -c ': 1048576 of 1048576 right$' <<<"$output")" 5
    assert_equal "$(grep -cE '^[0-9.]+ ms, [0-9.]+ GB/s$' <<<"$output")" 5
}

@test "01: timing checks the result, and tells the parts" {
    requires gpu
    try ./timing 20
    assert_line --index 0 --regexp ': b \+= a on 2\^20 floats, equal to the CPU.s$'
    for part in 'once: context' 'once: first launch' 'copy in, a and b' 'kernel' 'kernel, four floats a thread' \
        'copy out, b' 'copy in, kernel, copy out' 'CPU, one thread'; do
        assert_line --regexp "^\| $part +\| +[0-9]+\.[0-9]{4} \| +([0-9.]+ )?\|$"
    done
    # GB/s times ms are the arrays that have moved, of 4 MiB each
    assert_equal "$(awk -F'|' '$4 > 0 { printf "%.0f ", $3 * $4 * 1e6 / 4194304 }' <<<"$output")" '2 3 3 1 3 '
    assert_line --regexp '^A copy within the device moves [0-9.]+ GB/s\.$'
    assert_line --regexp '^The kernel reaches [0-9.]+ % of this rate\. With four floats a thread it reaches [0-9.]+ %\.$'
}

@test "01: the stage runs alone, beside common, and clean removes what was built" {
    EXPECTED='is not launched' run_alone 01-hello-kernel
    assert_line --index 1 --regexp '^Device: '
    assert_equal "$(grep -c '^Hello World From GPU!$' <<<"$output")" 3
}

@test "01: reverse notices wrong elements; without the barrier a tool says which read is too early" {
    recompile reverse 's/= part\[THREADS - 1 - t\]/= part[t < 128 ? t : THREADS - 1 - t]/'
    FAILS=1 try "$BATS_TEST_TMPDIR/reverse"
    assert_output '512 of 1024 right'
    if [ "$TEST_BACKEND" = cuda ]; then
        requires compute-sanitizer
        FAILS=99 try compute-sanitizer --tool racecheck --error-exitcode 99 ./reverse no_barrier
    else
        FAILS=1 EXPECTED='reads byte' try ./reverse no_barrier # what it says: pages.bats
    fi
}

@test "01: sum and tiles notice wrong numbers; the sum is within its tolerance in whatever order blocks come" {
    for wrong in 's/mine += x\[i\]/mine += i % 5000 ? x[i] : 0/' 's/atomicAdd(sum, part\[0\])/*sum = part[0]/' '/cudaMemset/s/0, sizeof/64, sizeof/'; do
        recompile sum "$wrong"
        FAILS=1 EXPECTED='has a race' try "$BATS_TEST_TMPDIR/sum"
    done
    # an odd length, and the large numbers last: none is left out
    recompile sum 's/n = 1 << 20/n = 1000003/; s/(i + 1);/(n - i);/'
    try "$BATS_TEST_TMPDIR/sum"
    recompile sum 's/<<<BLOCKS,/<<<3,/' # the kernel asks how large the grid is
    try "$BATS_TEST_TMPDIR/sum"
    for seed in 1 2 3; do
        CPU_CUDA_SEED=$seed try ./sum
    done
    recompile tiles 's/k < TILE; k/k < TILE - 1; k/'
    FAILS=1 try "$BATS_TEST_TMPDIR/tiles"
    for kernel in '' simple; do
        try ./tiles $kernel
    done
}

@test "01: whichever CUDA call of a program fails, a line says so and the exit status is 1" {
    each_call_fails ./{hello,threads,devices,vector_add,reverse,sum,tiles}
}
