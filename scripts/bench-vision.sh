#!/usr/bin/env bash
# Depth, views and alignment against their bars, in at most a minute and a half: scripts/bench-vision.sh [BUILD] [DEVICE].
# BUILD is a folder with benches (-DTESSERA_BENCH=ON -DCMAKE_BUILD_TYPE=Release). What bounds each case stands on top of bench_depth.c, bench_views.c and bench_align.c.
set -uo pipefail
build=${1:-build/rel}
device=${2:-cuda}
status=0
for name in depth views align; do
  timeout 40 "$build/bin/bench_$name" --device "$device" || status=1
done
exit $status
