#!/bin/sh
# run.sh TESSERA CASES: runs the lines of a cases file in an empty folder, in order. A line is
#   CODE | ARGUMENTS | GLOB of stdout | GLOB of stderr
# ARGUMENTS are split and quoted by the shell; an empty glob expects no output at all; '*' anything. The same file may use what earlier
# lines wrote. A line that starts with '!' is a shell command to prepare or check something and must succeed. '?' PROGRAM: the lines from here to the
# next '?' need it and are skipped where it is not installed. '#' starts a comment.
set -u
tessera=$1 cases=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
export tessera
passed=0 failed=0 number=0 lacking='' skipped=0

trim() { # TEXT: `trimmed` becomes it without white space around it
    trimmed=${1#"${1%%[![:space:]]*}"}
    trimmed=${trimmed%"${trimmed##*[![:space:]]}"}
}
field() { # the part of `rest` before the next '|', trimmed, leaves `rest`
    case $rest in
    *'|'*)
        trim "${rest%%|*}"
        rest=${rest#*|}
        ;;
    *)
        trim "$rest"
        rest=''
        ;;
    esac
}
fits() { # TEXT GLOB
    # shellcheck disable=SC2254
    case $1 in
    $2) return 0 ;;
    *) return 1 ;;
    esac
}
wrong() {
    failed=$((failed + 1))
    printf 'line %s: %s\n  %s\n' "$number" "$1" "$line"
}

while IFS= read -r line || [ -n "$line" ]; do
    number=$((number + 1))
    case $line in
    '' | '#'*) continue ;;
    '?'*)
        trim "${line#?}"
        lacking=''
        if [ -n "$trimmed" ] && ! command -v "$trimmed" >/dev/null; then lacking=$trimmed; fi
        continue
        ;;
    esac
    if [ -n "$lacking" ]; then
        skipped=$((skipped + 1))
        continue
    fi
    case $line in
    '!'*)
        if sh -c "${line#!}" >out 2>&1; then passed=$((passed + 1)); else
            wrong "the command failed"
            cat out
        fi
        continue
        ;;
    esac
    rest=$line
    field && code=$trimmed
    field && arguments=$trimmed
    field && want_out=$trimmed
    field && want_err=$trimmed
    eval "\"\$tessera\" $arguments" >.out 2>.err </dev/null
    got=$?
    out='' err=''
    if [ "$want_out" != '*' ] && [ -s .out ]; then out=$(cat .out); fi
    if [ -s .err ] && { [ "$want_err" != '*' ] || [ "$got" != "$code" ]; }; then err=$(cat .err); fi
    if [ "$got" != "$code" ]; then wrong "exit code $got, expected $code; stderr: $err"
    elif ! fits "$out" "$want_out"; then wrong "stdout does not fit '$want_out': $out"
    elif ! fits "$err" "$want_err"; then wrong "stderr does not fit '$want_err': $err"
    else passed=$((passed + 1)); fi
done <"$cases"
[ "$skipped" -eq 0 ] || echo "$skipped lines: skipped, a program is not installed"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
