"""The kinds of sessions of `tessera serve` without a browser: what each takes and refuses, tabs, files that pages send, and that a session of sculpting gives the
same bits without a page. test_serve_modes.py TESSERA"""
import filecmp
import os
import random
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from socket_client import PATIENCE, Page, Refused, Server  # noqa: E402

TESSERA = os.path.abspath(sys.argv[1])
SEED = int(os.environ.get("TESSERA_SEED", "0")) or random.randrange(1, 1 << 30)


def tessera(*arguments):
    return subprocess.run([TESSERA, *arguments], check=True, capture_output=True, text=True, cwd=FOLDER).stdout


def opened(server, tab=0, view="volume"):
    """A page of the first tab (segment), the second (sculpt), or of the server that only shows."""
    page = Page(looker if tab == 2 else server, (looker if tab == 2 else server).path + ("socket/1" if tab == 1 else "socket"))
    page.send(type="view", view=view, width=160, height=120)
    page.until(lambda: page.state and page.state["image"] and view in page.frames and page.state.get("objects") != [] and not page.state["busy"], what="a session with a picture")
    if tab == 1:  # the first one may have come before the surface
        before = page.frames[view]["jpeg"]
        page.send(type="view", view=view, azimuth=31)
        page.until(lambda: page.frames[view]["jpeg"] != before and len(page.frames[view]["jpeg"]) > 2000, what="a picture of the surface")
    return page


def edits(page, count):
    page.until(lambda: page.state["edits"] >= count, what=f"{count} edits")


def saved(page, what, name):
    page.send(type="save", what=what, name=name, replace=True)
    page.until(lambda: any(t["type"] == "saved" and t["text"] == name for t in page.texts), what=f"{name} saved")


# ---- sculpting ----

def replay(name):
    with open(os.path.join(FOLDER, f"{name}.session"), encoding="ascii") as file:
        words = next(line for line in file if line.startswith("# spacing ")).split()
    tessera("edit", f"{name}.session", "--spacing", words[2], *(["--draft"] if "draft" in words else []), "-o", f"{name}-again.tsr", "--force")
    return filecmp.cmp(os.path.join(FOLDER, f"{name}.tsr"), os.path.join(FOLDER, f"{name}-again.tsr"), shallow=False)


def test_replay(server):
    """Strokes in the 3-D window and on slices, a lasso, shapes, undo and redo: the script gives the same file, byte for byte."""
    page = opened(server, 1)
    assert page.state["mode"] == "sculpt" and [o["name"] for o in page.state["objects"]] == ["body"]
    size = page.state["image"]["size"]
    middle = [n / 2 for n in size]
    count = 0
    for tool in ("grow", "shrink", "smooth", "attract", "repel"):
        for i in range(3):
            page.send(type="pick", action="sculpt", tool=tool, x=0.48 + 0.02 * i, y=0.5, radius=9, strength=0.8, begin=i == 0)
            count += 1
            page.until(lambda n=count: page.state["edits"] >= n, what=f"a place of {tool}")
    top = [middle[0], middle[1], middle[2] + size[2] / 4]  # margins are half the extent of the ball
    page.send(type="sculpt", tool="grow", **{"from": top}, radius=6, begin=True)
    page.send(type="sculpt", tool="grow", **{"from": top, "to": [top[0] + 10, top[1], top[2]]}, radius=6)
    page.send(type="set", name="mirror", value=1)
    page.send(type="sculpt", tool="shrink", **{"from": [middle[0] + size[0] / 4, middle[1], middle[2]]}, radius=5, begin=True)
    page.until(lambda: page.state["mirror"])
    lines = len([line for line in page.state["lines"] if line.startswith("brush")])
    page.until(lambda: len([line for line in page.state["lines"] if line.startswith("brush")]) >= lines)
    page.send(type="region", do="cut", corners=[[0.6, 0.1], [0.9, 0.1], [0.9, 0.9], [0.6, 0.9]])
    page.until(lambda: len(page.state["objects"]) == 2, what="what was cut")
    page.send(type="region", do="copy", name="band", corners=[[0.45, 0.5], [0.5, 0.52], [0.55, 0.5]], radius=4)  # along the surface
    page.until(lambda: [o["name"] for o in page.state["objects"]].count("band") == 1 and " stroke 4 " in page.state["lines"][-1], what="what a stroke passed")
    page.expect_error("radius", type="region", do="cut", **{"from": [0, 0, 0], "to": [1, 1, 1]}, radius=1)
    page.texts.clear()
    levels = page.state["undo"]
    for _ in range(3):
        page.send(type="undo")
    page.until(lambda: page.state["undo"] == levels - 3, what="three steps back")
    for _ in range(2):
        page.send(type="redo")
    page.until(lambda: page.state["undo"] == levels - 1 and page.state["redo"] == 1, what="two steps forward")
    page.send(type="edit", line="torus ring 0 0 0 20 5")
    page.send(type="edit", line="blend body ring 0.5")
    page.until(lambda: page.state["lines"][-1].startswith("blend"), what="a blend")
    page.send(type="region", do="delete", **{"from": [0, 0, 0], "to": [size[0], size[1], middle[2] - size[2] / 8]})
    page.until(lambda: page.state["lines"][-1].startswith("delete"), what="the lower part deleted")
    assert not page.errors(), page.errors()
    saved(page, "field", "work.tsr")
    saved(page, "session", "work.session")
    saved(page, "mesh", "work.ply")
    assert not page.state["unsaved"]
    assert replay("work"), "the replay gives other bits"
    lines = page.state["lines"]
    page.send(type="load", name="work.session")
    page.until(lambda: page.state["image"]["name"] == "work.session" and not page.state["busy"], what="the session again")
    assert page.state["lines"] == lines
    saved(page, "field", "loaded.tsr")
    assert filecmp.cmp(os.path.join(FOLDER, "work.tsr"), os.path.join(FOLDER, "loaded.tsr"), shallow=False)
    page.close()


def test_undo_is_local(server):
    """Undo of a small stroke touches some tiles, not all; and brings back every bit."""
    page = opened(server, 1)
    page.send(type="load", name="ball.ply")
    page.until(lambda: page.state["image"]["name"] == "ball.ply" and not page.state["busy"] and page.state["edits"] == 0, what="the ball")
    saved(page, "field", "before.tsr")
    page.send(type="pick", action="sculpt", tool="grow", x=0.5, y=0.5, radius=5, strength=1)
    edits(page, 1)
    tiles = page.state["objects"][0]["tiles"]
    page.send(type="undo")
    page.until(lambda: page.state["undo"] == 0 and page.state["redo"] == 1, what="undone")
    assert 0 < page.state["touched"] < tiles / 4, (page.state["touched"], tiles)
    saved(page, "field", "after.tsr")
    assert filecmp.cmp(os.path.join(FOLDER, "before.tsr"), os.path.join(FOLDER, "after.tsr"), shallow=False)
    page.expect_error("nothing to take back", type="undo")
    count = page.state["edits"]
    page.send(type="sculpt", tool="grow", **{"from": [1, 1, 1]}, radius=0.5, begin=True)  # far from the surface: nothing changes
    page.send(type="sculpt", tool="smooth", **{"from": [1, 1, 1]}, radius=0.5, begin=True)
    page.send(type="edit", line="redistance body")
    page.send(type="edit", line="keep body")
    edits(page, count + 4)
    for _ in range(6):  # more than there is
        page.send(type="undo")
    page.until(lambda: "nothing to take back" in page.errors()[-1], what="the end of what can be undone")
    page.until(lambda: page.state["undo"] == 0 and not page.state["busy"], what="all undone")
    assert [o["name"] for o in page.state["objects"]] == ["body"], "Undo took back what was loaded"
    page.close()


def test_lines(server):
    """Lines of a page do what the script's commands do, and reach no file beside those of the folder."""
    page = opened(server, 1)
    for line, words in (("undo", "no line for a page"), ("save body /tmp/x.ply", "no line for a page"), ("  save body x.ply", "no line for a page"), ("attract-to body x.ply 1 1", "no line"),
                        ("load x ../secret.ply", "plain file name"), ("load x /etc/passwd", "plain file name"), ("load x nix.ply", "no such file"), ("load x head.nii.gz", "expected a mask of two values or a level set"),
                        ("dance", "no command"), ("sphere body 0 0 0 1", "body"), ("sphere s 0 0 0 -1", ""), ("sphere s 1e308 0 0 1e308", ""), ("box b 0 0 0 1e300 1 1", ""),
                        ("brush body 0 0 0 nan 1 1", ""), ("cut body a lasso from 0 0 0", ""), ("union body nobody", "nobody"), ("expect body 7", ""), ("load x link.ply", "no such file")):
        page.expect_error(words, type="edit", line=line)
    with open(os.path.join(FOLDER, "secret-notes.txt"), "w", encoding="ascii") as file:
        file.write("not yours\n")
    page.expect_error("is no session of sculpting", type="load", name="secret-notes.txt")
    page.expect_error("there is no object", type="object", name="nobody")
    page.expect_error("expected mirror", type="set", name="alpha", value=1)
    assert page.state["objects"], "the document stands"
    page.close()


def test_large_wishes(server):
    """What would take all memory is refused, and the document stays."""
    page = opened(server, 1)
    before = server.memory()
    names = [o["name"] for o in page.state["objects"]]
    page.expect_error("", type="edit", line="sphere huge 0 0 0 1e6")
    page.expect_error("", type="edit", line="dilate body 1e9")
    assert server.memory() - before < 1 << 30, "memory grew"
    assert [o["name"] for o in page.state["objects"]] == names
    page.close()


def test_stops(server):
    """What takes hours ends with a Pause and changes nothing."""
    page = opened(server, 1)
    saved(page, "field", "before.tsr")
    page.send(type="edit", line="smooth body 9e8")
    page.until(lambda: page.state["busy"], what="work")
    time.sleep(0.3)
    page.send(type="pause")
    page.until(lambda: any("stopped" in e for e in page.errors()) and not page.state["busy"], what="the end of it")
    saved(page, "field", "after.tsr")
    assert filecmp.cmp(os.path.join(FOLDER, "before.tsr"), os.path.join(FOLDER, "after.tsr"), shallow=False)
    page.close()


# ---- every mode ----

def closes(page, *codes):
    try:
        page.socket.settimeout(20)
        while True:
            page.read()
    except (Refused, ConnectionError):
        assert page.closed in (None, *codes), page.closed
    finally:
        page.close()


def test_broken_frames(server):
    """What breaks RFC 6455 or is no message closes its own connection or is refused, in every mode; the others go on."""
    for tab in range(3):
        watcher = opened(server, tab)
        where, path = (looker if tab == 2 else server), (looker if tab == 2 else server).path + ("socket/1" if tab == 1 else "socket")
        for text in ("", "{", "[]", "{}", '{"type":"fly"}', "\x00", "[" * 60000, '{"type":"sculpt"}', '{"type":"region","do":"cut","corners":[[0,0],[0,NaN],[1,1]]}',
                     '{"type":"edit","line":"' + "x" * 1024 + '"}', '{"type":"object","name":"a/b"}', '{"type":"undo","undo":1}', '{"type":"value","at":[1,2,1e300],"id":1}'):
            before = len(watcher.errors())
            watcher.frame(text.encode())
            watcher.until(lambda n=before: len(watcher.errors()) > n, what=f"a refusal of {text[:40]}")
        for hostile in ("oversized", "binary", "fragments", "reserved", "huge length", "garbage"):
            page = Page(where, path)
            if hostile == "oversized":
                page.frame(b'{"type":"ping","id":' + b" " * 70000 + b"1}")
            elif hostile == "binary":
                page.frame(b"\x00\x01", opcode=2)
            elif hostile == "fragments":
                try:
                    page.frame(b"{", final=False)
                    for _ in range(100):
                        page.frame(b" " * 1000, opcode=0, final=False)
                except ConnectionError:
                    pass
            elif hostile == "reserved":
                page.frame(b"x", opcode=11)
            elif hostile == "huge length":
                page.raw(b"\x81\xff" + b"\x7f" + b"\xff" * 7 + b"abcd" + b"payload")
            else:
                page.raw(random.Random(1).randbytes(4000))
            closes(page, 1002, 1003, 1009)
        watcher.send(type="ping", id=5)
        watcher.until(lambda: any(t["type"] == "pong" and t["id"] == 5 for t in watcher.texts), what="the watcher goes on")
        watcher.close()


def test_crowd(server):
    """A hundred pages over all tabs: those kept are served, the rest are told why."""
    page = opened(server, 1)
    before, kept, refused = server.memory(), [], 0
    for i in range(100):
        try:
            other = Page(server, server.path + ("socket/1" if i % 2 else "socket"))
            other.socket.settimeout(PATIENCE)
            while other.driver is None:
                other.read()
            kept.append(other)
        except (Refused, OSError):
            refused += 1
            assert other.closed in (None, 1013), other.closed
    assert len(kept) == 23 and refused == 77, (len(kept), refused)
    page.send(type="pick", action="sculpt", tool="grow", x=0.5, y=0.5, radius=5)
    kept[-1].until(lambda: kept[-1].state is not None, what="a state for who was kept")
    for other in kept:
        other.close()
    page.until(lambda: page.driver["clients"] == 1, what="the crowd gone")
    assert server.memory() - before < 120 << 20
    page.close()


def test_flood(server):
    """Thousands of places of a brush without a breath: the queue has an end, memory too, and the session answers."""
    page = opened(server, 1)
    before = server.memory()
    middle = [n / 2 for n in page.state["image"]["size"]]
    for i in range(1500):
        page.send(type="sculpt", tool=("grow", "shrink")[i % 2], **{"from": middle}, radius=0.5, begin=True)
        if i % 100 == 0:
            page.send(type="ping", id=i)
            page.until(lambda n=i: any(t["type"] == "pong" and t["id"] == n for t in page.texts), what="an answer")
    page.send(type="edit", line="measure body")
    page.until(lambda: not page.state["busy"] and page.state["lines"][-1] == "measure body" or any("waiting" in e for e in page.errors()), what="the end of the flood")
    assert server.memory() - before < 300 << 20, server.memory() - before
    page.close()


WRONG = {"segment": [{"type": "sculpt", "tool": "grow", "from": [1, 2, 3], "radius": 1}, {"type": "edit", "line": "sphere a 0 0 0 1"}, {"type": "object", "name": "a"},
                     {"type": "region", "do": "cut", "from": [0, 0, 0], "to": [1, 1, 1]}, {"type": "isovalue", "value": 1}],
         "sculpt": [{"type": "start"}, {"type": "probe", "at": [1, 2, 3]}, {"type": "step", "count": 1}, {"type": "statistics"}, {"type": "isovalue", "value": 1}],
         "view": [{"type": "start"}, {"type": "paint", "from": [1, 2, 3], "radius": 1}, {"type": "edit", "line": "undo"}, {"type": "set", "name": "alpha", "value": 1}]}


def test_foreign_messages(server):
    """A session refuses the messages of another kind by name."""
    for tab, mode in enumerate(("segment", "sculpt", "view")):
        page = opened(server, tab)
        assert page.state["mode"] == mode, page.state["mode"]
        for message in WRONG[mode]:
            page.expect_error(f"a session of mode {mode} takes no message of type {message['type']}", **message)
        page.close()


def test_random_messages(server):
    """Messages of all kinds with fields at random, to every mode: the server answers and goes on."""
    print(f"seed {SEED}")
    r = random.Random(SEED)
    values = [0, 1, -1, 0.5, 1e6, 1e7, -1e7, 1e30, 4294967295, True, False, None, "", "body", "grow", "a" * 200, "../x", [], [1, 2, 3], [1e7] * 3, [[0, 0], [1, 0], [1, 1]], [[0.5, 0.5]] * 48, {}]
    kinds = ["view", "window", "transfer", "set", "probe", "paint", "erase", "pick", "start", "pause", "undo", "redo", "value", "mask", "statistics", "isovalue", "sculpt", "region", "edit", "object", "tabs"]
    fields = ["view", "at", "from", "to", "radius", "tool", "strength", "do", "corners", "line", "name", "visible", "opacity", "colour", "value", "x", "y", "action", "begin", "id", "low", "high"]
    fixed = {"view": ["volume", "source", "second", "third"], "tool": ["grow", "shrink", "smooth", "attract", "repel"], "do": ["cut", "delete", "keep", "copy"], "action": ["sculpt", "locate", "probe"],
             "line": ["measure body", "smooth body 0.1", "undo", "sphere a 0 0 0 3", "remove a"], "name": ["body", "mirror", "alpha", "nobody"], "radius": [0.5, 3, 9], "strength": [0, 0.5, 1]}
    for tab in range(3):
        page = opened(server, tab)
        for i in range(400):
            message = {"type": r.choice(kinds)}
            for field in r.sample(fields, r.randrange(0, 6)):
                message[field] = r.choice(fixed[field]) if field in fixed and r.random() < 0.7 else r.choice(values)
            page.send(**message)
            if i % 40 == 0:
                page.send(type="ping", id=i)
                page.until(lambda n=i: any(t["type"] == "pong" and t["id"] == n for t in page.texts), what="an answer")
                page.texts.clear()
        page.send(type="ping", id=9999)
        page.until(lambda: any(t["type"] == "pong" and t["id"] == 9999 for t in page.texts), what="the last answer")
        page.until(lambda: not page.state["busy"], what="rest")
        if tab == 1:  # whatever is left of it
            page.send(type="load", name="ball.ply")
            page.until(lambda: page.state["edits"] == 0 and not page.state["busy"] and page.state["lines"] == ["load body ball.ply"], what="the ball again")
        page.close()


def test_only_the_driver(server):
    """Who watches asks for values and tabs, and changes nothing."""
    first, second = opened(server), Page(server)
    second.send(type="value", at=[20, 20, 20], id=77)
    second.until(lambda: any(t["type"] == "value" and t["id"] == 77 for t in second.texts), what="a value")
    value = next(t for t in second.texts if t["type"] == "value")
    assert 0 <= value["grey"] <= 1.2, value
    second.send(type="tabs")
    second.until(lambda: any(t["type"] == "tabs" and len(t["tabs"]) == 2 for t in second.texts), what="the tabs")
    second.expect_error("another page drives", type="open", name="ball.ply")
    second.expect_error("another page drives", type="mask", opacity=1)
    first.close()
    second.close()


def test_tabs(server):
    """Files of no kind open nothing, there are eight tabs at most, and paths to others lead nowhere."""
    page = opened(server)
    page.expect_error("no kind of session", type="open", name="x.session")
    page.expect_error("plain file name", type="open", name="../ball.ply")
    for _ in range(6):
        page.send(type="open", name="ball.ply")
    page.until(lambda: any(t["type"] == "tabs" and len(t["tabs"]) == 8 for t in page.texts), what="eight tabs")
    page.expect_error("8 tabs are open", type="open", name="ball.ply")
    for wrong in ("socket/8", "socket/-1", "socket/01", "socket/x", "socket/1/", "socket/", "socketx"):
        try:
            Page(server, server.path + wrong).close()
            raise AssertionError(f"{wrong} was let in")
        except Refused:
            pass
    page.close()


# ---- files that pages send ----

def post(server, name, body, origin=None, length=None, token=None):
    with server.connect(3) as s:
        head = f"POST {token or server.path}file/{name} HTTP/1.1\r\nHost: {server.host}:{server.port}\r\nConnection: close\r\nContent-Length: {len(body) if length is None else length}\r\n"
        s.sendall((head + (f"Origin: {origin}\r\n" if origin else "") + "\r\n").encode() + body)
        answer = b""
        try:
            while piece := s.recv(4096):
                answer += piece
        except (ConnectionResetError, socket.timeout):
            pass
    words = answer.split()
    return (int(words[1]) if len(words) > 1 else 0), answer.partition(b"\r\n\r\n")[2]


def test_uploads(server):
    """A file comes whole or not at all, never over another, never out of the folder, only from pages of this server."""
    with open(os.path.join(FOLDER, "ball.ply"), "rb") as file:
        content = file.read()
    own = f"http://{server.host}:{server.port}"
    before = set(os.listdir(FOLDER))
    assert post(server, "sent%20it.ply", content, own)[0] == 200
    with open(os.path.join(FOLDER, "sent it.ply"), "rb") as file:
        assert file.read() == content
    for name in ("sent%20it.ply", "ball.ply", "link.ply"):
        status, text = post(server, name, b"x" * 10, own)
        assert status == 403 and b"exists already" in text, (name, status, text)
    for name in ("..%2fx.ply", "%2e%2e%2fx.ply", ".hidden.ply", "-x.ply", "x.exe", "x", "a%00b.ply", "a%zz.ply", "x%2fy.ply", "x%5cy.ply", "y" * 200 + ".ply"):
        status, _ = post(server, name, b"ply\n", own)
        assert status in (403, 404, 0), (name, status)
    status, text = post(server, "%ff.ply", b"ply\n", own)
    assert status == 403 and b"UTF-8" in text, (status, text)
    assert post(server, "x.ply", b"ply\n", "http://evil.example")[0] == 403
    assert post(server, "x.ply", b"ply\n", own, token="/" + "0" * 32 + "/")[0] == 404
    assert post(server, "x.ply", b"", own)[0] in (403, 0)
    assert post(server, "x.ply", b"ply\n", own, length="99999999999999999999")[0] in (400, 403, 413, 0)
    with server.connect(20) as s:  # cut off in the middle
        s.sendall(f"POST {server.path}file/half.ply HTTP/1.1\r\nHost: {server.host}:{server.port}\r\nOrigin: {own}\r\nContent-Length: 1000\r\n\r\n".encode() + b"x" * 100)
        time.sleep(0.2)
    end = time.monotonic() + 10
    while set(os.listdir(FOLDER)) - before != {"sent it.ply"}:
        assert time.monotonic() < end, set(os.listdir(FOLDER)) - before
        time.sleep(0.1)
    assert post(server, "big.ply", b"z", own, length=65 << 20)[0] == 403, "larger than --memory-limit"


def test_example(_):
    """The guide shows the example mode as it is."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

    def read(*path):
        with open(os.path.join(root, *path), encoding="utf-8") as file:
            return file.read()

    guide = read("docs", "guide", "workbench-mode.md")
    for path, begin in ((("tools", "viewer", "turntable.c"), '#include "mode.h"'), (("tools", "viewer", "web", "mode-turntable.js"), "import { Slider }")):
        text = read(*path)
        assert text[text.index(begin):].strip() in guide, f"{path[-1]} is another in the guide"


def test_emulated():
    """On the emulated device too: what lives there is measured, sampled and given back; the script gives the same bits on the CPU."""
    if "emu" not in tessera("devices") or "of another version" in tessera("devices"):
        print("this build has no emulator: it is left out")
        return
    with open(os.path.join(FOLDER, "small.txt"), "w", encoding="ascii") as script:
        script.write("sphere a 0 0 0 8\n")
    tessera("edit", "small.txt", "-o", "small.ply", "--force")
    try:
        emulated = Server(TESSERA, os.path.join(FOLDER, "small.ply"), "--device", "emu")
    except RuntimeError as error:
        print(f"the emulator does not run: {error}")
        return
    page = Page(emulated)
    try:
        page.send(type="set", name="resolution", value=16)
        page.send(type="load", name="small.ply")
        for view in ("volume", "source"):
            page.send(type="view", view=view, width=48, height=40)
        page.until(lambda: page.state and page.state["image"] and page.state["resolution"] == 16 and not page.state["busy"] and page.state["objects"] and page.state["voxel"][0] > 0.9 and "volume" in page.frames, what="a coarse document")
        page.send(type="mask", opacity=0.5)
        middle = [n / 2 for n in page.state["image"]["size"]]
        for i, tool in enumerate(("grow", "attract")):
            page.send(type="sculpt", tool=tool, **{"from": [middle[0], middle[1], middle[2] + 8]}, radius=5, begin=True)
            edits(page, i + 1)
        page.send(type="value", at=middle, id=5)
        page.until(lambda: any(t["type"] == "value" for t in page.texts), what="a value")
        assert next(t for t in page.texts if t["type"] == "value")["level"] < 0
        saved(page, "field", "emulated.tsr")
        saved(page, "session", "emulated.session")
        assert replay("emulated") and not page.errors(), page.errors()
    finally:
        page.close()
        code, errors = emulated.stop()
    assert code == 0 and not errors, (code, errors)


# ---- looking ----

def test_view(server):
    page = opened(server, 2)
    for name in ("head.nii.gz", "work.ply", "work.tsr", "head.nii.gz"):
        page.send(type="load", name=name)
        page.until(lambda n=name: page.state["image"] and page.state["image"]["name"] == n and not page.state["busy"], what=name)
        count = page.counts["volume"]
        page.until(lambda n=count: page.counts["volume"] > n, what=f"a picture of {name}")
    jpeg = page.frames["volume"]["jpeg"]
    page.send(type="view", view="volume", mode="surface")
    page.send(type="isovalue", value=0.6, input=5)
    page.until(lambda: page.state["isovalue"] == 0.6 and page.frames["volume"]["view_input"] >= 5, what="a surface of the value")
    assert page.frames["volume"]["jpeg"] != jpeg
    page.expect_error("work.session: expected a volume", type="load", name="work.session")
    page.expect_error("nothing to undo", type="undo")
    page.expect_error("nothing to save", type="save", what="mesh", name="x.ply")
    saved(page, "picture", "looked.png")
    page.close()


with tempfile.TemporaryDirectory() as FOLDER:
    tessera("make", "phantom_tumour", "--size", "48", "--noise", "0.05", "--seed", "3", "-o", "head.nii.gz")
    with open(os.path.join(FOLDER, "make.txt"), "w", encoding="ascii") as script:
        script.write("sphere a 0 0 0 30\n")
    tessera("edit", "make.txt", "--spacing", "2", "-o", "ball.ply")
    os.symlink("/etc/passwd", os.path.join(FOLDER, "link.ply"))
    paths = [os.path.join(FOLDER, n) for n in ("head.nii.gz", "ball.ply")]
    run = Server(TESSERA, *paths, "--device", "cpu", "--threads", "2", "--memory-limit", str(64 << 20))
    looker = Server(TESSERA, paths[0], "--mode", "view", "--device", "cpu", "--threads", "2")
    try:
        for test in (test_replay, test_undo_is_local, test_lines, test_large_wishes, test_stops, test_foreign_messages, test_only_the_driver, test_uploads, test_view, test_example, test_random_messages, test_broken_frames, test_crowd, test_flood, test_tabs):
            began = time.monotonic()
            test(run)
            assert run.alive() and looker.alive(), f"{test.__name__}: a server has ended"
            print(f"{test.__name__}: {time.monotonic() - began:.1f} s", flush=True)
        test_emulated()
    finally:
        codes = [run.stop(), looker.stop()]
    assert all(code == 0 and not errors for code, errors in codes), codes
print("ok")
