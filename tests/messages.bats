load helpers

# common/MESSAGES.md, "If something fails": each message of its tables is provoked here, by what stands in messages/provocations.txt.

@test "messages: each message of common/MESSAGES.md comes, from what leads to it; in Chinese there are the same" {
    copy_out 01-hello-kernel
    export W=$COPY PYTHONDONTWRITEBYTECODE=1
    mkdir programs
    local program
    for program in hello silent vector_add; do
        common/cpu/nvcc -Icommon -o programs/$program 01-hello-kernel/$program.cu
    done
    export -f hide
    cd "$TOP" || return 1

    local message pattern rows=0 provocations=$BATS_TEST_DIRNAME/messages/provocations.txt
    messages_of() { "$TEST_PYTHON" tests/pages.py rows "common/MESSAGES$1" "$2"; }
    while IFS=$'\t' read -r message pattern _; do
        rows=$((rows + 1))
        command=$(grep -FxA1 -- "$message" "$provocations" | tail -n 1)
        [ -n "$command" ] || fail "nothing provokes: $message"
        EXPECTED=. try bash -c "IFS=; $command; true" # folders may have a name with a space
        grep -qE -- "$pattern" <<<"$output"$'\n'"$stderr" || fail "does not come: $message"
    done < <(messages_of .md '| you see | the cause | what helps |')
    assert_equal "$rows" "$(grep -c '^[^ #]' "$provocations")"
    assert_same <(messages_of .md '| you see | the cause | what helps |') <(messages_of .zh.md "$(grep -m 1 '^| ' common/MESSAGES.zh.md)")
}
