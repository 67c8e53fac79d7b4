"""Hostile pages in every mode: requests without a length, frames that break RFC 6455, messages at random, a hundred pages. The server closes what breaks the
rules, answers the rest, and goes on. test_serve_hostile.py TESSERA; TESSERA_SEED repeats a run."""
import os
import random
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import mode_files  # noqa: E402
from socket_client import PATIENCE, Page, Refused, Server  # noqa: E402

TESSERA = os.path.abspath(sys.argv[1])
SEED = int(os.environ.get("TESSERA_SEED", "1"))
SANITIZED = "asan" in TESSERA or "tsan" in TESSERA


def request(server, head, body=b"", seconds=PATIENCE):
    """The first line of the answer to a request as it is written here."""
    with server.connect(seconds) as s:
        s.sendall(head.replace("HOST", f"Host: {server.host}:{server.port}\r\nOrigin: http://{server.host}:{server.port}").encode() + body)
        answer = b""
        while b"\r\n" not in answer:
            piece = s.recv(4096)
            if not piece:
                break
            answer += piece
    return answer.split(b"\r\n")[0].decode()


def test_lengths(server):
    """A file must come with its length: none, a negative one, no number, more than can be are answered and leave nothing behind."""
    path = f"POST {server.path}file/new.ply HTTP/1.1\r\nHOST\r\n"
    for lines, codes in (("", ("411",)), ("Content-Length: -5\r\n", ("403", "400")), ("Content-Length: 0\r\n", ("403",)), ("Content-Length: abc\r\n", ("403", "400")),
                         ("Content-Length: 99999999999999999999\r\n", ("403", "400")), ("Transfer-Encoding: chunked\r\n", ("411", "400"))):
        line = request(server, path + lines + "\r\n", b"abc")
        assert line.startswith("HTTP/1.") and line.split()[1] in codes, (lines, line)
    assert not [name for name in os.listdir(".") if "new.ply" in name or "upload" in name], os.listdir(".")


def closed(server, data, *codes):
    """What a page sends closes its connection, with one of these codes or without."""
    page = Page(server)
    page.raw(data)
    page.socket.settimeout(PATIENCE)
    try:
        while True:
            page.read()
    except (Refused, ConnectionError):
        assert page.closed in (None, *codes), (data[:12], page.closed)
    finally:
        page.close()


def text(payload, first=0x81):
    return bytes([first, 0x80 | len(payload)]) + b"\0\0\0\0" + payload


def test_frames(server):
    """RFC 6455, 5.2 to 5.5 and 8.1."""
    for reserved in (0x40, 0x20, 0x10):
        closed(server, text(b"{}", 0x81 | reserved), 1002)
    for opcode in (3, 4, 5, 6, 7, 11, 12, 13, 14, 15):
        closed(server, text(b"{}", 0x80 | opcode), 1002)
    closed(server, text(b"", 0x09), 1002)                       # a ping in pieces
    closed(server, bytes([0x89, 0xfe, 0, 126]) + b"\0\0\0\0" + b"a" * 126, 1002)  # a long ping
    closed(server, text(b"{}", 0x80), 1002)                     # goes on with nothing
    closed(server, text(b"{", 0x01) + text(b"}", 0x81), 1002)   # a message inside another
    closed(server, bytes([0x81, 0xff]) + b"\xff" * 8 + b"\0\0\0\0{}", 1002, 1009)
    for broken in (b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"\x80"):
        closed(server, text(b'{"type":"' + broken + b'"}'), 1007)
    page = Page(server)
    page.expect_error("unknown", type="é€𐍈")  # what is UTF-8 is a message
    page.close()


def alone(server):
    """Waits until pages that were closed have been noticed to be gone."""
    end = time.monotonic() + PATIENCE
    while True:
        page = Page(server)
        page.until(lambda p=page: p.driver is not None, what="who drives")
        clients = page.driver["clients"]
        page.close()
        if clients == 1:
            return
        assert time.monotonic() < end, clients
        time.sleep(0.2)


def test_hundred(server):
    """A hundred pages: those kept are served, the rest are told why."""
    alone(server)
    kept, refused = [], 0
    for _ in range(100):
        try:
            page = Page(server)
            page.socket.settimeout(PATIENCE)
            while page.driver is None:
                page.read()
            kept.append(page)
        except (Refused, OSError):
            refused += 1
            assert page.closed in (None, 1013), page.closed
    assert len(kept) == 24 and refused == 76, (len(kept), refused)
    for i, page in enumerate(kept):
        page.send(type="ping", id=i)
    for i, page in enumerate(kept):
        page.until(lambda n=i, p=page: any(t["type"] == "pong" and t["id"] == n for t in p.texts), what="an answer")
    for page in kept:
        page.close()
    alone(server)


def test_own_views(server):
    """Pages that watch have views of their own, as many as there are; the driver's stay."""
    driver = Page(server)
    driver.drives()
    driver.until(lambda: driver.state and driver.state["image"], what="an image")
    before = driver.state["views"]["volume"]["azimuth"]
    others = [Page(server) for _ in range(6)]
    for i, page in enumerate(others):
        page.until(lambda p=page: p.driver is not None, what="who drives")
        page.send(type="view", view="volume", width=64, height=64, azimuth=10 * i, input=1)
    for page in others[:4]:
        page.until(lambda p=page: "volume" in p.frames and p.frames["volume"]["width"] / p.frames["volume"]["height"] == 1, what="a picture of its own")
    for page in others[4:]:
        page.until(lambda p=page: any("views of their own" in e for e in p.errors()), what="a refusal")
    others[0].send(type="follow")
    others[5].send(type="view", view="volume", width=64, height=64, azimuth=50, input=2)
    others[5].until(lambda: others[5].frames.get("volume", {}).get("view_input") == 2, what="the place that became free")
    driver.send(type="ping", id=1)
    driver.until(lambda: any(t["type"] == "pong" for t in driver.texts), what="an answer")
    assert driver.state["views"]["volume"]["azimuth"] == before
    for page in (driver, *others):
        page.close()


VALUES = [0, 1, -1, 0.5, 3, 24, 255, 1e6, 1e7, 1e30, 4294967295, True, False, None, "", "volume", "frame", "a" * 200, "../x", "é", [], [1, 2, 3], [1e7] * 3, [[0, 0], [1, 0], [1, 1]], {}]
FIELDS = ["view", "width", "height", "zoom", "pan", "azimuth", "elevation", "position", "axis", "visible", "name", "value", "opacity", "colour", "over", "label", "active", "remove", "see_through", "what",
          "as", "replace", "at", "x", "y", "action", "radius", "begin", "low", "high", "id", "count", "from", "to", "line", "mode", "clip", "quality"]
KINDS = ["view", "window", "transfer", "set", "pick", "undo", "redo", "save", "load", "value", "mask", "isovalue", "label", "overlay", "follow", "tabs", "files", "start", "pause", "probe", "paint", "edit", "object",
         "statistics", "drive", "shown", "step", "sculpt", "region"]


# Lines of an editor, right ones and broken ones.
WORDS = ["turn", "move", "shift", "orbit", "dolly", "set", "add", "lock", "pair", "unpair", "line", "solve", "vanish", "refine", "match", "snapshot", "restore", "undo", "redo", "camera", "rig", "reset", "image", "proxy", "cameras",
         "@pair", "@pivot", "@line", "@loupe", "@drop", "+", "fov", "k1", "yaw", "all", "none", "vignette", "response", "colours", "on", "x", "source", "volume", "third", "pitch.png", "../x", "0", "1", "-3", "0.5", "nan", "1e300", "é"]


def test_random(server, names):
    """Messages of all kinds with fields at random, and settings with numbers at random: it answers and goes on."""
    r = random.Random(f"{SEED} {names}")
    page = Page(server)
    page.drives()
    page.until(lambda: page.state and page.state["image"] and not page.state["busy"], what="something to look at")
    page.send(type="view", view="volume", width=96, height=64, visible=True)
    fixed = {"name": [*names, "nothing", "missing.nii", "x.png"], "view": ["volume", "source", "speed"], "what": ["picture", "mask", "labels", "session"], "as": ["labels", "overlay", "mask"], "over": ["none", "image", "speed"]}
    if "pitch.png" in names:
        fixed["line"] = [" ".join(r.sample(WORDS, r.randrange(1, 7))) for _ in range(200)] + ["turn 1 0 0", "add fov 1", "pair 0 0 0 9 9", "match", "@pivot volume 0.5 0.5", "@loupe source 0.4 0.4"]
    for i in range(120 if SANITIZED else 400):
        message = {"type": r.choice(KINDS if "line" not in fixed or r.random() < 0.5 else ["edit"])}
        if r.random() < 0.4:
            message = {"type": "set", "name": r.choice(names), "value": r.choice([0, 1, 2, 3, 5, -1, 0.5, 0.25, 1e9, -1e30, 1e30, r.uniform(-10, 100)])}
        elif message["type"] == "edit" and "line" in fixed:
            message["line"] = r.choice(fixed["line"])
        else:
            for field in r.sample(FIELDS, r.randrange(0, 6)):
                message[field] = r.choice(fixed[field]) if field in fixed and r.random() < 0.7 else r.choice(VALUES)
        page.send(**message)
        if i % 20 == 0:
            page.send(type="ping", id=i)
            page.until(lambda n=i: any(t["type"] == "pong" and t["id"] == n for t in page.texts), what="an answer")
            page.texts.clear()
    page.send(type="drive")
    page.send(type="ping", id=9999)
    page.until(lambda: any(t["type"] == "pong" and t["id"] == 9999 for t in page.texts), what="the last answer")
    page.until(lambda: not page.state["busy"], what="rest")
    page.close()


MODES = {"segment": (["head.nii.gz"], ["target", "epsilon", "alpha", "smoothing", "head.nii.gz"]),
         "sculpt": (["ball.ply"], ["mirror", "draft", "resolution", "ball.ply"]),
         "view": (["head.nii.gz"], ["head.nii.gz"]), "turntable": (["ball.ply"], ["ball.ply"]),
         "film": (["row.y4m"], ["frame", "playing", "rate", "loop", "row.y4m", "grey-01.png"]),
         "fluid": (["drop-0001.ply"], ["frame", "playing", "rate", "look", "smoother", "iterations", "resolution", "split", "scale", "drop-0002.ply"]),
         "light": (["glass.txt"], ["turn", "rise", "resolution", "caustics", "glass.txt", "head.nii.gz"]),
         "flow": (["swirl.vtk"], ["thinning", "steps", "width", "relevance", "box", "swirl.vtk", "head.nii.gz"]),
         "cameras": (["rig.json"], ["camera", "through", "flying", "rate", "size", "points", "path", "rig.json"]),
         "views": (["plane.json"], ["merge", "show", "most", "frusta", "path", "cut", "far", "size", "rate", "camera", "place", "playing", "overview", "forward", "right", "up", "turn", "tilt", "plane.json"]),
         "calibrate": (["own.calib"], ["blend", "mix", "lines", "shadow", "own.calib", "pitch.png"]),
         "mvv": (["cube.mvv"], ["frame", "playing", "rate", "loop", "masks", "only", "show", "codec", "bits", "cube.mvv"])}


def main():
    print(f"seed {SEED}")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        subprocess.run([TESSERA, "make", "phantom_tumour", "--size", "24", "--noise", "0.03", "-o", "head.nii.gz"], check=True)
        with open("ball.txt", "w", encoding="ascii") as file:
            file.write("sphere body 0 0 0 8\n")
        subprocess.run([TESSERA, "edit", "ball.txt", "-o", "ball.ply"], check=True, capture_output=True)
        mode_files.film("row.y4m")
        for i in range(3):
            mode_files.png(f"grey-{i + 1:02d}.png", 60 + 60 * i)
        mode_files.drops(SEED, points=1500)
        mode_files.field("swirl.vtk", 12)
        mode_files.rig("rig.json")
        mode_files.plane("plane.json", "plane")
        subprocess.run([TESSERA, "make", "light-glass-sphere", "-o", "glass.txt"], check=True)
        subprocess.run([TESSERA, "make", "mvv", "cube", "--steps", "2", "--cameras", "3", "-o", "cube"], check=True, capture_output=True)
        subprocess.run([TESSERA, "mvv", "make", "cube", "--size", "64,64,1", "-o", "cube.mvv"], check=True, capture_output=True)
        subprocess.run([TESSERA, "align", "--proxy", "pitch", "--show", "1", "-o", "pitch.png", "--start", "true.json", "--image-size", "160,96,1"], check=True, capture_output=True)
        with open("own.calib", "w", encoding="ascii") as file:
            file.write("proxy pitch\nimage pitch.png\nimage pitch.png\nturn 1 0 0\n")
        for mode, (files, names) in MODES.items():
            server = Server(TESSERA, "--mode", mode, "--device", "cpu", *files)
            try:
                parts = [lambda s=server: test_lengths(s), lambda s=server: test_frames(s), lambda s=server: test_hundred(s), lambda s=server, n=names: test_random(s, n)]
                if mode == "segment":
                    parts.insert(2, lambda s=server: test_own_views(s))
                for part in parts:
                    begin = time.monotonic()
                    part()
                    print(f"  {mode} {part.__code__.co_names[0]}: {time.monotonic() - begin:.1f} s", flush=True)
                assert server.alive(), f"{mode}: the server has ended"
            finally:
                code, errors = server.stop()
            assert code == 0 and not errors, (mode, code, errors)
    print("hostile test: all good")


main()
