# %% [markdown]
# # Depth from a rig
# Two cameras are calibrated by the pictures of a chessboard that they took together (`scripts/get-data.sh vision`); then depth is swept from pictures of a rig
# whose truth is known, fused to a surface, and seen from a place where no camera stood.

# %%
import numpy as np
import tessera as ts
from _data import OUT, SMALL, real, show

try:
    from PIL import Image  # photographs in JPEG are read by others
except ImportError:
    Image = None

if Image is not None and real("vision/left01.jpg"):
    numbers = (1, 3, 5, 7, 9) if SMALL else (1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14)
    board = np.array([(x, y, 0.0) for y in range(6) for x in range(9)])
    points, pixels, camera = [], [], []
    for number in numbers:
        seen = [ts.find_chessboard(np.asarray(Image.open(real(f"vision/{side}{number:02d}.jpg"))), 9, 6) for side in ("left", "right")]
        if seen[0] is None or seen[1] is None:
            continue
        for which, corners in enumerate(seen):
            points.append(board), pixels.append(corners), camera.append(which)
    pose = [k // 2 for k in range(len(pixels))]
    rig = ts.calibrate(points, pixels, (640, 480), camera=camera, pose=pose)
    left, right = rig.pinholes
    baseline = np.linalg.norm(np.array(right.translation) - np.array(left.translation))
    print(f"{rig}: focal lengths {left.fx:.1f} and {right.fx:.1f} pixels, baseline {baseline:.2f} squares")
    assert rig.rms < 0.6 and 500 < left.fx < 580
else:
    print("no data/vision, or no Pillow: the calibration is left out")

# %%
size = (96, 72) if SMALL else (240, 180)
cameras = ts.Rig.make("arc", count=5, degrees=40, distance=4, height=0.8, width=size[0], height_pixels=size[1]).cameras
shots = [ts.analytic("head", c, size, backdrop=True) for c in cameras]
pictures, truths = [s[0] for s in shots], [s[1] for s in shots]
maps = [ts.plane_sweep(pictures, cameras, c, nearest=2, farthest=14, method="volume") for c in cameras]
errors = [np.abs(m.depth - t)[(m.valid > 0) & (t > 0)] / t[(m.valid > 0) & (t > 0)] for m, t in zip(maps, truths)]
print("median error of the depth: " + ", ".join(f"{100 * np.median(e):.2f} %" for e in errors))
assert np.median(np.concatenate(errors)) < (0.05 if SMALL else 0.02)
show(ts.depth_image(maps[2].depth), "08_depth.png")

# %%
mesh = ts.fuse([np.where((m.valid > 0) & (m.depth < 6), m.depth, 0) for m in maps], cameras, 0.06 if SMALL else 0.03, pictures)
ts.write(mesh, OUT / "08_fused.ply")
between = ts.Camera.look_at((0.9, -3.6, 1.4), (0, 0, 0), fov=40, clip=(0.4, 16))
seen, depth = ts.reproject([m.depth for m in maps], cameras, between, size, pictures, merge="blend", connect="threshold")
truth = ts.analytic("head", between, size, backdrop=True)[0].array.astype(int)
there = depth > 0
print(f"{len(mesh.triangles)} triangles; the new view covers {100 * there.mean():.0f} %, mean difference {np.abs(seen.array[..., :3].astype(int) - truth)[there].mean():.1f} grey values")
show(seen, "08_new_view.png")
