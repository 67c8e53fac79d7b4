#!/usr/bin/env python3
"""Silhouettes and times of `tessera fluid` beside splashsurf's meshes (PyPI pysplashsurf): splashsurf.py PARTICLES.ply RADIUS [TESSERA]
prints the seconds of the reconstruction on one thread, those of the picture, and how much of the union of both silhouettes they share; also what the mesh shares
with itself where its iso value is moved by 0.05. --picture FILE.png as last argument: both side by side, and nothing else."""
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
import pysplashsurf

WIDTH, HEIGHT, FOV = 1920, 1080, 35.0


def read_ply(path):
    with open(path, "rb") as f:
        head = b""
        while not head.endswith(b"end_header\n"):
            head += f.readline()
        lines = head.decode().split("\n")
        count = int(next(x for x in lines if x.startswith("element vertex")).split()[2])
        names = [x.split()[2] for x in lines if x.startswith("property")]
        kinds = [{"float": "<f4", "double": "<f8", "float32": "<f4"}[x.split()[1]] for x in lines if x.startswith("property")]
        data = np.frombuffer(f.read(), dtype=list(zip(names, kinds)), count=count)
    return np.stack([data["x"], data["y"], data["z"]], 1).astype(np.float32)


def silhouette(corners):
    """Pixels whose middles lie in any of the triangles, [n][3][2] in pixels. (PIL's polygons take their outlines' pixels, too: half a pixel too many all round.)"""
    image = np.zeros((HEIGHT, WIDTH), bool)
    low = np.floor(corners.min(1) - 0.5).astype(int)
    extent = (np.ceil(corners.max(1) + 0.5).astype(int) - low).max(1)
    for size in sorted({int(2 ** np.ceil(np.log2(e))) for e in np.unique(extent)}):
        chosen = np.flatnonzero((extent <= size) & (extent > size // 2))
        for part in np.array_split(chosen, max(1, len(chosen) * size * size // 4000000)):
            if not len(part):
                continue
            x = low[part, 0, None, None] + np.arange(size)[None, None, :]
            y = low[part, 1, None, None] + np.arange(size)[None, :, None]
            signs = []
            for k in range(3):
                a, b = corners[part, k], corners[part, (k + 1) % 3]
                signs.append((b[:, 0] - a[:, 0])[:, None, None] * (y + 0.5 - a[:, 1, None, None]) - (b[:, 1] - a[:, 1])[:, None, None] * (x + 0.5 - a[:, 0, None, None]))
            inside = ((signs[0] >= 0) & (signs[1] >= 0) & (signs[2] >= 0)) | ((signs[0] <= 0) & (signs[1] <= 0) & (signs[2] <= 0))
            inside &= (x >= 0) & (x < WIDTH) & (y >= 0) & (y < HEIGHT)
            x, y = np.broadcast_arrays(x, y)
            image[y[inside], x[inside]] = True
    return image


def reconstruct(p, radius, iso):
    made = pysplashsurf.reconstruct_surface(p, particle_radius=radius, rest_density=1000.0, smoothing_length=2.0, cube_size=0.5, iso_surface_threshold=iso,
                                            multi_threading=False)
    mesh = made[0] if isinstance(made, tuple) else made.mesh
    return np.asarray(mesh.vertices, np.float64), np.asarray(mesh.triangles)


def picture(tessera, path, radius, vertices, triangles, eye, middle, out):
    from PIL import Image

    view = ["--width", "640", "--height", "400", "--fov", "30", "--eye", ",".join(map(str, eye)), "--target", ",".join(map(str, middle))]
    with tempfile.TemporaryDirectory() as folder:
        mesh, left, right = (os.path.join(folder, name) for name in ("mesh.ply", "left.png", "right.png"))
        with open(mesh, "wb") as file:
            file.write(f"ply\nformat binary_little_endian 1.0\nelement vertex {len(vertices)}\nproperty float x\nproperty float y\nproperty float z\n"
                       f"element face {len(triangles)}\nproperty list uchar int vertex_indices\nend_header\n".encode())
            file.write(vertices.astype("<f4").tobytes())
            faces = np.empty(len(triangles), [("n", "u1"), ("i", "<i4", 3)])
            faces["n"], faces["i"] = 3, triangles
            file.write(faces.tobytes())
        subprocess.run([tessera, "fluid", path, "--radius", str(radius), "--particle-scale", "1.3", "--resolution", "full", "--foam", "0", "--look", "oil", *view, "-o", left], check=True)
        subprocess.run([tessera, "render", mesh, "--supersampling", "2", *view, "-o", right], check=True)
        both = Image.new("RGB", (1288, 400), "white")
        both.paste(Image.open(left).convert("RGB"), (0, 0))
        both.paste(Image.open(right).convert("RGB"), (648, 0))
        both.save(out)


def main():
    path, radius = sys.argv[1], float(sys.argv[2])
    tessera = sys.argv[3] if len(sys.argv) > 3 else "tessera"
    p = read_ply(path)
    begin = time.process_time()
    vertices, triangles = reconstruct(p, radius, 0.6)
    peer = time.process_time() - begin
    low, high = p.min(0), p.max(0)
    middle = 0.5 * (low + high)
    eye = middle + np.array([0.35, -1.0, 0.5]) * 1.1 * np.linalg.norm(high - low)
    forward = (middle - eye) / np.linalg.norm(middle - eye)
    right = np.cross(forward, [0, 0, 1])
    right /= np.linalg.norm(right)
    up = np.cross(right, forward)
    if "--picture" in sys.argv:
        return picture(tessera, path, radius, vertices, triangles, eye, middle, sys.argv[-1])

    def outline(vertices, triangles):
        q = vertices - eye
        scale = 0.5 * HEIGHT / np.tan(np.radians(FOV / 2))
        z = q @ forward
        xy = np.stack([0.5 * WIDTH + scale * (q @ right) / z, 0.5 * HEIGHT - scale * (q @ up) / z], 1)
        return silhouette(xy[triangles])

    theirs = outline(vertices, triangles)
    for iso in (0.55, 0.65):
        moved = outline(*reconstruct(p, radius, iso))
        print(f"the mesh and itself at iso value {iso}: {(moved & theirs).sum() / (moved | theirs).sum():.4f}")
    best = None
    with tempfile.TemporaryDirectory() as folder:
        for scale_ in (1.1, 1.2, 1.3):
            out = os.path.join(folder, f"p{scale_}.png")
            done = subprocess.run([tessera, "fluid", path, "--radius", str(radius), "--particle-scale", str(scale_), "--width", str(WIDTH), "--height", str(HEIGHT),
                                   "--fov", str(FOV), "--eye", ",".join(map(str, eye)), "--target", ",".join(map(str, middle)), "--resolution", "full", "--foam", "0",
                                   "--iterations", "10", "--aov", "depth", "--threads", "1", "--json", "-o", out], check=True, capture_output=True, text=True)
            ours = np.isfinite(np.load(out[:-4] + "-depth.npy").reshape(HEIGHT, WIDTH))
            shared = (ours & theirs).sum() / max((ours | theirs).sum(), 1)
            print(f"particle scale {scale_}: {shared:.4f} of the silhouettes shared")
            if best is None or shared > best[0]:
                best = (shared, scale_, json.loads(done.stdout)["seconds_per_frame"])
    print(f"{len(p)} particles: splashsurf {peer:.3f} s of the processor; best shared silhouette {best[0]:.4f} at scale {best[1]}")


main()
