load helpers

setup() {
    cd "$TOP" || return 1
    export PYTHONDONTWRITEBYTECODE=1
    outside=${PATH#*/bats-core:} # Bats' own folder is on PATH in a test, and what lies there does not start by itself
}

# ---- make

@test "make: help is the default, at the top and in every stage, and builds nothing" {
    copy_out Makefile 01-hello-kernel 02-dlopen-from-c 03-cython-ctypes 04-gather
    for folder in . 0* 04-gather/fast; do
        try make -C "$folder"
        assert_success
        for target in run build test sanitize bench clean doctor; do
            assert_line --regexp "^  $target +[a-z]"
        done
    done
    for folder in 04-gather/many:run.build.test.sanitize.bench 04-gather/fast/bench:build.bench; do # what works there
        try make -C "${folder%:*}"
        assert_success
        assert_equal "$(sed -n 's/^  \([a-z]*\).*/\1/p' <<<"$output" | paste -sd.)" "${folder#*:}.clean.doctor"
    done
    run find . -name '*.o' -o -name .built-for -o -name 'lib*.so' -path './0*'
    assert_output ''
}

@test "make: doctor has a line for each thing and says what make run would use" {
    for folder in . 04-gather/fast; do
        try env PATH="$outside" make --no-print-directory -C "$folder" doctor
        assert_success
        refute_output --partial MISSING
        for thing in make 'C and C\+\+' Python.h Bats python3: nvcc: GPU: 'a kernel' 'a Cython module' 'a test'; do
            assert_line --regexp "^(ok|-) +$thing"
        done
        assert_line --regexp '^make run would use: (GPU, .*|CPU stand-in), because '
        assert_line --index -1 'make run and make test: ready'
    done
}

@test "make: doctor tries, and does not assume: a compiler, a Python and a Bats that are there and do not work" {
    copy_out 01-hello-kernel
    mkdir "$BATS_TEST_TMPDIR/bin"
    printf '#!/bin/sh\necho out of order >&2\nexit 1\n' >"$BATS_TEST_TMPDIR/bin/g++"
    printf '#!/bin/sh\ncase $* in --version) echo Bats 1.8.2;; *) echo out of order; exit 1;; esac\n' >"$BATS_TEST_TMPDIR/bin/bats"
    printf '#!/bin/sh\ncase $* in *seven*) echo out of order; exit 1;; *) exec %s "$@";; esac\n' "$(command -v gcc)" >"$BATS_TEST_TMPDIR/bin/gcc"
    chmod +x "$BATS_TEST_TMPDIR"/bin/*
    try env -u CC -u CXX PATH="$BATS_TEST_TMPDIR/bin:$PATH" make --no-print-directory BACKEND=cpu REQUIRE_GPU= \
        PYTHON="$TEST_PYTHON" -C 01-hello-kernel doctor
    assert_failure
    assert_line --regexp '^MISSING +a kernel does not run: .*out of order'
    assert_line --regexp '^MISSING +a Cython module does not run: out of order'
    assert_line --regexp '^MISSING +Bats does not run: out of order'
    try env CC="$(command -v gcc)" PATH="$BATS_TEST_TMPDIR/bin:$PATH" make --no-print-directory BACKEND=cpu REQUIRE_GPU= \
        PYTHON="$TEST_PYTHON" -C 01-hello-kernel doctor # this one is in order
    assert_line --regexp '^ok +a Cython module compiles and runs'
    assert_line --index -1 'make run and make test: they will not run here before that is mended'
}

@test "make: doctor's lines, its last line and its exit status agree, whatever is missing" {
    copy_out
    mkdir .venv no_headers old # .venv: not made by make, so nothing can be installed there
    "$TEST_PYTHON" -m venv --without-pip bare # without Cython
    echo 'import sysconfig; sysconfig.get_path = lambda *a, **k: "/nowhere"' >no_headers/sitecustomize.py
    printf '#!/bin/sh\necho Bats 1.2.1\n' >old/bats
    printf '#!/bin/sh\n' >nvcc # for a GPU that is not here: nothing is run
    printf '#!/bin/sh\nexit 1\n' >broken
    chmod +x old/bats nvcc broken
    local setting python
    for setting in CC=nothere CXX='g++ -m32' PYTHONPATH="$PWD/no_headers" PATH="$PWD/old:$PATH" \
        NVCC="$PWD/broken" PYTHON="$PWD/bare/bin/python"; do
        python=$TEST_PYTHON
        [[ $setting != PYTHON=* ]] || python=${setting#PYTHON=}
        try env -u CC -u CXX CUDA_VISIBLE_DEVICES= BACKEND=cuda NVCC="$PWD/nvcc" "$setting" "$python" common/doctor.py
        assert_failure 1
        assert_equal "$(grep -c '^MISSING  ' <<<"$output")" 1
        assert_line --index -1 'make run and make test: they will not run here before that is mended'
        refute_regex "$stderr" Traceback
    done
}

@test "make: with nothing to build, Python is started once before the first program" {
    copy_out 04-gather
    try_make -C 04-gather build
    assert_success
    printf '#!/bin/sh\necho >>started\nexec "%s" "$@"\n' "$TEST_PYTHON" >"$BATS_TEST_TMPDIR/python"
    chmod +x "$BATS_TEST_TMPDIR/python"
    try_make -C 04-gather build
    try make CFLAGS=-O0 BACKEND="$TEST_BACKEND" PYTHON="$BATS_TEST_TMPDIR/python" -C 04-gather -n run
    assert_success
    assert_equal "$(grep -c '' 04-gather/started)" 1
}

@test "make: clean at the top cleans every stage, and the stand-in's library" {
    copy_out Makefile 01-hello-kernel 02-dlopen-from-c 03-cython-ctypes 04-gather
    rm -rf common/cpu/{lib,dist}
    find . -type f | sort >"$BATS_TEST_TMPDIR/before"
    mkdir -p common/cpu/{lib,dist} 03-cython-ctypes/__pycache__
    touch 01-hello-kernel/hello 02-dlopen-from-c/{hello_c.o,load} 03-cython-ctypes/{hello.c,multiply.x.so} 04-gather/wrapper.c \
        04-gather/fast/gather_c {01-hello-kernel,02-dlopen-from-c,03-cython-ctypes,04-gather,04-gather/fast}/.built-for # as a version left it that kept no checksums
    try make clean
    assert_success
    run diff "$BATS_TEST_TMPDIR/before" <(find . -type f | sort)
    assert_success
}

@test "make: the first line says the device and why; BACKEND=cpu overrides" {
    try make --no-print-directory -C 01-hello-kernel BACKEND=cpu -n run
    assert_success
    assert_line --index 0 'Device: CPU stand-in, because BACKEND=cpu was asked for'
    try make --no-print-directory -C 01-hello-kernel BACKEND=cpu NVCC=/nowhere/nvcc -n run # which is not asked for then
    assert_success
    if [ "$TEST_BACKEND" = cpu ]; then
        try make --no-print-directory -C 01-hello-kernel BACKEND= -n run
        assert_line --index 0 --regexp '^Device: CPU stand-in, because .*(driver|asked for)'
    else
        try make --no-print-directory -C 01-hello-kernel BACKEND= -n run
        assert_line --index 0 --regexp '^Device: GPU, .+, because it answers'
    fi
}

@test "make: at the top, a stage that fails ends it, with its status" {
    for target in run build sanitize; do
        try make BACKEND=cpu STAGES='nowhere 01-hello-kernel' -n $target
        assert_failure
        assert_line '== nowhere =='
        refute_line '== 01-hello-kernel =='
    done
}

@test "make: BACKEND=other is refused in one line" { # REQUIRE_GPU=1 without a GPU, an NVCC that is not there: fails.bats
    try make -C 01-hello-kernel BACKEND=other run
    assert_failure
    assert_regex "$stderr" 'BACKEND=other: it can be cuda or cpu'
}

@test "make: another backend rebuilds, and a build of the other one never stays" {
    copy_out 01-hello-kernel
    cd 01-hello-kernel || return 1
    # an nvcc whose programs say who built them: make is what is tested here
    cat >"$BATS_TEST_TMPDIR/nvcc" <<'NVCC'
#!/bin/sh
while [ "$1" != -o ]; do shift; done
printf '#!/bin/sh\necho built by nvcc\n' >"$2"
chmod +x "$2"
NVCC
    chmod +x "$BATS_TEST_TMPDIR/nvcc"
    build() { try make PYTHON="$TEST_PYTHON" REQUIRE_GPU= "$@"; }
    build BACKEND=cpu hello
    assert_success
    run -0 ./hello
    assert_line 'Hello World From GPU!'
    build BACKEND=cuda NVCC="$BATS_TEST_TMPDIR/nvcc" hello
    assert_success
    run -0 ./hello
    assert_output 'built by nvcc'
    build BACKEND=cuda NVCC="$BATS_TEST_TMPDIR/nvcc" CUDA_ARCH=sm_80 hello
    assert_output --partial '-arch=sm_80'
    # a broken source: what the other backend built goes all the same
    echo 'no C' >>hello.cu
    build BACKEND=cpu hello
    assert_failure
    assert_line 'Built with another compiler, options or folder: all is built again.'
    [ ! -e hello ]
    echo 'no C' >>libmine.cu # and half a library is not left behind
    build BACKEND=cpu libmine.so
    assert_regex "$stderr" "libmine.cu:1:.* error: "
    [ ! -e libmine.so ]
}

@test "make: after a change of the Makefile, or in a copy in another folder, what is asked for is built anew, and nothing else goes" {
    copy_out 01-hello-kernel
    try_make -C 01-hello-kernel hello threads
    assert_output --partial '-o hello hello.cu'
    try_make -C 01-hello-kernel hello
    refute_output --partial '-o hello hello.cu'
    try_make -C 01-hello-kernel timing # a program with options of its own: the others stay
    [ -e 01-hello-kernel/hello ]
    echo '# mine' >>01-hello-kernel/Makefile
    try_make -C 01-hello-kernel hello
    assert_output --partial '-o hello hello.cu'
    [ -e 01-hello-kernel/threads ]
    local elsewhere='else $where'
    [ "$TEST_BACKEND" = cpu ] || elsewhere=elsewhere # nvcc would take it apart
    mkdir "$elsewhere"
    cp -rp common 01-hello-kernel "$elsewhere"
    try_make -C "$elsewhere/01-hello-kernel" hello
    assert_success
    assert_line 'Built with another compiler, options or folder: all is built again.'
    assert_output --partial '-o hello hello.cu'
}

# A learner's files, under the names that the pages suggest, in the stage's folder.
put() {
    for file in "$@"; do cp "$BATS_TEST_DIRNAME/own-files/${file#*:}" "${file%:*}"; done
}

@test "make: a learner's own files are built, linked and cleaned, without a change to the Makefile" {
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
            assert_success
        fi
        put "${files[@]}"
        find . -type f | grep -v '/mine\.\(c$\|cpy\)\|/\.built-for$' | sort >"$BATS_TEST_TMPDIR/before"
        try_make build
        assert_success
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
        assert_success
        [ ! -e libmine.cu ] || [ -e libmine.so ]
        if [ -e mine.pyx ]; then # what Cython made of a module that is gone is no program in C, and goes too
            mv mine.pyx "$BATS_TEST_TMPDIR"
            try_make build
            assert_success
        fi
        try_make clean
        assert_success
        [ ! -e "$BATS_TEST_TMPDIR/mine.pyx" ] || mv "$BATS_TEST_TMPDIR/mine.pyx" .
        run diff "$BATS_TEST_TMPDIR/before" <(find . -type f | sort)
        assert_output ''
    done
}

@test "make: a file that make has not made is never removed or written over, whatever its name, and whenever it comes" {
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
        assert_success
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
                    try_make $target
                    assert_equal "$(own)" "$before"
                    [ "$target" = clean ] ||
                        assert_regex "$stderr" "make would write over $name, which it has not made: rename it \\(mv $name $name\\.mine\\)"
                done
            done
        done
    done
    mv "$name" "$name.mine"
    try_make build
    assert_success
}

@test "make: git ignores what is built of a learner's own files, and nothing else" {
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

@test "make: a path that is not whole is refused at the top, where it would mean another file in each stage" {
    for setting in PYTHON=./python3 NVCC=bin/nvcc CC=./gcc CXX=../clang; do
        try make "$setting" build
        assert_failure
        assert_regex "$stderr" "$setting: the stages are other folders: give the whole path, from / on"
    done
}

# ---- bad surroundings: one line that says what is missing and how to mend it

@test "surroundings: no Python headers: the first line says so, and nothing is built" {
    copy_out 04-gather
    mkdir "$BATS_TEST_TMPDIR/site"
    echo 'import sysconfig; sysconfig.get_path = lambda *a, **k: "/nowhere"' >"$BATS_TEST_TMPDIR/site/sitecustomize.py"
    PYTHONPATH=$BATS_TEST_TMPDIR/site try_make -C 04-gather build
    assert_failure
    assert_regex "$(head -n 1 <<<"$stderr")" '^Python.h is missing for .*: sudo apt-get install -y python3-dev$'
    refute_regex "$stderr" Traceback
    [ ! -e 04-gather/libcuda_index.so ]
}

@test "surroundings: no python3" {
    hide python3 python
    for target in run doctor; do
        try env -u PYTHON make -C 01-hello-kernel $target
        assert_failure
        assert_regex "$stderr" 'python3 is missing: sudo apt-get install -y python3-dev python3-venv'
        refute_regex "$stderr" 'Traceback|not found'
    done
}

@test "surroundings: a Python that is too old, is broken, or talks; CC and CXX that are empty" {
    copy_out 02-dlopen-from-c
    local site=$BATS_TEST_TMPDIR/site
    mkdir "$site"
    make_hello() { # what is on PYTHONPATH at Python's start, the Python
        echo "$1" >"$site/sitecustomize.py"
        try env PYTHONPATH="$site" make --no-print-directory BACKEND=cpu CC= CXX= PYTHON="$2" -C 02-dlopen-from-c -n hello_c
    }
    make_hello 'import sys; sys.version_info = (3, 8, 20)' "$TEST_PYTHON"
    assert_failure 2
    assert_regex "$stderr" '^[^[:cntrl:]]*python[^[:cntrl:]]* is broken or older than Python 3\.9: make PYTHON=\.\.\. names another\.  Stop\.$'
    printf '#!/bin/sh\necho noise\necho pyenv: no such version >&2\nexit 127\n' >"$BATS_TEST_TMPDIR/shim"
    chmod +x "$BATS_TEST_TMPDIR/shim"
    make_hello '' "$BATS_TEST_TMPDIR/shim"
    assert_failure 2
    assert_regex "$stderr" '^[^[:cntrl:]]*shim is broken or older than Python 3\.9'
    try make -C 02-dlopen-from-c PYTHON="$BATS_TEST_TMPDIR/shim" doctor
    assert_failure 2
    assert_line --index 0 --partial 'make: Entering'
    assert_regex "$stderr" '^[^[:cntrl:]]*shim is broken or older than Python 3\.9'
    make_hello 'import sys; print("$(info no)|BACKEND := no"); print("hello", file=sys.stderr)' "$TEST_PYTHON"
    assert_success
    assert_line --index 0 'Device: CPU stand-in, because BACKEND=cpu was asked for'
    assert_line --regexp '^gcc -O2 .* -o hello_c hello_c\.c'
    refute_output --partial ccbin
    assert_equal "$stderr" ''
}

@test "surroundings: a compiler that breaks off: nothing half-built stays" {
    copy_out 01-hello-kernel
    rm -rf common/cpu/lib
    printf '#!/bin/sh\nwhile [ "${1:--o}" != -o ]; do shift; done\necho half >"${2:-half.o}"\necho No space left on device >&2\nexit 1\n' >full
    chmod +x full
    # shellcheck disable=SC2030
    export PATH=$PWD:$PATH
    try env CC=full common/cpu/nvcc --build-runtime
    assert_failure 1
    assert_equal "$stderr" 'No space left on device'
    assert_equal "$(ls common/cpu/lib)" libcpu_cuda.so.lock
    try make CC=full BACKEND=cpu -C 01-hello-kernel hello
    assert_failure 2
    [ ! -e 01-hello-kernel/hello ]
}

@test "programs: whichever CUDA call fails, a line says so and the exit status is 1" {
    [ "$TEST_BACKEND" = cpu ] || skip "only the stand-in's calls fail when they are asked to"
    local program k
    for program in 01-hello-kernel/./{hello,threads,devices,vector_add,reverse} 02-dlopen-from-c/./{hello_c,'vector_add_c 100'} \
        04-gather/fast/./{gather_c,'overlap 4'}; do
        cd "$TOP/${program%%/./*}" || return 1
        for k in {1..199}; do
            EXPECTED=. try env CPU_CUDA_FAIL="$k" bash -c "./${program#*/./}"
            grep -q "CPU_CUDA_FAIL: call $k, " <<<"$stderr" || break
            ! grep -q "CPU_CUDA_FAIL: call $k, cudaFree" <<<"$stderr" || continue # the result is there all the same
            assert_failure 1
            assert_regex "$stderr" '(cudaErrorMemoryAllocation|out of memory)($|:|'$'\n'')'
        done
        assert_success
        [ "$k" -gt 2 ] # some have failed
    done
    for program in 01-hello-kernel/./{hello,threads,devices,vector_add,reverse} 02-dlopen-from-c/./{hello_c,vector_add_c,saxpy} 04-gather/fast/./gather_c; do
        cd "$TOP/${program%%/./*}" || return 1
        EXPECTED=. try env CPU_CUDA_FAIL=1 CPU_CUDA_FAIL_CODE=12345 "./${program#*/./}" # a code that has no name
        assert_failure 1
        assert_regex "$stderr" 'error 12345, '
        refute_regex "$stderr" '\(null\)'
    done
}

@test "make: a change of any file that a build is made of is seen, in every stage" {
    copy_out 01-hello-kernel 02-dlopen-from-c 03-cython-ctypes 04-gather
    DOCTOR=$(env PYTHON="$TEST_PYTHON" BACKEND="$TEST_BACKEND" ${NVCC:+NVCC="$NVCC"} "$TEST_PYTHON" common/doctor.py make)
    export DOCTOR
    # what make would run; what is asked at each start is left out
    would_build() { try_make --no-print-directory -n "$@" -o .built-for -o tools -o packages build; }
    builds() { grep -o -- ' -o [^ ]*' <<<"$output" | grep -vx ' -o hello_c.o' | sort; } # that one includes no header of ours
    local stage sources headers file all
    shopt -s nullglob
    for stage in 0[1-4]*/ 04-gather/fast; do
        cd "$COPY/$stage" || return 1
        touch own.h own.cuh own.c # what is a learner's own counts, too
        sources=(*.cu *.c *.pyx)
        headers=(*.h *.cuh "$COPY"/common/{*,*/*}.h Makefile)
        if [[ $stage = 01* && $TEST_BACKEND = cpu ]]; then # once
            headers+=("$COPY"/common/cpu/{nvcc,*.py,include/*.h,{runtime,check,driver}/*})
        fi
        try_make -st build # nothing is compiled: make takes it as built now
        would_build
        assert_line --index 0 --partial 'Nothing to be done'
        would_build -B
        all=$(builds)
        for file in "${sources[@]}" *.pxd "${headers[@]}"; do
            touch "$file"
            would_build
            case $file in
                *.h | *.cuh | Makefile | */common/*) assert_equal "$file: $(builds)" "$file: $all" ;;
                *.pxd) [[ $output == *cython* ]] || fail "$stage: $file" ;;
                *) [[ $output == *" $file"* ]] || fail "$stage: $file" ;;
            esac
            touch -d 2020-01-01 "$file"
        done
        would_build
        assert_line --index 0 --partial 'Nothing to be done'
    done
}

@test "make: each setting is taken everywhere, from the environment and from the command line" {
    copy_out Makefile 01-hello-kernel 02-dlopen-from-c 03-cython-ctypes 04-gather
    mkdir bin
    for name in gcc g++; do printf '#!/bin/sh\nexec "%s" "$@"\n' "$(command -v $name)" >bin/my$name; done
    printf '#!/bin/sh\n' >bin/mynvcc
    printf '#!/bin/sh\nexec "%s" "$@"\n' "$TEST_PYTHON" >bin/mypython
    chmod +x bin/my*
    local settings=(CC=mygcc CXX=myg++ CFLAGS=-O1 PYTHON=mypython CUDA_ARCH=sm_80 NVCC=mynvcc REQUIRE_GPU=) backend way nvcc line
    for backend in cpu cuda; do
        for way in environment 'command line'; do
            case $way in
                env*) try env PATH="$PWD/bin:$outside" BACKEND=$backend "${settings[@]}" make -n build ;;
                *) try env PATH="$PWD/bin:$outside" make -n build BACKEND=$backend "${settings[@]}" ;;
            esac
            assert_success
            nvcc='*/cpu/nvcc -O[23] *-ccbin myg++ *'
            [ $backend = cpu ] || nvcc='*/mynvcc -O[23] *-arch=sm_80 *-ccbin myg++ *'
            run grep -e ' -o ' -e ' -m cython ' <<<"$output"
            [ "${#lines[@]}" -gt 30 ]
            for line in "${lines[@]}"; do
                # shellcheck disable=SC2053
                [[ $line == $nvcc || $line == 'mygcc -O1 '* || $line == 'mygcc -shared -o libhello_c.so hello_c.o '* ||
                    $line == 'mypython -m cython '* ]] || fail "$backend, $way: $line"
            done
        done
    done
}

@test "make: with another compiler or other options, what was built is built anew, once" {
    copy_out 02-dlopen-from-c
    mkdir bin
    local name setting make=(make --no-print-directory PYTHON="$TEST_PYTHON" BACKEND="$TEST_BACKEND" -C 02-dlopen-from-c hello_c)
    for name in gcc g++; do printf '#!/bin/sh\nexec "%s" "$@"\n' "$(command -v $name)" >bin/my$name; done
    chmod +x bin/my*
    "${make[@]}" >/dev/null
    for setting in CFLAGS=-O1 CC=mygcc CXX=myg++; do
        for wanted in 1 0; do
            # shellcheck disable=SC2031
            try env PATH="$PWD/bin:$PATH" "${make[@]}" "$setting"
            assert_success
            assert_equal "$setting $(grep -c '^Built with another compiler, options or folder' <<<"$output")" "$setting $wanted"
        done
    done
}

@test "doctor, install, exercises: each thing that counts is looked at" {
    copy_out 01-hello-kernel
    try_python PYTHONPATH=common:common/exercises <<'PROGRAM'
import os, pathlib, subprocess, sys
import doctor, exercises, install

def expect(is_so, *what):
    if not is_so:
        raise AssertionError(what)

# doctor's answers come back from make as they are, whatever is in a name
odd = {"NVCC": "/a #b/nvcc", "PY": "/ü #/python", "DEVICE": "GPU #1, $5"}
doctor.answers = lambda: odd
rule = "all:\n\t@printf '%s\\n' " + " ".join(f"'$(subst \\,,$({name}))'" for name in odd)
text = "define newline\n\n\nendef\n$(eval $(subst |,$(newline),$(value DOCTOR)))\n" + rule + "\n"
make = subprocess.run(["make", "-f", "-"], input=text, env={**os.environ, "DOCTOR": doctor.for_make()}, capture_output=True, text=True)
expect(make.stdout.splitlines() == list(odd.values()), make)

# install: a .venv is complete with these packages, for this Python, in this place
python, (stamp, wanted) = pathlib.Path(install.PYTHON), install.stamp("requirements.txt")
python.parent.mkdir(parents=True)
python.touch()
pathlib.Path(stamp).write_text(wanted)
expect(install.is_complete("requirements.txt"), "complete")
for what in install.VENV, sys.version, "numpy":
    pathlib.Path(stamp).write_text(wanted.replace(what, "another"))
    expect(what in wanted and not install.is_complete("requirements.txt"), what)
pathlib.Path(stamp).write_text(wanted)
python.unlink()
expect(not install.is_complete("requirements.txt"), "no Python")
python.touch()
os.remove(stamp)
install.prepare_venv, install.run = lambda: None, lambda *_: sys.exit("no network")
try:
    install.fill("requirements.txt")
except SystemExit:
    expect(not install.is_complete("requirements.txt"), "pip has failed")

# exercises: an answer that has passed is tried again after a change of anything that it is judged by
stage = pathlib.Path("01-hello-kernel")
answers = stage / "exercises"
exercises.put(answers / "element")
(answers / "mine.h").touch(), (answers / "mine.cuh").touch()
passed = exercises.key_of(answers / "element", answers)
for file in (answers / "element.cu", answers / "mine.h", answers / "mine.cuh", answers / "element/element_check.cu",
             *(pathlib.Path("common") / name for name in ("check.h", "exercises/exercise.cuh", "exercises/exercises.py", "cpu/runtime/launch.c", "cpu/nvcc"))):
    before = file.read_bytes()
    file.write_bytes(before + b"\n")
    expect(exercises.key_of(answers / "element", answers) != passed, file)
    file.write_bytes(before)
expect(exercises.key_of(answers / "element", answers) == passed, "as it was")
PROGRAM
    assert_success
}

# A driver with one GPU, as far as doctor.py asks: the CUDA version that it knows, the GPU's compute capability.
fake_driver() {
    gcc -x c -shared -fPIC -o "$BATS_TEST_TMPDIR/libcuda.so.1" - <<PROGRAM
int cuInit(unsigned flags) { return 0; }
int cuDeviceGetName(char *name, int size, int device) { name[0] = 'G'; name[1] = 0; return 0; }
int cuDriverGetVersion(int *version) { *version = $1; return 0; }
int cuDeviceGetAttribute(int *value, int what, int device) { *value = what == 75 ? $2 / 10 : $2 % 10; return 0; }
PROGRAM
}

@test "install: two lists of packages in one call, and two calls at once, do not wait for themselves" {
    copy_out
    cat >fill.py <<'PROGRAM'
import os, sys, time
sys.path.insert(0, "common")
import install
done = lambda name: os.path.exists(name)
install.is_complete = done
def fill(name):
    time.sleep(0.3)
    open(name, "x").close()  # twice: an exception
install.fill = fill
for name in "one", "two":
    install.install(name)
PROGRAM
    "$TEST_PYTHON" fill.py &
    LIMIT=20 try "$TEST_PYTHON" fill.py
    assert_success
    wait $!
    [ -e two ]
}

@test "surroundings: no network for PyPI: no Cython, and no nvcc for a GPU" {
    copy_out 01-hello-kernel 03-cython-ctypes
    rm -rf .venv
    "$TEST_PYTHON" -m venv --without-pip "$BATS_TEST_TMPDIR/bare"
    export PYTHON=$BATS_TEST_TMPDIR/bare/bin/python PIP_NO_INDEX=1 PIP_FIND_LINKS=
    try make BACKEND=cpu REQUIRE_GPU= -C 03-cython-ctypes build
    assert_failure
    local no_venv='cannot make a virtual environment: sudo apt-get install -y python3-venv|could not be made: sudo apt-get'
    assert_regex "$stderr" "(PyPI did not give the packages of common/requirements.txt: check the network|$no_venv)"
    refute_regex "$stderr" Traceback

    fake_driver 13000 75
    hide nvcc
    try env -u NVCC CUDA_HOME=/nowhere LD_LIBRARY_PATH="$BATS_TEST_TMPDIR" make BACKEND= REQUIRE_GPU= \
        --no-print-directory -C 01-hello-kernel build
    assert_failure
    assert_line --index 0 'Device: GPU, G, because it answers; nvcc comes from PyPI'
    assert_regex "$stderr" "(PyPI did not give the packages of common/requirements-nvcc.txt: check the network and make again, install the CUDA Toolkit, or: make BACKEND=cpu|$no_venv)"
    refute_regex "$stderr" Traceback
}

@test "surroundings: a driver, a GPU that the nvcc at hand is too new for" {
    copy_out 01-hello-kernel # where no .venv has an nvcc
    # what make is told: the backend, whether there is a GPU, and the line for people
    device() { try env LD_LIBRARY_PATH="$BATS_TEST_TMPDIR" "$@" python3 common/doctor.py make; output=${output//|/$'\n'}; }
    says() { # backend, "yes" or nothing, nvcc, line
        mapfile -t lines <<<"$output"
        for line in "BACKEND := $1" "HAS_GPU := $2" "NVCC := ${3// /\\ }" "DEVICE := $4"; do assert_line "override $line"; done
    }
    fake_driver 12040 90
    printf '#!/bin/sh\necho Cuda compilation tools, release 13.0, V13.0.88\n' >"$BATS_TEST_TMPDIR/nvcc-13"
    printf '#!/bin/sh\necho Cuda compilation tools, release 12.0, V12.0.140\n' >"$BATS_TEST_TMPDIR/nvcc-12"
    chmod +x "$BATS_TEST_TMPDIR"/nvcc-*
    local new=NVCC=$BATS_TEST_TMPDIR/nvcc-13 old=NVCC=$BATS_TEST_TMPDIR/nvcc-12
    local why='the NVIDIA driver knows CUDA 12.4 and the nvcc is of CUDA 13: install a newer driver, or the CUDA Toolkit 12.4'
    device BACKEND= REQUIRE_GPU= "$new"
    says cpu '' '$(TOP)common/cpu/nvcc' "CPU stand-in, because $why"
    device BACKEND= REQUIRE_GPU= "$old"
    says cuda yes "$BATS_TEST_TMPDIR/nvcc-12" 'GPU, G, because it answers'
    device BACKEND= REQUIRE_GPU=1 "$new"
    assert_output "\$(error REQUIRE_GPU=1, but $why)"
    printf '#!/bin/sh\necho what version? >&2\nexit 1\n' >"$BATS_TEST_TMPDIR/nvcc-dumb"
    chmod +x "$BATS_TEST_TMPDIR/nvcc-dumb"
    device BACKEND= REQUIRE_GPU= NVCC="$BATS_TEST_TMPDIR/nvcc-dumb"
    says cuda yes "$BATS_TEST_TMPDIR/nvcc-dumb" 'GPU, G, because it answers'
    device BACKEND=cuda REQUIRE_GPU= "$new"
    says cuda '' "$BATS_TEST_TMPDIR/nvcc-13" "GPU, G, because BACKEND=cuda was asked for, but there is no GPU to run on: $why"
    hide nvcc
    device NVCC= CUDA_HOME=/nowhere BACKEND= REQUIRE_GPU=
    assert_output --partial 'CUDA 12.4 and the nvcc of PyPI, as there is no other, is of CUDA 13: install a newer'
    fake_driver 13000 61
    device BACKEND= REQUIRE_GPU= "$new"
    says cpu '' '$(TOP)common/cpu/nvcc' "CPU stand-in, because the GPU's compute capability is 6.1 and the nvcc of CUDA 13 knows \
those from 7.5 on: install an older CUDA Toolkit"
    device BACKEND= REQUIRE_GPU= "$old"
    says cuda yes "$BATS_TEST_TMPDIR/nvcc-12" 'GPU, G, because it answers'
}

@test "surroundings: a .venv that make did not make stays; one that it made is renewed when it was moved" {
    takes_long
    copy_out 03-cython-ctypes
    local venv=("$TEST_PYTHON" common/install.py none.txt)
    echo tiny >common/none.txt # a package that PyPI need not give: it lies in offline, as make offline puts it there
    mkdir -p offline/pypi
    "$TEST_PYTHON" -c '
import zipfile
with zipfile.ZipFile("offline/pypi/tiny-1-py3-none-any.whl", "w") as wheel:
    wheel.writestr("tiny.py", "print(7)")
    wheel.writestr("tiny-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1\n")
    wheel.writestr("tiny-1.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    wheel.writestr("tiny-1.dist-info/RECORD", "")'
    mkdir -p .venv
    touch .venv/mine
    try "${venv[@]}"
    assert_failure
    assert_equal "$stderr" "Python packages of common/none.txt go into .venv (once)
$PWD/.venv is of another Python or without pip, and was not made by make: move it away, or name a Python that has the \
packages: make PYTHON=..."
    [ -e .venv/mine ]
    rm -r .venv
    # shellcheck disable=SC2016
    try env PIP_INDEX_URL=http://127.0.0.1:9/ bash -c '"$@" & "$@" && wait $!' at_once "${venv[@]}"
    assert_success
    assert_equal "$stderr" 'Python packages of common/none.txt go into .venv (once)' # one of the two
    assert_equal "$(.venv/bin/python -c 'import tiny')" 7
    touch .venv/mine
    try "${venv[@]}"
    assert_success
    assert_output ''
    cd ..
    mv copy moved
    cd moved || return 1
    assert_equal "$(.venv/bin/python -c 'import tiny')" 7
    try "${venv[@]}"
    assert_success
    assert_equal "$(bash -c '. .venv/bin/activate && command -v python3')" "$PWD/.venv/bin/python3"
    [ -e .venv/mine ]
    # with NumPy and Cython in it: one name for it, whether it is activated or not, so that nothing is built again
    local package site
    site=$(.venv/bin/python -c 'import site; print(site.getsitepackages()[0])')
    for package in numpy-2.0 Cython-3.1; do
        mkdir "$site/$package.dist-info"
        printf 'Metadata-Version: 2.1\nName: %s\nVersion: %s\n' "${package%-*}" "${package#*-}" >"$site/$package.dist-info/METADATA"
    done
    try env PYTHON=python3 .venv/bin/python common/doctor.py shell
    assert_equal "$(eval "$output"; echo "$PY")" "$PWD/.venv/bin/python"
    sed -i 's/^# for .*/# for another Python/' .venv/none.txt
    rm .venv/bin/python # broken: it is made anew
    try "${venv[@]}"
    assert_success
    [ ! -e .venv/mine ]
}

# ---- tests/run

@test "tests/run: no Bats, an old Bats" {
    hide bats
    try tests/run 01-hello-kernel
    assert_failure
    assert_equal "$stderr" 'bats is missing: sudo apt-get install -y bats bats-assert'
    local bats=$BATS_TEST_TMPDIR/all-but/bats # which is not there now
    printf '#!/bin/sh\necho Bats 1.2.1\n' >"$bats"
    chmod +x "$bats"
    try tests/run 01-hello-kernel
    assert_failure
    assert_regex "$stderr" '^bats 1.2 is too old, 1.5 is needed: git clone '
    local pair # versions are compared as numbers, not as letters
    for pair in 0.9.9=1 1.4.9=1 1.5.0=0 1.10.1=0 2.0.0=0 10.0=0; do
        printf '#!/bin/sh\necho Bats %s\n' ${pair%=*} >"$bats"
        try "$TEST_PYTHON" common/doctor.py shell
        assert_equal "${pair%=*}=$(grep -c 'is too old' <<<"$output")" "$pair"
    done
    for pair in 2.9.9=False 3.0.12=False 3.1.0=True 3.10.0=True 10.0=True; do
        rm -rf "$BATS_TEST_TMPDIR/site" && mkdir -p "$BATS_TEST_TMPDIR/site/"{Cython-9,numpy-9}.dist-info
        printf 'Name: Cython\nVersion: %s\n' ${pair%=*} >"$BATS_TEST_TMPDIR/site/Cython-9.dist-info/METADATA"
        printf 'Name: numpy\nVersion: 9\n' >"$BATS_TEST_TMPDIR/site/numpy-9.dist-info/METADATA"
        try env PYTHONPATH="$BATS_TEST_TMPDIR/site:common" "$TEST_PYTHON" -c 'import doctor; print(doctor.has_packages())'
        assert_equal "${pair%=*}=$output" "$pair"
    done
}

@test "tests/run: counts, and fails with no test, with all skipped, with one failed, with one lost" {
    cd "$BATS_TEST_TMPDIR" || return 1
    touch none.bats
    try env PATH="$outside" "$TOP/tests/run" none.bats
    assert_failure
    assert_line --index -1 '0 passed, 0 failed, 0 skipped'
    printf '@test "a" {\n skip "why"\n}\n' >skipped.bats
    try env PATH="$outside" "$TOP/tests/run" skipped.bats
    assert_failure
    assert_line --index -1 '0 passed, 0 failed, 1 skipped'
    printf '@test "a" {\n true\n}\n@test "b" {\n false\n}\n@test "c" {\n skip\n}\n' >mixed.bats
    try env PATH="$outside" "$TOP/tests/run" mixed.bats
    assert_failure
    assert_line --index -1 '1 passed, 1 failed, 1 skipped'
    printf '@test "a" {\n true\n}\n' >good.bats
    try env PATH="$outside" "$TOP/tests/run" good.bats
    assert_success
    assert_line --index -1 '1 passed, 0 failed, 0 skipped'
    try env PATH="$outside" "$TOP/tests/run" good.bats skipped.bats
    assert_failure
    assert_line --index -2 'tests/run: nothing of skipped.bats was executed'
    assert_line --index -1 '1 passed, 0 failed, 1 skipped'
    mkdir bin
    printf '#!/bin/sh\ncase $1 in --version) echo Bats 1.8.2;; *) echo 1..2; echo ok 1 a;; esac\n' >bin/bats
    chmod +x bin/bats
    try env PATH="$PWD/bin:$outside" "$TOP/tests/run" good.bats
    assert_failure
    assert_line --index -1 '1 passed, 1 failed, 0 skipped'
}

@test "tests/run: what needs a GPU is skipped for want of one; with REQUIRE_GPU=1 it fails" {
    cd "$BATS_TEST_TMPDIR" || return 1
    printf 'load "%s"\n@test "a" {\n requires gpu\n}\n@test "b" {\n true\n}\n' "$TOP/tests/helpers" >gpu.bats
    try env PATH="$outside" BACKEND=cpu REQUIRE_GPU= "$TOP/tests/run" gpu.bats
    assert_success
    assert_line --regexp '^ok 1 a # skip needs an NVIDIA GPU'
    assert_line --index -1 '1 passed, 0 failed, 1 skipped'
    try env PATH="$outside" BACKEND=cpu REQUIRE_GPU=1 "$TOP/tests/run" gpu.bats
    assert_failure
    assert_line --index -1 '1 passed, 1 failed, 0 skipped'
}

# ---- the sources

@test "libraries: each offers its interface and nothing else; no file names an absolute path" {
    local file names
    while read -r file names; do
        assert_equal "$file: $(interface_of "$file" | paste -sd' ')" "$file: $names"
        assert_no_absolute_path "$file"
    done <<LIBRARIES
02-dlopen-from-c/libhello.so hello_error_name hello_error_text hello_from_gpu
02-dlopen-from-c/libhello_c.so hello_c
02-dlopen-from-c/libvector_add.so vector_add vector_add_error_name vector_add_error_text
03-cython-ctypes/libhello.so hello_error_name hello_error_text hello_from_gpu
03-cython-ctypes/libmultiply.so device_allocate device_free device_read device_wait device_write multiply multiply_error_name \
multiply_error_text multiply_on_device
04-gather/libcuda_index.so Gather GatherErrorName GatherErrorText
04-gather/fast/libgather.so $(sed -n 's/^[a-z].* \**\(gather[a-z_]*\)(.*/\1/p' 04-gather/fast/{gather,memory}.cuh | sort | paste -sd' ')
$(for file in {03-cython-ctypes,04-gather,04-gather/fast}/*.cpython-*.so; do name=${file##*/} && echo "$file PyInit_${name%%.*}"; done)
LIBRARIES
    for file in 01-hello-kernel/hello 02-dlopen-from-c/{hello_c,vector_add_c} 03-cython-ctypes/libgoes_wrong.so 04-gather/fast/gather_c; do
        assert_no_absolute_path "$file"
    done
}

MODULES=$TOP/03-cython-ctypes:$TOP/04-gather:$TOP/04-gather/fast:$TOP/tests

@test "libraries: importing the modules makes no CUDA call; they have one CudaError, which can be pickled" {
    try env PYTHONPATH="$MODULES" "$TEST_PYTHON" -c '
import pickle, device_array, four_ways, gather, hello, multiply, smallest, wrapper
print(len({module.CudaError for module in (device_array, gather, hello, multiply, wrapper)}))
error = pickle.loads(pickle.dumps(hello.CudaError(700, "cudaErrorIllegalAddress", "an illegal memory access")))
print(repr(error), isinstance(error, RuntimeError), error.code, error.name, error.text)'
    assert_success
    assert_equal "$output$stderr" "1
CudaError(700, 'cudaErrorIllegalAddress', 'an illegal memory access') True 700 cudaErrorIllegalAddress an illegal memory access"
    cmp 03-cython-ctypes/cuda_error.py 04-gather/cuda_error.py && [ 04-gather/fast/cuda_error.py -ef 04-gather/cuda_error.py ]
}

@test "libraries: whichever CUDA call fails, an error comes, out is untouched and nothing stays; an older error is not taken for theirs" {
    [ "$TEST_BACKEND" = cpu ] || skip "only the stand-in's calls fail when they are asked to"
    EXPECTED='cudaSetDevice' agrees failing_calls PYTHONPATH="$MODULES"
}

@test "libraries: other Python threads go on while the GPU works: no call of CUDA that waits holds the GIL" {
    [ "$TEST_BACKEND" = cpu ] || skip "it looks at the calls of the stand-in"
    nm -Du 02-dlopen-from-c/libhello.so 03-cython-ctypes/libmultiply.so 04-gather/libcuda_index.so 04-gather/fast/libgather.so |
        sed -n '/GetError/d; s/.* U cpu_\(cuda[A-Z]\w*\)$/CALL(\1)/p' | sort -u >"$BATS_TEST_TMPDIR/calls.h"
    gcc -shared -fPIC -I"$BATS_TEST_TMPDIR" -o "$BATS_TEST_TMPDIR/gil.so" tests/gil.c \
        -Wl,--no-as-needed -L"$TOP/common/cpu/lib" -lcpu_cuda -Wl,-rpath,"$TOP/common/cpu/lib"
    cd "$BATS_TEST_TMPDIR" || return 1 # LD_PRELOAD takes no path with a space
    EXPECTED='never freed: 1 stream' agrees gil LD_PRELOAD=./gil.so PYTHONPATH="$MODULES"
}

@test "sizes: more elements than a machine has room for: what is asked for, copied and launched is not cut to 32 bits, and gather's is on its stream" {
    [ "$TEST_BACKEND" = cpu ] || skip "needs libraries of the stand-in"
    gcc -shared -fPIC -o "$BATS_TEST_TMPDIR/sizes.so" "$BATS_TEST_DIRNAME/sizes.c" \
        -Wl,--no-as-needed -L"$TOP/common/cpu/lib" -lcpu_cuda -Wl,-rpath,"$TOP/common/cpu/lib"
    cd "$BATS_TEST_TMPDIR" || return 1 # LD_PRELOAD takes no path with a space
    agrees sizes LD_PRELOAD=./sizes.so TOP="$TOP"
}

@test "nvcc: sources compile, with every warning an error" {
    requires nvcc
    sources=(01-hello-kernel/vector_add.cu 04-gather/*.cu 04-gather/fast/gather.cu) # what people copy; make test-all: all
    [ "${SLOW:-}" != 1 ] || sources=(0*/*.cu 04-gather/fast/*.cu 04-gather/fast/bench/*.cu 0*/exercises/*/lib*.cu 0*/exercises/*/*_check.cu)
    checks=(0*/exercises/*/)
    [ "${#sources[@]}" -ge 3 ]
    (cd "$BATS_TEST_TMPDIR" && mkdir -p "${sources[@]%/*}")
    # -P: as many at once as there are cores; xargs fails if one of them does
    run xargs -P "$(nproc)" -I{} "${NVCC:?}" -Werror all-warnings -Xcompiler -Wall,-Wextra -Icommon -Icommon/exercises "${checks[@]/#/-I}" -c \
        -o "$BATS_TEST_TMPDIR/{}.o" {} < <(printf '%s\n' "${sources[@]}")
    assert_success
    assert_output ''
    local pypi=("$TOP"/.venv/lib/python*/site-packages/nvidia/cu13/bin/nvcc) # has headers in packages of their own
    [ ! -x "${pypi[0]}" ] || "${pypi[0]}" -arch=sm_80 -c -o "$BATS_TEST_TMPDIR/threads.o" common/cpu/tests/threads.cu
}

@test "pages: the times in a page are those of its bench.txt" {
    for stage in 01-hello-kernel 02-dlopen-from-c 03-cython-ctypes; do
        mkdir "$BATS_TEST_TMPDIR/$stage"
        cp $stage/*.md $stage/bench.txt "$BATS_TEST_TMPDIR/$stage/"
        try "$TEST_PYTHON" common/bench/bench_page.py "$BATS_TEST_TMPDIR/$stage"
        assert_success
        for page in "$stage"/*.md; do
            run diff "$page" "$BATS_TEST_TMPDIR/$page"
            assert_success
        done
    done
    sed -i 's/^<!-- bench.txt -->$/<!-- bench -->/' "$BATS_TEST_TMPDIR"/*/reference.md
    try "$TEST_PYTHON" common/bench/bench_page.py "$BATS_TEST_TMPDIR/03-cython-ctypes"
    assert_failure
    assert_regex "$stderr" 'reference.md: the marks <!-- bench.txt --> … <!-- end of bench.txt --> have to be there once'
}

@test "sanitize: clean has to be clean, reported has to be reported" {
    cd "$BATS_TEST_TMPDIR" || return 1
    local options=(-g -fsanitize=address -fsanitize=undefined)
    find_compiler
    if [ "$TEST_BACKEND" = cuda ]; then
        options=()
        requires compute-sanitizer
    fi
    cat >program.cu <<'PROGRAM'
#include <cstdlib>
__global__ void fill(float *x, int n) { if (threadIdx.x < n) x[threadIdx.x] = 1; }
int main(int argc, char **argv) {
    float *d_x;
    cudaMalloc(&d_x, 16 * sizeof *d_x);
    fill<<<1, 1000>>>(d_x, atoi(argv[1]));
    cudaDeviceSynchronize();
    if (argc == 2) cudaFree(d_x);
    return 0;
}
PROGRAM
    "${compile[@]}" "${options[@]}" -o program program.cu
    export BACKEND=$TEST_BACKEND TOOLS=memcheck
    try "$TOP/common/sanitize" clean './program 16'
    assert_success
    assert_output --regexp '^ok, no complaint of [a-z-]+: +\./program 16$'
    try "$TOP/common/sanitize" reported './program 1000' # far outside
    assert_success
    assert_output --regexp '^ok, found as it should be by [a-z-]+: +\./program 1000$'
    try "$TOP/common/sanitize" clean './program 16' './program 1000' './program 16 keep' # the last one leaks
    assert_failure 1
    assert_line --regexp '^NOT CLEAN under [a-z-]+: \./program 1000$'
    assert_line --regexp '^NOT CLEAN under [a-z-]+: \./program 16 keep$'
    try "$TOP/common/sanitize" reported './program 16'
    assert_failure 1
    assert_line --regexp '^NOT REPORTED by [a-z-]+: \./program 16$'
    try "$TOP/common/sanitize" clean ./nothere
    assert_failure 1
    try "$TOP/common/sanitize" reported ./nothere
    assert_failure 1
    BACKEND='' try "$TOP/common/sanitize" clean './program 16' # for which device? nothing is guessed
    assert_failure
    refute_output --partial 'ok,'
    if [ "$TEST_BACKEND" = cpu ]; then # built as usual, there is nothing that could complain
        "${compile[@]}" -o program program.cu
        try "$TOP/common/sanitize" clean './program 16'
        assert_failure 1
        assert_line 'it was built without -fsanitize=address'
    fi
}

@test "sanitize: make sanitize ends as its commands do, and what it built goes" {
    copy_out # common
    mkdir stage
    printf '%s\n' 'COMMON := ../common' 'include $(COMMON)/stage.mk' 'sanitized: build' "$(printf '\t')exit \$(STATUS)" >stage/Makefile
    echo 'int main(void) { return 0; }' >stage/program.cu
    try_make -C stage sanitize STATUS=0
    assert_success
    try_make -C stage sanitize STATUS=3
    assert_failure
    assert [ ! -e stage/program ]
}

# ---- check.h

@test "check.h: CHECK_GOTO keeps the first error and goes to the label; CHECK takes a success as nothing" {
    try_on_cpu <<'PROGRAM'
#include "check.h"
static int library(int bad)
{
    cudaError_t error = cudaSuccess;
    CHECK_GOTO(error, cudaGetLastError(), cleanup);
    if (bad)
        CHECK_GOTO(error, cudaSetDevice(99), cleanup);
    else
        CHECK_GOTO(error, cudaSetDevice(0), cleanup);
    printf("not reached if bad\n");
cleanup:
    return error;
}
int main(void)
{
    printf("%d\n", library(0));
    printf("%d\n", library(1));
    cudaGetLastError();
    CHECK(cudaGetLastError());
    CHECK(cudaSetDevice(99));
    printf("not reached\n");
}
PROGRAM
    assert_failure 1
    assert_output 'not reached if bad
0
101'
    assert_regex "$stderr" 'program.cu:20: CUDA error 101, cudaErrorInvalidDevice: invalid device ordinal'
}

# ---- What Python's tools see

@test "common: each module's .pyi has what the module has, and mypy takes right calls and refuses wrong ones" {
    "$TEST_PYTHON" -c 'import mypy' 2>/dev/null || skip "needs mypy: .venv/bin/python -m pip install mypy"
    local module stubs=({03-cython-ctypes,04-gather,04-gather/fast}/*.pyi)
    for module in {03-cython-ctypes,04-gather,04-gather/fast}/*.pyx; do
        [ -e "${module%x}i" ] || assert_equal "$module" 04-gather/fast/dlpack.pyx # which has nothing for Python
    done
    stubs=("${stubs[@]##*/}")
    export PYTHONPATH="$MODULES" MYPYPATH=03-cython-ctypes:04-gather:04-gather/fast MYPY_CACHE_DIR=$BATS_TEST_TMPDIR
    try "$TEST_PYTHON" -m mypy.stubtest --ignore-missing-stub --ignore-disjoint-bases "${stubs[@]%.pyi}" cuda_error
    assert_success
    try "$TEST_PYTHON" -m mypy --strict tests/calls.py
    assert_success
}

@test "common: a Python without a GIL stays without it, and threads get what they ask for" {
    local python=python3.14t
    command -v $python || skip "needs $python with Cython and NumPy"
    $python -c 'import Cython, numpy' || skip "needs Cython and NumPy for $python"
    copy_out 03-cython-ctypes 04-gather tests
    for room in 03-cython-ctypes 04-gather 04-gather/fast; do
        TEST_PYTHON=$python try_make -C $room build
        assert_success
    done
    try env PYTHONPATH=03-cython-ctypes:04-gather:04-gather/fast $python -W error -c '
import sys, device_array, four_ways, gather, hello, memory, multiply, wrapper
print(sys._is_gil_enabled())'
    assert_output False
    try $python tests/soak/soak.py threads 3 0 "$RANDOM"
    assert_success
    assert_quiet
    cd 04-gather/fast || return 1
    TEST_PYTHON=$python agrees 04-gather-fast/exchange
    # All launch into one array, which keeps the last one's stream alive.
    try env PYTHONPATH=. $python -c '
import threading, numpy as np
from gather import DeviceArray, take
class Stream:
    def __cuda_stream__(self):
        return 0, 0
x, i, out = DeviceArray(np.arange(3.0)), DeviceArray(np.arange(2)), DeviceArray(np.zeros(2))
def work():
    for _ in range(100000):
        take(x, i, out, "wrap", stream=Stream())
threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(out.get().tolist())'
    assert_success
    assert_output '[0.0, 1.0]'
}
