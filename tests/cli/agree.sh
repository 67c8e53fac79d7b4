#!/bin/sh
# agree.sh TESSERA [MRI]: 500 steps of a segmentation on the emulated CUDA kernels give the same mask and the same field, bit for bit, as on
# the CPU. The image is a piece of the real MRI where scripts/get-data.sh has fetched it, else a phantom.
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
for device in cpu emu; do
    "$tessera" segment image.nii "$@" --cfl 0.9 --max-steps 500 --device "$device" -o "$device.nii" --field "$device-field.nii" --json >"$device.json"
    grep -q '"steps": 500' "$device.json"
done
cmp cpu.nii emu.nii
cmp cpu-field.nii emu-field.nii
inside=$(sed -n 's/.*"inside_voxels": \([0-9]*\).*/\1/p' cpu.json)
echo "500 steps agree, $inside voxels inside"
[ "$inside" -gt 1000 ]
