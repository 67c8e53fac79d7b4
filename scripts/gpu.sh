#!/usr/bin/env bash
# Build, check and measure on a machine with a GPU (no network needed): scripts/gpu.sh build|test|sanitize|bench|all ...
#   build     with the CUDA module for this GPU, into build/gpu
#   test      every suite that works on a device, on cuda
#   sanitize  the same under compute-sanitizer (memcheck, then racecheck; SANITIZE_TOOLS="initcheck synccheck" names others); suites labelled "slow" are
#             left out. The emulator fills new memory with bits that show where they are read before they are written, in every `make test`.
#   bench     every benchmark on the GPU; JSON into $OUT (default bench/results)
# The table of what passed comes last; exit code 1 if anything failed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
export PATH=$PATH:/usr/local/cuda/bin
build=$PWD/build/gpu
out=${OUT:-$PWD/bench/results}
jobs=${JOBS:-$(nproc)}
export TESSERA_MODULES=$build/lib
rows=()
status=0

row() { # STEP RESULT SECONDS
    rows+=("$(printf '%-44s %-10s %6s s' "$1" "$2" "$3")")
    case $2 in ok | skipped | too-long) ;; *) status=1 ;; esac
}

step_build() {
    local start=$SECONDS arch
    arch=${TESSERA_GPU_ARCH:-$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -1 | tr -d .)}
    mkdir -p "$build"
    if cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DTESSERA_CUDA=ON -DTESSERA_CUDA_ARCHITECTURES="${arch:-90}" -DTESSERA_TEST_CUDA=ON \
        -DTESSERA_EMU=OFF >"$build/configure.log" 2>&1 && cmake --build "$build" -j"$jobs" >"$build/build.log" 2>&1; then
        grep -E '^-- (tessera|  )' "$build/configure.log" | sed 's/^-- //'
        row build ok $((SECONDS - start))
    else
        tail -15 "$build/configure.log"
        grep -E -A6 'error' "$build/build.log" 2>/dev/null | head -40
        row build FAILED $((SECONDS - start))
        return 1
    fi
    "$build/bin/tessera" devices --device cuda || row "tessera devices --device cuda" FAILED 0
}

step_test() {
    local start=$SECONDS result=ok
    ctest --test-dir "$build" -L cuda -j4 --timeout 200 --output-on-failure >"$build/test.log" 2>&1 || result=FAILED
    grep -E '\*\*\*|FAILED|tests passed|: error|cuda' "$build/test.log" | grep -v Passed | head -60
    row "suites on cuda" "$result" $((SECONDS - start))
}

# The programs of the cuda suites, without the slow ones.
suites() { ctest --test-dir "$build" -L cuda -LE slow -N -V 2>/dev/null | sed -nE 's/^[0-9]+: Test command: "?([^" ]+)"?.*/\1/p' | sort -u; }

# shellcheck disable=SC2317 # called through xargs
sanitize_one() { # TOOL SUITE: one line "TOOL SUITE result seconds"
    local log code result=ok start=$SECONDS
    log=$build/$1-$(basename "$2").log
    TESSERA_DEVICE=cuda timeout "${SANITIZE_SECONDS:-60}" compute-sanitizer --tool "$1" --error-exitcode 99 --print-limit 5 "$2" >"$log" 2>&1
    code=$?
    case $code in 0) ;; 124) result="too-long" ;; *) result=FAILED ;; esac
    echo "$1 $(basename "$2") $result $((SECONDS - start))"
}

step_sanitize() {
    local list=$build/sanitize.txt tool suite result seconds
    if ! command -v compute-sanitizer >/dev/null; then
        row "compute-sanitizer" skipped 0
        return 0
    fi
    export build
    export -f sanitize_one
    for tool in ${SANITIZE_TOOLS:-memcheck racecheck}; do
        for suite in $(suites); do printf '%s\0%s\0' "$tool" "$suite"; done
    done | timeout "${SANITIZE_TOTAL:-180}" xargs -0 -r -n 2 -P 4 bash -c 'sanitize_one "$@"' sanitize >"$list"
    while read -r tool suite result seconds; do
        row "$tool $suite" "$result" "$seconds"
        if [ "$result" = FAILED ]; then grep -E '=========|FAILED|error' "$build/$tool-$suite.log" | head -15; fi
    done <"$list"
}

step_bench() {
    local program start result name subject
    name=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -1 | tr '[:upper:] ' '[:lower:]-')
    mkdir -p "$out"
    for program in "$build"/bin/bench_*; do
        [ -x "$program" ] || continue
        start=$SECONDS
        result=ok
        subject=$(basename "$program")
        subject=${subject#bench_}
        timeout "${BENCH_SECONDS:-120}" "$program" --device cuda --json "$out/$subject-${name:-gpu}.json" >"$build/bench_$subject.log" 2>&1 || result=FAILED
        tail -12 "$build/bench_$subject.log"
        row "bench $subject" "$result" $((SECONDS - start))
    done
}

[ $# -gt 0 ] || { echo "usage: scripts/gpu.sh build|test|sanitize|bench|all ..." >&2; exit 2; }
steps=("$@")
[ "$1" != all ] || steps=(build test sanitize bench)
for step in "${steps[@]}"; do
    case $step in
    build) step_build || break ;;
    test) step_test ;;
    sanitize) step_sanitize ;;
    bench) step_bench ;;
    *) echo "gpu.sh: unknown step '$step', expected build, test, sanitize, bench or all" >&2; exit 2 ;;
    esac
done
printf '%s\n' "----" "${rows[@]}"
exit $status
