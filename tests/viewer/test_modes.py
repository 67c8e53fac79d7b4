"""The modes of the workbench in a headless Chromium, with mouse and keys: what a newcomer does by what the page says alone, then every tool.
test_modes.py TESSERA [--image FILE] [--mesh FILE] [--screenshots FOLDER] [--log JSON]     exit code 77: no Chromium here"""
import argparse
import array
import collections
import filecmp
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from socket_client import Server  # noqa: E402
from webdriver import Browser  # noqa: E402

arguments = argparse.ArgumentParser()
arguments.add_argument("tessera")
arguments.add_argument("--image", help="the T1 MRI of scripts/get-data.sh: the newcomer's path once more on it")
arguments.add_argument("--mesh", help="a mesh to sculpt (default: an animal made here)")
arguments.add_argument("--screenshots", help="a folder for pictures of every mode in three sizes")
arguments.add_argument("--log", help="write what was measured as JSON")
given = arguments.parse_args()
TESSERA = os.path.abspath(given.tessera)
if Browser.missing():
    print(f"modes test: skipped: {Browser.missing()} not installed (scripts/setup.sh --deep does)")
    sys.exit(77)

N = 96  # of the phantom
LOG = {}


def tessera(*words):
    return subprocess.run([TESSERA, *words], check=True, capture_output=True, text=True, cwd=FOLDER).stdout


def state(browser):
    return browser.script("return tessera.bench.state")


def on_page(browser, voxel, view="source"):
    return browser.script("const w = tessera.windows[arguments[1]], r = w.canvas.getBoundingClientRect(), [x, y] = w.place(arguments[0]);"
                          "return [r.left + x * r.width / w.canvas.width, r.top + y * r.height / w.canvas.height]", voxel, view)


def box_of(browser, view):
    return browser.script(f"const r = tessera.windows.{view}.canvas.getBoundingClientRect(); return [r.left, r.top, r.width, r.height]")


def in_window(browser, view, x, y):
    left, top, width, height = box_of(browser, view)
    return left + x * width, top + y * height


def ready(browser, url, mode, views):
    browser.open(url)
    browser.until(f"return window.tessera?.bench.mode?.name === '{mode}' && tessera.bench.driving && tessera.bench.image && {json.dumps(views)}.every((v) => tessera.windows[v].frame)",
                  30, f"mode {mode} with its windows")


def at_rest(browser, view="source"):
    browser.until(f"return tessera.windows.{view}.frame.viewInput >= tessera.link.lastInput || tessera.windows.{view}.frame.editInput >= tessera.link.lastInput || !tessera.windows.{view}.pending", 10, "rest")
    time.sleep(0.2)


def raw(name, kind):
    tessera("convert", name, "-o", f"{name}.raw", "--format", "raw", "--force")
    values = array.array(kind)
    with open(os.path.join(FOLDER, f"{name}.raw"), "rb") as file:
        values.frombytes(file.read())
    return values


def component(values, size, seed, inside, box):
    """Voxels joined to the seed by faces, within a box: the mask of a threshold, without any code of the program's."""
    nx, ny, _ = size
    found, queue = {seed}, collections.deque([seed])
    while queue:
        p = queue.popleft()
        for k in range(3):
            for d in (-1, 1):
                q = tuple(v + d * (i == k) for i, v in enumerate(p))
                if q in found or any(not a <= v < b for v, (a, b) in zip(q, box)) or not inside(values[(q[2] * ny + q[1]) * nx + q[0]]):
                    continue
                found.add(q)
                queue.append(q)
    return found


def dice_of(name, size, wanted):
    mask = raw(name, "B")
    have = {(i % size[0], i // size[0] % size[1], i // size[0] // size[1]) for i, v in enumerate(mask) if v}
    return 2 * len(have & wanted) / (len(have) + len(wanted))


# ---- the newcomer: segmentation ----

def follow_steps(browser, strokes, spot, settle):
    """Does what the strip of three steps says: presses the step that is marked, and drags or clicks in the slice."""
    for step in ("probe", "paint", "start"):
        marked = browser.until("const e = document.querySelector('#steps li[aria-current]'); return e && e.dataset.step + ': ' + e.innerText", 10, "a marked step")
        assert marked.startswith(step), f"the page says {marked!r}, expected {step}"
        browser.click("#steps li[aria-current] button")
        if step == "probe":
            for stroke in strokes:
                browser.drag([on_page(browser, v) for v in stroke], pause=60)
            browser.until("return tessera.bench.state.probe.count > 5", 10, "the probe")
        elif step == "paint":
            browser.drag([on_page(browser, spot)] * 2)
            browser.until("return tessera.bench.state.surface", 10, "a surface")
    browser.until("return tessera.bench.state.steps > 20 && document.getElementById('steps').hidden || document.querySelector('#messages .warning')", 20, "the steps are done, the strip is gone")
    for detail in (0.8, 0.95):  # a page that says what to change is obeyed
        end = time.monotonic() + settle
        while state(browser)["running"] and state(browser)["steps"] < 4000 and time.monotonic() < end:
            time.sleep(0.2)
        said = browser.script("return document.querySelector('#messages .warning')?.innerText")
        if not said:
            break
        assert "Undo" in said and "Detail" in said, said
        browser.click("#messages .warning button")
        browser.click("#undo")
        browser.until("return tessera.bench.state.surface", 5, "what was painted")
        browser.script("const n = document.getElementById('alpha-n'); n.focus(); n.select()")
        browser.keys(f"{detail}\ue007")
        browser.until(f"return tessera.bench.state.alpha === {detail}", 5, "more detail")
        browser.click("#start")
        browser.until("return tessera.bench.state.steps > 20", 20, "steps")
    browser.until("return !tessera.bench.state.running || tessera.bench.state.steps > 4000", settle, "rest")
    if state(browser)["running"]:
        browser.click("#start")
        browser.until("return !tessera.bench.state.running", 10, "the pause")


def newcomer_segments(browser, server):
    ready(browser, server.url, "segment", ["source", "second", "third", "volume"])
    assert browser.script("return document.querySelectorAll('.window:not([hidden])').length") == 4, "2 x 2"
    values = raw("head.nii.gz", "f")
    # Where the user sees a dark structure: left of the middle, all the values below a quarter within its neighbourhood.
    seed = min(((x, y, N // 2 + 2) for x in range(30, 66) for y in range(30, 66)), key=lambda p: sum(
        values[((p[2] + dz) * N + p[1] + dy) * N + p[0] + dx] for dx in (-2, -1, 0, 1, 2) for dy in (-2, -1, 0, 1, 2) for dz in (-1, 0, 1)))
    wanted = component(values, (N, N, N), seed, lambda v: v < 0.25, [(24, 72)] * 3)
    assert 100 < len(wanted) < 20000, f"the oracle's structure has {len(wanted)} voxels"
    browser.script("tessera.windows.source.change({position: arguments[0]})", seed[2])
    browser.until(f"return Math.abs(tessera.windows.source.voxel(5, 5)[2] - {seed[2]}) < 0.01", 10, "the slice")
    x, y, z = seed
    follow_steps(browser, [[(x, y - 4, z), (x, y, z), (x, y + 4, z)], [(x - 1, y - 2, z), (x + 1, y + 2, z)]], (x, y, z), 60)
    browser.click("[data-save=mask]")
    browser.until("return document.querySelector('#saved a')", 20, "the saved mask")
    dice = dice_of("head-mask.nii.gz", (N, N, N), wanted)
    LOG["newcomer_dice"] = dice
    assert dice > 0.85, f"Dice {dice:.3f}"


def newcomer_on_mri(browser, image):
    """The same on the T1 MRI: the lateral ventricles from one probe and one spot in the left one. The page warns of a narrow interval, and is obeyed."""
    shutil.copy(image, os.path.join(FOLDER, "ch2.nii.gz"))
    own = Server(TESSERA, os.path.join(FOLDER, "ch2.nii.gz"), "--device", "cpu")
    try:
        ready(browser, own.url, "segment", ["source", "second", "third", "volume"])
        size, seed = (181, 217, 181), (84, 126, 90)
        browser.script("tessera.windows.source.change({position: 90})")
        browser.until("return Math.abs(tessera.windows.source.voxel(5, 5)[2] - 90) < 0.01", 20, "the slice")
        browser.click("#steps li[aria-current] button")
        browser.drag([on_page(browser, (84, y, 90)) for y in (123, 126, 129)], pause=80)
        browser.until("return tessera.bench.state.probe.count > 5", 10, "the probe")
        time.sleep(0.3)
        if browser.script("return !document.getElementById('probe-warning').hidden"):
            assert "tolerance larger" in browser.script("return document.getElementById('probe-warning').textContent")
        for name, value in (("epsilon", 24), ("alpha", 0.7)):
            browser.script("const n = document.getElementById(arguments[0] + '-n'); n.focus(); n.select()", name)
            browser.keys(f"{value}\ue007")
        browser.until("return tessera.bench.state.epsilon === 24 && tessera.bench.state.alpha === 0.7 && document.getElementById('probe-warning').hidden", 10, "a wider interval, and no warning")
        browser.click("#steps li[aria-current] button")
        browser.drag([on_page(browser, seed)] * 2)
        browser.until("return tessera.bench.state.surface", 10, "a surface")
        browser.click("#steps li[aria-current] button")
        browser.until("return tessera.bench.state.steps > 1500 || !tessera.bench.state.running && tessera.bench.state.steps > 100", 180, "a grown surface")
        if state(browser)["running"]:
            browser.click("#start")
        browser.until("return !tessera.bench.state.running", 10, "the pause")
        browser.click("[data-save=mask]")
        browser.until("return document.querySelector('#saved a')", 30, "the saved mask")
        box = [(55, 125), (60, 170), (78, 130)]  # above the third ventricle, with which a threshold joins them
        wanted, mask = component(raw("ch2.nii.gz", "B"), size, seed, lambda v: v < 50, box), raw("ch2-mask.nii.gz", "B")
        have = {p for p in ((i % size[0], i // size[0] % size[1], i // size[0] // size[1]) for i, v in enumerate(mask) if v) if all(a <= v < b for v, (a, b) in zip(p, box))}
        LOG["mri_dice"] = 2 * len(have & wanted) / (len(have) + len(wanted))
        assert LOG["mri_dice"] > 0.85, f"Dice {LOG['mri_dice']:.3f}"
    finally:
        browser.open("about:blank")
        own.stop()


# ---- segmentation: every item ----

def readout(browser):
    """Place, grey value and level-set value under the cursor."""
    point = on_page(browser, [50, 60, 50])
    browser.move([(point[0] - 3, point[1]), point])
    browser.until("const t = document.getElementById('under').textContent; return /voxel \\d+, \\d+, \\d+/.test(t) && / mm/.test(t) && /grey value/.test(t) && /from the surface/.test(t)", 5, "place and values")
    text = browser.script("return document.getElementById('under').textContent")
    said = float(text.split("grey value ")[1].split()[0])
    x, y, z = (int(v) for v in text.split("voxel ")[1].split("  ")[0].split(","))
    value = raw("head.nii.gz", "f")[(z * N + y) * N + x]
    assert abs(said - value) < 1e-3, f"{text}: the voxel is {value}"


def click_in_3d(browser):
    """A click in the 3-D window sets the cross where the ray meets the surface."""
    browser.script("tessera.windows.volume.change({mode: 'surface', azimuth: 0, elevation: 0, zoom: 1, pan: [0, 0]})")
    browser.until("return tessera.bench.state.views.volume.mode === 'surface'", 5, "the surface")
    at_rest(browser, "volume")
    hit = browser.until("""const w = tessera.windows.volume, c = w.canvas, d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data, r = c.getBoundingClientRect();
        let n = 0, sx = 0, sy = 0;
        for (let y = 40; y < c.height - 80; y++) for (let x = 0; x < c.width; x++) { const i = 4 * (y * c.width + x); if (d[i] > d[i + 2] + 50) { n++; sx += x; sy += y; } }
        return n && [r.left + sx / n * r.width / c.width, r.top + sy / n * r.height / c.height];""", 10, "the surface in the 3-D window")
    browser.script("tessera.bench.setCross([5, 5, 5], tessera.windows.source); tessera.bench.chooseTool('navigate')")
    time.sleep(0.3)
    browser.drag([hit] * 2)
    browser.until("return Math.hypot(...tessera.bench.cross.map((v) => v - 5)) > 20", 10, "the cross on the surface")
    browser.until("return ['source', 'second', 'third'].every((v) => { const w = tessera.windows[v]; return Math.abs(w.look.position - tessera.bench.cross[w.look.axis]) < 0.6; })", 5, "the slices there")
    browser.script("tessera.windows.volume.change({mode: 'combined'})")


def window_and_level(browser):
    before = state(browser)["window"]
    x, y = in_window(browser, "source", 0.5, 0.5)
    browser.drag([(x, y), (x + 40, y), (x + 80, y - 30)], button=2)
    browser.until("return Math.abs(tessera.bench.state.window[1] - arguments_before) > 0.01".replace("arguments_before", str(before[1])), 5, "another window")
    after = state(browser)["window"]
    assert after[1] - after[0] > before[1] - before[0], "to the right: a wider window"
    browser.click("#window-reset")
    browser.until(f"return Math.abs(tessera.bench.state.window[1] - {state(browser)['image']['window_high']}) < 1e-6", 5, "the image's window")


def ruler_and_scale(browser):
    browser.script("tessera.windows.source.change({zoom: 1, pan: [0, 0]})")
    at_rest(browser)
    browser.keys("5")
    browser.drag([on_page(browser, [20, 40, 50]), on_page(browser, [40, 40, 50]), on_page(browser, [60, 40, 50])])
    length = browser.script("const r = tessera.bench.mode.ruler(), s = tessera.bench.image.spacing; return Math.hypot(...r.a.map((v, i) => (v - r.b[i]) * s[i]))")
    assert abs(length - 40) < 1, f"the ruler says {length} mm of 40"
    scale = browser.script("const w = tessera.windows.source; return import('./overlay.js').then((m) => { const s = m.scaleBar(w), a = w.voxel(0, 9), b = w.voxel(s.pixels, 9); return [s.length, Math.hypot(...a.map((v, i) => v - b[i]))]; })")
    assert abs(scale[0] - scale[1]) < 0.02 * scale[0], f"the scale bar of {scale[0]} mm is {scale[1]} mm long"
    browser.keys("1")


def layouts(browser):
    """W goes through the layouts, M makes one window large and small again, and a hidden window gets no pictures."""
    first = browser.script("return document.getElementById('layout').value")
    seen = []
    for _ in range(4):
        browser.keys("w")
        seen.append(browser.script("return document.getElementById('layout').value"))
    assert len(set(seen)) == 4 and seen[-1] == first, seen
    browser.script("tessera.windows.second.canvas.focus()")
    browser.keys("m")
    big = browser.script("const r = tessera.windows.second.canvas.getBoundingClientRect(); return r.width / document.getElementById('windows').clientWidth")
    assert big > 0.95, f"enlarged to {big}"
    browser.keys("m")
    assert browser.script("const r = tessera.windows.second.canvas.getBoundingClientRect(); return r.width / document.getElementById('windows').clientWidth") < 0.6


def filled(browser):
    """The inside as a colour of its own, half transparent."""
    count = """const c = tessera.windows.source.canvas, d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; let n = 0;
        for (let i = 0; i < d.length; i += 4) n += d[i + 1] > d[i] + 25 && d[i + 1] > d[i + 2] + 25; return n;"""
    spot = browser.script("return tessera.bench.cross")
    browser.script("tessera.windows.source.change({position: Math.round(arguments[0])})", spot[2])
    at_rest(browser)
    before = browser.script(count)
    browser.script("const c = document.getElementById('fill-colour'), f = document.getElementById('fill'); c.value = '#00ff40'; f.value = 0.5; f.dispatchEvent(new Event('input'))")
    browser.until("return tessera.bench.state.mask[0] === 0.5 && tessera.windows.source.frame.viewInput >= tessera.link.lastInput", 10, "the fill")
    browser.until(f"{count.replace('return n;', '')} return n > {before} + 40;", 10, "green pixels")
    browser.script("const f = document.getElementById('fill'); f.value = 0; f.dispatchEvent(new Event('input'))")


def statistics(browser):
    browser.click("#measure")
    browser.until("return document.querySelectorAll('#measured div').length === 6", 10, "statistics")
    said = browser.script("return Object.fromEntries([...document.querySelectorAll('#measured div')].map((e) => [e.children[0].textContent, e.children[1].textContent]))")
    mask, values = raw("head-mask.nii.gz", "B"), raw("head.nii.gz", "f")
    inside = [v for v, m in zip(values, mask) if m]
    assert int(said["Voxels"].replace(",", "")) == len(inside) == state(browser)["inside_voxels"], said
    mean = sum(inside) / len(inside)
    assert abs(float(said["Grey values"].split()[0]) - mean) < 2e-3, (said, mean)
    assert abs(float(said["Volume"].split()[0]) - len(inside) / 1000) < 0.01 * len(inside) / 1000, said


def mask_and_on(browser):
    """A saved mask is loaded and becomes the surface, with which one goes on; Undo brings back what was there."""
    inside = state(browser)["inside_voxels"]
    browser.click("#reset")
    browser.until("return !tessera.bench.state.surface", 5, "nothing")
    browser.script("tessera.link.send({ type: 'files' })")
    browser.until("return [...document.getElementById('files').options].some((o) => o.value === 'head-mask.nii.gz')", 5, "the mask in the list")
    browser.script("document.getElementById('files').value = 'head-mask.nii.gz'")
    browser.click("#load-mask")
    browser.until(f"return Math.abs(tessera.bench.state.inside_voxels - {inside}) < 0.02 * {inside}", 10, "the mask as surface")
    browser.click("#step")
    browser.until("return tessera.bench.state.steps >= 10", 10, "steps from there")


def warns_of_probe(browser):
    browser.click("#probe-reset")
    browser.script("tessera.bench.chooseTool('navigate'); tessera.link.input({ type: 'probe', at: [70, 50, 50], radius: 3 }); tessera.sliders.epsilon.set(0.4, true)")
    browser.until("return !document.getElementById('probe-warning').hidden", 10, "the warning")
    text = browser.script("return document.getElementById('probe-warning').textContent")
    assert "%" in text and "tolerance" in text, text
    browser.script("tessera.sliders.epsilon.set(0.05, true)")
    browser.until("return document.getElementById('probe-warning').hidden", 10, "the warning is gone with its cause")


def by_keyboard(browser):
    """Probe, paint, start and save without the mouse."""
    browser.click("#reset")
    browser.click("#probe-reset")
    browser.until("return !tessera.bench.state.surface && !tessera.bench.state.probe.count", 5, "nothing")
    browser.script("tessera.bench.setCross([44, 50, 50], tessera.windows.second); tessera.windows.source.canvas.focus()")
    time.sleep(0.3)
    before = browser.script("return tessera.bench.cross")
    browser.keys("lli")
    moved = browser.script("return tessera.bench.cross")
    assert math.dist(before, moved) > 3, (before, moved)
    browser.keys("2\ue007")
    browser.until("return tessera.bench.state.probe.count > 0", 5, "a probe by Enter")
    browser.keys("3\ue007")
    browser.until("return tessera.bench.state.surface", 5, "a sphere by Enter")
    browser.keys(" ")
    browser.until("return tessera.bench.state.steps > 5", 10, "the run by Space")
    browser.keys(" ")
    browser.until("return !tessera.bench.state.running", 10, "the pause by Space")
    reached = browser.script("""const all = [...document.querySelectorAll('button, input, select, canvas[tabindex], a, summary')].filter((e) => e.offsetParent && !e.disabled && !e.closest('dialog'));
        return all.filter((e) => e.tabIndex < 0 && e.getAttribute('role') !== 'radio').map((e) => e.outerHTML.slice(0, 60));""")
    assert not reached, f"not by Tab: {reached}"
    browser.keys("1")


CONTRAST = """const lin = (v) => ((v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4), lum = (c) => 0.2126 * lin(c[0]) + 0.7152 * lin(c[1]) + 0.0722 * lin(c[2]);
    const parse = (text) => { const n = text.match(/[\\d.]+/g).map(Number); return n.length > 3 ? n : [...n, 1]; }, bad = [];
    for (const e of document.querySelectorAll('body *')) {
      if (!e.offsetParent || e.closest(':disabled, dialog, .label, .window, #measured.old') || ![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())) continue;
      let back = null;
      for (let p = e; p && !back; p = p.parentElement) { const c = parse(getComputedStyle(p).backgroundColor); if (c[3] === 1) back = c; }
      back ??= [255, 255, 255];
      const fore = parse(getComputedStyle(e).color), opacity = +getComputedStyle(e).opacity, mixed = fore.slice(0, 3).map((v, i) => v * opacity + back[i] * (1 - opacity));
      const [a, b] = [lum(mixed), lum(back)].sort((x, y) => y - x), ratio = (a + 0.05) / (b + 0.05);
      if (ratio < 4.5) bad.push(arguments[0] + ' ' + ratio.toFixed(1) + ' ' + e.outerHTML.slice(0, 60));
    }
    return bad;"""


def named_and_legible(browser):
    """Every control has a name; text has a contrast of 4.5 : 1 in both themes."""
    unlabelled = browser.script("""return [...document.querySelectorAll('button, input, select, canvas, [role]')].filter(e => !(e.getAttribute('aria-label') || e.textContent.trim()
        || e.labels?.length || e.title)).map(e => e.outerHTML.slice(0, 80))""")
    assert not unlabelled, f"controls without a name: {unlabelled}"
    weak = []
    for theme in ("dark", "light"):
        browser.script("document.documentElement.dataset.theme = arguments[0]", theme)
        time.sleep(0.4)  # colours change slowly
        weak += browser.script(CONTRAST, theme)
    browser.script("document.documentElement.dataset.theme = 'dark'")
    assert not weak, f"below 4.5 : 1: {weak[:6]}"


def presets_and_cube(browser):
    browser.script("const s = document.querySelector('.preset-view'); s.value = 'left'; s.dispatchEvent(new Event('change'))")
    browser.until("return tessera.bench.state.views.volume.azimuth === 90 && tessera.bench.state.views.volume.elevation === 0", 5, "from the left")
    eye = browser.script("return import('./overlay.js').then((m) => m.axesOf({ azimuth: 90, elevation: 0 })[2])")
    assert math.dist(eye, (-1, 0, 0)) < 1e-9, f"the eye stands at {eye}, expected the patient's left"


def dropped(browser):
    """A file dropped on the page comes into the folder and is loaded; one that exists is not replaced; names with a path are refused."""
    with open(os.path.join(FOLDER, "second.nii.gz"), "rb") as file:
        content = list(file.read())
    upload = """const f = new File([new Uint8Array(arguments[0])], arguments[1]); return import('./drop.js').then((m) => m.upload(tessera.bench, f))"""
    browser.script("tessera.link.input({ type: 'reset' })")
    browser.script(upload, content, "dropped.nii.gz")
    browser.until("return document.getElementById('ask-load').open || tessera.bench.image.name === 'dropped.nii.gz'", 10, "the question or the file")
    if browser.script("return document.getElementById('ask-load').open"):
        browser.click("#ask-load button[value=yes]")
    browser.until("return tessera.bench.image.name === 'dropped.nii.gz'", 10, "the dropped file")
    assert filecmp.cmp(os.path.join(FOLDER, "second.nii.gz"), os.path.join(FOLDER, "dropped.nii.gz"), shallow=False)
    browser.script(upload, content, "dropped.nii.gz")
    browser.until("return document.getElementById('messages').innerText.includes('exists already')", 5, "the refusal")
    assert not [n for n in os.listdir(FOLDER) if n.startswith(".")], "a part of an upload was left"


# ---- sculpting ----

def on_surface(browser, share_x=0.5, share_y=0.5):
    """A pixel of the 3-D window where the surface is, by its colour."""
    return browser.until("""const w = tessera.windows.volume, c = w.canvas, d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data, r = c.getBoundingClientRect();
        const all = [];
        for (let y = 50; y < c.height - 90; y += 2) for (let x = 0; x < c.width; x += 2) { const i = 4 * (y * c.width + x); if (d[i] > d[i + 2] + 40) all.push([x, y]); }
        if (!all.length) return null;
        all.sort((a, b) => a[0] - b[0]);
        const column = all.filter((p) => Math.abs(p[0] - all[Math.floor(arguments[0] * (all.length - 1))][0]) < 8).sort((a, b) => a[1] - b[1]), p = column[Math.floor(arguments[1] * (column.length - 1))];
        return [r.left + p[0] * r.width / c.width, r.top + p[1] * r.height / c.height];""", 10, "the surface in the 3-D window", share_x, share_y)


def stroke(browser, tool, share_y=0.5, length=40):
    browser.click(f"[data-tool={tool}]")
    x, y = on_surface(browser, 0.5, share_y)
    edits = state(browser)["edits"]
    browser.drag([(x + length * k / 10 - length / 2, y) for k in range(11)], pause=40)
    browser.until(f"return tessera.bench.state.edits > {edits}", 15, f"a stroke of {tool}")
    browser.until("return tessera.windows.volume.frame.editInput >= tessera.link.lastEdit", 15, "a picture of it")


def inside_of(browser, name="body"):
    return next(o["inside_voxels"] for o in state(browser)["objects"] if o["name"] == name)


def newcomer_sculpts(browser, server):
    """Open, dent, smooth, save; the session's script gives the same bits without a page."""
    ready(browser, server.url + "?tab=1", "sculpt", ["volume"])
    assert "drag over the surface" in browser.script("return document.getElementById('said').textContent")
    before = inside_of(browser)
    stroke(browser, "shrink")
    dented = inside_of(browser)
    assert dented < before, "a dent takes volume away"
    stroke(browser, "smooth")
    browser.script("tessera.statistics(true)")
    stroke(browser, "smooth", 0.4)
    numbers = browser.script("return tessera.statistics(false)")
    LOG["sculpt_latency_median_ms"], LOG["sculpt_latency_95_ms"], LOG["sculpt_load"] = numbers["median"], numbers["most"], os.getloadavg()[0]
    for what in ("mesh", "field", "session"):
        browser.click(f"[data-save={what}]")
    browser.until("return document.querySelectorAll('#saved a').length === 3", 30, "three files")
    info = tessera("info", "animal-sculpted.ply")
    assert "mesh" in info, info
    replayed(browser, "animal-sculpted")


def replayed(browser, name):
    spacing = ",".join(repr(v) for v in (lambda text: [float(v) for v in text.split("# spacing ")[1].split("\n")[0].split()[0].split(",")])(
        open(os.path.join(FOLDER, f"{name}.session"), encoding="ascii").read()))
    tessera("edit", f"{name}.session", "--spacing", spacing, "-o", "again.tsr", "--force")
    assert filecmp.cmp(os.path.join(FOLDER, f"{name}.tsr"), os.path.join(FOLDER, "again.tsr"), shallow=False), "the replay gives other bits"


def sculpt_tools(browser):
    """Grow, pull, undo at the cost of what was touched, redo."""
    volume = inside_of(browser)
    stroke(browser, "grow")
    grown = inside_of(browser)
    assert grown > volume, (volume, grown)
    stroke(browser, "attract", 0.6)
    pulled = inside_of(browser)
    assert pulled != grown
    tiles = next(o["tiles"] for o in state(browser)["objects"] if o["name"] == "body")
    levels = state(browser)["undo"]
    browser.keys("z")
    browser.until(f"return tessera.bench.state.undo === {levels - 1}", 10, "undone")
    assert inside_of(browser) == grown, "exactly what was there"
    dabs = sum(line == "undo" for line in state(browser)["lines"])
    assert 0 < state(browser)["touched"] < 0.8 * tiles * max(1, dabs), f"{state(browser)['touched']} tiles of {tiles} were touched"
    browser.keys("y")
    browser.until(f"return tessera.bench.state.undo === {levels}", 10, "redone")
    assert inside_of(browser) == pulled
    browser.script("const m = document.getElementById('mirror'); m.checked = true; m.dispatchEvent(new Event('change'))")
    browser.until("return tessera.bench.state.mirror", 5, "the mirror")
    stroke(browser, "grow", 0.5, 4)
    pair = [line.split() for line in state(browser)["lines"] if line.startswith("brush")][-2:]
    assert pair[0][3:5] == pair[1][3:5] and pair[0][2] != pair[1][2], f"the second side: {pair}"
    browser.script("const m = document.getElementById('mirror'); m.checked = false; m.dispatchEvent(new Event('change'))")


def sphere_under_cursor(browser):
    """The brush is drawn as its sphere: as wide as it reaches."""
    browser.keys("2")
    x, y = in_window(browser, "volume", 0.85, 0.2)
    browser.move([(x, y + 3), (x, y)])
    seen = browser.script("""const w = tessera.windows.volume; w.hover = w.hover ?? [200, 200]; w.draw();
        const c = w.context, [x, y] = w.hover, r = tessera.bench.brush / w.pixel, at = (dx) => [...c.getImageData(Math.round(x + dx), Math.round(y), 1, 1).data];
        const ring = Math.max(...[-1, 0, 1].map((d) => at(r + d)[0])), beyond = at(r + 12)[0];
        return [ring, beyond, r];""")
    assert seen[0] > seen[1] + 60 and seen[2] > 5, f"no sphere: {seen}"


def selections(browser):
    """A box in the 3-D window cuts out an object, Undo joins it; a lasso deletes; a box on a slice keeps."""
    browser.click("[data-tool=box]")
    left, top, width, height = box_of(browser, "volume")
    x, _ = on_surface(browser, 0.75)
    browser.drag([(x, top + 60), (x + 40, top + height / 2), (left + width - 20, top + height - 20)])
    browser.until("return !document.getElementById('cut').disabled", 5, "a selection")
    whole = inside_of(browser)
    browser.click("#cut")
    browser.until("return tessera.bench.state.objects.length === 2", 15, "a new object")
    parts = [o["inside_voxels"] for o in state(browser)["objects"]]
    assert min(parts) > 100 and sum(parts) <= whole, (parts, whole)
    name = next(o["name"] for o in state(browser)["objects"] if o["name"] != "body")
    browser.script("document.getElementById('other').value = arguments[0]", name)
    browser.click("#combine")
    browser.until(f"return tessera.bench.state.objects.find((o) => o.name === 'body').inside_voxels > {parts[0]}", 15, "pasted")
    for _ in range(2):
        level = state(browser)["undo"]
        browser.click("#undo")
        browser.until(f"return tessera.bench.state.undo === {level - 1}", 10, "undone")
    assert inside_of(browser) == whole and len(state(browser)["objects"]) == 1
    browser.click("[data-tool=lasso]")
    x, y = on_surface(browser, 0.95)
    browser.drag([(x + 60 * math.cos(a / 4), y + 60 * math.sin(a / 4)) for a in range(25)], pause=20)
    browser.until("return !document.getElementById('delete').disabled", 5, "a lasso")
    browser.script("document.activeElement.blur()")
    browser.keys("\ue017")
    browser.until(f"return tessera.bench.state.objects[0].inside_voxels < {whole}", 15, "less")
    browser.keys("z")
    browser.until(f"return tessera.bench.state.objects[0].inside_voxels === {whole}", 15, "all again")
    browser.keys("8")  # along the surface: what the brush passes
    assert browser.script("return tessera.bench.tool") == "along"
    x, y = on_surface(browser)
    browser.drag([(x - 20, y), (x, y + 5), (x + 20, y)], pause=40)
    browser.until("return !document.getElementById('cut').disabled && tessera.bench.mode.selection().radius > 0", 5, "a stroke")
    browser.click("#cut")
    browser.until("return tessera.bench.state.objects.length === 2 && tessera.bench.state.lines.at(-1).includes(' stroke ')", 15, "what the brush passed")
    parts = {o["name"]: o["inside_voxels"] for o in state(browser)["objects"]}
    assert 20 < min(parts.values()) < 0.5 * whole and sum(parts.values()) <= whole, (parts, whole)
    browser.keys("z")
    browser.until("return tessera.bench.state.objects.length === 1", 15, "one again")
    assert inside_of(browser) == whole


def objects(browser):
    """Shapes are added, combined, hidden, moved, removed; the whole object is smoothed; the file of another object comes in."""
    browser.script("document.getElementById('shape').value = 'torus'")
    browser.click("#add")
    browser.until("return tessera.bench.state.objects.some((o) => o.name === 'torus')", 15, "a torus")
    browser.click("#objects li:nth-child(2) input")
    browser.until("return !tessera.bench.state.objects[1].visible", 5, "hidden")
    browser.click("#objects li:nth-child(2) button")
    browser.until("return tessera.bench.state.active === 'torus'", 5, "the active one")
    browser.script("document.getElementById('move-x').value = 5")
    browser.click("#move")
    browser.until("return tessera.bench.state.lines.at(-1).startsWith('move torus 5 ')", 10, "moved")
    browser.click("#turn")
    browser.until("return tessera.bench.state.lines.at(-1).startsWith('turn torus')", 10, "turned")
    browser.click("#scale")
    browser.until("return tessera.bench.state.lines.at(-1).startsWith('scale torus')", 10, "scaled")
    browser.click("#smooth")
    browser.until("return tessera.bench.state.lines.at(-1).startsWith('smooth torus')", 20, "smoothed")
    browser.click("#objects li:nth-child(1) button")
    browser.until("return tessera.bench.state.active === 'body'", 5, "the body again")
    before = inside_of(browser)
    browser.script("document.getElementById('other').value = 'torus'; document.getElementById('operation').value = 'difference'")
    browser.click("#combine")
    browser.until("return tessera.bench.state.lines.at(-1) === 'difference body torus'", 15, "taken away")
    assert inside_of(browser) <= before
    browser.script("tessera.link.send({ type: 'files' })")
    browser.until("return [...document.getElementById('files').options].some((o) => o.value === 'animal-sculpted.tsr')", 5, "files")
    browser.script("document.getElementById('files').value = 'animal-sculpted.tsr'")
    browser.click("#add-file")
    browser.until("return tessera.bench.state.objects.some((o) => o.name === 'part')", 15, "another object of a file")
    browser.click("#objects li:nth-child(3) button")
    browser.until("return tessera.bench.state.active === 'part'", 5, "the part")
    browser.click("#remove")
    browser.until("return tessera.bench.state.objects.length === 2", 10, "removed")
    assert browser.script("return document.querySelectorAll('#lines li').length") > 5, "the history"
    browser.script("tessera.bench.$('replace').checked = true; document.getElementById('objects').querySelector('button').click()")
    for what in ("field", "session"):
        browser.click(f"[data-save={what}]")
    time.sleep(0.5)
    browser.until("return tessera.bench.state.busy === ''", 15, "saved")
    replayed(browser, "animal-sculpted")


# ---- looking ----

def looks(browser, viewer):
    ready(browser, viewer.url, "view", ["volume"])
    shade = """const c = tessera.windows.volume.canvas, d = c.getContext('2d').getImageData(0, 60, c.width, c.height - 150).data; let s = 0, q = 0;
        for (let i = 0; i < d.length; i += 4) { s += d[i]; q += d[i] * d[i]; } return [s / d.length * 4, Math.sqrt(q / d.length * 4)];"""
    seen = {}
    for what in ("volume", "mip", "surface", "combined"):
        browser.click(f"[data-show={what}]")
        browser.until(f"return tessera.bench.state.views.volume.mode === '{what}' && tessera.windows.volume.frame.viewInput >= tessera.link.lastInput", 15, what)
        time.sleep(0.3)
        seen[what] = browser.script(shade)
    assert len({round(v[0], 2) for v in seen.values()}) == 4, f"pictures that do not differ: {seen}"
    value = browser.script("return tessera.bench.state.isovalue")
    assert value is not None
    browser.click("[data-show=surface]")
    browser.script("tessera.sliders.isovalue.set(arguments[0], true)", value * 1.4)
    browser.until(f"return Math.abs(tessera.bench.state.isovalue - {value * 1.4}) < 1e-3 && tessera.windows.volume.frame.viewInput >= tessera.link.lastInput", 15, "another surface")
    browser.script("const p = document.getElementById('preset'); p.value = 'grey'; p.dispatchEvent(new Event('change'))")
    browser.until("return tessera.bench.state.transfer.length > 0", 5, "a preset")
    browser.script("const c = document.getElementById('clip'); c.checked = true; c.dispatchEvent(new Event('change'))")
    browser.until("return tessera.bench.state.views.volume.clip", 5, "the clipping plane")
    browser.keys("w")
    browser.until("return ['source', 'second', 'third', 'volume'].every((v) => tessera.windows[v].frame)", 15, "slices beside it")
    browser.script("tessera.link.input({ type: 'load', name: 'animal.ply' })")
    browser.until("return tessera.bench.image.name === 'animal.ply' && !tessera.bench.image.volume", 15, "a mesh")
    browser.script("tessera.bench.setLayout('three'); tessera.windows.volume.change({ clip: false })")
    browser.until("return tessera.windows.volume.frame.viewInput >= tessera.link.lastInput", 10, "its picture")
    assert on_surface(browser), "the mesh is shown"


def turntable(browser, path):
    """The example of the guide: it turns until the space bar."""
    own = Server(TESSERA, path, "--mode", "turntable", "--device", "cpu")
    try:
        ready(browser, own.url, "turntable", ["volume"])
        begin = browser.script("return tessera.bench.state.views.volume.azimuth")
        browser.until(f"return Math.abs(tessera.bench.state.views.volume.azimuth - {begin}) > 3", 10, "a turn")
        browser.keys(" ")
        time.sleep(0.5)
        stands = browser.script("return tessera.windows.volume.look.azimuth")
        time.sleep(0.4)
        assert browser.script("return tessera.windows.volume.look.azimuth") == stands, "Space stops it"
    finally:
        browser.open("about:blank")
        own.stop()


def tabs(browser, server):
    """Each file has its tab; another is opened from the page."""
    ready(browser, server.url, "segment", ["source"])
    names = browser.script("return [...document.querySelectorAll('#tabs a')].map((a) => a.textContent)")
    assert names == ["dropped.nii.gz", "animal.ply"], names
    browser.script("tessera.link.send({ type: 'open', name: 'second.nii.gz' })")
    browser.until("return document.querySelectorAll('#tabs a').length === 3", 10, "a third tab")
    browser.click("#tabs a:nth-child(3)")
    browser.until("return window.tessera?.bench.mode?.name === 'segment' && tessera.bench.image?.name === 'second.nii.gz'", 15, "its session")


def pictures(browser, server, viewer):
    """Every mode in three sizes: nothing leaves the page."""
    for mode, url in (("segment", server.url), ("sculpt", server.url + "?tab=1"), ("view", viewer.url)):
        for width, height in ((1280, 720), (1920, 1080), (390, 844)):
            browser.size(width, height)
            ready(browser, url, mode, ["volume"])
            browser.script("document.documentElement.dataset.theme = 'dark'")
            time.sleep(1.5)
            page = browser.script("return [document.documentElement.scrollWidth, document.documentElement.scrollHeight, innerWidth, innerHeight]")
            assert page[0] <= page[2] and page[1] <= page[3], f"{mode} {width} x {height}: the page is {page}"
            right = browser.script("return [...document.querySelectorAll('header *, aside button, aside input, aside select')].filter((e) => e.offsetParent && e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.outerHTML.slice(0, 70))")
            assert not right, f"{mode} {width} x {height}: beyond the edge: {right}"
            if width == 390:
                small = browser.script("return [...document.querySelectorAll('button, select')].filter((e) => e.offsetParent && e.getBoundingClientRect().height < 31.5).map((e) => e.outerHTML.slice(0, 70))")
                assert not small, f"smaller than 32 px: {small}"
            if given.screenshots:
                browser.screenshot(os.path.join(given.screenshots, f"{mode}-{width}.png"))
    browser.size(1280, 720)


def weight(server):
    """What a page of each mode loads: the shell, the mode's module, and what these name, as a browser follows them."""
    def follow(name, seen):
        if name in seen:
            return
        status, body = server.get(server.path + name)
        assert status == 200, name
        seen[name] = len(body)
        for found in re.findall(rb'(?:from|import\(|src=|href=)\s*["\']\.?/?([\w.-]+\.(?:js|css))["\']', body):
            follow(found.decode(), seen)

    LOG["page_bytes"] = {}
    for mode in ("segment", "sculpt", "view", "turntable", "film", "fluid", "flow", "light", "cameras", "views", "mvv", "calibrate"):
        seen = {}
        for name in ("", f"mode-{mode}.js"):
            follow(name, seen)
        LOG["page_bytes"][mode] = sum(seen.values())
        assert {"style.css", "app.js", "dev.js", "hand.js"} <= set(seen), seen
        assert LOG["page_bytes"][mode] < 120000, f"the page of mode {mode} weighs {LOG['page_bytes'][mode]} bytes"


with tempfile.TemporaryDirectory() as FOLDER:
    for name, seed in (("head", "3"), ("second", "4")):
        tessera("make", "phantom_tumour", "--size", str(N if name == "head" else 32), "--noise", "0.05", "--seed", seed, "-o", f"{name}.nii.gz")
    if given.mesh:
        shutil.copy(given.mesh, os.path.join(FOLDER, "animal" + os.path.splitext(given.mesh)[1]))
    else:
        with open(os.path.join(FOLDER, "animal.txt"), "w", encoding="ascii") as script:
            script.write("animal a 0 0 0 60\n")
        tessera("edit", "animal.txt", "-o", "animal.ply")
    server = Server(TESSERA, os.path.join(FOLDER, "head.nii.gz"), os.path.join(FOLDER, "animal.ply"), "--device", "cpu")
    viewer = Server(TESSERA, os.path.join(FOLDER, "head.nii.gz"), "--mode", "view", "--device", "cpu")
    browser = None
    try:
        browser = Browser(1280, 720)
        if given.image and os.path.exists(given.image):
            began = time.monotonic()
            newcomer_on_mri(browser, given.image)
            print(f"newcomer_on_mri: {time.monotonic() - began:.1f} s", flush=True)
        for part in (lambda: weight(server), lambda: newcomer_segments(browser, server), lambda: readout(browser), lambda: statistics(browser), lambda: click_in_3d(browser), lambda: filled(browser),
                     lambda: window_and_level(browser), lambda: ruler_and_scale(browser), lambda: layouts(browser), lambda: presets_and_cube(browser), lambda: mask_and_on(browser),
                     lambda: warns_of_probe(browser), lambda: by_keyboard(browser), lambda: named_and_legible(browser), lambda: dropped(browser), lambda: newcomer_sculpts(browser, server),
                     lambda: sculpt_tools(browser), lambda: sphere_under_cursor(browser), lambda: selections(browser), lambda: objects(browser), lambda: named_and_legible(browser),
                     lambda: looks(browser, viewer), lambda: turntable(browser, os.path.join(FOLDER, "animal.ply")), lambda: tabs(browser, server), lambda: pictures(browser, server, viewer)):
            began = time.monotonic()
            part()
            print(f"{part.__code__.co_names[0]}: {time.monotonic() - began:.1f} s", flush=True)
        errors = [line for line in browser.log() if "favicon" not in line and "403" not in line]
        assert not errors, errors
    finally:
        if browser:
            browser.close()
        codes = [server.stop(), viewer.stop()]
    assert all(code == 0 and not errors for code, errors in codes), codes
print(json.dumps(LOG))
if given.log:
    with open(given.log, "w", encoding="ascii") as file:
        json.dump(LOG, file, indent=1)
print("ok")
