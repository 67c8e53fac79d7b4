# %% [markdown]
# # The brain of an MRI
# A level set grows from a few seeds over the grey values of a T1 head (`scripts/get-data.sh mri`), and becomes a mask, a surface and a picture.

# %%
import numpy as np
import tessera as ts
from _data import SMALL, real, show

path = real("mri/ch2.nii.gz")
if path:
    head = ts.read(path)
    seeds = [(56, 145, 85, 30), (124, 145, 85, 30), (56, 85, 90, 32), (124, 85, 90, 32), (90, 115, 80, 30), (65, 65, 38, 18), (115, 65, 38, 18)]  # voxels and mm
    seeds = [(*(head.affine @ [x, y, z, 1])[:3], r) for x, y, z, r in seeds]
    options = {"target": 92, "epsilon": 34, "alpha": 0.45, "smoothing": 1}
else:
    print("no data/mri/ch2.nii.gz: a phantom takes its place")
    z, y, x = np.mgrid[:96, :96, :96] - 47.5
    noise = np.random.default_rng(1).normal(0, 6, z.shape)
    head = ts.Volume(np.clip(np.where(x * x + y * y + z * z < 30**2, 92, 20) + noise, 0, 255).astype(np.uint8))
    seeds, options = [(48, 48, 48, 12)], {"target": 92, "epsilon": 34, "alpha": 0.8}
head

# %%
brain = ts.segment(head, seeds, cfl=0.9, max_steps=60 if SMALL else 900, volume_tolerance=1e-4, **options)
print(f"{brain.array.sum() * np.prod(brain.spacing) / 1000:.0f} ml")
reference = real("mri/ch2bet.nii.gz")
if path and reference:
    truth = ts.read(reference).array > 0
    ours = brain.array > 0
    dice = 2 * (truth & ours).sum() / (truth.sum() + ours.sum())
    print(f"Dice with the mask that comes with the MRI: {dice:.3f}")
    assert dice > (0.5 if SMALL else 0.93)

# %%
surface = ts.surface(ts.smooth(brain, 1.0), 0.5, normals="central")
show(ts.render(surface, azimuth=120, elevation=20, size=(320, 240) if SMALL else (960, 720)), "01_brain.png")
