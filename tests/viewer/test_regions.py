"""Several labels, what lies over slices, views of watchers, the widget of sculpting and the modes film and fluid, in a real headless Chromium.
test_regions.py TESSERA [--screenshots FOLDER]     exit code 77: no Chromium here"""
import argparse
import filecmp
import gzip
import json
import math
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import mode_files  # noqa: E402
from socket_client import Server  # noqa: E402
from webdriver import Browser  # noqa: E402

arguments = argparse.ArgumentParser()
arguments.add_argument("tessera")
arguments.add_argument("--screenshots", help="a folder for pictures of the modes in three sizes")
given = arguments.parse_args()
TESSERA = os.path.abspath(given.tessera)
if Browser.missing():
    print(f"regions test: skipped: {Browser.missing()} not installed (scripts/setup.sh --deep does)")
    sys.exit(77)


def tessera(*words):
    subprocess.run([TESSERA, *words], check=True, capture_output=True, timeout=300)


def state(browser):
    return browser.script("return tessera.bench.state")


def ready(browser, url, mode, view="volume"):
    browser.open(url)
    browser.until(f"return window.tessera?.bench.mode?.name === '{mode}' && tessera.bench.driving && tessera.bench.image && !!tessera.windows.{view}.frame", 60,
                  f"mode {mode} with a picture")


def colour_at(browser, voxel, view="source"):
    """The colour of the picture that the server sent, at a voxel."""
    return browser.script("""const w = tessera.windows[arguments[1]], f = w.frame, [x, y] = w.place(arguments[0]), b = w.frameBox, c = document.createElement('canvas');
        c.width = f.width; c.height = f.height; const d = c.getContext('2d'); d.drawImage(f.bitmap, 0, 0);
        return [...d.getImageData((x - b.x) / b.width * f.width, (y - b.y) / b.height * f.height, 1, 1).data].slice(0, 3)""", voxel, view)


def wait_colour(browser, voxel, good, what, view="source"):
    end = time.monotonic() + 20
    while not good(colour := colour_at(browser, voxel, view)):
        assert time.monotonic() < end, f"{what}: {colour}"
        time.sleep(0.1)
    return colour


def send(browser, **message):
    browser.script("tessera.link.input(arguments[0])", message)


def ball(browser, at, radius):
    before = state(browser)["inside_voxels"]
    send(browser, type="paint", **{"from": at}, radius=radius, begin=True)
    browser.until(f"return tessera.bench.state.inside_voxels > {before}", 10, "a sphere")


def voxels(name):
    """A NIfTI file of bytes, as the values of its voxels."""
    with gzip.open(name) as file:
        data = file.read()
    assert struct.unpack_from("<h", data, 70)[0] == 2, "bytes"
    return data[int(struct.unpack_from("<f", data, 108)[0]):], struct.unpack_from("<h", data, 68)[0]


def labels(browser):
    """Two regions: the second is painted while the first rests; both are saved with names and colours, and come back."""
    browser.script("for (const v of ['source', 'second', 'third']) tessera.windows[v].change({ position: 24 })")
    ball(browser, [14, 24, 24], 6)
    browser.click("#label-add")
    browser.until("return tessera.bench.state.label === 2 && tessera.bench.state.labels.length === 2 && tessera.bench.state.inside_voxels === 0", 10, "a second label")
    first = state(browser)["labels"][0]
    assert 500 < first["voxels"] < 1300, first  # 4/3 pi 6^3 = 905
    ball(browser, [34, 24, 24], 4)
    wait_colour(browser, [14, 24, 24], lambda c: c[0] > c[2] + 40, "the first label is yellow in slices")
    browser.script("const n = document.querySelector('#labels input[type=text]'); n.value = 'left kidney'; n.dispatchEvent(new Event('change'))")
    browser.until("return tessera.bench.state.labels[1].name === 'left kidney'", 5, "a name")
    send(browser, type="label", label=1, colour=[0, 1, 0])
    wait_colour(browser, [14, 24, 24], lambda c: c[1] > c[0] + 40, "the first label in its colour")
    browser.script("document.querySelector('#labels input[type=checkbox]').click()")
    browser.until("return tessera.bench.state.labels[0].visible === false", 5, "a hidden label")
    wait_colour(browser, [14, 24, 24], lambda c: abs(c[1] - c[0]) < 12, "a hidden label has no colour")
    browser.script("document.querySelector('#labels input[type=checkbox]').click()")
    send(browser, type="save", what="labels", name="two-labels.nii.gz")
    browser.until("return [...document.querySelectorAll('#saved a')].some(a => a.textContent === 'two-labels.txt')", 10, "saved labels and their names")
    values, intent = voxels("two-labels.nii.gz")
    assert intent == 1002, "NIfTI's intent of labels"
    counts = {v: values.count(v) for v in (0, 1, 2)}
    now = state(browser)
    assert counts[1] == first["voxels"] and counts[2] == now["inside_voxels"] and sum(counts.values()) == len(values), (counts, now["labels"])
    with open("two-labels.txt", encoding="utf-8") as file:
        text = file.read()
    assert '"left kidney"' in text and "1 0 255 0 1 1 1" in text, text
    browser.script("[...document.querySelectorAll('#labels button')].find(b => b.textContent === 'Label 1').click()")  # back to the first
    browser.until(f"return tessera.bench.state.label === 1 && tessera.bench.state.inside_voxels === {first['voxels']}", 10, "the first label's surface again")
    assert state(browser)["labels"][1]["voxels"] == counts[2]
    send(browser, type="label", label=2, remove=True)
    browser.until("return tessera.bench.state.labels.length === 1", 5, "a label taken away")
    send(browser, type="load", name="two-labels.nii.gz", **{"as": "labels"})
    browser.until("return tessera.bench.state.labels.length === 2", 10, "labels of a file")
    again = state(browser)["labels"]
    assert [(x["label"], x["name"], x["voxels"]) for x in again] == [(1, "Label 1", counts[1]), (2, "left kidney", counts[2])], again
    assert again[0]["colour"] == [0, 1, 0], again
    send(browser, type="load", name="head.nii.gz", **{"as": "labels"})
    browser.until("return document.getElementById('messages').innerText.includes('head.nii.gz')", 10, "a grey image is no label map")
    assert len(state(browser)["labels"]) == 2


def overlays(browser):
    """The speed over a slice, then a second image that lies elsewhere in the world."""
    send(browser, type="probe", at=[24, 24, 24], radius=2)
    plain = colour_at(browser, [24, 24, 24])
    send(browser, type="overlay", over="speed", opacity=1)
    wait_colour(browser, [24, 24, 24], lambda c: max(c) - min(c) > 40, f"a coloured speed over {plain}")
    send(browser, type="overlay", over="none")
    wait_colour(browser, [24, 24, 24], lambda c: max(c) - min(c) < 20, "no overlay")
    send(browser, type="load", name="spot.nii.gz", **{"as": "overlay"})
    browser.until("return tessera.bench.state.overlay.image === 'spot.nii.gz' && tessera.bench.state.overlay.over === 'image'", 10, "a second image")
    send(browser, type="overlay", over="image", opacity=1)
    wait_colour(browser, [30, 24, 24], lambda c: c[0] > 200, "the second image's bright spot")
    assert colour_at(browser, [8, 40, 24])[0] < 140, "beside it the image is as it was"
    send(browser, type="overlay", over="none")


def see_through(browser):
    """The surface shines through the head."""
    count = """const f = tessera.windows.volume.frame, c = document.createElement('canvas'); c.width = f.width; c.height = f.height;
        const d = c.getContext('2d'); d.drawImage(f.bitmap, 0, 0); const p = d.getImageData(0, 0, c.width, c.height).data; let n = 0;
        for (let i = 0; i < p.length; i += 4) n += Math.max(0, p[i + 1] - Math.max(p[i], p[i + 2])); return n / f.width / f.height"""
    shares = []
    for value in (0, 0.9):
        browser.script("tessera.windows.volume.change({ mode: 'combined', clip: false, see_through: arguments[0] })", value)
        browser.until(f"const w = tessera.windows.volume; return !w.pending && Math.abs(tessera.bench.state.views.volume.see_through - {value}) < 1e-6"
                      "&& w.frame.viewInput >= tessera.link.lastInput", 20, "a picture")
        time.sleep(0.5)
        shares.append(browser.script(count))
    assert shares[1] > 1.1 * shares[0] > 0, shares  # how green it is in all


def watchers(browser, server):
    """Another page watches with views of its own, and follows again."""
    other = Browser(900, 700)
    try:
        other.open(server.url)
        other.until("return window.tessera?.bench.mode && !tessera.bench.driving && !!tessera.windows.source.frame", 30, "a page that watches")
        driver = state(browser)["views"]["source"]["position"]
        other.click("#follow")
        other.until("return tessera.bench.own", 5, "own views")
        other.script("tessera.windows.source.turnSlice(arguments[0])", 9)
        other.until(f"return Math.abs(tessera.windows.source.voxel(5, 5)[2] - {driver + 9}) < 0.01", 20, "its own slice")
        other.script("tessera.windows.volume.change({ azimuth: 77 })")
        time.sleep(0.5)
        assert state(browser)["views"]["source"]["position"] == driver, "the driver's slice stays"
        assert state(browser)["views"]["volume"]["azimuth"] != 77
        assert abs(browser.script("return tessera.windows.source.voxel(5, 5)[2]") - driver) < 0.01
        before = other.script("return tessera.bench.state.undo")
        other.script("tessera.link.input({ type: 'paint', from: [20, 20, 20], radius: 3, begin: true })")
        other.until("return document.getElementById('messages').innerText.includes('another page drives')", 5, "a watcher paints nothing")
        assert state(browser)["undo"] == before
        other.click("#follow")
        other.until(f"return Math.abs(tessera.windows.source.voxel(5, 5)[2] - {driver}) < 0.01", 20, "the driver's slice again")
        assert not [e for e in other.log() if "favicon" not in e], other.log()
    finally:
        other.close()


def developers(browser):
    browser.script("document.activeElement.blur(); document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'D', shiftKey: true, bubbles: true }))")
    browser.until("return document.querySelector('#dev table')", 10, "numbers for developers")
    browser.script("tessera.windows.source.turnSlice(1)")
    browser.until("return /source/.test(document.getElementById('dev').innerText) && /kB\\/s/.test(document.getElementById('dev').innerText)", 10, "numbers of a window")
    browser.script("document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'D', shiftKey: true, bubbles: true }))")
    browser.until("return !document.getElementById('dev')", 5, "gone again")


def widget(browser):
    """Arrows, rings and the square of the widget, with the mouse; the box of the object says what came of it."""
    send(browser, type="edit", line="sphere body 0 0 0 10")
    browser.until("return tessera.bench.state.objects.length === 1 && tessera.bench.state.objects[0].box", 20, "a sphere")
    browser.script("document.querySelector('[data-tool=widget]').click()")
    browser.until("const w = tessera.windows.volume; return w.frame && w.frame.zoom && !!tessera.bench.mode.widget().frame(w)", 20, "a widget")

    def spot(what):
        return browser.until(f"""const w = tessera.windows.volume, g = tessera.bench.mode.widget(), f = g.frame(w);
            if (!f) return null; // between two states or pictures
            const r = w.canvas.getBoundingClientRect(), [x, y] = {what};
            return [r.left + x * r.width / w.canvas.width, r.top + y * r.height / w.canvas.height, w.pixel]""", 20, "a widget")

    box = state(browser)["objects"][0]["box"]
    middle = spot("[f.x, f.y]")
    end = spot("g.arrow(f, 2)")
    near = (middle[0] + 0.8 * (end[0] - middle[0]), middle[1] + 0.8 * (end[1] - middle[1]))
    browser.drag([near, (near[0], near[1] - 20), (near[0], near[1] - 40)])
    browser.until("return tessera.bench.state.lines.at(-1).startsWith('move body 0 0 ')", 20, "a line of the script")
    by = float(state(browser)["lines"][-1].split()[-1])
    assert by > 0 and abs(by - 40 * middle[2]) < 0.35 * by, (by, middle)  # upwards, by what 40 pixels are (foreshortened a little)
    browser.until("return !tessera.bench.state.busy", 20, "done")
    moved = state(browser)["objects"][0]["box"]  # of tiles of 8 voxels
    assert moved[5] - box[5] + moved[2] - box[2] > 1, (box, moved)
    middle = spot("[f.x, f.y]")
    browser.drag([middle[:2], (middle[0] + 30, middle[1]), (middle[0] + 60, middle[1] - 20)])
    browser.until(f"return tessera.bench.state.objects[0].box[3] - tessera.bench.state.objects[0].box[0] > {1.2 * (moved[3] - moved[0])}", 20, "larger")
    ring = spot("(() => { const p = g.ring(f, 2).find((q, i) => q.front && i > 2 && !['move', 'scale'].includes(g.hit(f, [q.x, q.y])?.kind)); return [p.x, p.y] })()")
    lines = len(state(browser)["lines"])
    browser.drag([ring[:2], (ring[0] + 25, ring[1] + 5), (ring[0] + 50, ring[1] + 10)])
    browser.until(f"return tessera.bench.state.lines.length > {lines}", 20, "a line of the script")
    assert state(browser)["lines"][-1].startswith("turn body "), state(browser)["lines"]


def tree(browser):
    """What is copied stands below what it came from, with the copy's copy below that."""
    send(browser, type="edit", line="copy body wing")
    send(browser, type="edit", line="copy wing tip")
    browser.until("return tessera.bench.state.objects.length === 3", 20, "three objects")
    assert [o.get("parent") for o in state(browser)["objects"]] == [None, "body", "wing"], state(browser)["objects"]
    indents = browser.script("return [...document.querySelectorAll('#objects li')].map((e) => [e.innerText.trim(), parseFloat(e.style.paddingLeft)])")
    assert [n for n, _ in indents] == ["body", "wing", "tip"] and indents[0][1] < indents[1][1] < indents[2][1], indents
    for _ in range(2):
        send(browser, type="undo")
    browser.until("return tessera.bench.state.objects.length === 1", 20, "one object")
    send(browser, type="edit", line="sphere wing 20 0 0 4")  # another of the same name came from nowhere
    browser.until("return tessera.bench.state.objects.length === 2", 20, "a sphere")
    assert [o.get("parent") for o in state(browser)["objects"]] == [None, None], state(browser)["objects"]
    send(browser, type="undo")
    browser.until("return tessera.bench.state.objects.length === 1", 20, "one object")


def fingers(browser):
    """One finger sculpts, two move and zoom; a pen that presses half does half."""
    browser.script("document.querySelector('[data-tool=grow]').click()")
    send(browser, type="undo")
    middle = browser.script("const r = tessera.windows.volume.canvas.getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2]")
    edits = state(browser)["edits"]
    x, y = round(middle[0]), round(middle[1])

    def finger(name, moves):
        return {"type": "pointer", "id": name, "parameters": {"pointerType": "touch"}, "actions": [
            {"type": "pointerMove", "duration": 0, "x": moves[0][0], "y": moves[0][1]}, {"type": "pointerDown", "button": 0},
            *[{"type": "pointerMove", "duration": 120, "x": a, "y": b} for a, b in moves[1:]], {"type": "pointerUp", "button": 0}]}

    browser.command("POST", "/actions", {"actions": [finger("one", [(x, y), (x + 20, y), (x + 40, y)])]})
    browser.until(f"return tessera.bench.state.edits > {edits}", 20, "a stroke of a finger")
    edits = -1
    while state(browser)["edits"] != edits:  # all places of the stroke
        edits = state(browser)["edits"]
        time.sleep(0.7)
    zoom = state(browser)["views"]["volume"]["zoom"]
    browser.command("POST", "/actions", {"actions": [finger("one", [(x - 20, y), (x - 60, y), (x - 100, y)]), finger("two", [(x + 20, y), (x + 60, y), (x + 100, y)])]})
    browser.until(f"return tessera.bench.state.views.volume.zoom > {1.3 * zoom}", 20, "two fingers zoom")
    assert state(browser)["edits"] == edits, "two fingers sculpt nothing"


def sculpt_a_mask(browser, server):
    """A mask becomes an object, on its own voxels."""
    browser.open(server.url)
    browser.until("return window.tessera?.bench.mode?.name === 'sculpt' && tessera.bench.state.objects.length === 1", 60, "a mask as an object")
    s = state(browser)
    inside = sum(1 for v in voxels("mask.nii.gz")[0] if v)
    assert abs(s["objects"][0]["inside_voxels"] - inside) < 0.02 * inside, (s["objects"], inside)
    send(browser, type="edit", line="smooth body 0.5")
    for what, name in (("field", "before.tsr"), ("session", "mask.session")):
        send(browser, type="save", what=what, name=name)
        browser.until(f"return [...document.querySelectorAll('#saved a')].some(a => a.textContent === '{name}')", 20, name)
    tessera("edit", "mask.session", "--spacing", "1,1,1", "-o", "after.tsr")
    assert filecmp.cmp("before.tsr", "after.tsr", shallow=False), "the script gives other bits"
    send(browser, type="load", name="head.nii.gz")
    browser.until("return document.getElementById('messages').innerText.includes('expected a mask of two values or a level set')", 20, "a grey image is refused")


def film(browser):
    """Frames whose brightness is their number: scrubbed, stepped, played to the end and round again."""
    shade = """const f = tessera.windows.volume.frame, c = document.createElement('canvas'); c.width = f.width; c.height = f.height;
        const d = c.getContext('2d'); d.drawImage(f.bitmap, 0, 0); return d.getImageData(f.width / 2, f.height / 2, 1, 1).data[0]"""

    def shows(frame):
        browser.until(f"const s = (() => {{ {shade} }})(); return Math.abs(s - {40 + 20 * frame}) < 8", 20, f"frame {frame}")

    shows(0)
    browser.script("tessera.sliders.frame.set(7, true)")
    browser.until("return tessera.bench.state.frame === 7", 5, "scrubbed")
    shows(7)
    browser.script("document.activeElement.blur()")
    browser.keys(",")
    browser.until("return tessera.bench.state.frame === 6", 5, "a step back")
    shows(6)
    browser.keys("..")
    browser.until("return tessera.bench.state.frame === 8", 5, "two forward")
    browser.until("return tessera.bench.state.known && tessera.bench.state.frames === 10", 10, "ten frames")
    browser.script("""const real = window.createImageBitmap; let slow = 1; // the next picture is decoded slowly: those behind it are ready before
        window.createImageBitmap = async (...a) => { const wait = slow-- > 0, m = await real(...a); if (wait) await new Promise((r) => setTimeout(r, 700)); return m }""")
    for frame in (3, 5):
        send(browser, type="set", name="frame", value=frame)
        time.sleep(0.2)
    shows(5)
    time.sleep(0.8)
    shows(5)
    send(browser, type="set", name="rate", value=60)
    browser.keys(" ")
    browser.until("return tessera.bench.state.playing && tessera.bench.state.frame < 8", 10, "it goes round")
    browser.keys(" ")
    browser.until("return !tessera.bench.state.playing", 5, "stopped")
    send(browser, type="set", name="frame", value=1e9)
    browser.until("return /expected frame/.test(document.getElementById('messages').innerText)", 5, "a frame out of range")
    browser.script("tessera.windows.volume.zoom(2, [100, 100])")
    browser.until("return Math.abs(tessera.windows.volume.frame.zoom - 2) < 1e-6", 10, "zoomed")


def fluid(browser):
    """Particles of a row of files: the look, the smoother and the split change the picture, the row plays."""
    colours = """const f = tessera.windows.volume.frame, c = document.createElement('canvas'); c.width = 64; c.height = 48;
        const d = c.getContext('2d'); d.drawImage(f.bitmap, 0, 0, 64, 48); return [...d.getImageData(0, 0, 64, 48).data]"""

    def at_rest():
        browser.until("const f = tessera.windows.volume.frame; return !f.draft && f.editInput >= tessera.link.lastInput - 2", 60, "a finer picture")
        time.sleep(0.4)
        return browser.script(colours)

    def far(a, b):
        return sum(abs(x - y) for x, y in zip(a, b)) / len(a)

    browser.until("return tessera.bench.state.frames === 3 && tessera.bench.state.particles > 1000", 10, "particles")
    water = at_rest()
    browser.script("const s = document.getElementById('look'); s.value = '2'; s.dispatchEvent(new Event('change'))")
    browser.until("return tessera.bench.state.look === 2", 5, "milk")
    milk = at_rest()
    assert far(water, milk) > 1, "milk looks like water"
    send(browser, type="set", name="split", value=0.5)
    browser.until("return tessera.bench.state.split === 0.5", 5, "split")
    assert far(at_rest(), milk) > 0.2, "the split shows nothing"
    send(browser, type="set", name="split", value=0)
    send(browser, type="set", name="frame", value=2)
    browser.until("return tessera.bench.state.frame === 2", 10, "the last file")
    assert far(at_rest(), milk) > 0.3, "another file, the same picture"
    for name, value in (("resolution", 3), ("look", 9), ("nothing", 1)):
        send(browser, type="set", name=name, value=value)
    browser.until("return /expected/.test(document.getElementById('messages').innerText)", 5, "refused settings")
    assert state(browser)["resolution"] == 2


COLOURED = """const f = tessera.windows.volume.frame, c = document.createElement('canvas'); c.width = 96; c.height = 72;
    const d = c.getContext('2d'); d.drawImage(f.bitmap, 0, 0, 96, 72); return [...d.getImageData(0, 0, 96, 72).data]"""


def flow(browser):
    """The contours follow the view: another direction, other lines."""
    browser.until("return tessera.bench.state.lines > 5", 30, "lines")
    first = state(browser)
    before = browser.script(COLOURED)
    browser.script("tessera.windows.volume.change({ azimuth: 100, elevation: 40 })")
    browser.until(f"return tessera.bench.state.seeds !== {first['seeds']} && tessera.windows.volume.look.azimuth === 100 && !tessera.windows.volume.pending", 30, "other seeds")
    time.sleep(0.5)
    after = browser.script(COLOURED)
    assert sum(abs(a - b) for a, b in zip(before, after)) / len(before) > 0.5, "the same picture"
    send(browser, type="set", name="thinning", value=6)
    browser.until(f"return tessera.bench.state.thinning === 6 && tessera.bench.state.lines < {first['lines']}", 30, "fewer lines")
    send(browser, type="set", name="width", value=99)
    browser.until("return /expected thinning/.test(document.getElementById('messages').innerText)", 5, "a refused setting")


def light(browser):
    """A dragged light: another picture, light simulated anew, first in few voxels."""
    send(browser, type="set", name="resolution", value=48)
    browser.until("return tessera.bench.state.voxels === 48 && tessera.bench.state.patches > 0 && !tessera.windows.volume.frame.draft", 60, "light")
    before = browser.script(COLOURED)
    browser.script("document.activeElement.blur()")
    browser.keys("2")
    box = browser.script("const b = tessera.windows.volume.canvas.getBoundingClientRect(); return [b.left + b.width / 2, b.top + b.height / 2]")
    browser.drag([box, (box[0] + 60, box[1] - 10), (box[0] + 160, box[1] - 20)])
    browser.until("return tessera.bench.state.turn > 40 && tessera.bench.state.rise > 3 && tessera.bench.state.voxels === 40", 30, "a draft of the moved light")
    browser.until("return tessera.bench.state.voxels === 48 && !tessera.windows.volume.frame.draft", 60, "the moved light")
    after = browser.script(COLOURED)
    assert sum(abs(a - b) for a, b in zip(before, after)) / len(before) > 0.5, "the same picture"
    send(browser, type="set", name="rise", value=91)
    browser.until("return /expected turn from/.test(document.getElementById('messages').innerText)", 5, "a refused setting")


def cameras(browser):
    """The view through a camera, the flight."""
    assert state(browser)["cameras"] == 8, state(browser)
    before = browser.script(COLOURED)
    browser.script("document.activeElement.blur()")
    browser.keys(".")
    browser.until("return tessera.bench.state.camera === 1 && tessera.bench.state.name.includes('1')", 10, "the next camera")
    browser.keys("t")
    browser.until("return tessera.bench.state.through && document.getElementById('through').getAttribute('aria-pressed') === 'true'", 10, "the view through it")
    browser.until("return tessera.windows.volume.frame.editInput >= tessera.link.lastEdit", 10, "its picture")
    after = browser.script(COLOURED)
    assert sum(abs(a - b) for a, b in zip(before, after)) / len(before) > 0.3, "the same picture"
    send(browser, type="set", name="rate", value=5)
    browser.keys(" ")
    browser.until("return tessera.bench.state.flying && tessera.bench.state.camera >= 4", 20, "a flight")
    browser.keys(" ")
    browser.until("return !tessera.bench.state.flying", 5, "it stands")


PIXELS = """const f = tessera.windows.volume.frame, c = document.createElement('canvas'); c.width = f.width; c.height = f.height;
    const d = c.getContext('2d'); d.drawImage(f.bitmap, 0, 0); return [f.width, f.height, [...d.getImageData(0, f.height >> 1, f.width, 1).data]]"""


def views(browser):
    """A plane seen by two cameras: where its edge lies in the picture follows from where the camera stands; jumps, steps, turns, flight, merging, kinds of pictures, cameras."""
    plane = mode_files.PLANE

    def rest():
        browser.until("return tessera.windows.volume.frame.editInput >= tessera.link.lastEdit && !tessera.windows.volume.frame.draft", 30, "a finished picture")
        width, height, row = browser.script(PIXELS)
        return width, height / 2 / (plane["height"] / 2 / plane["focal"]), [row[4 * i:4 * i + 3] for i in range(width)]

    def edge_is_at(x, slack=3):
        width, focal, row = rest()
        there = [i for i in range(1, width) if row[i - 1][0] > row[i - 1][2] and row[i][2] >= row[i][0]]
        wanted = width / 2 + focal * x
        assert len(there) == 1 and abs(there[0] - wanted) < slack, f"the edge is at {there} of {width}, expected {wanted:.0f}"

    browser.script("document.activeElement.blur()")
    assert [state(browser)[k] for k in ("cameras", "depths", "camera", "merge")] == [2, 2, 0, 2], state(browser)
    browser.click("#frusta")
    browser.until("return tessera.bench.state.frusta === false", 10, "no pyramids")
    edge_is_at(0)
    browser.keys("d")  # a tenth of the way to the middle of the scene, which is 2
    edge_is_at(-0.1)
    browser.keys("s")  # back, and so it is 2.2 away
    edge_is_at(-0.2 / 2.2)
    browser.keys(".")
    browser.until("return tessera.bench.state.camera === 1", 10, "the next camera")
    edge_is_at(-plane["eyes"][1] / 2)
    browser.keys("2")
    box = browser.script("const b = tessera.windows.volume.canvas.getBoundingClientRect(); return [b.left + b.width / 2, b.top + b.height / 2, b.width]")
    browser.drag([box[:2], (box[0] + box[2] / 20, box[1]), (box[0] + box[2] / 12, box[1])])
    rest()
    edge_is_at(math.tan(math.radians(5) - math.atan(plane["eyes"][1] / 2)), 8)  # five degrees to the left
    browser.keys("1,")
    browser.until("return tessera.bench.state.camera === 0", 10, "the first camera")
    edge_is_at(0)
    browser.keys("c")
    browser.until("return tessera.bench.state.show === 1", 10, "depths")
    width, _, row = rest()
    assert len({tuple(p) for p in row[width // 2 - 50:width // 2 + 50]}) <= 3 and max(row[width // 2]) - min(row[width // 2]) < 6, "a plane has one depth, in grey"
    browser.keys("c")
    browser.script("const m = document.getElementById('merge'); m.value = '0'; m.dispatchEvent(new Event('change'))")
    browser.until("return tessera.bench.state.show === 2 && tessera.bench.state.merge === 0", 10, "the nearest camera, and which it is")
    width, _, row = rest()
    own = next(u["colour"] for u in state(browser)["used"] if u["camera"] == 0)
    assert all(abs(a - b) < 12 for a, b in zip(row[width // 2], own)), (row[width // 2], own)
    browser.keys("c")
    browser.until("return tessera.bench.state.show === 3", 10, "how many cameras")
    width, focal, row = rest()
    alone, both = row[round(width / 2 - focal * 0.3)], row[round(width / 2 + focal * 0.1)]
    assert alone[0] > 2 * alone[1] and both[1] > 2 * both[0], (alone, both)
    browser.keys("cv")
    browser.until("return tessera.bench.state.show === 0 && tessera.bench.state.merge === 1", 10, "colours, blended")
    browser.keys(" ")
    browser.until("return tessera.bench.state.place === 1 && !tessera.bench.state.playing", 20, "the end of a flight")
    edge_is_at(-plane["eyes"][1] / 2)
    browser.click("#frusta")
    browser.keys("o")
    browser.until("return tessera.bench.state.covered < 0.3", 20, "the overview: the plane is small in it")
    assert not browser.script("return [...document.querySelectorAll('#messages .error')].length"), browser.script("return document.getElementById('messages').innerText")
    send(browser, type="set", name="merge", value=4)
    browser.until("return /expected merge from 0 to 3/.test(document.getElementById('messages').innerText)", 5, "a refused setting")
    browser.click("#taking-part button")
    browser.until("return tessera.bench.state.covered > 0.7", 20, "the picture of the camera whose name was pressed")


def begins(browser):
    """A file that is long in reading: at once the bare mesh and how far it is, in front as the first camera of the footage saw it; then textures, the same view. A world whose up is y stands, too."""
    browser.script("""window.lines = []; window.greys = [];
        const note = () => {
          const text = document.getElementById('coded').textContent, f = tessera.windows.volume.frame;
          if (text && lines.at(-1) !== text) lines.push(text);
          if (!f || !tessera.bench.state.reading) return;
          const c = document.createElement('canvas'); c.width = 96; c.height = 72;
          const d = c.getContext('2d'); d.drawImage(f.bitmap, 0, 0, 96, 72);
          greys.push([...d.getImageData(0, 0, 96, 72).data]);
        };
        window.noting = setInterval(note, 50);""")
    pictures_ = {}
    for name in ("slow", "lying"):
        with open(f"{name}-transforms.json", encoding="ascii") as file:
            m = json.load(file)["frames"][0]["transform_matrix"]
        back = [m[k][2] for k in range(3)]
        if name == "lying":
            back = [back[0], -back[2], back[1]]
        browser.script("lines.length = greys.length = 0")
        send(browser, type="load", name=f"{name}.mvv")
        browser.until(f"const s = tessera.bench.state; return s.image?.name === '{name}.mvv' && !s.reading && s.seen > 0.3 && !tessera.windows.volume.frame.draft", 60, "the textures")
        texts, greys = browser.script("return [lines, greys]")
        assert any(re.fullmatch(r"reading the textures, \d+ % …", text) for text in texts), texts
        lit = [sum(1 for i in range(0, len(g), 4) if g[i] > 60) for g in greys]
        assert greys and max(lit) > 0.03 * 96 * 72, f"no picture of the mesh while its textures are read: {lit}"
        bare = greys[lit.index(max(lit))]
        assert max(max(bare[i:i + 3]) - min(bare[i:i + 3]) for i in range(0, len(bare), 4)) < 40, "the mesh without textures is grey"
        look = browser.script("return tessera.windows.volume.look")
        a, e = math.radians(look["azimuth"]), math.radians(look["elevation"])
        eye = [-math.sin(a) * math.cos(e), math.cos(a) * math.cos(e), math.sin(e)]
        between = math.degrees(math.acos(min(1, sum(x * y for x, y in zip(eye, back)))))
        assert between < 12, f"{name}: {between} degrees away from the first camera of the footage: {look}, {back}"
        after = pictures_[name] = browser.script(COLOURED)
        assert sum(1 for i in range(0, len(after), 4) if max(after[i:i + 3]) - min(after[i:i + 3]) > 40) > 50, "no colours"
        assert not browser.script("return document.getElementById('coded').textContent"), "the line stays"
    differ = sum(abs(a - b) for a, b in zip(*pictures_.values())) / len(after)
    assert differ < 2, f"the dancer of a world whose up is y is seen otherwise: {differ}"
    browser.script("clearInterval(noting)")


def mvv(browser):
    """The dancer from another side, the textures of one camera, what none saw, and the steps."""
    browser.until("return tessera.bench.state.seen > 0 && !tessera.bench.state.reading && !tessera.windows.volume.frame.draft", 20, "the textures")
    assert state(browser)["frames"] == 3 and len(state(browser)["cameras"]) == 4, state(browser)
    before = browser.script(COLOURED)

    def changes(what):
        browser.until("return tessera.windows.volume.frame.editInput >= tessera.link.lastEdit && !tessera.windows.volume.frame.draft", 20, "a picture")
        after = browser.script(COLOURED)
        assert sum(abs(a - b) for a, b in zip(before, after)) / len(before) > 0.05, f"{what} changes nothing"
        return after

    browser.script("const s = document.getElementById('only'); s.value = '2'; s.dispatchEvent(new Event('change'))")
    browser.until("return tessera.bench.state.only === 2", 10, "one camera, which sees another side than the page begins with")
    before = changes("one camera alone")
    browser.click("#masks")
    browser.until("return tessera.bench.state.masks && tessera.bench.state.seen < 0.95", 10, "what it did not see")
    before = changes("the masks")
    browser.script("document.activeElement.blur()")
    browser.keys("..")
    browser.until("return tessera.bench.state.frame === 2", 10, "the last step")
    before = changes("another step")

    def choose(name, value):
        browser.script(f"const s = document.getElementById('{name}'); s.value = '{value}'; s.dispatchEvent(new Event('change'))")
        browser.until(f"return tessera.bench.state.{name} === {value}", 10, f"{name} {value}")

    choose("only", 0)
    for layer in (1, 2, 3, 4):
        choose("show", layer)
        before = changes(f"layer {layer}")
    choose("show", 0)
    before = changes("textures again")
    assert browser.script("return document.getElementById('bits-row').hidden"), "raw textures cannot be cut"
    quality = {}
    browser.script("window.said = []; const p = document.getElementById('coded'); "
                   "new MutationObserver(() => said.push(p.textContent)).observe(p, { childList: true, characterData: true, subtree: true })")
    for codec in (1, 2):
        choose("codec", codec)
        browser.until("return tessera.bench.state.psnr > 0 && !document.getElementById('bits-row').hidden", 20, "coded textures")
        for bits in (2, 0.1):
            send(browser, type="set", name="bits", value=bits)
            browser.until(f"return tessera.bench.state.bits === {bits} && tessera.bench.state.ratio > 0 && Math.abs(tessera.bench.state.ratio * {bits} - 14.4) < 1.5", 20, f"{bits} bits")
            quality[codec, bits] = state(browser)["psnr"]
        before = changes(f"codec {codec} with few bits")
        assert quality[codec, 2] > quality[codec, 0.1] + 4, quality
        assert " dB" in browser.script("return document.getElementById('coded').textContent")
    assert any(re.fullmatch(r"coding these steps, \d+ % …", text) for text in browser.script("return said")), "how far it is is not said"
    send(browser, type="set", name="bits", value=1000)
    browser.until("return /or bits to 4/.test(document.getElementById('messages').innerText)", 5, "a refused setting")
    choose("codec", 0)
    browser.until("return tessera.bench.state.psnr === 0", 20, "the file's own textures")
    changes("the file's own")


def cut(browser):
    """A coded file in its player: its streams are read as far as the slider says."""
    most = state(browser)["bits_most"]
    assert state(browser)["file_codec"] == "diff2d" and 0.9 < most <= 1, state(browser)
    send(browser, type="set", name="bits", value=0.2)
    browser.until("return tessera.bench.state.psnr > 10 && tessera.bench.state.psnr < 60", 20, "fewer bits")
    send(browser, type="set", name="bits", value=0)
    browser.until("return tessera.bench.state.psnr === 0", 20, "all bits")


def pictures(browser, url, mode):
    if not given.screenshots:
        return
    os.makedirs(given.screenshots, exist_ok=True)
    for width, height in ((1280, 720), (1920, 1080), (390, 844)):
        browser.size(width, height)
        browser.open(url)
        browser.until("return window.tessera?.bench.mode && !!tessera.windows.volume.frame", 60, "a picture")
        time.sleep(3)  # finer, where the machine has time for it
        assert browser.script("return document.documentElement.scrollWidth <= innerWidth"), "wider than the screen"
        browser.screenshot(os.path.join(given.screenshots, f"{mode}-{width}x{height}.png"))
    browser.size(1280, 720)


def part(name, action, *words):
    begin = time.monotonic()
    action(*words)
    print(f"  {name}: {time.monotonic() - begin:.1f} s", flush=True)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        tessera("make", "phantom_tumour", "--size", "48", "--noise", "0.03", "-o", "head.nii.gz")
        mode_files.film("row.y4m")
        mode_files.field("swirl.vtk")
        mode_files.rig("rig.json")
        mode_files.plane("plane.json", "plane")
        tessera("make", "light-glass-sphere", "-o", "glass.txt")
        tessera("make", "mvv", "dancer", "--steps", "3", "--cameras", "4", "-o", "dancer")
        tessera("mvv", "make", "dancer", "--size", "128,128,1", "-o", "dancer.mvv")
        tessera("mvv", "encode", "dancer.mvv", "--codec", "diff2d", "--masks", "rebuilt", "--bpp", "1", "-o", "coded.mvv")
        slow_footage()
        seed = int(os.environ.get("TESSERA_SEED", "1"))
        print(f"  seed {seed}")
        mode_files.drops(seed)
        browser = Browser(1280, 720)
        sessions = [("segment", ["head.nii.gz"], [("labels", labels), ("overlays", overlays), ("see through", see_through), ("developers", developers)]),
                    ("sculpt", ["--mode", "sculpt", "--folder", "."], [("widget", widget), ("tree", tree), ("fingers", fingers)]),
                    ("film", ["row.y4m"], [("film", film)]), ("fluid", ["--mode", "fluid", "drop-0001.ply"], [("fluid", fluid)]), ("flow", ["--mode", "flow", "swirl.vtk"], [("flow", flow)]),
                    ("light", ["glass.txt"], [("light", light)]),
                    ("cameras", ["rig.json"], [("cameras", cameras)]), ("views", ["plane.json"], [("views", views)]), ("mvv", ["dancer.mvv"], [("mvv", mvv), ("mvv begins", begins)]),
                    ("mvv", ["coded.mvv"], [("mvv play", cut)])]
        spot()
        try:
            for mode, words, parts in sessions:
                server = Server(TESSERA, *words, verb=("mvv", "play") if words == ["coded.mvv"] else ("serve",))
                try:
                    if mode == "sculpt":
                        browser.open(server.url)
                        browser.until("return window.tessera?.bench.mode?.name === 'sculpt' && tessera.bench.driving", 30, "an empty document")
                    else:
                        ready(browser, server.url, mode, "source" if mode == "segment" else "volume")
                    for name, action in parts:
                        part(name, action, browser)
                    if mode == "segment":
                        part("watchers", watchers, browser, server)
                        send(browser, type="save", what="mask", name="mask.nii.gz")
                        browser.until("return [...document.querySelectorAll('#saved a')].some(a => a.textContent === 'mask.nii.gz')", 10, "a mask")
                    pictures(browser, server.url, mode)
                finally:
                    server.stop()
            server = Server(TESSERA, "--mode", "sculpt", "mask.nii.gz")
            try:
                part("sculpt a mask", sculpt_a_mask, browser, server)
            finally:
                server.stop()
            gone = ("favicon", "net::ERR_CONNECTION_", "net::ERR_SOCKET_NOT_CONNECTED", "net::ERR_EMPTY_RESPONSE")  # servers that were stopped, while or before a page asked
            errors = [e for e in browser.log() if not any(g in e for g in gone)]
            assert not errors, errors
        finally:
            browser.close()
    print("regions test: all good")


def slow_footage():
    """Textures that take long to decode; the same in a world whose up is y."""
    tessera("make", "mvv", "dancer", "--steps", "6", "--cameras", "4", "-o", "slow")
    tessera("mvv", "make", "slow", "--size", "512,512,1", "-o", "slow-raw.mvv")
    tessera("mvv", "encode", "slow-raw.mvv", "--lossless", "-o", "slow.mvv")
    os.rename("slow", "lying")
    for name in sorted(os.listdir("lying")):
        path = os.path.join("lying", name)
        if name.endswith(".obj"):
            with open(path, encoding="ascii") as file:
                lines = [line.split() for line in file]
            with open(path, "w", encoding="ascii") as file:
                for words in lines:
                    if words and words[0] == "v":
                        words = ["v", words[1], words[3], repr(-float(words[2]))]
                    file.write(" ".join(words) + "\n")
        elif name == "cameras.json":
            shutil.copy(path, "slow-transforms.json")
            with open(path, encoding="ascii") as file:
                rig = json.load(file)
            for frame in rig["frames"]:
                x, y, z, last = frame["transform_matrix"]
                frame["transform_matrix"] = [x, z, [-v for v in y], last]
            with open(path, "w", encoding="ascii") as file:
                json.dump(rig, file)
            shutil.copy(path, "lying-transforms.json")
    tessera("mvv", "make", "lying", "--size", "512,512,1", "-o", "lying-raw.mvv")
    tessera("mvv", "encode", "lying-raw.mvv", "--lossless", "-o", "lying.mvv")


def spot():
    """A second image: a bright ball in the world of the first."""
    size = 48
    with gzip.open("head.nii.gz") as file:
        head = bytearray(file.read()[:352])
    struct.pack_into("<hh", head, 70, 2, 8)  # bytes
    struct.pack_into("<f", head, 108, 352)
    struct.pack_into("<ff", head, 112, 1, 0)
    data = bytearray(size ** 3)
    for z in range(size):
        for y in range(size):
            for x in range(size):
                if (x - 30) ** 2 + (y - 24) ** 2 + (z - 24) ** 2 < 36:
                    data[(z * size + y) * size + x] = 255
    with gzip.open("spot.nii.gz", "wb") as file:
        file.write(bytes(head) + bytes(data))


main()
