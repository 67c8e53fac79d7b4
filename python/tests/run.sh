#!/bin/sh
# run.sh PYTHON FOLDER COMPILER: copies the package to FOLDER, makes its declarations from the headers, and runs its tests and examples there.
set -e
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$2"
mkdir -p "$2"
cp -r "$here/.." "$2/python"
mkdir -p "$2/include"
cp -r "$here/../../include/tessera" "$2/include/"
cd "$2/python"
"$1" generate.py --cc "$3" >/dev/null
export TESSERA_SOURCE="${TESSERA_SOURCE:-$(cd "$here/../.." && pwd)}"
PYTHONPATH=$PWD exec "$1" -m pytest -q -p no:cacheprovider
