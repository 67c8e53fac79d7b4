#!/usr/bin/env bash
# The workbench on the demo's MRI, or on a phantom where that cannot be fetched. DEVICE=cpu|cuda|... chooses the device, PORT the port (default 8765).
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
mkdir -p build demo
echo "view: building (log: build/view.log)"
if ! { cmake --preset release && nice cmake --build --preset release -j"${JOBS:-$(nproc)}" --target tessera_cli; } >build/view.log 2>&1; then
    grep -A8 -E 'error' build/view.log | head -40 >&2
    exit 1
fi
if grep -q 'with the CUDA module' build/view.log && nvidia-smi -L >/dev/null 2>&1; then
    nice cmake --build --preset release -j"${JOBS:-$(nproc)}" --target tessera_cuda >>build/view.log 2>&1
fi
image=data/mri/ch2.nii.gz
if ! scripts/get-data.sh mri; then
    echo "view: the MRI cannot be fetched here, a phantom takes its place"
    image=demo/phantom.nii.gz
    build/release/bin/tessera make phantom_tumour --size 181,217,181 --noise 0.05 --seed 1 --force -o "$image"
fi
echo "view: open this address in a browser; Ctrl-C ends it"
exec build/release/bin/tessera serve "$image" --device "${DEVICE:-auto}" --port "${PORT:-8765}"
