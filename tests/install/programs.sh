#!/bin/sh
# programs.sh BUILD ROOT CC: the programs of README and tutorial are the files of examples/c, compile without a warning as a user would compile them, and do what the
# pages say.
set -eu
build=$1 root=$2 cc=$3
work=$build/programs-test
rm -rf "$work"
mkdir -p "$work"
fail() {
    echo "programs: $1" >&2
    exit 1
}

# The program PAGE shows first is FILE, to the letter.
shown() { # PAGE FILE
    awk '/^```c$/ { if (!seen) { seen = shows = 1; next } } /^```$/ { shows = 0 } shows' "$root/$1" >"$work/shown.c"
    cmp -s "$work/shown.c" "$root/$2" || fail "$1 does not show $2 as it is: $(diff "$work/shown.c" "$root/$2" | head -5)"
}
shown README.md examples/c/brain.c
shown docs/guide/c-tutorial.md examples/c/first.c

# CONTRIBUTING shows a function as it stands in its file, and every name of its table occurs in the file of its row.
awk '/^```c$/ { shows = 1; next } /^```$/ { shows = 0 } shows' "$root/CONTRIBUTING.md" >"$work/shown.c"
awk -v first="$(head -1 "$work/shown.c")" '$0 == first { found = 1 } found { print } found && /^}/ { exit }' "$root/src/volume/volume.c" >"$work/real.c"
[ -s "$work/real.c" ] || fail "CONTRIBUTING.md shows a function that src/volume/volume.c does not have: $(head -1 "$work/shown.c")"
cmp -s "$work/shown.c" "$work/real.c" || fail "CONTRIBUTING.md does not show it as it is: $(diff "$work/shown.c" "$work/real.c" | head -5)"
# shellcheck disable=SC2016 # backticks are Markdown's
sed -n 's/^| `\([a-z][A-Za-z0-9_./]*\.[a-z]*\)` | \(.*\) |$/\1 \2/p' "$root/CONTRIBUTING.md" >"$work/table.txt"
[ "$(wc -l <"$work/table.txt")" -ge 10 ] || fail "CONTRIBUTING.md has no table of the places of a capability"
while read -r file text; do
    echo "$text" | tr '`' '\n' | sed -n 'n;p' >"$work/names.txt" # what stands between backticks
    while read -r name; do
        case $name in
            tsr_* | TSR_* | *_convert | *_kernel | context*) grep -qF -- "$name" "$root/$file" || fail "CONTRIBUTING.md: $file does not have $name" ;;
        esac
    done <"$work/names.txt"
done <"$work/table.txt"

for name in brain first own_memory; do
    "$cc" -std=c11 -Wall -Wextra -pedantic -Werror -I"$root/include" "$root/examples/c/$name.c" -o "$work/$name" -L"$build/lib" -ltessera -Wl,-rpath,"$build/lib" ||
        fail "$name.c does not compile"
done
TESSERA_DEVICE=cpu
export TESSERA_DEVICE

"$work/first" "$work/torus.ply" >"$work/out.txt" || fail "first ended with $?"
grep -q 'Euler characteristic 0$' "$work/out.txt" || fail "first printed: $(cat "$work/out.txt")"
grep -qF "$(cat "$work/out.txt")" "$root/docs/guide/c-tutorial.md" || fail "the tutorial does not say what first prints: $(cat "$work/out.txt")"
[ -s "$work/torus.ply" ] || fail "first wrote nothing"
"$work/own_memory" >"$work/out.txt" || fail "own_memory ended with $?"
grep -q '^cancelled' "$work/out.txt" || fail "own_memory was not cancelled"

code=0
"$work/brain" >/dev/null 2>&1 || code=$?
[ $code = 2 ] || fail "brain without arguments ended with $code, expected 2"
code=0
"$work/brain" "$work/nothing.nii.gz" "$work/mask.nii.gz" "$work/brain.ply" 2>"$work/err.txt" || code=$?
[ $code = 1 ] || fail "brain without its input ended with $code, expected 1"
grep -q 'nothing.nii.gz' "$work/err.txt" || fail "brain without its input said: $(cat "$work/err.txt")"

# The lines for the shell in the README, as they stand.
if [ -x "$build/bin/tessera" ]; then
    awk '/^## / { here = $0 == "## From a shell" } here && /^```sh$/ { shows = 1; next } /^```$/ { shows = 0 } shows' "$root/README.md" >"$work/lines.sh"
    [ "$(grep -c '^tessera ' "$work/lines.sh")" -ge 5 ] || fail "README.md shows no lines for the shell"
    (mkdir "$work/shell" && cd "$work/shell" && PATH=$build/bin:$PATH && export PATH && sh -eu ../lines.sh >../out.txt 2>&1) || fail "the lines of the README: $(cat "$work/out.txt")"
    for name in mask.nii.gz tumour.ply tumour.png knot.ply; do
        [ -s "$work/shell/$name" ] || fail "the lines of the README do not write $name"
    done
fi

head=$root/data/mri/ch2.nii.gz
if [ -e "$head" ] && [ -x "$build/bin/tessera" ]; then
    "$work/brain" "$head" "$work/mask.nii.gz" "$work/brain.ply" || fail "brain ended with $?"
    "$build/bin/tessera" compare "$work/mask.nii.gz" "$root/data/mri/ch2bet.nii.gz" --min-dice 0.96 >"$work/out.txt" || fail "the brain: $(cat "$work/out.txt")"
else
    echo "programs: the brain was not segmented (scripts/get-data.sh mri fetches it)"
fi
