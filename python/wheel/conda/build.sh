#!/usr/bin/env bash
# The library and the command line from CMake, the Python package beside them: it finds libtessera by its name in the environment.
set -euo pipefail
# shellcheck disable=SC2086 # several options
cmake -S . -B build/conda -G Ninja $CMAKE_ARGS -DCMAKE_BUILD_TYPE=Release -DTESSERA_CUDA=OFF -DTESSERA_EMU=OFF -DTESSERA_TESTS=OFF -DTESSERA_BENCH=OFF
cmake --build build/conda
cmake --install build/conda --prefix "$PREFIX"
cd python
"$PYTHON" generate.py --headers ../include --cc "$CC"
"$PYTHON" -m pip install . --no-deps --no-build-isolation -vv
