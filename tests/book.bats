load helpers

# The book: make book makes it of the pages, and a browser shows it. See book.py.

@test "book: make help names it, and make clean removes it" {
    try make -s -C "$TOP" help
    assert_line --partial 'open book/index.html'
    try make -n -C "$TOP" clean
    assert_line --regexp '^rm -rf .* book$'
}

@test "book: in a browser its links lead somewhere, pictures are there, a phone shows it, the search finds both languages" {
    takes_long
    local browser
    browser=$(command -v chromium || command -v google-chrome) || skip "needs chromium"
    cd "$TOP" || return 1
    .venv/bin/python -c 'import playwright, furo' 2>/dev/null || skip "needs make book, and in .venv Python's playwright"
    try make -s book
    assert_success
    assert_equal "$stderr" ''
    try .venv/bin/python -B tests/book.py book "$browser"
    assert_success
    assert_output --regexp '^[0-9]+ pages, [0-9]+ links, 0 faults$'
}
