load helpers

setup() {
    cd "$TOP/02-dlopen-from-c" || return 1
}

GREETINGS='Hello World From GPU!
Hello World From GPU!
Hello World From GPU!'

# The program alone in a folder, for a library to be put beside it.
hello_c_alone() {
    cp hello_c "$BATS_TEST_TMPDIR"
    cd "$BATS_TEST_TMPDIR" || return 1
}

@test "02: libhello.so offers its interface and nothing else" {
    run interface_of libhello.so
    assert_output 'hello_error_name
hello_error_text
hello_from_gpu'
}

@test "02: libhello_c.so offers hello_c and nothing else" {
    run interface_of libhello_c.so
    assert_output 'hello_c'
}

@test "02: libraries and program name no absolute path" {
    assert_no_absolute_path libhello.so
    assert_no_absolute_path libhello_c.so
    assert_no_absolute_path hello_c
}

@test "02: hello_c knows no CUDA: it is linked with neither library nor runtime" {
    run readelf -d hello_c libhello_c.so
    assert_success
    refute_output --partial cuda
    refute_output --partial libhello.so
}

@test "02: hello_c greets three times" {
    try ./hello_c
    assert_success
    assert_equal "$output" "$GREETINGS"
    assert_quiet
}

@test "02: hello_c finds its library from any folder" {
    cd /
    try "$TOP/02-dlopen-from-c/hello_c"
    assert_success
    assert_equal "$output" "$GREETINGS"
}

@test "02: the same C code as a library, called from Python in one line" {
    try "$TEST_PYTHON" -c "import ctypes; print(ctypes.CDLL('./libhello_c.so').hello_c(None, 0))"
    assert_success
    assert_equal "$output" "$GREETINGS
0"
}

@test "02: no library: the loader's words, exit status 1" {
    hello_c_alone
    try ./hello_c
    assert_failure 1
    assert_equal "$output" ""
    assert_equal "$stderr" "hello_c: libhello.so: cannot open shared object file: No such file or directory"
}

@test "02: an object file is no library" {
    hello_c_alone
    echo 'int hello_from_gpu(void) { return 0; }' | gcc -x c -c -o libhello.so -
    try ./hello_c
    assert_failure 1
    assert_regex "$stderr" 'hello_c: .*libhello.so: only ET_DYN and ET_EXEC can be loaded'
}

@test "02: a library without extern \"C\": the loader names the symbol it misses" {
    hello_c_alone
    echo 'int hello_from_gpu() { return 0; }' | g++ -x c++ -shared -fPIC -o libhello.so -
    try ./hello_c
    assert_failure 1
    assert_regex "$stderr" 'hello_c: .*libhello.so: undefined symbol: hello_from_gpu'
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
        try ./hello_c
        assert_failure 1
        refute_line called
        assert_regex "$stderr" "hello_c: .*libhello.so: undefined symbol: $name"
    done
    gcc -shared -fPIC -o libhello.so hello.c
    try ./hello_c
    assert_failure 1
    assert_equal "$stderr" 'hello_c: CUDA error 5, five: in words'
    try "$TEST_PYTHON" -c "import ctypes; print(ctypes.CDLL('./libhello_c.so').hello_c(None, 0))"
    assert_output $'called\nclosed\n5'
}

@test "02: without a device, hello_c prints the library's code, name and text" {
    try env CUDA_VISIBLE_DEVICES= ./hello_c
    assert_failure 1
    assert_equal "$output" ""
    assert_regex "$stderr" "hello_c: CUDA error 100, cudaErrorNoDevice: no CUDA-capable device is detected"
}

@test "02: an error for which a library has no name and no text" {
    hello_c_alone
    echo 'int hello_from_gpu(void) { return 77; } char *hello_error_name(int code) { return 0; } char *hello_error_text(int code) { return 0; }' |
        gcc -x c -shared -fPIC -o libhello.so -
    try ./hello_c
    assert_failure 1
    assert_equal "$stderr" 'hello_c: CUDA error 77, no name: no text'
}

@test "02: the library returns its code, prints nothing and lets the process live" {
    try_python CUDA_VISIBLE_DEVICES= <<'PROGRAM'
import ctypes
why = ctypes.create_string_buffer(200)
print(ctypes.CDLL("./libhello.so").hello_from_gpu())
print(ctypes.CDLL("./libhello_c.so").hello_c(None, ctypes.c_size_t(200)))
print(ctypes.CDLL("./libhello_c.so").hello_c(why, ctypes.c_size_t(200)), why.value.decode())
PROGRAM
    assert_success
    assert_output '100
100
100 CUDA error 100, cudaErrorNoDevice: no CUDA-capable device is detected'
    refute_regex "$stderr" 'CUDA error'
}

@test "02: an error that somebody else left behind is not taken for this call's, and none is left" {
    # one runtime for all, as on the stand-in and with a shared libcudart
    for library in libhello libvector_add; do
        ../common/cpu/nvcc -O1 -I../common -shared -Xcompiler -fPIC -o "$BATS_TEST_TMPDIR/$library.so" $library.cu
    done
    EXPECTED=CPU_CUDA_FAIL try_python HERE="$BATS_TEST_TMPDIR" <<'PROGRAM'
import ctypes, os
runtime = ctypes.CDLL("../common/cpu/lib/libcpu_cuda.so")
hello = ctypes.CDLL(os.environ["HERE"] + "/libhello.so").hello_from_gpu
vector_add = ctypes.CDLL(os.environ["HERE"] + "/libvector_add.so").vector_add
x = (ctypes.c_float * 4)(1, 2, 3, 4)
for call in hello, lambda: vector_add(x, x, 4):
    print(runtime.cudaSetDevice(99), runtime.cudaPeekAtLastError(), call(), runtime.cudaGetLastError(), flush=True)
print(list(x))
os.environ["CPU_CUDA_FAIL"] = "1"  # Python's change of the environment reaches C
os.environ["CPU_CUDA_FAIL_CODE"] = "719"
print(vector_add(x, x, 4), runtime.cudaPeekAtLastError(), list(x))
PROGRAM
    assert_success
    assert_output 'Hello World From GPU!
Hello World From GPU!
Hello World From GPU!
101 101 0 0
101 101 0 0
[2.0, 4.0, 6.0, 8.0]
719 0 [2.0, 4.0, 6.0, 8.0]'
}

# ---- The loader's errors

@test "02: without extern \"C\" the name in the library is another, and the loader does not find it" {
    run interface_of libmangled.so
    assert_output '_Z14hello_from_gpuv'
    try ./load now ./libmangled.so hello_from_gpu
    assert_failure 1
    assert_output 'opened ./libmangled.so'
    assert_equal "$stderr" 'dlsym: ./libmangled.so: undefined symbol: hello_from_gpu'
    try ./load now ./libmangled.so _Z14hello_from_gpuv
    assert_success
    run diff <(sed 1,3d libmangled.cu | grep -v '^//') <(sed 1,3d libhello.cu | grep -v '^//')
    refute_line --partial 'HelloKernel'
}

@test "02: load says what it takes, and that a symbol is NULL" { # the rest: pages.bats
    try ./load later ./libhello.so hello_from_gpu
    assert_failure 2
    assert_equal "$stderr" './load now|lazy LIBRARY FUNCTION'
    gcc -shared -o "$BATS_TEST_TMPDIR/libnull.so" -Wl,--defsym=nothing=0 # a symbol may be there, and NULL
    try ./load now "$BATS_TEST_TMPDIR/libnull.so" nothing
    assert_failure 1
    assert_equal "$stderr" 'dlsym: the symbol is NULL'
}

@test "02: a bare name is not looked for here, ./name is; LD_LIBRARY_PATH adds a folder" {
    try ./load now libhello.so hello_from_gpu
    assert_failure 1
    assert_equal "$output$stderr" 'dlopen: libhello.so: cannot open shared object file: No such file or directory'
    try env LD_LIBRARY_PATH="$PWD" ./load now libhello.so hello_from_gpu
    assert_success
    assert_line --index 0 'opened libhello.so'
}

@test "02: RTLD_NOW finds what a library lacks when it is opened, RTLD_LAZY when it is called" {
    try ./load now ./libunfinished.so stay
    assert_failure 1
    assert_equal "$output$stderr" 'dlopen: ./libunfinished.so: undefined symbol: elsewhere'
    try ./load lazy ./libunfinished.so stay
    assert_success
    assert_line --index 2 'it returned 0'
    try sh -c './load lazy ./libunfinished.so leave; echo "exit status $?"'
    assert_output 'opened ./libunfinished.so
found leave
exit status 127'
    assert_equal "$stderr" './load: symbol lookup error: ./libunfinished.so: undefined symbol: elsewhere'
}

@test "02: \$ORIGIN: a library beside the program is found wherever both are" {
    run readelf -d hello_c
    assert_output --partial '[$ORIGIN]'
    hello_c_alone
    echo 'int hello_from_gpu(void) { return 0; } int hello_error_name, hello_error_text;' | gcc -x c -shared -fPIC -o libhello.so -
    cd /
    try "$BATS_TEST_TMPDIR/hello_c"
    assert_success
}

# ---- A function with arguments

@test "02: vector_add_c: a function with arguments, and its error" {
    for n in '' 1000 1 0; do
        # shellcheck disable=SC2086
        try ./vector_add_c $n
        assert_success
        assert_output "${n:-1048576} of ${n:-1048576} right"
    done
    try ./vector_add_c -1
    assert_failure 1
    assert_equal "$output" ''
    assert_regex "$stderr" 'vector_add_c: CUDA error 1, cudaErrorInvalidValue: invalid argument'
    try env CUDA_VISIBLE_DEVICES= ./vector_add_c
    assert_failure 1
    assert_regex "$stderr" 'vector_add_c: CUDA error 100, cudaErrorNoDevice: no CUDA-capable device is detected'
    gcc -x c -shared -fPIC -o "$BATS_TEST_TMPDIR/libvector_add.so" - <<'PROGRAM' # all but the last element
int vector_add(const float *a, float *b, int n) { for (int i = 0; i < n - 1; i++) b[i] += a[i]; return 0; }
int vector_add_error_name, vector_add_error_text;
PROGRAM
    try env LD_LIBRARY_PATH="$BATS_TEST_TMPDIR" ./vector_add_c 1000
    assert_failure 1
    assert_output '999 of 1000 right'
}

@test "02: vector_add_c takes a number" {
    for wrong in abc 3x '' 99999999999 -2; do
        try ./vector_add_c "$wrong"
        assert_failure 2
        assert_equal "$stderr" './vector_add_c N: a number from -1 to 268435456'
    done
}

@test "02: whichever CUDA call of vector_add fails, its code comes, b is as it was and nothing stays allocated" {
    "$TOP/common/cpu/nvcc" -I../common -shared -Xcompiler -fPIC,-fvisibility=hidden -o "$BATS_TEST_TMPDIR/libvector_add.so" libvector_add.cu
    try_python PYTHONPATH="$BATS_TEST_DIRNAME" LIBRARY="$BATS_TEST_TMPDIR/libvector_add.so" <<'PROGRAM'
import ctypes, os
from failing_calls import each_failing_call
vector_add = ctypes.CDLL(os.environ["LIBRARY"]).vector_add
a, b = (ctypes.c_float * 300)(*[1] * 300), (ctypes.c_float * 300)(*[2] * 300)
def add():
    code = vector_add(a, b, 300)
    refused = [vector_add(*arguments) for arguments in ((None, b, 300), (a, None, 300), (a, b, -1), (None, None, 0))]
    right = set(b) == ({3} if code == 0 else {2}) and refused == [1, 1, 1, 0]
    return f"{code} {'right' if right else 'WRONG'},"
each_failing_call(add, 719)
PROGRAM
    assert_success
    assert_output 'with a failing call: 0 right, 719 right, without: 0 right,'
}

@test "02: libvector_add.so offers its interface and nothing else; library and caller share the header" {
    run interface_of libvector_add.so
    assert_output 'vector_add
vector_add_error_name
vector_add_error_text'
    assert_no_absolute_path libvector_add.so
    assert_no_absolute_path vector_add_c
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

@test "02: saxpy: from a string to a cubin, and right" {
    try ./saxpy
    assert_success
    assert_equal "${#lines[@]}" 4
    assert_line --index 0 --regexp '^PTX: [0-9]+ bytes of text$'
    assert_line --index 1 --regexp '^cubin: an ELF file of [0-9]+ bytes, for sm_[0-9]+$'
    assert_line --index 2 'the cubin is loaded'
    assert_line --index 3 '16777216 of 16777216 right'
    assert_quiet
    sed 's/"        out\[i\] = a \*/"        if (i > 9) out[i] = a */; s/^#define BLOCKS .*/#define BLOCKS 2/' saxpy.c >"$BATS_TEST_TMPDIR/saxpy.c"
    gcc -std=c11 -O1 -ffp-contract=off -I. -o "$BATS_TEST_TMPDIR/saxpy" "$BATS_TEST_TMPDIR/saxpy.c" -ldl \
        -Wl,-rpath,"$(readelf -d saxpy | sed -n "s|.*RUNPATH.*\[\(.*\)\]|\1|p" | sed "s|\$ORIGIN|$PWD|")"
    EXPECTED='nobody has written' try "$BATS_TEST_TMPDIR/saxpy"
    assert_failure 1
    assert_line --index 3 '1014 of 1024 right'
}

@test "02: saxpy ptx: the driver compiles the rest" {
    try ./saxpy ptx
    assert_success
    assert_line --index 2 'the PTX is loaded'
    assert_line --index 3 '16777216 of 16777216 right'
}

@test "02: saxpy broken: the compiler's log, and its code" {
    try ./saxpy broken
    assert_failure 1
    assert_output ''
    assert_regex "$stderr" "saxpy.cu.[34].*error: expected .*;"
    line=$(grep -n 'CHECK_NVRTC(code)' saxpy.c | cut -d: -f1)
    assert_regex "$stderr" "saxpy.c:$line: NVRTC error 6, NVRTC_ERROR_COMPILATION"
}

@test "02: saxpy mangled: without extern \"C\" the module has no kernel of that name" {
    try ./saxpy mangled
    assert_failure 1
    assert_line --index 2 'the cubin is loaded'
    refute_output --partial right
    line=$(grep -n 'cuModuleGetFunction' saxpy.c | cut -d: -f1)
    assert_regex "$stderr" "saxpy.c:$line: CUDA driver error 500, CUDA_ERROR_NOT_FOUND: named symbol not found"
    try ./saxpy huh
    assert_failure 2
    assert_equal "$stderr" './saxpy [cubin|ptx|broken|mangled]'
}

@test "02: saxpy without a device" {
    try env CUDA_VISIBLE_DEVICES= ./saxpy
    assert_failure 1
    line=$(grep -n 'cuInit(0)' saxpy.c | cut -d: -f1)
    assert_regex "$stderr" "saxpy.c:$line: CUDA driver error 100, CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected"
}

@test "02: saxpy is built without CUDA, and says which library is missing" {
    run grep NEEDED < <(readelf -d saxpy)
    refute_output --partial cuda
    refute_output --partial nvrtc
    gcc -std=c11 -o "$BATS_TEST_TMPDIR/saxpy" saxpy.c -ldl # knows no folder to look in
    mkdir "$BATS_TEST_TMPDIR/driver"
    if [ "$TEST_BACKEND" = cpu ]; then
        if ! /sbin/ldconfig -p | grep -q libcuda.so.1; then # a driver can be there without a GPU
            try "$BATS_TEST_TMPDIR/saxpy"
            assert_failure 1
            assert_equal "$stderr" 'libcuda.so.1: cannot open shared object file: No such file or directory
libcuda.so.1 belongs to the NVIDIA driver'
        fi
        ln -s "$TOP/common/cpu/lib/libcuda.so.1" "$BATS_TEST_TMPDIR/driver/"
    fi
    if ! /sbin/ldconfig -p | grep -q libnvrtc; then
        try env LD_LIBRARY_PATH="$BATS_TEST_TMPDIR/driver:${LD_LIBRARY_PATH:-}" "$BATS_TEST_TMPDIR/saxpy"
        assert_failure 1
        assert_equal "$stderr" 'libnvrtc.so.13, .12 or .11.2 is needed: libnvrtc.so.11.2: cannot open shared object file: No such file or directory
libnvrtc belongs to the CUDA Toolkit: put its folder into LD_LIBRARY_PATH'
    fi
    if [ "$TEST_BACKEND" = cpu ]; then
        loader=$(readelf -l saxpy | sed -n 's/.*interpreter: \(.*\)\]/\1/p')
        { # an NVRTC that compiles nothing, and shows its options; saxpy takes each version
            sed -nE 's/^ +F\(nvrtc, .*\b(\w+), "(\w*)", .*/int \1\2() { return 0; }/p' cuda_loader.h | grep -v 'CompileProgram\|GetErrorString\|LogSize'
            echo 'int puts(const char *);
                  int nvrtcGetProgramLogSize(void *program, unsigned long *bytes) { *bytes = 1; return 0; }
                  const char *nvrtcGetErrorString(int code) { return "as asked"; }
                  int nvrtcCompileProgram(void *program, int count, const char **options) { while (count--) puts(options[count]); return 6; }'
        } | gcc -x c -w -shared -fPIC -o "$BATS_TEST_TMPDIR/libnvrtc.so" -
        for version in 13 12 11.2; do
            mv "$BATS_TEST_TMPDIR/libnvrtc.so" "$BATS_TEST_TMPDIR/driver/libnvrtc.so.$version"
            try env LD_LIBRARY_PATH="$BATS_TEST_TMPDIR/driver" "$loader" --inhibit-cache "$BATS_TEST_TMPDIR/saxpy"
            assert_failure 1
            assert_output $'--fmad=false\n--gpu-architecture=sm_75'
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
    assert_success
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
    try env LD_LIBRARY_PATH="$BATS_TEST_TMPDIR" "$loader" --inhibit-cache ./saxpy
    assert_failure 1
    assert_line --index 0 --regexp '^PTX: [0-9]+ bytes of text$'
    assert_line --index 1 --regexp '^cubin: an ELF file of [0-9]+ bytes, for sm_75$'
    assert_equal "$stderr" "saxpy.c:$(grep -n 'cuModuleLoadData' saxpy.c | cut -d: -f1): CUDA driver error 1, no module: here"
    assert_equal "$(readelf -d saxpy | grep RUNPATH)" "$(readelf -d saxpy_bench | grep RUNPATH)"
}

@test "02: the stage runs alone, beside common, and clean removes what was built" {
    takes_long # stage 01 does the same
    run_alone 02-dlopen-from-c
    assert_output --partial "$GREETINGS
0"
}
