"""What a call costs, what it leaves behind, and how it is stopped."""

import gc
import os
import signal
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest

import tessera as ts


def seconds(call: Callable[[], Any], count: int = 20000) -> float:
    """Least processor time of a call, of several runs: what others do on the machine counts little."""
    best = float("inf")
    for _ in range(7):
        start = time.process_time()
        for _ in range(count // 7):
            call()
        best = min(best, (time.process_time() - start) / (count // 7))
    return best


def test_overhead_of_a_small_call() -> None:
    v = ts.Volume(np.zeros((2, 2, 2), np.uint8))
    pointer, call = v._pointer, ts.c.tsr_volume_count
    plain, shape = seconds(lambda: call(pointer)), seconds(lambda: v.shape, 7000)
    print(f"tessera.c.tsr_volume_count {1e6 * plain:.2f} us, Volume.shape {1e6 * shape:.2f} us")
    assert plain < 2e-6


def test_contiguous_input_is_not_copied() -> None:
    a = np.zeros((128, 128, 64), np.float32)  # 4 MB
    mesh = np.zeros((100000, 3), np.float32), np.zeros((100000, 3), np.uint32)
    _ = [ts.Volume(a), ts.Mesh(*mesh), ts.Points(mesh[0]), ts.from_dlpack(a)]  # imports
    tracemalloc.start()
    kept = [ts.Volume(a), ts.Mesh(*mesh), ts.Points(mesh[0]), np.asarray(ts.Volume(a)), ts.from_dlpack(a)]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(kept) == 5 and peak < 100_000, f"{peak} bytes for inputs of 6.5 MB"


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
@pytest.mark.parametrize("name", ["volume", "mesh", "image", "frame", "dlpack", "camera", "error", "option", "report"])
def test_nothing_is_left_behind(name: str) -> None:
    a = np.zeros((16, 16, 16), np.float32)
    triangle = ([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    v = ts.Volume(a)

    def error() -> None:
        try:
            v.scaling = (0.0, 0.0)
        except ts.ArgumentError:
            pass

    calls: dict[str, Callable[[], Any]] = {
        "volume": lambda: ts.Volume(a).array,
        "mesh": lambda: ts.Mesh(*triangle).vertices,
        "image": lambda: ts.depth_image(a[0]),
        "frame": lambda: ts.VideoFrame((64, 64)).planes,
        "dlpack": lambda: v.__dlpack__(max_version=(1, 0)),
        "camera": lambda: ts.Camera.look_at((1, 2, 3), (0, 0, 0)).copy(),
        "error": error,
        "option": lambda: ts.Lens(model="poly", k1=0.1, shift=(0.1, 0.2)),
        "report": lambda: ts.Mesh(*triangle).measure(),
    }
    call, count = calls[name], 10000 if name in ("volume", "dlpack", "camera", "error") else 2500
    for _ in range(count // 10):
        call()
    gc.collect()
    before = resident()
    for _ in range(count):
        call()
    gc.collect()
    assert resident() - before < 4 << 20


CANCELLED = """
import numpy as np, sys, time
import tessera as ts
x = np.random.default_rng(1).normal(size=(20000, 3))
print("begun", flush=True)
start = time.monotonic()
try:
    while True:
        ts.reconstruct(x / np.linalg.norm(x, axis=1, keepdims=True), depth=8, start_depth=5)
except KeyboardInterrupt:
    print("stopped")
"""


def test_control_c_ends_a_call() -> None:
    process = subprocess.Popen([sys.executable, "-c", CANCELLED], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "begun\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert out == "stopped\n" and process.returncode == 0


def test_bar_of_tqdm() -> None:
    tqdm = pytest.importorskip("tqdm.auto")
    shown: list[float] = []

    class Bar(tqdm.tqdm):  # type: ignore[misc,name-defined]
        def refresh(self, *a: Any, **k: Any) -> Any:
            shown.append(float(self.n))
            return super().refresh(*a, **k)

    original, tqdm.tqdm = tqdm.tqdm, Bar
    try:
        ts.reconstruct(np.random.default_rng(1).normal(size=(1000, 3)), depth=6, start_depth=5, progress=True)
    finally:
        tqdm.tqdm = original
    assert shown and shown[-1] == 1


def test_objects_show_themselves() -> None:
    camera = ts.Camera.look_at((0, -4, 0), (0, 0, 0), fov=40, clip=(1, 10))
    picture, depth = ts.analytic("sphere", camera, (32, 24))
    things: list[Any] = [
        picture,
        ts.Volume(np.random.default_rng(1).random((8, 9, 10))),
        ts.shape("sphere", radius=3, spacing=1),
        ts.surface(ts.shape("sphere", radius=3, spacing=1)),
        ts.depth_image(depth),
        ts.VideoFrame.from_image(picture),
        ts.Field.make("field-saddle", size=(6, 6, 6)).streamlines(max_steps=5),
    ]
    for thing in things:
        assert thing._repr_png_()[:8] == b"\x89PNG\r\n\x1a\n", type(thing)
        assert repr(thing).startswith("<tessera."), type(thing)


def test_view_opens_the_workbench() -> None:
    program = os.environ.get("TESSERA_COMMAND")
    if not program or not os.access(program, os.X_OK):
        pytest.skip("the program tessera is not there: TESSERA_COMMAND names it")
    from urllib.request import urlopen

    with ts.view(ts.shape("sphere", radius=3, spacing=1)) as shown:
        assert "<iframe" in shown._repr_html_()
        assert b"<html" in urlopen(shown.address, timeout=10).read().lower()


def test_cycles_of_a_context_and_what_uses_it() -> None:
    """The garbage collector lets go of both in any order; a process of its own, for it may crash."""
    program = """
import gc
import tessera as ts

class Both:
    def __init__(self):
        self.context = ts.Context("cpu")
        with self.context:
            self.ball = ts.shape("sphere", radius=4, spacing=1.0, centre=(0, 0, 0))
        self.me = self

for _ in range(10):
    Both()
    gc.collect()
kept = Both()  # goes when the interpreter ends
kept.gc = gc
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and not done.stderr, (done.returncode, done.stderr[-2000:])
