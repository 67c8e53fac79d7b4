"""`tessera serve` without a browser: the work of a session, its replay, and pages that mean harm. test_serve.py TESSERA [--slow]"""
import filecmp
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from socket_client import PATIENCE, Page, Refused, Server  # noqa: E402

TESSERA = os.path.abspath(sys.argv[1])
SLOW = "--slow" in sys.argv


def tessera(*arguments):
    return subprocess.run([TESSERA, *arguments], check=True, capture_output=True, text=True, cwd=FOLDER).stdout


def loaded_page(server):
    page = Page(server)
    page.drives()
    for view in ("source", "speed", "volume"):
        page.send(type="view", view=view, width=120, height=100)
    page.until(lambda: page.state and page.state["image"] and page.histogram and len(page.frames) == 3, what="an image, its histogram and three pictures")
    return page


def refused(server, path):
    try:
        Page(server, path).close()
    except Refused:
        return True
    return False


def test_session(server):
    """Probe, paint, run, undo, save; the script of the session gives the same mask; it can be loaded again."""
    page = loaded_page(server)
    assert page.driver["driver"] == page.driver["you"], page.driver
    assert page.state["image"]["size"] == [48, 48, 48] and sum(page.histogram["counts"]) == 48 ** 3
    page.expect_error("no surface to move", type="start")
    page.send(type="probe", at=[18, 28, 22], radius=3, input=1)
    page.until(lambda: page.state["probe"]["count"] > 50, what="statistics of the probe")
    assert abs(page.state["target"] - 0.7) < 0.1, page.state["target"]
    assert sum(page.state["probed"]) == page.state["probe"]["count"], page.state["probed"]
    image, middles = page.state["image"], range(len(page.state["probed"]))  # their mean, by the middles of the 256 parts of the image's range
    mean = sum(n * (i + 0.5) for i, n in zip(middles, page.state["probed"])) / page.state["probe"]["count"]
    part = (image["maximum"] - image["minimum"]) / 256
    assert abs(image["minimum"] + mean * part - page.state["probe"]["mean"]) < part, (mean, page.state["probe"])
    page.send(type="set", name="alpha", value=0.8)
    page.send(type="set", name="smoothing", value=0.6)
    page.send(type="paint", **{"from": [18, 28, 22]}, radius=3, begin=True, input=2)
    page.send(type="paint", **{"from": [18, 28, 22], "to": [20, 28, 22]}, radius=3, input=3)
    page.until(lambda: page.state["surface"] and page.frames["source"]["edit_input"] >= 3, what="a picture of the painted surface")
    before = page.state["inside_voxels"]
    page.send(type="start", input=4)
    page.until(lambda: page.state["steps"] >= 60, what="sixty steps")
    pictures = dict(page.counts)
    page.until(lambda: all(page.counts[v] > pictures[v] for v in ("source", "speed", "volume")), what="pictures of every window while the surface moves")
    page.send(type="erase", **{"from": [25, 28, 22]}, radius=2, begin=True)  # while it moves
    page.send(type="set", name="epsilon", value=page.state["epsilon"] * 0.95)
    steps = page.state["steps"]
    page.until(lambda: page.state["steps"] > steps + 20, what="twenty steps more")
    page.send(type="pause")
    page.until(lambda: not page.state["running"], what="the pause")
    assert page.state["inside_voxels"] > before and not page.errors()[1:], page.errors()
    page.send(type="step", count=7)
    page.send(type="undo")
    page.send(type="step", count=3)
    for what, name in (("mask", "mask.nii.gz"), ("session", "run.session"), ("mesh", "surface.ply"), ("field", "field.nii.gz"), ("picture", "view.png")):
        page.send(type="save", what=what, name=name)
        page.until(lambda n=name: any(t["type"] == "saved" and t["text"] == n for t in page.texts), what=f"{name} saved")
    tessera("segment", "head.nii.gz", "--script", "run.session", "-o", "replayed.nii.gz", "--force")
    assert equal_masks("mask.nii.gz", "replayed.nii.gz"), "the replay gives another mask"
    with open(os.path.join(FOLDER, "run.session"), encoding="utf-8") as file:
        lines = file.read().splitlines()
    done = [re.fullmatch(r"# (\d+\.\d{3}) s: (\S+)", line) for line in lines]
    done = [(float(d[1]), d[2]) for d in done if d]
    assert [kind for _, kind in done] == ["probe", "set", "set", "paint", "paint", "start", "erase", "set", "pause", "step", "undo", "step"], done
    assert all(a[0] <= b[0] for a, b in zip(done, done[1:])), done
    assert re.fullmatch(r"# saved \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ after \d+\.\d s: 3 set 1 probe 2 paint 1 erase 1 start 1 pause 2 step 1 undo", lines[-1]), lines[-1]
    status, body = server.get(server.path + "file/view.png")
    assert status == 200 and body.startswith(b"\x89PNG"), status
    page.expect_error("exists", type="save", what="mask", name="mask.nii.gz")
    page.expect_error("extension", type="save", what="mask", name="mask.exe")
    inside = page.state["inside_voxels"]
    page.send(type="load", name="run.session")
    page.until(lambda: any("replayed" in t["text"] for t in page.texts), what="the session replayed")
    page.until(lambda: page.state["inside_voxels"] == inside, what="the same surface")
    page.send(type="reset")
    page.until(lambda: not page.state["surface"] and page.state["steps"] == 0, what="the reset")
    page.close()


def equal_masks(a, b):
    for name in (a, b):
        tessera("convert", name, "-o", name + ".raw", "--format", "raw", "--force")
    return filecmp.cmp(os.path.join(FOLDER, a + ".raw"), os.path.join(FOLDER, b + ".raw"), shallow=False)


def test_windows(server):
    """Looks: every mode of the 3-D window, clipping, axes, zoom, window, transfer function, picks; the plane of a picture is where it says."""
    page = loaded_page(server)
    page.send(type="probe", at=[18, 28, 22], radius=3)
    page.send(type="paint", **{"from": [24, 24, 24]}, radius=8, begin=True, input=10)
    page.until(lambda: page.frames["volume"]["edit_input"] >= 10, what="the sphere")
    for i, mode in enumerate(("surface", "combined", "volume", "inside", "mip")):
        page.send(type="view", view="volume", mode=mode, azimuth=20.0 * i, elevation=10, clip=mode == "combined", clip_offset=0.1, input=20 + i)
        page.until(lambda n=20 + i: page.frames["volume"]["view_input"] >= n, what=f"mode {mode}")
    for axis in range(3):
        page.send(type="view", view="source", axis=axis, position=11, zoom=2, pan=[3, -4], input=30 + axis)
        page.until(lambda n=30 + axis: page.frames["source"]["view_input"] >= n, what=f"axis {axis}")
        f = page.frames["source"]
        assert abs(f["origin"][axis] - 11) < 1e-3 and abs(f["right"][axis]) < 1e-6 and abs(f["down"][axis]) < 1e-6, f
        middle = [o + f["width"] / 2 * u + f["height"] / 2 * v for o, u, v in zip(f["origin"], f["right"], f["down"])]
        others = [k for k in range(3) if k != axis]
        moved = sorted(abs(abs(middle[k] - 23.5)) for k in others)
        assert abs(moved[0] - 3) < 0.05 and abs(moved[1] - 4) < 0.05, (axis, middle)  # the pan, spacing 1
    page.send(type="window", low=0.1, high=0.6, input=40)
    page.send(type="transfer", points=[[0.1, 0, 0, 0, 0], [0.5, 0.2, 1, 0.5, 0.2]], input=41)
    page.until(lambda: page.frames["volume"]["view_input"] >= 41 and len(page.state["transfer"]) == 2, what="the transfer function")
    speed = [page.state[k] for k in ("target", "epsilon")], page.state["probe"]["count"]
    page.send(type="probe", at=[24, 24, 24], radius=2, colours=True, begin=True, input=42)
    page.until(lambda: page.frames["volume"]["view_input"] >= 42 and len(page.state["transfer"]) == 3, what="the probed colours")
    one = page.state["transfer"]
    assert one[0][0] < one[1][0] < one[2][0] and one[0][1] == one[2][1] == 0 and one[1][1] == 0.5, one
    page.send(type="probe", at=[2, 2, 2], radius=3, colours=True, begin=False, input=43)  # the same stroke: wider
    page.until(lambda: page.frames["volume"]["view_input"] >= 43 and page.state["transfer"] != one, what="more probed colours")
    two = page.state["transfer"]
    assert two[2][0] - two[0][0] > one[2][0] - one[0][0], (one, two)
    page.send(type="probe", at=[24, 24, 24], radius=2, colours=True, begin=True, input=44)  # another stroke: as the first
    page.until(lambda: page.frames["volume"]["view_input"] >= 44 and page.state["transfer"][1][0] == one[1][0], what="colours of another stroke")
    page.send(type="probe", at=[1000, 24, 24], radius=1e6, colours=True, input=45)  # beside the image: nothing
    assert speed == ([page.state[k] for k in ("target", "epsilon")], page.state["probe"]["count"]), "the speed changed"
    page.send(type="view", view="volume", mode="surface", clip=False, zoom=1, pan=[0, 0], azimuth=0, elevation=0, input=50)
    probed = page.state["probe"]["count"]
    page.send(type="pick", x=0.5, y=0.5, action="probe", radius=2, input=51)
    page.until(lambda: page.state["probe"]["count"] > probed, what="a probe where the ray meets the sphere")
    page.send(type="pick", x=0.5, y=0.5, action="locate", input=52)
    page.until(lambda: page.state["views"]["source"]["position"] != 11, what="the slice through the picked place")
    page.send(type="pick", x=0.01, y=0.01, action="probe", radius=2)
    page.until(lambda: any(t["type"] == "notice" and "nothing there" in t["text"] for t in page.texts), what="a word on a pick of nothing")
    page.send(type="reset")
    page.close()


def test_speed_by_slices(server):
    """After a change the speeds of a few slices come first, those of all when things rest: the window shows the same of either, wherever it is moved."""
    page = loaded_page(server)
    inputs = iter(range(101, 1000))

    def finished(place, **message):
        number = next(inputs)
        key = "edit_input" if message["type"] == "set" else "view_input"
        page.send(input=number, **message)
        page.until(lambda: page.frames["speed"][key] >= number and not page.frames["speed"]["draft"], what=f"the speed at {place}, in full")
        frame = page.frames["speed"]
        middle = frame["origin"][2] + frame["width"] / 2 * frame["right"][2] + frame["height"] / 2 * frame["down"][2]
        assert abs(middle - place) < 1e-3, (middle, place)
        return frame["jpeg"]

    def at(position):
        return finished(position, type="view", view="speed", axis=2, position=position)

    places, target = (24, 27.5, 0), page.state["target"]
    page.send(type="set", name="epsilon", value=page.state["epsilon"])
    time.sleep(1)  # longer than the rest after which all are made
    page.until(lambda: page.frames["speed"], what="a picture")
    whole = {p: at(p) for p in places}
    assert len(set(whole.values())) == len(places), "slices look alike"
    for p in places:
        at(p)
        other = finished(p, type="set", name="target", value=target * 0.6)
        same = finished(p, type="set", name="target", value=target)
        assert other != same and abs(len(same) - len(whole[p])) <= 0.01 * len(same), (p, len(other), len(same), len(whole[p]))
    same = finished(places[-1], type="set", name="alpha", value=0.9)  # of the data speed the picture shows the sign and the share of its peak
    assert abs(len(same) - len(whole[places[-1]])) <= 0.01 * len(same), "alpha changes the picture of the data speed"
    for alpha in (0, 0.4):
        none = finished(places[-1], type="set", name="alpha", value=alpha)
        assert (abs(len(none) - len(same)) <= 0.01 * len(same)) == (alpha > 0), (alpha, len(none), len(same))
    page.send(type="reset")
    page.close()


def test_total_speed(server):
    """The speed window shows the data speed or, with the curvature of the surface, the total one: this moves with the surface, that stands still."""
    page = loaded_page(server)
    inputs = iter(range(2001, 3000))

    def finished(**message):
        number = next(inputs)
        key = "view_input" if message["type"] == "view" else "edit_input"
        page.send(input=number, **message)
        page.until(lambda: page.frames["speed"] and page.frames["speed"][key] >= number and not page.frames["speed"]["draft"], what=f"the speed after {message}")
        return page.frames["speed"]["jpeg"]

    page.send(type="reset")
    finished(type="view", view="speed", axis=2, position=24, speed="data")
    finished(type="set", name="alpha", value=0)
    bare = finished(type="view", view="speed", speed="total")
    finished(type="paint", **{"from": [24, 24, 24]}, radius=9, begin=True)
    assert page.state["views"]["speed"]["speed"] == "total", page.state["views"]
    total = finished(type="view", view="speed", position=24)
    data = finished(type="view", view="speed", speed="data")
    assert page.state["views"]["speed"]["speed"] == "data", page.state["views"]
    assert len(total) > 1.05 * len(data) and len(data) > len(bare), "no curvature around the surface"  # the contour alone is in `data`
    again = finished(type="view", view="speed", speed="total")
    assert abs(len(again) - len(total)) <= 0.01 * len(total), (len(again), len(total))
    page.send(type="step", count=120)
    page.until(lambda: page.state["steps"] >= 120 and not page.state["running"], what="the steps")
    moved = finished(type="view", view="speed", position=24)
    assert moved != again, "the speed of a surface that has shrunk"
    finished(type="set", name="alpha", value=1)
    total, data = (finished(type="view", view="speed", speed=s) for s in ("total", "data"))
    assert abs(len(total) - len(data)) <= 0.01 * len(data), "without curvature both are one"
    page.expect_error("speed: something else, expected one of data total", type="view", view="speed", speed="both")
    page.expect_error("expected speed for it", type="view", view="source", speed="data")
    page.send(type="set", name="alpha", value=0.5)
    page.send(type="reset")
    page.close()


def test_one_drives(server):
    """A second page sees all and may do nothing until it takes the controls; when it goes, the first drives again."""
    first, second = loaded_page(server), Page(server)
    second.until(lambda: len(second.frames) == 3 and second.state and second.driver and second.driver["clients"] == 2, what="pictures for the second page")
    assert second.driver["driver"] != second.driver["you"], second.driver
    second.expect_error("another page drives", type="start")
    second.send(type="files")
    second.until(lambda: any(t["type"] == "files" and "head.nii.gz" in t["names"] for t in second.texts), what="the list of files")
    second.send(type="drive")
    second.until(lambda: second.driver["driver"] == second.driver["you"], what="the controls")
    first.expect_error("another page drives", type="start")
    second.close()
    first.until(lambda: first.driver["driver"] == first.driver["you"] and first.driver["clients"] == 1, what="the controls again")
    first.close()


def test_access(server):
    """No token, no access; nothing outside the page and the served folder."""
    token = server.path.strip("/")
    with open(os.path.join(os.path.dirname(FOLDER), "tessera-secret.txt"), "w", encoding="ascii") as file:
        file.write("secret")
    os.symlink("/etc/passwd", os.path.join(FOLDER, "link.txt"))
    os.makedirs(os.path.join(FOLDER, "folder.txt"), exist_ok=True)
    os.mkfifo(os.path.join(FOLDER, "pipe.txt"))
    try:
        assert server.get(server.path)[0] == 200 and b"<title>tessera" in server.get(server.path)[1]
        assert server.get(server.path + "app.js")[0] == 200 and server.get("/" + token)[0] == 301
        wrong = [token[:-1], token + "0", token[::-1], "", "0" * len(token)]
        for path in ["/", "/index.html", "/app.js", "/socket", "//", "/../" + token[1:] + "/"] + ["/" + w + "/" for w in wrong if w] + ["/" + w + "/app.js" for w in wrong if w]:
            assert server.get(path)[0] in (400, 403, 404, 0), path
        for name in ["../tessera-secret.txt", "..%2ftessera-secret.txt", "%2e%2e/tessera-secret.txt", "....//tessera-secret.txt", "/etc/passwd", "%2fetc%2fpasswd",
                     "link.txt", "folder.txt", "pipe.txt", ".", "..", "", "no-such.nii", "a%00b", "x" * 3000, "..\\tessera-secret.txt"]:
            for room in ("file/", ""):
                status, body = server.get(server.path + room + name)
                assert b"secret" not in body and b"root:" not in body, name
                # ".." leads back to the page itself at most
                assert status in (301, 400, 403, 404, 414, 0) or (status == 200 and b"<title>tessera" in body), (name, status)
        for method in ("POST", "PUT", "DELETE", "HEAD", "OPTIONS"):
            assert server.get(server.path, method)[0] != 200, method
        for path in ["/socket", "/", server.path, server.path + "socket/x", "/" + token[:-1] + "/socket", "/" + token + "0/socket", server.path + "app.js"]:
            assert refused(server, path), path
        page = loaded_page(server)
        for name in ["../tessera-secret.txt", "/etc/passwd", "..", ".hidden", "-x", "a/b.nii", "a\\b.nii", "x\u0001.nii"]:
            page.expect_error("name", type="load", name=name)
            page.expect_error("name", type="save", what="mask", name=name)
        for name in ["link.txt", "folder.txt", "pipe.txt", "missing.nii.gz"]:
            page.expect_error("no such file", type="load", name=name)
        save_outside(page)
        read_outside(page)
        page.close()
    finally:
        os.remove(os.path.join(os.path.dirname(FOLDER), "tessera-secret.txt"))


def socket_answer(server, **headers):
    """Of a page that opens a socket with these headers: 101, or how it was refused."""
    try:
        Page(server, **headers).close()
    except Refused as error:
        words = str(error).split()
        return int(words[1]) if len(words) > 1 else 0
    return 101


def test_origins(server):
    """A page of another server may not open a socket though it know the token, and a name that only points here (DNS rebinding) is answered by none."""
    here = f"{server.host}:{server.port}"
    assert socket_answer(server) == 101, "a script without an origin"
    assert socket_answer(server, origin="http://" + here) == 101, "the server's own page"
    assert socket_answer(server, origin=f"http://localhost:{server.port}", host=f"localhost:{server.port}") == 101, "by another name of the machine"
    assert socket_answer(server, origin="http://localhost:9000", host="localhost:9000") == 101, "through a tunnel"
    for origin in ("http://evil.example", "null", "https://" + here, f"http://{server.host}:1", "http://" + here + ".evil.example", "file://", "x" * 600):
        assert socket_answer(server, origin=origin) == 403, origin
    for host in ("evil.example", f"evil.example:{server.port}", here + ".evil.example", "x" * 600):
        assert server.get(server.path, host=host)[0] == 403, host
        assert server.get(server.path + "app.js", host=host)[0] == 403, host
        assert socket_answer(server, host=host) == 403 and socket_answer(server, host=host, origin="http://" + host) == 403, host
    assert server.get(server.path, host="localhost")[0] == 200 and server.get("/", host="evil.example")[0] == 403
    other = Server(TESSERA, "--folder", FOLDER, "--allow-origin", "https://bench.example:8443,http://second.example")
    try:
        assert socket_answer(other, origin="https://bench.example:8443") == 101 and socket_answer(other, origin="http://second.example", host="second.example") == 101
        assert socket_answer(other, origin="https://bench.example") == 403 and socket_answer(other, origin="http://evil.example") == 403
        assert other.get(other.path, host="bench.example")[0] == 200 and other.get(other.path, host="evil.example")[0] == 403
    finally:
        other.stop()


def save_outside(page):
    """Links lead out of the folder and pipes hold a writer for ever: both are refused, also behind a header, and what is there stays."""
    outside = os.path.join(os.path.dirname(FOLDER), "tessera-precious")
    with open(outside, "w", encoding="ascii") as file:
        file.write("precious")
    try:
        for ending in ("mask.nii.gz", "mask.tsc", "mesh.ply", "picture.png", "session.session", "header.mhd", "header.nhdr", "field.nii"):
            what = ending.split(".")[0].replace("header", "mask")
            os.symlink(outside, os.path.join(FOLDER, "out-" + ending))
            for replace in (False, True):
                page.expect_error("is a link", type="save", what=what, name="out-" + ending, replace=replace)
            os.mkfifo(os.path.join(FOLDER, "pipe-" + ending))
            page.expect_error("pipe", type="save", what=what, name="pipe-" + ending, replace=True)
        page.send(type="paint", **{"from": [18, 28, 22]}, radius=3, begin=True)  # nothing is not saved
        page.until(lambda: page.state["surface"], what="a surface to save")
        for header, data in (("beside.mhd", "beside.raw"), ("beside.hdr", "beside.img")):
            os.symlink(outside, os.path.join(FOLDER, data))
            page.expect_error("is a link", type="save", what="mask", name=header, replace=True)
            assert not os.path.exists(os.path.join(FOLDER, header)), header
        with open(outside, encoding="ascii") as file:
            assert file.read() == "precious"
        assert os.path.islink(os.path.join(FOLDER, "out-mask.nii.gz"))
    finally:
        os.remove(outside)
        for name in os.listdir(FOLDER):
            if name.startswith(("out-", "pipe-", "beside.")):
                os.remove(os.path.join(FOLDER, name))


def read_outside(page):
    """A header of the folder names its data file: only one beside it is read."""
    outside = os.path.join(os.path.dirname(FOLDER), "tessera-voxels.raw")
    with open(outside, "wb") as file:
        file.write(bytes(range(64)))
    with open(os.path.join(FOLDER, "near.raw"), "wb") as file:
        file.write(bytes(range(64)))
    os.symlink(outside, os.path.join(FOLDER, "link.raw"))
    os.mkfifo(os.path.join(FOLDER, "pipe.raw"))
    try:
        for data, word in ((outside, "another folder"), ("../tessera-voxels.raw", "another folder"), ("./near.raw", "another folder"), ("link.raw", "is a link"),
                           ("pipe.raw", "pipe or device"), ("near.raw", "")):
            for name, text in (("stray.mhd", f"ObjectType = Image\nNDims = 3\nDimSize = 4 4 4\nElementType = MET_UCHAR\nElementDataFile = {data}\n"),
                               ("stray.nhdr", f"NRRD0004\ntype: uint8\ndimension: 3\nsizes: 4 4 4\nencoding: raw\ndata file: {data}\n\n")):
                with open(os.path.join(FOLDER, name), "w", encoding="ascii") as file:
                    file.write(text)
                if word:
                    page.expect_error(word, type="load", name=name)
                    assert page.state["image"]["name"] == "head.nii.gz"
                else:
                    page.send(type="load", name=name)
                    page.until(lambda n=name: page.state["image"]["name"] == n, what=f"{name} with {data}")
        page.send(type="load", name="head.nii.gz")
        page.until(lambda: page.state["image"]["name"] == "head.nii.gz", what="the image again")
    finally:
        os.remove(outside)
        for name in ("near.raw", "link.raw", "pipe.raw", "stray.mhd", "stray.nhdr"):
            os.remove(os.path.join(FOLDER, name))


def painted(page):
    page.send(type="probe", at=[18, 28, 22], radius=3)
    page.send(type="paint", **{"from": [18, 28, 22]}, radius=4, begin=True)
    page.send(type="step", count=5)
    page.until(lambda: page.state["steps"] == 5 and not page.state["running"] and page.state["inside_voxels"] > 0, what="five steps")
    return page.state["inside_voxels"]


def test_work_is_kept(server):
    """A session that does not load leaves the work alone; one that loads, and a reset, can be taken back."""
    def script(name, text):
        with open(os.path.join(FOLDER, name), "w", encoding="ascii") as file:
            file.write(text)

    page = loaded_page(server)
    page.send(type="load", name="head.nii.gz")
    page.until(lambda: page.state["steps"] == 0 and not page.state["undo"], what="a fresh image")
    inside = painted(page)
    script("broken.session", "sphere 24 24 24 5\nstep 3\nset alpha seven\n")
    page.expect_error("broken.session:3:", type="load", name="broken.session")
    script("greedy.session", "sphere 24 24 24 5\n set snapshots 1e9\n")
    page.expect_error("greedy.session:2:", type="load", name="greedy.session")
    script("hidden.session", "sphere 24 24 24 5\n\vset\fsnapshots 1e9\n")  # white space of another kind
    page.expect_error("hidden.session:2:", type="load", name="hidden.session")
    page.expect_error("expected 1 to 16", type="set", name="snapshots", value=1e9)
    page.send(type="set", name="alpha", value=0.5)  # the next state is of after the failures
    page.until(lambda: page.state["alpha"] == 0.5)
    assert page.state["inside_voxels"] == inside and page.state["steps"] == 5, page.state
    script("good.session", "sphere 24 24 24 7\nstep 4\n")
    page.send(type="load", name="good.session")
    page.until(lambda: page.state["steps"] == 4 and page.state["inside_voxels"] != inside, what="the session")
    page.send(type="undo")
    page.until(lambda: page.state["steps"] == 5 and page.state["inside_voxels"] == inside, what="the work before the session")
    page.send(type="reset")
    page.until(lambda: not page.state["surface"], what="the reset")
    page.send(type="undo")
    page.until(lambda: page.state["surface"] and page.state["inside_voxels"] == inside, what="the work before the reset")
    page.send(type="save", what="mask", name="kept.nii.gz")
    page.send(type="save", what="session", name="kept.session")
    page.until(lambda: any(t["type"] == "saved" and t["text"] == "kept.session" for t in page.texts), what="both saved")
    tessera("segment", "head.nii.gz", "--script", "kept.session", "-o", "kept-again.nii.gz")
    assert equal_masks("kept.nii.gz", "kept-again.nii.gz"), "what came back replays to another mask"
    page.send(type="load", name="head.nii.gz")
    page.until(lambda: not page.state["surface"] and not page.state["undo"], what="the end")
    page.close()


def test_long_work_stops(server):
    """Very many steps and a session without end hear Pause and Reset."""
    page = loaded_page(server)
    page.send(type="set", name="data_weight", value=0)  # no speed at all: the surface stays where it is
    page.send(type="set", name="alpha", value=1)
    painted(page)
    page.send(type="step", count=100000)
    page.until(lambda: page.state["steps"] > 20, what="some of the steps")
    page.send(type="set", name="target", value=0.25)  # waits for its turn
    page.send(type="pause")
    page.until(lambda: not page.state["running"] and page.state["target"] == 0.25, what="the pause")
    assert page.state["steps"] < 90000
    page.send(type="step", count=100000)
    page.until(lambda: page.state["running"], what="steps again")
    page.send(type="reset")
    page.until(lambda: not page.state["surface"] and not page.state["running"], what="the reset")
    inside = painted(page)
    with open(os.path.join(FOLDER, "endless.session"), "w", encoding="ascii") as file:
        file.write("sphere 18 28 22 4\nset cfl 0.00001\nstep 1000000000000\n")
    page.send(type="load", name="endless.session")
    page.until(lambda: page.state["busy"], what="the session")
    page.send(type="pause")
    page.until(lambda: any("endless.session: stopped" in t["text"] for t in page.texts if "text" in t), what="the end of the endless session")
    page.until(lambda: not page.state["busy"])
    assert page.state["inside_voxels"] == inside and page.state["steps"] == 5, page.state
    page.send(type="load", name="head.nii.gz")
    page.until(lambda: not page.state["surface"] and not page.state["undo"], what="the end")
    page.close()


def test_session_without_steps(server):
    """A session of very many lines, none of which is a step, hears Pause, and the server ends under it."""
    with open(os.path.join(FOLDER, "copies.session"), "w", encoding="ascii") as file:
        file.write("sphere 18 28 22 4\n" + 200000 * "snapshot\n")
    page = loaded_page(server)
    inside = painted(page)
    page.send(type="load", name="copies.session")
    page.until(lambda: page.state["busy"], what="the session")
    page.send(type="pause")
    page.until(lambda: any("copies.session: stopped" in t["text"] for t in page.texts if "text" in t), what="the end of the session")
    page.until(lambda: not page.state["busy"])
    assert page.state["inside_voxels"] == inside, page.state
    page.send(type="load", name="head.nii.gz")
    page.until(lambda: not page.state["surface"] and not page.state["undo"], what="the end")
    page.close()
    other = Server(TESSERA, os.path.join(FOLDER, "head.nii.gz"), "--device", "cpu", "--threads", "1")
    page = loaded_page(other)
    begin = other.work()  # slow builds take long for both
    page.send(type="load", name="copies.session")
    page.until(lambda: page.state["busy"], what="the session of the other server")
    work = other.work_to_stop()
    print(f"  {begin:.2f} s of work at the start, {work:.2f} s at the end")
    assert work < max(1, 5 * begin), f"the end waited for the session: {work:.1f} s of work, {begin:.1f} s at the start"


def test_all_inside(server):
    """A session that ends with all of the image inside, painted or grown, is saved, replays to its mask, and the command line says so."""
    page = loaded_page(server)
    for name, commands in (("painted", [dict(type="paint", **{"from": [24, 24, 24]}, radius=100, begin=True)]),
                           ("grown", [dict(type="set", name="epsilon", value=100), dict(type="set", name="alpha", value=1),
                                      dict(type="paint", **{"from": [24, 24, 24]}, radius=30, begin=True), dict(type="step", count=2000)])):
        page.send(type="load", name="head.nii.gz")
        page.until(lambda: not page.state["surface"] and not page.state["undo"], what="a fresh image")
        for command in commands:
            page.send(**command)
        page.until(lambda: page.state["inside_voxels"] == 48 ** 3 and not page.state["surface"] and not page.state["running"], what="all inside")
        for what, end in (("mask", ".nii.gz"), ("session", ".session")):
            page.send(type="save", what=what, name="all-" + name + end, replace=True)
            page.until(lambda n="all-" + name + end: any(t["type"] == "saved" and t["text"] == n for t in page.texts), what="saved")
        again = tessera("segment", "head.nii.gz", "--script", f"all-{name}.session", "-o", "all-again.nii.gz", "-f")
        assert "110592 voxels" in again, again
        compared = tessera("compare", "all-again.nii.gz", f"all-{name}.nii.gz", "--min-dice", "1")
        assert "Dice" in compared, compared
    page.send(type="load", name="head.nii.gz")
    page.until(lambda: not page.state["surface"] and not page.state["undo"], what="the end")
    page.close()


def test_reset_keeps_parameters(server):
    """A reset keeps every parameter that a session has set, those without a control on the page too."""
    odd = {"scheme": "1", "godunov": "1", "exact": "1", "normalise": "1", "rescale": "2", "curvature_half": "1", "time_step": "0.01", "force": "1",
           "max_steps": "77", "age": "5", "volume_steps": "9", "time_limit": "60", "change_tolerance": "0.5", "volume_tolerance": "0.25"}
    with open(os.path.join(FOLDER, "odd.session"), "w", encoding="ascii") as file:
        file.write("".join(f"set {name} {value}\n" for name, value in odd.items()) + "sphere 24 24 24 7\nstep 2\n")
    page = loaded_page(server)
    page.send(type="load", name="odd.session")
    page.until(lambda: page.state["steps"] == 2 and page.state["surface"], what="the session")
    page.send(type="reset")
    page.until(lambda: not page.state["surface"], what="the reset")
    page.send(type="paint", **{"from": [24, 24, 24]}, radius=7, begin=True)
    page.send(type="save", what="session", name="odd-after.session", replace=True)
    page.until(lambda: any(t["type"] == "saved" and t["text"] == "odd-after.session" for t in page.texts), what="saved")
    with open(os.path.join(FOLDER, "odd-after.session"), encoding="ascii") as file:
        said = dict(line.split()[1:3] for line in file if line.startswith("set "))
    lost = {name: said.get(name) for name, value in odd.items() if float(said.get(name, "nan")) != float(value)}
    assert not lost, f"a reset changed {lost}"
    page.send(type="load", name="head.nii.gz")
    page.until(lambda: not page.state["surface"] and not page.state["undo"], what="the end")
    page.close()


def test_full_session(server):
    """A session whose file would become too long to be loaded takes no more edits, runs and steps; Pause, a save and a reset still work."""
    with open(os.path.join(FOLDER, "full.session"), "w", encoding="ascii") as file:
        file.write("sphere 24 24 24 7\n" + 450000 * "probe .1 .1 .1 .1\n" + "set target 0.45\nset epsilon 0.3\n")
    page = loaded_page(server)
    page.send(type="load", name="full.session")
    page.until(lambda: any("full.session replayed" in t.get("text", "") for t in page.texts), what="the session")
    page.until(lambda: not page.state["busy"])
    inside = page.state["inside_voxels"]
    for command in (dict(type="start"), dict(type="step", count=5), dict(type="paint", **{"from": [24, 24, 24]}, radius=9, begin=True)):
        page.expect_error("more than it may have: save and reset it", **command)
    page.send(type="pause")
    page.send(type="reset")
    page.until(lambda: not page.state["surface"] and inside > 0, what="the reset")
    page.send(type="paint", **{"from": [24, 24, 24]}, radius=5, begin=True)
    page.until(lambda: page.state["surface"], what="a sphere")
    page.send(type="load", name="head.nii.gz")
    page.until(lambda: not page.state["surface"] and not page.state["undo"], what="the end")
    page.close()


def test_error_once(server):
    """An image that cannot be drawn is complained about once, not with every picture that is asked for."""
    with open(os.path.join(FOLDER, "long.raw"), "wb") as file:
        file.write(bytes(range(8)) * (32770 // 2))
    tessera("convert", "long.raw", "--raw-shape", "32770,2,2", "--raw-dtype", "u8", "-o", "long.nrrd", "-f")
    page = loaded_page(server)
    page.send(type="load", name="long.nrrd")
    page.until(lambda: page.state["image"] and page.state["image"]["name"] == "long.nrrd", what="the long image")
    for i in range(5):
        page.send(type="view", view="source", position=i % 2)
        page.send(type="ping", id=700 + i)
        page.until(lambda n=700 + i: any(t.get("id") == n for t in page.texts), what="the answer to a ping")
        time.sleep(0.03)
    page.until(page.errors, what="the complaint")
    time.sleep(0.3)  # for more of them
    page.send(type="ping", id=799)
    page.until(lambda: any(t.get("id") == 799 for t in page.texts), what="the answer to the last ping")
    errors = page.errors()
    assert len(errors) == len(set(errors)), errors
    page.send(type="load", name="head.nii.gz")
    page.until(lambda: page.state["image"]["name"] == "head.nii.gz" and not page.state["surface"], what="the end")
    page.close()


def test_greedy_page(server):
    """A page that asks for the list of files without a breath slows nobody: others get answers, pictures and who drives."""
    page, greedy = loaded_page(server), Page(server)
    lists = sum(t["type"] == "files" for t in page.texts)
    pictures = dict(page.counts)
    for i in range(8):
        for _ in range(400):
            greedy.send(type="files")
        page.send(type="ping", id=500 + i)
        page.send(type="view", view="volume", azimuth=10.0 * i)
        page.until(lambda n=500 + i: any(t.get("id") == n for t in page.texts), what="the answer to a ping")
        while select_readable(greedy.socket):
            greedy.read()
    page.until(lambda: page.counts["volume"] > pictures["volume"], what="pictures")
    assert sum(t["type"] == "files" for t in page.texts) == lists, "lists that another page asked for"
    greedy.send(type="drive")
    page.until(lambda: page.driver["driver"] != page.driver["you"], what="a word that another page drives")
    greedy.until(lambda: greedy.counts["volume"] > 0 and greedy.driver["driver"] == greedy.driver["you"], what="its own pictures")
    greedy.close()
    page.until(lambda: page.driver["driver"] == page.driver["you"], what="the controls")
    page.close()


def test_share_of_a_page(server):
    """A page is read 1000 messages a second after the first 500, large ones count for several: nothing is lost, and the others are heard at once."""
    page, hasty = loaded_page(server), Page(server)
    for count, padding in ((1500, 0), (8, 60000)):
        messages = b"".join(hasty.framed(b'{"type":"ping","id":%d%s}' % (i, b" " * padding)) for i in range(count))
        shares = []  # of the time until all was read, that the other page waited; a machine with other work may be late for once
        while not shares or (shares[-1] >= 0.5 and len(shares) < 4):
            time.sleep(0.6)  # rested: a whole burst may come
            hasty.texts.clear()
            page.texts.clear()
            began = time.monotonic()
            hasty.raw(messages)
            asked = time.monotonic()
            page.send(type="ping", id=count)
            page.until(lambda n=count: any(t.get("id") == n for t in page.texts), what="the answer to the other page")
            heard = time.monotonic() - asked
            hasty.until(lambda n=count: any(t.get("id") == n - 1 for t in hasty.texts), what="the answer to the last message")
            seconds = time.monotonic() - began
            assert seconds > 0.8, f"{count} messages of {padding} bytes were taken in {seconds:.2f} s"
            shares.append(heard / seconds)
        assert shares[-1] < 0.5, f"the other page waited {shares} of the time that {count} messages took"
        hasty.texts.clear()
    hasty.send(type="drive")
    hasty.until(lambda: hasty.driver["driver"] == hasty.driver["you"], what="the controls")
    for i in range(900):
        hasty.send(type="ping", id=i)
    hasty.close()  # while it is not read
    page.until(lambda: page.driver["driver"] == page.driver["you"] and page.driver["clients"] == 1, what="the controls again")
    page.close()


def test_names(server):
    """Names beyond ASCII come back as they are; of five pictures five are saved."""
    page = loaded_page(server)
    page.send(type="load", name="head.nii.gz")
    names = [f"H\u00e4user \u2014 {i}.png" for i in range(5)]
    for name in names:
        page.send(type="save", what="picture", name=name)
    page.until(lambda: {t["text"] for t in page.texts if t["type"] == "saved"} >= set(names), what="five pictures")
    status, body = server.get(server.path + "file/" + urllib.parse.quote(names[2]))
    assert status == 200 and body.startswith(b"\x89PNG"), status
    with open(os.path.join(FOLDER, "\u00fc.nii"), "w", encoding="ascii") as file:
        file.write("no volume " * 100)
    page.expect_error("\u00fc.nii", type="load", name="\u00fc.nii")
    assert FOLDER not in page.errors()[-1], page.errors()[-1]
    page.close()


def test_trouble_at_the_start():
    """A file that cannot be loaded is said on stderr, and to the page that comes later."""
    with open(os.path.join(FOLDER, "head.nii.gz"), "rb") as file:
        start = file.read(2000)
    with open(os.path.join(FOLDER, "cut.nii.gz"), "wb") as file:
        file.write(start)
    other = Server(TESSERA, os.path.join(FOLDER, "cut.nii.gz"), "--device", "cpu", "--threads", "1")
    try:
        assert "cut.nii.gz" in other.process.stderr.readline()
        page = Page(other)
        page.until(lambda: any("cut.nii.gz" in e for e in page.errors()), what="the error on the page")
        page.close()
    finally:
        assert other.stop() == (0, "")


def test_open_to_the_network():
    """The address that is printed leads to the page, and its openness is said."""
    for address in ("0.0.0.0", "::"):
        if address == "::" and not os.path.exists("/proc/net/if_inet6"):
            print("no IPv6 on this machine: --listen :: is left out")
            continue
        other = Server(TESSERA, "--folder", FOLDER, "--device", "cpu", "--threads", "1", "--listen", address)
        try:
            assert "unencrypted" in other.process.stderr.readline()
            assert other.host not in ("0.0.0.0", "::", "")
            status, body = other.get(other.path)
            assert status == 200 and b"<html" in body, (other.url, status)
        finally:
            assert other.stop() == (0, "")


def make_certificate(name):
    """A self-signed certificate of this machine's loopback address and its key."""
    certificate, key = os.path.join(FOLDER, name + "-certificate.pem"), os.path.join(FOLDER, name + "-key.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate], check=True, capture_output=True)
    return certificate, key


def test_encrypted():
    """https and wss on one port, and no word without them; files that do not fit are said before anything is served."""
    if not shutil.which("openssl"):
        print("no openssl command on this machine: the encrypted server is left out")
        return
    image = os.path.join(FOLDER, "head.nii.gz")
    certificate, key = make_certificate("first")
    _, other_key = make_certificate("second")
    locked = os.path.join(FOLDER, "locked.pem")
    subprocess.run(["openssl", "pkey", "-in", key, "-aes256", "-passout", "pass:secret", "-out", locked], check=True, capture_output=True)
    run = subprocess.run([TESSERA, "serve", image, "--port", "0", "--certificate", certificate, "--key", os.path.join(FOLDER, "nix.pem")], capture_output=True,
                         text=True, stdin=subprocess.DEVNULL, timeout=60, check=False)
    if "no TLS" in run.stderr:
        print("this build has no TLS: the encrypted server is left out")
        return
    for first, second, words in ((certificate, os.path.join(FOLDER, "nix.pem"), "nix.pem: cannot be read: No such file"), (FOLDER, key, "is a folder"),
                                 (image, key, "head.nii.gz: expected a certificate"), (key, key, "first-key.pem: expected a certificate"),
                                 (certificate, image, "head.nii.gz: expected a private key"), (certificate, locked, "locked.pem: expected a private key"),
                                 (certificate, other_key, "second-key.pem: is not the private key of the certificate")):
        run = subprocess.run([TESSERA, "serve", image, "--port", "0", "--certificate", first, "--key", second], capture_output=True, text=True,
                             stdin=subprocess.DEVNULL, timeout=60, check=False)
        assert run.returncode == 1 and not run.stdout, (run.returncode, run.stdout)
        assert words in run.stderr and run.stderr.count("\n") == 1, (words, run.stderr)
    other = Server(TESSERA, image, "--device", "cpu", "--threads", "1", "--certificate", certificate, "--key", key, trusted=certificate)
    try:
        assert other.scheme == "https", other.url
        status, body = other.get(other.path)
        assert status == 200 and b"<title>tessera" in body, status
        assert other.get("/0" + other.path)[0] == 404 and refused(other, "/socket")
        with other.connect(20) as shown:
            assert shown.version() in ("TLSv1.2", "TLSv1.3"), shown.version()
        plain, secure = b"", other.tls
        other.tls = None
        try:
            plain = other.get(other.path)[1]
        finally:
            other.tls = secure
        assert b"tessera" not in plain, "the page without encryption"
        page = loaded_page(other)
        assert page.state["image"]["size"] == [48, 48, 48]
        page.send(type="save", what="picture", name="encrypted.png")
        page.until(lambda: any(t["type"] == "saved" and t["text"] == "encrypted.png" for t in page.texts), what="the picture")
        with open(os.path.join(FOLDER, "encrypted.png"), "rb") as file:
            assert other.get(other.path + "file/encrypted.png") == (200, file.read())
        page.close()
    finally:
        assert other.stop() == (0, "")


def test_emulated():
    """The kernels of a GPU behind the page, run by the emulator: pictures while the surface moves, and a replay with the same mask."""
    if "emulator" not in tessera("devices"):
        print("this build has no emulator: it is left out")
        return
    tessera("make", "phantom_tumour", "--size", "20", "--noise", "0.05", "--seed", "3", "-o", "small.nii.gz")
    other = Server(TESSERA, os.path.join(FOLDER, "small.nii.gz"), "--device", "emu")
    try:
        page = Page(other)
        for view in ("source", "speed", "volume"):
            page.send(type="view", view=view, width=24, height=24)
        page.until(lambda: page.state and page.state["image"] and len(page.frames) == 3, what="three pictures")
        page.send(type="probe", at=[7, 12, 9], radius=2)
        page.send(type="paint", **{"from": [7, 12, 9]}, radius=3, begin=True, input=2)
        page.until(lambda: page.frames["volume"]["edit_input"] >= 2, what="the sphere")
        page.send(type="start")
        pictures = dict(page.counts)
        page.until(lambda: page.state["steps"] >= 5 and all(page.counts[v] > pictures[v] for v in ("source", "speed", "volume")), what="pictures of a moving surface")
        page.send(type="pause")
        for what, name in (("mask", "emulated.nii.gz"), ("session", "emulated.session"), ("picture", "emulated.png")):
            page.send(type="save", what=what, name=name)
            page.until(lambda n=name: any(t["type"] == "saved" and t["text"] == n for t in page.texts), what=f"{name} saved")
        assert not page.errors(), page.errors()
        page.close()
    finally:
        assert other.stop() == (0, "")
    tessera("segment", "small.nii.gz", "--device", "cpu", "--script", "emulated.session", "-o", "emulated-again.nii.gz")
    assert equal_masks("emulated.nii.gz", "emulated-again.nii.gz"), "a CPU makes another mask of the session"


def test_malformed(server):
    """What is no message is refused with a word or closes its own connection, and nothing else."""
    watcher = loaded_page(server)
    watcher.send(type="load", name="head.nii.gz")  # nothing to undo
    bad = ["", "{", "[]", "null", "7", '"x"', "{}", '{"type":1}', '{"type":"fly"}', '{"type":"start","type":"start"}', '{"type":"start","extra":1}',
           '{"type":"set","name":"alpha"}', '{"type":"set","name":"alpha","value":"1"}', '{"type":"set","name":"alpha","value":1e400}',
           '{"type":"set","name":"alpha","value":7}', '{"type":"set","name":"nothing","value":1}', '{"type":"paint","from":[1,2],"radius":1}',
           '{"type":"paint","from":[1,2,3],"radius":-1}', '{"type":"paint","from":[1,2,3],"radius":0}', '{"type":"paint","from":[1e9,2,3],"radius":1}',
           '{"type":"paint","from":[500,2,3],"radius":1}', '{"type":"view","view":"x"}', '{"type":"view","view":"source","width":1e9,"height":5}',
           '{"type":"view","view":"source","mode":"mip"}', '{"type":"view","view":"source","speed":"data"}', '{"type":"view","view":"volume","axis":1}', '{"type":"view","view":"source","axis":1.5}',
           '{"type":"window","low":2,"high":1}', '{"type":"transfer"}', '{"type":"transfer","points":[]}', '{"type":"transfer","points":[[1,2,0,0,0]]}',
           '{"type":"transfer","points":[[1,0,0,0,0],[1,0,0,0,0]]}', '{"type":"step","count":0}', '{"type":"step","count":1e9}', '{"type":"undo"}',
           '{"type":"probe-undo"}', "\x00", '{"type":"load","name":"\\u0000"}', "[" * 60000, '{"type":"save","what":"mask","name":"' + "n" * 200 + '"}']
    watcher.send(type="probe-reset")
    for text in bad:
        before = len(watcher.errors())
        watcher.frame(text.encode())
        watcher.until(lambda b=before: len(watcher.errors()) > b, what=f"an error for {text[:60]}")
    watcher.frame(b"\xff\xfe{}")  # no UTF-8: an error or the end of this connection
    watcher.close()
    for hostile, *wanted in (("oversized", 1009), ("binary", 1003), ("fragments", 1009), ("reserved", 1002), ("huge length", 1009, 1002), ("garbage", 1002)):
        page = Page(server)
        try:
            if hostile == "oversized":
                page.frame(b'{"type":"ping","id":' + b" " * 70000 + b"1}")
            elif hostile == "binary":
                page.frame(b"\x00\x01", opcode=2)
            elif hostile == "fragments":
                page.frame(b"{", final=False)
                for _ in range(100):
                    page.frame(b" " * 1000, opcode=0, final=False)
            elif hostile == "reserved":
                page.frame(b"x", opcode=11)
            elif hostile == "huge length":
                page.raw(b"\x81\xff" + b"\x7f" + b"\xff" * 7 + b"abcd" + b"payload")
            else:
                page.raw(random.Random(1).randbytes(4000))
            end = time.monotonic() + PATIENCE
            page.socket.settimeout(PATIENCE)
            while time.monotonic() < end:
                page.read()
            raise AssertionError(f"{hostile}: the connection is still there")
        except (Refused, ConnectionError):
            assert page.closed in (None, *wanted), (hostile, page.closed)
        finally:
            page.close()
    pieces = Page(server)  # a message in three pieces is one
    pieces.frame(b'{"type":', final=False)
    pieces.frame(b'"ping",', opcode=0, final=False)
    pieces.frame(b'"id":77}', opcode=0)
    pieces.until(lambda: any(t.get("id") == 77 for t in pieces.texts), what="the answer to a ping in pieces")
    pieces.close()


def test_crowd(server):
    """A hundred connections, pages that do not read, pages that vanish: the surface goes on moving, memory stays."""
    page = loaded_page(server)
    page.send(type="probe", at=[18, 28, 22], radius=3)
    page.send(type="set", name="alpha", value=0.5)
    page.send(type="paint", **{"from": [18, 28, 22]}, radius=6, begin=True)
    page.send(type="start")
    page.until(lambda: page.state["steps"] > 20, what="a moving surface")
    before = server.memory()
    crowd, turned_away = [], 0
    for _ in range(100):
        try:
            crowd.append(Page(server))
        except (Refused, OSError):
            turned_away += 1
    idle = [socket.create_connection((server.host, server.port)) for _ in range(30)]  # connect and say nothing
    page.send(type="start")  # it may have settled meanwhile
    steps = page.state["steps"]
    end = time.monotonic() + (4 if SLOW else 2)
    while time.monotonic() < end:  # none of the crowd reads or acknowledges
        page.read()
    page.send(type="start")
    page.until(lambda: page.state["steps"] > steps + 10, what="steps in spite of the crowd")
    assert page.driver["clients"] <= 24, page.driver
    for i, other in enumerate(crowd):  # some shake hands and vanish in the middle of a message
        if i % 3 == 0:
            try:
                other.raw(b"\x81\xfe\x10\x00abcd")
            except OSError:
                pass
        other.close()
    for s in idle:
        s.close()
    page.until(lambda: page.driver["clients"] == 1, what="the crowd gone")
    grown = server.memory() - before
    assert grown < 80 << 20, f"memory grew by {grown >> 20} MiB"
    steps = page.state["steps"]
    page.send(type="start")
    page.until(lambda: page.state["steps"] > steps, what="steps after the crowd")
    page.send(type="pause")
    page.until(lambda: not page.state["running"], what="a pause")
    began = time.monotonic()
    page.send(type="start")  # whatever its age, it does not settle in the next two seconds
    page.until(lambda: page.state["running"], what="the run")
    steps = page.state["steps"]
    page.socket.close()  # the only page, killed: the solver goes on
    time.sleep(0.5)
    again = loaded_page(server)
    assert again.state["steps"] > steps and (again.state["running"] or time.monotonic() - began > 2), again.state
    again.send(type="pause")
    again.until(lambda: not again.state["running"], what="the pause")
    again.close()


def test_flood(server):
    """Thousands of commands without a breath: read as fast as a page may send, refused when the queue is full, memory bounded, the session still works."""
    page = loaded_page(server)
    before = server.memory()
    for i in range(3000):
        page.send(type="set", name="target", value=i / 3000)
        if i % 100 == 0:
            page.send(type="view", view="volume", azimuth=i)
            while len(page.rest) or select_readable(page.socket):
                page.read()
    page.send(type="set", name="target", value=0.625)
    page.send(type="ping", id=99)
    page.until(lambda: any(t.get("id") == 99 for t in page.texts), what="the answer behind the flood")
    page.until(lambda: not page.state["busy"])
    time.sleep(0.5)
    page.send(type="set", name="target", value=0.5)
    page.until(lambda: abs(page.state["target"] - 0.5) < 1e-6, what="the session to work")
    assert server.memory() - before < 80 << 20
    page.close()


def test_large_picture():
    """A window of 4096 x 4096 pixels saves a smaller picture and says so; the others show what is new meanwhile, and the server can be ended."""
    server = Server(TESSERA, os.path.join(FOLDER, "head.nii.gz"), "--device", "cpu", "--threads", "2")
    page = loaded_page(server)
    begin = server.work()  # slow builds take long for both
    page.send(type="view", view="volume", width=4096, height=4096, mode="volume")
    page.send(type="save", what="picture", name="large.png")
    page.until(lambda: any("2048 x 2048 pixels instead of 4096 x 4096" in t.get("text", "") for t in page.texts), what="the notice")
    for i in range(5):
        page.send(type="view", view="source", position=10 + i, input=900 + i)
        page.until(lambda n=900 + i: page.frames["source"]["view_input"] >= n, what="another slice")
    assert not any(t["type"] == "saved" for t in page.texts), "the slices waited for the picture"
    work = server.work_to_stop()
    print(f"test_large_picture: {begin:.2f} s of work at the start, {work:.2f} s at the end")
    assert work < max(1, 5 * begin), f"the end waited for the picture: {work:.1f} s of work, {begin:.1f} s at the start"
    assert not os.path.exists(os.path.join(FOLDER, "large.png"))


def select_readable(s):
    import select
    return bool(select.select([s], [], [], 0)[0])


with tempfile.TemporaryDirectory() as FOLDER:
    FOLDER = os.path.join(FOLDER, "served")
    os.mkdir(FOLDER)
    tessera("make", "phantom_tumour", "--size", "48", "--noise", "0.05", "--seed", "3", "-o", "head.nii.gz")
    run = Server(TESSERA, os.path.join(FOLDER, "head.nii.gz"), "--device", "cpu", "--threads", "2")
    try:
        for test in (test_session, test_windows, test_speed_by_slices, test_total_speed, test_one_drives, test_access, test_origins, test_work_is_kept, test_long_work_stops, test_session_without_steps, test_all_inside, test_reset_keeps_parameters, test_full_session, test_error_once, test_greedy_page, test_share_of_a_page, test_names, test_malformed,
                     test_flood, test_crowd):
            began = time.monotonic()
            test(run)
            assert run.alive(), f"{test.__name__}: the server has ended: {run.process.stderr.read()}"
            print(f"{test.__name__}: {time.monotonic() - began:.1f} s", flush=True)
        test_trouble_at_the_start()
        test_open_to_the_network()
        test_encrypted()
        test_emulated()
    finally:
        code, errors = run.stop()
    assert code == 0, f"exit code {code}: {errors}"
    assert not errors, errors
    test_large_picture()
print("ok")
