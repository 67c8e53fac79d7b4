#!/usr/bin/env python3
"""Boards printed by OpenCV, seen in perspective, blurred and with noise: tessera calibrate must find their points, with OpenCV's numbers, where they are, and as well as
OpenCV's own detectors do: board_peers.py TESSERA. Says what it skips, and ends with 77 without OpenCV."""
import csv
import os
import subprocess
import sys
import tempfile

try:
    import cv2
    import numpy as np
    cv2.aruco.CharucoDetector
except (ImportError, AttributeError):
    print("skipped: no OpenCV with aruco for this Python")
    sys.exit(77)

FAMILY = {"4x4_50": "DICT_4X4_50", "4x4_250": "DICT_4X4_250", "5x5_100": "DICT_5X5_100", "5x5_250": "DICT_5X5_250", "6x6_250": "DICT_6X6_250", "7x7_50": "DICT_7X7_50",
          "7x7_250": "DICT_7X7_250", "36h11": "DICT_APRILTAG_36h11", "original": "DICT_ARUCO_ORIGINAL"}
SIZE = (640, 480)


def charuco(columns, rows, side, part, family, legacy=False):
    board = cv2.aruco.CharucoBoard((columns, rows), 1.0, part, cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, FAMILY[family])))
    board.setLegacyPattern(legacy)
    paper = board.generateImage(((columns + 2) * side, (rows + 2) * side), marginSize=side, borderBits=1)
    return 25 + paper.astype(float) * (205 / 255), np.array(board.getChessboardCorners())[:, :2] * side + side, board


def circles(columns, rows, step, fine=4):
    """Discs of 0.8 steps, drawn by their definition."""
    height, width = int((rows + 2) * step), int((2 * columns + 2) * step)
    places = np.array([((2 * j + i % 2 + 1.5) * step, (i + 1.5) * step) for i in range(rows) for j in range(columns)])
    y, x = (np.mgrid[0:height * fine, 0:width * fine] + 0.5) / fine
    ink = np.zeros(x.shape, bool)
    for px, py in places:
        ink |= (x - px) ** 2 + (y - py) ** 2 < (0.4 * step) ** 2
    paper = np.where(ink, 25.0, 230.0).reshape(height, fine, width, fine).mean((1, 3))
    return paper, places, None


def homography(random, width, height):
    """A board before a camera, turned any way round and tilted by up to 35 degrees, as large as the picture allows."""
    focal = 1.1 * SIZE[0]
    tilt, turn = np.radians(random.uniform(-35, 35, 2)), random.uniform(-np.pi, np.pi)
    r = cv2.Rodrigues(np.array([tilt[0], 0, 0.0]))[0] @ cv2.Rodrigues(np.array([0, tilt[1], 0.0]))[0] @ cv2.Rodrigues(np.array([0, 0, turn]))[0]
    corners = np.array([[0, 0], [width, 0], [width, height], [0, height]], float) - [width / 2, height / 2]
    for away in np.linspace(1, 12, 200) * max(width, height):
        p = corners @ r[:, :2].T + [0, 0, away]
        u = p[:, :2] / p[:, 2:] * focal + np.array(SIZE) / 2
        if u.min() > 4 and (u < np.array(SIZE) - 4).all():
            break
    camera = np.array([[focal, 0, SIZE[0] / 2], [0, focal, SIZE[1] / 2], [0, 0, 1]])
    return camera @ np.c_[r[:, 0], r[:, 1], np.array([0, 0, away]) - r[:, 0] * width / 2 - r[:, 1] * height / 2]


def picture(random, paper, h, fine=4):
    half = np.array([[1, 0, -0.5], [0, 1, -0.5], [0, 0, 1.0]])  # OpenCV counts from the middle of the first pixel
    m = half @ np.diag([fine, fine, 1.0]) @ h @ np.linalg.inv(half)
    large = cv2.warpPerspective(paper.astype(np.float32), m, (SIZE[0] * fine, SIZE[1] * fine), flags=cv2.INTER_LINEAR, borderValue=110)
    image = cv2.resize(cv2.GaussianBlur(large, (0, 0), 0.7 * fine), SIZE, interpolation=cv2.INTER_AREA) + random.normal(0, 3, SIZE[::-1])
    return np.clip(image + 0.5, 0, 255).astype(np.uint8)


def seen_by_opencv(image, board, columns, rows):
    if board is None:
        found, places = cv2.findCirclesGrid(image, (columns, rows), flags=cv2.CALIB_CB_ASYMMETRIC_GRID)
        return dict(enumerate(places.reshape(-1, 2) + 0.5)) if found else {}
    places, numbers, _, _ = cv2.aruco.CharucoDetector(board).detectBoard(image)
    return {} if numbers is None else dict(zip(numbers.ravel().tolist(), places.reshape(-1, 2) + 0.5))


def seen_by_tessera(tessera, names, text, side, columns, marked):
    with tempfile.NamedTemporaryFile(suffix=".csv") as table:
        run = subprocess.run([tessera, "calibrate", *names, "--board", text, "--corners", table.name, "--force", "--square-pixels", "--centred", "--radial", "0", "--no-tangential"],
                             capture_output=True, text=True)
        if run.returncode:
            sys.exit("%s: %s" % (text, run.stderr))
        seen = {n: {} for n in names}
        for row in csv.DictReader(open(table.name)):
            x, y = round(float(row["x"]) / side), round(float(row["y"]) / side)
            number = (y - 1) * (columns - 1) + x - 1 if marked else y * columns + x // 2
            seen[row["picture"]][number] = np.array([float(row["u"]), float(row["v"])])
        return seen


def compare(tessera, folder, random, text, columns, rows, made, side, least):
    paper, places, board = made
    names, truth, images = [], [], []
    for n in range(6):
        h = homography(random, paper.shape[1], paper.shape[0])
        q = np.c_[places, np.ones(len(places))] @ h.T
        truth.append(q[:, :2] / q[:, 2:])
        images.append(picture(random, paper, h))
        names.append(os.path.join(folder, "p%d.png" % n))
        cv2.imwrite(names[-1], images[-1])
    seen = seen_by_tessera(tessera, names, text, side, columns, board is not None)
    own, other, count, others = [], [], 0, 0
    for name, image, t in zip(names, images, truth):
        mine, theirs = seen[name], seen_by_opencv(image, board, columns, rows)
        count += len(mine)
        others += len(theirs)
        own += [np.hypot(*(p - t[i])) for i, p in mine.items()]
        other += [np.hypot(*(p - t[i])) for i, p in theirs.items()]
    print("%-40s %d of %d points, median %.3f, largest %.3f pixels off; OpenCV %d, %.3f, %.3f" %
          (text, count, 6 * len(places), np.median(own), max(own), others, np.median(other) if other else np.nan, max(other, default=np.nan)))
    if count < least * 6 * len(places) or max(own) > 0.6:
        sys.exit("%s: points are missing or wrong" % text)
    if other and np.median(own) > 1.1 * np.median(other) + 0.01:
        sys.exit("%s: OpenCV's places are better" % text)


def all_codes(tessera, folder, family):
    """A board of 22 x 22 squares holds 242 markers: it is whole only if all are read."""
    paper, places, _ = charuco(22, 22, 60, 0.75, family)
    name = os.path.join(folder, "codes.png")
    cv2.imwrite(name, np.clip(paper + 0.5, 0, 255).astype(np.uint8))
    seen = seen_by_tessera(tessera, [name], "charuco:22x22,1,0.75," + family, 1, 22, True)[name]
    off = [np.hypot(*(p - places[i])) for i, p in seen.items()]
    print("all codes of %-10s %d points, largest %.3f pixels off" % (family, len(off), max(off)))
    if len(off) != 441 or max(off) > 0.1:
        sys.exit("%s: another board than OpenCV prints" % family)


def main():
    tessera, seed = os.path.abspath(sys.argv[1]), int(os.environ.get("TESSERA_SEED", "20041"))
    print("seed %d" % seed)
    random = np.random.default_rng(seed)
    cv2.setNumThreads(1)
    with tempfile.TemporaryDirectory() as folder:
        compare(tessera, folder, random, "circles:4x11,20mm", 4, 11, circles(4, 11, 40), 20, 1)
        compare(tessera, folder, random, "circles:3x7,2", 3, 7, circles(3, 7, 50), 2, 1)
        for columns, rows, family, legacy in ((5, 7, "4x4_50", 0), (8, 6, "5x5_100", 0), (6, 8, "6x6_250", 1), (7, 5, "7x7_50", 0), (5, 6, "36h11", 0), (5, 7, "original", 1)):
            text = "charuco:%dx%d,30mm,22mm,%s%s" % (columns, rows, family, ",legacy" if legacy else "")
            compare(tessera, folder, random, text, columns, rows, charuco(columns, rows, 84, 22 / 30, family, bool(legacy)), 30, 0.98)
        for family in ("4x4_250", "5x5_250", "6x6_250", "7x7_250", "36h11", "original"):
            all_codes(tessera, folder, family)


main()
