#!/usr/bin/env python3
"""tessera calibrate beside OpenCV and mrcal on pictures of a chessboard: boards.py TESSERA COLUMNSxROWS PICTURE...

The lens has five coefficients (k1 k2 p1 p2 k3). All three solve for the same corners, those that tessera finds: errors in pixels, parameters and their standard
deviations (mrcal: without its regularisation, board warp and outliers, so that the problem is the same; Debian `mrcal`). Then the detectors: processor time of one
thread for all pictures, boards found, and how far tessera's corners lie from cornerSubPix's (window 5), in the median."""
import csv
import json
import os
import subprocess
import sys
import tempfile
import time

import cv2
import numpy as np


def mrcal(folder, names, seen, columns, rows, start, frames):
    code = """
import mrcal, numpy as np, sys, json
o = np.load("in.npz")
seen, n = o["seen"], o["seen"].shape[0]
rows, columns = int(o["rows"]), int(o["columns"])
observations = np.concatenate((seen.reshape(n, rows, columns, 2), np.ones((n, rows, columns, 1))), axis=-1)
indices = np.array([(k, 0, -1) for k in range(n)], dtype=np.int32)
w, h = [int(v) for v in o["size"]]
args = dict(intrinsics=o["intrinsics"][None].copy(), extrinsics_rt_fromref=np.zeros((0, 6)), frames_rt_toref=o["frames"].copy(), observations_board=observations, points=np.zeros((0, 3)),
            observations_point=np.zeros((0, 3)), indices_point_camintrinsics_camextrinsics=np.zeros((0, 3), dtype=np.int32),
            indices_frame_camintrinsics_camextrinsics=indices, lensmodel="LENSMODEL_OPENCV5", imagersizes=np.array(((w, h),), dtype=np.int32),
            calibration_object_spacing=1.0, do_optimize_intrinsics_core=True, do_optimize_intrinsics_distortions=True, do_optimize_extrinsics=False, do_optimize_frames=True,
            do_optimize_calobject_warp=False, do_apply_regularization=False, do_apply_outlier_rejection=False, verbose=False)
mrcal.optimize(**args)
b, x, J, factorization = mrcal.optimizer_callback(**args)
count = 9
basis = np.zeros((count, b.size))
for k in range(count): basis[k, k] = 1
solved = factorization.solve_xt_JtJ_bt(basis)
v = solved[:, :count]
scale = np.zeros_like(b) + 1.0
mrcal.unpack_state(scale, **args)
v = v * scale[:count, None] * scale[None, :count]
sigma2 = (x @ x) / (x.size - b.size)
print(json.dumps(dict(rms=float(np.sqrt((x @ x) / (x.size / 2))), intrinsics=args["intrinsics"][0].tolist(), sigma=np.sqrt(np.diag(v) * sigma2).tolist())))
"""
    image = cv2.imread(names[0], 0)
    np.savez(os.path.join(folder, "in.npz"), seen=np.array([seen[n] for n in names]) - 0.5, rows=rows, columns=columns, size=image.shape[::-1], intrinsics=start, frames=frames)
    start = time.time()
    run = subprocess.run(["/usr/bin/python3", "-c", code], cwd=folder, capture_output=True, text=True)
    if run.returncode:
        return "not run: " + run.stderr.strip().splitlines()[-1]
    return dict(json.loads(run.stdout.splitlines()[-1]), seconds=time.time() - start)


def main():
    tessera, board, names = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3:]
    columns, rows = (int(v) for v in board.split("x"))
    cv2.setNumThreads(1)
    with tempfile.TemporaryDirectory() as folder:
        corners = os.path.join(folder, "c.csv")
        run = subprocess.run([tessera, "calibrate", *names, "--board", board, "--corners", corners, "--threads", "1", "--json"], capture_output=True, text=True, check=True)
        own = json.loads(run.stdout)
        seen = {}
        for row in csv.DictReader(open(corners)):
            seen.setdefault(row["picture"], []).append((float(row["u"]), float(row["v"])))
        names = [n for n in names if n in seen]
        points = np.array([(i % columns, i // columns, 0) for i in range(columns * rows)], np.float32)
        image = cv2.imread(names[0], 0)
        start = time.thread_time()
        result = cv2.calibrateCameraExtended([points] * len(names), [np.array(seen[n], np.float32).reshape(-1, 1, 2) - 0.5 for n in names], image.shape[::-1], None, None)
        seconds = time.thread_time() - start
        peer = mrcal(folder, names, seen, columns, rows, np.array([result[1][0, 0], result[1][1, 1], result[1][0, 2], result[1][1, 2]] + result[2].ravel()[:5].tolist()),
                     np.hstack((np.array(result[3]).reshape(-1, 3), np.array(result[4]).reshape(-1, 3))))
    c = own["cameras"][0]
    mine = c["focal"] + c["centre"] + c["k"][:2] + c["p"][:2] + c["k"][2:3]
    sigma = c["focal_sigma"] + c["centre_sigma"] + c["k_sigma"][:2] + c["p_sigma"][:2] + c["k_sigma"][2:3]
    open_cv = [result[1][0, 0], result[1][1, 1], result[1][0, 2] + 0.5, result[1][1, 2] + 0.5] + result[2].ravel()[:5].tolist()
    open_sigma = result[5].ravel()
    open_sigma = [open_sigma[0], open_sigma[1], open_sigma[2], open_sigma[3]] + open_sigma[4:9].tolist()
    print("error, pixels: tessera %.6f, OpenCV %.6f (%.0f ms), mrcal %s" % (own["rms"], result[0], 1e3 * seconds, "%.6f (%.1f s, all of Python)" % (peer["rms"], peer["seconds"])
                                                                               if isinstance(peer, dict) else peer))
    label = ["fx", "fy", "cx", "cy", "k1", "k2", "p1", "p2", "k3"]
    for k in range(9):
        line = "%-3s tessera %11.6f +- %.3g, OpenCV %11.6f +- %.3g" % (label[k], mine[k], sigma[k], open_cv[k], open_sigma[k])
        if isinstance(peer, dict):
            line += ", mrcal %11.6f +- %.3g (deviations differ by %+.2f %%)" % (peer["intrinsics"][k] + (0.5 if k in (2, 3) else 0), peer["sigma"][k],
                                                                              100 * (sigma[k] / peer["sigma"][k] - 1))
        print(line)
    images = [cv2.imread(n, 0) for n in names]
    off, found, spent = [], 0, 0.0
    for name, picture in zip(names, images):
        start = time.thread_time()
        ok, places = cv2.findChessboardCorners(picture, (columns, rows))
        if ok:
            places = cv2.cornerSubPix(picture, places, (5, 5), (-1, -1), (3, 40, 1e-3))
        spent += time.thread_time() - start
        found += bool(ok)
        if ok:
            a, b = np.array(seen[name]) - 0.5, places.reshape(-1, 2)
            off.extend(np.min(np.linalg.norm(a[:, None] - b[None], axis=2), axis=1))
    before = os.times()
    subprocess.run([tessera, "calibrate", *(names * 4), "--board", board, "--threads", "1"], capture_output=True, check=True)
    between = os.times()
    subprocess.run([tessera, "calibrate", *names, "--board", board, "--threads", "1"], capture_output=True, check=True)
    after = os.times()
    each = ((between[2] - before[2]) - (after[2] - between[2])) / (3 * len(names))
    print("found: tessera %d, OpenCV %d of %d; corners %.3f pixels apart in the median; OpenCV %.1f ms a picture, tessera about %.1f (with reading and its share of the solution)"
          % (len(seen), found, len(names), np.median(off), 1e3 * spent / len(names), 1e3 * each))


main()
