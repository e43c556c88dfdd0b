# make grade: answers of many people, some of whom mean harm.
load helpers

# A student's guard.cu: the text on standard input, with SOLUTION for the solution changed by a command of sed.
hands_in() {
    local name=$1 solution
    solution=$(sed "${2:-}" exercises/guard/guard.cu)
    mkdir -p "class/$name"
    while IFS= read -r line; do
        [ "$line" = SOLUTION ] && echo "$solution" || printf '%s\n' "$line"
    done >"class/$name/guard.cu"
}

# A constructor runs before the check does.
first_of_all() {
    printf '#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <sys/socket.h>\n#include <unistd.h>\n'
    printf '__attribute__((constructor)) static void first()\n{\n    %s\n}\nSOLUTION\n' "$1"
}

# The state and the reason that grades.csv has for a student.
assert_grade() {
    grep -qE "^\"?$1\"?,[a-z]*,$2" class.grades/grades.csv || {
        grep -a "^$1," class.grades/grades.csv
        fail "$1 should be: $2"
    }
}

@test "grade: thirty students, right, wrong, broken and hostile; nothing outside is read, changed or left running" {
    requires stand-in
    command -v bwrap >/dev/null || skip 'needs bubblewrap'
    [ "$(id -u)" -ne 0 ] || skip 'needs an ordinary user'
    copy_out 01-hello-kernel
    sed -i 's/^SECONDS = 60/SECONDS = 5/' common/exercises/exercises.py
    cd 01-hello-kernel || return 1
    echo precious >"$BATS_TEST_TMPDIR/precious"
    local secret=$BATS_TEST_TMPDIR/precious name expected=()

    # 5 right ones, each in a place and a style of its own
    hands_in anna <<<SOLUTION
    hands_in 'b ü' 's/if (i < n)/if (!(i >= n))/' <<<SOLUTION
    hands_in carl 's|(n + THREADS - 1) / THREADS|n / THREADS + (n % THREADS != 0)|' <<<$'#define TWICE(x) (2 * (x))\nSOLUTION'
    hands_in dora 's/x\[i\] = factor \* x\[i\]/x[i] *= factor/' <<<SOLUTION
    mkdir class/dora/exercises && mv class/dora/guard.cu class/dora/exercises
    hands_in emil <<<SOLUTION
    mkdir -p class/emil/01-hello-kernel/exercises && mv class/emil/guard.cu class/emil/01-hello-kernel/exercises
    expected+=(anna passed 'b ü' passed carl passed dora passed emil passed)

    # 10 wrong ones
    hands_in wrong1 's/if (i < n)//' <<<SOLUTION
    hands_in wrong2 's/i < n/i <= n/' <<<SOLUTION
    hands_in wrong3 's|(n + THREADS - 1) / THREADS|n / THREADS|' <<<SOLUTION
    hands_in wrong4 's|(n + THREADS - 1) / THREADS|65535|' <<<SOLUTION
    hands_in wrong5 's/= factor \* x/= factor + x/' <<<SOLUTION
    hands_in wrong6 's/i < n/i < n - 1/' <<<SOLUTION
    hands_in wrong7 's/^    Scale<<<.*//' <<<SOLUTION
    hands_in wrong8 's/blockIdx.x \* //' <<<SOLUTION
    hands_in wrong9 's/^    Scale<<<.*/    for (;;);/' <<<SOLUTION
    hands_in wrong10 's/^    Scale<<<.*/    exit(0);/' <<<$'#include <stdlib.h>\nSOLUTION'
    for name in wrong{1..10}; do expected+=("$name" 'not yet,.*[a-z]'); done

    # 6 broken ones
    hands_in syntax 's/;$//' <<<SOLUTION
    mkdir class/nothing
    mkdir class/binary && head -c 3000 /bin/sh >class/binary/guard.cu
    mkdir class/folder class/folder/guard.cu
    echo 'no folder' >class/sent.zip
    hands_in large <<<SOLUTION
    head -c 1000000 /dev/zero | tr '\0' ' ' >>class/large/guard.cu
    expected+=(syntax 'not yet,.*guard.cu:[0-9]+:.*error' nothing 'to do,there is no file guard.cu'
        large 'not yet,"guard.cu is larger than 1 MB, or no text"'
        binary 'not yet,guard.cu is (no text|larger than 1 MB, or no text)' folder 'not yet,guard.cu is a folder' sent.zip 'to do,a zip file: unpack it')

    # 15 hostile ones
    first_of_all "system(\"rm -f $secret; touch $PWD/hacked $BATS_TEST_TMPDIR/hacked class/hacked hacked\");" | hands_in removes
    first_of_all "FILE *f = fopen(\"$secret\", \"r\"); if (f) { puts(\"precious was read\"); _exit(1); }" | hands_in reads
    first_of_all 'puts(getenv("PASSED")); exit(0);' | hands_in prints
    first_of_all 'char *e = getenv("PASS" "ED"); puts(e); fflush(stdout); _exit(0);' | hands_in prints2
    first_of_all 'if (fork() == 0) { setsid(); if (fork() == 0) execlp("sleep", "left-behind", "1234", NULL); }' | hands_in leaves
    first_of_all 'for (;;) if (fork() < 0) _exit(1);' | hands_in forks
    first_of_all 'for (;;) { char *p = (char *)malloc(1 << 26); if (!p) _exit(1); memset(p, 1, 1 << 26); }' | hands_in eats
    first_of_all 'for (;;) puts("\033[2J\033]0;title\007 garbage");' | hands_in shouts
    first_of_all 'puts("  wrong    \033[31m=SUM(A1)"); exit(1);' | hands_in colours
    first_of_all 'kill(-1, 9); kill(getppid(), 9);' | sed '1i #include <signal.h>' | hands_in kills
    first_of_all 'system("ls /home /root /etc/passwd /sys ~ 2>/dev/null | head -n 3"); system("curl --max-time 2 http://1.1.1.1"); exit(1);' | hands_in looks
    hands_in steals <<<"#include \"$PWD/exercises/guard/guard.cu\""
    hands_in endless <<<$'#include "/dev/zero"\nSOLUTION'
    hands_in rules 's/i < n/i < n - 2/' <<<$'#include "exercise.cuh"\n#de\\\nfine wrong(...) (void)0\nSOLUTION'
    hands_in waits <<<SOLUTION
    rm class/waits/guard.cu && mkfifo class/waits/guard.cu
    mkdir class/copies && ln -s ../anna/guard.cu class/copies/guard.cu
    mkdir class/behind && ln -s ../anna class/behind/exercises
    ln -s anna class/is_anna
    hands_in forges 's/i < n/i < n - 2/' <<<SOLUTION
    mkdir -p class/forges/.tried/guard && cp -r class/forges/.tried class/forges/exercises
    echo 'guard passed' >class/forges/.tried/guard/passed
    for name in prints prints2 forks eats shouts steals endless rules waits copies behind forges looks colours; do
        expected+=("$name" 'not yet,')
    done
    expected+=(is_anna 'to do,no folder' removes passed reads passed leaves passed kills passed)
    first_of_all 'FILE *f = NULL; for (int i = 0; i < 3; i++) { f = fopen(i == 0 ? "/big" : i == 1 ? "/dev/big" : "big", "w"); if (f) { puts("it wrote"); exit(1); } }' | hands_in writes
    hands_in neuters 's/i < n/i < n - 2/' <<<$'template <typename... T> static void wrong(T...) {}\nSOLUTION'
    hands_in macros 's/THREADS/MINE/' <<<$'#define MINE THREADS // it is no #define of main\nSOLUTION'
    hands_in '=1+1' <<<SOLUTION
    hands_in $'two\nlines' <<<SOLUTION
    hands_in "$(printf 'x%.0s' {1..250})" <<<SOLUTION
    expected+=(writes passed neuters 'not yet,' "'=1\\+1" passed 'two.*lines' passed 'x{250}' passed)

    local before
    before=$(find class -mindepth 1 | sort)
    LIMIT=600 try make grade ANSWERS=class CFLAGS=-O0 EXERCISE=guard
    assert_line --regexp '^anna  *\+  1 of 1$'
    assert_line --regexp '^wrong1  *-  0 of 1$'
    for ((i = 0; i < ${#expected[@]}; i += 2)); do
        assert_grade "${expected[i]}" "${expected[i + 1]}"
    done
    [ "$(cat "$secret")" = precious ]
    [ ! -e hacked ] && [ ! -e "$BATS_TEST_TMPDIR/hacked" ]
    run find . -name hacked
    assert_output ''
    [ "$(find class -mindepth 1 | sort)" = "$before" ]
    run pgrep -f left-behind
    assert_failure
    run grep 'precious was read\|passwd\|'$'\033' class.grades/grades.csv
    assert_failure

    # Again, only what has changed is tried, though size and time are the same; a file that is mended passes.
    touch "$BATS_TEST_TMPDIR/before" && sleep 1
    cp exercises/guard/guard.cu class/wrong1/
    sed -i 's/if (i < n)/if (i < 9)/' class/anna/guard.cu
    touch -r exercises/guard/guard.cu class/anna/guard.cu
    LIMIT=60 try make grade ANSWERS="$PWD/class" PYTHON="$TEST_PYTHON" CFLAGS=-O0 EXERCISE=guard
    assert_grade wrong1 passed
    assert_grade wrong2 'not yet,'
    assert_grade anna 'not yet,'
    [ "$(find class.grades/tried -path '*/guard/lock' -newer "$BATS_TEST_TMPDIR/before" | wc -l)" -eq 2 ]
}

@test "grade: an answer in Python that changes its check does not pass" {
    requires stand-in
    command -v bwrap >/dev/null || skip 'needs bubblewrap'
    [ "$(id -u)" -ne 0 ] || skip 'needs an ordinary user'
    copy_out 03-cython-ctypes
    cd 03-cython-ctypes || return 1
    mkdir -p class/{right,wrong,changes,imports}
    { cat exercises/signature/signature.py && printf 'if __name__ == "__main__":  # not from exercise.py\n    print(mean([1], 2))\n'; } >class/right/signature.py
    sed '/restype = ctypes.c_float/d' exercises/signature/signature.py >class/wrong/signature.py
    { cat class/wrong/signature.py && printf 'import gc, types\nfor f in gc.get_objects():\n    if isinstance(f, types.FunctionType) and f.__name__ == "wr" "ong":\n        f.__code__ = (lambda a, b: None).__code__\n'; } >class/changes/signature.py
    { cat class/wrong/signature.py && printf 'import sys, exercise\nexercise.wrong = print\n'; } >class/imports/signature.py
    try make grade ANSWERS=class PYTHON="$TEST_PYTHON" EXERCISE=signature
    assert_grade right passed
    assert_grade wrong 'not yet,'
    assert_grade imports 'not yet,"?the answer reaches for its check, by import sys, exercise'
    assert_grade changes 'not yet,"?the answer changes its check: look at it'
}

@test "grade: without a folder or bubblewrap, or for root, make says so and runs nothing" {
    copy_out 01-hello-kernel
    cd 01-hello-kernel || return 1
    mkdir -p class/anna
    FAILS=yes try make grade PYTHON="$TEST_PYTHON"
    assert_regex "$stderr" 'which folder\? make grade ANSWERS=folder'
    FAILS=yes try make grade ANSWERS=nowhere PYTHON="$TEST_PYTHON"
    assert_regex "$stderr" 'ANSWERS: there is no folder nowhere'
    hide bwrap
    FAILS=yes try make grade ANSWERS=class PYTHON="$TEST_PYTHON"
    if [ "$(id -u)" -eq 0 ]; then
        assert_regex "$stderr" "the system does not limit root's: be another user"
    else
        assert_regex "$stderr" 'in a sandbox: sudo apt-get install -y bubblewrap'
    fi
    [ ! -e class.grades ]
}
