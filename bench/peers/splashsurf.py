#!/usr/bin/env python3
"""Silhouettes and times of `tessera fluid` beside splashsurf's meshes (PyPI pysplashsurf): splashsurf.py PARTICLES.ply RADIUS [TESSERA]
prints the seconds of the reconstruction on one thread, those of the picture, and how much of the union of both silhouettes they share."""
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
import pysplashsurf
from PIL import Image, ImageDraw

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


def main():
    path, radius = sys.argv[1], float(sys.argv[2])
    tessera = sys.argv[3] if len(sys.argv) > 3 else "tessera"
    p = read_ply(path)
    begin = time.process_time()
    made = pysplashsurf.reconstruct_surface(p, particle_radius=radius, rest_density=1000.0, smoothing_length=2.0, cube_size=0.5, iso_surface_threshold=0.6,
                                            multi_threading=False)
    peer = time.process_time() - begin
    mesh = made[0] if isinstance(made, tuple) else made.mesh
    vertices, triangles = np.asarray(mesh.vertices, np.float64), np.asarray(mesh.triangles)
    low, high = p.min(0), p.max(0)
    middle = 0.5 * (low + high)
    eye = middle + np.array([0.35, -1.0, 0.5]) * 1.1 * np.linalg.norm(high - low)
    forward = (middle - eye) / np.linalg.norm(middle - eye)
    right = np.cross(forward, [0, 0, 1])
    right /= np.linalg.norm(right)
    up = np.cross(right, forward)
    q = vertices - eye
    scale = 0.5 * HEIGHT / np.tan(np.radians(FOV / 2))
    z = q @ forward
    xy = np.stack([0.5 * WIDTH + scale * (q @ right) / z, 0.5 * HEIGHT - scale * (q @ up) / z], 1)
    image = Image.new("1", (WIDTH, HEIGHT))
    draw = ImageDraw.Draw(image)
    for t in xy[triangles]:
        draw.polygon([tuple(v) for v in t], fill=1)
    theirs = np.asarray(image)
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
