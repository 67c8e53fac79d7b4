"""How long `tessera serve` takes from an input to the picture that shows it, and how many pictures it sends, while the solver runs: the counter of the
page (tools/viewer/web/connection.js) without a browser, by the socket of the tests, which needs nothing but Python.

    bench_workbench.py TESSERA [IMAGE] [--device D] [--seconds S] [--json FILE]

An input counts until the whole picture has come; a browser decodes it then. Rows: the page's three windows at 1280 x 720, and the 3-D window alone
over all of it. JSON as of the other benches (bench/bench.h); `pictures_per_s` and `steps_per_s` besides, and the
load and niceness under which it was measured.
"""
import argparse
import datetime
import json
import math
import os
import platform
import select
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "viewer"))
from socket_client import Page, Refused, Server  # noqa: E402

PAGE = {"source": (412, 334), "speed": (412, 334), "volume": (495, 671)}  # the windows of a page of 1280 x 720
PACE = 1 / 60  # seconds between inputs: a hand that moves

parser = argparse.ArgumentParser()
parser.add_argument("tessera")
parser.add_argument("image", nargs="?", help="a volume; none: a phantom of 256^3")
parser.add_argument("--device", default="cpu")
parser.add_argument("--threads")
parser.add_argument("--seconds", type=float, default=4)
parser.add_argument("--json")
parser.add_argument("--commit", help="written into the JSON")
given = parser.parse_args()


def answer(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip().splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return None


class Hand:
    """Sends inputs at its pace and takes pictures in; notes how long each input waited."""

    def __init__(self, page):
        self.page, self.waiting, self.latencies, self.number = page, {}, [], 0
        self.target = page.state["target"]

    def look(self, view, **what):
        self.number += 1
        self.waiting[self.number] = (time.monotonic(), "view_input", view)
        self.page.send(type="view", view=view, input=self.number, **what)

    def edit(self, name, value):
        self.number += 1
        self.waiting[self.number] = (time.monotonic(), "edit_input", None)
        self.page.send(type="set", name=name, value=value, input=self.number)

    def stroke(self, places, radius, begin):
        self.number += 1
        self.waiting[self.number] = (time.monotonic(), "edit_input", None)
        self.page.send(type="paint", radius=radius, input=self.number, **({"from": places[0], "begin": True} if begin else {"from": places[0], "to": places[1]}))

    def keep_moving(self, turn):
        """A fast device is at rest after a second: T moves to and fro, as a slider would."""
        if turn % 20 == 0:
            self.page.send(type="set", name="target", value=self.target * (1.05 if turn % 40 else 0.95))

    def take(self):
        """One message. Before it is answered: decoding it takes no time here."""
        if self.page.read() != "frame":
            return
        now = time.monotonic()
        for number, (sent, kind, view) in list(self.waiting.items()):
            if any(f[kind] >= number for name, f in self.page.frames.items() if view in (None, name)):
                self.latencies.append(now - sent)
                del self.waiting[number]

    def work(self, seconds, act):
        """Acts at its pace and reads all that comes; pictures per second of each window."""
        self.waiting.clear()
        self.latencies.clear()
        begin = time.monotonic()
        before, steps, following, turn = dict(self.page.counts), self.page.state["steps"], begin, 0
        while (now := time.monotonic()) < begin + seconds:
            if now >= following:
                act(turn)
                self.keep_moving(turn)
                turn += 1
                following = max(following + PACE, now)
            if self.page.rest or select.select([self.page.socket], [], [], max(0.0, following - time.monotonic()))[0]:
                self.page.socket.settimeout(10)
                self.take()
        took = time.monotonic() - begin
        self.steps = (self.page.state["steps"] - steps) / took
        return {v: (self.page.counts[v] - before[v]) / took for v in before}


def row(case, hand, pictures, gpu, bar):
    ordered = sorted(hand.latencies)
    median = statistics.median(ordered) if ordered else None
    return {"case": case, "device": given.device, "threads": os.cpu_count(), "n": len(ordered), "median_s": median, "min_s": ordered[0] if ordered else None,
            "max_s": ordered[-1] if ordered else None, "p95_s": ordered[math.floor(0.95 * len(ordered))] if ordered else None, "bytes": None, "flops": None,
            "bound_s": None, "peer": None, "peer_median_s": None, "ratio": None,
            "bar": f"{1000 * bar:.0f} ms, {60 if gpu else 15} pictures a second",
            "holds": median is not None and median <= bar and sum(pictures.values()) >= (60 if gpu else 15),
            "pictures_per_s": round(sum(pictures.values()), 1), "volume_pictures_per_s": round(pictures["volume"], 1), "steps_per_s": round(hand.steps)}


def measure(server, image):
    gpu = given.device.startswith("cuda")
    bar = 0.030 if gpu else 0.100
    page, rows = Page(server), []
    for view, (width, height) in PAGE.items():
        page.send(type="view", view=view, width=width, height=height)
    page.until(lambda: page.state and page.state["image"] and page.histogram and len(page.frames) == 3, 120, "an image and three pictures")
    size = page.state["image"]["size"]
    # A seed somewhat off the middle, and the interval of what is around it.
    seed = [round(0.42 * n) for n in size]
    page.send(type="probe", at=seed, radius=max(2, min(size) // 30), input=1)
    page.until(lambda: page.state["probe"]["count"] > 20, 30, "statistics of the probe")
    page.send(type="paint", **{"from": seed}, radius=min(size) / 12, begin=True, input=2)
    page.until(lambda: page.state["surface"] and page.frames["source"]["edit_input"] >= 2, 60, "the seed")
    page.send(type="start", input=3)
    page.until(lambda: page.state["steps"] >= 20, 60, "twenty steps")
    hand = Hand(page)
    hand.number = 10
    works = (("turning the 3-D window", lambda k: hand.look("volume", azimuth=(3.0 * k) % 360)),
             ("moving through a slice", lambda k: hand.look("source", position=seed[2] + k % 12)),
             ("turning, volume rendering", lambda k: hand.look("volume", azimuth=(3.0 * k) % 360)),
             ("changing alpha", lambda k: hand.edit("alpha", 0.5 + 0.01 * (k % 5))))
    for name, act in works:
        page.send(type="view", view="volume", mode="volume" if "rendering" in name else "surface")
        hand.work(0.5, act)  # drafts learn what they may cost
        pictures = hand.work(given.seconds, act)
        rows.append(row(f"{name}, {image}, page of 1280 x 720", hand, pictures, gpu, bar))
    for view in ("source", "speed"):
        page.send(type="view", view=view, width=16, height=16)
    for mode in ("surface", "combined", "volume"):
        page.send(type="view", view="volume", mode=mode, width=1280, height=720)
        hand.work(1, works[0][1])
        pictures = hand.work(given.seconds, works[0][1])
        f = page.frames["volume"]
        rows.append(row(f"turning, {mode}, {image}, window of 1280 x 720 (drawn at {f['width']} x {f['height']})", hand, pictures, gpu, bar))
    for view, (width, height) in PAGE.items():
        page.send(type="view", view=view, width=width, height=height)
    page.send(type="view", view="volume", mode="surface")
    for radius in (5, 22, 30):  # mm; a circle with a stroke of twenty places, then the next
        def around(k):
            return [seed[0] + 0.12 * size[0] * math.cos(0.1 * k), seed[1] + 0.12 * size[1] * math.sin(0.1 * k), seed[2]]
        pictures = hand.work(given.seconds, lambda k, r=radius: hand.stroke((around(k - 1), around(k)), r, k % 20 == 0))
        rows.append(row(f"painting with {radius} mm, {image}, page of 1280 x 720", hand, pictures, gpu, bar))
    if page.errors() or not page.state["running"]:
        sys.exit(f"bench workbench: the solver stopped: {page.errors()} {page.texts[-3:]} {page.state}")
    page.close()
    return rows


def main():
    folder = tempfile.mkdtemp(prefix="tessera-workbench-")
    try:
        name = os.path.basename(given.image) if given.image else "phantom.nii.gz"
        if given.image:
            shutil.copy(given.image, folder)
        else:
            subprocess.run([given.tessera, "make", "phantom_tumour", "--size", "256,256,256", "-o", os.path.join(folder, name)], check=True, capture_output=True)
        arguments = [os.path.join(folder, name), "--device", given.device] + (["--threads", given.threads] if given.threads else [])
        server = Server(given.tessera, *arguments)
        try:
            rows = measure(server, name.split(".")[0])
        except (Refused, AssertionError) as error:
            sys.exit(f"bench workbench: {error}")
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for r in rows:
        print(f"{r['case']:<92} median {1e3 * (r['median_s'] or math.nan):6.1f} ms, 95 % {1e3 * (r['p95_s'] or math.nan):6.1f} ms of {r['n']:4d}; "
              f"{r['pictures_per_s']:6.1f} pictures/s ({r['volume_pictures_per_s']:.1f} of 3-D), {r['steps_per_s']:.0f} steps/s   {'holds' if r['holds'] else 'MISSED'}: {r['bar']}")
    if given.json:
        load = os.getloadavg()[0]  # of the last minute, the bench itself included: other work takes its share of every latency
        with open(given.json, "w", encoding="ascii") as file:
            gpu = answer("nvidia-smi", "--query-gpu=name", "--format=csv,noheader") if given.device.startswith("cuda") else None
            json.dump({"machine": platform.node(), "cpu": platform.processor() or platform.machine(), "gpu": gpu,
                       "processors": os.cpu_count(), "load": round(load, 1), "nice": os.nice(0),
                       "commit": given.commit or answer("git", "rev-parse", "--short", "HEAD"),
                       "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "results": rows}, file, indent=1)


main()
