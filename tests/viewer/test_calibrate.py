"""Calibration by hand in a headless Chromium: a football pitch with two cameras, done as a person does it, by what the page shows: clicks on corners and arcs, drags, keys, numbers.
The true cameras are known to this file alone, which projects with formulas of its own. test_calibrate.py TESSERA [--screenshots FOLDER]     exit code 77: no Chromium here"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from socket_client import Page, Server  # noqa: E402
from webdriver import Browser  # noqa: E402

arguments = argparse.ArgumentParser()
arguments.add_argument("tessera")
arguments.add_argument("--screenshots")
given = arguments.parse_args()
TESSERA = os.path.abspath(given.tessera)
if Browser.missing():
    print(f"calibrate test: skipped: {Browser.missing()} not installed (scripts/setup.sh --deep does)")
    sys.exit(77)
WIDTH, HEIGHT, MOST_EDITS, LOG = 1280, 720, 40, {}
# What a person recognises on a pitch: corners, ends of the halfway line, of penalty and goal areas, where arcs meet lines.
MARKS = [(x, y, 0) for x in (-52.5, 0, 52.5) for y in (-34, 34)] + [(s * x, t * y, 0) for s in (-1, 1) for t in (-1, 1) for x, y in ((36, 20.16), (52.5, 20.16), (47, 9.16), (52.5, 9.16), (36, 7.3125), (0, 9.15))]


def tessera(*words):
    return subprocess.run([TESSERA, *words], check=True, capture_output=True, text=True, cwd=FOLDER).stdout


# ---- the oracle: cameras as the file of `tessera align --show` says, OpenGL's axes ----

def cameras(name):
    with open(os.path.join(FOLDER, name), encoding="ascii") as file:
        rig = json.load(file)
    return [{**rig, **frame} for frame in rig["frames"]]


def project(camera, point):
    m = camera["transform_matrix"]
    d = [point[i] - m[i][3] for i in range(3)]
    e = [sum(m[i][k] * d[i] for i in range(3)) for k in range(3)]
    if e[2] >= -1:
        return None
    fx = camera.get("fl_x") or 0.5 * WIDTH / math.tan(0.5 * camera["camera_angle_x"])
    return camera.get("cx", WIDTH / 2) - fx * e[0] / e[2], camera.get("cy", HEIGHT / 2) + camera.get("fl_y", fx) * e[1] / e[2]


def inside(p, margin=0):
    return p is not None and margin <= p[0] <= WIDTH - margin and margin <= p[1] <= HEIGHT - margin


def rms(truth, found):
    """Over a grid of the pitch, where the true camera sees it."""
    squares = []
    for i in range(-10, 11):
        for k in range(-6, 7):
            point = (5.25 * i, 34 / 6 * k, 0)
            p = project(truth, point)
            if inside(p):
                q = project(found, point)
                squares.append((p[0] - q[0]) ** 2 + (p[1] - q[1]) ** 2)
    return math.sqrt(sum(squares) / len(squares))


# ---- a person ----

def state(browser):
    return browser.script("return tessera.bench.state")


def box_of(browser, view):
    """Left, top of the picture in the page, page pixels a picture pixel, and world units (of the camera's window: image pixels) a page pixel."""
    return browser.script("const w = tessera.windows[arguments[0]], r = w.canvas.getBoundingClientRect(), b = w.frameBox, s = r.width / w.canvas.width;"
                          "return [r.left + b.x * s, r.top + b.y * s, b.width * s, b.height * s, w.pixel / s]", view)


def rest(browser):
    browser.until("return ['source', 'third'].every((v) => tessera.windows[v].frame?.editInput >= tessera.link.lastEdit && tessera.windows[v].frame.viewInput <= tessera.link.lastInput && !tessera.windows[v].frame.draft)", 30, "rest")


def in_camera(browser, pixel):
    left, top, width, height, unit = box_of(browser, "source")
    return left + width / 2 + (pixel[0] - WIDTH / 2) / unit, top + height / 2 + (pixel[1] - HEIGHT / 2) / unit


def from_above(browser, point):
    left, top, width, height, unit = box_of(browser, "third")
    return left + width / 2 + point[0] / unit, top + height / 2 - point[1] / unit


def click(browser, at):
    browser.drag([at, at], pause=10)


def edits(browser):
    return state(browser)["undo"]


def load(browser, server, name):
    browser.script("const f = document.getElementById('files'); if (![...f.options].some((o) => o.value === arguments[0])) f.add(new Option(arguments[0])); f.value = arguments[0]", name)
    browser.click("#load")


def tool(browser, name):
    browser.click(f"[data-tool={name}]")


def pairs(browser, truth):
    """Clicks every mark it sees, from above and in the picture, as well as page pixels allow."""
    tool(browser, "pair")
    placed = 0
    for mark in MARKS:
        p = project(truth, mark)
        if not inside(p, 3):
            continue
        click(browser, from_above(browser, mark))
        browser.until("return tessera.bench.state.pending === 1", 10, "half a pair")
        click(browser, in_camera(browser, p))
        placed += 1
        browser.until(f"return tessera.bench.state.own_pairs === {placed} && !tessera.bench.state.pending", 10, f"pair {placed}")
    return placed


def number(browser, name, value):
    browser.script("const n = document.getElementById('p-' + arguments[0] + '-n'); n.scrollIntoView(); n.focus(); n.select()", name)
    browser.keys(f"{value}\ue007")
    browser.until(f"return Math.abs(tessera.bench.state.value[{['yaw', 'pitch', 'roll', 'x', 'y', 'z', 'fov'].index(name)}] - {value}) < 1e-6", 10, f"{name} {value}")


def first_camera(browser, truth):
    """By pairs: no numbers at all."""
    placed = pairs(browser, truth)
    assert placed >= 5, placed
    browser.click("#solve")
    browser.until("return tessera.bench.state.pair_rms > 0 && tessera.bench.state.pair_rms < 3", 20, "a solution")
    return edits(browser)


def second_camera(browser, truth):
    """Roughly by numbers, drags and keys, as one who knows the stadium; then pairs; then the lines to their edges. What was done is undone and done again on the way."""
    begin = edits(browser)
    m = truth["transform_matrix"]
    for name, k in (("x", 0), ("y", 1), ("z", 2)):
        number(browser, name, round(m[k][3]) + 2)
    number(browser, "yaw", round(math.degrees(math.atan2(-m[0][2], -m[1][2]))) + 3)
    number(browser, "pitch", round(math.degrees(math.asin(-m[2][2]))) - 2)
    number(browser, "fov", 30)
    before = state(browser)["value"]
    tool(browser, "turn")
    left, top, width, height, _ = box_of(browser, "source")
    middle = (left + width / 2, top + height / 2)
    steps = edits(browser)
    browser.drag([middle, (middle[0] + 30, middle[1] + 6), (middle[0] + 60, middle[1] + 12)], pause=60)
    browser.until(f"return Math.abs(tessera.bench.state.value[0] - {before[0]}) > 0.5", 10, "a drag turns it")
    rest(browser)
    assert edits(browser) == steps + 1, "a drag is one step"
    browser.keys("\ue012\ue013")  # left, up: in the window that has the focus
    browser.until(f"return tessera.bench.state.undo === {steps + 3}", 10, "steps by keys")
    turned = state(browser)["value"]
    browser.keys("z")
    browser.until(f"return tessera.bench.state.undo === {steps + 2}", 10, "undo")
    browser.keys("y")
    browser.until(f"return tessera.bench.state.undo === {steps + 3}", 10, "redo")
    assert state(browser)["value"] == turned, "redo gives the same numbers"
    pairs(browser, truth)
    browser.click("#solve")
    browser.until("return tessera.bench.state.pair_rms < 3", 20, "a solution")
    browser.click("#refine")
    browser.until("return tessera.bench.state.edge !== null && tessera.bench.state.condition > 0 && !tessera.bench.state.busy", 60, "refined")
    return edits(browser) - begin


def by_hand(browser, server):
    truth = [cameras("left.json")[0], cameras("right.json")[0]]
    browser.open(server.url)
    browser.until("return window.tessera?.bench.mode?.name === 'calibrate' && tessera.bench.driving && tessera.bench.state.names.length === 1", 30, "the mode with a picture")
    browser.click("#pitch-proxy")
    browser.until("return tessera.bench.state.proxy === 'pitch' && ['source', 'third', 'volume'].every((v) => tessera.windows[v].frame)", 30, "the pitch")
    LOG["edits"] = [first_camera(browser, truth[0])]
    load(browser, server, "right.png")
    browser.until("return tessera.bench.state.names.length === 2 && tessera.bench.state.active === 1", 30, "the second picture")
    LOG["edits"].append(second_camera(browser, truth[1]))
    assert all(n <= MOST_EDITS for n in LOG["edits"]), LOG
    for ending, button in ((".geoscene", 0), (".yml", 1), ("-colmap", 2), (".calib", 3)):
        browser.script("document.getElementById('replace').checked = true; document.getElementById('save-name').value = 'hand'")
        browser.script("document.querySelectorAll('#saves button')[arguments[0]].click()", button)
        browser.until(f"return [...document.querySelectorAll('#saved a')].some((a) => a.textContent === 'hand{ending}')", 20, f"hand{ending}")
    for name in ("hand.geoscene", "hand.yml", "hand-colmap"):
        tessera("cameras", name, "-o", "back.json", "--force")
        LOG.setdefault("rms", {})[name] = [rms(t, f) for t, f in zip(truth, cameras("back.json"))]
    print(json.dumps(LOG), flush=True)
    assert all(v < 1 for errors in LOG["rms"].values() for v in errors), f"above 1 pixel: {LOG}"
    tessera("calibrate", "--session", "hand.calib", "-o", "again.json", "--force")
    for a, b in zip(cameras("back.json"), cameras("again.json")):
        assert rms(a, b) < 0.05, "the session gives other cameras without a page"


def looks(browser):
    """What is compared, kept and locked; and nothing leaves the page at three sizes."""
    browser.click("#keep")
    browser.until("return tessera.bench.state.kept.length === 1", 10, "a snapshot")
    was = state(browser)["value"]
    tool(browser, "move")
    box = box_of(browser, "source")
    browser.drag([(box[0] + 200, box[1] + 200), (box[0] + 260, box[1] + 190)], pause=60)
    browser.until(f"return tessera.bench.state.value[3] !== {was[3]}", 10, "moved")
    browser.click("#restore")
    browser.until(f"return tessera.bench.state.value[3] === {was[3]}", 10, "back at the snapshot")
    for k in range(6):
        browser.script("const b = document.getElementById('blend'); b.selectedIndex = arguments[0]; b.dispatchEvent(new Event('change'))", k)
        browser.until(f"return tessera.bench.state.blend === document.getElementById('blend').options[{k}].value", 10, "a way to mix")
    assert browser.script("return document.getElementById('unmatch').disabled")
    browser.script("document.getElementById('match-vignette').click()")
    browser.click("#match")
    browser.until("return tessera.bench.state.gain.some((g) => g !== 1) && tessera.bench.state.vignetting[0] !== 0 && document.getElementById('residuals').innerText.includes('gain')", 20, "colours matched")
    matched = state(browser)
    assert matched["response"] == 1 and all(abs(g - 1) < 0.2 for g in matched["gain"]), matched["gain"]  # two pictures of one film
    browser.click("#unmatch")
    browser.until("return tessera.bench.state.gain.every((g) => g === 1) && document.getElementById('unmatch').disabled", 20, "colours as they came")
    browser.script("document.getElementById('lock-fov').click()")
    browser.until("return (tessera.bench.state.locked >> 6 & 1) === 1", 10, "a lock")
    browser.script("tessera.sliders.fov.set(50, true)")
    browser.until("return document.getElementById('messages').innerText.includes('locked')", 10, "a lock that holds")
    browser.script("document.getElementById('lock-fov').click()")
    tool(browser, "orbit")
    click(browser, from_above(browser, (10, 5, 0)))
    browser.until("return tessera.bench.state.pivot && Math.abs(tessera.bench.state.pivot[0] - 10) < 1", 10, "a point to turn about")
    tool(browser, "line")
    browser.drag([(box[0] + 100, box[1] + 300), (box[0] + 300, box[1] + 310)], pause=30)
    browser.until("return tessera.bench.state.vanishing === 1", 10, "a line")
    for width, height in ((1280, 720), (1920, 1080), (390, 844)):
        browser.size(width, height)
        time.sleep(1)
        page = browser.script("return [document.documentElement.scrollWidth, document.documentElement.scrollHeight, innerWidth, innerHeight]")
        assert page[0] <= page[2] and page[1] <= page[3], f"{width} x {height}: the page is {page}"
        right = browser.script("return [...document.querySelectorAll('header *, aside button, aside input, aside select')].filter((e) => e.offsetParent && e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.outerHTML.slice(0, 70))")
        assert not right, f"{width} x {height}: beyond the edge: {right}"
        if given.screenshots:
            browser.screenshot(os.path.join(given.screenshots, f"calibrate-{width}.png"))
    browser.size(1280, 720)
    nameless = browser.script("return [...document.querySelectorAll('button, input, select')].filter((e) => e.offsetParent && !(e.getAttribute('aria-label') || e.title || e.textContent.trim() || e.labels?.length)).map((e) => e.outerHTML.slice(0, 80))")
    assert not nameless, nameless


def hostile(server):
    """Lines that a page should not send: refused, and the session goes on."""
    page = Page(server, server.path + "socket")
    page.send(type="drive")
    page.until(lambda: page.state and page.state["names"], 20, "the state")
    value = page.state["value"]
    for line in ("image /etc/passwd", "image ../left.png", "proxy /etc/passwd", "cameras ..", "turn 1 2", "turn nan 0 0", "turn 1e400 0 0", "set fov 0", "set k1 -9", "camera 99", "@pair source 2 0", "@pair volume 0 0",
                 "@line q 0 0 1 1", "@nothing", "@", "+", "+ +", "x" * 1000, "pair 1 2 3 4", "undo 3", "restore nothing", "refine sideways", "match sideways", "match none all", "image left.png 3", "dolly 1 0 0 1e11"):
        page.texts.clear()
        page.send(type="edit", line=line)
        if line not in ("+",):
            page.until(lambda: any(t["type"] == "error" for t in page.texts), 20, f"a refusal of {line[:40]!r}")
    page.send(type="save", what="cameras", name="hand.exe")
    page.until(lambda: any("hand.exe" in t["text"] for t in page.texts), 20, "a refusal of another ending")
    assert page.state["value"] == value
    page.close()


with tempfile.TemporaryDirectory() as FOLDER:
    # Two cameras of one film that pans: its first picture and its last, as two.
    tessera("align", "--proxy", "pitch", "--show", "2", "-o", "view-%d.png", "--start", "both.json", "--image-size", f"{WIDTH},{HEIGHT},1", "--players", "12", "--noise", "2")
    for i, name in enumerate(("left", "right")):
        os.rename(os.path.join(FOLDER, f"view-{i}.png"), os.path.join(FOLDER, f"{name}.png"))
        rig = cameras("both.json")
        with open(os.path.join(FOLDER, f"{name}.json"), "w", encoding="ascii") as file:
            json.dump({**rig[i], "frames": [rig[i]]}, file)
    os.remove(os.path.join(FOLDER, "both.json"))
    server = Server(TESSERA, os.path.join(FOLDER, "left.png"), "--mode", "calibrate", "--device", "cpu")
    browser = None
    try:
        browser = Browser(1280, 720)
        for part in (lambda: by_hand(browser, server), lambda: looks(browser), lambda: hostile(server)):
            began = time.monotonic()
            part()
            print(f"{part.__code__.co_names[0]}: {time.monotonic() - began:.1f} s", flush=True)
        errors = [line for line in browser.log() if "favicon" not in line and "403" not in line]
        assert not errors, errors
    finally:
        if browser:
            if given.screenshots:
                browser.screenshot(os.path.join(given.screenshots, "calibrate-last.png"))
            browser.close()
        code = server.stop()
    assert code[0] == 0 and not code[1], code
print(json.dumps(LOG))
print("ok")
