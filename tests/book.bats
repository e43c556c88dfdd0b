load helpers

# The book: make book makes it of the pages, and a browser shows it. See book/book.py.

@test "book: make help names it, and make clean removes it; a book or an offline that make has not made is not touched" {
    copy_out Makefile 04-gather
    try make -s help
    assert_line --partial 'open book/index.html'
    mkdir book
    touch book/.buildinfo # Sphinx has made it
    try make STAGES= clean
    [ ! -e book ]
    mkdir book offline
    touch {book,offline}/own
    for folder in book offline; do
        FAILS=yes try make -s $folder
        assert_equal "${stderr%%$'\n'*}" "make would write over $folder, which it has not made: rename it"
    done
    try make STAGES= clean
    [ -e book/own ] && [ -e offline/own ]
}

@test "book: in a browser its links lead somewhere, pictures are there, a phone shows it, the search finds both languages" {
    takes_long
    local browser
    browser=$(command -v chromium || command -v google-chrome) || skip "needs chromium"
    .venv/bin/python -c 'import playwright, furo' 2>/dev/null || skip "needs make book, and in .venv Python's playwright"
    try make -s book
    assert_equal "$stderr" ''
    try .venv/bin/python -B tests/book/book.py book "$browser"
    assert_output --regexp '^[0-9]+ pages, [0-9]+ links, 0 faults$'
}
