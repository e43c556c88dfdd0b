load helpers

# make, at the top and in a stage: its targets, its settings, what it builds anew, and when.

@test "make: help is the default, at the top and in every stage, and builds nothing" {
    copy_out Makefile 01-hello-kernel 02-dlopen-from-c 03-cython-ctypes 04-gather
    for folder in . 0* 04-gather/fast; do
        try make -C "$folder"
        for target in run build test sanitize bench clean doctor; do
            assert_line --regexp "^  $target +[a-z]"
        done
    done
    for folder in 04-gather/many:run.build.test.sanitize.bench 04-gather/fast/bench:build.bench; do # what works there
        try make -C "${folder%:*}"
        assert_equal "$(sed -n 's/^  \([a-z]*\).*/\1/p' <<<"$output" | paste -sd.)" "${folder#*:}.clean.doctor"
    done
    run find . -name '*.o' -o -name .built-for -o -name 'lib*.so' -path './0*'
    assert_output ''
}

@test "make: a clone by a Git that changes the ends of lines has those of Linux" {
    mkdir "$BATS_TEST_TMPDIR/repository" && cd "$BATS_TEST_TMPDIR/repository"
    cp "$TOP/.gitattributes" "$TOP/Makefile" "$TOP/common/doctor.py" "$TOP/tests/run" .
    git init -q && git add . && git -c user.name=x -c user.email=x commit -qm x
    git clone -q -c core.autocrlf=true . ../clone
    cd ../clone
    run grep -lI $'\r$' Makefile doctor.py run
    assert_output ''
    [ -x run ]
}

@test "make: with nothing to build, Python is started once before the first program" {
    copy_out 04-gather
    try_make -C 04-gather build
    program "$BATS_TEST_TMPDIR/python" 'echo >>started\nexec "%s" "$@"' "$TEST_PYTHON"
    try_make -C 04-gather build
    try make CFLAGS=-O0 BACKEND="$TEST_BACKEND" PYTHON="$BATS_TEST_TMPDIR/python" -C 04-gather -n run
    assert_equal "$(grep -c '' 04-gather/started)" 1
}

@test "make: clean at the top cleans every stage, and the stand-in's library" {
    copy_out Makefile 01-hello-kernel 02-dlopen-from-c 03-cython-ctypes 04-gather
    rm -rf common/cpu/{lib,dist}
    find . -type f | sort >"$BATS_TEST_TMPDIR/before"
    mkdir -p common/cpu/{lib,dist} 03-cython-ctypes/__pycache__
    touch 04-gather/many/libroute.so 04-gather/fast/bench/libbench.so 01-hello-kernel/hello 02-dlopen-from-c/{hello_c.o,load} 03-cython-ctypes/{hello.c,multiply.x.so} 04-gather/wrapper.c \
        04-gather/fast/gather_c {01-hello-kernel,02-dlopen-from-c,03-cython-ctypes,04-gather,04-gather/many,04-gather/fast,04-gather/fast/bench}/.built-for # as a version left it that kept no checksums
    try make clean
    assert_same "$BATS_TEST_TMPDIR/before" <(find . -type f | sort) 'what make clean leaves'
}

@test "make: the first line says the device and why; BACKEND=cpu overrides" {
    try make --no-print-directory -C 01-hello-kernel BACKEND=cpu -n run
    assert_line --index 0 'Device: CPU stand-in, because BACKEND=cpu was asked for'
    try make --no-print-directory -C 01-hello-kernel BACKEND=cpu NVCC=/nowhere/nvcc -n run # which is not asked for then
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
        FAILS=yes try make BACKEND=cpu STAGES='nowhere 01-hello-kernel' -n $target
        assert_line '== nowhere =='
        refute_line '== 01-hello-kernel =='
    done
}

@test "make: help and both pages have the same settings" {
    local page
    settings_of() { grep -oE '\b[A-Z_]+=' | sort -u; }
    try make -s help
    for page in common/MACHINES{,.zh}.md; do
        assert_same <(grep '^Settings:' <<<"$output" | settings_of) <(grep '^| `make [A-Z]' "$page" | settings_of) "the settings in $page"
    done
}

@test "make: BACKEND=other is refused in one line" { # REQUIRE_GPU=1 without a GPU, an NVCC that is not there: messages.bats
    FAILS=yes try make -C 01-hello-kernel BACKEND=other run
    assert_regex "$stderr" 'BACKEND=other: it can be cuda or cpu'
}

@test "make: a path that is not whole is refused at the top, where it would mean another file in each stage" {
    for setting in PYTHON=./python3 NVCC=bin/nvcc CC=./gcc CXX=../clang; do
        FAILS=yes try make "$setting" build
        assert_regex "$stderr" "$setting: the stages are other folders: give the whole path, from / on"
    done
}

@test "make: each setting is taken everywhere, from the environment and from the command line" {
    copy_out Makefile 01-hello-kernel 02-dlopen-from-c 03-cython-ctypes 04-gather
    for name in gcc g++; do program bin/my$name 'exec "%s" "$@"' "$(command -v $name)"; done
    program bin/mynvcc
    program bin/mypython 'exec "%s" "$@"' "$TEST_PYTHON"
    local settings=(CC=mygcc CXX=myg++ CFLAGS=-O1 PYTHON=mypython CUDA_ARCH=sm_80 NVCC=mynvcc REQUIRE_GPU=) backend way nvcc line
    for backend in cpu cuda; do
        for way in environment 'command line'; do
            case $way in
                env*) try env PATH="$PWD/bin:$outside" BACKEND=$backend "${settings[@]}" make -n build ;;
                *) try env PATH="$PWD/bin:$outside" make -n build BACKEND=$backend "${settings[@]}" ;;
            esac
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
    run -0 ./hello
    assert_line 'Hello World From GPU!'
    build BACKEND=cuda NVCC="$BATS_TEST_TMPDIR/nvcc" hello
    run -0 ./hello
    assert_output 'built by nvcc'
    build BACKEND=cuda NVCC="$BATS_TEST_TMPDIR/nvcc" CUDA_ARCH=sm_80 hello
    assert_output --partial '-arch=sm_80'
    # a broken source: what the other backend built goes all the same
    echo 'no C' >>hello.cu
    FAILS=yes build BACKEND=cpu hello
    assert_line 'Built with another compiler, options or folder: all is built again.'
    [ ! -e hello ]
    echo 'no C' >>libmine.cu # and half a library is not left behind
    FAILS=yes build BACKEND=cpu libmine.so
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
    assert_line 'Built with another compiler, options or folder: all is built again.'
    assert_output --partial '-o hello hello.cu'
}

@test "make: with another compiler or other options, what was built is built anew, once" {
    copy_out 02-dlopen-from-c
    local name setting make=(make --no-print-directory PYTHON="$TEST_PYTHON" BACKEND="$TEST_BACKEND" -C 02-dlopen-from-c hello_c)
    for name in gcc g++; do program bin/my$name 'exec "%s" "$@"' "$(command -v $name)"; done
    "${make[@]}" >/dev/null
    for setting in CFLAGS=-O1 CC=mygcc CXX=myg++; do
        for wanted in 1 0; do
            # shellcheck disable=SC2031
            try env PATH="$PWD/bin:$PATH" "${make[@]}" "$setting"
            assert_equal "$setting $(grep -c '^Built with another compiler, options or folder' <<<"$output")" "$setting $wanted"
        done
    done
    copy_out 03-cython-ctypes
    program "$BATS_TEST_TMPDIR/bin/python3" 'exec "%s" "$@"' "$TEST_PYTHON"
    for name in python3 "$BATS_TEST_TMPDIR/bin/python3"; do # the same one
        try env PATH="$BATS_TEST_TMPDIR/bin:$PATH" make -C 03-cython-ctypes PYTHON="$name" BACKEND="$TEST_BACKEND" .built-for
    done
    refute_line --partial 'Built with another compiler'
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

@test "make: a compiler that breaks off: nothing half-built stays" {
    copy_out 01-hello-kernel
    rm -rf common/cpu/lib
    program full 'while [ "${1:--o}" != -o ]; do shift; done\necho half >"${2:-half.o}"\necho No space left on device >&2\nexit 1'
    # shellcheck disable=SC2030
    export PATH=$PWD:$PATH
    FAILS=1 try env CC=full common/cpu/nvcc --build-runtime
    assert_equal "$stderr" 'No space left on device'
    assert_equal "$(ls common/cpu/lib)" libcpu_cuda.so.lock
    FAILS=2 try make CC=full BACKEND=cpu -C 01-hello-kernel hello
    [ ! -e 01-hello-kernel/hello ]
    # nor what was half-built when make was killed
    make BACKEND=cpu -C 01-hello-kernel hello
    : >01-hello-kernel/.made/hello
    echo half >01-hello-kernel/hello
    try make BACKEND=cpu -C 01-hello-kernel hello
    try 01-hello-kernel/hello
    assert_success
}

@test "make: each target alone: what it is made of has been made before" {
    copy_out 01-hello-kernel 02-dlopen-from-c 03-cython-ctypes 04-gather
    mkdir bin
    cat >bin/compiler <<'COMPILER' # compiles nothing: looks whether all is there, and says who it is
#!/bin/sh
for a; do
    case $last$a in
        -o*) made=$a ;;
        -L*) folder=${a#-L} ;;
        -[!l]* | -ldl) ;;
        -l*) [ -e "$folder/lib${a#-l}.so" ] || { echo "lib${a#-l}.so is not there" >&2; exit 1; } ;;
        *.*) [ -e "$a" ] || { echo "$a is not there" >&2; exit 1; } ;;
    esac
    case $a in -o) last=-o ;; *) last= ;; esac
done
echo "$0" >"$made"
COMPILER
    chmod +x bin/compiler
    program bin/cython 'touch "${4%%.pyx}.c"' # python -m cython -3 X.pyx
    # shellcheck disable=SC2031
    export PATH=$PWD/bin:$PATH
    DOCTOR=$(env PYTHON="$TEST_PYTHON" BACKEND=cuda NVCC=compiler "$TEST_PYTHON" common/doctor.py make |
        sed 's/override PY := [^|]*/override PY := cython/')
    export DOCTOR
    local room target all make=(make --no-print-directory CC=compiler CXX=compiler)
    for room in 0[1-4]*/ 04-gather/fast/ 04-gather/fast/bench/; do
        all=$("${make[@]}" -s -C "$room" --eval='all-builds: ; @echo $(BUILDS)' all-builds)
        [ "$(wc -w <<<"$all")" -ge 1 ] || fail "$room builds only: $all"
        for target in $all; do
            try "${make[@]}" -C "$room" clean
            try "${make[@]}" -C "$room" "$target"
            [ -e "$room/$target" ] || fail "$room: $target has not been made"
        done
    done
}
