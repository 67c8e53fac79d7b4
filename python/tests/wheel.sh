#!/bin/sh
# wheel.sh PYTHON FOLDER LIBRARY: packs a library that is built already as a wheel, installs it into an empty environment, and runs a program of ten lines there.
set -e
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
python=$1 folder=$2 library=$3
rm -rf "$folder"
mkdir -p "$folder"
PYTHON=$python "$here/../build-wheel.sh" --library "$library" "$folder/wheels"
"$python" -m venv --without-pip --system-site-packages "$folder/clean"
"$python" -m pip --python "$folder/clean/bin/python" install -q --no-index --no-deps "$folder"/wheels/tessera-*.whl
unset PYTHONPATH TESSERA_LIBRARY
cd "$folder"
for mri in "$root/data/mri/ch2.nii.gz" ""; do [ -z "$mri" ] || [ ! -e "$mri" ] || break; done
# shellcheck disable=SC2086 # nothing, or a name
clean/bin/python "$here/../wheel/ten_lines.py" head.ply $mri
clean/bin/python - <<'END'
import pathlib, sys
import tessera
place = pathlib.Path(tessera.__file__).resolve()
assert sys.prefix in str(place), f"{place} is not the one that was installed"
END
if git -C "$root" rev-parse >/dev/null 2>&1; then
    PYTHON=$python "$here/../build-wheel.sh" --sdist "$folder/wheels"
    tar tzf "$folder"/wheels/tessera-*.tar.gz >names
    for name in CMakeLists.txt pyproject.toml setup.py include/tessera/volume.h src/core/core.c python/generate.py python/tessera/__init__.py; do
        grep -q "^tessera-[0-9.]*/$name\$" names || { echo "the source archive lacks $name" >&2; exit 1; }
    done
fi
