#!/usr/bin/env bash
# Configure, build and run ctest for one preset: scripts/test.sh PRESET [ctest options]. TESSERA_TARGETS: builds these alone, for suites that need no
# more. Says what was left out and what was skipped, and appends "passed failed" to build/counts for the caller's closing line and what failed, or failed
# once, to build/failures.
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

# What fails is tried once more, when it is only a few: a suite that passes then is unsteady, a fault to be found (a race, a wait too short), but the
# change at hand need not have made it. It is named with what it printed. By their names: the numbers of --rerun-failed are others where -E left some out.
few=5
count() { sed -nE "0,/<testsuite/s/.*[[:space:]]$1=\"([0-9]+)\".*/\1/p; /^[[:space:]]*$1=\"/s/.*$1=\"([0-9]+)\".*/\1/p" "$2" | head -1; }
first=$PWD/build/$preset/junit.xml again=$PWD/build/$preset/junit-again.xml
reports=("$first")
rm -f "$first" "$again"
status=0
run=(ctest --test-dir "build/$preset" --output-on-failure --no-tests=error -j"$jobs" --output-junit)
stage "$preset tests" "${run[@]}" "$first" "$@" || status=$?
total=$(count tests "$first") failed=$(count failures "$first") skipped=$(count skipped "$first")
grep -hE '^\[  SKIPPED \]|: skipped' "build/$preset/Testing/Temporary/LastTest.log" | sed 's/^/skipped: /' | sort -u || true
if [ "$failed" -gt 0 ] && [ "$failed" -le "$few" ]; then
    status=0
    stage "$preset again" "${run[@]}" "$again" -R "$(scripts/failures.py --names "$first")" || status=$?
    failed=$(count failures "$again")
    reports+=("$again")
fi
echo "$((total - failed - skipped)) $failed" >>build/counts
scripts/failures.py "${reports[@]}" >>build/failures
exit $status
