#!/bin/sh
# headers.sh SOURCE CC CXX WORK: every public header alone, and every struct begun by its macro, as C99 and as C++17, with -Wpedantic and no warning.
set -eu
source=$1 cc=$2 cxx=$3 work=$4
mkdir -p "$work"
cd "$work"
for header in "$source"/include/tessera/*.h; do
    name=$(basename "$header")
    [ "$name" = mpi.h ] || echo "#include \"tessera/$name\"" >"$name.c" # that one needs MPI
    [ "$name" = mpi.h ] || cp "$name.c" "$name.cpp"
done
{
    echo '#include "tessera/tessera.h"'
    echo 'int main(void)'
    echo '{'
    sed -E -e ':more' -e '/\\$/{N;s/\\\n//;bmore' -e '}' "$source"/include/tessera/*.h |
        sed -nE 's/^#define (TSR_[A-Z0-9_]+) +(TSR_SIZED\(|\{.*struct_size = sizeof\()(tsr_[a-z0-9_]+)\).*/    { \3 made = \1; if (made.struct_size != sizeof(\3)) return 1; }/p'
    echo '    return 0;'
    echo '}'
} >structs.c
cp structs.c structs.cpp
count=$(grep -c 'made =' structs.c)
[ "$count" -ge 110 ] || { echo "headers: only $count structs found"; exit 1; }
flags="-Wall -Wextra -Wpedantic -Wshadow -Werror -I$source/include -fsyntax-only"
# shellcheck disable=SC2086
"$cc" -std=c99 $flags ./*.c
# shellcheck disable=SC2086
"$cxx" -std=c++17 $flags ./*.cpp
"$cxx" -std=c++17 -I"$source/include" structs.cpp -o structs && ./structs
echo "headers: $count structs"
