#!/bin/sh
# old_gpu.sh TESSERA: TESSERA_MODULES holds a CUDA module whose code runs on none of the GPUs. `devices` says why, auto takes the CPU, an explicit choice
# fails with exit code 4 and the reason.
set -u
wanted='GPU 1 (an old GPU) has compute capability 5.2, this module needs 8.0 or newer'
out=$("$1" devices 2>&1) || exit 1
printf '%s\n' "$out"
printf '%s\n' "$out" | grep -qF "$wanted" || exit 1
"$1" make sphere --size 8 -o old_gpu.nrrd --force >made.txt 2>&1
code=$?
cat made.txt
[ "$code" -eq 0 ] || exit 1
"$1" offset old_gpu.nrrd --distance 1 -o old_gpu.tsr --force --device cuda 2>err.txt
code=$?
cat err.txt
[ "$code" -eq 4 ] && grep -qF "$wanted" err.txt
