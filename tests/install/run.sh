#!/bin/sh
# run.sh BUILD SOURCE CC CXX: installs BUILD into a fresh folder, moves that folder, and builds and runs the consumers against it.
set -eu
build=$1 source=$2 cc=$3 cxx=$4
work=$build/install-test
rm -rf "$work"
mkdir -p "$work"
cmake --install "$build" --prefix "$work/first" >"$work/install.log"
mv "$work/first" "$work/moved" # nothing may depend on the place it was installed to

# no symbols for debuggers, no folder of this machine's sources, and what a user reads
tree=$(cd "$source/../.." && pwd)
for file in "$work"/moved/bin/tessera "$work"/moved/lib*/libtessera.so.*.*.* "$work"/moved/lib*/*/libtessera.so.*.*.*; do
    [ -f "$file" ] || continue
    if readelf -S "$file" | grep -q '\.symtab'; then echo "install: $file is not stripped"; exit 1; fi
    if grep -qF "$tree/" "$file"; then echo "install: $file names the folder $tree"; exit 1; fi
done
for name in LICENSE NOTICES.md README.md CHANGELOG.md guide/index.md c/brain.c; do
    find "$work/moved/share" -path "*/$name" | grep -q . || { echo "install: no $name"; exit 1; }
done
grep -q ldconfig "$work/install.log"

libdir=$(dirname "$(dirname "$(find "$work/moved" -name tessera.pc)")")
if command -v pkg-config >/dev/null; then
    export PKG_CONFIG_PATH="$libdir/pkgconfig"
    # shellcheck disable=SC2046
    "$cc" -std=c11 -Wall -Wextra -pedantic -Werror "$source/consumer.c" -o "$work/consumer_c" $(pkg-config --cflags --libs tessera)
    # shellcheck disable=SC2046
    "$cxx" -std=c++17 -Wall -Wextra -pedantic -Werror "$source/consumer.cpp" -o "$work/consumer_cpp" $(pkg-config --cflags --libs tessera)
    LD_LIBRARY_PATH=$libdir "$work/consumer_c"
    LD_LIBRARY_PATH=$libdir "$work/consumer_cpp"
else
    echo "install: skipped pkg-config (not here)"
fi

cmake -S "$source/package" -B "$work/package" -DCMAKE_PREFIX_PATH="$work/moved" -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" >"$work/package.log"
cmake --build "$work/package" >>"$work/package.log"
"$work/package/consumer_c"
"$work/package/consumer_cpp"
"$work/package/consumer_uses_term" "$work/package/consumer_term"
"$work/moved/bin/tessera" --version
sh "$source/runpath.sh" "$work/moved"
