load helpers

STAGES=(01-hello-kernel 02-dlopen-from-c 03-cython-ctypes 04-gather)

settings() {
    [ "$TEST_BACKEND" = cpu ] || requires nvcc
    settings=(CFLAGS=-O0 PYTHON="$TEST_PYTHON" BACKEND="$TEST_BACKEND" ${NVCC:+NVCC="$NVCC"})
}

# A copy of stage 01 in which nothing is solved.
copy_unsolved() {
    copy_out 01-hello-kernel
    cd 01-hello-kernel || return 1
    rm -rf exercises/*.cu exercises/*.mine exercises/.tried
}

solve() {
    cp "exercises/solutions/$1.cu" exercises/
}

# What make says to the solution of guard, changed by a command of sed.
try_guard() {
    sed "$1" exercises/solutions/guard.cu >exercises/guard.cu
    try_make exercises EXERCISE=guard
}

# Whether a program of that name runs in this test's folder.
runs() {
    local process
    for process in $(pgrep -x "$1"); do
        [[ $(readlink "/proc/$process/cwd") != "$BATS_TEST_TMPDIR"/* ]] || return 0
    done
    return 1
}

# Waits until a file has a line.
wait_for() {
    for _ in {1..600}; do
        ! grep -q "$2" "$1" || return 0
        sleep 0.1
    done
    cat "$1"
    fail "no line with $2"
}

@test "exercises: the solutions pass; make exercises at the top asks for those of all stages" {
    settings
    rm -rf "$TOP"/0*/exercises/solutions/.tried/*/passed
    LIMIT=900 try make -C "$TOP" --no-print-directory exercises "${settings[@]}" ANSWERS=solutions
    assert_success
    assert_line --index 1 '01-hello-kernel'
    assert_line --index -1 --regexp '^([1-9][0-9]*) of \1 exercises pass$'
    try make -C "$TOP" --no-print-directory exercises "${settings[@]}" EXERCISE=nothing
    assert_failure
    assert_regex "$stderr" 'no such exercise: nothing; there are: element .* interface .* signature .* indices'
}

@test "exercises: wrong answers are refused, and the message names the cause; right ones in another style pass" {
    settings
    DOCTOR=$(env "${settings[@]}" "$TEST_PYTHON" "$TOP/common/doctor.py" make) # once, for all that is built
    local stage
    for stage in "${STAGES[@]}"; do
        LIMIT=900 try env "${settings[@]}" PY="$TEST_PYTHON" DOCTOR="$DOCTOR" \
            "$TEST_PYTHON" "$BATS_TEST_DIRNAME/exercises/refuse.py" "$TOP/$stage"
        assert_success
        assert_output --regexp '^([1-9][0-9]*) of \1 wrong answers are refused, and right ones pass$'
    done
}

@test "exercises: make exercises says which pass, which is next, and what is wrong with it; what has passed is not tried again" {
    copy_unsolved
    try_make exercises EXERCISE=element
    assert_failure
    local said=$output
    for page in README.md README.zh.md; do # what the pages show
        try_python SAID="$said" PAGE="exercises/$page" PYTHONPATH="$BATS_TEST_DIRNAME" <<'PROGRAM'
import os, re, sys
import pages
shown = re.search(r"```console\n\$ make exercises EXERCISE=element\n(.*?)```", open(os.environ["PAGE"]).read(), re.S)[1]
sys.exit(not pages.pattern_of(shown).fullmatch(os.environ["SAID"] + "\n"))
PROGRAM
        assert_success
    done
    solve element
    solve matrix
    sed '/rounds\|blocks = (n/d' exercises/solutions/guard.cu >exercises/guard.cu
    try_make exercises
    assert_failure
    assert_line --index 1 '01-hello-kernel'
    assert_line --index 2 '  passed   element'
    assert_line --index 3 '  not yet  guard    <- next'
    assert_line --index 4 '  passed   matrix'
    assert_line --index 5 '  to do    stride'
    assert_line '  to do    race' # a bug to be found is told to who asks for it
    assert_line --regexp '  wrong    x\[256\] of 1000: expected .*, came .* \(nobody has written to it\)'
    assert_line --partial '01-hello-kernel/exercises/README.md, guard'
    assert_line --index -1 '2 of 10 exercises pass'
    [ "${#lines[@]}" -lt 24 ] # one screen

    rm exercises/.tried/element/*/element_check # it is not built again
    try_make exercises EXERCISE=element
    assert_success
    assert_line --partial 'make compare EXERCISE=element'
    assert_line --index -1 '1 of 1 exercises pass'
    [ ! -e exercises/.tried/element/cpu/element_check ]
    echo >>exercises/element.cu # now it is
    CUDA_VISIBLE_DEVICES='' try make CFLAGS=-O0 PYTHON="$TEST_PYTHON" BACKEND=cpu exercises EXERCISE=element
    assert_success
    [ -e exercises/.tried/element/cpu/element_check ]

    { echo '#include "mine.cuh"' && cat exercises/solutions/element.cu; } >exercises/element.cu # a header of the learner's own
    for line in '' '#error mine' '// good'; do
        echo "$line" >exercises/mine.cuh
        try_make exercises EXERCISE=element
        if [[ $line == '#error'* ]]; then assert_failure; else assert_success; fi
    done

    try_make exercises EXERCISE=race
    assert_failure
    assert_line --regexp '^  stand-in race.cu:[0-9]+: kernel Largest has a race'

    try_make exercises EXERCISE=elment
    assert_failure
    assert_regex "$stderr" 'no such exercise: elment; there are: element guard'
    try_make exercises ANSWERS=nowhere
    assert_failure
    assert_regex "$stderr" 'ANSWERS: there is no folder .*nowhere'
}

@test "exercises: an answer that hangs, prints for ever, crashes, ends early, leaks or does not compile does not pass, and it is said why" {
    copy_unsolved
    sed 's|^    Scale<<<.*|    switch (atoi(getenv("CASE"))) { // compiled once\
    case 1: exit(0);\
    case 2: printf("passed\\n"), exit(0);\
    case 3: *(volatile int *)8 = 0;\
    case 4: abort();\
    case 5: for (volatile int i = 0;; i = i) continue;\
    case 6: for (;;) puts("for ever and ever");\
    case 7: exit(getchar() == EOF ? 7 : 0);\
    case 8: printf("%d", 777 / (atoi(getenv("CASE")) - 8));\
    }\
&|; 1i #include "mine.cuh"' exercises/solutions/guard.cu >exercises/guard.cu
    printf '#include <stdio.h>\n#include <stdlib.h>\n' >exercises/mine.cuh # a header of the learner's own
    sed -i 's/^SECONDS = .*/SECONDS = 3/' ../common/exercises/exercises.py
    # shellcheck disable=SC2016
    for case in '1|ended before the check was done' '2|ended before the check was done' '3|crashed, signal 11' \
        '4|signal 6' '5|it had not ended after 3 seconds' '6|it printed more than 2 MB' '7|stopped with an exception, or an error' \
        '8|a division by zero'; do
        CASE=${case%%|*} try_make exercises EXERCISE=guard
        assert_failure
        assert_output --partial "${case#*|}"
        assert_line --index -1 '0 of 1 exercises pass'
    done
    CASE=0 try_make exercises EXERCISE=guard # nothing of that: it passes
    assert_success
    try_guard 's|^    Scale<<<.*|    x = y;|'
    assert_failure
    assert_line --regexp '^  guard.cu:[0-9]+: error: .y. was not declared'
    try_guard 's|^    Scale<<<.*|    void more(float *); more(x);|'
    assert_line '  the function more(float*) is used, and nobody defines it'
    try_guard 's|^    Scale<<<.*|&\n    goto end;\n    int more = 1;\n    x += more;\nend:;|'
    assert_line --regexp '  goto jumps over the declaration of .?int more.?: declare it before the first goto'
    try_guard 's|x\[i\] = factor|int unused; x[i] = 2 + factor|'
    assert_line --regexp '^  warning  guard.cu:[0-9]+: warning: unused variable'
    try_guard 's|^    Scale<<<|    int *one; cudaMalloc(\&one, 4);\n&|' # a right result, and the stand-in complains
    assert_failure
    assert_line --regexp '^  stand-in never freed: [0-9]+ bytes of device memory'
    mkdir "it's mine" # a folder of one's own, in which a file is missing
    try_make exercises EXERCISE=guard ANSWERS="../it's mine"
    assert_output --partial 'there is no file guard.cu in '
    cp exercises/solutions/guard.cu "it's mine"
    try_make exercises EXERCISE=guard ANSWERS="../it's mine"
    assert_success
}

@test "exercises: where there is a GPU, the check runs there, too" {
    requires gpu
    copy_unsolved
    try_guard 's|^    Scale<<<|#ifndef __CPU_CUDA__\n    factor = 0;\n#endif\n&|'
    assert_failure
    assert_line '  on the GPU:'
    assert_line --regexp '^  wrong    x\[0\]'
}

@test "exercises: make reset, hint and compare" {
    copy_unsolved
    make -s reset EXERCISE=guard
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
    rm exercises/guard.cu.1.mine # a number is free, and nothing that was kept is written over
    echo '// mine again' >>exercises/guard.cu
    try make reset EXERCISE=guard
    assert_output 'guard.cu: what you wrote is now in guard.cu.1.mine'
    grep -qx '// mine' exercises/guard.cu.2.mine
    try make reset EXERCISE=guard # as it was: nothing to keep
    assert_output ''
    cmp exercises/guard.cu unsolved
    ln -s nowhere exercises/guard.cu.3.mine # links of one's own, which lead nowhere now
    rm exercises/guard.cu
    ln -s elsewhere exercises/guard.cu
    try make reset EXERCISE=guard
    assert_output 'guard.cu: what you wrote is now in guard.cu.4.mine'
    assert_equal "$(readlink exercises/guard.cu.3.mine exercises/guard.cu.4.mine | paste -sd' ')" 'nowhere elsewhere'
    try make -s hint EXERCISE=guard
    assert_line --index 0 'hint 1 of 2, from 01-hello-kernel/exercises/README.md, guard'
    assert_output --partial 'drops the remainder'
    LANG=zh_CN.UTF-8 LC_ALL='' try make -s hint EXERCISE=guard
    assert_line --index 0 'hint 2 of 2, from 01-hello-kernel/exercises/README.zh.md, guard'
    try make -s hint EXERCISE=guard # from the start again
    assert_line --index 0 --partial 'hint 1 of 2'
    try make -s compare EXERCISE=guard
    assert_line '+    if (i < n)'
    for what in reset hint compare; do
        try make $what
        assert_failure
        assert_regex "$stderr" "which one\? make $what EXERCISE=...; there are: element guard"
    done
}

@test "exercises: make watch goes on when a file is saved; Ctrl-C ends it and what it runs" {
    copy_unsolved
    settings
    solve element
    setsid env --default-signal=INT make "${settings[@]}" watch >watched 2>&1 3>&- &
    local group=$!
    wait_for watched 'until you save guard.cu'
    grep '^1 of 10 pass    01-hello-kernel, guard: to do' watched
    grep 'guard.cu, line [0-9]*: there your lines are missing' watched
    solve guard
    wait_for watched 'until you save matrix.cu'
    grep '^2 of 10 pass    01-hello-kernel, guard: passed' watched
    sed 's/matrix\[row/for (;;) &/' exercises/solutions/matrix.cu >exercises/matrix.cu
    for _ in {1..300}; do
        ! runs matrix_check || break
        sleep 0.1
    done
    runs matrix_check
    kill -INT -- -"$group"
    sleep 2
    ! kill -KILL -- -"$group" || fail 'it goes on'
    run runs matrix_check
    assert_failure
    run grep Traceback watched
    assert_failure
}

@test "exercises: an answer that has passed is tried again after a change of anything that it is judged by" {
    cd "$TOP" || return 1
    copy_out 01-hello-kernel
    try_python PYTHONPATH=common/exercises <<'PROGRAM'
import pathlib
import exercises

stage = pathlib.Path("01-hello-kernel")
answers = stage / "exercises"
exercises.put(stage, "element")
(answers / "mine.h").touch(), (answers / "mine.cuh").touch()
passed = exercises.key_of(stage, "element", answers)
for file in (answers / "element.cu", answers / "mine.h", answers / "mine.cuh", answers / "checks/element_check.cu",
             *(pathlib.Path("common") / name for name in ("check.h", "exercises/exercise.cuh", "exercises/exercises.py", "cpu/runtime/launch.c", "cpu/nvcc"))):
    before = file.read_bytes()
    file.write_bytes(before + b"\n")
    assert exercises.key_of(stage, "element", answers) != passed, file
    file.write_bytes(before)
assert exercises.key_of(stage, "element", answers) == passed, "as it was"
PROGRAM
    assert_success
}
