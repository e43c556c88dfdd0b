load helpers

export EXPECTED=. # what the stand-in says is what these tests are about: each looks at it

# The CPU stand-in, common/cpu: it has to answer as a GPU does. In stand-in/ are programs, and what an H200 printed.

setup() {
    cd "$TOP" || return 1
    export PYTHONDONTWRITEBYTECODE=1
    PROGRAMS=$BATS_TEST_DIRNAME/stand-in
    CPU_NVCC=$TOP/common/cpu/nvcc
}

assert_quiet_stand_in() { # also where a GPU is tested
    assert_equal "$stderr" 'CPU stand-in: this program runs on the CPU, not on a GPU'
}

# Compiles a program of stand-in/ and compares what it prints, "ok" if it has no .txt: agrees NAME COMPILER [option]...
agrees() {
    local name=$1
    shift
    "$@" -o "$BATS_TEST_TMPDIR/$name" "$PROGRAMS/$name.cu"
    try "$BATS_TEST_TMPDIR/$name"
    assert_success
    refute_regex "$stderr" 'host code touched'
    run diff <(echo "$output") <(cat "$PROGRAMS/$name.txt" 2>/dev/null || echo ok)
    assert_output ''
}

# ---- The same answers as a GPU's

ANSWERS='threads streams memory errors numbers launches'

@test "stand-in: programs print what they printed on an H200, with every order of the threads" {
    for name in $ANSWERS; do
        agrees "$name" "$CPU_NVCC" -O2 -Werror all-warnings -Xcompiler -Wall,-Wextra
    done
    for seed in 1 2; do
        CPU_CUDA_SEED=$seed agrees threads true # compiled above
    done
}

@test "stand-in: and a GPU prints it still" {
    requires gpu
    requires nvcc
    for name in $ANSWERS; do
        agrees "$name" "${NVCC:?}" -arch=native -O2
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
    assert_success
    run diff <(echo "$output") "$PROGRAMS/driver_and_nvrtc.txt"
    assert_output ''
}

@test "stand-in: two libraries in one process share device memory, as on a GPU" {
    cd "$BATS_TEST_TMPDIR" || return 1
    cat >give.cu <<'PROGRAM'
__device__ int seven = 7;
extern "C" void *give(void) { int *d = nullptr; cudaMalloc(&d, sizeof *d); cudaMemcpy(d, &seven, 0, cudaMemcpyDefault); int h; cudaMemcpyFromSymbol(&h, seven, sizeof h); cudaMemcpy(d, &h, sizeof h, cudaMemcpyHostToDevice); return d; }
PROGRAM
    cat >take.cu <<'PROGRAM'
__device__ int factor = 2;
__global__ void multiply(int *p) { *p *= factor; }
extern "C" int take(int *d) { int h = 0; multiply<<<1, 1>>>(d); cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost); return cudaFree(d) ? -1 : h; }
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

# A message of the table in common/cpu/README.md as a regular expression.
pattern_of() {
    sed 's/[][().*^$+?{}|\\]/\\&/g; s/…/.*/g' <<<"$1"
}

@test "stand-in: each bug of bugs.cu is told in the words of the README's table, with its line" {
    cd "$BATS_TEST_TMPDIR" || return 1
    cp "$PROGRAMS/bugs.cu" .
    "$CPU_NVCC" -O2 -Werror all-warnings -Xcompiler -Wall,-Wextra bugs.cu -o bugs
    rows=0
    while IFS='|' read -r _ name _ message _; do
        name=$(tr -d '` ' <<<"$name")
        message=$(sed 's/^ *`//; s/` *$//' <<<"$message")
        rows=$((rows + 1))
        [ "$name" != divide ] || [ "$(uname -m)" = x86_64 ] || continue # ARM divides by zero in silence
        try ./bugs "$name"
        assert_regex "$stderr" "CPU stand-in: $(pattern_of "$message")"
        numbers=$(grep -nE "// ([a-z-]+, )*$name([,:]|$)" bugs.cu | cut -d: -f1 | paste -sd'|')
        [ -z "$numbers" ] || assert_regex "$stderr" "bugs.cu:($numbers)[:,]" # either side of a race
    done < <(grep '^| `[a-z-]*` |' "$TOP/common/cpu/README.md")
    assert_equal "$rows" "$(./bugs 2>/dev/null | wc -l)"
}

@test "stand-in: of drawn kernels it says what a slow and plain model says" {
    try "$TEST_PYTHON" "$PROGRAMS/drawn.py"
    assert_success
}

@test "stand-in: right kernels that look wrong are silent, and right, with every order of the threads" {
    "$CPU_NVCC" -O2 -Werror all-warnings -Xcompiler -Wall,-Wextra "$PROGRAMS/right.cu" -o "$BATS_TEST_TMPDIR/right"
    for seed in 0 0 1 7; do
        try env CPU_CUDA_SEED=$seed "$BATS_TEST_TMPDIR/right"
        assert_success
        assert_output ok
        assert_quiet_stand_in
    done
}

@test "stand-in: an error that somebody asked about is not told at the end" {
    try_on_cpu <<'PROGRAM'
#include <cstdio>
__global__ void write(int *p) { *p = 1; }
int main(int argc, char **argv)
{
    cudaError_t error = cudaMemset(nullptr, 0, 4);
    switch (argc > 1 ? argv[1][0] : 0) {
    case 'a': cudaGetLastError(); break;
    case 'b': cudaPeekAtLastError(); break;
    case 'c': cudaGetErrorName(error); break;
    case 'd': cudaGetErrorString(error); break;
    case 'e': cudaGetErrorName(cudaSuccess); break;
    case 'f': return 3;
    case 'g': cudaGetLastError(), cudaFree(&error); break;
    case 'h': // the kernel's error was looked at: that all calls after it return it again is no news
        write<<<1, 1>>>(nullptr);
        cudaGetErrorName(cudaDeviceSynchronize());
        cudaFree(nullptr);
        cudaDeviceSynchronize();
    }
    return 0;
}
PROGRAM
    for how in 'not at all' a b c d e f g h; do
        try "$BATS_TEST_TMPDIR/program" "${how#not at all}"
        case $how in
            a | b | c | d | f | h) refute_regex "$stderr" 'nobody asked' ;;
            g) assert_regex "$stderr" 'but cudaFree at program.cu:13 returned cudaErrorInvalidValue, and nobody asked' ;;
            *) assert_regex "$stderr" 'but cudaMemset[A-Za-z]* .*returned cudaErrorInvalidValue, and nobody asked' ;;
        esac
    done
}

@test "stand-in: a kernel that fails, and no call that says so: exit status 1" {
    try_on_cpu <<'PROGRAM'
#include <cstdio>
#include <unistd.h>
__global__ void fill(int *p) { *p = 1; }
int main(int argc, char **argv)
{
    fill<<<1, 1>>>(nullptr);
    if (argc > 1 && argv[1][0] == 'c') cudaDeviceSynchronize();
    else usleep(500000); // it runs by itself
    if (argc > 1 && argv[1][0] == 'l') fill<<<1, 1>>>(nullptr);
    if (argc > 1 && argv[1][1] == 'e') cudaGetLastError();
    return argc > 1 && argv[1][0] == '3' ? 3 : 0;
}
PROGRAM
    for how in '' launch le call 3; do
        try "$BATS_TEST_TMPDIR/program" $how
        assert_regex "$stderr" 'program.cu:3: kernel fill follows a null pointer'
        case $how in
            '' | launch)
                assert_failure 1
                assert_regex "$stderr" 'ends as if all were well, but kernel fill ended with cudaErrorIllegalAddress, and nobody asked'
                ;;
            3) assert_failure 3 ;;
            *) assert_success ;;
        esac
    done
}

@test "stand-in: CPU_CUDA_CHECK=0 does not look at accesses" {
    "$CPU_NVCC" -O2 "$PROGRAMS/bugs.cu" -o "$BATS_TEST_TMPDIR/bugs"
    for bug in counter past-write; do
        try env CPU_CUDA_CHECK=0 "$BATS_TEST_TMPDIR/bugs" $bug
        assert_output '0 0'
        refute_regex "$stderr" kernel
    done
}

@test "stand-in: it refuses what nvcc refuses, with the line, and nothing else" {
    cd "$BATS_TEST_TMPDIR" || return 1
    refuses() { # lines 2 and 3 of a file, the words
        printf '#include <cstdlib>\n%s\nint main() { return 0; }\n' "$1" >program.cu
        try "$CPU_NVCC" -o program program.cu
        assert_failure 1
        assert_equal "$stderr" "common/cpu/nvcc: program.cu:$2"
    }
    refuses $'int f() { return 1; }\n__global__ void k(int *p) { *p = f(); }' \
        '3: calling a __host__ function("f") from a __global__ function("k") is not allowed'
    refuses $'int f() { return 1; }\n__device__ int g() { return f(); }' \
        '3: calling a __host__ function("f") from a __device__ function("g") is not allowed'
    refuses '__global__ void k(int *p) { *p = rand(); }' \
        '2: calling a __host__ function("rand") from a __global__ function("k") is not allowed'
    refuses $'#include <algorithm>\n__global__ void k(int *p) { *p = std::max(*p, 1); }' \
        '3: calling a constexpr __host__ function("max") from a __global__ function("k") is not allowed'
    refuses $'int table[4];\n__global__ void k(int *p) { *p = table[0]; }' \
        '3: identifier "table" is undefined in device code: it is a variable of the host'
    refuses $'__device__ int f() { return 1; }\nint g() { return f(); }' \
        '3: calling a __device__ function("f") from a __host__ function("g") is not allowed'
    refuses '__global__ int k() { return 1; }' '2: a __global__ function must have a void return type'
    refuses 'int f() { return cudaFoo(1); }' '2: cudaFoo is not in the stand-in; if CUDA has it, it needs a GPU'
    refuses $'__global__ void k() {}\n__device__ void f() { k<<<1, 1>>>(); }' \
        '3: a kernel that launches a kernel needs a GPU, the CPU stand-in has none'
    cat >program.cu <<'PROGRAM'
#include <algorithm>
#include <cstdio>
const int N = 4;
constexpr int twice(int n) { return 2 * n; }
int count, table[9];
__host__ __device__ int both(int n) { return n + 1; }
int overloaded(float) { return 1; }
__device__ int overloaded(int) { return 2; }
struct Pair {
    int count;
    __device__ int first() const { return count; }
};
template <class F> __global__ void apply(F f, int *p) { *p = f(*p); }
__global__ void k(int *p, Pair pair, int table) // a parameter, a member and a variable have the host's names
{
    int cudaOwn = N, count = table + pair.count;
    *p = both(twice(count)) + overloaded(cudaOwn) + pair.first();
    printf("%d\n", *p);
}
int main()
{
    int *d, most = std::max(1, 2);
    cudaMalloc(&d, 4);
    cudaMemset(d, 0, 4);
    k<<<1, 1>>>(d, Pair{3}, most);
    apply<<<1, 1>>>([] __device__(int n) { return both(n); }, d);
    cudaMemcpy(&count, d, 4, cudaMemcpyDeviceToHost);
    cudaFree(d);
    printf("%d\n", count);
}
PROGRAM
    "$CPU_NVCC" --extended-lambda --expt-relaxed-constexpr -o program program.cu
    try ./program
    assert_output $'16\n17'
}

@test "stand-in: what kernels touch, in sectors of 32 bytes, is what ncu counted on an H200" {
    "$CPU_NVCC" -O2 "$PROGRAMS/touches.cu" -o "$BATS_TEST_TMPDIR/touches"
    try env CPU_CUDA_PICTURE="$BATS_TEST_TMPDIR/picture.svg" "$BATS_TEST_TMPDIR/touches"
    assert_success
    run awk '$1 == "kernel" { name = $2 } $2 == "read" { read[name] += $5 } $2 == "write" { write[name] += $5 }
        END { for (k in read) print k, read[k], write[k] }' <<<"$stderr"
    run sort <<<"$output"
    assert_output 'add 16384 8192
four 32768 32768
gather 73606 8192
stride_2 16384 8192
stride_32 65536 8192
transpose 8192 65536'
    python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$BATS_TEST_TMPDIR/picture.svg"
    grep -q '<title>thread 31</title>' "$BATS_TEST_TMPDIR/picture.svg"
}

@test "stand-in: cpu_cuda_watch counts what launches do, from one call to the next" {
    try_on_cpu <<'PROGRAM'
#include "check.h"
#include <cpu_seen.h>
#ifndef __CPU_CUDA__
#error this macro tells the stand-in
#endif
__device__ int total;
__global__ void copy(float *to, const float *from, size_t n, int stride)
{
    __shared__ float s[256];
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i * stride >= n) return;
    s[threadIdx.x] = from[i * stride];
    to[i] = s[threadIdx.x];
}
__global__ void alone(float *to, const float *from, int n)
{
    if (blockIdx.x == 0 && threadIdx.x == 0)
        for (int i = 0; i < n; i++) to[i] = from[i];
}
__global__ void count() { atomicAdd(&total, 1); }
__global__ void look(volatile float *x) { x[threadIdx.x] = x[threadIdx.x] + 1; }
__global__ void nothing() {}
static void report(const char *name, struct cpu_cuda_seen *s)
{
    cpu_cuda_watch(NULL, 0);
    printf("%s: %lld %lld %lld, %lld %lld %lld, %lld %lld\n", name, s->launches, s->blocks, s->threads, s->reads, s->writes,
           s->atomics, s->sectors, s->most);
    *s = {};
}
int main()
{
    const int n = 1 << 16;
    float *a, *b;
    struct cpu_cuda_seen seen = {};
    CHECK(cudaMalloc(&a, n * sizeof *a));
    CHECK(cudaMalloc(&b, n * sizeof *b));
    CHECK(cudaMemset(a, 0, n * sizeof *a));
    copy<<<n / 256, 256>>>(b, a, n, 1); // before
    cpu_cuda_watch(&seen, 1);
    copy<<<n / 256, 256>>>(b, a, n, 1);
    report("copy", &seen);
    cpu_cuda_watch(&seen, 1);
    copy<<<n / 256 / 32, 256>>>(b, a, n, 32);
    copy<<<n / 256 / 32, 256>>>(b, a, n, 32);
    report("stride", &seen);
    cpu_cuda_watch(&seen, 1);
    alone<<<2, 32>>>(b, a, 1000);
    report("alone", &seen);
    cpu_cuda_watch(&seen, 1);
    count<<<64, 128>>>();
    report("count", &seen);
    cpu_cuda_watch(&seen, 1);
    look<<<1, 32>>>(b);
    report("look", &seen);
    cpu_cuda_watch(&seen, 1);
    nothing<<<dim3(3, 2), dim3(4, 4)>>>();
    report("nothing", &seen);
    cpu_cuda_watch(&seen, 0);
    copy<<<1u << 25, 256>>>(NULL, NULL, (size_t)1 << 33, 1);
    copy<<<1, 2048>>>(b, a, n, 1);
    printf("%d\n", cudaGetLastError());
    report("no threads", &seen);
    copy<<<n / 256, 256>>>(b, a, n, 1); // after
    CHECK(cudaDeviceSynchronize());
    report("after", &seen);
    int h;
    CHECK(cudaMemcpyFromSymbol(&h, total, sizeof h));
    printf("%d\n", h);
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
}
PROGRAM
    assert_success
    assert_output 'copy: 1 256 65536, 65536 65536 0, 16384 2
stride: 2 16 4096, 4096 4096 0, 4608 2
alone: 1 2 64, 1000 1000 0, 2000 2000
count: 1 64 8192, 0 0 8192, 256 1
look: 1 1 32, 32 32 0, 8 2
nothing: 1 6 96, 0 0 0, 0 0
1
no threads: 1 33554432 8589934592, 0 0 0, 0 0
after: 0 0 0, 0 0 0, 0 0
8192'
    try_python <<PROGRAM
import ctypes
class Seen(ctypes.Structure):
    _fields_ = [(name, ctypes.c_longlong) for name in "launches blocks threads reads writes atomics sectors most".split()]
library = ctypes.CDLL("$TOP/common/cpu/lib/libcpu_cuda.so")
seen = Seen()
library.cpu_cuda_watch(ctypes.byref(seen), 1)
library.cpu_cuda_watch(None, 0)
print(seen.launches)
PROGRAM
    assert_output 0
}

@test "stand-in: an access in the source is one, wherever g++ would move or split it" {
    try_on_cpu <<'PROGRAM'
#include "check.h"
__global__ void k(float4 *a, int n)
{
    int i = threadIdx.x;
    float4 v = a[i];
    v.x = 1;
    if (i < n) v.y = a[i + 32].w;
    float w = a[i + 64].x;
    if (i < n) v.z = w;
    a[i] = v;
}
int main()
{
    float4 *a;
    CHECK(cudaMalloc(&a, 96 * sizeof *a));
    CHECK(cudaMemset(a, 0, 96 * sizeof *a));
    k<<<1, 32>>>(a, 8);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(a));
}
PROGRAM
    try env CPU_CUDA_PICTURE="$BATS_TEST_TMPDIR/picture.svg" "$BATS_TEST_TMPDIR/program"
    run awk '/^program.cu/ { print $1, $2, $3, $4 }' <<<"$stderr"
    assert_output 'program.cu:5 read 32 512
program.cu:7 read 8 32
program.cu:8 read 32 128
program.cu:10 write 32 512'
}

# ---- The classic bugs, each with a message

@test "stand-in: the nine classic bugs: what a GPU says, and what the stand-in says besides" {
    cd "$BATS_TEST_TMPDIR" || return 1
    cp "$PROGRAMS/classic_bugs.cu" .
    "$CPU_NVCC" -O1 classic_bugs.cu -o bugs
    says() { # bug, what it prints, the message
        try ./bugs "$1"
        assert_output "$2"
        run grep -v 'this program runs on the CPU\|never freed' <<<"$stderr"
        assert_output --regexp "^CPU stand-in: $3\$"
    }
    says 1 'bug 1: launch cudaSuccess, sync cudaErrorIllegalAddress' \
        'classic_bugs.cu:4: kernel fill writes 4 bytes, 0 bytes behind the end of an allocation of 4000 bytes \(block 3,0,0 thread 232,0,0\)'
    says 2 'bug 2: launch cudaSuccess, sync cudaErrorIllegalAddress' \
        "classic_bugs.cu:4: kernel fill writes 0x[0-9a-f]+, which is not device memory but the host's \(block [0-3],0,0 thread 0,0,0\)"
    says 3 '' 'host code touched device memory at 0x[0-9a-f]+: copy it with cudaMemcpy first'
    says 4 'bug 4: launch cudaSuccess, sync cudaErrorIllegalAddress' \
        'classic_bugs.cu:4: kernel fill writes memory that was freed by cudaFree \(4000 bytes\) \(block [0-3],0,0 thread 0,0,0\)'
    says 5 'bug 5: launch cudaSuccess, sync cudaErrorIllegalAddress' \
        "classic_bugs.cu:5: index 8 is outside the array, whose type is 'float \[8\]'"
    says 6 'bug 6: launch cudaSuccess, sync cudaSuccess' \
        "classic_bugs.cu:6: a shift by 40 bits is too far for the type 'int'"
    says 7 'bug 7: launch cudaErrorInvalidValue, sync cudaSuccess' \
        'classic_bugs.cu:15: kernel fill is not launched: a block has 1 to 1024 x 1024 x 64 threads, at most 1024 in all, not 2048 x 1 x 1'
    says 8 'before the sync: -1
after: 0
bug 8: launch cudaSuccess, sync cudaSuccess' \
        'host code touched 0x[0-9a-f]+, which cudaMemcpyAsync may not have finished with: wait for it first \(cudaStreamSynchronize or cudaDeviceSynchronize\)'
    says 9 'bug 9: launch cudaSuccess, sync cudaErrorIllegalAddress' \
        'classic_bugs.cu:4: kernel fill writes 4 bytes, [0-9]+ bytes behind the end of an allocation of 4000 bytes \(block [0-9]+,0,0 thread [0-9]+,0,0\)'
}

@test "stand-in: more bugs: barriers, dynamic shared memory, stack, assert, a pointer never set, a variable of the device" {
    try_on_cpu <<'PROGRAM'
#include <assert.h>
#include "check.h"
__device__ int variable = 3;
__global__ void diverge(int *p)
{
    if (threadIdx.x < 5)
        __syncthreads();
    else
        __syncthreads();
    *p = 3;
}
__global__ void dynamic(int *p, int n)
{
    extern __shared__ int s[];
    s[n] = n;
    *p = s[n];
}
__device__ int deep(volatile int *p, int n)
{
    volatile char a[20000];
    a[n] = (char)n;
    return n ? deep(p, n - 1) + a[n] : *p;
}
__global__ void recurse(int *p, int n) { *p = deep(p, n); }
__global__ void check(int n) { printf("lost\n"); assert(n > 3); }
__global__ void follow(int **p) { **p = 1; }
__global__ void divide(volatile int *p) { p[0] /= p[1]; }
__global__ void touch(int *p) { *p = 1; }
__global__ void call(int *p) { cudaMemset(p, 0, 4); }
int main(int argc, char **argv)
{
    int *d, *managed;
    cudaMalloc(&d, 4000);
    cudaMallocManaged(&managed, 4000);
    cudaMemset(d, 0, 4000);
    *managed = 7;
    switch (argc > 1 ? argv[1][0] : 0) {
    case 'a': diverge<<<1, 8>>>(d); break;
    case 'b': dynamic<<<1, 1, 16>>>(d, 4); break;
    case 'c': dynamic<<<1, 1>>>(d, 0); break;
    case 'd': recurse<<<1, 1>>>(d, 1000); break;
    case 'e': check<<<1, 8>>>(3); break;
    case 'f': cudaMalloc(&d, 4000); follow<<<1, 1>>>((int **)d); break;
    case 'g': divide<<<1, 1>>>(d); break;
    case 'h': touch<<<1, 1>>>(managed); printf("%d ", *managed); break;
    case 'i': printf("%d\n", variable); break;
    case 'j': touch<<<1, 1>>>(nullptr); break;
    case 'k': touch(d); break;
    case 'l': __syncthreads(); break;
    case 'm': call<<<1, 1>>>(d); break;
    }
    printf("%d\n", cudaDeviceSynchronize());
    cudaFree(d);
    cudaFree(managed);
}
PROGRAM
    assert_output 0
    says() { # bug, what it prints, the message
        try "$BATS_TEST_TMPDIR/program" "$1"
        assert_output "$2"
        assert_regex "$stderr" "$3"
    }
    says a 719 'kernel diverge: threads of a block wait at different places: thread 0,0,0 at .*program.cu:7 \(__syncthreads\), thread 5,0,0 at .*program.cu:9 \(__syncthreads\)'
    says b 700 'program.cu:15: kernel dynamic writes outside the 16 bytes of the shared memory of this launch \(dynamic\) \(block'
    says c 700 'program.cu:15: kernel dynamic writes outside the 0 bytes of the shared memory of this launch \(dynamic\) \(block'
    says d 700 'kernel recurse needs more stack than there is'
    says e 710 'program.cu:25: void check\(int\): block: \[0,0,0\], thread: \[0,0,0\] Assertion `n > 3` failed.'
    says f 716 'program.cu:[0-9]+: kernel follow reads byte 0 of an allocation of 4000 bytes, which nobody has written'
    if [ "$(uname -m)" = x86_64 ]; then # ARM divides by zero in silence
        says g 719 'kernel divide divided an integer by zero'
    fi
    says h '7 0' 'host code touched 0x[0-9a-f]+, which kernel touch may not have finished with: wait for it first'
    says i '' 'host code touched device memory at 0x[0-9a-f]+: copy it with cudaMemcpyFromSymbol first'
    says j 700 'kernel touch follows a null pointer'
    says l '' 'program.cu:[0-9]+: __syncthreads\(\) is only for kernels'
    says m 719 'kernel call calls a function of the CUDA runtime: only host code can'
    says k '' 'a kernel was called like a function: write kernel<<<blocks, threads>>>'
}

@test "stand-in: a missing __syncthreads is told with every CPU_CUDA_SEED; a right program is silent with every one" {
    cat >"$BATS_TEST_TMPDIR/source" <<'PROGRAM'
#include "check.h"
__global__ void shift(int *p)
{
    __shared__ int s[64];
    s[threadIdx.x] = p[threadIdx.x];
    BARRIER;
    if (threadIdx.x > 0)
        p[threadIdx.x] = s[threadIdx.x - 1];
}
int main()
{
    int h[64], *d, wrong = 0;
    for (int i = 0; i < 64; i++)
        h[i] = i;
    CHECK(cudaMalloc(&d, sizeof h));
    CHECK(cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice));
    shift<<<1, 64>>>(d);
    CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
    for (int i = 1; i < 64; i++)
        wrong += h[i] != i - 1;
    printf("%d", wrong > 0);
    CHECK(cudaFree(d));
}
PROGRAM
    try_on_cpu '-DBARRIER=(void)0' <"$BATS_TEST_TMPDIR/source"
    for seed in 0 1 2 3; do
        try env CPU_CUDA_SEED=$seed "$BATS_TEST_TMPDIR/program"
        assert_failure 1
        assert_regex "$stderr" 'program.cu:8: kernel shift .* shared memory s[:,]'
    done
    try_on_cpu '-DBARRIER=__syncthreads()' <"$BATS_TEST_TMPDIR/source"
    for seed in 0 1 2 3 4 5 6 7 8; do
        try env CPU_CUDA_SEED=$seed "$BATS_TEST_TMPDIR/program"
        assert_success
        assert_output 0
        assert_quiet_stand_in
    done
}

@test "stand-in: with each CPU_CUDA_SEED others come between a thread's read and its atomic; right programs stay right" {
    try_on_cpu <<'PROGRAM'
#include "check.h"
__device__ void add(int *p) { int old = *p; atomicCAS(p, old, old + 1); }
__global__ void once(int *p, int *) { add(p); }
__global__ void two_atomics(int *p, int *) { int old = atomicAdd(p, 0); atomicExch(p, old + 1); }
__global__ void volatiles(volatile int *p, int *) { int old = *p; *p = old + 1; }
__global__ void in_shared(int *p, int *)
{
    __shared__ int s;
    if (threadIdx.x == 0) s = 0;
    __syncthreads();
    add(&s);
    __syncthreads();
    if (threadIdx.x == 0) *p = s;
}
__global__ void right_loop(int *p, int *)
{
    int old = *p, seen;
    while ((seen = atomicCAS(p, old, old + 1)) != old) old = seen;
}
__global__ void right_plain_loop(int *p, int *)
{
    int old;
    do old = *p; while (atomicCAS(p, old, old + 1) != old);
}
__global__ void right_lock(int *p, int *lock)
{
    while (atomicCAS(lock, 0, 1)) continue;
    __threadfence();
    *p = *p + 1;
    __threadfence();
    atomicExch(lock, 0);
}
template <class F> static void run(const char *name, F kernel)
{
    int *p, h, right = 0;
    char text[9];
    CHECK(cudaMalloc(&p, 2 * sizeof *p));
    for (int seed = 1; seed <= 25; seed++) {
        snprintf(text, sizeof text, "%d", seed);
        setenv("CPU_CUDA_SEED", text, 1);
        CHECK(cudaMemset(p, 0, 2 * sizeof *p));
        kernel<<<1, 256>>>(p, p + 1);
        CHECK(cudaMemcpy(&h, p, sizeof h, cudaMemcpyDeviceToHost));
        right += h == 256;
    }
    CHECK(cudaFree(p));
    printf("%s %d\n", name, right);
}
int main()
{
#define RUN(name) run(#name, name)
    RUN(once); RUN(two_atomics); RUN(volatiles); RUN(in_shared);
    RUN(right_loop); RUN(right_plain_loop); RUN(right_lock);
}
PROGRAM
    assert_success
    assert_quiet_stand_in
    assert_output 'once 0
two_atomics 0
volatiles 0
in_shared 0
right_loop 25
right_plain_loop 25
right_lock 25'
}

@test "stand-in: what a GPU lets pass is told, once for a line, and the program goes on, to exit status 1" {
    try_on_cpu <<'PROGRAM'
#include "check.h"
__global__ void racy(int *n) { *n += 1; }
__global__ void right(int *n) { atomicAdd(n, 1); }
__global__ void warm_up(const float *x, float *y)
{
    y[threadIdx.x] = x[threadIdx.x] + 1;
}
int main(int argc, char **argv)
{
    int *n, h;
    float *x, *y, first = 0;
    CHECK(cudaMalloc(&n, sizeof *n));
    CHECK(cudaMalloc(&x, 4000));
    CHECK(cudaMalloc(&y, 4000));
    if (argc == 1) {
        for (int i = 0; i < 3; i++) {
            CHECK(cudaMemset(n, 0, sizeof *n));
            racy<<<10, 100>>>(n);
            CHECK(cudaMemcpy(&h, n, sizeof h, cudaMemcpyDeviceToHost));
            printf("%d ", h < 20); // as wrong as on a GPU
        }
        warm_up<<<1, 1000>>>(x, y);
        warm_up<<<1, 1000>>>(x, y);
        CHECK(cudaMemcpy(&first, y, sizeof first, cudaMemcpyDeviceToHost));
    }
    CHECK(cudaMemset(n, 0, sizeof *n));
    right<<<10, 100>>>(n);
    CHECK(cudaMemcpy(&h, n, sizeof h, cudaMemcpyDeviceToHost));
    printf("%d %d\n", h, first > 1e37);
    CHECK(cudaFree(n));
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
}
PROGRAM
    assert_failure 1
    assert_output '1 1 1 1000 1'
    run grep -c 'has a race\|nobody has written' <<<"$stderr"
    assert_output 2
    assert_regex "$stderr" 'program.cu:2: kernel racy has a race: .* reads what '
    assert_regex "$stderr" 'program.cu:6: kernel warm_up reads byte 0 of an allocation of 4000 bytes, which nobody has written'
    try "$BATS_TEST_TMPDIR/program" right
    assert_success
    assert_output '1000 0'
    assert_quiet_stand_in
}

@test "stand-in: two races of one thread, both perhaps harmless, are told both" {
    try_on_cpu <<'PROGRAM'
#include "check.h"
__global__ void k(int *n, int *out)
{
    if (threadIdx.x < 63) {
        atomicAdd(&n[0], 1);
        atomicAdd(&n[1], 1);
        out[0] = 7;
    } else {
        int a = n[0];
        int b = n[1];
        out[0] = a + b;
    }
}
int main()
{
    int *n;
    CHECK(cudaMalloc(&n, 12));
    CHECK(cudaMemset(n, 0, 12));
    k<<<1, 64>>>(n, n + 2);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(n));
}
PROGRAM
    assert_regex "$stderr" 'program.cu:9: kernel k has a race: .* reads what .* wrote atomically at program.cu:5,'
    assert_regex "$stderr" 'program.cu:10: kernel k has a race: .* reads what .* wrote atomically at program.cu:6,'
    assert_regex "$stderr" 'program.cu:11: kernel k has a race: .* writes what .* wrote at program.cu:7,'
}

@test "stand-in: an address that is no multiple of the size is told, for each access" {
    try_on_cpu <<'PROGRAM'
#include <cstdio>
#include <cstdlib>
#include <cstring>
template <class T> __global__ void Read(char *p, int at) { *(T *)p = *(T *)(p + at); }
template <class T> __global__ void Write(char *p, int at) { *(T *)(p + at) = *(T *)p; }
template <class T> __global__ void Volatile(char *p, int at) { *(volatile int *)(p + at) = 1; }
template <class T> __global__ void Atomic(char *p, int at) { atomicAdd((T *)(p + at), 1); }
int main(int argc, char **argv)
{
    char *p;
    cudaMalloc(&p, 256);
    cudaMemset(p, 0, 256);
    for (int at = argc > 2 ? atoi(argv[2]) : 0; argc > 1; argc = 0) {
#define ONE(kernel, T) if (strcmp(argv[1], #kernel "<" #T ">") == 0) kernel<T><<<1, 1>>>(p, at);
#define BOTH(T) ONE(Read, T) ONE(Write, T)
        BOTH(short) BOTH(int) BOTH(double) BOTH(float2) BOTH(float4) ONE(Volatile, int) ONE(Atomic, int)
    }
    printf("%d\n", cudaDeviceSynchronize());
    cudaFree(p);
}
PROGRAM
    while read -r type right wrongs; do
        for kernel in Read Write Volatile Atomic; do
            [[ $kernel = [RW]* || $type = int ]] || continue
            try "$BATS_TEST_TMPDIR/program" "$kernel<$type>" "$right"
            assert_output 0
            assert_quiet_stand_in
            for wrong in $wrongs; do
                try "$BATS_TEST_TMPDIR/program" "$kernel<$type>" "$wrong"
                assert_output 716
                assert_regex "$stderr" "kernel $kernel<$type> (read|write)s (a float4|[248] bytes) at an address that is no multiple of"
            done
        done
    done <<<'short 2 1
int 4 1 2 3
double 8 4
float2 8 4
float4 16 4 8'
}

@test "stand-in: gdb stops in a kernel, at the thread that a message names, and shows its variables" {
    command -v gdb >/dev/null || skip 'needs gdb: sudo apt-get install -y gdb'
    cd "$BATS_TEST_TMPDIR" || return 1
    cat >program.cu <<'PROGRAM'
__global__ void add(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int twice = 2 * i;
    if (i < n)
        x[i] += twice;
}
int main()
{
    int *x;
    cudaMallocManaged(&x, 400);
    add<<<4, 32>>>(x, 100);
    cudaDeviceSynchronize();
    return cudaFree(x);
}
PROGRAM
    "$CPU_NVCC" -g -G -o program program.cu
    try gdb -batch -ex 'break program.cu:5 if threadIdx.x == 6 && blockIdx.x == 1' -ex run -ex 'print i' -ex 'print twice' \
        -ex 'print threadIdx.x' -ex next -ex next -ex 'print x[38]' ./program
    assert_line '$1 = 38'
    assert_line '$2 = 76'
    assert_line '$3 = 6'
    assert_line '$4 = 76'
}

@test "stand-in: calls go one way: no file of it calls one that calls it" {
    cd "$BATS_TEST_TMPDIR" || return 1
    for file in "$TOP"/common/cpu/*/*.c; do
        gcc -std=gnu11 -fPIC -I "$TOP/common/cpu/include" -c -o "$(basename "$file" .c).o" "$file"
    done
    # pairs for tsort: who defines a name, who needs it
    nm -A ./*.o | awk -F'[: ]+' 'NF == 4 { where[$4] = $1 } NF == 3 { needs[$1, $3] }
        END { for (n in needs) { split(n, a, SUBSEP); if (where[a[2]] != "" && where[a[2]] != a[1]) print where[a[2]], a[1] } }' >pairs
    [ "$(wc -l <pairs)" -gt 50 ]
    run tsort pairs
    assert_success
    refute_output --partial loop
}

@test "stand-in: AddressSanitizer shows the kernel's line; right programs are clean under it and UndefinedBehaviorSanitizer" {
    local names=(streams)
    [ "${SLOW:-}" != 1 ] || names+=(threads memory launches) # make test-all
    for name in "${names[@]}"; do
        ASAN_OPTIONS=detect_leaks=0 agrees "$name" "$CPU_NVCC" -O1 -g -fsanitize=address,undefined
        refute_regex "$stderr" 'ERROR|runtime error'
    done
    ASAN_OPTIONS=detect_leaks=0 try_on_cpu -g -fsanitize=address,undefined <<'PROGRAM'
__global__ void fill(float *p)
{
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
    assert_regex "$stderr" '#0 .*program.cu:3'
    ASAN_OPTIONS=detect_leaks=0 try "$BATS_TEST_TMPDIR/program" in-bounds
    assert_success
}

# ---- What it does not have

@test "stand-in: what needs a GPU does not compile, and the message names it" {
    cd "$BATS_TEST_TMPDIR" || return 1
    needs_gpu() { # a line of a kernel or of a file, the words
        printf '#include <stdio.h>\n%s\n' "$1" >program.cu
        try "$CPU_NVCC" -o program program.cu
        assert_failure
        assert_regex "$stderr" "program.cu(:2)?.*$2"
        refute_regex "$stderr" Traceback
        [ ! -e program ]
    }
    needs_gpu 'void f(cudaTextureObject_t t);' 'textures need a GPU'
    needs_gpu '#include <cublas_v2.h>' 'cuBLAS: that needs a GPU'
    needs_gpu '#include <curand_kernel.h>' 'cuRAND: that needs a GPU'
    needs_gpu '__global__ void a() {} __global__ void b() { a<<<1, 1>>>(); }' 'a kernel that launches a kernel needs a GPU'
    needs_gpu '__global__ void k() { __shared__ int n = 3; }' 'a __shared__ variable cannot be given a value'
    needs_gpu '__global__ void k() { __shared__ float tile[128][128]; tile[0][0] = 1; }' 'tile is larger than the shared memory, 49152 bytes'
    needs_gpu 'texture<float, 2> t;' 'texture: textures need a GPU'
    needs_gpu 'int main() { cudaGraph_t g; }' 'cudaGraph_t: graphs need a GPU'
    needs_gpu 'int main() { 3 <<<1, 1>>>(); }' 'no kernel name in front of <<<'
    needs_gpu '__global__ void k(); int main() { k<<<1, 1>>(); }' 'a declaration or launch without >>>'
}

@test "stand-in: a source that asks for __CUDA_ARCH__ is told that it is not defined, with the line, once" {
    cd "$BATS_TEST_TMPDIR" || return 1
    printf '\n#ifdef __CUDA_ARCH__ // 2\n#endif\n' >part.cuh
    printf '#include "part.cuh"\n// %s\n#if defined(X) || \\\n    __CUDA_ARCH__ >= 700\n#endif\n#  if __CUDA_ARCH__\n#endif\nint main() {}\n' \
        __CUDA_ARCH__ >program.cu
    what='warning: __CUDA_ARCH__ is not defined here: host and device code are compiled at once'
    try "$CPU_NVCC" -c program.cu
    assert_success
    assert_equal "$stderr" "program.cu:4: $what"
    sed -i 2,7d program.cu
    try "$CPU_NVCC" -c program.cu
    assert_equal "$stderr" "part.cuh:2: $what"
    try "$CPU_NVCC" -D__CUDA_ARCH__=900 -c program.cu
    assert_equal "$stderr" ''
    rm part.cuh && touch part.cuh
    try "$CPU_NVCC" -c program.cu
    assert_equal "$stderr" ''
}

@test "stand-in: what CUDA 13 has dropped is named, with what takes its place; --dropped-names takes it, and says so once" {
    cd "$BATS_TEST_TMPDIR" || return 1
    dropped() { # a line of a file, the words
        printf '#include <stdio.h>\n%s\n' "$1" >program.cu
        try "$CPU_NVCC" -o program program.cu
        assert_failure 1
        assert_regex "$stderr" "program.cu:2: .*$2"
    }
    dropped 'int main() { cudaThreadSynchronize(); }' 'cudaThreadSynchronize: CUDA 13 has dropped it; in its place is cudaDeviceSynchronize '
    dropped '__global__ void k(int *p) { *p = __shfl_down(*p, 1); }' '__shfl_down: .* in its place is __shfl_down_sync '
    dropped 'int main() { cudaDeviceProp p; return p.clockRate; }' 'clockRate: .* in its place is cudaDeviceGetAttribute with cudaDevAttrClockRate '
    dropped 'int main() { cudaMemPrefetchAsync(0, 4, 0); }' "CUDA 13 takes a place, such as cudaMemLocation.*, not a device's number"
    try_on_cpu --dropped-names <<'PROGRAM'
struct Own { int clockRate; };
__global__ void sum(int *p)
{
    int n = threadIdx.x;
    for (int half = 16; half > 0; half /= 2)
        n += __shfl_xor(n, half);
    if (threadIdx.x < 7)
        p[threadIdx.x] = n + __ballot(threadIdx.x < 3) + __any(n == 0);
}
int main()
{
    cudaDeviceProp device;
    cudaGetDeviceProperties(&device, 0);
    int *p;
    cudaMallocManaged(&p, 32);
    cudaMemAdvise(p, 32, cudaMemAdviseSetReadMostly, 0);
    cudaMemPrefetchAsync(p, 32, 0);
    sum<<<1, 32>>>(p);
    cudaThreadSynchronize();
    printf("%d %d %d\n", p[6], device.clockRate, Own{5}.clockRate);
    cudaFree(p);
    cudaThreadExit();
}
PROGRAM
    assert_output '503 1000000 5'
    assert_quiet_stand_in
    "$CPU_NVCC" --dropped-names -o program "$BATS_TEST_TMPDIR/program.cu" 2>said
    assert_equal "$(wc -l <said)" 1
    grep -q 'CUDA 13 has dropped, but here is taken: .*__ballot (__ballot_sync), .*cudaThreadExit (cudaDeviceReset)$' said
}

@test "stand-in: what the compiler and the linker say is in words of the .cu" {
    cd "$BATS_TEST_TMPDIR" || return 1
    says() { # a line of a file, all that is said
        printf '#include <stdio.h>\n%s\n' "$1" >program.cu
        try "$CPU_NVCC" -o program program.cu
        assert_failure
        assert_regex "$stderr" "$2"
        refute_regex "$stderr" 'cpu_cuda::|lambda'
    }
    says '__global__ void k(int *p) { p[0] = y; }' "^program.cu: In a kernel:
program.cu:2: error: .y. was not declared in this scope\$"
    says '__device__ int f(int); template <class T> __global__ void k(T *p) { *p = f(1); } int main() { k<<<1, 1>>>((int *)0); }' \
        "ld: program.cu: in function .k<int>\(int\*\)':
.*program.cu:2: undefined reference to .f\(int\).
collect2: error: ld returned 1 exit status\$"
}

@test "stand-in: code of the host is not looked at, in templates, classes and lambdas neither; device code in them is" {
    cd "$BATS_TEST_TMPDIR" || return 1
    cat >program.cu <<'PROGRAM'
#include <algorithm>
#include <numeric>
#include <vector>
#ifdef DEVICE
#define SIDE __host__ __device__
#else
#define SIDE
#endif
template <class T> SIDE void scale(T *p, int n)
{
    for (int i = 0; i < n; i++)
        p[i] *= 2;
}
struct Matrix {
    float *p;
    Matrix(float *p) : p(p) { p[0] = 1; }
    SIDE float &at(int i) { return p[i + 1]; }
};
float use(std::vector<float> &v, float *p, int n)
{
    scale(p, n);
    Matrix m(p);
    m.at(1) += m.at(2);
    std::sort(v.begin(), v.end(), [](float a, float b) { return a > b; });
    for (float &x : v)
        x += *std::max_element(p, p + n);
    return std::accumulate(v.begin(), v.end(), 0.0f);
}
PROGRAM
    "$CPU_NVCC" -O2 -c -o host.o program.cu
    # the standard library's own functions may be looked at, where g++ does not inline them
    objdump -dr host.o | awk '/>:$/ { f = $2 } /__tsan_(read|write)/ { print f }' | grep -v '^<_ZN*K*St\|^<_ZN9__gnu_cxx' >looked_at || true
    run cat looked_at
    assert_output ''
    "$CPU_NVCC" -O2 -DDEVICE -c -o device.o program.cu
    run nm device.o
    assert_output --partial __tsan_read4
}

@test "stand-in: a product and a sum are one operation in kernels, unless -fmad=false, as with nvcc" {
    grep -qw fma /proc/cpuinfo || [ "$(uname -m)" = aarch64 ] || skip "this processor has no fma"
    cat >"$BATS_TEST_TMPDIR/source" <<'PROGRAM'
#include <cstdio>
__device__ float both(float a, float b) { return a * a + b; }
__global__ void k(float *p)
{
    p[2] = p[0] * p[0] + p[1];
    p[3] = both(p[0], p[1]);
    p[4] = __fadd_rn(__fmul_rn(p[0], p[0]), p[1]);
}
int main()
{
    float *d, h[5] = {1 + 1.0f / 4096, -1 - 2.0f / 4096};
    cudaMalloc(&d, sizeof h);
    cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
    k<<<1, 1>>>(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d %d %d\n", h[2] > 0, h[3] > 0, h[4] > 0);
    cudaFree(d);
}
PROGRAM
    try_on_cpu <"$BATS_TEST_TMPDIR/source"
    assert_output '1 1 0'
    try_on_cpu -fmad=false <"$BATS_TEST_TMPDIR/source"
    assert_output '0 0 0'
}

@test "stand-in: nvcc's options: one file, several, -c, -E, -shared, sources of C and C++ beside CUDA" {
    cd "$BATS_TEST_TMPDIR" || return 1
    mkdir include
    echo '#define FACTOR 3' >include/factor.h
    cat >kernel.cu <<'PROGRAM'
#include "factor.h"
__constant__ int offset = OFFSET;
__global__ static void k(int *p) { *p = *p * FACTOR + offset; }
extern "C" int compute(int n)
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
    sed 's/compute/compute_too/' kernel.cu >other.cu
    printf '#include <cuda_runtime_api.h>\n#include <stdio.h>\nint compute(int), compute_too(int);\nint main(void) { printf("%%d %%d %%d\\n", compute(5), compute_too(6), cudaDeviceSynchronize()); return 0; }\n' >main.c
    for options in "-c -o kernel.o -I include -D OFFSET=1 -O2 -g -lineinfo kernel.cu" \
        "-c -Iinclude -DOFFSET=2 -std=c++20 -arch sm_80 -Xcompiler -Wall,-Wextra -Werror all-warnings other.cu" \
        "-c -o main.o main.c" "-o program kernel.o other.o main.o -lm -L ."; do
        # shellcheck disable=SC2086
        try "$CPU_NVCC" $options
        assert_success
        assert_equal "$output$stderr" ''
    done
    try ./program
    assert_output '16 20 0'
    try "$CPU_NVCC" -E -Iinclude -DOFFSET=1 kernel.cu
    assert_success
    assert_output --partial 'cpu_cuda::launch'
    try "$CPU_NVCC" -shared -Xcompiler -fPIC -Iinclude -DOFFSET=1 kernel.cu other.cu
    assert_success
    [ -e a.so ]
}

@test "stand-in: its header files serve C and C++, with all warnings" {
    cd "$BATS_TEST_TMPDIR" || return 1
    for header in cuda_runtime_api cuda_runtime device_launch_parameters cuda nvrtc cpu_seen; do
        echo "#include <$header.h>" >program.c
        for compiler in 'gcc -std=c11' 'g++ -x c++'; do
            # shellcheck disable=SC2086
            try $compiler -Wall -Wextra -Werror -I "$TOP/common/cpu/include" -c program.c
            assert_success
        done
    done
}

@test "stand-in: CPU_CUDA_FAIL=k fails the k-th call, and no other, with the code asked for" {
    try_on_cpu <<'PROGRAM'
#include "check.h"
__global__ void nothing() {}
int main()
{
    int *d = NULL, h = 0, failed = 0;
    cudaStream_t s = NULL;
    cudaEvent_t e = NULL;
#define CALL(call) do { cudaError_t error = call; if (error) { failed++; printf("%s %d", #call, error); } } while (0)
    CALL(cudaMalloc(&d, 4));
    CALL(cudaStreamCreate(&s));
    CALL(cudaEventCreate(&e));
    nothing<<<1, 1, 0, s>>>();
    CALL(cudaGetLastError());
    CALL(cudaEventRecord(e, s));
    CALL(cudaMemcpyAsync(&h, d, 4, cudaMemcpyDeviceToHost, s));
    CALL(cudaStreamSynchronize(s));
    CALL(cudaEventDestroy(e));
    CALL(cudaStreamDestroy(s));
    CALL(cudaFree(d));
    printf(" %d\n", failed);
}
PROGRAM
    assert_output ' 0'
    failing() { # k, code, what is printed
        try env CPU_CUDA_FAIL="$1" CPU_CUDA_FAIL_CODE="$2" "$BATS_TEST_TMPDIR/program"
        assert_output --regexp "$3"
    }
    failing 1 2 '^cudaMalloc\(&d, 4\) 2'
    assert_regex "$stderr" 'CPU_CUDA_FAIL: call 1, cudaMalloc, fails, as asked'
    failing 4 719 '^cudaGetLastError\(\) 719 1$'
    assert_regex "$stderr" 'CPU_CUDA_FAIL: call 4, the launch of nothing, fails, as asked'
    failing 5 400 '^cudaEventRecord\(e, s\) 400 1$'
    failing 6 1 '^cudaMemcpyAsync\(.*\) 1 1$'
    failing 7 700 '^cudaStreamSynchronize\(s\) 700 1$'
    failing 10 46 '^cudaFree\(d\) 46 1$'
    failing 11 1 '^ 0$'
    # from that one on, but for what gives something back
    failing 5+ 2 '^cudaEventRecord\(e, s\) 2cudaMemcpyAsync\(.*\) 2cudaStreamSynchronize\(s\) 2 3$'
    failing 7+ 2 '^cudaStreamSynchronize\(s\) 2 1$'
    failing 8+ 2 '^ 0$'
}

@test "stand-in: what was never freed is told; CPU_CUDA_LEAKS=1 makes it the exit status" {
    try_on_cpu CPU_CUDA_LEAKS=1 <<'PROGRAM'
#include "check.h"
int main(int argc, char **argv)
{
    void *d, *managed, *pinned;
    cudaStream_t s;
    cudaEvent_t e;
    CHECK(cudaMalloc(&d, 100));
    CHECK(cudaMallocManaged(&managed, 200));
    CHECK(cudaMallocHost(&pinned, 300));
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaEventCreate(&e));
    const char *leak = argc > 1 ? argv[1] : "";
    if (*leak != 'd') CHECK(cudaFree(d));
    if (*leak != 'm') CHECK(cudaFree(managed));
    if (*leak != 'p') CHECK(cudaFreeHost(pinned));
    if (*leak != 's') CHECK(cudaStreamDestroy(s));
    if (*leak != 'e') CHECK(cudaEventDestroy(e));
    if (*leak == 'r') { CHECK(cudaMalloc(&d, 100)); CHECK(cudaStreamCreate(&s)); CHECK(cudaDeviceReset()); }
    printf("done\n");
}
PROGRAM
    assert_success
    assert_quiet_stand_in
    leaks() { # which, the words
        try env CPU_CUDA_LEAKS=1 "$BATS_TEST_TMPDIR/program" "$1"
        assert_failure 1
        assert_output 'done'
        assert_regex "$stderr" "CPU stand-in: never freed: $2\$"
        try "$BATS_TEST_TMPDIR/program" "$1"
        assert_success
        assert_regex "$stderr" "CPU stand-in: never freed: $2\$"
    }
    leaks d '100 bytes of device memory'
    leaks m '200 bytes of managed memory'
    leaks p '300 bytes of pinned memory'
    leaks s '1 stream\(s\)'
    leaks e '1 event\(s\)'
    try env CPU_CUDA_LEAKS=1 "$BATS_TEST_TMPDIR/program" reset
    assert_success
}

@test "stand-in: several host threads at once" {
    try_on_cpu CPU_CUDA_LEAKS=1 <<'PROGRAM'
#include <thread>
#include <vector>
#include "check.h"
__global__ void add(int *p, int n)
{
    __shared__ int s;
    if (threadIdx.x == 0)
        s = n;
    __syncthreads();
    p[threadIdx.x] += s;
}
int main()
{
    int wrong = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++)
        threads.emplace_back([&wrong, t] {
            for (int k = 0; k < 100; k++) {
                int *d, h[64];
                cudaStream_t s;
                CHECK(cudaStreamCreate(&s));
                CHECK(cudaMalloc(&d, sizeof h));
                CHECK(cudaMemsetAsync(d, 0, sizeof h, s));
                add<<<1, 64, 0, s>>>(d, t);
                add<<<1, 64, 0, s>>>(d, k);
                CHECK(cudaMemcpyAsync(h, d, sizeof h, cudaMemcpyDeviceToHost, s));
                CHECK(cudaStreamSynchronize(s));
                for (int n : h)
                    if (n != t + k)
                        __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
                CHECK(cudaFree(d));
                CHECK(cudaStreamDestroy(s));
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    printf("%d wrong\n", wrong);
}
PROGRAM
    assert_success
    assert_output '0 wrong'
}

# ---- And

@test "stand-in: an option or a file that it does not know is one line" {
    try common/cpu/nvcc --fast-and-loose 01-hello-kernel/hello.cu
    assert_failure
    assert_regex "$stderr" '^common/cpu/nvcc: the option --fast-and-loose is unknown'
    try common/cpu/nvcc nowhere.cu
    assert_failure
    assert_equal "$stderr" 'common/cpu/nvcc: there is no file nowhere.cu'
}

@test "stand-in: an unknown CUDA call does not compile" {
    echo 'int main() { return cudaFrobnicate(); }' >"$BATS_TEST_TMPDIR/program.cu"
    try common/cpu/nvcc -o "$BATS_TEST_TMPDIR/program" "$BATS_TEST_TMPDIR/program.cu"
    assert_failure
    assert_regex "$stderr" 'program.cu:1:.*cudaFrobnicate'
    [ ! -e "$BATS_TEST_TMPDIR/program" ]
}

@test "stand-in: launches outside the limits are refused, with the code of CUDA 13" {
    try_on_cpu <<'PROGRAM'
#include "check.h"
__global__ void nothing(void) {}
#define SHOW(...) nothing<<<__VA_ARGS__>>>(); printf("%d ", cudaGetLastError())
int main(void)
{
    SHOW(0, 1); SHOW(1, 0); SHOW(1, 1025); SHOW(1, dim3(1, 1, 65)); SHOW(1, dim3(32, 33)); SHOW(dim3(1, 65536), 1);
    SHOW(1, 1, 49153); SHOW(2147483648u, 1); SHOW(1, 1024); SHOW(dim3(1, 65535), 1); SHOW(1, 1, 49152);
    CHECK(cudaDeviceSynchronize());
}
PROGRAM
    assert_success
    assert_output '1 1 1 1 1 1 1 1 0 0 0 '
}

@test "stand-in: a kernel's printf waits for a synchronisation, and what nobody waited for is told" {
    try_on_cpu <<'PROGRAM'
#include "check.h"
__global__ void greet(void) { printf("kernel\n"); }
int main(void)
{
    greet<<<1, 2>>>();
    printf("host\n");
    CHECK(cudaDeviceSynchronize());
    greet<<<1, 2>>>();
}
PROGRAM
    assert_success
    assert_output 'host
kernel
kernel'
    assert_regex "$stderr" 'program.cu:8: the program ended before kernel greet ran: nobody waited for it'
}

@test "stand-in: a kernel outside its memory, a host pointer, a freed pointer: reported, and the context is lost" {
    try_on_cpu <<'PROGRAM'
#include "check.h"
__global__ void fill(float *p, int shift) { p[(int)(blockIdx.x * blockDim.x + threadIdx.x) + shift] = 1; }
int main(int argc, char **argv)
{
    float *d, h[1] = {0}, *nearly_null = (float *)16;
    CHECK(cudaMalloc(&d, 1000 * sizeof *d));
    switch (argc > 1 ? argv[1][0] : 0) {
    case 'a': fill<<<4, 256>>>(d, 0); break;   // 24 elements past the end
    case 'b': fill<<<400, 256>>>(d, 0); break; // far past the end
    case 'c': fill<<<1, 1>>>(d, -1); break;
    case 'd': fill<<<1, 1>>>(d, 1 << 20); break;
    case 'e': fill<<<1, 1>>>(h, 0); break;
    case 'f': fill<<<1, 1>>>(nearly_null, 0); break;
    case 'g': cudaFree(d); fill<<<1, 1>>>(d, 0); break;
    }
    printf("%d ", cudaGetLastError());
    printf("%d ", cudaDeviceSynchronize());
    printf("%d ", cudaGetLastError());
    printf("%d ", cudaGetLastError());
    printf("%d %g\n", cudaMalloc(&d, 4), h[0]);
}
PROGRAM
    assert_output '0 0 0 0 0 0'
    for bug in a b c d e f g; do
        try "$BATS_TEST_TMPDIR/program" $bug
        assert_success
        code=700 words=
        case $bug in
            a) words='writes 4 bytes, 0 bytes behind the end of an allocation of 4000 bytes \(block 3,0,0 thread 232,0,0\)' ;;
            b) words='writes 4 bytes, [0-9]+ bytes behind the end of an allocation of 4000 bytes' ;;
            c) words='writes 4 bytes, 4 bytes before an allocation of 4000 bytes' ;;
            d) words='writes the address 0x[0-9a-f]+, where no device memory is' code=717 ;;
            e) words="writes 0x[0-9a-f]+, which is not device memory but the host's" ;;
            f) words='follows a null pointer' ;;
            g) words='writes memory that was freed by cudaFree \(4000 bytes\)' ;;
        esac
        assert_output "0 $code $code 0 $code 0"
        assert_regex "$stderr" "program.cu:2: kernel fill $words"
    done
}

@test "stand-in: memory is freed by the call that belongs to it; what was freed is told with the call" {
    try_on_cpu <<'PROGRAM'
#include <cstdio>
#include <cstdlib>
__global__ void k(int *p) { *p = 1; }
int main(int argc, char **argv)
{
    int *d, *h, *own = (int *)malloc(40);
    cudaMalloc(&d, 40);
    cudaMallocHost(&h, 40);
    switch (argc > 1 ? atoi(argv[1]) : 0) {
    case 1: return cudaFreeHost(d);
    case 2: return cudaFree(h);
    case 3: return free(d), 0;
    case 4: return free(h), 0;
    case 5: delete[] h; return 0;
    case 6: return cudaFree(d), free(d), 0;
    case 7: return cudaFreeHost(h), cudaFree(h);
    case 8: return cudaFreeHost(h), h[0];
    case 9: return cudaFreeHost(h), k<<<1, 1>>>(h), cudaDeviceSynchronize();
    case 10: return cudaFreeAsync(d, 0), cudaFree(d);
    case 11: return cudaDeviceReset(), cudaFree(d);
    case 12: return cudaFree(own);
    }
    return cudaFree(d), cudaFreeHost(h), free(own), 0;
}
PROGRAM
    assert_success
    assert_quiet_stand_in
    n=0
    while read -r what; do
        n=$((n + 1))
        try "$BATS_TEST_TMPDIR/program" "$n"
        assert_regex "$stderr" "CPU stand-in: $what( |\$|
)"
        refute_regex "$stderr" 'was freed by.*was freed by'
    done <<<'program.cu:10: cudaFreeHost: this memory is freed by cudaFree \(40 bytes\)
program.cu:11: cudaFree: this memory is freed by cudaFreeHost \(40 bytes\)
program.cu:12: free: this memory is freed by cudaFree \(40 bytes\)
program.cu:13: free: this memory is freed by cudaFreeHost \(40 bytes\)
program.cu:14: delete\[\]: this memory is freed by cudaFreeHost \(40 bytes\)
program.cu:15: free: this memory was freed before, by cudaFree \(40 bytes\)
program.cu:16: cudaFree: this memory was freed before, by cudaFreeHost \(40 bytes\)
host code touched 0x[0-9a-f]*, which was freed by cudaFreeHost
program.cu:3: kernel k writes memory that was freed by cudaFreeHost \(40 bytes\)
program.cu:19: cudaFree: this memory was freed before, by cudaFreeAsync \(40 bytes\)
program.cu:20: cudaFree: this memory was freed before, by cudaDeviceReset \(40 bytes\)
program.cu:21: cudaFree: 0x[0-9a-f]* is not the start of such memory'
}

@test "stand-in: the host cannot touch device memory; what nobody has written is large numbers, and told" {
    try_on_cpu <<'PROGRAM'
#include "check.h"
int main(void)
{
    float *d, h[2] = {0, 0};
    CHECK(cudaMalloc(&d, 100 * sizeof *d));
    CHECK(cudaMemset(d + 2, 0, 90 * sizeof *d));
    CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
    printf("%d %d\n", h[0] > 1e37, h[1] > 1e37);
    CHECK(cudaMemcpy(h, d + 2, sizeof h, cudaMemcpyDeviceToHost));
    printf("%g %g\n", h[0], h[1]);
    fflush(stdout);
    return d[0] == 0;
}
PROGRAM
    [ "$status" -gt 128 ]
    assert_output '1 1
0 0'
    assert_equal "$(grep -c 'nobody has written' <<<"$stderr")" 1
    assert_regex "$stderr" 'program.cu:7: cudaMemcpy: reads 8 bytes that nobody has written, the first at byte 0 of an allocation of 400 bytes'
    assert_regex "$stderr" 'host code touched device memory at .*: copy it with cudaMemcpy first'
}

@test "stand-in: allocations by the ten thousand: freed ones cost nothing, too many are error 2" {
    try_on_cpu <<'PROGRAM'
#include "check.h"
__global__ void up_to(float *p, float *end) { if (p + threadIdx.x < end) p[threadIdx.x] = 1; }
int main(void)
{
    float *d;
    for (int i = 0; i < 70000; i++) {
        CHECK(cudaMalloc(&d, 4));
        CHECK(cudaFree(d));
    }
    CHECK(cudaMalloc(&d, 1024));
    up_to<<<1, 256>>>(d, d + 256); // one past the end is a right pointer
    CHECK(cudaDeviceSynchronize());
    int n = 0;
    while (n < 70000 && cudaMalloc(&d, 4) == cudaSuccess)
        n++;
    printf("%d %d\n", n > 1000, n < 70000 ? cudaGetLastError() : 2);
}
PROGRAM
    assert_success
    assert_output '1 2'
}

@test "stand-in: a library that is closed leaves no signal handler behind" {
    cd 02-dlopen-from-c || return 1
    "$TOP/common/cpu/nvcc" -I"$TOP/common" -shared -Xcompiler -fPIC -o "$BATS_TEST_TMPDIR/libhello.so" libhello.cu
    try_python LD_LIBRARY_PATH="$BATS_TEST_TMPDIR" <<'PROGRAM'
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

