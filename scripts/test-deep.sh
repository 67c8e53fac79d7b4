#!/usr/bin/env bash
# What `make test` leaves out for time: the fast suites under AddressSanitizer + UndefinedBehaviorSanitizer and under ThreadSanitizer, those that
# scripts/touched.py calls due (TESSERA_ALL=1: all), and every fuzz target for FUZZ_SECONDS each (default: three minutes shared by all) from FUZZ_SEED
# (default 1, so that a finding comes again; 0: another one every time). Goes on after a failure and fails at the end.
# shellcheck disable=SC2317 # functions are called through stage
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. scripts/stage.sh
seed=${FUZZ_SEED:-1}
jobs=${JOBS:-$(nproc)}
at_once=$((4 * jobs)) # fuzz targets; their seconds are those of the clock
status=0
mapfile -t due < <(scripts/touched.py)
[ ${#due[@]} -eq 6 ] || exit 1
not_due=${due[0]}

echo "== AddressSanitizer and UndefinedBehaviorSanitizer"
# One build by clang serves the suites and the fuzz targets; without clang the suites run alone, built by the compiler that is there.
clang=$(command -v clang || true)
[ -n "$clang" ] || export TESSERA_CMAKE="${TESSERA_CMAKE:-} -DCMAKE_C_COMPILER=cc -DCMAKE_CXX_COMPILER=c++ -DTESSERA_FUZZ=OFF"
# Leaks are checked; a loaded module stays mapped on purpose.
TESSERA_TARGETS=${due[1]} ASAN_OPTIONS=detect_stack_use_after_return=0 scripts/test.sh asan -LE "slow|fuzz|$not_due" -E "${due[3]}" || status=1
echo "== ThreadSanitizer"
# The library starts threads, the command line none of its own.
TESSERA_TARGETS=${due[2]} scripts/test.sh tsan -LE "slow|fuzz|cli|$not_due" -E "${due[4]}" || status=1

targets=()
if [ -x build/asan/tests/fuzz_targets ]; then mapfile -t targets <build/asan/tests/fuzz/targets.txt; fi
seconds=${FUZZ_SECONDS:-$((180 * at_once / (${#targets[@]} + 1) + 1))}
echo "== fuzz targets, $seconds s each"
if [ -z "$clang" ]; then
    echo "skipped: fuzz targets (no clang)"
    exit $status
fi
fuzz() { # TARGET: starts from its own seeds and what earlier runs found; findings stay in build/fuzz/findings
    local name=fuzz_$1
    mkdir -p "build/fuzz/findings/$name" "build/fuzz/corpus/$name"
    if TESSERA_FUZZ_TARGET=$1 TESSERA_FUZZ_SEEDS="build/fuzz/corpus/$name" build/asan/tests/fuzz_targets -seed="$seed" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=3000 -print_final_stats=0 -verbosity=0 \
        -artifact_prefix="build/fuzz/findings/$name/" "build/fuzz/corpus/$name" >"build/fuzz/$name.log" 2>&1; then
        echo "$name: no finding"
        echo "1 0" >>build/counts
    else
        echo "$name: FINDING"
        tail -30 "build/fuzz/$name.log"
        echo "0 1" >>build/counts
        { echo "failed: $name" && grep -a -E 'ERROR|SUMMARY|runtime error|#[0-9]+ 0x' "build/fuzz/$name.log" | head -12 | cut -c1-240; } >>build/failures
        return 1
    fi
}
fuzz_all() {
    local running=0 found=0 target
    for target in "${targets[@]}"; do
        fuzz "$target" &
        running=$((running + 1))
        if [ "$running" -ge "$at_once" ]; then
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
if [ ${#targets[@]} -eq 0 ]; then
    echo "no fuzz targets built" | tee -a build/failures
    echo "0 1" >>build/counts
    status=1
fi
exit $status
