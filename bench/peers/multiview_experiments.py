#!/usr/bin/env python3
"""The named experiments on multi-view textures, a table each (docs/theory/multiview.md 7): multiview_experiments.py TESSERA [--steps 8] [--json FILE]

  chroma     U and V at a third of the rate of Y, or at a quarter of the texels and all of that rate: which is better at equal bits?
  area       texels of the atlas for each pixel that shows the dancer: quality of views against the cameras' pictures at equal bytes
  charts     the atlas cut into more and more charts: quality at equal bits for each relevant texel
  geometry   geometry images: positions and colours of the surface as textures of six channels beside the packed model

The generated dancer, 8 cameras of 320 x 240, noise of sigma 1. Needs the Python package of tessera (PYTHONPATH, TESSERA_LIBRARY)."""
import argparse
import json
import pathlib
import shutil
import subprocess
import tempfile

import cv2
import numpy as np
import tessera

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("tessera")
parser.add_argument("--steps", type=int, default=8)
parser.add_argument("--only", default="chroma area charts geometry")
parser.add_argument("--json")
options = parser.parse_args()
tool = str(pathlib.Path(options.tessera).resolve())
work = pathlib.Path(tempfile.mkdtemp(prefix="multiview-experiments-"))
tables = {}
NOTHING = np.array([254, 0, 255])  # blue, green, red of views where the dancer is not


def run(*command):
    done = subprocess.run([tool, *map(str, command)], capture_output=True, text=True, cwd=work)
    if done.returncode not in (0, 3):
        raise SystemExit(f"{' '.join(map(str, command))}: {done.stderr}")
    return done.stdout


def table(name, columns, rows):
    tables[name] = {"columns": columns, "rows": rows}
    print(f"\n{name}\n| " + " | ".join(columns) + " |\n|" + "---|" * len(columns))
    for row in rows:
        print("| " + " | ".join(f"{v:.2f}" if isinstance(v, float) else str(v) for v in row) + " |", flush=True)


def psnr(error, count):
    return float(10 * np.log10(255**2 * count / error)) if error else float("inf")


def coded(m, **how):
    report = m.write(str(work / "coded.mvv"), **how)
    return tessera.Multiview.read(str(work / "coded.mvv")), report


def rgb(y, u, v):
    y, u, v = (a.astype(np.float64) for a in (y, u, v))
    return np.stack([y + 1.402 * (v - 128), y - 0.344136 * (u - 128) - 0.714136 * (v - 128), y + 1.772 * (u - 128)], -1).clip(0, 255)


def chroma(m):
    seen = np.asarray(m.visible, bool)
    full = [np.asarray(p) for p in m.planes]
    s, c, h, w = seen.shape
    parts = seen.reshape(s, c, h // 2, 2, w // 2, 2)
    count = parts.sum((3, 5))
    half = tessera.Multiview((w // 2, h // 2), c, s)
    for p in range(3):  # the components of the small one: U, V, U
        source = full[(1, 2, 1)[p]].reshape(parts.shape).astype(np.float64)
        mean = (source * parts).sum((3, 5)) / np.maximum(count, 1)
        half.planes[p][:] = np.where(count > 0, np.rint(mean), 0).astype(np.uint8)
    half.visible = count > 0
    rows = []
    for rate in (0.05, 0.15, 0.3, 0.75):
        a, report = coded(m, codec="spiht4d", bpp=(rate, rate / 3, rate / 3))
        y = np.asarray(a.planes[0])
        b, _ = coded(half, codec="spiht4d", bpp=(4 * rate / 3, 4 * rate / 3, 0.001))
        small = [np.asarray(b.planes[p]).repeat(2, 2).repeat(2, 3) for p in range(2)]
        n = seen.sum()
        row = [rate]
        for u, v in ((np.asarray(a.planes[1]), np.asarray(a.planes[2])), small):
            for got, was in ((u, full[1]), (v, full[2])):
                row.append(psnr(((got.astype(np.float64) - was) ** 2)[seen].sum(), n))
            row.append(psnr(((rgb(y, u, v) - rgb(*full)) ** 2)[seen].sum(), 3 * n))
        rows.append(row)
    table("chroma", ["bits a texel of Y", "U dB", "V dB", "RGB dB", "subsampled: U dB", "V dB", "RGB dB"], rows)


def view_quality(name):
    """Views from the cameras against their pictures, where the dancer is and every camera's own texture is left out."""
    error = count = 0
    for camera in (0, 3, 5):
        run("mvv", "render", name, "--step", 2, "--like", camera, "--leave-out", camera, "--background", "#ff00fe", "-o", "view.png", "--force")
        view = cv2.imread(str(work / "view.png")).astype(np.float64)
        truth = cv2.imread(str(work / f"clean/camera{camera:02d}/0002.png")).astype(np.float64)
        inside = cv2.erode((view != NOTHING).any(-1).astype(np.uint8), np.ones((3, 3))) > 0
        error += ((view - truth) ** 2)[inside].sum()
        count += 3 * inside.sum()
    return psnr(error, count)


def shown_pixels():
    shown = 0
    for camera in range(8):
        run("mvv", "render", "ideal.mvv", "--step", 2, "--like", camera, "--background", "#ff00fe", "-o", "view.png", "--force")
        shown += (cv2.imread(str(work / "view.png")) != NOTHING).any(-1).sum()
    return float(shown) * options.steps


def area(pixels):
    rows = []
    for size in (96, 128, 192, 256, 384, 512):
        info = json.loads(run("mvv", "make", "footage", "--size", f"{size},{size},1", "-o", "a.mvv", "--force", "--json"))
        row = [size, float(info["visible_texels"] / pixels), view_quality("a.mvv")]
        for kilobytes in (20, 60, 180):
            rate = kilobytes * 8e3 / (8 * options.steps * size * size) / (5 / 3)
            run("mvv", "encode", "a.mvv", "--bpp", rate, "--masks", "rebuilt", "-o", "b.mvv", "--force")
            row.append(view_quality("b.mvv"))
        rows.append(row)
    table("area", ["atlas", "visible texels a pixel", "uncoded dB", "20 kB dB", "60 kB dB", "180 kB dB"], rows)


def read_obj(path):
    vt, faces = [], []
    lines = open(path).read().splitlines()
    for line in lines:
        if line.startswith("vt "):
            vt.append([float(x) for x in line.split()[1:3]])
        elif line.startswith("f "):
            faces.append([[int(x) for x in corner.split("/")[:2]] for corner in line.split()[1:]])
    return lines, np.array(vt), np.array(faces)


def charts():
    """Each part's chart is cut into k x k pieces with room of two texels between them; the whole is scaled to the same texels."""
    rows = []
    lines, vt, faces = read_obj(work / "footage/mesh-0000.obj")
    for k in (4, 8, 16, 32, 64):
        middle = vt[faces[:, :, 1] - 1].mean(1)
        cell = np.floor(middle * k).astype(int).clip(0, k - 1)
        gap, count = 2.0 / 512, k
        places, corner, at = [], np.zeros(faces.shape[:2], int), {}
        scale = 1 / (1 + gap * (count - 1) + 2 * gap)
        for f in range(len(faces)):
            for c in range(3):
                key = (faces[f, c, 1], *cell[f])
                if key not in at:
                    at[key] = len(places) + 1
                    places.append((vt[faces[f, c, 1] - 1] + gap * (cell[f] + 0.5)) * scale)
                corner[f, c] = at[key]
        folder = work / f"charts{k}"
        shutil.copytree(work / "footage", folder)
        with open(folder / "atlas.obj", "w") as out:
            out.write("\n".join(line for line in lines if line.startswith("v ")) + "\n")
            out.write("".join(f"vt {u:.7f} {v:.7f}\n" for u, v in places))
            out.write("".join("f " + " ".join(f"{faces[f, c, 0]}/{corner[f, c]}" for c in range(3)) + "\n" for f in range(len(faces))))
        run("mvv", "make", folder, "--atlas", folder / "atlas.obj", "-o", "c.mvv", "--force")
        m = tessera.Multiview.read(str(work / "c.mvv"), no_masks=False)
        relevant = int(np.asarray(m.visible, bool).sum())
        row = [k * k, len({tuple(c) for c in cell}), relevant / 1e6]
        for how in ({"codec": "spiht4d"}, {"codec": "diff2d"}):
            for bits in (0.1, 0.5):
                rate = bits * relevant / np.asarray(m.visible).size
                d = m.compare(coded(m, bpp=(rate, rate / 3, rate / 3), **how)[0])
                row.append(float(d.psnr[0]))
        rows.append(row)
    table("charts", ["cells", "in use", "relevant texels (million)", "spiht4d 0.1 dB", "0.5 dB", "diff2d 0.1 dB", "0.5 dB"], rows)


def geometry():
    """XYZ of each texel of the atlas less the first step's, in 8 bits of their range, as the three components of one camera; RGB means as those of a second."""
    size = 128
    meshes = [read_obj(work / f"footage/mesh-{t:04d}.obj") for t in range(options.steps)]
    points = [np.array([[float(x) for x in line.split()[1:4]] for line in lines if line.startswith("v ")]) for lines, _, _ in meshes]
    run("mvv", "make", "footage", "--size", f"{size},{size},1", "-o", "g.mvv", "--force")
    m = tessera.Multiview.read(str(work / "g.mvv"))
    _, vt, faces = meshes[0]
    uv = vt[faces[:, :, 1] - 1] * size
    uv[..., 1] = size - uv[..., 1]
    xyz = np.zeros((options.steps, size, size, 3))
    inside = np.zeros((size, size), bool)
    for f in range(len(faces)):
        a, b, c = uv[f]
        low, high = np.floor(uv[f].min(0)).astype(int).clip(0, size - 1), np.ceil(uv[f].max(0)).astype(int).clip(0, size - 1)
        v, u = np.mgrid[low[1]:high[1] + 1, low[0]:high[0] + 1]
        det = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
        if det == 0:
            continue
        p, q = u + 0.5 - a[0], v + 0.5 - a[1]
        s, t = (p * (c[1] - a[1]) - q * (c[0] - a[0])) / det, (q * (b[0] - a[0]) - p * (b[1] - a[1])) / det
        hit = (s >= 0) & (t >= 0) & (s + t <= 1)
        for k in range(options.steps):
            corner = points[k][faces[f, :, 0] - 1]
            xyz[k, v[hit], u[hit]] = ((1 - s - t)[hit, None] * corner[0] + s[hit, None] * corner[1] + t[hit, None] * corner[2])
        inside[v[hit], u[hit]] = True
    moved = xyz - xyz[:1]
    low, span = moved.min((0, 1, 2)), np.ptp(moved, (0, 1, 2)).max()
    six = tessera.Multiview((size, size), 2, options.steps)
    seen = np.asarray(m.visible, bool)
    weight = seen.sum(1)
    for p in range(3):
        six.planes[p][:, 0] = np.rint((moved[..., p] - low[p]) / span * 255).clip(0, 255).astype(np.uint8)
        six.planes[p][:, 1] = np.where(weight > 0, (np.asarray(m.planes[p]).astype(np.float64) * seen).sum(1) / np.maximum(weight, 1), 0).astype(np.uint8)
    visible = np.zeros((options.steps, 2, size, size), bool)
    visible[:, 0], visible[:, 1] = inside, weight > 0
    six.visible = visible
    rows = []
    for rate in (0.1, 0.3, 1.0, 3.0):
        back, report = coded(six, codec="spiht4d", bpp=(rate,) * 3)
        got = np.stack([np.asarray(back.planes[p])[:, 0] for p in range(3)], -1) / 255 * span + low
        error = np.linalg.norm(got - moved, axis=-1)[:, inside]
        colour = ((np.asarray(back.planes[0])[:, 1].astype(np.float64) - np.asarray(six.planes[0])[:, 1]) ** 2)[visible[:, 1]]
        rows.append([rate, report.file_bytes / 1e3, 1e3 * float(np.sqrt((error**2).mean())), 1e3 * float(error.max()), psnr(colour.sum(), colour.size)])
    info = json.loads(run("mvv", "info", "g.mvv", "--json"))
    table("geometry", ["bits a texel", "kB, six channels", "rms mm", "most mm", "colour dB"], rows)
    tables["geometry"]["model_bytes"] = info["model_bytes"]
    print(f"8 bits of the range alone: up to {1e3 * span / 255 / 2:.1f} mm an axis; the packed model is exact in {info['model_bytes'] / 1e3:.0f} kB")


try:
    run("make", "mvv", "dancer", "--steps", options.steps, "--noise", 1, "-o", "footage")
    run("make", "mvv", "dancer", "--steps", 3, "-o", "clean")
    run("mvv", "make", "footage", "--size", "256,256,1", "-o", "ideal.mvv")
    only = options.only.split()
    if "chroma" in only:
        chroma(tessera.Multiview.read(str(work / "ideal.mvv")))
    if "area" in only:
        area(shown_pixels())
    if "charts" in only:
        charts()
    if "geometry" in only:
        geometry()
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(tables, indent=1))
finally:
    shutil.rmtree(work)
