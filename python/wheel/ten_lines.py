import sys

import numpy as np

import tessera as ts

head = ts.read(sys.argv[2]) if len(sys.argv) > 2 else ts.Volume(np.kron(np.pad(np.full((6, 6, 6), 92, np.uint8), 5), np.ones((4, 4, 4), np.uint8)))
middle = (head.affine @ [*(n / 2 for n in reversed(head.shape)), 1])[:3]
brain = ts.segment(head, [(*middle, 20 if len(sys.argv) > 2 else 6)], target=92, epsilon=34, alpha=0.45, max_steps=40)
mesh = ts.surface(ts.smooth(brain, 1), 0.5)
ts.write(mesh, sys.argv[1])
print(f"{int(brain.array.sum())} voxels, {len(mesh.triangles)} triangles")
assert len(mesh.triangles) > 1000
