load helpers

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
    cp "exercises/$1/$1.cu" exercises/
}

# What make says to the solution of guard, changed by a command of sed.
try_guard() {
    sed "$1" exercises/guard/guard.cu >exercises/guard.cu
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

@test "exercises: all are as make exercises-check wants them; make exercises at the top asks for those of all stages" {
    settings
    [ "${SLOW:-}" = 1 ] || export SHARE=0.07 # a dozen
    LIMIT=1800 try make -C "$TOP" --no-print-directory exercises-check "${settings[@]}"
    assert_line --index -1 --regexp '^[1-9][0-9]* exercises, [1-9][0-9]* answers, 0 faults$'
    FAILS=yes try make -C "$TOP" --no-print-directory exercises "${settings[@]}" EXERCISE=nothing
    assert_regex "$stderr" 'no such exercise: nothing; there are: element .* interface .* signature .* scatter'
}

# Changes files of a new exercise, all at once, and looks whether make exercises-check names the fault of each. The lines
# on standard input: file~command of sed, if another one has not made the fault~words of the fault
names_each_fault() {
    local file command words faults=()
    rm -rf exercises
    cp -r ../well exercises
    while IFS='~' read -r file command words; do
        sed -i "$command" "exercises/$file"
        faults+=("$words")
    done
    FAILS=yes try_make exercises-check
    for words in "${faults[@]}"; do
        assert_line --partial "course, twice: $words"
    done
    assert_line --index -1 --partial ", ${#faults[@]} faults" # and nothing else
}

@test "exercises: a new one of a teacher's own, elsewhere: make exercises-check names what is to be filled in, and each fault" {
    copy_out 01-hello-kernel
    mkdir -p ../course/exercises
    echo '# 练习' >../course/exercises/README.zh.md
    try "$TEST_PYTHON" common/exercises/develop.py new ../course twice
    FAILS=yes try "$TEST_PYTHON" common/exercises/develop.py new ../course twice
    assert_equal "$stderr" '../course/exercises/twice is there already'
    cd ../course || return 1
    echo '[twice](exercises/README.md#twice-the-title)' >README.md # a lesson
    FAILS=yes try_make exercises-check
    for todo in 'twice.cu: TODO: what the kernel does.' 'answers.txt: TODO: a mistake' 'README.md: TODO: the task' 'README.zh.md: TODO：题目'; do
        assert_line --partial "course, twice: $todo"
    done
    refute_line --partial 'but' # the answers are as they should be
    sed -i 's/TODO\(: *\|：\)//g' exercises/README*.md exercises/twice/*
    try_make exercises-check
    assert_line --index -1 '1 exercises, 5 answers, 0 faults'
    FAILS=yes try_make exercises
    assert_line --regexp '^  to do    twice.cu, line [0-9]+: there your lines are missing'

    rm -r exercises/.tried exercises/twice.cu
    mv exercises ../well
    names_each_fault <<'EOF'
README.md~s/Goal:/goal/~README.md: there is no goal
README.md~s/`twice.cu`/a file/~README.md: the file `twice.cu` is not named
README.md~/details>/d~README.md: there is no hint
README.md~s/You have learned//~README.md: there is no lesson, **
README.md~s/the title/another/~README.md: no lesson has a link to exercises/README.md#twice-another
README.zh.md~/^## /d~README.zh.md: there is no section
twice/twice.cu~s/2 . x/1 + 2 * x/~the solution: it has to pass, but
twice/answers.txt~~no guard: the refusal does not say out of bounds, but
EOF
    names_each_fault <<'EOF'
twice/twice_check.cu~/expect[_(]/d~the unsolved file: it passes, but has to be refused
twice/answers.txt~~a mistake that learners make: it passes, but has to be refused
twice/answers.txt~~one thread for all: it passes, but has to be refused
twice/answers.txt~s/-> out of bounds/-> a race/~no guard: the refusal does not say a race
EOF
    names_each_fault <<<'twice/answers.txt~s/2 . x/7 * x/~answers.txt: a mistake that learners make: the solution has no'
}

@test "exercises: make exercises says which pass, which is next, and what is wrong with it" {
    copy_unsolved
    FAILS=yes try_make exercises EXERCISE=element
    local said=$output
    for page in README.md README.zh.md; do # what the pages show
        try_python SAID="$said" PAGE="exercises/$page" PYTHONPATH="$BATS_TEST_DIRNAME" <<'PROGRAM'
import os, re, sys
import pages
shown = re.search(r"```console\n\$ make exercises EXERCISE=element\n(.*?)```", open(os.environ["PAGE"]).read(), re.S)[1]
sys.exit(not pages.pattern_of(shown).fullmatch(os.environ["SAID"] + "\n"))
PROGRAM
    done
    solve element
    solve matrix
    sed '/rounds\|blocks = (n/d' exercises/guard/guard.cu >exercises/guard.cu
    FAILS=yes try_make exercises
    assert_line --index 1 '01-hello-kernel'
    for line in '  passed   element' '  not yet  guard    <- next' '  passed   matrix' '  to do    five_steps'; do
        assert_line "$line"
    done
    # in the order of the page
    assert_equal "$(sed -En 's/^  (passed|not yet|to do) +([a-z_]+)( +<- next)?$/\2/p' <<<"$output")" "$(sed -n 's/^## \(.*\): .*/\1/p' exercises/README.md)"
    assert_line '  to do    race' # a bug to be found is told to who asks for it
    assert_line --regexp '  wrong    x\[256\] of 1000: expected .*, got .* \(nobody has written to it\)'
    assert_line --partial '01-hello-kernel/exercises/README.md, guard'
    assert_line --index -1 --regexp '^2 of [0-9]+ exercises pass'
    [ "${#lines[@]}" -lt 24 ] # one screen
    FAILS=yes try_make exercises EXERCISE=elment
    assert_regex "$stderr" 'no such exercise: elment; there are: element guard'
    FAILS=yes try_make exercises ANSWERS='no where'
    assert_regex "$stderr" 'ANSWERS: there is no folder .*/no where'
    FAILS=yes try make -C "$TOP" exercises ANSWERS='no where'
    assert_regex "$stderr" "ANSWERS: there is no folder $TOP/no where"
}

@test "exercises: what has passed is not tried again, until one of its files changes; a build that is broken is built anew" {
    copy_unsolved
    solve element
    try_make exercises EXERCISE=element
    [ ! -L exercises/.tried/element/cpu/.top ]  # a copy that follows links would copy the whole repository
    rm exercises/.tried/element/*/element_check # it is not built again
    try_make exercises EXERCISE=element
    assert_line --partial 'make compare EXERCISE=element'
    assert_line --index -1 '1 of 1 exercises pass'
    [ ! -e exercises/.tried/element/cpu/element_check ]
    echo >>exercises/element.cu # now it is
    CUDA_VISIBLE_DEVICES='' try make CFLAGS=-O0 PYTHON="$TEST_PYTHON" BACKEND=cpu exercises EXERCISE=element
    [ -e exercises/.tried/element/cpu/element_check ]

    { echo '#include "mine.cuh"' && cat exercises/element/element.cu; } >exercises/element.cu # a header of the learner's own
    for line in '' '#error mine' '// good'; do
        echo "$line" >exercises/mine.cuh
        FAILS=any try_make exercises EXERCISE=element
        if [[ $line == '#error'* ]]; then assert_failure; else assert_success; fi
    done

    FAILS=yes try_make exercises EXERCISE=race
    assert_line --regexp '^  stand-in race.cu:[0-9]+: kernel Largest has a race'

    echo broken >exercises/.tried/race/cpu/race_check # newer than its sources
    FAILS=yes try_make exercises EXERCISE=race
    assert_line --regexp '^  stand-in race.cu:[0-9]+: kernel Largest has a race'
    (cd exercises/.tried/race/cpu && echo 'of another machine' >race_check && sha256sum race_check >.made/race_check)
    FAILS=yes try_make exercises EXERCISE=race
    assert_line --regexp '^  wrong    ./race_check cannot be started: Exec format error'
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
    case 9: for (;;) fputs("for ever and ever", stderr);\
    case 10: atexit([] { fflush(stdout), _Exit(10); }); break; // when all is done\
    case 7: exit(getchar() == EOF ? 7 : 0);\
    case 8: printf("%d", 777 / (atoi(getenv("CASE")) - 8));\
    }\
&|; 1i #include "mine.cuh"' exercises/guard/guard.cu >exercises/guard.cu
    printf '#include <stdio.h>\n#include <stdlib.h>\n' >exercises/mine.cuh # a header of the learner's own
    sed -i 's/^SECONDS = .*/SECONDS = 3/' ../common/exercises/exercises.py
    # shellcheck disable=SC2016
    for case in '1|ended before the check was done' '2|ended before the check was done' '3|crashed, signal 11' \
        '4|signal 6' '5|it had not ended after 3 seconds' '6|it printed more than 2 MB' '7|stopped with an exception, or an error' \
        '8|a division by zero' '9|it printed more than 2 MB' '10|stopped with an exception, or an error'; do
        FAILS=yes CASE=${case%%|*} try_make exercises EXERCISE=guard
        assert_output --partial "${case#*|}"
        assert_line --index -1 '0 of 1 exercises pass'
    done
    CASE=0 try_make exercises EXERCISE=guard # nothing of that: it passes
    FAILS=yes try_guard 's|^    Scale<<<.*|    x = y;|'
    assert_line --regexp '^  guard.cu:[0-9]+: error: .y. was not declared'
    FAILS=yes try_guard 's|^    Scale<<<.*|    void more(float *); more(x);|'
    assert_line '  the function more(float*) is used, and nobody defines it'
    FAILS=yes try_guard 's|^    Scale<<<.*|&\n    goto end;\n    int more = 1;\n    x += more;\nend:;|'
    assert_line --regexp '  goto jumps over the declaration of .?int more.?: declare it before the first goto'
    FAILS=yes try_guard 's|x\[i\] = factor|int unused; x[i] = 2 + factor|'
    assert_line --regexp '^  warning  guard.cu:[0-9]+: warning: unused variable'
    FAILS=yes try_guard 's|^    Scale<<<|    int *one; cudaMalloc(\&one, 4);\n&|' # a right result, and the stand-in complains
    assert_line --regexp '^  stand-in never freed: [0-9]+ bytes of device memory'
    mkdir "it's mine" # a folder of one's own, in which a file is missing
    FAILS=yes try_make exercises EXERCISE=guard ANSWERS="it's mine"
    assert_line '  to do    guard    <- next'
    assert_line --regexp "^  to do    there is no file guard.cu in /.*/it's mine"
    cp exercises/guard/guard.cu "it's mine"
    try_make exercises EXERCISE=guard ANSWERS="it's mine"
}

@test "exercises: where there is a GPU, the check runs there, too" {
    requires gpu
    copy_unsolved
    FAILS=yes try_guard 's|^    Scale<<<|#ifndef __CPU_CUDA__\n    factor = 0;\n#endif\n&|'
    assert_line '  on the GPU:'
    assert_line --regexp '^  wrong    x\[0\]'
}

@test "exercises: make reset, hint and compare" {
    copy_unsolved
    make -s reset EXERCISE=guard
    cp exercises/guard.cu unsolved
    solve guard
    try make reset EXERCISE=guard
    assert_output 'guard.cu: what you wrote is now in guard.cu.1.mine'
    cmp exercises/guard.cu.1.mine exercises/guard/guard.cu
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
    LANG=zh_CN.UTF-8 LC_ALL=C try make -s hint EXERCISE=guard # from the start again; LC_ALL comes before LANG
    assert_line --index 0 'hint 1 of 2, from 01-hello-kernel/exercises/README.md, guard'
    try make -s hint EXERCISE=guard
    assert_line --index 0 --partial 'hint 2 of 2'
    try make -s hint EXERCISE=guard # from the start again
    assert_line --index 0 --partial 'hint 1 of 2'
    sed -i '/^## guard/d' exercises/README.zh.md # an exercise that this page lacks
    LANG=zh_CN.UTF-8 LC_ALL='' try make -s hint EXERCISE=guard
    assert_line --index 0 'hint 2 of 2, from 01-hello-kernel/exercises/README.md, guard'
    sed -i '/details>/d' exercises/README.md
    FAILS=yes try make -s hint EXERCISE=guard
    assert_regex "$stderr" 'there are no hints in 01-hello-kernel/exercises/README.md, guard'
    try make -s compare EXERCISE=guard
    assert_line '+    if (i < n)'
    for what in reset hint compare; do
        FAILS=yes try make $what
        assert_regex "$stderr" "which one\? make $what EXERCISE=...; there are: element guard"
    done
}

@test "exercises: a file that is as it was put is renewed when its solution changes; a learner's lines stay" {
    copy_unsolved
    make -s reset EXERCISE=guard
    echo '// mine' >>exercises/matrix.cu
    cp exercises/matrix.cu mine
    sed -i '1s/$/ Renewed./' exercises/{guard/guard,matrix/matrix}.cu
    make -s hint EXERCISE=guard
    run diff exercises/guard.cu <(sed '/YOUR LINES, about/,/END OF YOUR LINES/{/YOUR LINES/!d}' exercises/guard/guard.cu)
    assert_success
    cmp exercises/matrix.cu mine
    FAILS=yes try_make exercises EXERCISE=guard
    assert_line '  to do    guard    <- next'
}

@test "exercises: make watch goes on when a file is saved; Ctrl-C ends it and what it runs" {
    copy_unsolved
    settings
    for folder in . "$TOP"; do # make -n only says what it would do
        try make -C "$folder" -n "${settings[@]}" watch
        assert_output --partial 'exercises.py'
        refute_output --partial 'until you save'
    done
    solve element
    setsid env --default-signal=INT make "${settings[@]}" watch >watched 2>&1 3>&- &
    local group=$!
    wait_for watched 'until you save guard.cu'
    grep '^1 of [0-9]* pass    01-hello-kernel, guard: to do' watched
    grep 'guard.cu, line [0-9]*: there your lines are missing' watched
    solve guard
    next=$(sed -n 's/^## \(.*\): .*/\1/p' exercises/README.md | grep -xA 1 guard | tail -n 1)
    wait_for watched "until you save $next.cu"
    grep '^2 of [0-9]* pass    01-hello-kernel, guard: passed' watched
    { cat "exercises/$next/$next.cu" && echo 'static int never = [] { for (;;); return 0; }();'; } >"exercises/$next.cu"
    for _ in {1..300}; do
        ! runs "${next}_check" || break
        sleep 0.1
    done
    runs "${next}_check"
    kill -INT -- -"$group"
    sleep 2
    ! kill -KILL -- -"$group" || fail 'it goes on'
    run runs "${next}_check"
    assert_failure
    run grep Traceback watched
    assert_failure
}

@test "exercises: an answer that has passed is tried again after a change of anything that it is judged by" {
    copy_out 01-hello-kernel
    try_python PYTHONPATH=common/exercises <<'PROGRAM'
import pathlib
import exercises

stage = pathlib.Path("01-hello-kernel")
answers = stage / "exercises"
exercises.put(answers / "element")
(answers / "mine.h").touch(), (answers / "mine.cuh").touch()
passed = exercises.key_of(answers / "element", answers)
(stage / "own.h").touch(), (stage / "own.py").touch()  # as other stages have them
assert exercises.key_of(answers / "element", answers) == passed, "empty files"
for file in (stage / "own.h", stage / "own.py", answers / "element.cu", answers / "mine.h", answers / "mine.cuh", answers / "element/element_check.cu",
             *(pathlib.Path("common") / name for name in ("check.h", "exercises/exercise.cuh", "exercises/exercises.py", "cpu/runtime/launch.c", "cpu/nvcc"))):
    before = file.read_bytes()
    file.write_bytes(before + b"\n")
    assert exercises.key_of(answers / "element", answers) != passed, file
    file.write_bytes(before)
assert exercises.key_of(answers / "element", answers) == passed, "as it was"

def attempt(*_):  # the answer is saved again while it is tried
    (answers / "element.cu").write_text("not tried")
    return []

(answers / "element.cu").write_text((answers / "element/element.cu").read_text())
(answers / ".tried/element").mkdir(parents=True, exist_ok=True)
exercises.attempt = attempt
assert exercises.state(answers / "element", answers)[0] == "passed"
assert not exercises.has_passed(answers / "element", answers), "what was not tried"
PROGRAM
}
