#!/usr/bin/env bash
# References, clang-tidy over the C files of the dev build, shellcheck over the scripts.
set -euo pipefail
cd "$(dirname "$0")/.."
shellcheck scripts/*.sh .ci/run tests/install/run.sh tests/cli/*.sh
scripts/lint-references.sh
cmake --preset dev -DTESSERA_CUDA=OFF >/dev/null
git ls-files 'src/*.c' 'tools/*.c' | xargs -P "${JOBS:-$(nproc)}" -n 4 clang-tidy -p build/dev --quiet
