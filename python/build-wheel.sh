#!/usr/bin/env bash
# Makes a wheel of the Python package with the C library inside, for every CPython from 3.9 on: python/build-wheel.sh [OUTPUT FOLDER]
# Needs a C compiler, CMake, and Python with the modules build (or pip), setuptools and cffi. The CUDA module is left out.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
out=$(mkdir -p "${1:-$root/build/wheels}" && cd "${1:-$root/build/wheels}" && pwd)
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake -S "$root" -B "$root/build/wheel" -DCMAKE_BUILD_TYPE=Release -DTESSERA_CUDA=OFF -DTESSERA_EMU=OFF -DTESSERA_TESTS=OFF -DTESSERA_BENCH=OFF >/dev/null
cmake --build "$root/build/wheel" -j"${JOBS:-$(nproc)}" --target tessera >/dev/null
cp -r "$here" "$work/python"
rm -rf "$work/python/tests" "$work/python"/*.egg-info
mkdir -p "$work/python/tessera/lib"
cp -L "$root"/build/wheel/lib/libtessera.so.0.1 "$work/python/tessera/lib/"
strip "$work/python/tessera/lib/libtessera.so.0.1"
(cd "$work/python" && "$python" generate.py --headers "$root/include" && cat >setup.py <<'END'
from setuptools import setup
from setuptools.dist import Distribution


class WithLibrary(Distribution):
    def has_ext_modules(self):
        return True


try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:
    from wheel.bdist_wheel import bdist_wheel


class AnyPython(bdist_wheel):
    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


setup(distclass=WithLibrary, cmdclass={"bdist_wheel": AnyPython})
END
"$python" -m pip wheel --no-deps --no-build-isolation -q -w "$out" .)
ls -l "$out"/tessera-*.whl
