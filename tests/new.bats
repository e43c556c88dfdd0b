load helpers
export LIMIT=300 # seconds: a package is built anew, at times while other things run

# make new, at the top: a package of one's own.
try_new() {
    try make -s -C "${REPOSITORY:-$TOP}" --no-print-directory new PYTHON="$TEST_PYTHON" "$@"
}

@test "new: a NAME or a DIR that cannot be is refused in one line, and nothing is written" {
    mkdir -p "$BATS_TEST_TMPDIR/home/there"
    cd "$BATS_TEST_TMPDIR/home" || return 1
    local name refused
    while IFS='|' read -r name refused; do
        FAILS=yes HOME=$PWD try_new NAME="$name"
        assert_equal "${stderr%%$'\n'*}" "NAME=$name: $refused"
    done <<'NAMES'
|small letters, digits and _, beginning with a letter, as in NAME=moving_average
my-op|small letters, digits and _, beginning with a letter, as in NAME=moving_average
a b|small letters, digits and _, beginning with a letter, as in NAME=moving_average
it's|small letters, digits and _, beginning with a letter, as in NAME=moving_average
2x|small letters, digits and _, beginning with a letter, as in NAME=moving_average
Blur|small letters, digits and _, beginning with a letter, as in NAME=moving_average
import|this word has a meaning in Python or Cython
int|this word has a meaning in Python or Cython
include|this word has a meaning in Python or Cython
numpy|there is a Python module of this name
cython|there is a Python module of this name
email|there is a Python module of this name
check|the package uses this name itself
x|the package uses this name itself
columns|the package uses this name itself
NAMES
    try_new NAME=softmax DIR="$PWD/softmax" # a word of the READMEs alone
    rm -r softmax
    FAILS=yes LC_ALL=C PYTHONCOERCECLOCALE=0 PYTHONUTF8=0 try_new NAME=blur FROM=columns
    assert_equal "${stderr%%$'\n'*}" 'FROM=columns: rows, window, or nothing'
    FAILS=yes try_new NAME=blur DIR="$PWD/there"
    assert_equal "${stderr%%$'\n'*}" "$PWD/there is there already"
    HOME=$PWD FAILS=yes try_new NAME=blur DIR='~/there' # as a shell hands it over that does not know it for a path
    assert_equal "${stderr%%$'\n'*}" "$PWD/there is there already"
    FAILS=yes try_new NAME=blur DIR="$TOP/blur"
    assert_equal "${stderr%%$'\n'*}" "$TOP/blur is inside the tutorial's own folder: name another, DIR=~/blur"
    FAILS=yes try_new NAME=blur DIR=/proc/blur
    assert_regex "$stderr" '/proc/blur cannot be written: '
    # no room in the middle of it: of what was begun nothing stays
    FAILS=yes try bash -c "ulimit -f 8 && make -s -C '$TOP' --no-print-directory new PYTHON='$TEST_PYTHON' NAME=blur DIR='$PWD/blur'"
    assert_regex "${stderr%%$'\n'*}" "/blur cannot be written: .*File too large"
    run find .
    assert_output $'.\n./there'
}

@test "new: from a repository that has been used, the package is as from a new one" {
    LC_ALL=C PYTHONCOERCECLOCALE=0 PYTHONUTF8=0 try_new NAME=blur DIR="$BATS_TEST_TMPDIR/first"
    grep -q '^# blur$' "$BATS_TEST_TMPDIR/first/README.zh.md" # the Chinese page too, where no locale can read it
    copy_out 04-gather LICENSE Makefile
    cd 04-gather/template || return 1
    local left
    while IFS= read -r left; do # what its .gitignore names
        mkdir -p "./$left" "src/axpy/${left#/}"
        printf '\377' | tee "./$left/left" >"src/axpy/${left#/}/left"
    done <.gitignore
    try make -s -C "$COPY" --no-print-directory new PYTHON="$TEST_PYTHON" NAME=blur DIR="$BATS_TEST_TMPDIR/second"
    assert_equal "$(cd "$BATS_TEST_TMPDIR" && diff -r first second)" ''
}

@test "new: what pip could not install is not tested" {
    try_new NAME=blur DIR="$BATS_TEST_TMPDIR/it's/blur"
    cd "$BATS_TEST_TMPDIR/it's/blur" || return 1
    mkdir .venv
    touch .venv/tools
    program python 'case $* in *pip*) echo no compiler; exit 1;; esac'
    FAILS=yes try make test PY=./python BACKEND=cpu
    assert_equal "$output" ''
    assert_regex "$stderr" 'no compiler'
    rm .venv/tools # now it is a .venv, and a dist, of one's own
    mkdir dist build
    touch {.venv,dist,build}/own
    FAILS=yes try make test BACKEND=cpu
    assert_equal "${stderr%%$'\n'*}" 'make would write over .venv, which it has not made: rename it'
    try make clean
    [ -e .venv/own ] && [ -e dist/own ] && [ -e build/own ]
}

# package [NAME FROM]: the package heat_step, made, built and tested once for the tests that follow: goes there.
package() {
    local name=${1:-heat_step}
    "$TEST_PYTHON" -c 'import scikit_build_core, cmake, ninja, cython_cmake, pytest' 2>/dev/null ||
        skip "needs tools: .venv/bin/python -m pip install scikit-build-core cmake ninja cython-cmake pytest"
    # The tools of .venv are there for it too; else pip would fetch them.
    PYTHONPATH=$("$TEST_PYTHON" -c 'import cmake, os; print(os.path.dirname(os.path.dirname(cmake.__file__)))')
    export PYTHONPATH PIP_NO_INDEX=1 BACKEND=$TEST_BACKEND PYTHON=$TEST_PYTHON
    PACKAGE=$BATS_FILE_TMPDIR/'a ü'/$name
    [ -e "$PACKAGE" ] || HOME=${PACKAGE%/*} try_new NAME="$name" FROM="${2:-}"
    cd "$PACKAGE" || return 1
    [ -e .venv/tools ] || try make test
}

# What pytest says at the end, as a regular expression: on the stand-in; on a GPU, without libraries that have arrays there,
# and with CuPy, JAX and PyTorch.
says() {
    if [ "$TEST_BACKEND" = cpu ]; then assert_line --regexp "^$1 in "; else assert_line --regexp "^$2 in "; fi
}

@test "new: the package of another name is built, and its tests pass, without a network; they see a wrong kernel" {
    package
    run grep -ri axpy . --exclude-dir=vendor
    assert_output ''
    run grep -rP '\]\((?!https://)' --include=*.md . # links to what is not here
    assert_output ''
    local settings
    for settings in "CUDACXX=$TOP/common/cpu/nvcc" "PATH=$TOP/common/cpu:$PATH"; do # the stand-in is no nvcc for a GPU
        try env -u CUDACXX "$settings" "$TEST_PYTHON" -B backend.py
        assert_output ''
        FAILS=any try env -u CUDACXX BACKEND=cuda "$settings" "$TEST_PYTHON" -B backend.py # then another one, or none
        [ "$status" -eq 1 ] || [[ $output = /*nvcc && $output != "$TOP"/* ]]
    done
    cat >src/heat_step/second.cu <<'KERNEL' # another .cu
__global__ void Set(int *two)
{
    *two = 2;
}
extern "C" __attribute__((visibility("default"))) int second(void)
{
    int two = 0, *d_two;
    cudaMalloc(&d_two, sizeof two);
    Set<<<1, 1>>>(d_two);
    cudaMemcpy(&two, d_two, sizeof two, cudaMemcpyDeviceToHost);
    cudaFree(d_two);
    return two;
}
KERNEL
    mkdir ../no_network # as without a network
    cp -r Makefile pyproject.toml backend.py ../no_network
    FAILS=yes try env PYTHONPATH= PIP_FIND_LINKS= BACKEND=cpu make -s -C ../no_network test
    assert_equal "${stderr%%$'\n'*}" 'No matching distribution found for scikit-build-core: is there a network?'
    try make test
    says '1(8 passed, 1 skipped|9 passed)' '1(5 passed, 6|9 passed, 2) skipped'
    try env CUDA_VISIBLE_DEVICES= .venv/bin/python -c 'import heat_step as m; print(m.available(), m.why_not())'
    assert_output 'False cudaErrorNoDevice: no CUDA-capable device is detected'
    local library=(.venv/lib/python*/site-packages/heat_step/libheat_step.so)
    try .venv/bin/python -c 'import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).second())' "${library[0]}"
    assert_output 2
    assert_no_absolute_path "${library[0]}"
    refute_output --partial /../
    if [ "$TEST_BACKEND" = cpu ]; then
        assert_equal "$(.venv/bin/python -c 'import importlib.metadata as m; print(m.version("heat_step"))')" 0.1.0+cpu
    fi
}

# sees_what_is_wrong NAME FROM SAYS...: the tests of this package pass, and see each mistake of stdin: FILE|sed command.
sees_what_is_wrong() {
    package "$1" "$2"
    run grep -ri 'axpy\|a \* x' . --exclude-dir=vendor
    assert_output ''
    try make test
    says "$3" "$4"
    cp -r src right
    local file wrong
    while IFS='|' read -r file wrong; do
        sed -i "$wrong" "src/$1/$file"
        ! cmp -s "src/$1/$file" "right/$1/$file"
        FAILS=yes try make test
        assert_output --regexp '[0-9]+ failed'
        cp "right/$1"/* "src/$1"
    done
}

@test "new: FROM=rows starts from an operation on rows, whose tests pass, and see what is wrong" {
    sees_what_is_wrong row_mean rows '3(4 passed, 1 skipped|5 passed)' '3(1 passed, 6|5 passed, 2) skipped' <<'WRONG'
row_mean.cu|/part.0. /s/columns/columns * 1.00001f/
_row_mean.pyx|s/if out_shape != /if False and out_shape != /
WRONG
}

@test "new: FROM=window starts from an operation on neighbours and weights, whose tests pass, and see what is wrong" {
    sees_what_is_wrong smooth window '3(2 passed, 1 skipped|3 passed)' '(29 passed, 6|33 passed, 2) skipped' <<'WRONG'
smooth.cu|s/k = 0; k < m/k = 1; k < m/
smooth.cu|s/(n - m + 1) \* sizeof/(n - m) * sizeof/
_smooth.pyx|s/if out_begin </if False and out_begin </
_smooth.pyx|s/begin < out_begin + .*:/begin == out_begin:/
WRONG
}

@test "new: whichever CUDA call fails of the package's functions, an exception comes and nothing stays" {
    requires stand-in
    package
    cd "$TOP/04-gather/fast" || return 1
    EXPECTED=cudaSetDevice TEST_PYTHON=$PACKAGE/.venv/bin/python agrees new/failing_calls PYTHONPATH="$PYTHONPATH:.:$BATS_TEST_DIRNAME"
}

# Each place is at the line that the page says.
change() {
    run patch -p0 <"$1"
    assert_success
    refute_output --partial offset
}

@test "new: the page's port, step by step; another stand-in beside the first; installed, it needs none; a wrong kernel is seen" {
    package
    # The page's port: after the tests' change the kernel is wrong, after all of it nothing is.
    awk '/^```diff/ { n++; on = 1; next } /^```/ { on = 0 } on { print >"port" n }' "$TOP/04-gather/PORT.md"
    change port1
    FAILS=yes try make test
    assert_output --partial 'FAILED tests/test_heat_step.py::test_sizes[1]'
    change port2
    FAILS=yes try make test
    says '2 failed, 1(7 passed, 1 skipped|8 passed), 1 error' '[1-4] failed, .*'
    change port3
    # Another stand-in is put beside the first one, which is not even looked at; and once it is installed, none is needed.
    cp -r "$TOP/common/cpu" "$BATS_TEST_TMPDIR"
    sed -i 's/^VERSION = .*/VERSION = "0.99"/' "$BATS_TEST_TMPDIR/cpu/nvcc"
    truncate -s 0 vendor/*.whl
    "$TEST_PYTHON" "$BATS_TEST_TMPDIR/cpu/build_wheel.py" vendor
    export LC_ALL=C.UTF-8 # Python reads this folder's name from a file
    try .venv/bin/python -m pip install -q --no-build-isolation --no-deps -e .
    mv vendor gone
    cd /
    try "$OLDPWD/.venv/bin/python" -m pytest -q "$OLDPWD/tests"
    cd "$OLDPWD" || return 1
    mv gone vendor
    says '(19 passed, 1 skipped|20 passed)' '(16 passed, 6|20 passed, 2) skipped'
    # A kernel without its check: what the stand-in says is seen, also where pytest reads sources while nothing works any more.
    [ "$TEST_BACKEND" = cpu ] || return 0
    sed -i 's/i < n - 1/true/' src/heat_step/heat_step.cu
    FAILS=yes try make test
    assert_output --regexp 'heat_step\.cu:[0-9]+: kernel heat_step_kernel reads 4 bytes out of bounds, right after the end of an allocation'
}
