#!/usr/bin/env bash
# Configure, build and run ctest for one preset: scripts/test.sh PRESET [ctest options]. TESSERA_TARGETS: builds these alone, for suites that need no
# more. Says what was left out and what was skipped, and appends "passed failed" to build/counts for the caller's closing line and what failed to
# build/failures.
set -euo pipefail
cd "$(dirname "$0")/.." || exit 1
. scripts/stage.sh
preset=$1
shift
jobs=${JOBS:-$(nproc)}
configure=()
[ -z "${TESSERA_CMAKE:-}" ] || read -ra configure <<<"$TESSERA_CMAKE" # further options, for example -DTESSERA_CUDA=OFF
if [ -z "${CMAKE_GENERATOR:-}" ] && [ ! -f "build/$preset/CMakeCache.txt" ] && command -v ninja >/dev/null; then
    configure+=(-G Ninja) # no waiting at the end of every library; a folder that make has begun stays make's
fi

mkdir -p build
log=build/$preset.log
if ! stage "$preset configure" cmake --preset "$preset" "${configure[@]}" >"$log" 2>&1; then
    cat "$log"
    echo "0 1" >>build/counts
    { echo "failed: $preset configure" && tail -10 "$log"; } >>build/failures
    exit 1
fi
grep -E '^-- (tessera|  )' "$log" | sed 's/^-- //'
read -ra targets <<<"${TESSERA_TARGETS:+--target $TESSERA_TARGETS}"
if ! stage "$preset build" nice cmake --build --preset "$preset" -j"$jobs" "${targets[@]}" >"$log" 2>&1; then
    grep -E -A8 'error|warning' "$log" | head -60 || tail -40 "$log"
    echo "build of preset $preset failed: $log has all of it" >&2
    echo "0 1" >>build/counts
    { echo "failed: $preset build" && grep -E -A4 'error|FAILED' "$log" | head -20; } >>build/failures
    exit 1
fi

junit=$PWD/build/$preset/junit.xml
rm -f "$junit"
status=0
stage "$preset tests" ctest --test-dir "build/$preset" --output-on-failure --no-tests=error -j"$jobs" --output-junit "$junit" "$@" || status=$?
count() { sed -nE "0,/<testsuite/s/.*[[:space:]]$1=\"([0-9]+)\".*/\1/p; /^[[:space:]]*$1=\"/s/.*$1=\"([0-9]+)\".*/\1/p" "$junit" | head -1; }
total=$(count tests) failed=$(count failures) skipped=$(count skipped)
echo "$((total - failed - skipped)) $failed" >>build/counts
scripts/failures.py "$junit" >>build/failures
grep -hE '^\[  SKIPPED \]|: skipped' "build/$preset/Testing/Temporary/LastTest.log" | sed 's/^/skipped: /' | sort -u || true
exit $status
