#!/bin/sh
# examples.sh TESSERA [PART PARTS]: runs every line of the example in every verb's --help (or of every PARTS-th verb, PART from 0), in order, in an empty folder for each verb. What a reader copies works as it
# stands: nothing may be missing, and each line ends with 0. A line that only ends when it is told to (serve) is told so after it has said that it is ready.
set -u
tessera=$1 part=${2:-0} parts=${3:-1} number=0
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/bin" && ln -s "$tessera" "$folder/bin/tessera" || exit 1
PATH=$folder/bin:$PATH
export PATH
passed=0 failed=0

# serve ends with the signal that stops it
until_ready() {
    sh -c "exec $1" >.out 2>&1 &
    process=$!
    for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        grep -q 'http' .out && break
        kill -0 $process 2>/dev/null || return 1
        sleep 0.5
    done
    kill $process 2>/dev/null
    wait $process 2>/dev/null
    grep -q 'http' .out
}

verbs=$(tessera --help | sed -n '/^verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p')
for verb in $verbs; do
    number=$((number + 1))
    [ $((number % parts)) -eq "$part" ] || continue
    mkdir "$folder/$verb" && cd "$folder/$verb" || exit 1
    tessera "$verb" --help | sed -n '/^example:/,$p' | sed 1d >.lines
    if [ ! -s .lines ]; then
        failed=$((failed + 1))
        echo "$verb: no example"
    fi
    # lines that end in a backslash go on
    while IFS= read -r line; do
        case $line in
        '  tessera serve '*|'  tessera mvv play '*) until_ready "${line#  }" ;;
        *) sh -c "$line" >.out 2>&1 </dev/null ;;
        esac
        code=$?
        if [ $code -eq 0 ]; then passed=$((passed + 1)); else
            failed=$((failed + 1))
            echo "$verb: exit code $code:$line"
            sed 's/^/    /' .out | tail -5
        fi
    done <.lines
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
