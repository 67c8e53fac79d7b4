#!/usr/bin/env python3
"""Multi-view textures beside simulcast: the same footage as one x265 film per camera (ffmpeg), at equal PSNR of re-rendered views.

Both sides have the model. Ours: textures coded by `tessera mvv encode`. Theirs: the cameras' films coded by x265 (preset medium, one key frame), decoded, and
made into textures by the same `tessera mvv make`. Both are rendered from the footage's cameras and from between them, and compared with what uncoded textures
give. Bits of equal PSNR are read off the curves (bits in logarithm, straight between points), for luma and for RGB: x265 codes a quarter of the chroma samples
and gives them few bits, textures by default a third of the bits of Y to each of U and V.
usage: multiview.py TESSERA [--steps N] [--noise SIGMA] [--phong SHARE] [--size N] [--codec diff2d] [--json FILE]"""
import argparse
import json
import math
import pathlib
import shutil
import subprocess
import tempfile

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("tessera")
parser.add_argument("--steps", type=int, default=40)
parser.add_argument("--cameras", type=int, default=8)
parser.add_argument("--noise", default="1")
parser.add_argument("--phong", default="0")
parser.add_argument("--size", default="256", help="texels a side: at 256 three to four times as many as pixels that show the dancer")
parser.add_argument("--codec", default="diff2d")
parser.add_argument("--chroma", type=float, default=1 / 3, help="bits of U and of V for each of Y")
parser.add_argument("--masks", default="rebuilt")
parser.add_argument("--rates", default="0.002,0.004,0.008,0.015,0.025,0.04,0.06,0.1,0.2")
parser.add_argument("--crf", default="44,38,32,26,20")
parser.add_argument("--json")
options = parser.parse_args()
tessera = str(pathlib.Path(options.tessera).resolve())
work = pathlib.Path(tempfile.mkdtemp(prefix="multiview-"))


def run(*command, **more):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, cwd=work, **more)
    if done.returncode not in (0, 3):
        raise SystemExit(f"{' '.join(map(str, command))}: {done.stderr}")
    return done.stdout


def quality(textures):
    """PSNR of luma and of RGB over three views: a camera, and two between cameras."""
    error, count = {"psnr_luma": 0.0, "psnr_rgb": 0.0}, 0
    for camera, turn in ((0, 0), (2, 180 / options.cameras), (5 % options.cameras, 120 / options.cameras)):
        shown = json.loads(run(tessera, "mvv", "render", textures, "--compare", "ideal.mvv", "--like", camera, "--turn", turn, "--json"))
        pixels = shown["compared_pixels"]
        for key in error:
            if shown[key] is not None and math.isfinite(float(shown[key])):
                error[key] += pixels * 255**2 / 10 ** (float(shown[key]) / 10)
        count += pixels
    return tuple(10 * math.log10(255**2 * count / e) if e else math.inf for e in error.values())


def ours():
    points = []
    for rate in options.rates.split(","):
        run(tessera, "mvv", "encode", "ideal.mvv", "--codec", options.codec, "--masks", options.masks, "--bpp", rate, "--bpp-u", float(rate) * options.chroma, "--bpp-v", float(rate) * options.chroma,
            "-o", "coded.mvv", "--force")
        info = json.loads(run(tessera, "mvv", "info", "coded.mvv", "--json"))
        points.append((8 * (info["bytes"] - info["model_bytes"]), *quality("coded.mvv"), rate))
        print(f"textures {rate:>6} bpp {points[-1][0] / 8e3:10.1f} kB {points[-1][1]:7.2f} dB, RGB {points[-1][2]:.2f}", flush=True)
    return points, 8 * info["model_bytes"]


def theirs():
    points = []
    for crf in options.crf.split(","):
        folder = work / "decoded"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        size = 0
        for mesh in list((work / "footage").glob("mesh-*.obj")) + [work / "footage" / "cameras.json"]:
            shutil.copy(mesh, folder)
        for c in range(options.cameras):
            (folder / f"camera{c:02d}").mkdir()
            run("ffmpeg", "-v", "error", "-y", "-framerate", "25", "-start_number", "0", "-i", f"footage/camera{c:02d}/%04d.png", "-pix_fmt", "yuv420p",
                "-c:v", "libx265", "-preset", "medium", "-x265-params", "log-level=none:info=0", "-crf", crf, "film.hevc")
            size += (work / "film.hevc").stat().st_size
            run("ffmpeg", "-v", "error", "-y", "-i", "film.hevc", "-start_number", "0", f"decoded/camera{c:02d}/%04d.png")
        run(tessera, "mvv", "make", "decoded", "--size", f"{options.size},{options.size},1", "-o", "decoded.mvv", "--force")
        points.append((8 * size, *quality("decoded.mvv"), crf))
        print(f"x265     {crf:>6} crf {points[-1][0] / 8e3:10.1f} kB {points[-1][1]:7.2f} dB, RGB {points[-1][2]:.2f}", flush=True)
    return points


def bits_at(points, decibels, which):
    points = sorted((p[which], math.log(p[0])) for p in points)
    for (q0, b0), (q1, b1) in zip(points, points[1:]):
        if q0 <= decibels <= q1:
            return math.exp(b0 + (decibels - q0) / (q1 - q0) * (b1 - b0))
    return None


try:
    run(tessera, "make", "mvv", "dancer", "--steps", options.steps, "--cameras", options.cameras, "--noise", options.noise, "--phong", options.phong, "-o", "footage")
    run(tessera, "mvv", "make", "footage", "--size", f"{options.size},{options.size},1", "-o", "ideal.mvv")
    own, model = ours()
    other = theirs()
    print(f"model {model / 8e3:.1f} kB (both sides need it)")
    table = []
    for which, decibels in ((w, d) for w in (1, 2) for d in range(20, 50, 2)):
        a, b = bits_at(own, decibels, which), bits_at(other, decibels, which)
        if a and b:
            table.append({"of": ("luma", "RGB")[which - 1], "psnr": decibels, "textures": a / 8, "x265": b / 8, "share": a / b})
            print(f"{decibels} dB of {table[-1]['of']}: textures {a / 8e3:.1f} kB, x265 {b / 8e3:.1f} kB: {100 * a / b:.0f} %, {'holds' if a / b <= 0.7 else 'misses'} the bar of 70 %")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({"model_bytes": model / 8, "steps": options.steps, "noise": options.noise, "textures": own, "x265": other,
                                                          "equal": table}, indent=1))
finally:
    shutil.rmtree(work)
