#!/usr/bin/env bash
# The main job on real data: a T1 head MRI, a few seeds in the brain, a level set that grows over its grey values; then the mask, the surface
# and pictures of both in demo/, and a table. Where the data cannot be fetched a phantom takes its place, and the table says so.
# DEVICE=cpu|cuda|... chooses the device (default: auto).
set -euo pipefail
cd "$(dirname "$0")/.."
device=${DEVICE:-auto}

scripts/setup.sh
mkdir -p build demo
echo "demo: building (log: build/demo.log)"
targets=(tessera_cli)
if ! cmake --preset release >build/demo.log 2>&1; then
    cat build/demo.log >&2
    exit 1
fi
grep 'left out' build/demo.log | sed 's/^-- */demo: /' || true
if grep -q 'with the CUDA module' build/demo.log && nvidia-smi -L >/dev/null 2>&1; then targets+=(tessera_cuda); fi
if ! nice cmake --build --preset release -j"${JOBS:-$(nproc)}" --target "${targets[@]}" >>build/demo.log 2>&1; then
    grep -A8 -E 'error' build/demo.log | head -40 >&2
    exit 1
fi
tessera() { build/release/bin/tessera "$@"; }
json() { sed -nE "s/^ *\"$2\": \"?([^\",]*)\"?,?\$/\1/p" "$1" | head -1; } # FILE KEY: one number or text of flat JSON

if scripts/get-data.sh mri; then
    input=data/mri/ch2.nii.gz
    truth=data/mri/ch2bet.nii.gz
    name="T1 head MRI (mricron-data, ch2)"
    # Seeds as voxel indices and a radius in mm: both hemispheres in front and behind, the middle, both halves of the cerebellum. The grey
    # values of brain are 92 +- 34.
    # shellcheck disable=SC2054 # the commas belong to the values
    parameters=(--sphere 56,145,85,30 --sphere 124,145,85,30 --sphere 56,85,90,32 --sphere 124,85,90,32 --sphere 90,115,80,30
        --sphere 65,65,38,18 --sphere 115,65,38,18 --target 92 --epsilon 34 --alpha 0.45 --smoothing 1)
else
    echo "demo: the MRI cannot be fetched here, a phantom takes its place"
    input=demo/phantom.nii.gz
    truth=demo/phantom-truth.nii.gz
    name="phantom_tumour (the MRI could not be fetched)"
    tessera make phantom_tumour --size 181,217,181 --noise 0.05 --seed 1 --force -o "$input" --truth "$truth"
    # shellcheck disable=SC2054
    parameters=(--sphere 118,91,82,8 --target 0.7 --epsilon 0.2 --alpha 0.7) # in the tumour
fi

start=$(date +%s.%N)
echo "demo: segmenting"
tessera segment "$input" "${parameters[@]}" --cfl 0.9 --max-steps 900 --volume-tolerance 1e-4 --device "$device" --force --json \
    -o demo/mask.nii.gz --field demo/field.nii.gz >demo/segment.json
echo "demo: extracting the surface"
tessera surface demo/field.nii.gz --device "$device" --force --json -o demo/brain.ply >demo/surface.json
echo "demo: drawing"
tessera render "$input" --surface demo/field.nii.gz --gallery --device "$device" --force -o demo/brain.png
echo "demo: comparing with the reference"
tessera compare demo/mask.nii.gz "$truth" --min-dice 0 --json >demo/compare.json
elapsed=$(awk -v a="$start" -v b="$(date +%s.%N)" 'BEGIN { printf "%.1f", b - a }')

volume_ml=$(awk -v v="$(json demo/segment.json volume)" 'BEGIN { printf "%.2f", v / 1000 }')
cat >demo/summary.json <<END
{
  "input": "$name",
  "steps": $(json demo/segment.json steps),
  "active_voxels": $(json demo/segment.json active_voxels),
  "seconds": $(json demo/segment.json seconds),
  "steps_per_s": $(json demo/segment.json steps_per_s),
  "area_mm2": $(json demo/surface.json area),
  "volume_ml": $volume_ml,
  "dice": $(json demo/compare.json dice),
  "device": "$(json demo/segment.json device)"
}
END
cat <<END

  input              $name
  steps              $(json demo/summary.json steps), stopped by: $(json demo/segment.json stop)
  active voxels      $(json demo/summary.json active_voxels)
  time of the steps  $(json demo/summary.json seconds) s, $(json demo/summary.json steps_per_s) steps/s on $(json demo/summary.json device)
  surface area       $(json demo/summary.json area_mm2) mm2, $(json demo/surface.json triangles) triangles
  volume             $volume_ml ml
  Dice               $(json demo/summary.json dice) against the brain mask that comes with the data
  everything         $elapsed s after setup and build

  demo/mask.nii.gz  demo/brain.ply  demo/brain.png (sheet of six)  demo/brain-*.png  demo/summary.json
END
