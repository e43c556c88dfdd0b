load helpers

STAGES=(01-hello-kernel 02-dlopen-from-c 03-cython-ctypes 04-gather)

# The programs beside this file build by themselves: with the backend and the Python that are tested.
try_exercises() {
    [ "$TEST_BACKEND" = cpu ] || requires nvcc
    local settings=(CFLAGS=-O0 PY="$TEST_PYTHON" BACKEND="$TEST_BACKEND")
    [ -z "${NVCC:-}" ] || settings+=(NVCC="$NVCC" NVCC_FOLDER="$(dirname "$(command -v "$NVCC")")")
    DOCTOR=$(env "${settings[@]}" "$TEST_PYTHON" "$TOP/common/doctor.py" make) # once, for all that is built
    LIMIT=900 try env "${settings[@]}" DOCTOR="$DOCTOR" "$TEST_PYTHON" "$BATS_TEST_DIRNAME/exercises/$1" "${@:2}"
}

# A copy of stage 01 in which nothing is solved.
copy_unsolved() {
    copy_out 01-hello-kernel
    cd 01-hello-kernel || return 1
    local name
    while read -r name; do
        make -s reset EXERCISE="$name" >/dev/null
    done < <(sed -n 's/^## [0-9]*\. \([a-z_]*\):.*/\1/p' exercises/README.md)
    rm -f exercises/*.mine
}

solve() {
    cp "exercises/solutions/$1.cu" exercises/
}

# for_each_stage PROGRAM LAST_LINE STAGE...
for_each_stage() {
    local stage
    for stage in "${@:3}"; do
        try_exercises "$1" "$TOP/$stage"
        assert_success
        assert_line --index -1 --regexp "$2"
        assert_equal "${#lines[@]}" 1
    done
}

@test "exercises: solutions pass; skeletons are solutions less the marked lines, compile, and are refused as the pages show" {
    for_each_stage solved_and_unsolved.py '^[4-9] exercises$' "${STAGES[@]}"
}

@test "exercises: wrong answers are refused, and the message names the cause" {
    local stages=(01-hello-kernel) # one answer for each of its exercises; make test-all: all answers, of all stages
    [ "${WRONG_ANSWERS:-}" != all ] || stages=("${STAGES[@]}")
    for_each_stage refuse.py '^([0-9]+) of \1 wrong answers are refused, and right ones pass$' "${stages[@]}"
}

@test "exercises: make exercises at the top asks for those of all stages" {
    [ "$TEST_BACKEND" = cpu ] || requires nvcc
    local settings=(CFLAGS=-O0 PYTHON="$TEST_PYTHON" BACKEND="$TEST_BACKEND" ${NVCC:+NVCC="$NVCC"} ANSWERS=solutions)
    try make -C "$TOP" --no-print-directory exercises "${settings[@]}" EXERCISE=pointer
    assert_success
    assert_line --index 1 '02-dlopen-from-c'
    assert_line --index -1 '1 of 1 exercises pass'
    try make -C "$TOP" --no-print-directory exercises "${settings[@]}" EXERCISE=nothing
    assert_failure
    assert_regex "$stderr" 'no such exercise: nothing; there are: element .* interface .* signature .* clip'
}

@test "exercises: make exercises says which pass, which is next, and what is wrong with it" {
    copy_unsolved
    solve element
    solve matrix
    try_make exercises
    assert_failure
    assert_line --index 1 '01-hello-kernel'
    assert_line --index 2 '  passed   element'
    assert_line --index 3 '  not yet  guard    <- next'
    assert_line --index 4 '  passed   matrix'
    assert_line '  wrong    x[0] of 256: expected 3, came 1'
    assert_line --partial '01-hello-kernel/exercises/README.md, guard'
    refute_line --partial 'stride:'
    assert_line --index -1 '2 of 7 exercises pass'
    [ "${#lines[@]}" -lt 24 ] # one screen

    try_make exercises EXERCISE=element
    assert_success
    assert_line --index -1 '1 of 1 exercises pass'
    try_make exercises EXERCISE=elment
    assert_failure
    assert_regex "$stderr" 'no such exercise: elment; there are: element guard'
    try_make exercises ANSWERS=nowhere
    assert_failure
    assert_regex "$stderr" 'ANSWERS: there is no folder .*nowhere'
}

@test "exercises: a file of the answer that is gone is gone for the check, too" {
    copy_unsolved
    echo 'const int THREADS = 256;' >exercises/guard_more.cuh
    sed 's/^const int THREADS.*/#include "guard_more.cuh"/' exercises/solutions/guard.cu >exercises/guard.cu
    try_make exercises EXERCISE=guard
    assert_success
    rm exercises/guard_more.cuh
    echo >>exercises/guard.cu
    try_make exercises EXERCISE=guard
    assert_failure
    assert_output --partial 'does not compile'
}

@test "exercises: an answer that hangs, crashes, ends early or does not compile does not pass" {
    copy_unsolved
    sed 's|^    Scale<<<.*|    switch (atoi(getenv("CASE"))) { // compiled once\
    case 1: exit(0);\
    case 2: printf("passed\\n"), exit(0);\
    case 3: *(volatile int *)8 = 0;\
    case 4: abort();\
    case 5: for (volatile int i = 0;; i = i) continue;\
    }\
&|' exercises/solutions/guard.cu >exercises/guard.cu
    sed -i 's/^SECONDS = .*/SECONDS = 3/' ../common/exercises.py
    # shellcheck disable=SC2016
    for case in '1|ended before the check was done' '2|ended before the check was done' '3|crashed, signal 11' \
        '4|signal 6' '5|it has not ended after 3 seconds'; do
        CASE=${case%%|*} try_make exercises EXERCISE=guard
        assert_failure
        assert_output --partial "${case#*|}"
        assert_line --index -1 '0 of 1 exercises pass'
    done
    CASE=0 try_make exercises EXERCISE=guard # nothing of that: it passes
    assert_success
    sed 's|^    Scale<<<.*|    x = y;|' exercises/solutions/guard.cu >exercises/guard.cu
    try_make exercises EXERCISE=guard
    assert_failure
    assert_output --partial 'does not compile'
}

@test "exercises: a right result that the stand-in complains about does not pass" {
    copy_unsolved
    sed 's|^    Scale<<<|    int *one; cudaMalloc(\&one, 4);\n&|' exercises/solutions/guard.cu >exercises/guard.cu
    try make CFLAGS=-O0 PYTHON="$TEST_PYTHON" BACKEND=cpu exercises EXERCISE=guard
    assert_failure
    assert_line --regexp '^  stand-in never freed: [0-9]+ bytes of device memory'
}

@test "exercises: make reset brings one back, and keeps what was written" {
    copy_unsolved
    cp exercises/guard.cu unsolved
    solve guard
    try make reset EXERCISE=guard
    assert_success
    assert_output 'guard.cu: what you wrote is now in guard.cu.1.mine'
    cmp exercises/guard.cu.1.mine exercises/solutions/guard.cu
    cmp exercises/guard.cu unsolved
    echo '// mine' >>exercises/guard.cu
    try make reset EXERCISE=guard
    assert_output 'guard.cu: what you wrote is now in guard.cu.2.mine'
    try make reset EXERCISE=guard # as it was: nothing to keep
    assert_output ''
    try make reset
    assert_failure
    assert_regex "$stderr" 'which one\? make reset EXERCISE=...; there are: element guard'
    cmp exercises/guard.cu unsolved
}

@test "exercises: on a GPU, what passes is looked at by the tools that the check names, and each complaint counts" {
    cd "$BATS_TEST_TMPDIR" || return 1
    mkdir bin room
    echo '// On a GPU also: compute-sanitizer --tool racecheck, compute-sanitizer --tool memcheck' >room/one_check.cuh
    cat >bin/compute-sanitizer <<'SANITIZER'
#!/bin/sh
[ "$2" = "$COMPLAINS" ] || exit 0
echo "========= Invalid __global__ read of size 4 bytes, arrays exact: $EXACT_ARRAYS"
exit 99
SANITIZER
    chmod +x bin/compute-sanitizer
    for tool in memcheck racecheck none; do
        try_python PATH="$PWD/bin:$PATH" COMPLAINS=$tool COMMON="$TOP/common" <<'PROGRAM'
import os, pathlib, sys
sys.path.insert(0, os.environ["COMMON"])
import exercises
print(*exercises.sanitize(pathlib.Path("room"), ["true"], ""), os.environ.get("EXACT_ARRAYS"))
PROGRAM
        assert_success
        if [ $tool = none ]; then
            assert_output None
        else
            assert_output "  $tool Invalid __global__ read of size 4 bytes, arrays exact: yes None"
        fi
    done
    rm bin/compute-sanitizer
    try_python PATH="$PWD/bin" COMMON="$TOP/common" <<'PROGRAM'
import os, pathlib, sys
sys.path.insert(0, os.environ["COMMON"])
import exercises
print(*exercises.sanitize(pathlib.Path("room"), ["true"], ""))
PROGRAM
    assert_output --partial 'racecheck has not looked at it: compute-sanitizer, of the CUDA Toolkit, is missing'
}
