#!/bin/sh
# words.sh ROOT: what a shell user reads speaks of options and files, not of C. No text of tools/tessera names a function, a constant or a field of the library,
# and no message of the library a field behind a pointer: fields are written options.name, which the command line turns into --name. Names of functions in the
# library's messages are for programmers; the command line leaves the clause out (drop_api in shared.c).
set -u
root=$1 failed=0
# "text    (FILE:LINE)" of every string in the files given
texts() {
    for file in "$@"; do
        sed "s/'\"'//g; s/\\\\\"//g" "$file" |
            awk -F'"' -v file="${file#"$root"/}" '!/^[[:space:]]*(#|\/\*|\*|\/\/)/ { for (i = 2; i <= NF; i += 2) print $i "    (" file ":" NR ")" }'
    done
}
say() {
    [ -z "$2" ] && return
    failed=1
    printf '%s:\n%s\n' "$1" "$2"
}
tools=$(texts "$root"/tools/tessera/*.c | grep -E '(^|[^A-Za-z0-9_])(tsr_[a-z]+_[a-z_]+|TSR_[A-Z]+_[A-Z_0-9]+|[a-z]+->[a-z_]+|options\.[a-bd-z][a-z_]*|options\.c[a-z_]+|struct_size)' |
    grep -vE '^options\.overwrite, --force ') # what is looked for there
say 'a name of C in a text of the command line' "$tools"
library=$(texts "$root"/src/*/*.c "$root"/src/*/*.h | grep -E '[a-z]+->[a-z_]+')
say 'a pointer in a message of the library' "$library"
exit $failed
