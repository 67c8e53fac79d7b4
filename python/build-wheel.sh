#!/usr/bin/env bash
# Makes a wheel of the Python package with the C library inside, for every CPython from 3.9 on.
#
#   python/build-wheel.sh [OUTPUT FOLDER]                  a Release build, linked so that every Linux with glibc 2.28 or newer loads it (manylinux_2_28)
#   python/build-wheel.sh --library FILE [OUTPUT FOLDER]   packs a library that was built before, for this machine alone: what tests do
#   python/build-wheel.sh --cuda [OUTPUT FOLDER]           the second wheel, tessera-cuda13: the CUDA module alone (needs nvcc)
#   python/build-wheel.sh --sdist [OUTPUT FOLDER]          the source archive, from which pip builds
#
# Needs Python with pip, setuptools, wheel and cffi (PYTHON names it), a C compiler and CMake; for the first form GCC on Debian 12 or newer with the -dev packages
# of scripts/setup.sh and liblz4-dev, libsnappy-dev, whose static libraries go in, and auditwheel, if it is there, looks at the result. CMAKE_ARGS is handed to
# CMake, JOBS says how many at once; OBJECTS names a build folder that was configured so before, whose objects are linked as they are.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
python=${PYTHON:-python3}
mode=portable
library=
case ${1:-} in
--library) mode=packed library=$(realpath "$2"); shift 2 ;;
--cuda) mode=cuda; shift ;;
--sdist) mode=sdist; shift ;;
-*) sed -n '2,12s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
out=$(mkdir -p "${1:-$root/build/wheels}" && cd "${1:-$root/build/wheels}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
build=${BUILD:-$root/build/wheel}
machine=$(uname -m)
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$here/pyproject.toml")

if [ "$mode" = sdist ]; then
    folder=$work/tessera-$version
    mkdir -p "$folder"
    (cd "$root" && git ls-files -z -- CMakeLists.txt cmake include src tools examples LICENSE python | grep -zv '^python/\(tests\|notebooks\|bench\)/' | xargs -0 tar c) | tar x -C "$folder"
    mv "$folder/python/pyproject.toml" "$folder/python/README.md" "$folder"
    mv "$folder/python/wheel/setup.py" "$folder"
    sed -i 's|^packages = .*|packages = ["tessera"]\npackage-dir = { "" = "python" }|; s|^requires = .*|requires = ["setuptools>=64", "wheel", "cffi>=1.15", "cmake>=3.25"]|' "$folder/pyproject.toml"
    printf 'Metadata-Version: 2.1\nName: tessera\nVersion: %s\nRequires-Python: >=3.9\n' "$version" >"$folder/PKG-INFO"
    tar czf "$out/tessera-$version.tar.gz" -C "$work" "tessera-$version"
    ls -l "$out/tessera-$version.tar.gz"
    exit 0
fi

# -O2, as the preset release has it: -O3 makes the library larger and hardly anything faster. Loops for machines before AVX2 are small, not fast.
# shellcheck disable=SC2086 # several options
configure() { quietly cmake -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release "-DCMAKE_C_FLAGS_RELEASE=-O2 -DNDEBUG" "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG" -DTESSERA_SMALL_BASE=ON -DTESSERA_EMU=OFF -DTESSERA_TESTS=OFF -DTESSERA_BENCH=OFF "$@" ${CMAKE_ARGS:-}; }
compile() { quietly cmake --build "$build" -j"${JOBS:-$(nproc)}" --target "$@"; }
# What a step printed is shown if it fails.
quietly() { "$@" >"$work/log" 2>&1 || { tail -n 60 "$work/log" >&2; return 1; }; }

# The libraries that are linked into it: found by pkg-config in a folder of their own, so that others (HDF5, OpenEXR, JPEG XL) are left out.
portable() {
    local packages=(zlib libpng16 libpng libdeflate libzstd libtiff-4 libwebp libsharpyuv libjpeg liblzma jansson blosc liblz4)
    mkdir -p "$work/pkgconfig"
    for folder in "/usr/lib/$machine-linux-gnu/pkgconfig" /usr/lib/pkgconfig /usr/share/pkgconfig; do
        for package in "${packages[@]}"; do
            [ -e "$folder/$package.pc" ] && ln -sf "$folder/$package.pc" "$work/pkgconfig/"
        done
    done
    if [ -z "${OBJECTS:-}" ]; then
        PKG_CONFIG_LIBDIR=$work/pkgconfig configure -DTESSERA_CUDA=OFF -DCMAKE_DISABLE_FIND_PACKAGE_OpenEXR=ON
        PKG_CONFIG_LIBDIR=$work/pkgconfig compile tessera
    fi
    local cc=${CC:-gcc} archives=()
    for archive in tiff Lerc jbig webp png16 deflate jpeg jansson blosc lz4 snappy z zstd lzma; do
        [ -e "/usr/lib/$machine-linux-gnu/lib$archive.a" ] && archives+=("/usr/lib/$machine-linux-gnu/lib$archive.a")
    done
    "$cc" -O2 -fPIC -fvisibility=hidden -Wall -c "$here/wheel/threads.c" -o "$work/threads.o"
    "$cc" -O2 -fPIC -fno-builtin -fvisibility=hidden -Wall -c "$here/wheel/glibc.c" -o "$work/glibc.o"
    find "${OBJECTS:-$build}/src" -name '*.o' -path '*/room_*' | sort >"$work/objects"
    g++ -shared -static-libstdc++ -o "$work/libtessera.so.0.1" -Wl,-soname,libtessera.so.0.1 "-Wl,--version-script=$root/cmake/tessera.map" \
        -Wl,-z,defs,-z,relro,-z,now,--gc-sections,--exclude-libs,ALL -s "$work/threads.o" "$work/glibc.o" "@$work/objects" \
        -Wl,--start-group "${archives[@]}" -Wl,--end-group -Wl,--no-as-needed -l:libpthread.so.0 -l:libdl.so.2 -lm
    library=$work/libtessera.so.0.1
}

cp -r "$here" "$work/python"
rm -rf "$work/python/tests" "$work/python/notebooks" "$work/python/bench" "$work/python"/*.egg-info "$work/python/tessera/lib"
tag=linux_$machine
case $mode in
cuda)
    configure -DTESSERA_CUDA=ON
    compile tessera_cuda
    cp "$here/wheel/cuda.toml" "$work/python/pyproject.toml"
    rm -rf "$work/python/tessera"
    mkdir -p "$work/python/tessera_cuda"
    cp "$build"/lib/libtessera_cuda.so "$work/python/tessera_cuda/"
    cp "$here/wheel/cuda_init.py" "$work/python/tessera_cuda/__init__.py"
    strip "$work/python/tessera_cuda/libtessera_cuda.so"
    ;;
portable)
    portable
    tag=manylinux_2_28_$machine
    ;;
esac
if [ "$mode" != cuda ]; then
    mkdir -p "$work/python/tessera/lib"
    strip -o "$work/python/tessera/lib/libtessera.so.0.1" "$library"
    (cd "$work/python" && "$python" generate.py --headers "$root/include")
fi
cp "$here/wheel/setup.py" "$work/python/setup.py"
(cd "$work/python" && TESSERA_WHEEL_TAG=$tag "$python" -m pip wheel --no-deps --no-build-isolation --no-cache-dir -q -w "$out" .)
# shellcheck disable=SC2012 # names of wheels are plain
wheel=$(ls -t "$out"/tessera*.whl | head -1)
"$python" - "$wheel" <<'END' # as small as deflate makes it
import os, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as old, zipfile.ZipFile(sys.argv[1] + ".new", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as new:
    for one in old.infolist():
        data = old.read(one)
        one.compress_type = zipfile.ZIP_DEFLATED
        new.writestr(one, data, compresslevel=9)
os.replace(sys.argv[1] + ".new", sys.argv[1])
END
ls -l "$wheel"
if [ "$mode" = portable ] && "$python" -c 'import auditwheel' 2>/dev/null; then
    "$python" -m auditwheel show "$wheel" | tee "$work/audit"
    tr '\n' ' ' <"$work/audit" | grep -q "consistent with the following platform tag: *\"manylinux_2_\(1[0-9]\|2[0-8]\)_$machine\"" || { echo "the wheel needs more than glibc 2.28" >&2; exit 1; }
fi
