#!/usr/bin/env python3
"""tessera for Python beside the command line: the same file in, the same work, the same file out, on one core, both in turn.

usage: command.py [--data FOLDER] [--program PATH] [--repeat N] [--json FILE]

Times are processor seconds, the least of the repetitions: of the program those of its process, of Python those of reading, working and writing (the
interpreter and imports are told apart). Both use the library that TESSERA_LIBRARY names, which must be the program's."""

import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

os.environ |= {"OMP_NUM_THREADS": "1", "TESSERA_DEVICE": "cpu"}
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

import numpy as np  # noqa: E402

import tessera as ts  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]


def cases(folder):
    """Name, arguments of the program, and the same in Python; both write `out`."""

    def surface(out):
        ts.write(ts.surface(ts.read(folder / "head.npy", what="volume"), 60.5), out)

    def distance(out):
        ts.write(ts.distance(ts.read(folder / "mask.npy", what="volume"), mode="to_mask"), out)

    def dwt(out):
        ts.write(ts.dwt(ts.read(folder / "head.npy", what="volume"), "dd97", levels=3), out)

    def offset(out):
        ts.write(ts.offset(ts.read(folder / "ball.tsr"), 1.0), out)

    def reconstruct(out):
        ts.write(ts.surface(ts.reconstruct(ts.read(folder / "torus.ply", what="points"), depth=7, start_depth=5, fit=0)), out)

    yield "surface", ["surface", "head.npy", "--isovalue", "60.5"], surface, "ply"
    yield "distance", ["distance", "mask.npy", "--mode", "to_mask"], distance, "npy"
    yield "dwt", ["dwt", "head.npy", "--filter", "dd97", "--levels", "3"], dwt, "nrrd"
    yield "reconstruct", ["reconstruct", "torus.ply", "--depth", "7", "--start-depth", "5"], reconstruct, "ply"
    yield "offset", ["offset", "ball.tsr", "--distance", "1"], offset, "tsr"


def program_seconds(command, folder):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, default=ROOT / "data")
    parser.add_argument("--program", default="tessera")
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory() as name, ts.Context("cpu", threads=1):
        folder = pathlib.Path(name)
        head = ts.read(options.data / "mri" / "ch2.nii.gz").array
        np.save(folder / "head.npy", head)
        np.save(folder / "mask.npy", (head > 60).astype(np.uint8))
        ts.write(ts.shape("sphere", radius=10, spacing=0.1), folder / "ball.tsr")
        ts.write(ts.sampled("points-torus", 60000, seed=1, noise=0.002), folder / "torus.ply")
        print(f"{'':12} {'program':>9} {'Python':>9}   more")
        for case, arguments, work, ending in cases(folder):
            least = [float("inf"), float("inf")]
            for _ in range(options.repeat):
                least[0] = min(least[0], program_seconds([options.program, *arguments, "-o", f"a.{ending}", "--threads", "1", "--force", "--quiet"], folder))
                start = time.process_time()
                work(folder / f"b.{ending}")
                least[1] = min(least[1], time.process_time() - start)
            same = (folder / f"a.{ending}").read_bytes() == (folder / f"b.{ending}").read_bytes()
            print(f"{case:12} {least[0]:8.4f} s {least[1]:8.4f} s {100 * (least[1] / least[0] - 1):+6.1f} %{'' if same else '  the files differ'}", flush=True)
            results.append({"case": case, "program_s": round(least[0], 5), "python_s": round(least[1], 5), "more": round(least[1] / least[0] - 1, 4), "same": same})
    if options.json:
        options.json.write_text(json.dumps({"python": sys.version.split()[0], "results": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
