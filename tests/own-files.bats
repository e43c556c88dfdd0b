load helpers

# A learner's own files in a stage's folder: make builds and cleans them, and never touches what it has not made.

# A learner's files, under the names that the pages suggest, in the stage's folder.
put() {
    for file in "$@"; do cp "$BATS_TEST_DIRNAME/own-files/${file#*:}" "${file%:*}"; done
}

@test "own files: a learner's own files are built, linked and cleaned, without a change to the Makefile" {
    local stage files halved='0: 1 2 3'
    copy_out 02-dlopen-from-c 03-cython-ctypes 04-gather
    DOCTOR=$(env PYTHON="$TEST_PYTHON" BACKEND="$TEST_BACKEND" ${NVCC:+NVCC="$NVCC"} "$TEST_PYTHON" common/doctor.py make) # once, for all
    export DOCTOR
    for stage in 02-dlopen-from-c 03-cython-ctypes 04-gather; do
        case $stage in
            02*) files=(mine.cu libmine.cu mine.h mine_c.c:opened_c.c) ;;
            03*) files=(mine.cu libmine.cu mine.h mine.pyx mine_c.c:opened_c.c) ;;
            04*) files=(mine.cu libmine.cu mine.h mine_c.c:linked_c.c) ;;
        esac
        cd "$COPY/$stage" || return 1
        find . -maxdepth 1 -name '*.pyx' -delete -o -name '*.cu' ! -name libhello.cu ! -name cuda_index.cu -delete -o -name '[sv]*.c' -delete # what the Makefile names stays
        if [[ $stage = 03* ]]; then # the module before its library: then it is linked again
            put mine.pyx mine.h
            try_make "mine$("$TEST_PYTHON" -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')"
        fi
        put "${files[@]}"
        find . -type f | grep -v '/mine\.\(c$\|cpy\)\|/\.built-for$' | sort >"$BATS_TEST_TMPDIR/before"
        try_make build
        try ./mine
        assert_output mine
        if [ -e mine_c.c ]; then
            (cd / && "$OLDPWD/mine_c") | grep -qx "$halved" || fail "$stage: mine_c"
        fi
        if [ -e mine.pyx ]; then
            try "$TEST_PYTHON" -Bc 'import numpy, mine; print(mine.half(numpy.float32([2, 4, 6])))'
            assert_output '[1. 2. 3.]'
        fi
        [ ! -e mine.h ] || touch mine.h
        try_make mine # one alone, though a header has changed: what was built before stays
        [ ! -e libmine.cu ] || [ -e libmine.so ]
        if [ -e mine.pyx ]; then # what Cython made of a module that is gone is no program in C, and goes too
            mv mine.pyx "$BATS_TEST_TMPDIR"
            try_make build
        fi
        try_make clean
        [ ! -e "$BATS_TEST_TMPDIR/mine.pyx" ] || mv "$BATS_TEST_TMPDIR/mine.pyx" .
        assert_same "$BATS_TEST_TMPDIR/before" <(find . -type f | sort) 'what make clean leaves'
    done
}

@test "own files: a file that make has not made is never removed or written over, whatever its name, and whenever it comes" {
    copy_out
    mkdir stage
    cd stage || return 1
    printf '%s\n' 'SPECIAL := more.c' 'MORE_BUILDS := libmore.so' 'LEFTOVERS := more.o' 'include ../common/stage.mk' 'sanitized: build' \
        'libmore.so: more.o' $'\t$(CC) -shared -o $@ $<' 'more.o: more.c .built-for' $'\t$(CC) -fPIC -c -o $@ $<' >Makefile
    put mine.cu libmine.cu mine.h mine.pyx mine_c.c:opened_c.c
    echo 'int more;' | tee more.c >own.txt
    local ext name kind moment target before
    ext=$("$TEST_PYTHON" -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')
    DOCTOR=$(env PYTHON="$TEST_PYTHON" BACKEND="$TEST_BACKEND" ${NVCC:+NVCC="$NVCC"} "$TEST_PYTHON" ../common/doctor.py make)
    export DOCTOR
    touch mine.so libother.so other.o other notes.c.mine "other$ext" # make needs none of these names
    cp -rp . ../unbuilt
    for target in build 'sanitize CFLAGS=-O1' build; do
        # shellcheck disable=SC2086
        try_make $target
    done
    cp -rp . ../built
    : >.made/mine_c # as if make had been killed while it was built
    try_make build
    assert_output --partial '-o mine_c '
    try_make clean
    run diff -r . ../unbuilt
    assert_output ''
    cp -rp . ../cleaned
    own() { ls -ld "$name" && cat own.txt "$name" "$name/own" 2>&1 || true; }
    for moment in unbuilt built cleaned; do
        for name in mine libmine.so mine_c mine.c "mine$ext" libmore.so more.o; do
            for kind in file link nowhere folder; do
                [ $kind = file ] || [ $moment = unbuilt ] || continue
                cd .. && rm -rf stage && cp -rp $moment stage && cd stage && rm -f "$name"
                case $kind in
                    file) echo 'float own(float x);' >"$name" ;;
                    link) ln -s own.txt "$name" ;;
                    nowhere) ln -s nowhere "$name" ;;
                    folder) mkdir "$name" && echo own >"$name/own" ;;
                esac
                echo "$moment $kind $name"
                for target in build 'mine CFLAGS=-O1' sanitize clean; do
                    before=$(own)
                    # shellcheck disable=SC2086
                    FAILS=any try_make $target
                    assert_equal "$(own)" "$before"
                    [ "$target" = clean ] ||
                        assert_regex "$stderr" "make would write over $name, which it has not made: rename it \\(mv $name $name\\.mine\\)"
                done
            done
        done
    done
    mv "$name" "$name.mine"
    try_make build
}

@test "own files: git ignores what is built of a learner's own files, and nothing else" {
    command -v git >/dev/null || skip "needs git"
    cd "$BATS_TEST_TMPDIR" || return 1
    cp "$TOP/.gitignore" .
    git init -q . 2>/dev/null
    local stage
    for stage in 01-hello-kernel 02-dlopen-from-c 03-cython-ctypes 04-gather 04-gather/fast; do
        mkdir -p "$stage"
        (cd "$stage" && touch mine.cu libmine.cu mine.h mine_c.c mine.pyx mine.py Makefile && touch mine mine_c libmine.so mine.cpython-311-x86_64-linux-gnu.so .built-for)
    done
    touch 03-cython-ctypes/mine.c 04-gather/mine.c 04-gather/fast/mine.c
    mkdir 01-hello-kernel/exercises
    touch 01-hello-kernel/exercises/{README.md,element.cu,element.cu.1.mine,mine.cuh}
    git add . # but what is ignored
    for stage in 01-hello-kernel 02-dlopen-from-c 03-cython-ctypes 04-gather 04-gather/fast; do
        run git ls-files "$stage/*"
        assert_equal "$(grep "^$stage/[^/]*$" <<<"$output" | sed "s|^$stage/||" | LC_ALL=C sort | paste -sd' ')" \
            'Makefile libmine.cu mine.cu mine.h mine.py mine.pyx mine_c.c'
    done
    run git ls-files '*/exercises/*' # answers are no part of the tutorial
    assert_output 01-hello-kernel/exercises/README.md
}
