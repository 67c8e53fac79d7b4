#!/usr/bin/env bash
# Builds and runs every benchmark on the CPU (or DEVICE); JSON into bench/results. Prints what misses its bar; never fails for that.
set -euo pipefail
cd "$(dirname "$0")/.."
device=${DEVICE:-cpu}
cmake --preset release -DTESSERA_BENCH=ON >build/bench.log 2>&1 || { mkdir -p build; cmake --preset release -DTESSERA_BENCH=ON >build/bench.log; }
nice cmake --build --preset release -j"${JOBS:-$(nproc)}" >>build/bench.log
mkdir -p bench/results
shopt -s nullglob
for program in build/release/bin/bench_*; do
    subject=$(basename "$program")
    subject=${subject#bench_}
    echo "== $subject"
    "$program" --device "$device" --json "bench/results/$subject-$device.json" || echo "bench $subject failed"
done
echo "== bars missed"
grep -H -B12 '"holds": false' bench/results/*-"$device".json | grep -E '"(case|ratio|bar)"' || echo none
