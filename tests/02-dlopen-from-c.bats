load helpers
cd "$TOP/02-dlopen-from-c" || exit 1

# The program alone in a folder, for a library to be put beside it.
hello_c_alone() {
    cp hello_c "$BATS_TEST_TMPDIR"
    cd "$BATS_TEST_TMPDIR" || return 1
}

@test "02: hello_c knows no CUDA: it is linked with neither library nor runtime" {
    run readelf -d hello_c libhello_c.so
    assert_success
    refute_output --partial cuda
    refute_output --partial libhello.so
}

@test "02: hello_c: a library that is not there or is none, that lacks what is called, or has no words for its error" {
    hello_c_alone
    refused() { # what stderr ends with
        FAILS=1 try ./hello_c
        assert_output ''
        assert_regex "$stderr" "^hello_c: $1\$"
    }
    refused 'libhello.so: cannot open shared object file: No such file or directory'
    echo 'int hello_from_gpu(void) { return 0; }' | gcc -x c -c -o libhello.so -
    refused '.*libhello.so: only ET_DYN and ET_EXEC can be loaded'
    echo 'int hello_from_gpu() { return 0; }' | g++ -x c++ -shared -fPIC -o libhello.so - # without extern "C"
    refused '.*libhello.so: undefined symbol: hello_from_gpu'
    echo 'int hello_from_gpu(void) { return 77; } char *hello_error_name(int code) { return 0; } char *hello_error_text(int code) { return 0; }' |
        gcc -x c -shared -fPIC -o libhello.so -
    refused 'CUDA error 77, no name: no text'
}

@test "02: a library without one of its functions is refused before anything is called; one that is right is closed again" {
    hello_c_alone
    cp "$TOP/02-dlopen-from-c/libhello_c.so" .
    cat >hello.c <<'PROGRAM'
#include <stdio.h>
int hello_from_gpu(void) { puts("called"); return 5; }
const char *hello_error_name(int code) { return "five"; }
const char *hello_error_text(int code) { return "in words"; }
__attribute__((destructor)) static void closed(void) { puts("closed"); fflush(stdout); }
PROGRAM
    for name in hello_error_name hello_error_text; do
        gcc -shared -fPIC -D$name=another -o libhello.so hello.c
        FAILS=1 try ./hello_c
        refute_line called
        assert_regex "$stderr" "hello_c: .*libhello.so: undefined symbol: $name"
    done
    gcc -shared -fPIC -o libhello.so hello.c
    FAILS=1 try ./hello_c
    assert_equal "$stderr" 'hello_c: CUDA error 5, five: in words'
    try "$TEST_PYTHON" -c "import ctypes; print(ctypes.CDLL('./libhello_c.so').hello_c(None, 0))"
    assert_output $'called\nclosed\n5'
}

@test "02: the library returns its code, prints nothing and lets the process live" {
    try_python CUDA_VISIBLE_DEVICES= <<'PROGRAM'
import ctypes
why = ctypes.create_string_buffer(200)
print(ctypes.CDLL("./libhello.so").hello_from_gpu())
print(ctypes.CDLL("./libhello_c.so").hello_c(None, ctypes.c_size_t(200)))
print(ctypes.CDLL("./libhello_c.so").hello_c(why, ctypes.c_size_t(200)), why.value.decode())
PROGRAM
    assert_output '100
100
100 CUDA error 100, cudaErrorNoDevice: no CUDA-capable device is detected'
    refute_regex "$stderr" 'CUDA error'
}

# ---- The loader's errors

@test "02: libmangled.cu is libhello.cu without extern \"C\", and its function is there under the other name" {
    try ./load now ./libmangled.so _Z14hello_from_gpuv
    run diff <(sed 1,3d libmangled.cu | grep -v '^//') <(sed 1,3d libhello.cu | grep -v '^//')
    refute_line --partial 'HelloKernel'
}

@test "02: load says what it takes, and that a symbol is NULL" { # the rest: pages.bats
    FAILS=2 try ./load later ./libhello.so hello_from_gpu
    assert_equal "$stderr" './load now|lazy LIBRARY FUNCTION'
    for arguments in 'libhello.so hello_from_gpu' './libmangled.so hello_from_gpu' './libunfinished.so stay'; do
        # shellcheck disable=SC2086
        FAILS=1 try ./load now $arguments
    done
    gcc -shared -o "$BATS_TEST_TMPDIR/libnull.so" -Wl,--defsym=nothing=0 # a symbol may be there, and NULL
    FAILS=1 try ./load now "$BATS_TEST_TMPDIR/libnull.so" nothing
    assert_equal "$stderr" 'dlsym: the symbol is NULL'
    FAILS=127 try ./load lazy ./libunfinished.so leave # the loader ends the process: what was printed is in the pipe
    assert_output $'opened ./libunfinished.so\nfound leave'
}

@test "02: \$ORIGIN: a library beside the program is found wherever both are" {
    hello_c_alone
    echo 'int hello_from_gpu(void) { return 0; } int hello_error_name, hello_error_text;' | gcc -x c -shared -fPIC -o libhello.so -
    cd /
    try "$BATS_TEST_TMPDIR/hello_c"
}

# ---- A function with arguments

@test "02: vector_add_c: a function with arguments, and its error; it takes a number" {
    for n in 1000 1 0; do
        try ./vector_add_c $n
        assert_output "$n of $n right"
    done
    FAILS=1 try ./vector_add_c -1 # what it says: pages.bats
    assert_output ''
    gcc -x c -shared -fPIC -o "$BATS_TEST_TMPDIR/libvector_add.so" - <<'PROGRAM' # all but the last element
int vector_add(const float *a, float *b, int n) { for (int i = 0; i < n - 1; i++) b[i] += a[i]; return 0; }
int vector_add_error_name, vector_add_error_text;
PROGRAM
    FAILS=1 try env LD_LIBRARY_PATH="$BATS_TEST_TMPDIR" ./vector_add_c 1000
    assert_output '999 of 1000 right'
    for wrong in abc 3x '' 99999999999 -2; do
        FAILS=2 try ./vector_add_c "$wrong"
        assert_equal "$stderr" './vector_add_c N: a number from -1 to 268435456'
    done
    for n in 268435456=1 268435457=2; do # the largest is taken, though the program gets no memory for it
        FAILS=${n#*=} try bash -c "ulimit -v 1000000; ./vector_add_c ${n%=*}"
    done
}

@test "02: libvector_add and its caller share the header" {
    sed 's/const float \*a, float \*b, int n/const double *a, float *b, int n/' vector_add.h >"$BATS_TEST_TMPDIR/vector_add.h"
    for source in libvector_add.cu vector_add_c.c; do
        cp "$source" "$BATS_TEST_TMPDIR"
    done
    run "$TOP/common/cpu/nvcc" -I../common -c -o "$BATS_TEST_TMPDIR/x.o" "$BATS_TEST_TMPDIR/libvector_add.cu"
    assert_failure
    run gcc -std=c11 -Werror -c -o "$BATS_TEST_TMPDIR/x.o" "$BATS_TEST_TMPDIR/vector_add_c.c"
    assert_failure
}

# ---- Compiled while the program runs

@test "02: saxpy, from a cubin and from PTX, notices wrong elements" { # all of it, and right: pages.bats
    local way
    sed 's/"        out\[i\] = a \*/"        if (i > 9) out[i] = a */; s/^#define BLOCKS .*/#define BLOCKS 2/' saxpy.c >"$BATS_TEST_TMPDIR/saxpy.c"
    gcc -std=c11 -O1 -ffp-contract=off -I. -o "$BATS_TEST_TMPDIR/saxpy" "$BATS_TEST_TMPDIR/saxpy.c" -ldl \
        -Wl,-rpath,"$(readelf -d saxpy | sed -n "s|.*RUNPATH.*\[\(.*\)\]|\1|p" | sed "s|\$ORIGIN|$PWD|")"
    mkdir "$BATS_TEST_TMPDIR/temporary"
    for way in cubin ptx; do
        FAILS=1 EXPECTED='nobody has written' try env TMPDIR="$BATS_TEST_TMPDIR/temporary" "$BATS_TEST_TMPDIR/saxpy" $way
        assert_line --index 2 --regexp "^the ($way|${way^^}) is loaded$"
        assert_line --index 3 '1014 of 1024 right'
    done
    rmdir "$BATS_TEST_TMPDIR/temporary" # nothing stays
}

@test "02: saxpy broken, mangled: the exit status is 1, and it says what it takes" { # and their errors: pages.bats
    local way
    for way in broken mangled; do
        FAILS=1 try ./saxpy $way
        refute_output --partial right
    done
    FAILS=2 try ./saxpy huh
    assert_equal "$stderr" './saxpy [cubin|ptx|broken|mangled]'
    if [ "$TEST_BACKEND" = cpu ]; then # a code that the driver has no words for
        EXPECTED='as asked' FAILS=1 try env CPU_CUDA_FAIL=1 CPU_CUDA_FAIL_CODE=12345 ./saxpy
        assert_regex "$stderr" 'CUDA driver error 12345, unknown: unknown'
    fi
}

@test "02: saxpy is built without CUDA, and says which library is missing" {
    run grep NEEDED < <(readelf -d saxpy)
    refute_output --partial cuda
    refute_output --partial nvrtc
    gcc -std=c11 -o "$BATS_TEST_TMPDIR/saxpy" saxpy.c -ldl # knows no folder to look in
    mkdir "$BATS_TEST_TMPDIR/driver"
    if [ "$TEST_BACKEND" = cpu ]; then
        if ! /sbin/ldconfig -p | grep -q libcuda.so.1; then # a driver can be there without a GPU
            FAILS=1 try "$BATS_TEST_TMPDIR/saxpy"
            assert_equal "$stderr" 'libcuda.so.1: cannot open shared object file: No such file or directory
libcuda.so.1 belongs to the NVIDIA driver'
        fi
        ln -s "$TOP/common/cpu/lib/libcuda.so.1" "$BATS_TEST_TMPDIR/driver/"
    fi
    if ! /sbin/ldconfig -p | grep -q libnvrtc; then
        FAILS=1 try env LD_LIBRARY_PATH="$BATS_TEST_TMPDIR/driver:${LD_LIBRARY_PATH:-}" "$BATS_TEST_TMPDIR/saxpy"
        assert_equal "$stderr" 'libnvrtc.so.13, .12 or .11.2 is needed: libnvrtc.so.11.2: cannot open shared object file: No such file or directory
libnvrtc belongs to the CUDA Toolkit: put its folder into LD_LIBRARY_PATH'
    fi
    if [ "$TEST_BACKEND" = cpu ]; then
        loader=$(readelf -l saxpy | sed -n 's/.*interpreter: \(.*\)\]/\1/p')
        { # an NVRTC that compiles nothing, and shows its options; saxpy takes each version, and opens its builtins
            sed -nE 's/^ +F\(nvrtc, .*\b(\w+), "(\w*)", .*/int \1\2() { return 0; }/p' cuda_loader.h | grep -v 'Version\|CompileProgram\|GetErrorString\|LogSize'
            echo 'int puts(const char *);
                  int nvrtcVersion(int *major, int *minor) { *major = 12, *minor = 34; return 0; }
                  int nvrtcGetProgramLogSize(void *program, unsigned long *bytes) { *bytes = 1; return 0; }
                  const char *nvrtcGetErrorString(int code) { return "as asked"; }
                  int nvrtcCompileProgram(void *program, int count, const char **options) { while (count--) puts(options[count]); return 6; }'
        } | gcc -x c -w -shared -fPIC -o "$BATS_TEST_TMPDIR/libnvrtc.so" -
        echo 'int puts(const char *); __attribute__((constructor)) void opened(void) { puts("builtins 12.34"); }' |
            gcc -x c -shared -fPIC -o "$BATS_TEST_TMPDIR/driver/libnvrtc-builtins.so.12.34" -
        for version in 13 12 11.2; do
            mv "$BATS_TEST_TMPDIR/libnvrtc.so" "$BATS_TEST_TMPDIR/driver/libnvrtc.so.$version"
            FAILS=1 try env LD_LIBRARY_PATH="$BATS_TEST_TMPDIR/driver" "$loader" --inhibit-cache "$BATS_TEST_TMPDIR/saxpy"
            assert_output $'builtins 12.34\n--fmad=false\n--gpu-architecture=sm_75'
            assert_regex "$stderr" 'NVRTC error 6, as asked'
            mv "$BATS_TEST_TMPDIR/driver/libnvrtc.so.$version" "$BATS_TEST_TMPDIR/libnvrtc.so"
        done
    fi
}

# PyPI's, and a toolkit's that the loader has not been told of, is found by the program's rpath; its builtins are not.
@test "02: saxpy compiles with an NVRTC that only saxpy itself knows where to find" {
    local pypi=("$TOP"/.venv/lib/python*/site-packages/nvidia/cu13/bin/nvcc) loader
    requires nvcc
    [ ! -x "${pypi[0]}" ] || NVCC=${pypi[0]}
    copy_out 02-dlopen-from-c
    try make BACKEND=cuda REQUIRE_GPU= NVCC="$NVCC" CUDA_ARCH=sm_75 PYTHON="$TEST_PYTHON" -C 02-dlopen-from-c saxpy saxpy_bench
    cd 02-dlopen-from-c || return 1
    # a driver that has what saxpy and NVRTC ask for, and loads no module
    {
        sed -nE 's/^ +F\(driver, .*\b(\w+), "(\w*)", .*/int \1\2() { return 0; }/p' cuda_loader.h |
            grep -v 'GetAttribute\|ModuleLoadData\|GetError'
        echo 'int cuDeviceGetAttribute(int *value, int what) { *value = what == 75 ? 7 : 5; return 0; }
              int cuGetErrorName(int code, const char **name) { *name = "no module"; return 0; }
              int cuGetErrorString(int code, const char **text) { *text = "here"; return 0; }
              int cuModuleLoadData() { return 1; }
              int cuGetExportTable() { return 1; }'
    } | gcc -x c -shared -fPIC -o "$BATS_TEST_TMPDIR/libcuda.so.1" -
    loader=$(readelf -l saxpy | sed -n 's/.*interpreter: \(.*\)\]/\1/p')
    FAILS=1 try env LD_LIBRARY_PATH="$BATS_TEST_TMPDIR" "$loader" --inhibit-cache ./saxpy
    assert_line --index 0 --regexp '^PTX: [0-9]+ bytes of text$'
    assert_line --index 1 --regexp '^cubin: an ELF file of [0-9]+ bytes, for sm_75$'
    assert_equal "$stderr" "saxpy.c:$(grep -n 'cuModuleLoadData' saxpy.c | cut -d: -f1): CUDA driver error 1, no module: here"
    assert_equal "$(readelf -d saxpy | grep RUNPATH)" "$(readelf -d saxpy_bench | grep RUNPATH)"
}

@test "02: the stage runs alone, beside common, and clean removes what was built" {
    takes_long # stage 01 does the same
    run_alone 02-dlopen-from-c
    assert_equal "$(grep -c '^Hello World From GPU!$' <<<"$output")" 6
    assert_line 0
}

# ---- What the libraries promise

@test "02: whichever CUDA call of a program fails, a line says so and the exit status is 1" {
    each_call_fails ./{hello_c,'vector_add_c 100'}
    [ "${SLOW:-}" != 1 ] || each_call_fails ./saxpy # which compiles each time
}

@test "02: whichever CUDA call of vector_add fails, its code comes and nothing stays; an older error is not taken for its own" {
    requires stand-in
    EXPECTED=cudaSetDevice try_python PYTHONPATH="$BATS_TEST_DIRNAME" <<'PROGRAM'
import ctypes

import failing
import numpy as np

vector_add = ctypes.CDLL("./libvector_add.so").vector_add
hello = ctypes.CDLL("./libhello.so").hello_from_gpu
x = np.full(300, 3, "f")


def checked(code):
    if code != 0:
        raise RuntimeError(code)


def add(b):
    checked(vector_add(x.ctypes, b.ctypes, b.size))
    for refused in (None, b.ctypes, 300), (x.ctypes, None, 300), (x.ctypes, b.ctypes, -1):
        assert vector_add(*refused) == 1, ("vector_add takes", refused)
    assert vector_add(None, None, 0) == 0, "vector_add of nothing is no error"
    return b


TRIED = {"vector_add": (add, x, None)}
failing.all_fail(TRIED, (2, 700), RuntimeError)
failing.none_takes_an_older_error({**TRIED, "hello_from_gpu": (lambda out: hello(), 0, None)})
PROGRAM
    assert_output "vector_add
  2: [RuntimeError: 2] right | without a failure: right
  700: [RuntimeError: 700] right | without a failure: right
Hello World From GPU!
Hello World From GPU!
Hello World From GPU!"
}

@test "02: vector_add: more elements than a machine has room for: no number is cut to 32 bits" {
    use_shim sizes
    try_python LD_PRELOAD=./sizes.so <<'PROGRAM'
import ctypes, os
vector_add, array = ctypes.CDLL(os.environ["ROOM"] + "/libvector_add.so").vector_add, ctypes.c_void_p(1 << 45)  # nobody reads it
for n in 2**30, 2**31 - 1:
    print(" ->", vector_add(array, array, n), flush=True)
PROGRAM
    assert_output ' malloc 4294967296 malloc 4294967296 copy 4294967296 copy 4294967296 launch 4194304 x 256 copy 4294967296 -> 0
 malloc 8589934588 malloc 8589934588 copy 8589934588 copy 8589934588 launch 8388608 x 256 copy 8589934588 -> 0'
}
