# %% [markdown]
# # Compressing a microscope's volume
# A stack is compressed without loss, with a bound on every voxel's error, and at a fixed number of bits; what matters is what it costs in the
# counting of cells. Name a file of your own (.tif, .ome.tif, .zarr, ...) in TESSERA_STACK; else a stack is drawn: nuclei, blur of the lens, photon noise.

# %%
import os
import numpy as np
import tessera as ts
from _data import OUT, SMALL

named = os.environ.get("TESSERA_STACK")
if named:
    stack = ts.read(named)
else:
    n = 48 if SMALL else 160
    rng = np.random.default_rng(7)
    light = np.full((n, n, n), 4.0, np.float32)
    for cz, cy, cx, r in np.c_[rng.random((n * n * n // 6000, 3)) * n, rng.uniform(4, 7, n * n * n // 6000)]:
        near = tuple(slice(max(0, int(c) - 12), int(c) + 13) for c in (cz, cy, cx))
        z, y, x = (np.arange(n, dtype=np.float32)[s] for s in near)
        far = np.sqrt((x - cx) ** 2 + (y - cy)[:, None] ** 2 + ((1.6 * (z - cz)) ** 2)[:, None, None])
        light[near] += 60 * np.exp(-np.maximum(0, far - r) ** 2)
    blurred = ts.smooth(ts.Volume(light, spacing=(0.2, 0.2, 0.5), unit="um"), 0.25)
    stack = ts.Volume(np.clip(rng.poisson(blurred.array) * 3 + 100, 0, 65535).astype(np.uint16), spacing=(0.2, 0.2, 0.5), unit="um")
stack

# %%
def cells(volume):
    """Bright pieces of the smoothed stack that are larger than a speck."""
    smooth = ts.smooth(volume, 0.3).array.astype(np.float32)
    bright = smooth > (np.percentile(smooth, 1) + np.percentile(smooth, 99.5)) / 2
    labels, _ = ts.label(bright.astype(np.uint8))
    return int((np.bincount(labels.array.ravel())[1:] > 30).sum())


plain = stack.array.nbytes
print(f"{'':22} {'1 : n':>7} {'largest error':>14} {'cells':>6}")
print(f"{'as it is':22} {1:7.1f} {0:14d} {cells(stack):6}")
for name, options in {"without loss": {}, "errors up to 8": {"max_error": 8}, "2 bits a voxel": {"rate": 2.0}, "0.5 bits a voxel": {"rate": 0.5}}.items():
    path = OUT / "06_stack.tsc"
    report = ts.compress(stack, path, **options)
    back = ts.read(path)
    worst = int(np.abs(back.array.astype(np.int64) - stack.array.astype(np.int64)).max())
    print(f"{name:22} {plain / report.file_bytes:7.1f} {worst:14d} {cells(back):6}")
    assert worst == 0 if not options else worst <= options.get("max_error", 10**6)
