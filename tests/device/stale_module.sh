#!/bin/sh
# stale_module.sh TESSERA: TESSERA_MODULES holds a module of another build. It is named and refused, by an explicit choice with exit code 4.
set -u
out=$("$1" devices 2>&1) || exit 1
printf '%s\n' "$out"
printf '%s\n' "$out" | grep -q 'libtessera_emu.so is of another version of tessera' || exit 1
"$1" devices --device emu 2>err.txt
code=$?
cat err.txt
[ "$code" -eq 4 ] && grep -q 'another version' err.txt
