"""What is wrong with an input is said in Python's own exceptions, and the message says what was expected: for every function that takes arrays."""

import gc
import re
import threading
from typing import Any, Callable

import numpy as np
import pytest

import tessera as ts

VOLUMES: dict[str, Callable[[Any], Any]] = {
    "Volume": ts.Volume,
    "Tiles": ts.Tiles,
    "compress": lambda a: ts.compress(a, "/no-such-folder/a.tsc"),
    "denoise": ts.denoise,
    "distance": ts.distance,
    "dwt": ts.dwt,
    "label": ts.label,
    "mip": ts.mip,
    "octree": ts.octree,
    "segment": lambda a: ts.segment(a, [(1, 1, 1, 1)]),
    "smooth": lambda a: ts.smooth(a, 1.0),
    "statistics": ts.statistics,
    "surface": lambda a: ts.surface(a, 0.5),
    "write": lambda a: ts.write(a, "/no-such-folder/a.nrrd"),
    "LightMatter": lambda a: ts.LightMatter(index=a),
    "crop": lambda a: ts.crop(a, (0, 0, 0), (1, 1, 1)),
    "resample": lambda a: ts.resample(a, size=(2, 2, 2)),
    "threshold": lambda a: ts.threshold(a, 0, 1),
    "histogram": ts.histogram,
    "labels": ts.labels,
    "MaxTree": ts.MaxTree,
}
POINTS: dict[str, Callable[[Any], Any]] = {
    "Points": ts.Points,
    "reconstruct": ts.reconstruct,
    "Mesh": lambda a: ts.Mesh(a, [[0, 1, 2]]),
    "voxelize": lambda a: ts.voxelize((a, [[0, 1, 2]]), 0.1),
    "sample": lambda a: ts.shape("sphere", radius=2).sample(a),
    "streamlines": lambda a: ts.Field.make("field-saddle", size=(4, 4, 4)).streamlines(a),
    "project": lambda a: ts.Camera().project(a, (4, 4)),
    "Unstructured": lambda a: ts.Unstructured(a, [[0, 1, 2, 3]]),
    "winding": lambda a: ts.winding((a, [[0, 1, 2]]), 0.1),
    "add_particles": lambda a: ts.FluidSim(0.1, (0, 0, 0), (1, 1, 1)).add_particles(a),
}
IMAGES: dict[str, Callable[[Any], Any]] = {
    "Image": ts.Image,
    "undistort": lambda a: ts.undistort(a, ts.Lens()),
    "find_chessboard": lambda a: ts.find_chessboard(a, 7, 5),
    "find_target": lambda a: ts.find_target(a, "7x5,1"),
    "align": lambda a: ts.align(a, ts.Pinhole(width=8, height=8, fx=8, fy=8), ts.pitch_lines()),
    "stereo": lambda a: ts.stereo(a, a),
    "VideoFrame": ts.VideoFrame.from_image,
    "dirac_encode": lambda a: ts.dirac_encode([a]),
}


class OnAnotherDevice:
    """What an array of a GPU looks like from here."""

    __cuda_array_interface__ = {"version": 3, "shape": (2, 2, 2), "typestr": "<f4", "data": (0, False)}

    def __dlpack_device__(self) -> tuple[int, int]:
        return (10, 0)  # ROCm

    def __dlpack__(self, **_: Any) -> Any:
        raise AssertionError("nobody may ask for it")


@pytest.mark.parametrize("name", VOLUMES)
@pytest.mark.parametrize(
    "wrong, kind, text",
    [
        (np.zeros((3, 3, 3), complex), TypeError, "complex128"),
        (np.zeros((3, 3, 3), np.float16), TypeError, "float16"),
        (np.zeros((3, 3, 3), "M8[s]"), TypeError, "datetime64"),
        (np.array([[[None]]]), TypeError, "object"),
        (np.array(["a", "b"]), TypeError, "<U1|str"),
        (np.zeros((0, 3, 3)), ValueError, "no elements|empty"),
        (np.float32(3), ValueError, "0 axes, expected 1 to 3"),
        (np.zeros((2, 2, 2, 2)), ValueError, "4 axes, expected 1 to 3"),
        (np.zeros((2, 2, 2), [("a", "f4"), ("b", "f4")]), TypeError, "expected"),
        (OnAnotherDevice(), TypeError, "expected|GPU"),
        ({"a": 1}, TypeError, "dict"),
        (None, TypeError, "NoneType"),
    ],
    ids=["complex", "float16", "datetime", "object", "string", "empty", "zero-dimensional", "four-dimensional", "structured", "another device", "dict", "None"],
)
def test_volumes(name: str, wrong: Any, kind: type, text: str) -> None:
    with pytest.raises(kind, match=text):
        VOLUMES[name](wrong)


@pytest.mark.parametrize("name", POINTS)
@pytest.mark.parametrize(
    "wrong",
    [np.zeros((4, 2)), np.zeros((2, 3, 3)), np.zeros((4, 3), complex), np.array([[None] * 3]), "abc", np.zeros((4, 3), "M8[s]")],
    ids=["two columns", "three axes", "complex", "object", "string", "datetime"],
)
def test_points(name: str, wrong: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="expected|convert"):
        POINTS[name](wrong)


@pytest.mark.parametrize("name", IMAGES)
@pytest.mark.parametrize("wrong", [np.zeros((8, 8)), np.zeros((8, 8, 2), np.uint8), np.zeros((0, 8), np.uint8), np.uint8(3), np.array([[None]])], ids=["float", "two channels", "empty", "scalar", "object"])
def test_images(name: str, wrong: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="expected"):
        IMAGES[name](wrong)


def test_nan_is_found_where_it_is() -> None:
    field = np.full((6, 6, 6), 1, np.float32)
    field[2:4, 2:4, 2:4] = -1
    field[1, 2, 3] = np.nan
    for call in (ts.Tiles, lambda a: ts.LightMatter(index=a), lambda a: ts.Field(np.stack([a, a, a], axis=-1))):
        with pytest.raises(ValueError, match="3, 2, 1|3 2 1"):
            call(field)
    with pytest.raises(ValueError, match="finite|number|nan"):
        ts.Volume(np.zeros((2, 2, 2)), spacing=(1, np.nan, 1))
    points = np.random.default_rng(1).random((100, 3)).astype(np.float32)
    points[7, 1] = np.inf
    with pytest.raises(ValueError, match="7"):
        ts.reconstruct(points, depth=5)


def test_order_stride_and_byte_order_do_not_matter() -> None:
    a = np.random.default_rng(2).integers(0, 200, (6, 7, 8)).astype(np.uint16)
    expected = ts.statistics(a).mean
    for b in (np.asfortranarray(a), a[::-1], a.astype(">u2"), np.lib.stride_tricks.as_strided(a, a.shape, a.strides, writeable=False), np.ascontiguousarray(a.T).T):
        assert ts.statistics(b).mean == expected
    odd = np.frombuffer(b"\0" + a.tobytes(), np.uint8)[1:].view(np.uint16).reshape(a.shape)  # not aligned
    assert ts.statistics(odd).mean == expected
    packed = np.zeros(5, [("a", "u1"), ("b", "<f4")])["b"]  # rows that do not begin at whole elements
    assert ts.statistics(packed).mean == 0


def test_read_only_input_is_taken_and_stays() -> None:
    a = np.arange(27, dtype=np.float32).reshape(3, 3, 3)
    a.flags.writeable = False
    before = a.copy()
    ts.smooth(a, 1.0)
    ts.surface(a, 3.3)
    assert (a == before).all() and not ts.Volume(a).array.flags.writeable


def test_owners_that_are_gone() -> None:
    def volume() -> Any:
        return ts.Volume(np.full((64, 64, 64), 7, np.uint8))

    views = [volume().array for _ in range(4)] + [np.from_dlpack(volume()) for _ in range(2)] + [ts.from_dlpack(np.full((64, 64), 7, np.uint8)).array]
    meshes = [ts.surface(ts.shape("sphere", radius=4, spacing=1)) for _ in range(3)]
    corners = [m.vertices for m in meshes]
    sums = [c.sum() for c in corners]
    del meshes
    gc.collect()
    _ = [np.random.default_rng(k).random(200000) for k in range(20)]
    assert all((v == 7).all() for v in views) and [c.sum() for c in corners] == sums
    s = ts.Segmentation(np.zeros((8, 8, 8), np.uint8), target=0, epsilon=1)
    gc.collect()
    s.sphere((4, 4, 4), 2)
    assert s.mask().array.sum() > 0


def test_a_thread_that_dies() -> None:
    """A thread that ends in an exception during a call leaves no lock behind: the next one works."""
    died: list[BaseException] = []

    def work() -> None:
        try:
            ts.reconstruct(np.random.default_rng(3).normal(size=(500, 3)), depth=6, start_depth=5, progress=lambda f, s: 1 / 0)
        except ZeroDivisionError as death:
            died.append(death)
            raise SystemExit from None

    threads = [threading.Thread(target=work) for _ in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    assert len(died) == 3 and not any(t.is_alive() for t in threads)
    done = threading.Event()

    def after() -> None:
        ts.statistics(np.zeros(3))
        done.set()

    threading.Thread(target=after, daemon=True).start()
    assert done.wait(30), "the context is still locked"


@pytest.mark.parametrize(
    "call, kind, text",
    [
        (lambda: ts.Volume(np.zeros(3), spacing=(1, 2)), ValueError, "spacing: 2 numbers, expected 3"),
        (lambda: ts.Volume(np.zeros(3), spacing=(1, 0, 1)), ValueError, "affine|spacing"),
        (lambda: ts.Volume(np.zeros(3), affine=np.eye(2)), ValueError, r"\(2, 2\), expected \(4, 4\)"),
        (lambda: ts.Volume(np.zeros(3), affine=np.eye(4), spacing=(1, 1, 1)), ValueError, "one way"),
        (lambda: ts.Points(np.zeros((3, 3)), space="xyz"), ValueError, "expected 'ras', 'lps'"),
        (lambda: ts.Mesh(np.zeros((3, 3)), [[0, 1, 2]], space="xyz"), ValueError, "expected 'ras', 'lps'"),
        (lambda: ts.Mesh(np.zeros((3, 3)), [[0, 1, 3]]), ValueError, "vertex 3"),
        (lambda: ts.Mesh(np.zeros((3, 3)), [[0, 1.5, 2]]), ValueError, "whole numbers"),
        (lambda: ts.Mesh(np.zeros((3, 3)), [[0, 1, 2]], normals=np.zeros((2, 3))), ValueError, "normals|2"),
        (lambda: ts.smooth(np.zeros((3, 3, 3)), -1.0), ValueError, "sigma"),
        (lambda: ts.smooth(np.zeros((3, 3, 3)), "wide"), (TypeError, ValueError), "sigma"),  # type: ignore[arg-type]
        (lambda: ts.dwt(np.zeros(8), "daub98"), ValueError, "'daub98', expected one of 'legall53', 'haar'"),
        (lambda: ts.label(np.zeros((3, 3, 3)), 7), ValueError, "7"),
        (lambda: ts.shape("cone", radius=1), ValueError, "'sphere', 'box'"),
        (lambda: ts.shape("sphere", radios=1), TypeError, "unknown option 'radios', expected one of: kind"),
        (lambda: ts.csg(ts.shape("sphere", radius=2), 3), TypeError, "int, expected tessera.Tiles"),  # type: ignore[arg-type]
        (lambda: ts.csg(ts.shape("sphere", radius=2), ts.shape("sphere", radius=2, spacing=0.5)), ValueError, "voxel size along x: 1 and 0.5"),
        (lambda: ts.evolve(ts.shape("sphere", radius=2), []), ValueError, "one of duration and steps"),
        (lambda: ts.evolve(ts.shape("sphere", radius=2), [{"kind": "sped"}], steps=1), ValueError, "'speed', 'speed_field'"),
        (lambda: ts.Tiles(np.zeros((4, 4, 4))), TypeError, "float64, expected float32"),
        (lambda: ts.RigCamera(ts.Camera(), size=(1, 2, 3)), ValueError, r"expected \(width, height\)"),
        (lambda: ts.read("no-such-file.nii"), OSError, "no-such-file"),
        (lambda: ts.read(__file__), (ValueError, NotImplementedError), "test_bad_input.py"),
        (lambda: ts.fuse([np.zeros((4, 4))], [], 0.1), ValueError, "expected as many"),
        (lambda: ts.Context("gpu"), ValueError, "gpu"),
        (lambda: ts.Context("cpu", threads=-1), ValueError, "threads"),
    ],
)
def test_what_was_expected(call: Any, kind: Any, text: str) -> None:
    with pytest.raises(kind, match=text) as caught:
        call()
    assert not re.search(r"\btsr_\w+\(", str(caught.value)), "no function of C in a message"
