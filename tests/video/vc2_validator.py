"""Streams that tessera writes, all profiles and fragments of VC-2, through BBC's vc2-bitstream-validator (PyPI vc2-conformance), which must find them
conforming, and whose decoded pictures must be ours. Beside them the score of FFmpeg's encoder. Skipped without the package.

    vc2_validator.py PATH-OF-TESSERA
"""

import importlib.util
import os
import subprocess
import sys
import tempfile

if importlib.util.find_spec("vc2_conformance") is None:
    print("skipped: no Python package vc2_conformance")
    sys.exit(77)

tessera = sys.argv[1]
# Its table of Fidelity has -10 for one of two taps that are equal (and +10 the other one): set right, as SMPTE ST 2042-1 and FFmpeg's and BBC's decoders have it.
VALIDATE = """
import sys
from vc2_data_tables import LIFTING_FILTERS
taps = LIFTING_FILTERS[5].stages[0].taps
taps[1] = taps[6]
from vc2_conformance.scripts.vc2_bitstream_validator import main
sys.exit(main())
"""

# name, film, options
STREAMS = [
    ("hq-lossless", "p", ["--lossless"]),
    ("hq-quantiser", "p", ["--quantiser", "9", "--wavelet", "dd97", "--depth", "2"]),
    ("hq-bytes", "p", ["--picture-bytes", "9000", "--wavelet", "haar", "--depth", "4"]),
    ("hq-dd137", "p", ["--quantiser", "14", "--wavelet", "dd137"]),
    ("hq-daub97", "p", ["--quantiser", "14", "--wavelet", "daub97"]),
    ("hq-fidelity", "p", ["--quantiser", "14", "--wavelet", "fidelity", "--depth", "2"]),
    ("hq-haar-shift", "p", ["--quantiser", "14", "--wavelet", "haar-shift"]),
    ("hq-rate", "p", ["--bit-rate", "2000000", "--constant-rate", "--buffer", "400000"]),
    ("hq-matrix", "p", ["--quantiser", "14", "--depth", "1", "--matrix", "1,2,3,4"]),
    ("hq-deep", "p", ["--quantiser", "14", "--depth", "5", "--slice-width", "64", "--slice-height", "64"]),
    ("hq-checksum", "p", ["--lossless", "--checksum"]),
    ("hq-fragments", "p", ["--quantiser", "9", "--fragment", "3"]),
    ("hq-asymmetric", "p", ["--quantiser", "9", "--depth", "2", "--depth-horizontal", "1", "--wavelet", "haar", "--wavelet-horizontal", "legall53"]),
    ("ld", "p", ["--coding", "low-delay", "--picture-bytes", "5000"]),
    ("ld-dd97", "p", ["--coding", "low-delay", "--picture-bytes", "4000", "--wavelet", "dd97", "--depth", "2"]),
    ("ld-fragments", "p", ["--coding", "low-delay", "--picture-bytes", "5000", "--fragment", "4"]),
    ("hq-fields", "i", ["--fields", "--quantiser", "9"]),
    ("ld-fields", "i", ["--fields", "--coding", "low-delay", "--picture-bytes", "5000"]),
]


def film(path, interlaced, bits):
    """Waves that move, two frames of 4:2:2."""
    width, height, most = 96, 64, (1 << bits) - 1
    with open(path, "wb") as out:
        out.write(b"YUV4MPEG2 W%d H%d F25:1 I%s A1:1 C422%s\n" % (width, height, b"t" if interlaced else b"p", b"p10" if bits > 8 else b""))
        for t in range(2):
            out.write(b"FRAME\n")
            for c in range(3):
                for y in range(height):
                    for x in range(width >> (c > 0)):
                        v = ((x * x + 3 * y * x + 17 * c * y + 5 * t * x) // 7 + (x ^ y)) % 200 + 20
                        v = v * most // 255
                        out.write(v.to_bytes(2 if bits > 8 else 1, "little"))


def frames(path):
    with open(path, "rb") as file:
        return file.read().split(b"FRAME\n")[1:]


def validate(stream, folder):
    done = subprocess.run([sys.executable, "-c", VALIDATE, "--quiet", "--output", os.path.join(folder, "%d.raw"), stream], capture_output=True, text=True)
    return done.returncode, (done.stdout + done.stderr).strip()


def pictures(folder, bits, fields):
    """What the validator decoded, as frames of samples."""
    found = []
    while os.path.exists(os.path.join(folder, "%d.raw" % len(found))):
        with open(os.path.join(folder, "%d.raw" % len(found)), "rb") as file:
            found.append(file.read())
    if not fields:
        return found
    result = []
    for top, bottom in zip(found[0::2], found[1::2]):
        rows, at, bytes_ = [], 0, 2 if bits > 8 else 1
        for width in (96, 48, 48):
            row = width * bytes_
            for y in range(32):
                rows += [top[at + y * row:at + (y + 1) * row], bottom[at + y * row:at + (y + 1) * row]]
            at += 32 * row
        result.append(b"".join(rows))
    return result


wrong = 0
with tempfile.TemporaryDirectory() as folder:
    for bits in (8, 10):
        for kind in "pi":
            film(os.path.join(folder, "%s%d.y4m" % (kind, bits)), kind == "i", bits)
    for number, (name, kind, options) in enumerate(STREAMS):
        bits = 10 if number % 2 else 8
        own = os.path.join(folder, name)
        os.mkdir(own)
        stream, back = os.path.join(own, "s.vc2"), os.path.join(own, "s.y4m")
        subprocess.run([tessera, "encode", os.path.join(folder, "%s%d.y4m" % (kind, bits)), *options, "--quiet", "-o", stream], check=True)
        subprocess.run([tessera, "decode", stream, "--strict", "--quiet", "-o", back], check=True)
        code, said = validate(stream, own)
        same = code == 0 and pictures(own, bits, "--fields" in options) == frames(back)
        print("%-16s %s" % (name, "conforms" if code == 0 and same else "other pictures" if code == 0 else "FAILS: " + said))
        wrong += not same
    stream = os.path.join(folder, "ffmpeg.vc2")
    try:
        subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=96x64:d=0.08", "-pix_fmt", "yuv422p10", "-c:v", "vc2", "-strict", "-1",
                        "-f", "dirac", stream], check=True)
        code, said = validate(stream, folder)
        print("FFmpeg's encoder: %s" % ("conforms" if code == 0 else said.splitlines()[0]))
    except (OSError, subprocess.CalledProcessError):
        print("FFmpeg's encoder: not here")
print("%d of %d streams conform" % (len(STREAMS) - wrong, len(STREAMS)))
sys.exit(wrong > 0)
