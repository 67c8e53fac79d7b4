"""Pyramids, comparisons, features, palettes, sculpting and films of depth, beside NumPy and formulas."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tessera as ts

# ---- pyramids ----


def test_pyramid_lists_what_numpy_finds() -> None:
    rng = np.random.default_rng(3)
    v = rng.integers(0, 9, (17, 23, 31)).astype(np.int16)
    rules: list[tuple[dict[str, Any], Any]] = [
        (dict(classifier="nonzero"), v != 0),
        (dict(classifier="range", lower=3, upper=5), (v >= 3) & (v < 5)),
        (dict(classifier="label", lower=7), v == 7),
        (dict(classifier="magnitude", lower=6), np.abs(v) > 6),
    ]
    for rule, where in rules:
        p, flat = ts.HistoPyramid(v, **rule), np.flatnonzero(where)
        assert len(p) == flat.size and np.array_equal(p.voxels(), flat.astype(np.uint64))
        assert np.array_equal(p.voxels(10, 5), flat[10:15].astype(np.uint64)) and p.voxels(len(p)).size == 0
        keys = rng.integers(0, len(p), 50)
        chosen = p.select(keys)
        assert np.array_equal(chosen["voxel"], flat[keys]) and not chosen["copy"].any()
        assert np.array_equal(p.rank(flat[keys]), keys.astype(np.uint64))
        z, y, x = np.nonzero(where)
        assert np.array_equal(p.positions(), np.stack([x, y, z], 1))
    counts = ts.histopyramid((v % 3).astype(np.uint8), "counts")
    assert len(counts) == int((v % 3).sum()) and np.array_equal(counts.voxels(), np.repeat(np.arange(v.size), (v % 3).ravel()).astype(np.uint64))
    assert ts.HistoPyramid(v).select([10**9])["voxel"][0] == -1
    with pytest.raises(ValueError, match="first 99999999, expected 0 to"):
        counts.voxels(99999999)
    with pytest.raises(ValueError, match="expected one of .*'nonzero'"):
        ts.HistoPyramid(v, "odd")


def test_points_of_a_pyramid_lie_on_the_sphere() -> None:
    x = np.arange(24) - 11.3
    r = np.sqrt(x[:, None, None] ** 2 + x[:, None] ** 2 + x**2).astype(np.float32)
    cloud = ts.HistoPyramid(ts.Volume(r, spacing=(0.5,) * 3, origin=(-11.3 * 0.5,) * 3), "crossings", lower=8).points(normals=True)
    radius = np.linalg.norm(cloud.positions, axis=1)
    assert len(cloud) > 500 and np.abs(radius - 4).max() < 0.02  # a chord's sagitta: h^2 / 8 r
    assert cloud.normals is not None and np.einsum("nk,nk->n", cloud.normals, cloud.positions / radius[:, None]).min() > 0.99


def test_levels_are_means_of_blocks() -> None:
    v = np.random.default_rng(4).normal(size=(5, 6, 9)).astype(np.float32)
    mask = (v > -0.5).astype(np.uint8)
    found, kept = ts.levels(v), ts.levels(v, "max", mask)
    assert [f.shape for f in found] == [(3, 3, 5), (2, 2, 3), (1, 1, 2), (1, 1, 1)]
    for level, volume in enumerate(found, 1):
        s = 2**level
        for z, y, x in np.ndindex(*volume.shape):
            block = (slice(z * s, z * s + s), slice(y * s, y * s + s), slice(x * s, x * s + s))
            assert np.isclose(volume.array[z, y, x], v[block].mean(dtype=np.float64))
            some = v[block][mask[block] != 0]
            assert kept[level - 1].array[z, y, x] == (some.max() if some.size else -np.inf)
    assert found[0].spacing == (2.0, 2.0, 2.0) and found[0].origin == (0.5, 0.5, 0.5)


# ---- comparisons ----


def test_compare() -> None:
    rng = np.random.default_rng(5)
    a, b = rng.random((9, 10, 11)) < 0.4, rng.random((9, 10, 11)) < 0.4
    masks = ts.compare(a, b)
    assert np.isclose(masks.dice, 2 * (a & b).sum() / (a.sum() + b.sum())) and np.isclose(masks.jaccard, (a & b).sum() / (a | b).sum())

    def rim(m: Any) -> Any:
        p = np.pad(m, 1)
        inner = p[2:, 1:-1, 1:-1] & p[:-2, 1:-1, 1:-1] & p[1:-1, 2:, 1:-1] & p[1:-1, :-2, 1:-1] & p[1:-1, 1:-1, 2:] & p[1:-1, 1:-1, :-2]
        return np.argwhere(m & ~inner)

    apart = np.linalg.norm(rim(a)[:, None] - rim(b)[None], axis=2)
    assert np.isclose(masks.distances.maximum, max(apart.min(0).max(), apart.min(1).max()))
    v = rng.normal(size=(4, 5, 6))
    w = v + rng.normal(size=v.shape)
    report = ts.compare(v, w)
    assert np.isclose(report.maximum, np.abs(v - w).max()) and np.isclose(report.rms, np.sqrt(((v - w) ** 2).mean())) and report.different == v.size
    labels = ts.compare(np.array([[1, 1, 2, 2, 3]]), np.array([[1, 2, 2, 2, 0]]), "labels", skip_distances=True)
    assert sorted(labels) == [1, 2, 3] and np.isclose(labels[1].dice, 2 / 3) and np.isclose(labels[2].dice, 0.8) and labels[3].dice == 0
    square = ([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 3]])
    above = ([[0, 0, 2], [1, 0, 2], [1, 1, 2], [0, 1, 2]], [[0, 1, 2], [0, 2, 3]])
    assert ts.compare(square, above).maximum == 2 == ts.compare(ts.Mesh(*square), ts.Mesh(*above)).mean
    with pytest.raises(ValueError, match="expected 'masks', 'labels', 'volumes' or 'meshes'"):
        ts.compare(a, b, "mask")
    with pytest.raises(ValueError, match="9 x 10 x 11|11 x 10 x 9"):
        ts.compare(a, b[1:])


# ---- pictures ----


def test_features() -> None:
    film = np.zeros((3, 40, 60, 3), np.uint8)
    for k in range(3):
        film[k, 5 + k : 15, 10 : 20 + k] = (255, 20, 10)
        film[k, 30:33, 40:44] = (10, 250, 20)
    found = ts.features(film, "distance=#ff140a:10", "box=#00f000:#20ff30", keep=2)
    assert found.shape == (3, 2, 2) and not found["count"][:, :, 1].any()
    for k in range(3):
        one = found[k, 0, 0]
        assert (one["count"], one["lower"].tolist(), one["upper"].tolist()) == ((10 - k) * (10 + k), [10, 5 + k], [20 + k, 15])
        assert np.allclose(one["centroid"], [10 + (9 + k) / 2, 5 + k + (9 - k) / 2])
        assert found[k, 1, 0]["count"] == 12
    moved = ts.features(film[1], "motion=25", previous=film[0], connectivity=8)
    assert moved[0, 0]["count"] == int((np.abs(film[1].astype(int) - film[0]).max(2) >= 25).sum())
    with pytest.raises(ValueError, match="no filter"):
        ts.features(film[0])
    with pytest.raises(ValueError, match="colour=red"):
        ts.features(film[0], "colour=red")
    with pytest.raises(TypeError, match="float64, expected uint8"):
        ts.features(film[0] / 255, "luminance=1:2")
    with pytest.raises(ValueError, match="previous of shape"):
        ts.features(film[0], "motion=25", previous=film[0, 1:])


def test_palette_errs_less_with_more_colours() -> None:
    y, x = np.mgrid[:64, :96]
    a = np.stack([2 * x, 3 * y, x + y], 2).astype(np.uint8)
    errors = []
    for count in (2, 8, 32, 128, 512):
        colours, indices = ts.palette(a, count)
        assert len(colours) <= count and indices.shape == a.shape[:2] and indices.max() < len(colours)
        errors.append(float(((colours[indices].astype(float) - a) ** 2).mean()))
    assert errors == sorted(errors, reverse=True) and errors[-1] < 12 and errors[0] > 800


# ---- level sets ----


def test_particles() -> None:
    one = ts.particles([[1.0, 2.0, 3.0]], 2.0, voxel=0.2, smooth=-1)
    assert np.isclose(one.measure().volume, 4 / 3 * np.pi * 8, rtol=0.01)
    cloud = ts.Points(np.array([[0, 0, 0], [10, 0, 0]]), radii=[1.0, 2.0])
    assert ts.particles(cloud, smooth=-1).measure().components == 2
    with pytest.raises(ts.ArgumentError, match="radius"):
        ts.particles([[0.0, 0, 0]])


def test_editor() -> None:
    editor = ts.Editor(spacing=0.5)
    editor.shape("part", "box", half=(8, 6, 4))
    before = editor["part"]
    editor.shape("hole", "cylinder", radius=3, half=(3, 3, 8))
    editor.combine("part", "hole", "difference")
    measures = editor["part"].measure()
    assert np.isclose(measures.volume, 16 * 12 * 8 - np.pi * 9 * 8, rtol=0.01)
    editor.cut("part", "corner", {"box": ((5, 3, -9), (9, 9, 9))})
    assert editor.objects == ["part", "hole", "corner"] and "corner" in editor and np.isclose(editor["corner"].measure().volume, 3 * 3 * 8, rtol=0.35)
    editor.undo()
    assert editor.objects == ["part", "hole"] and editor["part"].measure() == measures
    editor.undo()
    assert editor["part"] == before and editor.history().redo_steps == 2
    editor.redo()
    assert editor["part"].measure() == measures
    editor.brush("part", (8, 0, 0), sigma=1.5, speed=1, time=1)
    assert editor["part"].measure().volume > measures.volume + 1
    editor.keep("part", {"kind": "half", "centre": (0, 0, 0), "direction": (1, 0, 0)})
    assert editor["part"].sample([(4.0, 5, 0)])[0] > 0 > editor["part"].sample([(-4.0, 5, 0)])[0]
    editor.run("sphere ball 0 0 20 3\n")
    assert np.isclose(editor["ball"].measure().volume, 36 * np.pi, rtol=0.02)
    editor.attract("ball", [[0, 0, 24]], radius=3, time=2)
    assert editor["ball"].measure().volume > 36 * np.pi + 0.5
    with pytest.raises(KeyError, match="'bal', there are part, hole, ball"):
        editor["bal"]
    with pytest.raises(ts.StateError):
        editor.add("ball", before)
    with pytest.raises(TypeError, match="unknown option 'kin'"):
        editor.delete("part", {"kin": "ball"})
    with pytest.raises(ts.Error, match="script:1"):
        editor.run("dance")
    stopped = []

    def stop(fraction: float, stage: str) -> bool:
        stopped.append(fraction)
        return False

    with pytest.raises(ts.Cancelled):
        editor.smooth("part", 50, progress=stop)
    assert stopped


# ---- films of depth ----


def test_depth_film(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    y, x = np.mgrid[:48, :64]
    frames = [(1000 + 5 * x + 3 * y + 10 * t + rng.integers(-3, 4, x.shape)).astype(np.uint16) * (rng.random(x.shape) < 0.9) for t in range(5)]
    frames = [f.astype(np.uint16) for f in frames]
    ts.write_depth_film(tmp_path / "a.tdf", frames, rate=(30000, 1001))
    film = ts.DepthFilm(tmp_path / "a.tdf")
    assert len(film) == 5 and film.info().rate == [30000, 1001] and all(np.array_equal(a, b) for a, b in zip(film, frames)) and np.array_equal(film[-1], frames[4])
    ts.write_depth_film(tmp_path / "b.tdf", np.stack(frames), largest_error=0.004)
    for a, b in zip(ts.DepthFilm(tmp_path / "b.tdf"), frames):
        assert np.array_equal(a == 0, b == 0) and np.abs(a.astype(int) - b).max() <= 4
    assert (tmp_path / "b.tdf").stat().st_size < (tmp_path / "a.tdf").stat().st_size
    with pytest.raises(IndexError, match="frame 5 of 5"):
        film[5]
    with pytest.raises(ValueError, match="frame 1 of shape"):
        ts.write_depth_film(tmp_path / "c.tdf", [frames[0], frames[1][1:]])
    with pytest.raises(TypeError, match="float64"):
        ts.write_depth_film(tmp_path / "c.tdf", [frames[0] / 1000])
    with pytest.raises(ValueError, match="no frames"):
        ts.write_depth_film(tmp_path / "c.tdf", [])
    assert not (tmp_path / "c.tdf").exists()
    (tmp_path / "cut.tdf").write_bytes((tmp_path / "a.tdf").read_bytes()[:-2000])
    with pytest.raises(ts.FormatError):
        ts.DepthFilm(tmp_path / "cut.tdf")
    assert ts.DepthFilm(tmp_path / "cut.tdf", partial=True).info().damaged > 0


def test_pictures_that_are_copied_live_during_the_call() -> None:
    """Pixels of every second row are copied for the library; the copy must outlive the call."""
    big = np.zeros((128, 64, 3), np.uint8)
    big[::2] = 200
    for _ in range(20):
        colours, indices = ts.palette(big[::2], 4)
        assert colours.tolist() == [[200, 200, 200]] and not indices.any()
    struct = ts.Image(big[::2])._struct()
    np.zeros((64, 64, 3), np.uint8)  # takes freed memory, if there is any
    assert all(struct.pixels[k] == 200 for k in range(64 * 64 * 3))
