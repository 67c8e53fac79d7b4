# %% [markdown]
# # A part, thicker and hollow
# A mesh becomes a level set; offsets and boolean operations are then a line each, and what comes out is always a closed body.

# %%
import numpy as np
import tessera as ts
from _data import OUT, SMALL, real, show

path = real("meshes/meshes/anchor.off", "meshes/meshes/joint.off")
part = ts.read(path) if path else ts.surface(ts.shape("torus", radius=20, minor=6, spacing=0.5) | ts.shape("box", half=(6, 30, 4), spacing=0.5))
size = float(np.ptp(part.vertices, axis=0).max())
spacing = size / (90 if SMALL else 220)
body = ts.voxelize(part, spacing, rule="nonzero", progress=not SMALL)
body

# %%
wall = 0.02 * size
thicker = ts.offset(body, wall)
hollow = thicker - ts.offset(body, -wall)
volumes = [t.measure().volume for t in (body, thicker, hollow)]
print("volumes: part {:.4g}, thicker {:.4g}, hollow {:.4g}".format(*volumes))
assert volumes[0] < volumes[1] and volumes[2] < volumes[1]

# %%
# Half of it, to look inside: the mask of one side is a body as well.
field = hollow.volume()
z, y, x = (np.arange(n) for n in field.shape)
plane = ((y - len(y) / 2) * spacing)[None, :, None].astype(np.float32) + np.zeros(field.shape, np.float32)
cut = np.maximum(field.array, plane)
half_body = ts.surface(ts.Volume(cut, affine=field.affine), 0.0, inside="below", close=True)
assert half_body.measure().boundary_edges == 0
ts.write(ts.surface(hollow), OUT / "03_hollow.stl")
show(ts.render(half_body, azimuth=-60, elevation=30, size=(320, 240) if SMALL else (960, 720)), "03_hollow.png")
