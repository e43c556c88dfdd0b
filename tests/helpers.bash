# What the test files share. Every file begins with: load helpers

bats_require_minimum_version 1.5.0 2>/dev/null || true

if [ -z "${TEST_BACKEND:-}" ]; then
    echo "type tests/run FILE [PATTERN], not bats: it builds what the tests look at, and says on what they run" >&2
    exit 1
fi

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$TOP" || exit 1 # where each test begins, if its file does not say another folder
export PYTHONDONTWRITEBYTECODE=1
export PYTHON=$TEST_PYTHON # what the tests' own makes use: it has Cython and NumPy
export outside=${PATH#*/bats-core:} # Bats' own folder is on PATH in a test, and what lies there does not start by itself
LIBRARIES=${BATS_LIB_PATH:-}:/usr/lib/bats:/usr/lib:/usr/local/lib

for library in bats-support bats-assert; do
    for folder in ${LIBRARIES//:/ }; do
        if [ -e "$folder/$library/load.bash" ]; then
            load "$folder/$library/load.bash"
            break
        fi
    done
done

# Skips the test for want of something; with REQUIRE_GPU=1 what is missing of a GPU is a failure.
lacks() {
    [ "${REQUIRE_GPU:-}" != 1 ] || fail "REQUIRE_GPU=1, and this needs $1"
    skip "needs $1"
}

# Skips the test, with the reason, if what it needs is not here.
requires() {
    case $1 in
        gpu) [ "$TEST_BACKEND" = cuda ] || lacks 'an NVIDIA GPU' ;;
        stand-in) # what only its programs do, or can be made to do
            [ "$TEST_BACKEND" = cpu ] || skip "needs the stand-in: make test BACKEND=cpu"
            ;;
        nvcc)
            NVCC=$("$TEST_PYTHON" -Bc "import sys; sys.path.insert(0, '$TOP/common'); import doctor; print(doctor.find_nvcc() or '')")
            case $NVCC in */site-packages/*) export LIBRARY_PATH=${NVCC%/bin/nvcc}/lib ;; esac # make passes it with -L
            [ -n "$NVCC" ] || lacks nvcc
            ;;
        compute-sanitizer) # beside nvcc, if it is not on PATH
            requires nvcc
            PATH=$PATH:$(dirname "$(realpath "$(command -v "$NVCC")")")
            command -v compute-sanitizer >/dev/null || lacks compute-sanitizer
            ;;
        *) fail "requires: what is $1?" ;;
    esac
}

# Runs a command, stdout and stderr apart, at most two minutes (LIMIT: seconds); shows all three if the test fails.
# The exit status has to be 0, or what FAILS says: FAILS=2 try ./packs x; FAILS=yes: not 0; FAILS=any: whatever it is.
# A complaint of the stand-in fails the test, unless it has the words of EXPECTED: EXPECTED='never freed' try ./leak
try() {
    run --separate-stderr timeout "${LIMIT:-120}" "$@"
    # shellcheck disable=SC2154
    printf '$ %s\nexit status %s%s\nstdout: %s\nstderr: %s\n' "$*" "$status" \
        "$([ "$status" -le 128 ] || echo ": signal $((status - 128)), $(kill -l "$status")")" "$output" "$stderr"
    [ "$status" -ne 124 ] || echo "it had not ended after ${LIMIT:-120} seconds, the limit of this test"
    case ${FAILS:-0} in
        any) ;;
        yes) [ "$status" -ne 0 ] ;;
        *) [ "$status" -eq "${FAILS:-0}" ] ;;
    esac
    ! grep '^CPU stand-in: ' <<<"$stderr" | grep -vE "this program runs on the CPU|${EXPECTED:-^\$}"
}

# Runs the Python program on standard input, in the current folder.
try_python() {
    cat >"$BATS_TEST_TMPDIR/program.py"
    try env PYTHONPATH="$PWD" "$@" "$TEST_PYTHON" "$BATS_TEST_TMPDIR/program.py"
}

# Compiles the program on standard input for the CPU and runs it: try_on_cpu [NAME=value]... [option of nvcc]...
try_on_cpu() {
    local settings=() options=() a
    for a in "$@"; do
        case $a in -*) options+=("$a") ;; *) settings+=("$a") ;; esac
    done
    cat >"$BATS_TEST_TMPDIR/program.cu"
    "$TOP/common/cpu/nvcc" -O1 -I"$TOP/common" "${options[@]}" -o "$BATS_TEST_TMPDIR/program" "$BATS_TEST_TMPDIR/program.cu"
    try env "${settings[@]}" "$BATS_TEST_TMPDIR/program"
}

# Sets the array `compile`: the compiler of the backend that is tested, and what makes its code run here.
find_compiler() {
    compile=("$TOP/common/cpu/nvcc")
    if [ "$TEST_BACKEND" = cuda ]; then
        requires nvcc
        compile=("$NVCC" -arch=native)
    fi
}

# tools.cu as a library, for the backend that is tested: how much of the device's memory is free; streams.
build_tools() {
    find_compiler
    "${compile[@]}" -shared -Xcompiler -fPIC -o "$BATS_TEST_TMPDIR/tools.so" "$BATS_TEST_DIRNAME/tools.cu"
}

# Builds the library that the current folder's programs load, so that it counts what it holds (shims/held.h), and puts it in front:
# build_counted libgather.so SOURCE...
build_counted() {
    find_compiler
    "${compile[@]}" -I. -I"$TOP/common" -include "$TOP/tests/shims/held.h" -shared -Xcompiler -fPIC,-fvisibility=hidden \
        -o "$BATS_TEST_TMPDIR/$1" "${@:2}"
    export LD_LIBRARY_PATH=$BATS_TEST_TMPDIR${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
}

# Fails unless the second file, what the test got, has the text of the first; shows what differs: assert_same FILE FILE [WHAT]
assert_same() {
    diff -U1 --label "expected: ${3:-$1}" --label "came: ${3:-$2}" "$1" "$2" || fail "${3:-$2} is not what was expected"
}

# Runs a program that lies beside the tests, in the current folder, and compares what it prints with its .txt:
# agrees 04-gather/c_interface [NAME=value]...
agrees() {
    local program=$BATS_TEST_DIRNAME/$1
    shift
    try env PYTHONPATH="$PWD:$BATS_TEST_DIRNAME" "$@" "$TEST_PYTHON" "$program.py"
    assert_same "$program.txt" <(printf '%s' "${output:+$output$'\n'}") "what ${program##*/}.py prints"
}

# Whichever CUDA call of a program fails, a line says so and the exit status is 1: each_call_fails './overlap 4'...
each_call_fails() {
    requires stand-in
    local program
    for program in "$@"; do
        # shellcheck disable=SC2086
        EXPECTED=. try "$TEST_PYTHON" "$BATS_TEST_DIRNAME/failing.py" $program
        assert_output ''
    done
}

# A program of lines for sh, as printf writes them: program FILE [FORMAT [ARGUMENT]...]
program() {
    mkdir -p "$(dirname "$1")"
    # shellcheck disable=SC2059
    printf "#!/bin/sh\n${2:-}\n" "${@:3}" >"$1"
    chmod +x "$1"
}

# Builds shims/NAME.c, which comes before the stand-in's runtime, as ./NAME.so in the test's folder, and goes there, as
# LD_PRELOAD takes no path with a space. What lay in the current folder is found in $ROOM: use_shim NAME [option of gcc]...
use_shim() {
    requires stand-in
    export ROOM=$PWD
    cd "$BATS_TEST_TMPDIR" || return 1
    gcc -shared -fPIC -I. -o "$1.so" "$BATS_TEST_DIRNAME/shims/$1.c" "${@:2}" \
        -Wl,--no-as-needed -L"$TOP/common/cpu/lib" -lcpu_cuda -Wl,-rpath,"$TOP/common/cpu/lib"
}

# A shim that tells the calls of CUDA by these libraries that hold Python's GIL: use_gil_shim ./libcuda_index.so
use_gil_shim() {
    nm -Du "$@" | sed -n '/GetError/d; s/.* U cpu_\(cuda[A-Z]\w*\)$/CALL(\1)/p' | sort -u >"$BATS_TEST_TMPDIR/calls.h"
    use_shim gil
}

# Fails unless stderr has the line that the stand-in prints once, and nothing else (on a GPU: nothing at all).
assert_quiet() {
    if [ "$TEST_BACKEND" = cpu ]; then
        assert_equal "$stderr" "CPU stand-in: this program runs on the CPU, not on a GPU"
    else
        assert_equal "$stderr" ""
    fi
}

# Copies common and the folders named, unbuilt, to a folder of the test's own, and goes there.
copy_out() {
    COPY=$BATS_TEST_TMPDIR/copy
    mkdir -p "$COPY"
    (cd "$TOP" && cp -rp common "$@" "$COPY") # -p: the runtime stays newer than its sources
    cd "$COPY" || return 1
    local makefile
    for makefile in 0*/Makefile 0*/*/Makefile 0*/*/*/Makefile; do
        [ ! -e "$makefile" ] || make -s -C "${makefile%/*}" clean >/dev/null
    done
}

# make in such a copy, with the Python, the backend and the nvcc that are tested; gcc in a hurry.
try_make() {
    [ "$TEST_BACKEND" = cpu ] || requires nvcc
    try make CFLAGS=-O0 PYTHON="$TEST_PYTHON" BACKEND="$TEST_BACKEND" ${NVCC:+NVCC="$NVCC"} "$@"
}

# What takes long and make test does not need: on the stand-in it is for make test-all.
takes_long() {
    [ "$TEST_BACKEND" = cuda ] || [ "${SLOW:-}" = 1 ] || skip "it takes long: make test-all"
}

# Runs a stage that was copied out with common, or rooms of it: run_alone STAGE [ROOM]... A second build has nothing to
# do, and clean leaves what there was. After it, output and lines are those of make run.
run_alone() {
    local ran='' room rooms=("${@:2}")
    [ $# -gt 1 ] || rooms=("$1")
    export CFLAGS=-O0 # Cython's files take long to compile, and the stage itself has been built with -O2
    copy_out "$1"
    find . -path ./common/cpu/lib -prune -o -type f -print | sort >"$BATS_TEST_TMPDIR/before"
    for room in "${rooms[@]}"; do
        try_make -C "$room" run
        ran+=$output$'\n'
        try_make --no-print-directory -C "$room" build
        assert_equal "${#lines[@]}" 1 # the device
        try_make -C "$room" clean
    done
    assert_same "$BATS_TEST_TMPDIR/before" <(find . -path ./common/cpu/lib -prune -o -type f -print | sort) 'what make clean leaves'
    output=$ran
    mapfile -t lines <<<"$ran"
}

# From here on the commands named are not on PATH, all others are: hide nvcc bats
hide() {
    local folder=$BATS_TEST_TMPDIR/all-but places place # of links: nothing may be written there
    mkdir -p "$folder"
    IFS=: read -ra places <<<"$PATH"
    for place in "${places[@]}"; do
        ln -s -t "$folder" "$place"/* 2>/dev/null || true # the first of a name wins, as on PATH
    done
    (cd "$folder" && rm -f "$@")
    PATH=$folder
}

# The names that a library offers, one a line. (The linker itself names the stand-in's section of device variables; and
# there functions of std:: are not always inlined.)
interface_of() {
    nm -D --defined-only "$1" | awk '$3 !~ /^__(start|stop)_cpu_cuda_|^_ZNK?St/ { print $3 }' | sort
}

# Fails if the dynamic section of the file names a place on this machine.
assert_no_absolute_path() {
    run readelf -d "$1"
    assert_success
    refute_output --partial '[/'
    refute_output --partial ':/'
}
