# %% [markdown]
# # Bones of a CT, to print
# Bone is what is dense: a threshold in the right place, the largest pieces, a little smoothing, and a closed mesh in millimetres.

# %%
import numpy as np
import tessera as ts
from _data import OUT, SMALL, real, show

path = real("ct-chest.nrrd")
if path:
    chest = ts.read(path)
    level = 150.0
else:
    print("no ct-chest.nrrd: a phantom of ribs takes its place")
    z, y, x = np.mgrid[:64, :96, :96].astype(np.float32)
    ring = np.abs(np.hypot(x - 48, y - 48) - 36) < 3
    chest = ts.Volume((60 + 120 * (ring & (z % 16 < 7))).astype(np.uint8), spacing=(1.4, 1.4, 2.5))
    level = 120.0
chest

# %%
if SMALL and path:
    chest = ts.Volume(np.ascontiguousarray(chest.array[40:90, ::2, ::2]), spacing=(2.8, 2.8, 2.5))
labels, count = ts.label((chest.array > level).astype(np.uint8), connectivity=26)
sizes = np.bincount(labels.array.ravel())
sizes[0] = 0
keep = np.flatnonzero(sizes > max(200, sizes.max() // 200))
bone = ts.Volume(np.isin(labels.array, keep).astype(np.float32), spacing=chest.spacing)
print(f"{count} pieces, {len(keep)} kept")

# %%
mesh = ts.surface(ts.smooth(bone, 1.0), 0.5, close=True)
facts = mesh.measure()
print(f"{len(mesh.triangles)} triangles, {facts.volume / 1000:.0f} ml, boundary edges {facts.boundary_edges}")
assert facts.boundary_edges == 0, "a print wants a closed surface"
ts.write(mesh, OUT / "02_bones.stl")
show(ts.render(mesh, azimuth=20, elevation=10, size=(320, 240) if SMALL else (960, 720), surface_color=(0.93, 0.89, 0.80)), "02_bones.png")
