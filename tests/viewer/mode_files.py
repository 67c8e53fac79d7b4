"""Small files for the modes that show: a film, a row of pictures, particles, a vector field, a rig, a rig with depth images."""
import json
import math
import os
import random
import struct
import zlib


def film(name, frames=10):
    """64 x 48 grey frames, full range; the brightness says the number."""
    with open(name, "wb") as file:
        file.write(b"YUV4MPEG2 W64 H48 F25:1 Ip A1:1 Cmono XCOLORRANGE=FULL\n")
        for i in range(frames):
            file.write(b"FRAME\n" + bytes([40 + 20 * i]) * (64 * 48))


def write_png(name, width, rows, colours):
    """Rows of bytes; colours: 0 grey, 2 RGB."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    with open(name, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, len(rows), 8, colours, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(b"".join(b"\0" + row for row in rows))) + chunk(b"IEND", b""))


def png(name, grey):
    """32 x 24 pixels of one grey."""
    write_png(name, 32, [bytes([grey]) * 32] * 24, 0)


def drops(seed, pattern="drop-%04d.ply", count=3, points=6000):
    """A ball of particles that flattens."""
    dice = random.Random(seed)
    for i in range(count):
        ball = [p for p in ([dice.uniform(-1, 1) for _ in range(3)] for _ in range(points)) if sum(v * v for v in p) < 1]
        with open(pattern % (i + 1), "wb") as file:
            file.write(f"ply\nformat binary_little_endian 1.0\nelement vertex {len(ball)}\nproperty float x\nproperty float y\nproperty float z\nend_header\n".encode())
            for x, y, z in ball:
                file.write(struct.pack("<3f", x * (1 + 0.4 * i), y * (1 + 0.4 * i), z * (1 - 0.3 * i)))


def field(name, n=20):
    """Arnold, Beltrami and Childress: vectors of a legacy VTK file."""
    lines = ["# vtk DataFile Version 3.0", "ABC", "ASCII", "DATASET STRUCTURED_POINTS", f"DIMENSIONS {n} {n} {n}", "ORIGIN 0 0 0", "SPACING 1 1 1", f"POINT_DATA {n ** 3}", "VECTORS v float"]
    for z in range(n):
        for y in range(n):
            for x in range(n):
                u, v, w = (2 * math.pi * t / (n - 1) for t in (x, y, z))
                lines.append(f"{math.sin(w) + math.cos(v):.5f} {math.sin(u) + math.cos(w):.5f} {math.sin(v) + math.cos(u):.5f}")
    with open(name, "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")


def rig(name, count=8):
    """Cameras on a circle that look at its middle."""
    frames = []
    for i in range(count):
        a = 2 * math.pi * i / count
        back = (math.cos(a), math.sin(a), 0)
        right = (-math.sin(a), math.cos(a), 0)
        eye = [3 * b for b in back]
        frames.append({"file_path": f"view-{i}.png", "transform_matrix": [[right[k], (0, 0, 1)[k], back[k], eye[k]] for k in range(3)] + [[0, 0, 0, 1]]})
    with open(name, "w", encoding="ascii") as file:
        json.dump({"camera_angle_x": 0.8, "w": 640, "h": 480, "frames": frames}, file)


PLANE = {"width": 160, "height": 120, "focal": 80 / math.tan(0.4), "depth": 2.0, "eyes": (0.0, 0.4)}


def plane(name, folder):
    """A plane z = 0, red where x < 0 and blue beyond, seen by two cameras 2 above it that look straight down: pictures and depths lie in a folder below."""
    width, height, focal = PLANE["width"], PLANE["height"], PLANE["focal"]
    os.mkdir(folder)
    frames = []
    for i, eye in enumerate(PLANE["eyes"]):
        edge = round(width / 2 - eye * focal / PLANE["depth"])
        write_png(f"{folder}/colour-{i}.png", width, [bytes((200, 40, 40)) * edge + bytes((40, 60, 200)) * (width - edge)] * height, 2)
        about = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({height}, {width}), }}"
        with open(f"{folder}/depth-{i}.npy", "wb") as file:
            file.write(b"\x93NUMPY\x01\0" + struct.pack("<H", 118) + about.ljust(117).encode() + b"\n" + struct.pack("<f", PLANE["depth"]) * (width * height))
        frames.append({"file_path": f"./{folder}/colour-{i}.png", "depth_file_path": f"{folder}/depth-{i}.npy",
                       "transform_matrix": [[1, 0, 0, eye], [0, 1, 0, 0], [0, 0, 1, PLANE["depth"]], [0, 0, 0, 1]]})
    with open(name, "w", encoding="ascii") as file:
        json.dump({"camera_angle_x": 0.8, "w": width, "h": height, "frames": frames}, file)
