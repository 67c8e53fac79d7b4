#!/usr/bin/env bash
# The floors of the rooms, references, clang-tidy over the C files of the dev build, shellcheck over the scripts.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/lint-rooms.py
scripts/lint-references.sh
shellcheck scripts/*.sh .ci/run tests/install/run.sh tests/install/programs.sh tests/cli/*.sh
cmake --preset dev -DTESSERA_CUDA=OFF >/dev/null
git ls-files 'src/*.c' 'tools/*.c' | xargs -P "${JOBS:-$(nproc)}" -n 4 clang-tidy -p build/dev --quiet
