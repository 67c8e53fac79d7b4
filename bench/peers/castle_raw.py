#!/usr/bin/env python3
"""The depths of ViSP's castle as raw frames for bench_depth_film: castle_raw.py FOLDER OUT.raw, FOLDER as in castle.py."""
import glob
import os
import sys

with open(sys.argv[2], "wb") as out:
    for name in sorted(glob.glob(os.path.join(sys.argv[1], "Depth", "Depth_*.bin"))):
        out.write(open(name, "rb").read()[8:])
