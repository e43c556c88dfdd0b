load helpers

# The pages show what comes: their commands, links, quoted code, and that both languages say the same. See pages.py.

# Runs the commands of pages; all in all there are so many at least: run_pages HOW_MANY PAGE...
run_pages() {
    local wanted=$1 count=0 page
    for page in "${@:2}"; do
        LIMIT=300 try "$TEST_PYTHON" tests/pages.py run "$page"
        assert_output --regexp "^([0-9]+) commands, 0 print something else\$"
        count=$((count + ${output%% *}))
    done
    [ "$count" -ge "$wanted" ] || fail "only $count commands in ${*:2}"
}

english() { # the pages of a folder in English; what they show is in the others too, see faults_of_translation
    printf '%s\n' "$1"/*.md | grep -v '\.zh\.md$'
}

@test "pages: the commands of 01-hello-kernel print what the pages show" {
    mapfile -t pages < <(english 01-hello-kernel)
    run_pages 18 "${pages[@]}"
}

@test "pages: the commands of 02-dlopen-from-c print what the pages show" {
    mapfile -t pages < <(english 02-dlopen-from-c)
    run_pages 20 "${pages[@]}"
}

@test "pages: the commands of 03-cython-ctypes print what the pages show" {
    mapfile -t pages < <(english 03-cython-ctypes)
    run_pages 14 "${pages[@]}"
}

@test "pages: the commands of 04-gather and its rooms print what the pages show" {
    mapfile -t pages < <(english 04-gather && english 04-gather/fast)
    run_pages 8 "${pages[@]}"
}

# What network.md needs: PyTorch of the Python under test, or else Debian's package, with its NumPy.
needs_torch() {
    "$TEST_PYTHON" -c 'import torch' 2>/dev/null || export PYTHONPATH=/usr/lib/python3/dist-packages
    "$TEST_PYTHON" -c 'import numpy, torch' 2>/dev/null || skip "needs PyTorch: apt install python3-torch"
}

@test "pages: the commands of 04-gather/fast/network.md print what it shows" {
    needs_torch
    MORE_KINDS=torch run_pages 2 04-gather/fast/network.md
}

@test "pages: the commands of 04-gather/fast/network.md for PyTorch 2.4 print what it shows" {
    needs_torch
    "$TEST_PYTHON" -c 'import torch; torch.library.custom_op' 2>/dev/null || skip "needs PyTorch 2.4"
    MORE_KINDS=torch-2.4 run_pages 1 04-gather/fast/network.md
}

@test "pages: the commands of the other pages print what the pages show" {
    [ "${SLOW:-}" != 1 ] || run_pages 1 README.md # make run takes long: make test-all
    [ "$TEST_BACKEND" = cuda ] || run_pages 3 common/cpu/README.md common/cpu/HOW.md
    mapfile -t pages < <(english common | grep -v LAB)
    run_pages 1 "${pages[@]}"
}

@test "pages: the commands of common/LAB.md print what it shows; they make a lab beside common" {
    copy_out 01-hello-kernel
    try "$TEST_PYTHON" "$TOP/tests/pages.py" run common/LAB.md
    assert_output --regexp '^[2-9] commands, 0 print something else$'
}

@test "pages: links lead somewhere, quoted code is in a source, both languages have the same parts" {
    mapfile -t pages < <(find ./*.md 0* common tests -name '*.md' | sort) # not those of a lab of one's own
    [ "${#pages[@]}" -ge 50 ]
    try "$TEST_PYTHON" tests/pages.py look "${pages[@]}"
    assert_output "${#pages[@]} pages, 0 faults"
    found() { "$TEST_PYTHON" tests/pages.py rows "common/cpu/README$1.md" "$2"; } # cases and messages of the stand-in
    assert_same <(found '' '| case | bug | the stand-in | a tool |') <(found .zh '| 名字 | 错误 | CPU 替身 | 工具 |')
}

@test "pages: the commands that compile are those of make" {
    program "$BATS_TEST_TMPDIR/bin/nvcc" # make asks whether it is there; -n does not run it
    local stage file
    for file in 01-hello-kernel/hello 02-dlopen-from-c/libhello.so; do
        stage=${file%/*}
        try env -u CC -u CXX PATH="$BATS_TEST_TMPDIR/bin:$PATH" make PYTHON="$TEST_PYTHON" BACKEND=cuda NVCC=nvcc CUDA_ARCH=native -n -B -C "$stage" "${file#*/}"
        line=$(sed -n "s|'||g; s|^.*/nvcc \(.* -o [a-z.]* [a-z]*\.cu\)\$|nvcc \1|p" <<<"$output")
        [ "$line" ]
        for pages in "$(english "$stage")" "$stage/*.zh.md"; do
            # shellcheck disable=SC2086
            cat $pages | sed -e ':a' -e '/\\$/N; s/ *\\\n */ /; ta' | grep -qxF -- "$line" || fail "$pages do not have: $line"
        done
    done
}

@test "pages: the container and CI run the commands of the root page" {
    first=$(grep '^sudo apt-get' README.md)
    [ "$first" ]
    assert_equal "$(grep -c "^sudo apt-get\|^make test$" README.md)" 2
    grep -qF "&& $first\"" .devcontainer/devcontainer.json
    grep -q 'make test-all' .ci/check # make test, and more
    first=${first#*install -y }
    grep -q "install .* ${first% && make run} " .ci/run
    assert_equal "$(grep -c ' run: ' .github/workflows/ci.yml)" 1
    grep -q ' run: .ci/run$' .github/workflows/ci.yml
}

@test "pages: a page that lies is noticed" {
    mkdir -p "$BATS_TEST_TMPDIR/page"
    cp tests/pages.py "$BATS_TEST_TMPDIR/page/"
    cd "$BATS_TEST_TMPDIR" || return 1
    echo '[page](page.md), [page](page.zh.md), [home](README.zh.md)' | tee README.md >README.zh.md
    lies() { # the text of a page, what pages.py says
        printf '# Page\n\n%b\n' "$1" | tee page.md >page.zh.md
        try "$TEST_PYTHON" "$TOP/tests/pages.py" run page.md
        local ran=$output
        try "$TEST_PYTHON" page/pages.py look ./*.md # in a repository that has no other file
        assert_regex "$ran"$'\n'"$output" "$2"
    }
    # shellcheck disable=SC2016
    {
        lies '```console\n$ echo one\none\n```' '^1 commands, 0 print something else.*4 pages, 0 faults$'
        lies '```console\n$ echo one\ntwo\n```' 'echo one.prints, with exit status 0:.one.*1 commands, 1 print'
        lies '```console\n$ echo one; echo two\none\n```' '1 commands, 1 print'
        lies '```console\n$ echo one; echo two\n…\ntwo\n$ echo a1\na…\n```' '2 commands, 0 print'
        lies '```console\n$ echo "one\n> two"\none\n> two\n```' '1 commands, 0 print'
        lies '```sh\nfalse\n```' '1 commands, 1 print'
        lies '[there](nothere.md)' 'no file nothere.md'
        lies '[there](#nosuch)' 'no section #nosuch'
        lies '[there](#page) and `[no](link)`' ' 0 faults'
        lies '```c\nint nowhere = 3;\n```' 'no source has this line: int nowhere'
        lies '    $ ls' 'a command outside of'
        lies '```text\nCPU stand-in: a message that nobody says\n```' "no source says 'a message that nobody says'"
    }
    mkdir common
    printf '// a number\nint x = 3; // three\n' >common/x.c
    both() { # a block in English and in Chinese, what pages.py says
        printf '# Page\n\n```%b\n```\n' "$1" >page.md
        printf '# Page\n\n```%b\n```\n' "$2" >page.zh.md
        try "$TEST_PYTHON" page/pages.py look ./*.md
        assert_regex "$output" "$3"
    }
    both 'c\n// a number\nint x = 3; // three' 'c\n// 一个数\nint x = 3; // 三' '4 pages, 0 faults$'
    both 'c\nint x = 3; // three' 'c\nint x = 4; // 三' 'in page.zh.md it is.*no source has this line: int x = 4.*4 pages, 2 faults$'
    both 'c\nint x = 3; // three' 'c\n// 三' 'in page.zh.md it is.*4 pages, 1 faults$'
    both 'c\nint x = 3; // three' 'c\nint x = 3; // tree' 'in page.zh.md it is.*4 pages, 2 faults$'
    both 'c\n// a number\nint x = 3; // three' 'c\n// 一个数' 'in page.zh.md it is.*4 pages, 1 faults$'
    both 'text\nfor each x:\n    add x' 'text\n对每个 x：\n    加上 x' '4 pages, 0 faults$'
    both 'text\nmake' 'text\nmake it' 'in page.zh.md it is.*4 pages, 1 faults$'
    both 'sh\nls # all' 'sh\nls # 全部' 'in page.zh.md it is.*4 pages, 1 faults$'
    rm -r README.zh.md common
    try "$TEST_PYTHON" page/pages.py look README.md page.md
    assert_regex "$output" 'README.md: there is no README.zh.md'
    echo >README.md
    try "$TEST_PYTHON" page/pages.py look README.md page.md
    assert_regex "$output" 'page.md: no page links to it'
    printf '# Page\n\n## Part\n\n```console\n$ ls\n```\n' >page.md
    printf '# Page\n\n```console\n$ ls\n```\n' >page.zh.md
    try "$TEST_PYTHON" page/pages.py look page.md
    assert_regex "$output" 'in page.zh.md it is.*where page.md has.##'
    printf '# Page\n\n[there](page/pages.py)\n' >page.md
    printf '# Page\n' >page.zh.md
    try "$TEST_PYTHON" page/pages.py look page.md
    assert_regex "$output" "only one of page.md and page.zh.md links to ..page/pages.py"
}

@test "pages: the times in a page are those of its bench.txt" {
    for stage in 01-hello-kernel 02-dlopen-from-c 03-cython-ctypes; do
        mkdir "$BATS_TEST_TMPDIR/$stage"
        cp $stage/*.md $stage/bench.txt "$BATS_TEST_TMPDIR/$stage/"
        try "$TEST_PYTHON" common/bench/bench_page.py "$BATS_TEST_TMPDIR/$stage"
        for page in "$stage"/*.md; do
            assert_same "$BATS_TEST_TMPDIR/$page" "$page"
        done
    done
    sed -i 's/^<!-- bench.txt -->$/<!-- bench -->/' "$BATS_TEST_TMPDIR"/*/reference.md
    FAILS=yes try "$TEST_PYTHON" common/bench/bench_page.py "$BATS_TEST_TMPDIR/03-cython-ctypes"
    assert_regex "$stderr" 'reference.md: the marks <!-- bench.txt --> … <!-- end of bench.txt --> have to be there once'
}
