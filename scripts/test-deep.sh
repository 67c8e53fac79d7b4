#!/usr/bin/env bash
# What `make test` leaves out for time: the fast suites under AddressSanitizer + UndefinedBehaviorSanitizer and under ThreadSanitizer, and
# every fuzz target for FUZZ_SECONDS each (default 60). Goes on after a failure and fails at the end.
# shellcheck disable=SC2317 # functions are called through stage
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. scripts/stage.sh
seconds=${FUZZ_SECONDS:-60}
jobs=${JOBS:-$(nproc)}
status=0

echo "== AddressSanitizer and UndefinedBehaviorSanitizer"
# Leaks are checked; a loaded module stays mapped on purpose.
ASAN_OPTIONS=detect_stack_use_after_return=0 scripts/test.sh asan -LE 'slow|fuzz' || status=1
echo "== ThreadSanitizer"
# The library starts threads, the command line none of its own; test_edit_flow (eleven minutes) those of test_edit and test_engine.
scripts/test.sh tsan -LE 'slow|fuzz|cli' -E '^test_edit_flow_cpu$' || status=1

echo "== fuzz targets, $seconds s each"
if ! command -v clang >/dev/null; then
    echo "skipped: fuzz targets (no clang)"
    exit $status
fi
build_fuzzers() {
    local names
    cmake --preset fuzz || return 1
    mapfile -t names < <(cmake --build --preset fuzz --target help | sed -nE 's/^\.\.\. (fuzz_[a-z0-9_]+)$/\1/p')
    [ ${#names[@]} -eq 0 ] || nice cmake --build --preset fuzz -j"$jobs" --target "${names[@]}"
}
if ! stage "fuzz build" build_fuzzers >build/fuzz.log 2>&1; then
    grep -E -A8 'error' build/fuzz.log | head -40
    echo "0 1" >>build/counts
    exit 1
fi
fuzz() { # TARGET: corpus in tests/fuzz/corpus/NAME where there is one; findings stay in build/fuzz/findings
    local target=$1 name seeds=()
    name=$(basename "$target")
    mkdir -p "build/fuzz/findings/$name" "build/fuzz/corpus/$name"
    [ ! -d "tests/fuzz/corpus/${name#fuzz_}" ] || seeds=("tests/fuzz/corpus/${name#fuzz_}")
    if "$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=3000 -print_final_stats=0 -verbosity=0 \
        -artifact_prefix="build/fuzz/findings/$name/" "build/fuzz/corpus/$name" "${seeds[@]}" >"build/fuzz/$name.log" 2>&1; then
        echo "$name: no finding"
        echo "1 0" >>build/counts
    else
        echo "$name: FINDING"
        tail -30 "build/fuzz/$name.log"
        echo "0 1" >>build/counts
        return 1
    fi
}
shopt -s nullglob
targets=(build/fuzz/tests/fuzz_*)
fuzz_all() {
    local running=0 found=0 target
    for target in "${targets[@]}"; do
        if [ ! -f "$target" ] || [ ! -x "$target" ]; then continue; fi
        fuzz "$target" &
        running=$((running + 1))
        if [ "$running" -ge "$jobs" ]; then
            wait -n || found=1
            running=$((running - 1))
        fi
    done
    while [ "$running" -gt 0 ]; do
        wait -n || found=1
        running=$((running - 1))
    done
    return "$found"
}
stage "fuzz" fuzz_all || status=1
[ ${#targets[@]} -gt 0 ] || echo "no fuzz targets built"
exit $status
