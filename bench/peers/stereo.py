#!/usr/bin/env python3
"""tessera depth beside OpenCV's StereoSGBM on rectified pairs with known disparities: stereo.py TESSERA NAME=LEFT,RIGHT,TRUTH[,DISPARITIES] ...

TRUTH is a .npy or .npz of disparities (NaN or infinite: not known) or an 8-bit picture (0: not known). Both run on one thread; the time of tessera is that of
its own report, that of OpenCV the best of three. Bad: off by more than 2 pixels; "of all" counts pixels without an answer as bad."""
import json
import os
import subprocess
import sys
import tempfile
import time

import cv2
import numpy


def truth_of(path):
    if path.endswith(".npz"):
        truth = numpy.load(path)["arr_0"].astype(float)
    elif path.endswith(".npy"):
        truth = numpy.load(path).astype(float)
    else:
        truth = cv2.imread(path, 0).astype(float)
        truth[truth == 0] = numpy.nan
    return numpy.where(numpy.isfinite(truth), truth, numpy.nan)


def shares(disparity, valid, truth):
    known = numpy.isfinite(truth)
    with numpy.errstate(invalid="ignore"):
        bad = ~(numpy.abs(disparity - truth) <= 2)
    return 100 * bad[known].mean(), 100 * bad[known & valid].mean(), 100 * valid[known].mean()


def main():
    tessera = sys.argv[1]
    cv2.setNumThreads(1)
    for case in sys.argv[2:]:
        name, files = case.split("=", 1)
        left, right, truth, *count = files.split(",")
        truth, count = truth_of(truth), int(count[0]) if count else 64
        pair = [cv2.imread(path, 0) for path in (left, right)]
        matcher = cv2.StereoSGBM_create(0, count, 5, 8 * 3 * 25, 32 * 3 * 25, 1, 63, 10, 100, 2, 0)
        seconds = []
        for _ in range(3):
            start = time.thread_time()
            disparity = matcher.compute(*pair).astype(float) / 16
            seconds.append(time.thread_time() - start)
        print("%-12s %-28s %6.1f ms, bad %5.2f %% of all, %5.2f %% of the valid (%.1f %%)"
              % ((name, "StereoSGBM", 1e3 * min(seconds)) + shares(numpy.where(disparity > 0, disparity, numpy.nan), disparity > 0, truth)))
        for options in ([], ["--paths", "3"], ["--reduce", "2"], ["--paths", "8"]):
            with tempfile.TemporaryDirectory() as folder:
                out, known = os.path.join(folder, "d.npy"), os.path.join(folder, "v.npy")
                run = subprocess.run([tessera, "depth", left, right, "--disparities", "0..%d" % (count - 1), "--fill", "-o", out, "--valid", known, "--threads", "1",
                                      "--json"] + options, capture_output=True, text=True, check=True)
                result = shares(numpy.squeeze(numpy.load(out)), numpy.squeeze(numpy.load(known)) > 0, truth)
                print("%-12s %-28s %6.1f ms, bad %5.2f %% of all, %5.2f %% of the valid (%.1f %%)"
                      % ((name, "tessera " + " ".join(options), 1e3 * json.loads(run.stdout)["seconds"]) + result))


main()
