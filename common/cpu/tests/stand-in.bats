load ../../../tests/helpers
export FAILS=any # each test looks at the exit status itself

export EXPECTED=. # what the stand-in says is what these tests are about: each looks at it

# The CPU stand-in, common/cpu: it has to answer as a GPU does. Beside it are programs, and what an H200 printed.

setup() {
    cd "$TOP" || return 1
    export PYTHONDONTWRITEBYTECODE=1
    PROGRAMS=$BATS_TEST_DIRNAME
    CPU_NVCC=$TOP/common/cpu/nvcc
}

# Compiles a program beside this file, once for all tests: build NAME; then PROGRAM is where it is.
build() {
    PROGRAM=$BATS_FILE_TMPDIR/$1
    [ -e "$PROGRAM" ] || "$CPU_NVCC" -O2 -Werror all-warnings -Xcompiler -Wall,-Wextra -o "$PROGRAM" "$PROGRAMS/$1.cu"
}

# The lines of a program beside this file that bear a name, for a regular expression: lines_of FILE NAME
lines_of() {
    awk -v name="$2" -F'// ' '$NF ~ "^([a-z-]+, )*" name "([,:]|$)" { printf "%s%d", n++ ? "|" : "", NR }' "$PROGRAMS/$1"
}

# Cases of a program beside this file, one a row: name [setting]...|exit status|what it prints|what the stand-in says, if anything.
# All but the name are regular expressions, in which LINE is a line that bears the case's name: answers PROGRAM
answers() {
    local case settings wanted printed said
    build "$1"
    while IFS='|' read -r case wanted printed said; do
        read -r case settings <<<"$case "
        # shellcheck disable=SC2086
        try env $settings "$PROGRAM" "$case"
        assert_regex "$status $output" "^$wanted $printed\$"
        said=${said//LINE/"$1.cu:($(lines_of "$1.cu" "${case#*/}"))"}
        if [ -n "$said" ]; then assert_regex "$stderr" "$said"; else assert_quiet_stand_in; fi
    done
}

assert_quiet_stand_in() { # also where a GPU is tested
    assert_equal "$stderr" 'CPU stand-in: this program runs on the CPU, not on a GPU'
}

# Compiles a program beside this file and compares what it prints, "ok" if it has no .txt: runs_as_on_a_gpu NAME COMPILER [option]...
runs_as_on_a_gpu() {
    local name=$1
    shift
    "$@" -o "$BATS_TEST_TMPDIR/$name" "$PROGRAMS/$name.cu"
    try "$BATS_TEST_TMPDIR/$name"
    assert_success
    refute_regex "$stderr" 'host code touched|nothing says which comes first|has written'
    assert_same <(cat "$PROGRAMS/$name.txt" 2>/dev/null || echo ok) <(echo "$output") "what $name prints"
}

# ---- The same answers as a GPU's

ANSWERS='threads streams memory errors numbers launches'

@test "stand-in: programs print what they printed on an H200, with every order of the threads" {
    for name in $ANSWERS; do
        runs_as_on_a_gpu "$name" "$CPU_NVCC" -O2 -Werror all-warnings -Xcompiler -Wall,-Wextra
    done
    for seed in 1 2; do
        CPU_CUDA_SEED=$seed runs_as_on_a_gpu threads true # compiled above
    done
    runs_as_on_a_gpu numbers "$CPU_NVCC" -fmad=false -DNO_FMAD
}

@test "stand-in: and a GPU prints it still" {
    requires gpu
    requires nvcc
    for name in $ANSWERS; do
        runs_as_on_a_gpu "$name" "${NVCC:?}" -arch=native -O2
    done
}

@test "stand-in: the driver and NVRTC, opened by dlopen, answer as on an H200" {
    gcc -std=gnu11 -o "$BATS_TEST_TMPDIR/program" "$PROGRAMS/driver_and_nvrtc.c" -ldl
    local folder=$TOP/common/cpu/lib
    if [ "$TEST_BACKEND" = cuda ]; then
        requires nvcc
        folder=$(find -L "$(dirname "$(realpath "$(command -v "$NVCC")")")/.." -name libnvrtc.so.13 -printf '%h' -quit)
        [ -n "$folder" ]
    fi
    try env LD_LIBRARY_PATH="$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$BATS_TEST_TMPDIR/program"
    assert_output ok
}

@test "stand-in: its calls are its own, whatever CUDA the process has loaded before" {
    cd "$BATS_TEST_TMPDIR" || return 1
    nm -D --defined-only "$TOP/common/cpu/lib/libcpu_cuda.so" | sed -n 's/.* \(cpu_\)\?\(cuda[A-Z]\|cu[A-Z]\|nvrtc\)/\2/p' | sort | uniq -c >calls
    refute grep -v '^ *2 ' calls # each under both names
    awk '{ printf "int %s() { return 35; }\n", $2 }' calls | gcc -w -x c -fno-builtin -shared -fPIC -o other.so -
    build launches
    echo 'extern "C" int alloc() { void *p; return cudaMalloc(&p, 8) + cudaFree(p); }' >alloc.cu
    "$CPU_NVCC" -shared -Xcompiler -fPIC -o alloc.so alloc.cu
    try "$TEST_PYTHON" -c 'import ctypes
other = ctypes.CDLL("./other.so", ctypes.RTLD_GLOBAL)
print(other.cudaFree(), ctypes.CDLL("./alloc.so").alloc())'
    assert_output '35 0'
    try env LD_PRELOAD=./other.so "$PROGRAM"
    assert_same "$PROGRAMS/launches.txt" <(echo "$output") 'what launches prints'
}

@test "stand-in: two libraries in one process share device memory, as on a GPU" {
    cd "$BATS_TEST_TMPDIR" || return 1
    cat >give.cu <<'PROGRAM'
__device__ int seven = 7;
extern "C" void *give(void)
{
    int h, *d = nullptr;
    cudaMemcpyFromSymbol(&h, seven, sizeof h);
    cudaMalloc(&d, sizeof *d);
    cudaMemcpy(d, &h, sizeof h, cudaMemcpyHostToDevice);
    return d;
}
PROGRAM
    cat >take.cu <<'PROGRAM'
__device__ int factor = 2;
__global__ void multiply(int *p) { *p *= factor; }
extern "C" int take(int *d)
{
    int h = 0;
    multiply<<<1, 1>>>(d);
    cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost);
    return cudaFree(d) ? -1 : h;
}
PROGRAM
    find_compiler
    for part in give take; do
        "${compile[@]}" -shared -Xcompiler -fPIC -o "lib$part.so" "$part.cu"
    done
    try_python CPU_CUDA_LEAKS=1 <<'PROGRAM'
import ctypes
give, take = ctypes.CDLL("./libgive.so").give, ctypes.CDLL("./libtake.so").take
give.restype, take.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
print(take(give()))
PROGRAM
    assert_success
    assert_output 14
}

# ---- What the checks of every access find, and what they leave alone

# What ./bugs prints, if not 0 0: what the launch left, and what the next call that waits returned.
codes_of() {
    case $1 in
        direction | freed-twice | symbol) echo 0 1 ;;
        far) echo 0 717 ;;
        before | freed | host | host-in-struct | null | past-* | stack | two-before) echo 0 700 ;;
        forever) echo 0 702 ;;
        misaligned*) echo 0 716 ;;
        divide | half-warp | two-barriers) echo 0 719 ;;
        leak | nobody-* | touched) echo '' ;;
        too-early) echo -1 0 0 ;;
        too-many) echo 1 0 ;;
        *) echo 0 0 ;;
    esac
}

@test "stand-in: each bug of bugs.cu is told in the words of the README's table, with its line, and has its code" {
    build bugs
    rows=0
    while IFS=$'\t' read -r name _ message _; do
        rows=$((rows + 1))
        [ "$name" != divide ] || [ "$(uname -m)" = x86_64 ] || continue # ARM divides by zero in silence
        answers bugs <<<"$name|.*|$(codes_of "$name")|CPU stand-in: (.*: )?(kernel )?$message"
        messages=$(grep -cvE 'runs on the CPU|never freed|the program ends with' <<<"$stderr") || true
        [[ $name = @(leak|nobody-looked|volatile-global) ]] || assert_equal "$messages" 1
        numbers=$(lines_of bugs.cu "$name")
        [ -z "$numbers" ] || assert_regex "$stderr" "bugs.cu:($numbers)[:, ]" # either side of a race
    done < <("$TEST_PYTHON" tests/pages.py rows common/cpu/README.md '| case | bug | the stand-in | a tool |')
    assert_equal "$rows" "$("$PROGRAM" 2>/dev/null | wc -l)"
}

@test "stand-in: more bugs: their codes, and the messages, with the line" {
    answers bugs <<'ROWS'
two-barriers|0|0 719|: thread 0,0,0 at [^ ]*LINE \(__syncthreads\), thread 5,0,0 at [^ ]*LINE \(__syncthreads\)
past-write|0|0 700|LINE: kernel Fill writes 4 bytes out of bounds, .* \(block 0,0,0 thread 250,0,0\)
no-room/0|0|1 0|: cudaMemset: the target has 1000 bytes, not 1004: out of bounds
no-room/1|0|1 0|: cudaMemcpyToSymbol: the variable has 4 bytes, not 8 from byte 0 on: out of bounds
no-room/2|0|1 0|: cudaMemset: the target is memory of the host
no-room/3|0|1 0|: cudaMemset: the target was freed by cudaFree
no-room/4|0|1 0|: cudaMemcpy: the source was freed by cudaFree
no-room/5|0|1 0|: cudaMemset: the target is outside of all allocations
no-room/6|0|1 0|: cudaMemset3D: the target has 1000 bytes, not 1100: out of bounds
stack|0|0 700|LINE: kernel Deep needs more stack than there is
by-name-of-pointer|0|0 700|LINE: kernel Fill writes 4 bytes out of bounds
by-address/0|0|1 0| bugs.cu:[0-9]+: kernel Fill is not launched: a block has 1 to 1024
by-address/1|1|[0-9-]+ 0 0| bugs.cu:[0-9]+: host code touched
far-behind|0|0 700|LINE: kernel Fill writes 4 bytes out of bounds, .* after the end of an allocation of 1000 bytes
far-below|0|0 700|LINE: kernel Fill writes the address 0x[0-9a-f]*, where no device memory is
half-past|0|0 700|LINE: kernel HalfPast writes 16 bytes out of bounds, the last 8 of them after the end of an allocation of 1000 bytes
two-scopes|1|0 0|kernel TwoScopes has a race: .* what .* at .*: what is atomic for one block is not for others: use atomicAdd, not atomicAdd_block
block-fence|1|0 0|LINE: kernel LastBlock<true, true> has a race: .* reads what .* wrote at
lock-of-blocks|1|0 0|LINE: kernel LockWithoutFence has a race: .* LINE, .*: another block may rely on what comes before a __threadfence\(\)
lock-of-warps|1|0 0|LINE: kernel LockWithoutFence has a race: .* LINE
shared-total|1|0 0|LINE: kernel SharedTotal has a race .* wrote atomically at .*: put __syncthreads\(\) between them; or if the old value would do
read-behind-fence|1|0 0|LINE: kernel ReadBehindFence has a race on the shared memory s: thread 32,0,0 reads what thread 0,0,0 wrote
volatile-once|1|0 0|LINE: kernel OtherWarps<false> has a race on the shared memory part: thread 32,0,0 reads what thread 31,0,0 wrote at .*: volatile does not make other warps wait
behind-fence|1|0 0|LINE: kernel BehindFence has a race on the shared memory part: .* LINE
host-waits|0|702 702|kernel Forever hangs: every thread that is left waits .*, so neither does cudaStreamQuery
two-names|1|0 0|LINE: kernel TwoNames has a race: .* LINE
half-past-end|0|0 700|kernel Total reads 8 bytes out of bounds, the last 4 of them after the end of an allocation of 1004 bytes
never-read|0|0 700|LINE: kernel ToSink follows a null pointer
swap-unwritten|1|0 0|LINE: kernel Swaps reads byte 0 of an allocation of 1000 bytes, which nobody has written
wait-for-all|0|0 702|kernel WaitForAll hangs: every thread that is left waits for another one, in a loop that reads what a block may write that has not begun, and no more
past-variable|0|0 700|LINE: kernel PastSink writes 0x[0-9a-f]*, which is not device memory but the host's, right after the variables of the device: is
wait-without-memory|0|0 702|kernel WaitForAll hangs: every thread that is left waits for another one, in a loop that reads what a block may write
nearly-null|0|0 700|LINE: kernel Fill follows a null pointer
never-set|1|0 716|LINE: kernel Follow reads byte 0 of an allocation of 1000 bytes, which nobody has written
no-dynamic|0|0 700|LINE: kernel PastDynamic writes outside the 0 bytes of the shared memory of this launch \(dynamic\) \(block
assert|0|0 710|LINE: void Check\(int\): block: \[0,0,0\], thread: \[0,0,0\] Assertion `n > 3` failed.
runtime-in-kernel|0|0 719|kernel Call calls a function of the CUDA runtime: only host code can
called|134||a kernel was called like a function: write kernel<<<blocks, threads>>>
variable-on-host|139||bugs.cu:[0-9]+: host code touched device memory at 0x[0-9a-f]+: copy it with cudaMemcpyFromSymbol first
assert-in-function/0|0|0 710|[0-9]: void check\(int\): block: \[0,0,0\], thread: \[0,0,0\] Assertion `n > 3` failed.
assert-in-function/1|0|0 710|[0-9]: T check\(T, T\) \[with T = int\]: block: .* Assertion `n > most` failed.
assert-in-function/2|0|0 710|[0-9]: void Checked::check\(int\) const: block: .* Assertion `n > 3` failed.
ROWS
}

@test "stand-in: more bugs, of what host and device share, of several threads and of streams" {
    answers bugs <<'ROWS'
managed-too-early|1|7 0 0|bugs.cu:[0-9]+: host code touched 0x[0-9a-f]+, which kernel Fill may not have finished with: wait for it first
one-of-two|1|7 0 0|bugs.cu:[0-9]+: host code touched 0x[0-9a-f]+, which kernel Fill may not have finished with: wait for it first
variable-alone|1|7 0 0|bugs.cu:[0-9]+: host code touched 0x[0-9a-f]+, which kernel CountAlone may not have finished with: wait for it first
variable-before|1|7 0 0|bugs.cu:[0-9]+: host code touched 0x[0-9a-f]+, which kernel CountBefore may not have finished with: wait for it first
variable-too-early|1|7 0 0|bugs.cu:[0-9]+: host code touched 0x[0-9a-f]+, which kernel Count may not have finished with: wait for it first
registered-too-early|1|7 0 0|bugs.cu:[0-9]+: host code touched 0x[0-9a-f]+, which kernel Fill may not have finished with: wait for it first
virtual-copied|0|0 700|LINE: kernel Corners calls a virtual function of an object that the host has made
host-function|0|0 700|LINE: kernel CallIt calls a function by its address on the host
host-text|0|0 700|LINE: kernel Say reads 0x[0-9a-f]*, which is not device memory but the host's
host-literal|0|0 700|LINE: kernel Say reads 0x[0-9a-f]*, which is not device memory but the host's
host-format|0|0 700|LINE: kernel SayAs reads 0x[0-9a-f]*, which is not device memory but the host's
symbol-source|0|0 1|LINE: cudaMemcpy: the source is the address on the host of a variable of the device: use cudaMemcpyToSymbol
symbol-in-template|0|0 0|LINE: cudaMemcpy: the target is the address on the host of a variable of the device
symbol-set|0|0 1|but cudaMemset at [^ ]*LINE returned cudaErrorInvalidValue
symbol-read|0|0 700|kernel Sum reads a variable of the device by its address on the host: use the variable itself
symbol-written|0|0 700|kernel FillBox writes a variable of the device by its address on the host: use the variable itself
heap-across-end|0|0 700|kernel HeapAcrossEnd writes outside the 44 bytes that malloc or new gave it
heap/9|0|0 0|
heap/-1|0|0 700|kernel HeapByPointer writes outside the 40 bytes that malloc or new gave it
heap/10|0|0 700|kernel HeapByPointer writes outside the 40 bytes that malloc or new gave it
heap/500|0|0 700|kernel HeapByPointer writes memory that was freed in a kernel, or that malloc did not give
heap/99|0|0 700|kernel HeapByPointer writes memory that was freed in a kernel, or that malloc did not give
to-the-end|0|0000000 1111111 0000000 1111111 0 0|cudaMemcpy2D: the source has [0-9]* bytes, not [0-9]*: out of bounds
in-each-way|0|001011111111111000 0 400 400 400 0 0|but cudaHostRegister at [^ ]* returned cudaErrorHostMemoryAlreadyRegistered
half-copied/0|1|0 0|kernel Sum reads byte 496 of an allocation of 1000 bytes, which nobody has written, nor the host before it copied it there
half-copied/1|1|0 0|kernel Sum reads byte 496 of an allocation of 1000 bytes, which nobody has written, nor the host before it copied it there
half-copied/2|1|0 0|kernel Sum reads byte 496 of an allocation of 1000 bytes, which nobody has written, nor the host before it copied it there
half-copied/3|1|0 0|kernel Sum reads byte 496 of an allocation of 1000 bytes, which nobody has written, nor the host before it copied it there
half-copied/4|0|0 0|
half-copied/5|0|0 0|
half-copied/6|0|0 0|
half-copied/7|0|0 0|
beyond/0|0|0 0|
beyond/1|1|0 0|LINE: cudaMemcpy: reads 864 bytes, but malloc or new gave the host at most 800 there: out of bounds
beyond/2|0|0 0|
beyond/3|1|0 0|LINE: cudaMemcpyAsync: writes 864 bytes, but malloc or new gave the host at most 800 there: out of bounds
beyond/4|0|0 0|
beyond/5|1|0 0|LINE: cudaMemcpy2D: reads 890 bytes, but malloc or new gave the host at most 800 there: out of bounds
beyond/6|0|0 0|
beyond/7|1|0 0|LINE: cudaMemcpyToSymbol: reads 864 bytes, but malloc or new gave the host at most 800 there: out of bounds
unwritten-parts|1|0 0|LINE: kernel UnwrittenParts<char> reads byte 0 of the shared memory s, which no thread of this block has written
unwritten-parts-short|1|0 0|LINE: kernel UnwrittenParts<short> reads byte 0 of the shared memory s, which no thread of this block has written
one-computes|0|0 0|
local-atomic|0|0 719|LINE: kernel AtomicOfItsOwn does an atomic on a variable of its own, which no GPU can
unset-target|0|1 0|LINE: cudaMemcpy: the target is a pointer that nobody has set
unset-source|0|1 0|LINE: cudaMemcpy: the source is a pointer that nobody has set
unset-argument|0|0 716|kernel Fill follows a pointer that nobody has set
unset-in-array|0|0 700|kernel Sum follows a pointer that nobody has set
time-too-early|0|0 0|cudaEventElapsedTime at [^ ]*LINE returned cudaErrorNotReady, and nobody asked what that is
two-of-one/0|1|7 0 0|bugs.cu:[0-9]+: host code touched 0x[0-9a-f]+, which kernel Sum may not have finished with: wait for it first
two-of-one/1|1|7 0 0|bugs.cu:[0-9]+: host code touched 0x[0-9a-f]+, which kernel Sum may not have finished with: wait for it first
two-of-one/2|1|7 0 0|bugs.cu:[0-9]+: host code touched 0x[0-9a-f]+, which kernel WriteBoth may not have finished with: wait for it first
two-of-one/3|1|7 0 0|bugs.cu:[0-9]+: host code touched 0x[0-9a-f]+, which kernel WriteBoth may not have finished with: wait for it first
two-of-one/4|1|7 0 0|bugs.cu:[0-9]+: host code touched 0x[0-9a-f]+, which kernel WriteBoth may not have finished with: wait for it first
two-of-one/5|1|7 0 0|bugs.cu:[0-9]+: host code touched 0x[0-9a-f]+, which kernel WriteBoth may not have finished with: wait for it first
two-of-one/6|1|7 0 0|bugs.cu:[0-9]+: host code touched 0x[0-9a-f]+, which kernel [SF][a-z]* may not have finished with: wait for it first
two-of-one/7|1|7 0 0|bugs.cu:[0-9]+: host code touched 0x[0-9a-f]+, which kernel [SF][a-z]* may not have finished with: wait for it first
no-wait/0|1|7 0 0|bugs.cu:[0-9]+: host code touched 0x[0-9a-f]+, which kernel Fill may not have finished with: wait for it first
no-wait/1|1|0 0|kernel Sum reads what work of another stream wrote at .*, and nothing says which comes first
no-wait/2|1|7 0 0|bugs.cu:[0-9]+: host code touched 0x[0-9a-f]+, which kernel Fill may not have finished with: wait for it first
no-wait/3|1|0 0|kernel Sum reads what work of another stream wrote at .*, and nothing says which comes first
no-wait/4|1|7 0 0|bugs.cu:[0-9]+: host code touched 0x[0-9a-f]+, which kernel Fill may not have finished with: wait for it first
no-wait/5|1|0 0|kernel Sum reads what work of another stream wrote at .*, and nothing says which comes first
no-wait/6|1|7 0 0|bugs.cu:[0-9]+: host code touched 0x[0-9a-f]+, which kernel Fill may not have finished with: wait for it first
no-wait/7|1|0 0|kernel Sum reads what work of another stream wrote at .*, and nothing says which comes first
no-wait/8|1|7 0 0|bugs.cu:[0-9]+: host code touched 0x[0-9a-f]+, which kernel Fill may not have finished with: wait for it first
no-wait/9|0|0 0|
no-wait/10|1|7 0 0|bugs.cu:[0-9]+: host code touched 0x[0-9a-f]+, which kernel Fill may not have finished with: wait for it first
abort|134||bugs.cu:[0-9]+: host code touched 0x[0-9a-f]+, which kernel Fill may not have finished with: wait for it first
crash|139||bugs.cu:[0-9]+: host code touched 0x[0-9a-f]+, which kernel Fill may not have finished with: wait for it first
rows-unwritten|0|0 0|on a GPU.CPU stand-in: LINE: cudaMemcpy2D: reads 20 bytes that nobody has written, the first at byte 0 of an allocation of 1000 bytes$
one-gap|0|0 0|LINE: cudaMemcpy: reads 12 bytes that nobody has written, the first at byte 988 of an allocation of 1000 bytes
set-too-early|1|0 0 0|bugs.cu:[0-9]+: host code touched 0x[0-9a-f]+, which cudaMemset2DAsync may not have finished with: wait for it first
managed-late|1|7 0 0|bugs.cu:[0-9]+: host code touched 0x[0-9a-f]+, which kernel Fill may not have finished with: wait for it first
not-published|1|7 0 0|bugs.cu:[0-9]+: host code touched 0x[0-9a-f]+, which kernel SayWithoutFence may not have finished with: wait for it first
two-races|1|0 0|LINE: .* reads what .* atomically at .*LINE: .* reads what .* atomically at .*LINE: .* writes what .* wrote at
three-bytes|1|0 0|LINE: .* thread 1,0,0 writes what block 0,0,0 thread 0,0,0 read at
found-once|1|512 0 0|LINE: kernel FindOnce has a race: .* LINE
neighbours|1|0 0|LINE: kernel Neighbours reads byte .*, which nobody has written yet; is a __syncthreads\(\) missing before\?
one-for-all|1|0 0|LINE: .* writes what thread .*: let each thread write an element of its own, or only one thread write it, or use an atomic
warps-zeros|1|0 0|LINE: .* thread [0-9]+,0,0 (reads|writes) what thread [0-9]+,0,0 wrote at
two-bytes|1|0 0|LINE: .* thread 1,0,0 writes what block 0,0,0 thread 0,0,0 wrote at
two-kinds|0|0 719|kernel TwoKinds: threads of a warp wait for others that do not come: thread 0,0,0 at [^ ]*LINE \(__shfl_sync\)
branches|1|0 0|LINE: .*: let each thread write an element of its own \(is a guard missing\?\), or use an atomic such as atomicAdd
no-second-barrier|1|0 0|wrote at [^ ]*LINE, .*: put __syncthreads\(\) between them \(for one warp __syncwarp\(\) will do\), or use an atomic
half-written|1|0 0|LINE: kernel Read<double> reads byte 4 of an allocation of 1000 bytes, which nobody has written
streams-end|1|0 0|LINE: cudaMemcpyAsync reads what work of another stream wrote at [^ ]*LINE, and nothing says
one-byte/0|1|0 0|cudaMemsetAsync writes what work of another stream wrote at .*, and nothing says which comes first
one-byte/3|1|0 0|cudaMemsetAsync writes what work of another stream wrote at .*, and nothing says which comes first
one-byte/4|1|0 0|cudaMemsetAsync writes what work of another stream wrote at .*, and nothing says which comes first
one-byte/8|1|0 0|cudaMemsetAsync writes what work of another stream wrote at .*, and nothing says which comes first
streams-apart|1|0 0|LINE: kernel Sum reads what work of another stream wrote at [^ ]*LINE, and nothing says which comes first
streams-read|1|0 0|LINE: kernel Fill writes what work of another stream read at [^ ]*LINE, and nothing says which comes first
streams-third|1|0 0|LINE: cudaMemsetAsync writes what work of another stream read at
two-masks|0|0 719|kernel TwoMasks: threads of a warp wait for others that do not come: thread 0,0,0 at [^ ]*LINE \(__shfl_sync\)
half-past-shared|0|0 700|LINE: kernel HalfPastShared writes outside the 256 bytes of the shared memory s
counter CPU_CUDA_CHECK=0|0|0 0|
past-write CPU_CUDA_CHECK=0|0|0 0|
no-barrier CPU_CUDA_SEED=1|1|0 0|LINE: kernel Reverse .* shared memory s[:,]
failed-print|0|lost.0 710|Assertion `n > 3` failed
again|1|111 111 111 1 0|LINE: kernel TwoInALine has a race: .* (reads what .* wrote|writes what .* read) at
ROWS
    # the last: three times two races in a line, a read of what nobody has written, a launch that is refused
    assert_equal "$(grep -c '^CPU stand-in: .*bugs.cu:[0-9]*: kernel' <<<"$stderr")" 3
    answers bugs <<<'failed-before|0||writes 4 bytes out of bounds'
    refute_regex "$stderr" 'nobody waited'
}

@test "stand-in: shared memory by a pointer, at any distance from it" {
    for at in -40000 -800 -20 -2 0 30 32 34 160 1000 20000; do
        case $at in 0 | 30) row='|0|0 0|' ;; *) row='|0|0 700|kernel ByPointer writes outside the [0-9]* bytes of the shared memory' ;; esac
        answers bugs <<<"by-pointer/$at$row"
    done
    for at in -200000 -4 0 252 256 2000 60000; do
        case $at in 0 | 252) row='|0|0 0|' ;; *) row='|0|0 700|writes outside the 256 bytes of the shared memory of this launch' ;; esac
        answers bugs <<<"by-pointer-dynamic/$at$row"
    done
}

@test "stand-in: threads that access parts of one word, each its own, in any order" {
    for at in {0..15}; do
        ((at % 2)) && row='|0|0 0|' || row='|1|0 0|kernel .*Parts.* has a race.*: .*thread [13],0,0 (read|write)s what .*thread 0,0,0 wrote at'
        answers bugs <<<"parts/$at$row"
    done
}

@test "stand-in: an atomic for one block is no atomic for another, whatever it does" {
    for at in {0..9}; do
        answers bugs <<<"each-scope/$at|1|0 0|kernel EachScope has a race: .*: what is atomic for one block is not for others"
    done
}

@test "stand-in: an address that is no multiple of the size is told, for each access" {
    while read -r type right wrongs; do
        for kernel in Read Write Cached Volatile Atomic; do
            [[ $kernel = [RWC]* || $type = int ]] || continue
            answers bugs <<<"$kernel<$type>$right|0|0 0|"
            for wrong in $wrongs; do
                answers bugs <<<"$kernel<$type>$wrong|0|0 716|bugs.cu:[0-9]*: kernel $kernel<$type> (read|write)s (a float4|[248] bytes) at an address that is no"
            done
        done
    done <<<'short 2 1
int 4 1 2 3
double 8 4
float2 8 4
float4 16 4 8'
}

@test "stand-in: drawn programs print what they printed on an H100, without a word; with one thing broken, a word is said" {
    # make test runs 30 of them, CI 200, SLOW=1 all
    find_compiler
    local count=${DRAWN:-30}
    [ -z "${SLOW:-}" ] || count=${DRAWN:-2000}
    LIMIT=3600 try "$TEST_PYTHON" "$PROGRAMS/draw.py" check "$count" "${compile[@]}" -O1
    assert_success
}

@test "stand-in: right kernels that look wrong are silent, and right, with every order of the threads" {
    "$CPU_NVCC" -O2 -Werror all-warnings -Xcompiler -Wall,-Wextra "$PROGRAMS/right.cu" -o "$BATS_TEST_TMPDIR/right"
    for seed in 0 1 2 3 4 7; do
        try env CPU_CUDA_SEED=$seed "$BATS_TEST_TMPDIR/right"
        assert_success
        assert_output ok
        assert_quiet_stand_in
    done
    TAKE_ITS_PLACE=1 try bash -c "ulimit -v 1000000000 && '$BATS_TEST_TMPDIR/right'"
    assert_success
    assert_quiet_stand_in
}

@test "stand-in: an error that nobody asked about is told at the end; of a kernel, it is the exit status" {
    answers host <<'ROWS'
errors/unasked|0||but cudaMemset2D at [^ ]*LINE returned cudaErrorInvalidValue, and nobody asked
errors/of-success|0||but cudaMemset2D at [^ ]*LINE returned cudaErrorInvalidValue, and nobody asked
errors/another|0||but cudaFree at [^ ]*LINE returned cudaErrorInvalidValue, and nobody asked
errors/last-error|0||
errors/peek|0||
errors/name|0||
errors/string|0||
errors/status-3|3||
errors/kernel|0||kernel set follows a null pointer [^:]*$
late/answers|0|0|
late/at-its-end|1||kernel wait_for hangs: .*, so neither does exit
failed/by-itself|1||LINE: .*ends as if all were well, but kernel set ended with cudaErrorIllegalAddress, and nobody asked
failed/then-launch|1||LINE: .*ends as if all were well, but kernel set ended with cudaErrorIllegalAddress, and nobody asked
failed/then-launch-asked|0||LINE: kernel set follows a null pointer
failed/then-call|0||LINE: kernel set follows a null pointer.*but cudaDeviceSynchronize at .*, and nobody asked
failed/status-3|3||LINE: kernel set follows a null pointer
ROWS
}

# Standard input has two lines for a program: the source, but for #include <cstdlib>, which is the first line; and what
# is said, exactly or as a regular expression. It must not compile: refuses exactly|like
refuses() {
    cd "$BATS_TEST_TMPDIR" || return 1
    while read -r source && read -r message; do
        printf '#include <cstdlib>\n%b\n' "$source" >program.cu
        try "$TEST_PYTHON" "$CPU_NVCC" -o program program.cu
        assert_failure 1
        if [ "$1" = exactly ]; then
            assert_equal "$stderr" "common/cpu/nvcc: program.cu:$message"
        else
            assert_regex "$stderr" "^$message\$"
            refute_regex "$stderr" 'cpu_cuda::|lambda|Traceback'
        fi
        [ ! -e program ]
    done
}

@test "stand-in: it refuses what nvcc refuses, what needs a GPU, and what CUDA 13 has dropped, with the line" {
    refuses exactly <<'ROWS'
int f() { return 1; }\n__global__ void k(int *p) { *p = f(); }
    3: calling a __host__ function("f") from a __global__ function("k") is not allowed
int f() { return 1; }\n__device__ int g() { return f(); }
    3: calling a __host__ function("f") from a __device__ function("g") is not allowed
__global__ void k(int *p) { *p = rand(); }
    2: calling a __host__ function("rand") from a __global__ function("k") is not allowed
#include <algorithm>\n__global__ void k(int *p) { *p = std::max(*p, 1); }
    3: calling a constexpr __host__ function("max") from a __global__ function("k") is not allowed
int other = 1, table[4];\n__global__ void k(int *p) { *p = table[0]; }
    3: identifier "table" is undefined in device code: it is a variable of the host
__device__ int f() { return 1; }\nint g() { return f(); }
    3: calling a __device__ function("f") from a __host__ function("g") is not allowed
__global__ int k() { return 1; }
    2: a __global__ function must have a void return type
int f() { return cudaFoo(1); }
    2: cudaFoo is not in the stand-in, which has a part of CUDA's names; NVIDIA's nvcc may have it
int f() { return cuCtxCreate(1); }
    2: cuCtxCreate is not in the stand-in, which has a part of CUDA's names; NVIDIA's nvcc may have it
__global__ void k(int *p) { *p = __nv_atomic_load_n(p, 0); }
    2: __nv_atomic_load_n is not in the stand-in, which has a part of CUDA's names; NVIDIA's nvcc may have it
int main() { return cudaLimitMaxL2FetchGranularity; }
    2: cudaLimitMaxL2FetchGranularity is not in the stand-in, which has a part of CUDA's names; NVIDIA's nvcc may have it
__global__ void k() {}\n__device__ void f() { k<<<1, 1>>>(); }
    3: a kernel that launches a kernel needs a GPU, the CPU stand-in has none
__global__ void k() { __shared__ int n = 3; }
    2: a __shared__ variable cannot be given a value where it is declared
void f(cudaTextureObject_t t);
    2: cudaTextureObject_t: textures need a GPU, the CPU stand-in has none
texture<float, 2> t;
    2: texture: textures need a GPU, the CPU stand-in has none
#include <mma.h>\nusing namespace nvcuda;
    3: nvcuda: tensor cores need a GPU, the CPU stand-in has none
__global__ void k(int *p, int n)\n{\n    for (int i = 0; i < n; i++ {\n        p[i] = i;\n    }\n}
    4: no closing bracket
int main() { cudaGraph_t g; }
    2: cudaGraph_t: graphs need a GPU, the CPU stand-in has none
int main() { 3 <<<1, 1>>>(); }
    2: no kernel name in front of <<<
__global__ void k(); int main() { k<<<1, 1>>(); }
    2: a declaration or launch without >>>
int main() { cudaThreadSynchronize(); }
    2: cudaThreadSynchronize: CUDA 13 has dropped it; in its place is cudaDeviceSynchronize (nvcc --cuda-12, or CPU_CUDA_12=1 in the environment, takes it as CUDA 12 does)
__global__ void k(int *p) { *p = __shfl_down(*p, 1); }
    2: __shfl_down: CUDA 13 has dropped it; in its place is __shfl_down_sync (nvcc --cuda-12, or CPU_CUDA_12=1 in the environment, takes it as CUDA 12 does)
int f(cudaDeviceProp p) { return p.clockRate; }
    2: clockRate: CUDA 13 has dropped it; in its place is cudaDeviceGetAttribute with cudaDevAttrClockRate (nvcc --cuda-12, or CPU_CUDA_12=1 in the environment, takes it as CUDA 12 does)
ROWS
}

@test "stand-in: what the compiler, the linker and the preprocessor say is in words of the .cu" {
    refuses like <<'ROWS'
#include <cublas_v2.h>
    common/cpu/nvcc: program.cu.* cuBLAS: that needs a GPU, .*
#include <curand_kernel.h>
    common/cpu/nvcc: program.cu.* cuRAND: that needs a GPU, .*
__global__ void k() { __shared__ float tile[128][128], one; tile[0][0] = one = 1; }
    .*program.cu:2: .*tile is larger than the shared memory, 49152 bytes.*
int main() { cudaMemPrefetchAsync(0, 4, 0); }
    .*program.cu:2: .*CUDA 13 takes a place, such as cudaMemLocation.*, not a device's number \(nvcc --cuda-12 takes it\)
extern __shared__\nint s[];\n__global__ void k(int *p) { p[0] = y; }
    program.cu: In a kernel:.program.cu:4: error: .y. was not declared in this scope
__device__ int f(int); template <class T> __global__ void k(T *p) { *p = f(1); } int main() { k<<<1, 1>>>((int *)0); }
    .*ld(\.bfd)?: program.cu: in function .k<int>\(int\*\)':..*program.cu:2: undefined reference to .f\(int\)..collect2: error: .*
ROWS
    try "$TEST_PYTHON" "$CPU_NVCC" --fast-and-loose program.cu
    assert_failure
    assert_regex "$stderr" '^common/cpu/nvcc: the option --fast-and-loose is unknown'
    # nvcc warns of all three, too
    echo '__global__ void k(int *p) { int n; for (int i = 0; i < 2; +i) p[0] == 1; p[1] = n; }' >program.cu
    try "$TEST_PYTHON" "$CPU_NVCC" -c program.cu
    assert_success
    assert_regex "$stderr" 'program.cu:1: warning: for increment expression has no effect.*program.cu:1: warning: statement has no effect.*warning: .n. (is|may be)( used)? uninitialized'
    echo 'void f() throw(int); int main() {}' >program.cu # C++14 takes it
    try "$TEST_PYTHON" "$CPU_NVCC" -std=c++14 program.cu
    assert_failure
    assert_regex "$stderr" 'program.cu:1: error: .*common/cpu/nvcc: -std=c\+\+14 is compiled as C\+\+17, which the stand-in.s headers need$'
    try "$TEST_PYTHON" "$CPU_NVCC" nowhere.cu
    assert_failure
    assert_equal "$stderr" 'common/cpu/nvcc: there is no file nowhere.cu'
}

@test "stand-in: it takes and refuses what nvcc takes and refuses, of a list and of drawn combinations" {
    local count=10 seed=1
    [ "${SLOW:-}" != 1 ] || count=1000
    LIMIT=900 try "$TEST_PYTHON" "$PROGRAMS/judged.py" $count $seed # the list is what nvcc 13 said
    assert_success
    requires nvcc
    LIMIT=900 try "$TEST_PYTHON" "$PROGRAMS/judged.py" $count $seed "$NVCC"
    assert_success
}

@test "stand-in: nvcc's architectures are taken, and no others; with CPU_CUDA_12=1 those of CUDA 12 and its names, too" {
    cd "$BATS_TEST_TMPDIR"
    printf '%s\n' '#include <cstdio>' '__global__ void k(int *p) { p[threadIdx.x] = __shfl_xor(threadIdx.x, 1); }' \
        'int main() { int *d; cudaDeviceProp p; cudaGetDeviceProperties(&p, 0); cudaMallocManaged(&d, 128);' \
        'cudaMemPrefetchAsync(d, 128, 0); k<<<1, 32>>>(d); cudaThreadSynchronize(); int n = d[4];' \
        'k<<<1, 2000>>>(d); printf("%d %d %d %d\n", n, p.clockRate > 0, cudaGetLastError(), CUDART_VERSION); cudaFree(d); }' >old.cu
    echo 'int main() {}' >main.cu
    for option in -arch=sm_{75,90a,100f,121} -arch=native -arch=all '-gencode=arch=compute_80,code=[sm_86,compute_80]'; do
        "$CPU_NVCC" "$option" -E -o main.ii main.cu
    done
    for option in -arch=sm_{35,50,999,80a} -arch=bogus -code=sm_80 -gencode=arch=compute_80,code={sm_75,sm_35}; do
        try "$CPU_NVCC" "$option" -E -o main.ii main.cu
        assert_failure 1
    done
    try env CPU_CUDA_12=1 "$CPU_NVCC" -arch=sm_50 -o old old.cu
    assert_success
    assert_equal "$stderr" "common/cpu/nvcc: CUDA 12's names are taken, too; CUDA 13 has dropped them"
    for option in --default-stream=per-thread -DCUDA_API_PER_THREAD_DEFAULT_STREAM=1; do
        try "$CPU_NVCC" "$option" -c -o main.o main.cu
        assert_success
        assert_equal "$stderr" "common/cpu/nvcc: the default stream of a thread is here that of all, which waits for more: a missing wait may not be told"
    done
    EXPECTED='is not launched' try ./old
    assert_output '5 1 9 12090'
}

@test "stand-in: what it has to take" {
    # the names of what CUDA's headers do not include are the program's
    printf 'using namespace std;\nfloat *apply;\nint main() { return apply != 0; }\n' >"$BATS_TEST_TMPDIR/own.cu"
    "$CPU_NVCC" -o "$BATS_TEST_TMPDIR/own" "$BATS_TEST_TMPDIR/own.cu"
    try "$BATS_TEST_TMPDIR/own"
    echo 'static int before(int n) { return n + 1; }' >"$BATS_TEST_TMPDIR/before.h"
    # nvcc's long options may begin with one dash, too
    "$CPU_NVCC" --extended-lambda -expt-relaxed-constexpr -include "$BATS_TEST_TMPDIR/before.h" \
        -o "$BATS_TEST_TMPDIR/allowed" "$PROGRAMS/allowed.cu"
    try "$BATS_TEST_TMPDIR/allowed"
    assert_output $'22\n4 5'
    assert_quiet_stand_in
}

@test "stand-in: what kernels touch is counted: in sectors of 32 bytes, as by ncu on an H200" {
    build record
    try env CPU_CUDA_PICTURE="$BATS_TEST_TMPDIR/picture.svg" "$PROGRAM"
    assert_success
    # launches blocks threads, reads writes atomics, sectors and the most by a thread
    assert_output 'add: 1 256 65536, 131072 65536 0, 24576 3
stride<2>: 1 256 65536, 65536 65536 0, 24576 2
stride<32>: 1 256 65536, 65536 65536 0, 73728 2
four: 1 256 65536, 65536 65536 0, 65536 2
gather: 1 256 65536, 131072 65536 0, 81798 3
transpose: 1 256 65536, 65536 65536 0, 73728 2
twice: 2 258 66048, 66048 66048 0, 16512 2
more, less: 2 2 512, 768 512 0, 160 3
alone: 1 2 64, 1000 1000 0, 2000 2000
count: 1 64 8192, 0 0 8192, 256 1
look: 1 1 32, 32 32 0, 8 2
some: 1 64 2048, 1536 0 0, 64 1
nothing: 1 6 96, 0 0 0, 0 0
1
without threads: 1 33554432 8589934592, 0 0 0, 0 0
after: 0 0 0, 0 0 0, 0 0
last block: 1 33554432 8589934592, 256 256 0, 64 2
16384'
    table=$stderr
    run awk '$1 == "kernel" { name = $2 } $2 == "read" { read[name] += $5 } $2 == "write" { write[name] += $5 }
        END { for (k in read) print k, read[k], write[k] }' <<<"$table"
    run sort <<<"$output"
    assert_output 'add 16384 8192
alone 1000 1000
conditions 36 16
four 32768 32768
gather 73606 8192
stride<2> 16384 8192
stride<32> 65536 8192
through_shared 64 64
transpose 8192 65536'
    while read -r mark row; do # kind, accesses, bytes
        assert_regex "$table" "record.cu:$(lines_of record.cu "$mark") +${row// / +} "
    done <<<'whole read 32 512
eight read 8 32
part read 32 128
back write 32 512'
    python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$BATS_TEST_TMPDIR/picture.svg"
    grep -q '<title>thread 31</title>' "$BATS_TEST_TMPDIR/picture.svg"
}

@test "stand-in: with each CPU_CUDA_SEED others come between a thread's read and its atomic" {
    try_on_cpu <<'PROGRAM'
#include "check.h"
__global__ void once(int *p) { int old = *p; atomicCAS(p, old, old + 1); }
__global__ void two_atomics(int *p) { int old = atomicAdd(p, 0); atomicExch(p, old + 1); }
__global__ void volatiles(volatile int *p) { int old = *p; *p = old + 1; }
template <class F> static void run(const char *name, F kernel)
{
    int *p, h, right = 0;
    char text[9];
    CHECK(cudaMalloc(&p, sizeof *p));
    for (int seed = 1; seed <= 25; seed++) {
        snprintf(text, sizeof text, "%d", seed);
        setenv("CPU_CUDA_SEED", text, 1);
        CHECK(cudaMemset(p, 0, sizeof *p));
        kernel<<<1, 256>>>(p);
        CHECK(cudaMemcpy(&h, p, sizeof h, cudaMemcpyDeviceToHost));
        right += h == 256;
    }
    CHECK(cudaFree(p));
    printf("%s %d\n", name, right);
}
int main()
{
#define RUN(name) run(#name, name)
    RUN(once); RUN(two_atomics); RUN(volatiles);
}
PROGRAM
    assert_success
    assert_quiet_stand_in
    assert_output 'once 0
two_atomics 0
volatiles 0'
}

@test "stand-in: calls go one way: no file of it calls one that calls it" {
    cd "$BATS_TEST_TMPDIR" || return 1
    for file in "$TOP"/common/cpu/*/*.c; do
        gcc -std=gnu11 -Dalways_inline= -I "$TOP/common/cpu/include" -c -o "$(basename "$file" .c).o" "$file" # in a hurry
    done
    # pairs for tsort: who defines a name, who needs it
    nm -A ./*.o | awk -F'[: ]+' 'NF == 4 { where[$4] = $1 } NF == 3 { needs[$1, $3] }
        END {
            for (n in needs) {
                split(n, a, SUBSEP)
                if (where[a[2]] != "" && where[a[2]] != a[1]) print where[a[2]], a[1]
            }
        }' >pairs
    [ "$(wc -l <pairs)" -gt 50 ]
    run tsort pairs
    assert_success
    refute_output --partial loop
}

@test "stand-in: AddressSanitizer shows the kernel's line; right programs are clean under it and UndefinedBehaviorSanitizer" {
    local names=(streams)
    [ "${SLOW:-}" != 1 ] || names+=(threads memory launches) # make test-all
    for name in "${names[@]}"; do
        ASAN_OPTIONS=detect_leaks=0 runs_as_on_a_gpu "$name" "$CPU_NVCC" -O1 -g -fsanitize=address,undefined
        refute_regex "$stderr" 'ERROR|runtime error'
    done
    ASAN_OPTIONS=detect_leaks=0 try_on_cpu -g -fsanitize=address,undefined <<'PROGRAM'
__global__ void fill(float *p)
{
    __syncthreads(); // each thread has a stack of its own
    p[threadIdx.x] = 1;
}
int main(int argc, char **)
{
    float *d;
    cudaMalloc(&d, 4000);
    fill<<<1, argc > 1 ? 1000 : 1001>>>(d);
    return cudaDeviceSynchronize();
}
PROGRAM
    assert_failure
    assert_regex "$stderr" 'ERROR: AddressSanitizer: use-after-poison'
    assert_regex "$stderr" '#0 .*program.cu:4'
    ASAN_OPTIONS=detect_leaks=0 try "$BATS_TEST_TMPDIR/program" in-bounds
    assert_success
}

# ---- What it does not have

@test "stand-in: a source that asks for __CUDA_ARCH__ is told that it is not defined, with the line, once" {
    cd "$BATS_TEST_TMPDIR" || return 1
    says() { # what is said of program.cu, with the options
        try "$CPU_NVCC" "${@:2}" -E -o program.ii program.cu
        assert_success
        assert_equal "$stderr" "$1"
    }
    what='warning: __CUDA_ARCH__ is not defined here, and #if takes the other branch: host and device code are compiled at once'
    printf '\n#ifdef __CUDA_ARCH__ // 2\n#endif\n' >part.cuh
    cat >program.cu <<'PROGRAM'
#include "part.cuh"
// __CUDA_ARCH__
#if defined(X) || \
    __CUDA_ARCH__ >= 700
#endif
#  if __CUDA_ARCH__
#endif
PROGRAM
    says "program.cu:4: $what"
    sed -i 2,7d program.cu
    says "part.cuh:2: $what"
    says '' -D__CUDA_ARCH__=900
    : >part.cuh
    says ''
    printf '#if 0\n#elif __CUDA_ARCH__\n#endif\n' >program.cu
    says "program.cu:2: $what"
}

@test "stand-in: code of the host is not looked at, in templates, classes and lambdas neither; device code in them is" {
    cd "$BATS_TEST_TMPDIR" || return 1
    cat >program.cu <<'PROGRAM'
#include <algorithm>
#include <numeric>
#include <vector>
template <class T> __attribute__((noinline)) void scale(T *p, int n)
{
    for (int i = 0; i < n; i++)
        p[i] *= 2;
}
template <class T> __attribute__((noinline)) __host__ __device__ void scale_on_both(T *p, int n)
{
    for (int i = 0; i < n; i++)
        p[i] *= 2;
}
struct Matrix {
    float *p;
    Matrix(float *p) : p(p) { p[0] = 1; }
    float &at(int i) { return p[i + 1]; }
    __attribute__((noinline)) __host__ __device__ float at_of_both(int i) { return p[i + 1]; }
};
template <class F> __attribute__((noinline)) float call(F f) { return f(2); }
float use(std::vector<float> &v, float *p, int n)
{
    scale(p, n);
    scale_on_both(p, n);
    Matrix m(p);
    m.at(1) += m.at(2) + m.at_of_both(3);
    std::sort(v.begin(), v.end(), [](float a, float b) { return a > b; });
    for (float &x : v)
        x += *std::max_element(p, p + n) + call([p](float a) { return a > p[0]; });
    return std::accumulate(v.begin(), v.end(), 0.0f);
}
PROGRAM
    "$CPU_NVCC" -O2 -c -o program.o program.cu
    # the standard library's own functions may be looked at, where g++ does not inline them
    objdump -dr program.o | awk '/>:$/ { f = $2 } /__tsan_(read|write)/ { print f }' | sort -u |
        grep -v '^<_ZN*K*St\|^<_ZN9__gnu_cxx' >looked_at || true
    run c++filt <looked_at
    assert_output '<void scale_on_both<float>(float*, int)>:
<Matrix::at_of_both(int)>:'
}

@test "stand-in: nvcc's options: one file, several, -c, -E, -shared, sources of C and C++ beside CUDA" {
    cd "$BATS_TEST_TMPDIR" || return 1
    mkdir include
    echo '#define FACTOR 3' >include/factor.h
    cat >kernel.cu <<'PROGRAM'
#include "factor.h"
__constant__ int offset = OFFSET;
__global__ static void k(int *p) { *p = *p * FACTOR + offset; }
extern "C" int COMPUTE(int n)
{
    int *d;
    cudaMalloc(&d, sizeof n);
    cudaMemcpy(d, &n, sizeof n, cudaMemcpyHostToDevice);
    k<<<1, 1>>>(d);
    cudaMemcpy(&n, d, sizeof n, cudaMemcpyDeviceToHost);
    cudaFree(d);
    return n;
}
PROGRAM
    cp kernel.cu other.cu
    cat >main.c <<'PROGRAM'
#include <cuda_runtime_api.h>
#include <stdio.h>
int compute(int), compute_too(int);
int main(void) { return printf("%d %d %d\n", compute(5), compute_too(6), cudaDeviceSynchronize()) < 0; }
PROGRAM
    while read -ra options; do
        try "$CPU_NVCC" "${options[@]}"
        assert_success
        assert_equal "$output$stderr" ''
    done <<'ROWS'
-c -o kernel.o -I include -D OFFSET=1 -DCOMPUTE=compute -O2 -g -lineinfo -std=c++20 -Xcompiler -fPIC kernel.cu
-shared -Xcompiler -fPIC,-Wall -Werror all-warnings -Iinclude -DOFFSET=2 -DCOMPUTE=compute_too -arch sm_80 kernel.o other.cu
-o program main.c a.so -lm -L . -Xlinker -rpath=.
ROWS
    try ./program
    assert_output '16 20 0'
    for standard in 03 11 14 17 20; do
        try "$CPU_NVCC" -std=c++$standard -c -o standard.o -Iinclude -DOFFSET=1 -DCOMPUTE=compute kernel.cu
        assert_success
        assert_equal "$standard$output$stderr" $standard
    done
    "$CPU_NVCC" -Xcompiler "-Wall  -DOFFSET=1,-DCOMPUTE=compute" -Iinclude -c -o spaces.o kernel.cu
    "$CPU_NVCC" -MMD -c -Iinclude -DOFFSET=1 -DCOMPUTE=compute -o include/object kernel.cu
    assert_regex "$(tr -d '\\\n' <include/object.d)" '^include/object: .*include/factor\.h' # the rule's target is what was asked for
    cp kernel.cu include/below.cu
    "$CPU_NVCC" -MMD -c -DOFFSET=1 -DCOMPUTE=compute -Iinclude include/below.cu # without -o, they are made here
    [ -e below.o ] && [ -e below.d ] || fail "below.o and below.d are not here: $(find . -name "below*")"
    try "$CPU_NVCC" -E -Iinclude -DOFFSET=1 -DCOMPUTE=compute kernel.cu
    assert_success
    assert_output --partial 'cpu_cuda::launch'
}

@test "stand-in: its header files serve C and C++, with all warnings" {
    cd "$BATS_TEST_TMPDIR" || return 1
    for header in cuda_runtime_api cuda_runtime device_launch_parameters cuda nvrtc cpu_seen; do
        echo "#include <$header.h>" >program.c
        [ "$header" != cuda ] || echo 'uint8_t wide(void) { return (uint8_t)abs(-1); } // as with the real one' >>program.c
        for compiler in 'gcc -std=c11' 'g++ -x c++'; do
            # shellcheck disable=SC2086
            try $compiler -Wall -Wextra -Werror -I "$TOP/common/cpu/include" -fsyntax-only program.c
            assert_success
        done
    done
}

@test "stand-in: the standard library's headers mean what they mean without it, alone and all together, with each compiler" {
    cd "$BATS_TEST_TMPDIR" || return 1
    local compilers=g++ standards=c++17 compiler std folder header
    if [ "${SLOW:-}" = 1 ]; then
        compilers=$(compgen -c | grep -xE '(g|clang)\+\+-[0-9]+' | sort -u) # of each version
        standards='c++17 c++20'
    fi
    for compiler in $compilers; do
        folder=$(echo '#include <vector>' | "$compiler" -E -x c++ - | sed -n 's|^# 1 "\(.*\)/vector" 1.*|\1|p')
        for std in $standards; do
            mkdir "$compiler-$std"
            for header in "$folder"/[a-z]*; do
                [[ ! -f $header || $header = *.h || $header = */coroutine && $std = c++17 ]] ||
                    echo "#include <${header##*/}>" | tee -a all.cuh >"$compiler-$std/${header##*/}.cu"
            done
            cat all.cuh "$PROGRAMS/library.cu" >all.cu
            rm all.cuh
            "$TOP/common/cpu/nvcc" -ccbin "$compiler" -std="$std" -o all all.cu
            try ./all
            assert_success
            assert_output '42 as 1 word, 3 numbers'
        done
    done
    [ "${SLOW:-}" = 1 ] || return 0 # each header alone
    run xargs -P "$(nproc)" -I{} sh -c 'set {} $(echo {} | tr / " "); "$0" -ccbin ${2%-*} -std=${2##*-} -c -o $1.o $1' \
        "$TOP/common/cpu/nvcc" < <(printf '%s\n' */*.cu)
    assert_success
    assert_output ''
}

@test "stand-in: CPU_CUDA_FAIL=k fails the k-th call, and no other, with the code asked for" {
    # k+: from that one on, but for what gives something back; k++: also that
    answers host <<'ROWS'
calls/|0| 0|
calls/ CPU_CUDA_FAIL=1 CPU_CUDA_FAIL_CODE=2|0|cudaMalloc\(&d, 4\) 2.*|CPU_CUDA_FAIL: call 1, cudaMalloc, fails, as asked
calls/ CPU_CUDA_FAIL=4 CPU_CUDA_FAIL_CODE=719|0|cudaGetLastError\(\) 719 1|CPU_CUDA_FAIL: call 4, the launch of up_to, fails, as asked
calls/ CPU_CUDA_FAIL=5 CPU_CUDA_FAIL_CODE=400|0|cudaEventRecord\(e, s\) 400 1|call 5
calls/ CPU_CUDA_FAIL=10 CPU_CUDA_FAIL_CODE=46|0|cudaFree\(d\) 46 1|call 10
calls/ CPU_CUDA_FAIL=11|0| 0|
calls/ CPU_CUDA_FAIL=5+|0|cudaEventRecord\(e, s\) 2cudaMemcpyAsync\(.*\) 2cudaStreamSynchronize\(s\) 2 3|call 5.*call 6.*call 7
calls/ CPU_CUDA_FAIL=7+|0|cudaStreamSynchronize\(s\) 2 1|call 7
calls/ CPU_CUDA_FAIL=8+|0| 0|
calls/ CPU_CUDA_FAIL=7++|0|cudaStreamSynchronize\(s\) 2cudaEventDestroy\(e\) 1cudaStreamDestroy\(s\) 1cudaFree\(d\) 1 4|call 7
ROWS
}

@test "stand-in: what was never freed is told; CPU_CUDA_LEAKS=1 makes it the exit status" {
    answers host <<'ROWS'
leaks/none CPU_CUDA_LEAKS=1|0|done|
leaks/reset CPU_CUDA_LEAKS=1|0|done|
leaks/device CPU_CUDA_LEAKS=0|0|done|CPU stand-in: never freed: 100 bytes of device memory$
leaks/device CPU_CUDA_LEAKS=1|1|done|CPU stand-in: never freed: 100 bytes of device memory$
leaks/managed CPU_CUDA_LEAKS=1|1|done|CPU stand-in: never freed: 200 bytes of managed memory$
leaks/pinned CPU_CUDA_LEAKS=1|1|done|CPU stand-in: never freed: 300 bytes of pinned memory$
leaks/stream CPU_CUDA_LEAKS=1|1|done|CPU stand-in: never freed: 1 stream\(s\)$
leaks/event CPU_CUDA_LEAKS=1|1|done|CPU stand-in: never freed: 1 event\(s\)$
ROWS
}

# ---- And

@test "stand-in: CONTRACT.md lists what it has" {
    cd common/cpu || return 1
    run diff CONTRACT.md <(python3 contract.py)
    [ "$status" -eq 0 ] || fail "stale: in common/cpu, python3 contract.py > CONTRACT.md writes it anew"
}

@test "stand-in: of drawn work of three streams, what has no order is told, and nothing else" {
    build ordered
    for seed in {1..100}; do
        try "$PROGRAM" "$seed"
        case $output in
            ordered) assert_quiet_stand_in ;;
            *) assert_regex "$stderr" 'nothing says which comes first' ;;
        esac
    done
}

@test "stand-in: host threads at once, allocations by the ten thousand, more streams than it tells apart, a kernel's printf, work that nobody waited for" {
    answers host <<'ROWS'
threads/ CPU_CUDA_LEAKS=1|0|0 wrong|
many/|0|0 1 2|never freed
streams/64|1||nothing says which comes first
prints/greet|0|host.kernel.kernel.written|LINE: the program ended before kernel greet ran: nobody waited for it
prints/room-for-each|0|(kernel.){29}kernel|
prints/too-much|0|host.kernel.kernel.written|a kernel prints more than there is room for \(cudaLimitPrintfFifoSize, 64 bytes\)
ROWS
}

@test "stand-in: memory is freed by the call that belongs to it; what was freed, or never written, is told; the host keeps off" {
    answers host <<'ROWS'
frees/right|0||
frees/device-by-host|1||LINE: cudaFreeHost: this memory is freed by cudaFree \(40 bytes\)
frees/host-by-device|1||LINE: cudaFree: this memory is freed by cudaFreeHost \(40 bytes\)
frees/device-by-libc|1..||LINE: free: this memory is freed by cudaFree \(40 bytes\)
frees/host-by-libc|1..||LINE: free: this memory is freed by cudaFreeHost \(40 bytes\)
frees/host-by-delete|1..||LINE: delete\[\]: this memory is freed by cudaFreeHost \(40 bytes\)
frees/device-then-libc|1..||LINE: free: this memory was freed before, by cudaFree \(40 bytes\)
frees/host-then-device|1||LINE: cudaFree: this memory was freed before, by cudaFreeHost \(40 bytes\)
frees/host-freed-read|139||GPU.CPU stand-in: host.cu:[0-9]+: host code touched 0x[0-9a-f]*, which was freed by cudaFreeHost$
frees/by-freed-pointer|188||GPU.CPU stand-in: LINE: kernel set writes memory that was freed by cudaFreeHost \(40 bytes\) \([^)]*\)$
frees/async-then-device|1||LINE: cudaFree: this memory was freed before, by cudaFreeAsync \(40 bytes\)
frees/reset-then-device|1||LINE: cudaFree: this memory was freed before, by cudaDeviceReset \(40 bytes\)
frees/own|1||LINE: cudaFree: 0x[0-9a-f]* is not the start of such memory
unwritten/locals|0|0 0 0|
unwritten/copy|139|1 1 0 0|LINE: cudaMemcpy: reads 8 bytes that nobody has written, the first at byte 0 of an allocation of 400 bytes.CPU stand-in: host.cu:[0-9]+: host code touched device memory at [^ ]*: copy it with cudaMemcpy first$
ROWS
    for way in set add sub mul div mod and or xor shl shr inc dec first_inc first_dec address atomic; do
        echo "operators/$way|1||host code touched [^ ]* which kernel write_$way may not have finished with"
    done | answers host
}

@test "stand-in: a library that is closed leaves no signal handler behind" {
    "$CPU_NVCC" -I"$TOP/common" -shared -Xcompiler -fPIC -o "$BATS_TEST_TMPDIR/libhello.so" 02-dlopen-from-c/libhello.cu
    gcc -shared -fPIC -o "$BATS_TEST_TMPDIR/libhello_c.so" 02-dlopen-from-c/hello_c.c
    cd "$BATS_TEST_TMPDIR" || return 1
    try_python LD_LIBRARY_PATH=. <<'PROGRAM'
import ctypes, faulthandler
faulthandler.enable()
for _ in range(2):
    print(ctypes.CDLL("./libhello_c.so").hello_c(None, 0))
ctypes.string_at(0)
PROGRAM
    [ "$status" -gt 128 ]
    assert_regex "$stderr" 'Fatal Python error: Segmentation fault'
    assert_equal "$(grep -c 'this program runs on the CPU' <<<"$stderr")" 1
}
