#!/usr/bin/env python3
"""Depth, fusion and left-out views on the castle of ViSP's images, beside Open3D: castle.py TESSERA FOLDER [--views 8] [--at 20] [--left-out 20]

FOLDER is ViSP-images/mbt-depth/Castle-simu (Debian visp-images-data): 40 grey pictures with poses, and depths of a sensor that stands 50 mm to the right of the
camera (in the camera's axes a point has x less by 0.05 there): the poses alone, taken for the depths, make neighbouring frames disagree by up to 20 mm; with
the step they agree to 0.012 mm in the median. Prints what agrees first, then, all on one thread in the same run:
  depth     depths of the sensor from the nearest pictures: share of textured pixels within 1 mm of the truth. Textured: some picture changes by more than 8 grey
            values within 3 x 3 pixels there, and two pictures at least see the place (by the true depths).
  bound     what a window can say at all: told the true shape of the surface and who sees it, and left to find only how far it lies (-6 to 6 mm in steps of half a
            one) by the correlation of all pairs of pictures: the share of the textured pixels for which the best place is within 1 mm
  view      the depths of one frame from the others: median error, share over 5 mm, coverage, time
  fusion    all others at 1 mm voxels"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import cv2
import numpy as np

FOCAL, STEP = 700.0, np.array([-0.05, 0, 0])


def read(folder, i):
    pose = np.loadtxt(os.path.join(folder, "CameraPose", "Camera_%03d.txt" % i))
    raw = open(os.path.join(folder, "Depth", "Depth_%04d.bin" % i), "rb").read()
    h, w = np.frombuffer(raw[:8], np.uint32)
    depth = np.frombuffer(raw[8:], np.uint16).reshape(h, w) * np.float32(0.000030518)
    sensor = pose.copy()
    sensor[:3, 3] += STEP
    return pose, sensor, depth.astype(np.float32), cv2.imread(os.path.join(folder, "Images", "Image_%04d.pgm" % i), 0)


def transforms(path, frames, poses, images=None, depths=None):
    flip = np.diag([1.0, -1, -1, 1])
    out = {"fl_x": FOCAL, "fl_y": FOCAL, "cx": 320, "cy": 240, "w": 640, "h": 480, "frames": []}
    for k in range(len(frames)):
        frame = {"file_path": images[k] if images else "", "transform_matrix": (np.linalg.inv(poses[k]) @ flip).tolist()}
        if depths:
            frame["depth_file_path"] = depths[k]
        out["frames"].append(frame)
    json.dump(out, open(path, "w"))


def rays(depth):
    v, u = np.mgrid[0:depth.shape[0], 0:depth.shape[1]]
    return np.stack([(u + 0.5 - 320) / FOCAL * depth, (v + 0.5 - 240) / FOCAL * depth, depth], -1)


def places(points, to):
    q = points @ to[:3, :3].T + to[:3, 3]
    with np.errstate(all="ignore"):
        return (FOCAL * q[..., 0] / q[..., 2] + 320 - 0.5).astype(np.float32), (FOCAL * q[..., 1] / q[..., 2] + 240 - 0.5).astype(np.float32), q[..., 2]


def look(picture, x, y, how=cv2.INTER_LINEAR):
    return cv2.remap(picture.astype(np.float32), x, y, how, borderValue=0)


def agreement(data):
    for name, which in (("poses as they are", 0), ("with the sensor's step", 1)):
        off = []
        for a, b in ((1, 8), (10, 20), (20, 10), (30, 40)):
            x, y, z = places(rays(data[a][2]), data[b][which] @ np.linalg.inv(data[a][which]))
            nearest, d = look(data[b][2], x, y, cv2.INTER_NEAREST), look(data[b][2], x, y)
            both = (data[a][2] > 0) & (nearest > 0) & (np.abs(nearest - d) < 0.002)
            off.append(np.abs(d - z)[both])
        print("agreement    %-24s depths of frames 1-8, 10-20, 20-10, 30-40 differ by %.3f mm in the median" % (name, 1e3 * np.median(np.concatenate(off))))


def run(tessera, *arguments):
    done = subprocess.run([tessera, *arguments, "--threads", "1", "--json"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def textured(data, frame, chosen):
    """Where the truth can be told from the pictures: two see the place, and one of them has texture there."""
    points = (rays(data[frame][2]) - data[frame][1][:3, 3]) @ data[frame][1][:3, :3]
    seen, strong = np.zeros((480, 640), int), np.zeros((480, 640), bool)
    for f in chosen:
        pose, sensor, depth, picture = data[f]
        x, y, z = places(points, pose)
        xs, ys, zs = places(points, sensor)
        visible = (np.abs(look(depth, xs, ys, cv2.INTER_NEAREST) - zs) < 0.002) & (x >= 0) & (y >= 0) & (x <= 639) & (y <= 479)
        kernel = np.ones((3, 3), np.uint8)
        change = cv2.dilate(picture, kernel).astype(float) - cv2.erode(picture, kernel)
        seen += visible
        strong |= visible & (look(change, x, y, cv2.INTER_NEAREST) > 8)
    return (data[frame][2] > 0) & (seen >= 2) & strong


def seen_by(data, frame, f, depth, gap):
    """Picture f as the sensor of the frame would have it on the surface moved by gap, and where f sees that surface."""
    there = depth > 0
    points = (rays(np.where(there, depth + gap, 0)) - data[frame][1][:3, 3]) @ data[frame][1][:3, :3]
    still = (rays(depth) - data[frame][1][:3, 3]) @ data[frame][1][:3, :3]
    x, y, _ = places(points, data[f][0])
    xs, ys, zs = places(still, data[f][1])
    visible = there & (x >= 0) & (y >= 0) & (x <= 639) & (y <= 479) & (np.abs(look(data[f][2], xs, ys, cv2.INTER_NEAREST) - zs) < 0.002)
    return look(data[f][3], x, y) * visible, visible.astype(np.float32)


def bound(data, frame, chosen, where, side):
    sums = lambda a: cv2.boxFilter(a, cv2.CV_32F, (side, side), normalize=False)
    gaps, costs = np.arange(-12, 13) * 0.0005, []
    for gap in gaps:
        seen, total, pairs = [seen_by(data, frame, f, data[frame][2], gap) for f in chosen], 0, 0
        for i in range(len(seen)):
            for k in range(i):
                m = seen[i][1] * seen[k][1]
                a, b, n = seen[i][0] * m, seen[k][0] * m, sums(m)
                with np.errstate(all="ignore"):
                    sa, sb = sums(a), sums(b)
                    likeness = (sums(a * b) - sa * sb / n) / np.sqrt((sums(a * a) - sa * sa / n) * (sums(b * b) - sb * sb / n) + 1e-3)
                known = n > side * side / 2
                total = total + np.where(known, 1 - np.clip(likeness, -1, 1), 0)
                pairs = pairs + known
        costs.append(np.where(pairs > 0, total / np.maximum(pairs, 1), 9))
    best = gaps[np.argmin(costs, 0)]
    return 100 * (np.abs(best) <= 0.001)[where].mean()


def error_of(depth, truth):
    both = (depth > 0) & (truth > 0)
    off = np.abs(depth - truth)[both]
    return 1e3 * np.median(off), 100 * (off > 0.005).mean(), 100 * both.sum() / (truth > 0).sum()


def open3d_of(data, others, frame):
    try:
        import open3d
    except ImportError:
        print("view         Open3D is not installed (PyPI open3d-cpu)")
        return
    core = open3d.core
    k = core.Tensor(np.array([[FOCAL, 0, 319.5], [0, FOCAL, 239.5], [0, 0, 1]]))
    grid = open3d.t.geometry.VoxelBlockGrid(("tsdf", "weight", "color"), (core.float32, core.float32, core.float32), ((1), (1), (3)), 0.001, 16, 20000)
    spent = 0.0
    for f in others:
        color = open3d.t.geometry.Image(np.ascontiguousarray(np.repeat(data[f][3][:, :, None], 3, 2)).astype(np.float32))
        depth, pose = open3d.t.geometry.Image(data[f][2]), core.Tensor(data[f][1])
        start = time.process_time()
        blocks = grid.compute_unique_block_coordinates(depth, k, pose, 1.0, 10.0, 4.0)
        grid.integrate(blocks, depth, color, k, k, pose, 1.0, 10.0, 4.0)
        spent += time.process_time() - start
    print("fusion       Open3D VoxelBlockGrid, 1 mm: %.1f ms a frame of processor time" % (1e3 * spent / len(others)))
    pose, best = core.Tensor(data[frame][1]), 1e9
    for _ in range(3):
        start = time.process_time()
        shown = grid.ray_cast(grid.hashmap().key_tensor(), k, pose, 640, 480, ["depth"], 1.0, 0.2, 3.0, 1.0, 4.0, 8)
        best = min(best, time.process_time() - start)
    depth = np.squeeze(shown["depth"].numpy())
    print("view         Open3D, frame %2d fused at 1 mm and cast: median %.3f mm, %.2f %% over 5 mm, covered %.1f %%; %.1f ms of processor time"
          % ((frame,) + error_of(depth, data[frame][2]) + (1e3 * best,)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tessera")
    parser.add_argument("folder")
    parser.add_argument("--views", type=int, default=8)
    parser.add_argument("--apart", type=int, default=2, help="frames from one of the pictures to the next")
    parser.add_argument("--skip", nargs="*", default=[], help="depth, bound, view, fusion")
    parser.add_argument("--at", type=int, nargs="*", default=[5, 12, 20, 28, 36])
    parser.add_argument("--left-out", type=int, nargs="*", default=[5, 20, 36])
    o = parser.parse_args()
    tessera = os.path.abspath(o.tessera)
    data = {i: read(o.folder, i) for i in range(1, 41)}
    agreement(data)
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        for i in data:
            cv2.imwrite("i%02d.png" % i, data[i][3])
            np.save("d%02d.npy" % i, data[i][2])
        transforms("sensor.json", sorted(data), [data[i][1] for i in sorted(data)], None, ["d%02d.npy" % i for i in sorted(data)])
        for frame in o.at if "depth" not in o.skip else []:
            first = min(max(1, frame - o.apart * (o.views // 2)), 40 - o.apart * (o.views - 1))
            near = [first + o.apart * k for k in range(o.views)]
            transforms("near.json", near, [data[i][0] for i in near], ["i%02d.png" % i for i in near])
            where = textured(data, frame, near)
            if "bound" not in o.skip:
                print("bound        frame %2d, %d pictures: of the textured pixels %s %% can be placed within 1 mm by windows of 5, 9 and 15 pixels"
                      % (frame, len(near), ", ".join("%.1f" % bound(data, frame, near, where, side) for side in (5, 9, 15))))
            for options in ([], ["--refinements", "4"]):
                r = run(tessera, "depth", "--cameras", "near.json", "--sensor", "sensor.json", "--view", str(frame - 1), "--range", "0.3:0.8", "-o", "out.npy", "--force",
                        *options)
                depth = np.squeeze(np.load("out.npy"))
                off = np.abs(depth - data[frame][2])
                good = where & (depth > 0) & (off <= 0.001)
                print("depth        frame %2d, %d pictures %-16s %6d textured pixels, %5.2f %% with a depth, %5.2f %% of all within 1 mm, %5.2f %% of these; %.2f s"
                      % (frame, len(near), " ".join(options), where.sum(), 100 * (where & (depth > 0)).sum() / where.sum(), 100 * good.sum() / where.sum(),
                         100 * good.sum() / max(1, (where & (depth > 0)).sum()), r["seconds"]))
        for frame in o.left_out if "view" not in o.skip else []:
            for most in (2, 4, 8):
                r = run(tessera, "reproject", "sensor.json", "--like", str(frame - 1), "--most", str(most), "-o", "v.png", "--depth-output", "v.npy", "--force")
                print("view         tessera, frame %2d from %d of the others: median %.3f mm, %.2f %% over 5 mm, covered %.1f %%; %.1f ms"
                      % ((frame, most) + error_of(np.squeeze(np.load("v.npy")), data[frame][2]) + (1e3 * r["seconds"],)))
            open3d_of(data, [f for f in data if f != frame], frame)
        if "fusion" not in o.skip:
            r = run(tessera, "fuse", "--cameras", "sensor.json", "--voxel", "0.001", "-o", "m.ply", "--force")
            print("fusion       tessera, 1 mm:", r)


if __name__ == "__main__":
    main()
