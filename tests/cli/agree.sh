#!/bin/sh
# agree.sh TESSERA [MRI]: 500 steps of a segmentation on the emulated CUDA kernels give the same mask as on the CPU, with --exact and
# without, and with it the same field, bit for bit. The image is a piece of the real MRI where scripts/get-data.sh has fetched it, else a phantom.
set -eu
tessera=$1 mri=${2:-}
if ! "$tessera" devices | grep -q 'emu:0'; then
    echo "skipped: no emulator"
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
if [ -n "$mri" ] && [ -s "$mri" ]; then
    "$tessera" convert "$mri" --crop 40,60,60:80,100,100 -o image.nii
    set -- --sphere 16,25,25,8 --target 92 --epsilon 34 --alpha 0.45 --smoothing 1
else
    "$tessera" make phantom_tumour --size 40 --noise 0.05 --seed 5 -o image.nii
    set -- --sphere 15,24,18,4 --target 0.7 --epsilon 0.25 --alpha 0.9
fi
run() { # NAME DEVICE [--exact]
    name=$1 device=$2
    shift 2
    # shellcheck disable=SC2086
    "$tessera" segment image.nii $how "$@" --cfl 0.9 --max-steps 500 --device "$device" -o "$name.nii" --field "$name-field.nii" --json >"$name.json"
    grep -q '"steps": 500' "$name.json"
}
how=$*
run cpu cpu
run emu emu --exact
run fast emu
cmp cpu.nii emu.nii
cmp cpu-field.nii emu-field.nii
cmp cpu.nii fast.nii
inside=$(sed -n 's/.*"inside_voxels": \([0-9]*\).*/\1/p' cpu.json)
echo "500 steps agree, $inside voxels inside"
[ "$inside" -gt 1000 ]
