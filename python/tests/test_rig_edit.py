"""Cameras fitted by hand, lines on edges, targets, beside projections that are written here."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tessera as ts

PLACES = [(0, 0, 0), (16.5, 20.16, 0), (-16.5, 9, 0), (25, -5, 0), (-25, -9.15, 0), (8, -14, 0), (0, 9.15, 0)]


def truth(which: int) -> Any:
    eye, target = (((-10, -75, 22), (15, -2, 0)), ((20, -80, 26), (10, 0, 0)))[which]
    return ts.Camera.look_at(eye, target, fov=40).pinhole((320, 180))


def see(pinhole: Any, points: Any) -> Any:
    """A pinhole of its own."""
    there = np.atleast_2d(points) @ np.array(pinhole.rotation).T + pinhole.translation
    return there[:, :2] / there[:, 2:] * [pinhole.fx, pinhole.fy] + [pinhole.cx, pinhole.cy]


def fitted(folder: Path, pictures: Any) -> Any:
    """An editor with two cameras that are where they were."""
    editor = ts.RigEditor(folder)
    editor.proxy("pitch")
    for k, picture in enumerate(pictures):
        ts.Image(picture).save(folder / f"{'ab'[k]}.png")
        editor.image(f"{'ab'[k]}.png")
        for place, pixel in zip(PLACES, see(truth(k), PLACES)):
            editor.pair(place, pixel)
        editor.solve()
    return editor


def pitches() -> Any:
    return [np.repeat(ts.draw_pitch(truth(k)).array, 3, axis=2) for k in range(2)]


def test_pairs_make_cameras_and_steps_go_back(tmp_path: Path) -> None:
    folder = tmp_path / "with a blank"
    folder.mkdir()
    editor = fitted(folder, pitches())
    assert editor.cameras == ["a", "b"] and repr(editor) == "<tessera.RigEditor 2 cameras, proxy pitch>"
    info = editor.describe()
    assert (info.cameras, info.active, info.pairs, info.proxy) == (2, 1, 14, "pitch")
    for k in range(2):
        found = editor.camera("ab"[k])
        assert np.abs(see(found.pinhole, PLACES) - see(truth(k), PLACES)).max() < 1e-3
        assert found.pair_rms < 1e-3 and found.pairs == 7 and abs(found.value["fov"] - 40) < 1e-3
    before = editor.camera(1).pinhole
    editor.snapshot("good")
    editor.lock("x", "roll")
    assert editor.camera().locked == ["roll", "x"]
    editor.unlock("x", "roll")
    editor.turn(3, -2, 1)
    editor.move(forward=4)
    assert np.allclose(np.linalg.norm(np.array(editor.rig()["b"].camera.position) - before.camera().position), 4)
    editor.set(fov=33, k1=-0.1)
    assert abs(editor.camera().value["fov"] - 33) < 1e-9 and editor.camera().pinhole != before
    for _ in range(4):
        editor.undo()
    assert editor.camera(1).pinhole == before and editor.describe().redo == 4
    editor.redo()
    editor.restore("good")
    assert editor.camera(1).pinhole == before and editor.snapshots == ["good"]
    again = ts.RigEditor(folder)
    again.run(editor.script)
    assert [again.camera(k).pinhole for k in range(2)] == [editor.camera(k).pinhole for k in range(2)]


def test_pictures_and_places(tmp_path: Path) -> None:
    pictures = pitches()
    editor = fitted(tmp_path, pictures)
    shown = editor.draw((320, 180), no_lines=True).array
    assert np.abs(shown.astype(int) - pictures[1]).mean() < 2
    assert (editor.draw((320, 180), no_lines=True, blend="difference", mix=1.0).array != shown).any()
    pixel, point = editor.pick(see(truth(1), [(16.5, 20.16, 0)])[0], (320, 180))
    assert point is not None and np.allclose(point, (16.5, 20.16, 0), atol=0.02) and np.allclose(pixel, see(truth(1), [(16.5, 20.16, 0)])[0], atol=1e-6)
    above = ts.Camera.look_at((0, -1, 90), (0, 0, 0), fov=60)
    assert editor.draw((64, 48), above).array.std() > 5
    assert editor.pick((1, 1), (64, 48), ts.Camera.look_at((0, 0, 90), (0, 0, 180), up=(0, 1, 0), fov=60))[1] is None


def test_colours_are_matched(tmp_path: Path) -> None:
    """What was done to one picture comes out as its gain and its response."""
    pictures, gain, response = pitches(), np.array([0.8, 0.95, 0.7]), 1.25
    pictures[1] = np.round(255 * (gain * pictures[1] / 255) ** response).astype(np.uint8)
    editor = fitted(tmp_path, pictures)
    plain = editor.camera()
    assert plain.gain == [1, 1, 1] and plain.response == 1
    editor.match(response=True)
    found = editor.camera()
    assert np.allclose(found.gain, gain, rtol=0.05) and abs(found.response - response) < 0.08 and found.difference < 0.5 * plain.difference
    editor.unmatch()
    assert editor.camera().gain == [1, 1, 1] and abs(editor.camera().difference - plain.difference) < 1e-9
    with pytest.raises(ts.Error, match="vignette"):
        editor.run("match sideways")


def test_a_projector_compensates_its_canvas(tmp_path: Path) -> None:
    """On a canvas painted in two greys, from the projector's own place: light times paint is what was wanted, by a formula that knows no image."""
    ts.write(ts.Mesh([[-3, 0, -2], [3, 0, -2], [3, 0, 2], [-3, 0, 2]], [[0, 1, 2], [0, 2, 3]]), tmp_path / "canvas.ply")
    projector = ts.Camera.look_at((0, -5, 0), (0, 0, 0), fov=40)
    paint = np.where(np.arange(160) < 80, 0.9, 0.45)
    for name, light in (("show", np.full(160, 0.2)), ("lit", paint), ("dark", np.zeros(160))):
        ts.Image(np.broadcast_to(np.round(255 * light ** (1 / 2.2)).astype(np.uint8)[None, :, None], (120, 160, 3))).save(tmp_path / f"{name}.png")
    editor = ts.RigEditor(tmp_path)
    editor.proxy("canvas.ply")
    for name in ("show", "lit", "dark"):
        editor.image(f"{name}.png")
        editor.set(yaw=0, pitch=0, roll=0, fov=40, x=0, y=-5, z=0)
        assert np.allclose(editor.camera().pinhole.camera().position, projector.position)
    image, report = editor.compensate("show", "lit", dark="dark")
    assert image.array.shape == (120, 160, 3) and report.canvas > 0.9 and report.short_of_light == 0 and report.enough > 1
    middle = image.array[60, :, 0] / 255
    wanted = (0.2 / paint) ** (1 / 2.2)
    inner = np.r_[10:75, 85:150]
    assert np.abs(middle - wanted)[inner].max() < 0.02
    with pytest.raises(ts.ArgumentError, match="no camera 'nobody'"):
        editor.compensate("show", "nobody")


def test_bad_words(tmp_path: Path) -> None:
    editor = ts.RigEditor(tmp_path)
    with pytest.raises(ts.Error, match="nothing.png"):
        editor.image("nothing.png")
    with pytest.raises(ValueError, match="expected a name without blanks"):
        editor.image("a b.png")
    with pytest.raises(ts.Error, match="line 2: .*dance"):
        editor.run("proxy pitch\ndance\n")
    assert editor.describe().proxy == "pitch"
    with pytest.raises(KeyError, match="'c', there are no cameras"):
        editor.camera("c")
    with pytest.raises(ts.StateError):
        editor.draw((32, 24))
    with pytest.raises(TypeError, match="unknown option 'blnd'"):
        editor.draw((32, 24), blnd="alpha")
    with pytest.raises(ValueError, match="expected all=True"):
        editor.solve(shared=True)
    with pytest.raises(ValueError, match="expected 3"):
        editor.pair((1, 2), (3, 4))


def test_lines_on_edges(tmp_path: Path) -> None:
    true = ts.Camera.look_at((-10, -75, 22), (15, -2, 0), fov=40).pinhole((640, 360))
    start = ts.Camera.look_at((-10.2, -75, 22), (15.5, -2, 0.2), fov=40.4).pinhole((640, 360))
    picture, lines = ts.draw_pitch(true, noise=2.0), ts.pitch_lines()
    corners = lines[np.all((see(true, lines[:, 0]) > 0) & (see(true, lines[:, 0]) < [640, 360]), axis=1), 0]
    assert len(corners) > 50
    before = np.abs(see(start, corners) - see(true, corners)).max()
    found = ts.align(picture, start, lines, refine_only=True)
    assert before > 5 and np.abs(see(found.camera, corners) - see(true, corners)).max() < 0.3 and found.rms < 0.5 and found.matched > 0.5 * found.samples
    (tmp_path / "room.csv").write_text("\n".join(",".join(map(repr, line[:2].ravel().tolist())) for line in lines))
    assert np.array_equal(ts.read_lines(tmp_path / "room.csv")[:, :2], lines[:, :2])
    with pytest.raises(ts.FormatError, match="1"):
        (tmp_path / "bad.csv").write_text("1,2,3\n1,2,3,4,5,x\n")
        ts.read_lines(tmp_path / "bad.csv")
    with pytest.raises(ValueError, match=r"expected \(n, 2, 3\)"):
        ts.align(picture, start, lines[0])
    with pytest.raises(ts.ArgumentError, match="line"):
        ts.align(picture, start)


@pytest.mark.parametrize("target", ["9x6,1", "circles:4x11,1", "charuco:7x5,1,0.7,4x4_50"])
def test_targets(target: str) -> None:
    points = ts.target_points(target)
    eye = ts.Pinhole(width=480, height=480, fx=500, fy=500, cx=240, cy=240, rotation=((1, 0, 0), (0, 0.98, -0.198997), (0, 0.198997, 0.98)))
    eye.translation = (np.array([0, 0, 2.2 * np.ptp(points[:, :2])]) - np.array(eye.rotation) @ points.mean(axis=0)).tolist()
    pixels, seen = ts.find_target(ts.draw_target(target, eye), target)
    assert seen.all() and pixels.shape == (len(points), 2)
    expected = see(eye, points)
    turned = np.abs(pixels[::-1] - expected).max() < np.abs(pixels - expected).max() and target[0] == "9"  # half a turn of a chessboard looks alike
    assert np.abs((pixels[::-1] if turned else pixels) - expected).max() < 0.3
    with pytest.raises(ts.ArgumentError):
        ts.target_points("triangles:3x3")
