# %% [markdown]
# # An octree of a segmentation
# Labels of a brain atlas (or of a phantom) as an octree: few leaves say it all, and questions are answered from the leaves alone.

# %%
import numpy as np
import tessera as ts
from _data import SMALL, real

path = real("mri/aal.nii.gz")
if path:
    labels = ts.read(path).array
    labels = np.ascontiguousarray(labels[::3, ::3, ::3] if SMALL else labels)
else:
    z, y, x = np.mgrid[:64, :64, :64] - 31.5
    labels = (np.floor(np.sqrt(x * x + y * y + z * z) / 8)).astype(np.uint8)
tree = ts.octree(labels)
facts = tree.describe()
print(f"{labels.size} voxels, {facts.leaves} leaves: 1 in {labels.size / facts.leaves:.1f}")

# %%
# Volume of every label from the leaves: a leaf of level k has 8^k voxels, those beyond the border do not count.
leaves = tree.cubes()
values = tree.means(labels).astype(np.int64)
counts = np.bincount(values, weights=leaves["voxels"], minlength=int(labels.max()) + 1)
assert (counts == np.bincount(labels.ravel())).all(), "the leaves hold what the voxels hold"
largest = np.argsort(counts[1:])[::-1][:5] + 1
print("largest labels:", ", ".join(f"{k} ({int(counts[k])} voxels)" for k in largest))

# %%
# Which labels touch a box? Leaves that overlap it, without looking at a voxel.
lower, upper = np.array(labels.shape)[::-1] // 3, np.array(labels.shape)[::-1] // 2
side = leaves["side"][:, None]
inside = np.all((leaves["corner"] < upper) & (leaves["corner"] + side > lower), axis=1)
found = set(np.unique(values[inside]).tolist())
expected = set(np.unique(labels[lower[2] : upper[2], lower[1] : upper[1], lower[0] : upper[0]]).tolist())
print(f"{len(found)} labels in the box, from {int(inside.sum())} leaves instead of {int(np.prod(upper - lower))} voxels")
assert found == expected
