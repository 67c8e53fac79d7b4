"""Array primitives, maps in C, class and filter pyramids, planes of files, records, trees in parts and bands of wavelets, beside NumPy."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tessera as ts

HEADERS = Path(__file__).resolve().parents[2] / "include"


# ---- arrays ----


@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.uint32, np.int64, np.float32, np.float64])
def test_reductions(kind: Any) -> None:
    a = np.random.default_rng(1).normal(60, 20, 100_003).astype(kind)
    ends = np.sort(np.random.default_rng(2).integers(0, len(a), 50))
    assert np.isclose(float(ts.reduce(a)), float(a.sum(dtype=np.float64)), rtol=1e-12) and ts.reduce(a, "min") == a.min() and ts.reduce(a, "max") == a.max()
    parts = ts.reduce(a, offsets=ends)
    assert np.allclose(parts.astype(float), [a[b:e].sum(dtype=np.float64) for b, e in zip(ends, ends[1:])], rtol=1e-12)
    with ts.Context("cpu", threads=1):
        assert ts.reduce(a) == ts.reduce(a) and (ts.reduce(a, offsets=ends) == parts).all()


def test_scans_and_segments() -> None:
    rng = np.random.default_rng(3)
    a, heads = rng.integers(0, 200, 70_001).astype(np.uint8), rng.random(70_001) < 0.01
    heads[0] = True
    assert (ts.scan(a) == np.cumsum(a, dtype=np.uint64)).all() and (ts.scan(a, inclusive=False)[1:] == np.cumsum(a, dtype=np.uint64)[:-1]).all()
    ends = ts.segments(heads)
    assert (ends == np.append(np.flatnonzero(heads), len(a))).all()
    begun = ts.scan(a, offsets=ends)
    assert all((begun[b:e] == np.cumsum(a[b:e], dtype=np.uint64)).all() for b, e in zip(ends.astype(int), ends.astype(int)[1:]))


def test_selections_sorts_and_counts() -> None:
    rng = np.random.default_rng(4)
    a = rng.integers(0, 5, 50_000).astype(np.uint16)
    assert (ts.select(a) == np.flatnonzero(a)).all() and (ts.select(a, lower=2, upper=3) == np.flatnonzero((a >= 2) & (a <= 3))).all()
    assert (ts.select(a.astype(np.int32), flags=a == 4) == 4).all() and ts.count(a, upper=1) == (a <= 1).sum()
    keys = rng.integers(0, 1 << 40, 30_000).astype(np.uint64)
    ordered, places = ts.sort(keys, np.arange(len(keys)))
    assert (ordered == np.sort(keys)).all() and (places == np.argsort(keys, kind="stable")).all()
    assert (ts.sort(keys.astype(np.uint32), bits=(0, 8)) & 255 == np.sort(keys.astype(np.uint32) & 255)).all()


def test_gathers_scatters_and_inverses() -> None:
    rng = np.random.default_rng(5)
    values, indices = rng.normal(size=9000).astype(np.float32), rng.integers(-3, 4003, 9000)
    inside = (indices >= 0) & (indices < 4000)
    expected = np.where(inside, np.append(values, 0)[np.where(inside, indices, 0)], 7)
    assert (ts.gather(values[:4000], indices, outside=7) == expected).all()
    last = np.zeros(4000, np.float32)
    last[indices[inside]] = values[inside]
    made, told = ts.scatter(values, indices, 4000, "last")
    assert (made == last).all() and told.outside == (~inside).sum()
    sums, least = np.ones(4000), np.full(4000, 3.0)
    np.add.at(sums, indices[inside], values[inside])
    np.minimum.at(least, indices[inside], values[inside])
    assert np.allclose(ts.scatter(values, indices, np.ones(4000), "sum")[0], sums, atol=1e-5) and (ts.scatter(values, indices, np.full(4000, 3), "min")[0] == least.astype(np.float32)).all()
    starts, sources = ts.invert(indices, 4000)
    for j in (0, 17, 3999):
        assert (sources[int(starts[j]) : int(starts[j + 1])] == np.flatnonzero(indices == j)).all()
    with pytest.raises(ValueError, match="0 and 2|2 and 0"):
        ts.scatter([1, 2, 3], [5, 1, 5], 9)
    with pytest.raises(ValueError, match="expected 3, as many as indices"):
        ts.scatter([1, 2], [5, 1, 5], 9)


def test_joint_histograms_and_matrices() -> None:
    rng = np.random.default_rng(6)
    a, b, w = rng.random(20_000).astype(np.float32), rng.integers(0, 256, 20_000).astype(np.uint8), rng.random(20_000).astype(np.float32)
    for weights in (None, w):
        made = ts.joint_histogram(a, b, bins=(5, 8), range=[(0, 1), (0, 256)], weights=weights)
        assert np.allclose(made, np.histogram2d(a, b, (5, 8), [(0, 1), (0, 256)], weights=weights)[0], atol=0.02)
    dense = np.where(rng.random((30, 40)) < 0.1, rng.normal(size=(30, 40)), 0)
    starts, columns, values = ts.matrix(dense)
    back = np.zeros_like(dense)
    back[np.repeat(np.arange(30), np.diff(starts.astype(int))), columns] = values
    assert (back == dense).all()


BAD: dict[str, Any] = {
    "reduce": ts.reduce,
    "scan": ts.scan,
    "select": ts.select,
    "count": ts.count,
    "sort": ts.sort,
    "gather": lambda a: ts.gather(a, [0]),
    "scatter": lambda a: ts.scatter(a, [0], 1),
    "ClassPyramid": ts.ClassPyramid,
    "otsu": ts.otsu,
    "FilterPyramid": ts.FilterPyramid,
    "MipDense": ts.MipDense,
    "octree_tiled": ts.octree_tiled,
    "surfaces": lambda a: ts.surfaces(a, [1]),
    "surface_labels": ts.surface_labels,
    "matrix": ts.matrix,
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("wrong", [np.zeros((3, 3), complex), np.array([[None]]), np.array(["a"]), np.zeros(3, "M8[s]"), None], ids=["complex", "object", "string", "datetime", "None"])
def test_bad_input(name: str, wrong: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="expected|convert"):
        BAD[name](wrong)


# ---- maps ----

LIFE = """#include "tessera/map.h"
typedef struct rule { int32_t most; } rule;
TSR_MAP(rule, 1, 1, TSR_U8, TSR_U16)
{
    int32_t n = 0;
    for (int k = 0; k < 9; k++)
        if (tsr_map_inside(&in[0], at[0] + k % 3 - 1, at[1] + k / 3 - 1, at[2])) n += TSR_MAP_IN(0, uint8_t, tsr_map_place(&in[0], at[0] + k % 3 - 1, at[1] + k / 3 - 1, at[2]));
    TSR_MAP_OUT(0, uint16_t) = (uint16_t)(n < data->most ? n : data->most);
}
"""
RULE = """#include "tessera/map.h"
typedef struct rule { double threshold; } rule;
TSR_CLASSIFIER(rule, 2)
{
    const double v = tsr_map_value(&in[0], at[0], at[1], at[2]);
    return v > 2 * data->threshold ? 2 : v > data->threshold;
}
"""


def test_maps_of_your_own(tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None or not HEADERS.is_dir():
        pytest.skip("no C compiler, or no headers beside the package")
    for name, text in (("life", LIFE), ("rule", RULE)):
        (tmp_path / f"{name}.c").write_text(text)
        command = [compiler, "-shared", "-fPIC", "-O1", "-ffp-contract=off", "-fvisibility=hidden", f"-I{HEADERS}", str(tmp_path / f"{name}.c"), "-o", str(tmp_path / f"{name}.so")]
        subprocess.run(command, check=True)
    a = np.random.default_rng(7).integers(0, 2, (1, 12, 15)).astype(np.uint8)
    life = ts.Map(tmp_path / "life", np.array([6], np.int32))
    around = sum(np.pad(a[0], 1)[y : y + 12, x : x + 15].astype(int) for y in range(3) for x in range(3))
    made = life(ts.Volume(a, spacing=(1, 2, 3)))
    assert isinstance(made, ts.Volume) and made.dtype == np.uint16 and made.spacing == (1, 2, 3) and (made.array[0] == np.minimum(around, 6)).all()
    assert life.inputs == [np.dtype(np.uint8)] and life.outputs == [np.dtype(np.uint16)] and life.classifier == 0
    with pytest.raises(TypeError, match=r"inputs\[0\].*float64, expected uint8"):
        life(np.zeros((2, 2)))
    with pytest.raises(TypeError, match="2 inputs, expected 1"):
        life(a, a)
    with pytest.raises(ValueError):
        ts.Map(tmp_path / "life.so", b"12")
    rule = ts.Map(tmp_path / "rule.so", np.array([3.0]))
    v = np.random.default_rng(8).integers(0, 9, (4, 5, 6)).astype(np.int16)
    assert rule.classifier == 2 and (ts.HistoPyramid(v, "user", user=rule).voxels() == np.repeat(np.arange(v.size), ((v > 3).astype(int) + (v > 6)).ravel())).all()


# ---- pyramids ----


def test_histograms_of_boxes() -> None:
    rng = np.random.default_rng(9)
    a = rng.integers(0, 256, (70, 90)).astype(np.uint8)
    p = ts.ClassPyramid(a, 16)
    boxes = rng.integers(-5, 95, (40, 4))
    for (x0, y0, x1, y1), counts in zip(boxes, p.count(boxes)):
        part = a[max(y0, 0) : max(y1, 0), max(x0, 0) : max(x1, 0)]
        assert (counts == np.histogram(part, 16, (0, 256))[0]).all()
    whole = np.bincount(a.ravel(), minlength=256)
    assert (ts.ClassPyramid(a).histogram() == whole).all() and (p.level(p.top)[0, 0] == p.histogram()).all()
    assert (p.level(3)[2, 3] == np.histogram(a[16:24, 24:32], 16, (0, 256))[0]).all() and p.level(4).sum() == a.size
    assert ts.percentile(whole, 0.25) == np.searchsorted(np.cumsum(whole), a.size / 4)
    bits = ts.ClassPyramid(a, 8, bits=True).histogram()
    assert bits.tolist() == [int((a >> k & 1).sum()) for k in range(8)]
    two = np.r_[rng.normal(60, 8, 4000), rng.normal(180, 8, 4000)].clip(0, 255).astype(np.uint8)
    assert 80 < ts.otsu(np.bincount(two, minlength=256)) < 160


def test_filter_pyramids_keep_thin_things() -> None:
    v = np.zeros((16, 16, 16), np.uint8)
    v[6:10, 6:10] = 200
    v[8, 3] = 50
    for filter in ("erosion", "opening", "reconstruction"):
        p = ts.FilterPyramid(v, filter=filter, levels=2)
        assert (p.synthesise().array == v).all() and len(p.levels) == 3 and len(p.details) == 2 and p.details[0].dtype == np.int32
    assert (ts.FilterPyramid(v, filter="erosion").details[0].array >= 0).all()


def test_groups_streams_and_rays_draw_the_same(tmp_path: Path) -> None:
    v = ts.Volume(np.random.default_rng(10).integers(0, 250, (20, 30, 40)).astype(np.uint8), spacing=(1, 1, 2))
    pyramid = ts.Mip(v, levels=3)
    pyramid.write(tmp_path / "a.mip")
    others = [ts.MipStream(tmp_path / "a.mip", memory_limit=1 << 20), ts.MipGroup(pyramid, [ts.Context("cpu", 1) for _ in range(3)])]
    for view in (dict(azimuth=0.0), dict(azimuth=33.0, elevation=20.0)):
        wanted = pyramid.values(size=(60, 50), mode="exact", **view)
        assert wanted.max() > 200
        for other in others:
            assert (other.values(size=(60, 50), mode="exact", **view) == wanted).all()
        assert (ts.MipDense(v).values(size=(60, 50), **view) == wanted).all()
    assert ts.mip_errors(pyramid, ts.MipDense(v), azimuth=33, size=(60, 50), fraction=0.05).relative > 0
    with pytest.raises(ts.UnsupportedError):
        pyramid.write(tmp_path / "a.mip.gz")
        ts.MipStream(tmp_path / "a.mip.gz")


# ---- files ----


def test_planes_and_their_surface(tmp_path: Path) -> None:
    z, y, x = np.mgrid[:30, :31, :32]
    v = (1000 - 50 * np.sqrt((x - 15.5) ** 2 + (y - 15) ** 2 + (z - 14) ** 2)).astype(np.int16)
    ts.write(ts.Volume(v, spacing=(0.5, 1, 2)), tmp_path / "a.nrrd", compression=6)
    planes = ts.Planes(tmp_path / "a.nrrd", memory_limit=1 << 20)
    assert planes.shape == v.shape and planes.dtype == v.dtype and (planes[3:7] == v[3:7]).all() and (planes[-1] == v[-1]).all() and planes[9:2].shape == (0, 31, 32)
    assert np.isclose(planes.statistics().mean, v.mean()) and (np.stack(list(planes)) == v).all()
    mesh, whole = planes.surface(500, planes=8), ts.surface(ts.read(tmp_path / "a.nrrd"), 500)
    assert (mesh.triangles == whole.triangles).all() and (mesh.vertices == whole.vertices).all()
    cloud, listed = planes.points("crossings", lower=500, normals=True, planes=4), ts.HistoPyramid(ts.read(tmp_path / "a.nrrd"), "crossings", lower=500).points(normals=True)
    assert (cloud.positions == listed.positions).all() and (cloud.normals == listed.normals).all() and len(cloud.positions) == len(mesh.vertices)
    with pytest.raises(ts.Error, match="expected ROW"):
        planes.points("crossings", order="morton")
    with pytest.raises(IndexError, match="plane 30, expected 0 to 29"):
        planes[30]
    with pytest.raises(ts.FileError, match="none.nrrd"):
        ts.Planes(tmp_path / "none.nrrd")


def test_several_grids_of_a_file(tmp_path: Path) -> None:
    ball = ts.shape("sphere", radius=4, spacing=1)
    ts.add_grid(ball, tmp_path / "a.nvdb", "ball")
    ts.add_grid(np.ones((3, 4, 5), np.float32), tmp_path / "a.nvdb", "box")
    assert ts.read(tmp_path / "a.nvdb", grid="ball", what="tiles").describe().count == ball.describe().count
    with pytest.raises(ts.FormatError, match="has a grid named 'box' already"):
        ts.add_grid(np.ones((3, 4, 5), np.float32), tmp_path / "a.nvdb", "box")


def test_compressed_parts(tmp_path: Path) -> None:
    v = np.random.default_rng(11).integers(0, 20, (40, 50, 60)).astype(np.uint8)
    ts.compress(v, tmp_path / "a.tsc", coder="rans", brick=(16, 16, 16))
    part, told = ts.decompress(tmp_path / "a.tsc", box=((5, 6, 7), (30, 20, 10)))
    assert (part.array == v[7:10, 6:20, 5:30]).all() and told.pieces < ts.compressed_info(tmp_path / "a.tsc").pieces
    assert ts.Compressed(tmp_path / "a.tsc").decode(reduce=1).shape == (20, 25, 30)
    ts.decompress_file(tmp_path / "a.tsc", tmp_path / "a.npy")
    assert (np.load(tmp_path / "a.npy") == v).all()


# ---- surfaces ----


def test_records_follow_a_level_set() -> None:
    ball = ts.shape("sphere", radius=16, spacing=0.5)
    records, tracker, surface = ts.Records(ball), ts.RecordsTracker(), ts.SurfaceTracker()
    assert tracker.update(ball).records == len(records) == len(records.cases) and records.values.shape == (len(records), 8)
    inside = (records.values < 128).astype(int) @ (1 << np.arange(8))
    assert (inside == records.cases).all()
    surface.update(ball)
    cut = ball.copy()
    ts.evolve(cut, [{"kind": "speed", "value": -1.0, "centre": (16, 0, 0), "sigma": 1.5}], duration=1.0)
    told = tracker.update(cut)
    assert 0 < told.changed < told.tiles and told.records == len(ts.Records(cut))
    mesh, changes = surface.update(cut)
    whole = ts.surface(cut)
    assert changes.triangles == len(whole.triangles) and changes.renewed > 0 and surface.update(cut)[1].renewed == 0
    corners = mesh.vertices[mesh.triangles[(mesh.triangles != 0).any(axis=1)]].reshape(-1, 9)
    assert np.array_equal(np.unique(corners, axis=0), np.unique(whole.vertices[whole.triangles].reshape(-1, 9), axis=0))
    camera = ts.Camera.look_at((60, 10, 16), (0, 0, 0), fov=40)
    assert (tracker.render(camera, (64, 48)).array != records.render(camera, (64, 48)).array).any()
    with pytest.raises(ValueError, match="expected two corners"):
        tracker.update(cut, ((1, 2), (3, 4)))


def test_labels_and_several_values() -> None:
    v = np.zeros((12, 12, 12), np.int32)
    v[2:5, 2:5, 2:5], v[7:10, 6:11, 7:10] = -3, 70000
    mesh = ts.surface_labels(v)
    assert [p[0] for p in mesh.parts] == [-3, 70000] and mesh.measure().components == 2
    assert (ts.surface_labels(v, [-3]).vertices.max(axis=0) <= 4.5).all()
    with pytest.raises(ValueError, match="labels 5, expected such as the volume has"):
        ts.surface_labels(v, [5])
    joined = ts.join([mesh, mesh])
    assert len(joined.triangles) == 2 * len(mesh.triangles) and len(ts.unindexed(mesh).vertices) == 3 * len(mesh.triangles)


# ---- trees ----


def test_trees_in_parts_and_of_meshes() -> None:
    rng = np.random.default_rng(12)
    v = np.kron(rng.integers(0, 3, (5, 6, 7)), np.ones((4, 4, 4))).astype(np.uint8)
    tree = ts.octree(v)
    assert (ts.octree_tiled(v, 8)[0].leaves() == tree.leaves()).all() and (ts.RegionTree.from_keys(tree.leaves(), v.shape).leaves() == tree.leaves()).all()
    runs = tree.runs(tree.means(v))
    assert runs["length"].sum() == v.size and all((v.ravel()[r["start"] : r["start"] + r["length"]] == v.ravel()[r["start"]]).all() for r in runs)
    batches = tree.batches(tree.means(v), 2000)
    assert (np.diff(batches["saliency"]) <= 0).all() and batches["work"][-1] <= 2000
    cubes, beside = tree.cubes(), tree.neighbours()
    for k in rng.integers(0, len(cubes), 30):
        for side in range(6):
            if (n := beside[k, side]) >= 0:
                gap = cubes["corner"][k, side // 2] - cubes["corner"][n, side // 2]
                assert gap == (cubes["side"][n] if side % 2 == 0 else -cubes["side"][k])
    spans, found = tree.rays([(-3, 5.5, 9.5)], [(2, 0, 0)], room=32)
    assert (spans["leaf"][0, : found[0]] == tree.find([(int(2 * t - 3), 5, 9) for t in spans["enter"][0, : found[0]] + 1e-6])["leaf"]).all()
    assert np.isclose(spans["leave"][0, found[0] - 1], (v.shape[2] + 3) / 2)
    half = ts.octree(np.pad(np.ones((8, 8, 8), np.uint8), ((0, 8), (0, 8), (0, 8))), rule="classes", classifier="nonzero")
    gaps, count = half.rays([(-1, 1, 1)], [(1, 0, 0)], gaps=True)
    assert count[0] == 1 and (gaps["enter"][0, 0], gaps["leave"][0, 0]) == (9, 17)
    big = ts.octree(np.pad(np.ones((1, 1, 1), np.uint8), ((31, 32),) * 3))  # a voxel beside halves of the volume
    graded = big.grade().cubes()
    assert len(graded) > len(big.leaves()) and big.filter(5, 5).cubes()["side"].tolist() == [32] * 7
    lower, upper = graded["corner"], graded["corner"] + graded["side"][:, None]
    for k in range(len(graded)):
        touch = ((lower[k] < upper) & (lower < upper[k])).sum(axis=1) == 2
        touch &= ((lower[k] == upper) | (lower == upper[k])).any(axis=1)
        assert (np.abs(np.log2(graded["side"][touch] / graded["side"][k])) <= 1).all()


# ---- wavelets ----


def test_bands_and_what_is_kept() -> None:
    x = np.random.default_rng(13).normal(size=(16, 20, 24)).astype(np.float32)
    c = ts.dwt(x, "haar", levels=2, normalise=True)
    bands = ts.wavelet_bands(c)
    assert len(bands) == 15 and sum(b.array.size for b in bands) == x.size and np.isclose(sum(b.energy for b in bands), (x.astype(float) ** 2).sum(), rtol=1e-4)
    low = x.reshape(8, 2, 10, 2, 12, 2).sum(axis=(1, 3, 5)) / np.sqrt(8)
    assert np.allclose(bands[0].array, low.reshape(4, 2, 5, 2, 6, 2).sum(axis=(1, 3, 5)) / np.sqrt(8), atol=1e-5)
    bands[-1].array[...] = 0
    assert not c.array[8:, 10:, 12:].any()
    kept, told = ts.wavelet_keep(c, 5)
    assert told.kept == round(0.05 * x.size) == int((kept.array != 0).sum()) and np.abs(kept.array[kept.array != 0]).min() >= np.abs(c.array[kept.array == 0]).max()


def test_phantoms_say_what_is_true() -> None:
    for one in ts.phantoms():
        image, truth = ts.phantom(one.name, (20, 18, 16), truth=True, noise=-1)
        assert image.shape == truth.shape == (16, 18, 20)
        if one.kind != "image":
            assert ((image.array < 0) == (truth.array > 0)).mean() > 0.999
    with pytest.raises(ts.ArgumentError, match="leak"):
        ts.phantom("nothing")
    assert "points-torus" in ts.sampled_shapes() and len(ts.sampled("points-sphere", 100)) == 100


# ---- level sets, meshes, pictures ----


def test_parts_and_moves_of_level_sets() -> None:
    ball = ts.shape("sphere", radius=8, spacing=0.5)
    volume = ball.measure().volume
    for other, factor in ((ball.finer(), 2), (ball.coarser(), 0.5)):
        assert np.isclose(other.spacing[0] * factor, 0.5) and abs(other.measure().volume / volume - 1) < 0.02
    assert ball.shifted((3, -2, 1)).shifted((-3, 2, -1)) == ball and (ball.to("cpu").parts()[1] == ball.parts()[1]).all()
    places, values = ball.parts()
    (x, y, z), edge = (places[7] * values.shape[1]).tolist(), values.shape[1]
    assert (ball.box((x, y, z), (edge,) * 3) == values[7]).all()
    inner, outer = ball.divided(kind="box", box=((0, -20, -20), (20, 20, 20)))
    assert abs(inner.measure().volume / volume - 0.5) < 0.06 and abs((inner | outer).measure().volume / volume - 1) < 0.12
    grown = ts.offset(ball, 6.0)
    assert abs((grown.measure().volume * 0.75 / np.pi) ** (1 / 3) - 14) < 0.02
    between = ball.interpolated(ts.shape("sphere", radius=8.5, spacing=0.5), 0.5)
    assert abs((between.measure().volume * 0.75 / np.pi) ** (1 / 3) - 8.25) < 0.02
    ball.set_origin((1, 2, 3))
    ball.compact()
    ball.reinitialise(2)
    assert ball.origin == (1, 2, 3) and abs(ball.measure().volume / volume - 1) < 0.01 and ball.settle() >= 0


def test_copies_of_meshes() -> None:
    mesh = ts.Mesh([[1, 2, 3], [4, 5, 6], [7, 8, 10], [1, 2, 3]], [[0, 1, 2], [0, 3, 1]], space="ras")
    assert mesh.in_space("lps").vertices[0].tolist() == [-1, -2, 3] and mesh.vertices[0, 0] == 1
    assert mesh.counted_from((1, 1, 1)).vertices[0].tolist() == [0, 1, 2] and mesh.counted_from((1, 1, 1)).origin == (1, 1, 1)
    assert len(mesh.points()) == 4 and len(mesh.without_slivers().triangles) == 1


def test_pictures_and_transfer_functions(tmp_path: Path) -> None:
    picture = ts.picture("picture-left", width=64, height=48)
    jpeg, coarse = picture.jpeg(95), picture.jpeg(20)
    assert jpeg[:2] == b"\xff\xd8" and jpeg[-2:] == b"\xff\xd9" and len(coarse) < len(jpeg) < picture.array.size
    v = np.zeros((16, 16, 16), np.float32)
    v[4:12, 4:12, 4:12] = 100
    colours = ts.Transfer.make("grey", (0, 100))
    colours.points = 0
    colours.probe(v, [(8, 8, 8), (7, 8, 8)], alpha=0.8, colour=(1, 0, 0))
    colours.write(tmp_path / "a.transfer")
    back = ts.Transfer.read(tmp_path / "a.transfer")
    assert colours(100)[0] > 0.5 and colours(0)[0] == 0 and back(100) == colours(100)
    shot = ts.render(v, transfer=back, size=(64, 48), transparent=True).array
    assert (shot[..., 0].astype(int) - shot[..., 1]).max() > 50
    with ts.Context("cpu", threads=1) as context:
        ts.surface(ts.shape("sphere", radius=3))
        assert context.memory.peak_bytes > 0 and context.describe().processors >= 1


def test_one_context_inside_itself_and_in_threads() -> None:
    import threading

    one, outer, seen = ts.Context("cpu", threads=1), ts.context(), list[bool]()

    def work() -> None:
        with one, one:
            ts.reduce([1, 2, 3])
            seen.append(ts.context() is one)

    with one:
        with one:
            assert ts.context() is one
        threads = [threading.Thread(target=work) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert ts.context() is one and len(ts.reconstruct(ts.sampled("points-sphere", 3000, seed=1), depth=6, start_depth=5).parts()[0]) > 100
    assert ts.context() is outer and seen == [True] * 4


def test_fitted_surfaces_are_nearer_to_the_truth() -> None:
    for name, noise, share in (("points-torus", 0.0, 0.3), ("points-torus", 0.01, 0.5), ("points-box", 0.0, 0.6)):  # edges are rounded all the same
        cloud, errors = ts.sampled(name, 15000, seed=2, noise=noise), []
        for fit in (0, 2):
            mesh = ts.surface(ts.reconstruct(cloud, depth=6, start_depth=5, fit=fit))
            errors.append(float(np.sqrt(np.mean(ts.shape_distance(name, mesh.vertices[::7]) ** 2))))
            assert mesh.measure().boundary_edges == 0 and mesh.measure().components == 1
        assert errors[1] < share * errors[0], (name, noise, errors)
