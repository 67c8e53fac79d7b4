"""How the page behaves under the hand, in a real headless Chromium on a small phantom: what the server cannot see. Every part begins where the one before it
left the session. test_page.py TESSERA [--screenshots FOLDER]     exit code 77: no Chromium here"""
import argparse
import math
import os
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from socket_client import Page, Server  # noqa: E402
from webdriver import Browser  # noqa: E402

arguments = argparse.ArgumentParser()
arguments.add_argument("tessera")
arguments.add_argument("--screenshots", help="a folder for pictures of the page in three sizes")
given = arguments.parse_args()
TESSERA = os.path.abspath(given.tessera)
if Browser.missing():
    print(f"page test: skipped: {Browser.missing()} not installed (scripts/setup.sh --deep does)")
    sys.exit(77)

READY = """if (!window.tessera?.bench.mode || !tessera.bench.driving) return false;
    if (document.getElementById('layout').value !== 'speed') tessera.bench.setLayout('speed');
    return tessera.bench.image && ['source','speed','volume'].every(v => tessera.windows[v].frame)"""
WATCH_SENT = """window.sent = []; const input = tessera.link.input;
    tessera.link.input = (m) => { window.sent.push(m); return input.call(tessera.link, m); };"""


def state(browser):
    return browser.script("return tessera.bench.state")


def on_page(browser, voxel, view="source"):
    return browser.script("const w = tessera.windows[arguments[1]], r = w.canvas.getBoundingClientRect(), [x, y] = w.place(arguments[0]);"
                          "return [r.left + x * r.width / w.canvas.width, r.top + y * r.height / w.canvas.height]", voxel, view)


def middle(browser, view):
    return browser.script("const r = tessera.windows[arguments[0]].canvas.getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2]", view)


def at_rest(browser):
    browser.until("return tessera.windows.source.frame.viewInput >= tessera.link.lastInput || !tessera.windows.source.pending", 10, "rest")
    time.sleep(0.15)


def letterbox(browser, server):
    """A page that watches a window of another shape: one voxel is as wide as it is high, the picture is whole, and its places are the right ones."""
    other = Page(server)
    other.send(type="drive")
    for view, (width, height) in {"source": (800, 200), "speed": (200, 800), "volume": (900, 300)}.items():
        other.send(type="view", view=view, width=width, height=height)
    shapes = {"source": 4, "speed": 0.25, "volume": 3}
    browser.until("return document.body.classList.contains('watching')", 5, "another page drives")
    end = time.monotonic() + 10
    while any(abs(f["width"] / f["height"] / shapes[v] - 1) > 0.1 for v, f in other.frames.items()) or len(other.frames) < 3:
        assert time.monotonic() < end, other.frames
        other.read()
    for view, wanted in shapes.items():
        browser.until(f"const f = tessera.windows.{view}.frame; return Math.abs(f.width / f.height / {wanted} - 1) < 0.1", 5, "the other shape")
        shape = browser.script("""const w = tessera.windows[arguments[0]], c = w.canvas, box = w.frameBox, d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
            let outside = 0;
            for (let i = 0; i < d.length; i += 4) {
              const x = (i / 4) % c.width, y = Math.floor(i / 4 / c.width);
              if ((x < box.x - 1 || x > box.x + box.width || y < box.y - 1 || y > box.y + box.height) && d[i + 3] && d[i] + d[i + 1] + d[i + 2] > 30) outside++;
            }
            const far = (p, q) => { const a = w.place(p), b = w.place(q); return Math.hypot(a[0] - b[0], a[1] - b[1]); };
            const back = w.flat ? w.voxel(...w.place([10, 20, 24])) : null;
            return { box, width: c.width, height: c.height, outside, x: w.flat && far([10, 20, 24], [30, 20, 24]), y: w.flat && far([10, 20, 24], [10, 40, 24]), back };""", view)
        box = shape["box"]
        assert abs(box["width"] / box["height"] / wanted - 1) < 0.1, shape
        assert box["x"] >= 0 and box["y"] >= 0 and box["x"] + box["width"] <= shape["width"] and box["y"] + box["height"] <= shape["height"], shape
        if view != "volume":
            assert abs(shape["x"] / shape["y"] - 1) < 0.02, f"{view}: stretched: {shape}"
            assert math.dist(shape["back"][:2], (10, 20)) < 0.05, shape
            assert shape["outside"] < 0.002 * shape["width"] * shape["height"], shape
    browser.click("#drive")
    browser.until("return !document.body.classList.contains('watching')", 5, "the controls again")
    other.close()
    browser.until("const w = tessera.windows.source; return w.frameBox.width === w.canvas.width && w.frameBox.height === w.canvas.height", 10, "a picture of its own shape")


def keys_after_numbers(browser):
    """A number that was entered lets the keys go, and stays within the image."""
    browser.script("const n = document.getElementById('brush-n'); n.focus(); n.select()")
    browser.keys("500\ue007")
    assert browser.script("return document.activeElement.id") != "brush-n", "the field keeps the keys after Enter"
    extent = browser.script("return tessera.bench.extent")
    assert browser.script("return tessera.bench.brush") <= extent / 2 + 1e-9, "a brush larger than the image"
    browser.keys("3")
    assert browser.script("return tessera.bench.tool") == "paint", "a shortcut after a number"
    browser.script("const n = document.getElementById('target-n'); n.focus(); n.select()")
    browser.keys("1e9\ue007")
    image = browser.script("return tessera.bench.image")
    browser.until(f"return Math.abs(tessera.bench.state.target - {image['maximum']}) < 1e-6", 5, "T at the end of the image's range")
    browser.script("tessera.sliders.brush.set(6, true)")


def undo_and_redo(browser):
    """Space after a click on Undo starts, and does not undo again; Redo goes forward."""
    browser.script("tessera.windows.source.change({position: 22}); tessera.windows.speed.change({position: 22})")
    browser.until("return Math.abs(tessera.windows.source.voxel(5, 5)[2] - 22) < 0.01", 10, "the slice")
    for x in (14, 30):
        before = state(browser)["undo"]
        browser.drag([on_page(browser, [x, 28, 22])] * 2)
        browser.until(f"return tessera.bench.state.undo === {before + 1}", 5, "a stroke")
    both = state(browser)["inside_voxels"]
    browser.click("#undo")
    browser.until("return tessera.bench.state.redo === 1", 5, "one level undone")
    one = state(browser)["inside_voxels"]
    assert 0 < one < both
    browser.script(WATCH_SENT)
    browser.keys(" ")
    time.sleep(0.2)
    sent = [m["type"] for m in browser.script("return window.sent")]
    assert "undo" not in sent and sent[:1] == ["start"], f"Space after a click on Undo: {sent}"
    browser.keys(" ")
    browser.until("return !tessera.bench.state.running", 5, "the pause")
    while state(browser)["undo"] > 1:
        level = state(browser)["undo"]
        browser.keys("z")
        browser.until(f"return tessera.bench.state.undo === {level - 1}", 5, "undone")
    browser.drag([on_page(browser, [30, 28, 22])] * 2)
    browser.until("return tessera.bench.state.undo === 2 && !tessera.bench.state.redo", 5, "a new stroke")
    browser.keys("z")
    browser.until("return tessera.bench.state.redo === 1 && !document.getElementById('redo').disabled", 5, "undone")
    browser.click("#redo")
    browser.until("return tessera.bench.state.redo === 0 && document.getElementById('redo').disabled", 5, "redone")
    again = state(browser)["inside_voxels"]  # a place that was read from a draft's rounded pixels may lie a tenth of a voxel beside
    assert abs(again - both) <= 6 and again > one, (again, both)


def wheels(browser):
    """A notch is one slice whatever its unit; thirty small events of a trackpad are three, not thirty. Zooming keeps what lies under the mouse."""
    browser.script("""window.turn = (deltaY, deltaMode, more) => { const c = tessera.windows.source.canvas, r = c.getBoundingClientRect();
        c.dispatchEvent(new WheelEvent('wheel', { deltaY, deltaMode, bubbles: true, cancelable: true, clientX: r.left + 0.7 * r.width, clientY: r.top + 0.3 * r.height, ...more })); }""")

    def moved(events):
        browser.script("tessera.windows.source.change({position: 22})")
        time.sleep(0.4)  # a new gesture
        browser.script("for (const e of arguments[0]) turn(...e)", events)
        return browser.script("return 22 - tessera.windows.source.look.position")

    assert moved([[120, 0]]) == 1 and moved([[-100, 0]]) == -1 and moved([[3, 1]]) == 1 and moved([[53, 0]]) == 1
    assert moved([[5, 0]] * 30) == 3, "a trackpad"
    assert moved([[5, 0]] * 9) == 0
    browser.script("tessera.windows.source.change({zoom: 1, pan: [0, 0]})")
    at_rest(browser)
    where = "const w = tessera.windows.source; return w.voxel(0.7 * w.canvas.width, 0.3 * w.canvas.height)"
    before = browser.script(where)
    for _ in range(4):
        browser.script("turn(-120, 0, { ctrlKey: true })")
        time.sleep(0.05)
    browser.until("const w = tessera.windows.source; return w.frame.zoom > 1.8 && w.frame.viewInput >= tessera.link.lastInput", 10, "a larger picture")
    after = browser.script(where)
    assert math.dist(before, after) < 0.3, f"not about the cursor: {before} {after}"
    browser.script("tessera.windows.source.change({zoom: 1, pan: [0, 0]})")


def stroke_in_3d(browser):
    """A drag over the surface in the 3-D window paints along it, as one level of undo."""
    browser.keys("3")
    browser.script("tessera.windows.volume.change({mode: 'surface', azimuth: 0, elevation: 0}); tessera.sliders.brush.set(3, true)")
    browser.until("return tessera.bench.state.views.volume.mode === 'surface'", 5, "the surface alone")
    at_rest(browser)
    levels = state(browser)["undo"]
    hit = browser.until("""const w = tessera.windows.volume, c = w.canvas, d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data, r = c.getBoundingClientRect();
        const xs = [], ys = [];
        for (let y = 0; y < c.height; y++) for (let x = 0; x < c.width; x++) { const i = 4 * (y * c.width + x); if (d[i] > d[i + 2] + 50) { xs.push(x); ys.push(y); } }
        const at = (list, share) => list.slice().sort((a, b) => a - b)[Math.floor(share * (list.length - 1))];
        return xs.length && [r.left + at(xs, 0.1) * r.width / c.width, r.left + at(xs, 0.9) * r.width / c.width, r.top + at(ys, 0.5) * r.height / c.height];""", 10, "the surface in the 3-D window")
    browser.script("window.sent.length = 0")
    browser.drag([(hit[0] + k * (hit[1] - hit[0]) / 12, hit[2]) for k in range(13)], pause=40)
    browser.until(f"return tessera.bench.state.undo === {levels + 1}", 10, "a stroke in 3-D")
    picks = [m for m in browser.script("return window.sent") if m["type"] == "pick"]
    assert len(picks) > 4 and picks[0]["begin"] and not any(m["begin"] for m in picks[1:]), picks
    time.sleep(0.5)
    assert state(browser)["undo"] == levels + 1
    browser.keys("1")


def without_surface(browser):
    """What shows the surface alone shows nothing while there is none, and says so; nothing is not saved; a warning stays."""
    browser.click("#reset")
    browser.until("return !tessera.bench.state.surface && !document.getElementById('no-surface').hidden", 10, "a word on the missing surface")
    for mode in ("surface", "inside"):
        browser.script("tessera.windows.volume.change({mode: arguments[0], clip: false})", mode)
        browser.until(f"return tessera.bench.state.views.volume.mode === '{mode}' && tessera.windows.volume.frame.viewInput >= tessera.link.lastInput", 10, mode)
        spread = browser.script("""const c = tessera.windows.volume.canvas, d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data, row = 4 * c.width * Math.floor(c.height / 2);
            let least = 255, most = 0;
            for (let x = 0; x < c.width; x++) { least = Math.min(least, d[row + 4 * x]); most = Math.max(most, d[row + 4 * x]); }
            return most - least;""")
        assert spread < 12, f"{mode}: something is drawn: {spread}"
    browser.click("[data-save=mask]")
    browser.until("return document.getElementById('messages').innerText.includes('not saved')", 5, "the refusal")
    browser.click("#undo")
    browser.until("return tessera.bench.state.surface && document.getElementById('no-surface').hidden", 10, "the surface again")
    browser.script("tessera.windows.volume.change({mode: 'combined'})")
    browser.script("tessera.link.tell('warning', { text: 'a warning' })")
    time.sleep(4.2)
    assert "a warning" in browser.script("return document.getElementById('messages').innerText"), "a warning goes by itself"
    browser.click("#messages .warning button")
    assert "a warning" not in browser.script("return document.getElementById('messages').innerText")


def names(browser):
    """Endings are not doubled, whatever stands in the field."""
    browser.script("window.sent.length = 0")
    for typed, what, wanted in (("liver-mask.nii.gz", "mask", "liver-mask.nii.gz"), ("liver.ply", "mesh", "liver.ply"), ("a.b", "session", "a.b.session"),
                                ("liver-mask", "field", "liver-field.nii.gz")):
        browser.script("document.getElementById('save-name').value = arguments[0]; document.querySelector(`[data-save=${arguments[1]}]`).click()", typed, what)
        assert browser.script("return window.sent.at(-1).name") == wanted, (typed, what, browser.script("return window.sent.at(-1).name"))
    browser.until("return document.querySelectorAll('#saved a').length === 4", 20, "four files")


def load_asks(browser):
    """Another image takes the place of unsaved work only when that was confirmed."""
    browser.drag([on_page(browser, [20, 20, 22])] * 2)
    browser.keys("3")
    browser.drag([on_page(browser, [20, 20, 22])] * 2)
    browser.until("return tessera.bench.state.unsaved", 5, "unsaved work")
    version = browser.script("return tessera.bench.image.version")
    browser.script("document.getElementById('files').value = 'second.nii.gz'")
    browser.click("#load")
    browser.until("return document.getElementById('ask-load').open", 5, "the question")
    browser.click("#ask-load button[value=no]")
    time.sleep(0.3)
    assert browser.script("return tessera.bench.image.version") == version and state(browser)["surface"]
    browser.click("#load")
    browser.until("return document.getElementById('ask-load').open", 5, "the question again")
    browser.click("#ask-load button[value=yes]")
    browser.until("return tessera.bench.image.name === 'second.nii.gz'", 10, "the other image")
    browser.script("document.getElementById('files').value = 'head.nii.gz'")
    browser.click("#load")
    browser.until("return tessera.bench.image.name === 'head.nii.gz'", 10, "the first image, without a question")


def lines_that_die(browser, server, arguments_of):
    """A server that says nothing any more is noticed; one that was started anew is said, and so is one that does not know the address. Returns the last."""
    browser.script("tessera.link.patience = { ping: 300, silence: 1200 }; setInterval(() => tessera.link.listen(), 100)")
    time.sleep(2)
    assert browser.script("return document.getElementById('lost').hidden && tessera.link.pings > 2"), "a quiet server that answers is no dead one"
    os.kill(server.process.pid, signal.SIGSTOP)
    try:
        browser.until("return !document.getElementById('lost').hidden && !document.getElementById('link').classList.contains('on')", 10, "a word on the silent line")
    finally:
        os.kill(server.process.pid, signal.SIGCONT)
    browser.until("return document.getElementById('lost').hidden && tessera.bench.driving", 15, "the line again")
    assert "started anew" not in browser.script("return document.getElementById('messages').innerText")
    server.stop()
    again = Server(TESSERA, *arguments_of(server.port, "aaaaaaaaaaaaaaaa"))
    browser.until("return document.getElementById('messages').innerText.includes('started anew')", 20, "a word on the session that is gone")
    again.stop()
    stranger = Server(TESSERA, *arguments_of(server.port, "bbbbbbbbbbbbbbbb"))
    browser.until("return document.getElementById('lost').innerText.includes('does not know this address')", 20, "a word on the new address")
    return stranger


def sizes(browser):
    """Nothing wraps or leaves the page in three sizes."""
    for width, height in ((1280, 720), (1920, 1080), (1000, 700)):
        browser.size(width, height)
        time.sleep(0.4)
        wrapped = browser.script("""const wide = [...document.querySelectorAll('header button, .label > *, .run button, .slider label, .buttons button, h2, h1')]
              .filter((e) => e.offsetParent && !e.querySelector('input')).map((e) => [e, [...document.createRange().constructor === Range ? (() => { const r = document.createRange(); r.selectNodeContents(e); return r.getClientRects(); })() : []]]);
            const lines = wide.filter(([e, rects]) => { const ys = rects.filter((r) => r.width > 1).map((r) => r.top + r.height / 2); return Math.max(...ys) - Math.min(...ys) > 12; });
            return lines.map(([e]) => e.outerHTML.slice(0, 80));""")
        assert not wrapped, f"{width} x {height}: {wrapped}"
        page = browser.script("return [document.documentElement.scrollWidth, document.documentElement.scrollHeight, innerWidth, innerHeight]")
        assert page[0] <= page[2] and page[1] <= page[3], f"{width} x {height}: the page is {page}"
        hidden = browser.script("""return [...document.querySelectorAll('.window')].flatMap((w) => { const edge = w.querySelector('.maximise').getBoundingClientRect().left;
            return [...w.querySelectorAll('.label > *')].filter((e) => e.getBoundingClientRect().right > edge).map((e) => e.outerHTML.slice(0, 60)); })""")
        assert not hidden, f"{width} x {height}: under the button: {hidden}"
        over = browser.script("const a = document.querySelector('.right').getBoundingClientRect(); return [a.right, innerWidth, a.left, document.querySelector('.tools').getBoundingClientRect().right]")
        assert over[0] <= over[1] and over[3] <= over[2], f"{width} x {height}: the header does not fit: {over}"
        if given.screenshots:
            browser.screenshot(os.path.join(given.screenshots, f"page-{width}.png"))
    browser.size(1280, 720)
    time.sleep(0.4)


with tempfile.TemporaryDirectory() as where:
    for name in ("head", "second"):
        subprocess.run([TESSERA, "make", "phantom_tumour", "--size", "48", "--noise", "0.05", "--seed", "3", "-o", f"{name}.nii.gz"], check=True, cwd=where, capture_output=True)

    def arguments_of(port, token):
        return [os.path.join(where, "head.nii.gz"), "--device", "cpu", "--token", token, "--port", str(port)]

    server = Server(TESSERA, *arguments_of(0, "aaaaaaaaaaaaaaaa"))
    browser = None
    try:
        browser = Browser(1280, 720)
        browser.open(server.url)
        browser.until(READY, 30, "the image in three windows")
        browser.until("return tessera.bench.driving", 5, "the controls")
        for part in (lambda: letterbox(browser, server), lambda: keys_after_numbers(browser), lambda: undo_and_redo(browser), lambda: wheels(browser),
                     lambda: stroke_in_3d(browser), lambda: sizes(browser), lambda: without_surface(browser), lambda: names(browser), lambda: load_asks(browser)):
            began = time.monotonic()
            part()
            print(f"{part.__code__.co_names[0]}: {time.monotonic() - began:.1f} s", flush=True)
        errors = [line for line in browser.log() if "favicon" not in line]
        assert not errors, errors
        began = time.monotonic()
        server = lines_that_die(browser, server, arguments_of)
        print(f"lines_that_die: {time.monotonic() - began:.1f} s", flush=True)
    finally:
        if browser:
            browser.close()
        server.stop()
print("ok")
