"""Filters of volumes, pictures in two dimensions, unstructured grids, origins and channels, beside NumPy and SciPy."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tessera as ts

RNG = np.random.default_rng(7)
GREY = RNG.integers(0, 200, (7, 9, 11)).astype(np.uint16)


def test_cut_and_turned() -> None:
    part = ts.crop(ts.Volume(GREY, spacing=(1, 2, 3), origin=(5, 5, 5)), (2, 1, 3), (10, 9, 5))
    assert np.array_equal(part.array, GREY[3:5, 1:9, 2:10]) and part.origin == (7.0, 7.0, 14.0)
    for border, mode in (("replicate", "edge"), ("mirror", "reflect"), ("constant", "constant")):
        expected = np.pad(GREY, ((1, 0), (2, 3), (0, 2)), mode=mode, **({"constant_values": 9} if mode == "constant" else {}))  # type: ignore[call-overload]
        assert np.array_equal(ts.pad(GREY, (0, 2, 1), (2, 3, 0), border, 9).array, expected), border
    turned = ts.reorient(ts.Volume(GREY, spacing=(1, 2, 3), space="ras"), "SLP")
    assert np.array_equal(turned.array, GREY.transpose(1, 2, 0)[::-1, ::-1])
    with pytest.raises(ts.UnsupportedError):
        ts.reorient(GREY)
    with pytest.raises(ValueError, match="end|10"):
        ts.crop(GREY, (0, 0, 0), (99, 1, 1))
    with pytest.raises(ValueError, match="begin: 2 numbers, expected 3"):
        ts.crop(GREY, (0, 0), (1, 1, 1))


def test_resampled_as_scipy_does() -> None:
    ndimage = pytest.importorskip("scipy.ndimage")
    a = ts.Volume(GREY.astype(np.float32), spacing=(1, 1, 1))
    grid = ts.Volume(np.zeros((5, 6, 7), np.uint8), spacing=(1.3, 1.1, 0.9), origin=(0.4, 0.7, 0.2))
    z, y, x = np.mgrid[:5, :6, :7].astype(float)
    places = [z * 0.9 + 0.2, y * 1.1 + 0.7, x * 1.3 + 0.4]
    made = ts.resample(a, like=grid)
    assert made.spacing == grid.spacing and np.allclose(made.array, ndimage.map_coordinates(a.array.astype(float), places, order=1), atol=1e-3)
    assert np.array_equal(ts.resample(a, like=grid, interpolation="nearest").array, a.array[tuple(np.floor(np.array(p) + 0.5).astype(int) for p in places)])
    assert ts.resample(a, spacing=0.5).shape == (14, 18, 22)
    with pytest.raises(ValueError, match="one of spacing, size and like"):
        ts.resample(a)


def test_masks_and_measures() -> None:
    ndimage = pytest.importorskip("scipy.ndimage")
    mask = ts.threshold(GREY, 50, 120).array
    assert np.array_equal(mask, (GREY >= 50) & (GREY <= 120))
    for connectivity, structure in ((6, None), (26, np.ones((3, 3, 3)))):
        pieces, count = ndimage.label(GREY > 120, structure)
        sizes = np.bincount(pieces.ravel())[1:]
        part, voxels = ts.largest(GREY > 120, connectivity)
        assert voxels == sizes.max() == part.array.sum() and np.array_equal(part.array, pieces == 1 + sizes.argmax())
        seed = tuple(int(v) for v in np.argwhere(GREY > 120)[5])
        assert np.array_equal(ts.flood(GREY, [seed[::-1]], 121, 999, connectivity).array, pieces == pieces[seed])
    counts, edges = ts.histogram(GREY, 16, (0, 200))
    expected = np.histogram(GREY, 16, (0, 200))
    assert np.array_equal(counts, expected[0]) and np.allclose(edges, expected[1])
    assert np.array_equal(ts.histogram(GREY, 7)[0], np.histogram(GREY, 7)[0])
    assert ts.histogram(np.full((2, 2, 2), np.nan))[0].sum() == 0
    names = ts.labels(ts.Volume((GREY % 5).astype(np.int32), spacing=(1, 2, 3)))
    assert [(n.value, n.voxels, n.volume) for n in names] == [(k, int((GREY % 5 == k).sum()), 6.0 * int((GREY % 5 == k).sum())) for k in range(1, 5)]
    assert ts.labels(np.array([0, 2**64 - 1], np.uint64))[0].value == 2**64 - 1 and ts.labels(np.zeros(4, np.uint8)) == []
    with pytest.raises(ts.UnsupportedError):
        ts.labels(GREY, most=10)
    with pytest.raises(ts.StateError):
        ts.largest(np.zeros((3, 3, 3)))
    z, y, x = np.mgrid[:6, :6, :6].astype(np.float32)
    assert np.allclose(ts.laplacian(ts.Volume(x * x + 2 * y * y - z * z, spacing=(2, 1, 1))).array[1:-1, 1:-1, 1:-1], 2 / 4 + 4 - 2)
    with pytest.raises(ValueError, match="'replicate', 'mirror', 'constant'"):
        ts.pad(GREY, (1, 1, 1), (1, 1, 1), "wrap")


def test_components_by_size_are_those_of_thresholds() -> None:
    """What stays of every level set is its components of so many voxels and more."""
    ndimage = pytest.importorskip("scipy.ndimage")
    a = (GREY[:4] // 20).astype(np.uint8)
    tree = ts.MaxTree(a, 6)
    kept = tree.filter("volume", 12).array
    for t in range(1, int(a.max()) + 1):
        pieces, count = ndimage.label(a >= t)
        big = np.isin(pieces, 1 + np.flatnonzero(np.bincount(pieces.ravel(), minlength=count + 1)[1:] >= 12))
        assert np.array_equal(kept >= t, big), t
    nodes = tree.describe().nodes
    assert np.array_equal(tree.values[tree.voxels], a) and (tree.parents[1:] < np.arange(1, nodes)).all() and tree.attributes("volume")[0] == a.size
    with pytest.raises(ts.ArgumentError):
        ts.MaxTree(a.astype(np.float32))
    with pytest.raises(ValueError, match="'volume', 'height'"):
        tree.filter("colour", 3)


def test_winding_numbers_of_boxes() -> None:
    corners = np.array([(x, y, z) for z in (0, 4) for y in (0, 4) for x in (0, 4)], float)
    faces = np.array([(0, 2, 3), (0, 3, 1), (4, 5, 7), (4, 7, 6), (0, 1, 5), (0, 5, 4), (2, 6, 7), (2, 7, 3), (0, 4, 6), (0, 6, 2), (1, 3, 7), (1, 7, 5)])
    two = ts.winding((np.r_[corners, corners + 2], np.r_[faces, faces + 8]), 1.0, origin=(0.5, 0.5, 0.5))
    z, y, x = (np.arange(n) + o for n, o in zip(two.shape, reversed(two.origin)))
    one, other = (((x > s) & (x < 4 + s)) * ((y > s) & (y < 4 + s))[:, None] * ((z > s) & (z < 4 + s))[:, None, None] for s in (0, 2))
    assert np.array_equal(two.array, one.astype(int) + other)


# ---- pictures ----


def disc() -> Any:
    y, x = np.mgrid[:40, :48].astype(float)
    return np.where((x - 24) ** 2 + (y - 20) ** 2 < 100, 200, 50).astype(np.uint8)


@pytest.mark.parametrize("kind", ["array", "image", "file"])
def test_pictures_are_segmented_in_two_dimensions(kind: str, tmp_path: Path) -> None:
    picture: Any = disc()
    if kind == "image":
        picture = ts.Image(picture)
    elif kind == "file":
        ts.Image(picture).save(tmp_path / "disc.png")
        picture = ts.read(tmp_path / "disc.png")
    mask = ts.segment(picture, [(24, 20, 4)], target=200, epsilon=60, alpha=0.8, max_steps=300)
    assert mask.shape == (1, 40, 48)
    wrong = (mask.array[0] != 0) != (disc() > 100)
    assert wrong.sum() < 12  # of a rim of 63 pixels
    again = ts.Segmentation(picture, target=200, epsilon=60, alpha=0.8)
    again.sphere((24, 20), 4)
    again.run(max_steps=300)
    again.note("by hand")
    assert np.array_equal(again.mask().array, mask.array) and "by hand" in again.log
    other = ts.Segmentation(picture, target=1, epsilon=1)
    other.script(again.log)
    assert np.array_equal(other.field().array, again.field().array)
    with pytest.raises(ValueError, match="2 numbers, expected 3"):
        ts.segment(np.zeros((8, 8, 8), np.uint8), [(4, 4, 2)], epsilon=1)


def test_undone_is_done_again() -> None:
    s = ts.Segmentation(disc(), target=200, epsilon=60, alpha=0.8)
    s.sphere((24, 20), 4)
    s.snapshot()
    s.step(20)
    after = s.field().array.copy()
    s.undo()
    assert not np.array_equal(s.field().array, after)
    s.redo()
    assert np.array_equal(s.field().array, after) and s.speed().shape == (1, 40, 48)
    with pytest.raises(ts.StateError):
        s.redo()


def test_a_channel_of_a_picture(tmp_path: Path) -> None:
    colours = np.stack([disc(), disc().T[:40].repeat(2, axis=1)[:, :48], 255 - disc()], axis=2)
    ts.Image(colours).save(tmp_path / "c.png")
    for k in range(3):
        one = ts.read(tmp_path / "c.png", what="volume", channel=k)
        assert np.array_equal(one.array.reshape(40, 48), colours[..., k])
    assert np.array_equal(ts.read(tmp_path / "c.png").array, colours)
    for picture in (ts.Image(colours), ts.read(tmp_path / "c.png"), ts.read(tmp_path / "c.png", what="volume")):
        with pytest.raises(ValueError, match="picture of 3 channels, expected one"):
            ts.segment(picture, [(24, 20, 4)], epsilon=60)
    smooth = ts.smooth(ts.Image(colours), 1.0).array
    assert smooth.shape == (3, 40, 48) and np.allclose(smooth[1], ts.smooth(colours[..., 1], 1.0).array[0], atol=1e-3)  # channels are not neighbours
    with pytest.raises(ts.Error, match="channel"):
        ts.read(tmp_path / "c.png", what="volume", channel=3)


def test_slices_and_transfer_functions(tmp_path: Path) -> None:
    a = ts.Volume(GREY.astype(np.float32), spacing=(1, 1, 1))
    for axis, rows in (("z", GREY[2][::-1]), ("y", GREY[:, 2][::-1]), ("x", GREY[:, :, 2][::-1])):
        size = (rows.shape[1] * 8, rows.shape[0] * 8)
        picture = ts.render_slice(a, axis=axis, position=2, size=size, window=(0, 255), nearest=True).array
        assert np.abs(picture[4::8, 4::8, 0].astype(int) - rows).max() <= 1, axis
    z, y, x = np.mgrid[:16, :16, :16] - 7.5
    ball = ts.Volume((np.sqrt(x * x + y * y + z * z) - 5).astype(np.float32))
    picture = ts.render_slice(np.zeros((16, 16, 16), np.float32), surface=ball, size=(160, 160), line_color=(1, 0, 0)).array
    there = np.argwhere(picture[..., 0] > 128) - 79.5
    assert len(there) > 200 and np.abs(np.linalg.norm(there, axis=1) - 50).max() < 3
    across = ts.render_slice(a, axis=(1, 1, 0), up=(0, 0, 1), size=(32, 32)).array
    assert across.std() > 1
    with pytest.raises(ValueError, match="axis 'w', expected 'x'"):
        ts.render_slice(a, axis="w")
    with pytest.raises(ts.FileError, match="none.transfer"):
        ts.render(a, transfer=tmp_path / "none.transfer")


def test_projections_are_maxima(tmp_path: Path) -> None:
    a = GREY.astype(np.uint8)
    pyramid = ts.Mip(a, measure=True)
    assert np.array_equal(pyramid.reconstruct().array, a) and pyramid.describe().steps == 16
    front = pyramid.values(size=(11, 7), zoom=1, mode="exact")
    assert np.array_equal(front, a.max(axis=1)[::-1, ::-1])  # z is up, x to the left: seen from where y grows to
    few = pyramid.values(size=(11, 7), zoom=1, mode="exact", fraction=0.3)
    assert (few <= front).all() and (few < front).any()
    assert np.array_equal(pyramid.keep(round(0.3 * pyramid.describe().coefficients)).values(size=(11, 7), zoom=1, mode="exact"), few)
    pyramid.write(tmp_path / "a.mip.gz")
    for other in (ts.Mip.read(tmp_path / "a.mip.gz"), pickle.loads(pickle.dumps(pyramid))):
        assert np.array_equal(other.reconstruct().array, a) and np.array_equal(other.values(azimuth=33, size=(20, 20)), pyramid.values(azimuth=33, size=(20, 20)))
    assert pyramid.render(size=(40, 30)).array.shape == (30, 40, 1) and pyramid._repr_png_()[:4] == b"\x89PNG"
    with pytest.raises(ts.ArgumentError):
        ts.Mip(a.astype(np.float32))
    with pytest.raises(TypeError, match="unknown option 'modus'"):
        pyramid.values(modus="exact")


# ---- unstructured grids ----

CUBE = np.array([(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1)], float)


def test_cells_of_every_kind() -> None:
    for cells, tetrahedra, volume in (
        ({"voxel": [range(8)]}, 6, 1.0),
        ({"hexahedron": [[0, 1, 3, 2, 4, 5, 7, 6]]}, 6, 1.0),
        ({"wedge": [[0, 1, 2, 4, 5, 6]], "tetrahedron": [[1, 3, 2, 7]]}, 4, 0.5 + 1 / 6),
        ({"pyramid": [[0, 1, 3, 2, 4]]}, 2, 1 / 3),
    ):
        grid = ts.Unstructured(CUBE, {name: np.array([list(c) for c in listed]) for name, listed in cells.items()}, CUBE[:, 2], space="ras")
        assert grid.describe().tetrahedra == tetrahedra, cells
        cut = grid.surface(0.25)
        assert np.allclose(cut.vertices[:, 2], 0.25) and cut.measure().area > 0.2
    grid = ts.Unstructured(CUBE, {"voxel": [range(8)]}, CUBE[:, 0])
    assert abs(ts.surface(grid, 0.5).measure().area - 1) < 1e-6 and repr(grid) == "<tessera.Unstructured 8 points, 1 cells>"
    other = grid.copy()
    other.set_values(CUBE[:, 1])
    assert np.allclose(other.surface(0.5).vertices[:, 1], 0.5) and np.allclose(grid.surface(0.5).vertices[:, 0], 0.5)


def test_grid_of_a_file(tmp_path: Path) -> None:
    text = "# vtk DataFile Version 3.0\ncube\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 8 float\n" + " ".join(f"{v:g}" for v in CUBE.ravel())
    text += "\nCELLS 1 9\n8 0 1 2 3 4 5 6 7\nCELL_TYPES 1\n11\nPOINT_DATA 8\n"
    for name, axis in (("height", 2), ("along", 0)):
        text += f"SCALARS {name} double 1\nLOOKUP_TABLE default\n" + " ".join(f"{v:g}" for v in CUBE[:, axis]) + "\n"
    (tmp_path / "cube.vtk").write_text(text)
    assert ts.kind(tmp_path / "cube.vtk")[0] == "unstructured"
    grid = ts.read(tmp_path / "cube.vtk")
    assert isinstance(grid, ts.Unstructured) and np.allclose(grid.surface(0.5).vertices[:, 2], 0.5)
    assert np.allclose(ts.read(tmp_path / "cube.vtk", values="along").surface(0.5).vertices[:, 0], 0.5)
    with pytest.raises(ts.FormatError, match="height"):
        ts.read(tmp_path / "cube.vtk", values="nothing")


def test_bad_cells() -> None:
    with pytest.raises(ValueError, match="0 to 7"):
        ts.Unstructured(CUBE, [[0, 1, 2, 8]])
    with pytest.raises(ValueError, match="expected 'tetrahedron', 'voxel'"):
        ts.Unstructured(CUBE, {"cube": [range(8)]})
    with pytest.raises(ValueError, match=r"expected \(n, 8\)"):
        ts.Unstructured(CUBE, {"voxel": [[0, 1, 2, 3]]})
    with pytest.raises(ValueError, match=r"expected \(8,\)"):
        ts.Unstructured(CUBE, [[0, 1, 2, 4]], [1, 2])
    with pytest.raises(ValueError, match="finite|nan|number"):
        ts.Unstructured(CUBE * np.nan, [[0, 1, 2, 4]])


# ---- files of legacy VTK, origins, attributes ----


def test_legacy_vtk(tmp_path: Path) -> None:
    (tmp_path / "image.vtk").write_text(
        "# vtk DataFile Version 3.0\ngrey\nASCII\nDATASET STRUCTURED_POINTS\nDIMENSIONS 11 9 7\nORIGIN 1 2 3\nSPACING 1 2 3\nPOINT_DATA 693\n"
        "SCALARS grey unsigned_short 1\nLOOKUP_TABLE default\n" + " ".join(map(str, GREY.ravel().tolist()))
    )
    volume = ts.read(tmp_path / "image.vtk")
    assert np.array_equal(volume.array, GREY) and volume.spacing == (1, 2, 3) and volume.origin == (1, 2, 3)
    (tmp_path / "mesh.vtk").write_text("# vtk DataFile Version 3.0\nquad\nASCII\nDATASET POLYDATA\nPOINTS 4 float\n0 0 0 1 0 0 1 1 0 0 1 0\nPOLYGONS 1 5\n4 0 1 2 3\n")
    mesh = ts.read(tmp_path / "mesh.vtk")
    assert isinstance(mesh, ts.Mesh) and abs(mesh.measure().area - 1) < 1e-6


def test_origins_of_far_meshes(tmp_path: Path) -> None:
    far = np.array([4.5e6, 5.0e5, 100.0])
    (tmp_path / "far.obj").write_text("".join("v {:.3f} {:.3f} {:.3f}\n".format(*(far + d)) for d in ((0, 0, 0), (0.125, 0, 0), (0, 0.25, 0))) + "f 1 2 3\n")
    mesh = ts.read(tmp_path / "far.obj", local_origin=True)
    assert np.allclose(mesh.vertices.astype(float) + mesh.origin, far + [(0, 0, 0), (0.125, 0, 0), (0, 0.25, 0)], atol=1e-4, rtol=0)
    assert pickle.loads(pickle.dumps(mesh)).origin == mesh.origin != (0, 0, 0)
    cloud = ts.Points(np.zeros((2, 3)), space="lps")
    cloud.origin = (1e6, 2, 3)
    cloud.set_attribute("density", [1, 2])
    again = pickle.loads(pickle.dumps(cloud))
    assert again.origin == (1e6, 2, 3) and again.space == "lps" and again.attributes == {"density": 1}
    soup = ts.Mesh(np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]), np.arange(6).reshape(2, 3))
    assert len(soup.welded().vertices) == 4 and soup.welded().measure().boundary_edges == 4 and soup.parts == []


@pytest.mark.parametrize("ending", ["ply", "vtp", "pcd"])
def test_attributes_of_points_in_files(ending: str, tmp_path: Path) -> None:
    cloud = ts.Points(RNG.random((20, 3)).astype(np.float32))
    cloud.set_attribute("density", np.arange(20))
    cloud.set_attribute("velocity", RNG.random((20, 3)))
    ts.write(cloud, tmp_path / f"a.{ending}")
    back = ts.read(tmp_path / f"a.{ending}", what="points")
    assert np.array_equal(back.positions, cloud.positions)
    for name in back.attributes:
        values, written = back.attribute(name), cloud.attribute(name)
        assert values is not None and written is not None and np.allclose(values, written)
    assert "density" in back.attributes or any("density" in line or "attribute" in line for line in ts.remarks())
