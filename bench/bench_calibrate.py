"""How long calibration by hand takes from an edit to its pictures: cameras with pictures of 3840 x 2160 on a football pitch, or on a mesh with shadows, and the windows of a page of 1920 x 1080.

    bench_calibrate.py TESSERA [--device D] [--cameras N] [--mesh FILE] [--edits N] [--json FILE]

An edit counts until its first picture of the window `camera` has come (a draft while things move), and until all three windows show it at full size. Needs Python alone; a browser decodes the pictures besides.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "viewer"))
from socket_client import Page, Server  # noqa: E402

WINDOWS = {"source": (1035, 1030), "third": (513, 511), "volume": (513, 511)}  # of a page of 1920 x 1080, "Camera + above + free"
parser = argparse.ArgumentParser()
parser.add_argument("tessera")
parser.add_argument("--device", default="cpu")
parser.add_argument("--cameras", type=int, default=4)
parser.add_argument("--mesh", help="a proxy instead of the pitch")
parser.add_argument("--edits", type=int, default=25)
parser.add_argument("--folder", help="where the pictures are made, or were before: 4 of 3840 x 2160 take a minute and a half")
parser.add_argument("--json")
given = parser.parse_args()
TESSERA = os.path.abspath(given.tessera)


def measure(page):
    first, full, draws = [], [], {v: [] for v in WINDOWS}
    for i in range(given.edits):
        number = 100 + i
        time.sleep(0.4)  # a hand at rest: all pictures are at full size
        while page.frames["source"]["draft"]:
            page.read()
        sent, seen = time.monotonic(), None
        page.send(type="edit", line=f"turn {0.05 if i % 2 else -0.05} 0 0", input=number)
        while not all(page.frames[v]["edit_input"] >= number and not page.frames[v]["draft"] for v in WINDOWS):
            page.read()
            if seen is None and page.frames["source"]["edit_input"] >= number:
                seen = time.monotonic() - sent
        first.append(seen)
        full.append(time.monotonic() - sent)
        for v in WINDOWS:
            draws[v].append(page.frames[v]["milliseconds"])
    return first, full, draws


def main():
    with tempfile.TemporaryDirectory() as own:
        folder = given.folder or own
        run = lambda *words: subprocess.run([TESSERA, *words], check=True, capture_output=True, cwd=folder)
        if not os.path.exists(os.path.join(folder, f"view-{given.cameras - 1}.png")):
            run("align", "--proxy", "pitch", "--show", str(given.cameras), "-o", "view-%d.png", "--start", "rig.json", "--image-size", "3840,2160,1", "--players", "12", "--noise", "2")
        with open(os.path.join(folder, "bench.calib"), "w", encoding="ascii") as file:
            file.write(f"proxy {'proxy' + os.path.splitext(given.mesh)[1] if given.mesh else 'pitch'}\n" + "".join(f"image view-{i}.png\n" for i in range(given.cameras)) + ("" if given.mesh else "cameras rig.json\n"))
        if given.mesh:
            shutil.copy(given.mesh, os.path.join(folder, "proxy" + os.path.splitext(given.mesh)[1]))
        server = Server(TESSERA, os.path.join(folder, "bench.calib"), "--mode", "calibrate", "--device", given.device)
        try:
            page = Page(server)
            page.drives()
            for view, (width, height) in WINDOWS.items():
                page.send(type="view", view=view, width=width, height=height)
            page.until(lambda: page.state and page.state.get("names") and all(v in page.frames and not page.frames[v]["draft"] for v in WINDOWS), what="the cameras and three pictures")
            first, full, draws = measure(page)
            page.close()
        finally:
            server.stop()
    rows = []
    for case, times, bar in (("first picture of the camera", first, 0.1), ("all windows at full size", full, 0.1)):
        times = sorted(times)
        rows.append({"case": f"an edit, {case}, {given.cameras} cameras of 3840 x 2160, {'mesh' if given.mesh else 'pitch'}", "device": given.device, "threads": os.cpu_count(), "n": len(times),
                     "median_s": statistics.median(times), "min_s": times[0], "max_s": times[-1], "p95_s": times[int(0.95 * len(times))], "bar": f"{1000 * bar:.0f} ms", "holds": statistics.median(times) <= bar})
        r = rows[-1]
        print(f"{r['case']:<80} median {1e3 * r['median_s']:6.1f} ms, 95 % {1e3 * r['p95_s']:6.1f} ms   {'holds' if r['holds'] else 'MISSED'}: {r['bar']}")
    print("draw and pack, ms: " + ", ".join(f"{v} {statistics.median(t):.1f}" for v, t in draws.items()))
    if given.json:
        with open(given.json, "w", encoding="ascii") as file:
            json.dump({"processors": os.cpu_count(), "load": round(os.getloadavg()[0], 1), "results": rows}, file, indent=1)


main()
