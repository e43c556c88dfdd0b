load helpers

setup() {
    cd "$TOP/01-hello-kernel" || return 1
}

# Compiles a program anew, for the backend that is tested, with a change: recompile NAME 'sed command'
recompile() {
    find_compiler
    sed "$2" "$1.cu" >"$BATS_TEST_TMPDIR/$1.cu"
    "${compile[@]}" -I../common -o "$BATS_TEST_TMPDIR/$1" "$BATS_TEST_TMPDIR/$1.cu"
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

@test "01: vector_add is right at every block size, also at those that do not divide n" {
    try ./vector_add
    assert_success
    assert_equal "$output" '32768 blocks of   32 threads: 1048576 of 1048576 right
10486 blocks of  100 threads: 1048576 of 1048576 right
 4096 blocks of  256 threads: 1048576 of 1048576 right
 1049 blocks of 1000 threads: 1048576 of 1048576 right
 1024 blocks of 1024 threads: 1048576 of 1048576 right'
    assert_quiet
}

@test "01: vector_add notices a kernel that skips an element, and exits with 1" {
    recompile vector_add 's/if (i < n) .*/if (i < n - (blockDim.x == 100))/'
    try "$BATS_TEST_TMPDIR/vector_add"
    assert_failure 1
    assert_line --index 1 '10486 blocks of  100 threads: 1048575 of 1048576 right'
    assert_line --index 4 ' 1024 blocks of 1024 threads: 1048576 of 1048576 right'
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

@test "01: grid: each thread of a grid in two dimensions knows its row, its column and its element" {
    local expected=() row column
    for row in 0 1 2 3; do
        for column in 0 1 2 3 4 5; do
            expected+=("$(printf 'row %d, column %d: element %2d, block (%d, %d), thread (%d, %d)' $row $column \
                $((6 * row + column)) $((column / 3)) $((row / 2)) $((column % 3)) $((row % 2)))")
        done
    done
    try ./grid
    assert_success
    assert_equal "$(sort <<<"$output")" "$(printf '%s\n' "${expected[@]}")"
    assert_quiet
}

@test "01: limits: a launch at each limit runs, and one beyond does not" {
    EXPECTED='is not launched' try ./limits # half of its launches are too large
    assert_success
    assert_equal "${#lines[@]}" 10
    for what in 'threads in a block, x +1024' 'threads in a block, y +1024' 'threads in a block, z +64' \
        'threads in a block, all in all +1024' 'blocks in a grid, x +2147483647' 'blocks in a grid, y +65535' \
        'blocks in a grid, z +65535' 'bytes of shared memory +49152'; do
        assert_line --regexp "^$what  runs  cudaErrorInvalid(Value|Configuration)\$" # CUDA 13 and 12
    done
    assert_line --index 9 --regexp '^1125899906842624 blocks become 0 in a dim3: cudaErrorInvalid(Value|Configuration)$'
    recompile limits 's/Nothing(void) {}/Nothing(void) { *(volatile int *)8 = 0; }/' # "runs" is said of what has run
    EXPECTED='is not launched|follows a null pointer' try "$BATS_TEST_TMPDIR/limits"
    assert_failure 1
    refute_output --partial runs
}

@test "01: devices lists them, and runs a kernel on the one that is chosen" {
    try ./devices
    assert_success
    assert_line --index 0 --regexp '^device 0: .+, PCI bus [0-9A-Fa-f]{4}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.0$'
    assert_quiet
    local line=${lines[1]}
    cat >"$BATS_TEST_TMPDIR/asked.cu" <<'PROGRAM' # one by one, and a GB is 10^9 bytes
#include <cstdio>
int main(void)
{
    int major, minor, count;
    size_t free, total;
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
    cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0);
    cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0);
    cudaMemGetInfo(&free, &total);
    printf("  compute capability %d.%d, %d multiprocessors, %.1f GB of memory\n", major, minor, count, total / 1000 / 1000 / 1000.0);
}
PROGRAM
    find_compiler
    "${compile[@]}" -o "$BATS_TEST_TMPDIR/asked" "$BATS_TEST_TMPDIR/asked.cu"
    assert_equal "$line" "$("$BATS_TEST_TMPDIR/asked" 2>/dev/null)"
    recompile devices 's/Nothing(void) {}/Nothing(void) { printf("I run\\n"); }/'
    try "$BATS_TEST_TMPDIR/devices" 0
    assert_success
    assert_line --index -2 'I run'
    assert_line --index -1 'a kernel ran on device 0'
}

@test "01: devices: of two devices each is shown as it is, and the one that was chosen is used" {
    "$TOP/common/cpu/nvcc" -I../common -o "$BATS_TEST_TMPDIR/devices" devices.cu
    gcc -x c -shared -fPIC -o "$BATS_TEST_TMPDIR/two.so" - <<'PROGRAM' # a second device, which is called One
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
static int current;
int cudaGetDeviceCount(int *count) { return *count = 2, 0; }
int cudaDeviceGetPCIBusId(char *bus, int size, int device) { return snprintf(bus, size, "bus %d", device), 0; }
int cudaSetDevice(int device) { return current = device, 0; }
int cudaDeviceSynchronize(void) { return printf("waits for device %d\n", current), 0; }
int cudaGetDeviceProperties(void *properties, int device)
{
    int (*real)(void *, int) = dlsym(RTLD_NEXT, "cudaGetDeviceProperties");
    int code = real(properties, 0);
    return strcpy(properties, device ? "One" : "Zero"), code;
}
PROGRAM
    cd "$BATS_TEST_TMPDIR" || return 1
    EXPECTED='nobody waited' try env LD_PRELOAD=./two.so ./devices 1
    assert_success
    assert_line --index 0 'device 0: Zero, PCI bus bus 0'
    assert_line --index 2 'device 1: One, PCI bus bus 1'
    assert_line --index 4 'waits for device 1'
    assert_line --index 5 'a kernel ran on device 1'
}

@test "01: devices: a device that is not there, or is no number" {
    count=$(./devices 2>/dev/null | grep -c '^device')
    for wrong in 99 "$count" -1 '' one 0x 4294967296 99999999999999999999; do
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

# The line of silent.cu that CHECK names: line_of TEXT FUNCTION, the first with that text from the function's head on.
line_of() {
    awk -v text="$1" -v head="$2(" 'index($0, head) && /^static/ { inside = 1 } inside && index($0, text) { print NR; exit }' silent.cu
}

ILLEGAL='CUDA error 700, cudaErrorIllegalAddress: an illegal memory access was encountered'

@test "01: silent: a block of 1025 threads does not run at all, and nobody says so; CHECK does" {
    EXPECTED='is not launched|nobody asked' try ./silent big_block
    assert_success
    assert_output '0 of 1000 elements are 7'
    EXPECTED='is not launched|never freed' try ./silent big_block check
    assert_failure 1
    assert_output ''
    assert_regex "$stderr" "silent.cu:$(line_of 'CHECK(cudaGetLastError' big_block_checked): CUDA error (1, cudaErrorInvalidValue: invalid argument|9, cudaErrorInvalidConfiguration)"
}

@test "01: silent: without a synchronisation the kernel's greeting is lost" {
    EXPECTED='ended before kernel Greet ran' try ./silent no_wait
    assert_success
    if [ "$TEST_BACKEND" = cuda ]; then # a GPU is sometimes fast enough
        [ -z "$output" ] || assert_output 'Hello from a kernel'
    else
        assert_output ''
    fi
    try ./silent no_wait check
    assert_success
    assert_output 'Hello from a kernel'
    assert_quiet
}

@test "01: silent: without the bounds guard a GPU shows nothing at all; the stand-in does" {
    EXPECTED='kernel FillWithoutGuard writes' try ./silent no_guard
    if [ "$TEST_BACKEND" = cuda ]; then
        assert_success
        assert_output '1000 of 1000 elements are 7'
        assert_equal "$stderr" ''
    else
        assert_failure 1
        assert_output ''
        assert_regex "$stderr" 'silent.cu:19: kernel FillWithoutGuard writes 4 bytes, 0 bytes behind the end of an allocation of 4000 bytes \(block 3,0,0 thread 232,0,0\)'
        assert_regex "$stderr" "$ILLEGAL"
    fi
    try ./silent no_guard check
    assert_success
    assert_output '1000 of 1000 elements are 7'
    assert_quiet
}

@test "01: silent: a host pointer in a kernel" {
    EXPECTED='kernel Fill writes|nobody asked' try ./silent host_pointer
    assert_success
    assert_output 'x[0] is 0'
    EXPECTED='kernel Fill writes' try ./silent host_pointer check
    assert_failure 1
    assert_output ''
    assert_regex "$stderr" "silent.cu:$(line_of 'CHECK(cudaDeviceSynchronize' host_pointer_checked): $ILLEGAL"
}

@test "01: silent: an error is reported by the next call that waits, unless one waits at once" {
    EXPECTED='follows a null pointer' try ./silent late
    assert_failure 1
    assert_output ''
    assert_regex "$stderr" "silent.cu:$(line_of 'CHECK(cudaMemcpy(x, d_x' count_sevens): $ILLEGAL"
    EXPECTED='follows a null pointer' try ./silent late check
    assert_failure 1
    assert_regex "$stderr" "silent.cu:$(line_of 'CHECK(cudaDeviceSynchronize' late_checked): $ILLEGAL"
}

@test "01: silent: a race: a GPU counts too few threads, and the stand-in tells both sides" {
    EXPECTED='kernel Count has a race' try ./silent race
    if [ "$TEST_BACKEND" = cuda ]; then
        assert_success
        assert_regex "$output" '^[0-9]{1,3} of 1000 threads are counted$'
        assert_equal "$stderr" ''
    else
        line=$(grep -n 'count += 1' silent.cu | cut -d: -f1)
        assert_failure 1
        assert_regex "$output" '^[0-9]{1,3} of 1000 threads are counted$' # as wrong as on a GPU
        assert_regex "$stderr" "silent.cu:$line: kernel Count has a race: block [0-3],0,0 thread [0-9]+,0,0 reads what block [0-3],0,0 thread [0-9]+,0,0 wrote at silent.cu:$line, and nothing says which comes first: use an atomic such as atomicAdd, or write to other memory than you read"
    fi
    try ./silent race check
    assert_success
    assert_output '1000 of 1000 threads are counted'
    assert_quiet
}

@test "01: silent says what it takes" {
    for wrong in '' huh 'late huh' 'late check more'; do
        # shellcheck disable=SC2086
        try ./silent $wrong
        assert_failure 2
        assert_equal "$stderr" './silent big_block|no_wait|no_guard|host_pointer|late|race [check]'
    done
}

@test "01: timing tells no times of the stand-in" {
    "$TOP/common/cpu/nvcc" -I../common -o "$BATS_TEST_TMPDIR/timing" timing.cu
    try "$BATS_TEST_TMPDIR/timing"
    assert_failure 1
    assert_output ''
    assert_regex "$stderr" 'times are taken on a GPU only: the CPU stand-in is never timed'
    for wrong in 1 29 20x; do
        try "$BATS_TEST_TMPDIR/timing" $wrong
        assert_failure 2
        assert_equal "$stderr" './timing P: 2^P floats, P from 2 to 28'
    done
}

@test "01: timing checks the result, and tells the parts" {
    requires gpu
    try ./timing 20
    assert_success
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
    assert_output --partial "$GREETINGS"
}

@test "01: hello needs no library by an absolute path" {
    assert_no_absolute_path hello
}

@test "01: reverse: the threads of a block share memory; without the barrier a tool says which read is too early" {
    try ./reverse
    assert_success
    assert_output '1024 of 1024 right'
    assert_quiet
    recompile reverse 's/= part\[THREADS - 1 - t\]/= part[t < 128 ? t : THREADS - 1 - t]/'
    try "$BATS_TEST_TMPDIR/reverse"
    assert_failure 1
    assert_output '512 of 1024 right'
    if [ "$TEST_BACKEND" = cuda ]; then
        requires compute-sanitizer
        try compute-sanitizer --tool racecheck --error-exitcode 99 ./reverse no_barrier
        assert_failure 99
    else
        EXPECTED='reads byte' try ./reverse no_barrier
        assert_failure 1
        line=$(grep -n 'x\[i\] = part' reverse.cu | tail -n 1 | cut -d: -f1)
        assert_regex "$stderr" "reverse.cu:$line: kernel ReverseTooEarly reads byte 1020 of the shared memory part"
    fi
}
