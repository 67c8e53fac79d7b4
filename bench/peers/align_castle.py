#!/usr/bin/env python3
"""tessera align on the castle of ViSP's images (Debian visp-images-data): align_castle.py TESSERA FOLDER [--starts 50] [--frames 1 10 20 30 40]

FOLDER is ViSP-images/mbt-depth/Castle-simu. The proxy is its model chateau.wrl; each start is the true camera turned by 5 degrees about a random axis, moved by 5 % of the
distance in a random direction, with a focal length wrong by 10 %. Prints how far the found camera's corners of the model lie from the true camera's (RMS, pixels)."""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

import cv2
import numpy as np

FOCAL = 700.0


def model(path):
    text = re.sub("#.*", "", open(path).read())
    points, faces = [], []
    for block in re.findall(r"point\s*\[(.*?)\].*?coordIndex\s*\[(.*?)\]", text, re.S):
        first = len(points)
        numbers = [float(v) for v in block[0].replace(",", " ").split()]
        points += [numbers[k : k + 3] for k in range(0, len(numbers), 3)]
        face = []
        for v in block[1].replace(",", " ").split():
            if int(v) < 0:
                faces += [face] if len(face) > 2 else []
                face = []
            else:
                face.append(first + int(v))
    return np.array(points), faces


def write(path, points, faces):
    with open(path, "w") as f:
        for p in points:
            f.write("v %.9g %.9g %.9g\n" % tuple(p))
        for face in faces:
            f.write("f " + " ".join(str(v + 1) for v in face) + "\n")


def camera(path, pose, focal):
    flip = np.diag([1.0, -1, -1, 1])
    json.dump({"fl_x": focal, "fl_y": focal, "cx": 320, "cy": 240, "w": 640, "h": 480,
               "frames": [{"file_path": "", "transform_matrix": (np.linalg.inv(pose) @ flip).tolist()}]}, open(path, "w"))


def found(path):
    data = json.load(open(path))
    frame = data["frames"][0]
    return np.linalg.inv(np.array(frame["transform_matrix"]) @ np.diag([1.0, -1, -1, 1])), frame.get("fl_x", data.get("fl_x"))


def places(points, pose, focal):
    e = points @ pose[:3, :3].T + pose[:3, 3]
    return np.stack([focal * e[:, 0] / e[:, 2] + 320, focal * e[:, 1] / e[:, 2] + 240], -1), e[:, 2]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tessera")
    parser.add_argument("folder")
    parser.add_argument("--starts", type=int, default=50)
    parser.add_argument("--frames", type=int, nargs="*", default=[1, 10, 20, 30, 40])
    parser.add_argument("--options", nargs="*", default=[])
    parser.add_argument("--seed", type=int, default=1)
    o = parser.parse_args()
    tessera, folder, random = os.path.abspath(o.tessera), os.path.abspath(o.folder), np.random.default_rng(o.seed)
    print("seed %d" % o.seed)
    points, faces = model(os.path.join(folder, "Models", "chateau.wrl"))
    errors, seconds = [], []
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        write("castle.obj", points, faces)
        for n in range(o.starts):
            frame = o.frames[n % len(o.frames)]
            pose = np.loadtxt(os.path.join(folder, "CameraPose", "Camera_%03d.txt" % frame))
            cv2.imwrite("i.png", cv2.imread(os.path.join(folder, "Images", "Image_%04d.pgm" % frame), 0))
            middle = points.mean(0) @ pose[:3, :3].T + pose[:3, 3]
            axis, way = random.normal(size=3), random.normal(size=3)
            turn = np.eye(4)
            turn[:3, :3] = cv2.Rodrigues(axis / np.linalg.norm(axis) * np.radians(5))[0]
            turn[:3, 3] = way / np.linalg.norm(way) * 0.05 * np.linalg.norm(middle)
            camera("start.json", turn @ pose, FOCAL * (1.1 if random.random() < 0.5 else 0.9))
            run = subprocess.run([tessera, "align", "i.png", "--proxy", "castle.obj", "--start", "start.json", "-o", "out.json", "--json", "--force", "--seed", str(n), *o.options],
                                 capture_output=True, text=True)
            if run.returncode:
                errors.append(np.inf)
                print(n, run.stderr.strip())
                continue
            at, depth = places(points, pose, FOCAL)
            seen = (depth > 0) & (at >= 0).all(1) & (at[:, 0] < 640) & (at[:, 1] < 480)
            own, focal = found("out.json")
            errors.append(np.sqrt(np.mean(np.sum((places(points, own, focal)[0] - at)[seen] ** 2, 1))))
            report = json.loads(run.stdout)
            seconds.append(report["seconds"])
            print("start %2d, frame %2d: %.3f pixels, focal length %.2f, lines %.3f from edges, %d of %d; %.2f s"
                  % (n, frame, errors[-1], focal, report["rms"], report["matched"], report["samples"], report["seconds"]), flush=True)
    errors = np.array(errors)
    print("%d starts: %.0f %% within 0.2 pixels, %.0f %% within 0.5, median %.3f; %.2f s each (wall clock)"
          % (len(errors), 100 * (errors <= 0.2).mean(), 100 * (errors <= 0.5).mean(), np.median(errors), np.mean(seconds) if seconds else 0))


if __name__ == "__main__":
    main()
