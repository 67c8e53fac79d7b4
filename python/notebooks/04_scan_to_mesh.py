# %% [markdown]
# # A scan to a mesh
# Points without normals become a closed surface; how far the points lie from it says how good it is.

# %%
import numpy as np
import tessera as ts
from _data import OUT, SMALL, real, show

path = real("meshes/points_3/kitten.xyz", "meshes/points_3/oni.ply")
if path:
    scan = ts.read(path, what="points")
else:
    print("no scan: points on a knot take its place")
    body = ts.surface(ts.shape("torus", radius=2, minor=0.7, spacing=0.05))
    scan = ts.Points(body.vertices[np.random.default_rng(1).permutation(len(body.vertices))[:8000]])
positions = scan.positions
scan

# %%
surface = ts.reconstruct(scan, depth=6 if SMALL else 8, start_depth=5, progress=not SMALL)
distance = np.abs(surface.sample(positions))
extent = float(np.ptp(positions, axis=0).max())
print(f"{surface}: points lie {distance.mean() / extent:.2e} of the extent away, 99 % within {np.percentile(distance, 99) / extent:.2e}")
assert distance.mean() < 0.01 * extent

# %%
mesh = ts.surface(surface)
assert mesh.measure().boundary_edges == 0
ts.write(mesh, OUT / "04_scan.ply")
show(ts.render(mesh, azimuth=40, elevation=15, size=(320, 240) if SMALL else (960, 720)), "04_scan.png")
