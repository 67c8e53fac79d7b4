#!/bin/sh
# references.sh LINT WORK: scripts/lint-references.sh must find each kind of citation that leads nowhere, and must pass a tree without any.
set -eu
lint=$1 work=$2
rm -rf "$work"
mkdir -p "$work/docs/theory" "$work/src"
cd "$work"
printf '# Page\n\n## 1. First\n\nText.\n' >docs/theory/page.md
mkdir -p docs/guide include/tessera
printf '# Guides\n\n[one](one.md), [headers](headers.md)\n' >docs/guide/index.md
printf '# One\n' >docs/guide/one.md
printf '# Headers\n\none.h\n' >docs/guide/headers.md
printf '/* */\n' >include/tessera/one.h
printf '# References\n\n* [Known99] A. Author: A Title.\n' >docs/references.md
good() { printf '/* docs/theory/page.md 1, [Known99 2.3] */\n' >src/a.c && printf '[page](docs/theory/page.md#1-first)\n' >README.md; }

good
"$lint" "$work" >/dev/null || { echo "references: a tree without a fault was refused"; exit 1; }

failed=0
expect() { # WHAT TEXT FILE: the lint must fail on TEXT in FILE and name it
    good
    printf '%s\n' "$2" >>"$3"
    if "$lint" "$work" >/dev/null 2>out.txt; then
        echo "references: $1 was not found"
        failed=1
    elif ! grep -q "^$3:" out.txt; then
        echo "references: $1: the message does not begin with $3"
        failed=1
    fi
}
expect "a page of another place" "/* spec page.md 2.1 */" src/a.c
expect "a page of another place, by its name alone" "/* see design.md */" src/a.c
expect "a section of nothing" "/* (spec 2.1) */" src/a.c
expect "a source without a name" "/* the source's own method */" src/a.c
expect "sources without names" "errata of the sources" README.md
expect "a path that does not exist" "/* docs/theory/none.md */" src/a.c
expect "a file of the tree that does not exist" "see \`src/none.c\`" README.md
expect "a section that does not exist" "/* docs/theory/page.md 2 */" src/a.c
expect "one of several sections that does not exist" "/* docs/theory/page.md 1, 3 */" src/a.c
expect "a link to no file" "[nothing](docs/none.md)" README.md
expect "a link to no heading" "[nothing](docs/theory/page.md#second)" README.md
expect "a publication that is not listed" "/* [Nobody01 3] */" src/a.c
good
printf '# Two\n' >docs/guide/two.md
printf '/* */\n' >include/tessera/two.h
if "$lint" "$work" >/dev/null 2>out.txt || ! grep -q '^docs/guide/two.md:' out.txt || ! grep -q '^include/tessera/two.h:' out.txt; then
    echo "references: a guide and a header that nothing leads to were not found"
    failed=1
fi
exit $failed
