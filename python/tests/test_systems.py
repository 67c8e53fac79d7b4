"""Wrappers of cameras, depth, vector fields, fluids, light, films and multi-view video, beside answers that are known without the library."""

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tessera as ts

# ---- cameras ----


def test_camera_is_a_pinhole() -> None:
    camera = ts.Camera.look_at((1, -4, 2), (0, 0, 0.5), fov=50)
    rng = np.random.default_rng(1)
    points = rng.normal(0, 0.5, (20, 3))
    pixels, depths = camera.project(points, (640, 480))
    back = np.array([0, 0, 0.5]) - [1, -4, 2]
    forward = back / np.linalg.norm(back)
    right = np.cross(forward, [0, 0, 1])
    right /= np.linalg.norm(right)
    up = np.cross(right, forward)
    relative = points - [1, -4, 2]
    focal = 240 / np.tan(np.radians(25))
    assert np.allclose(depths, relative @ forward)
    assert np.allclose(pixels[:, 0], 320 + focal * (relative @ right) / depths)
    assert np.allclose(pixels[:, 1], 240 - focal * (relative @ up) / depths)
    origins, directions = camera.rays(pixels, (640, 480))
    assert np.allclose(origins + depths[:, None] * directions, points)
    view, projection = camera.matrices((640, 480))
    clip = (projection @ view @ np.c_[points, np.ones(20)].T).T
    assert np.allclose((clip[:, 0] / clip[:, 3] + 1) * 320, pixels[:, 0])
    assert np.isnan(camera.project([(1, -8, 2)], (640, 480))[0]).all()


def test_structs_copy_pickle_and_say_what_is_wrong() -> None:
    camera = ts.Camera.look_at((1, -4, 2), (0, 0, 0), fov=50, lens=ts.Lens(model="poly", k1=0.1))
    for other in (copy.copy(camera), copy.deepcopy(camera), pickle.loads(pickle.dumps(camera))):
        assert other == camera and other.lens.k1 == 0.1 and other.fov == 50
    other = copy.copy(camera)
    other.fov = 30
    assert camera.fov == 50 and other != camera
    with pytest.raises(TypeError, match="unknown option 'fow'"):
        ts.Camera(fow=3)
    with pytest.raises(AttributeError, match="has no 'fow', it has position"):
        _ = camera.fow
    with pytest.raises(ValueError, match="expected 3"):
        ts.Camera(position=(1, 2))
    with pytest.raises(ValueError, match="expected one of 'division', 'poly', 'fisheye'"):
        ts.Lens(model="glass")


def test_rig_files(tmp_path: Path) -> None:
    rig = ts.Rig.make("ring", count=5, distance=3, fov=35)
    rig.write(tmp_path / "rig.json")
    back = ts.Rig.read(tmp_path / "rig.json")
    assert len(back) == 5 and [c.name for c in back] == [c.name for c in rig]
    for a, b in zip(rig.cameras, back.cameras):
        assert np.allclose(a.position, b.position) and np.allclose(a.rotation, b.rotation) and abs(a.fov - b.fov) < 1e-9
    with pytest.raises(IndexError):
        rig[5]
    with pytest.raises(KeyError):
        rig["nobody"]
    assert rig["camera03"].name == rig[3].name


def test_calibration_of_drawn_boards() -> None:
    """Boards that the library draws, corners that it finds, and cameras that it gets from them: the numbers that were put in come out."""
    true = dict(width=320, height=240, fx=300.0, fy=305.0, cx=163.0, cy=118.0)
    board = np.array([(x, y, 0.0) for y in range(5) for x in range(8)])
    points, pixels = [], []
    for k in range(6):
        a, b = 0.25 * (k % 3 - 1) + 0.05, 0.3 * (k // 3) - 0.15
        about_y = np.array([[np.cos(a), 0, np.sin(a)], [0, 1, 0], [-np.sin(a), 0, np.cos(a)]])
        about_x = np.array([[1, 0, 0], [0, np.cos(b), -np.sin(b)], [0, np.sin(b), np.cos(b)]])
        eye = ts.Pinhole(**true, rotation=about_x @ about_y, translation=(-3.5, -2, 10.5))
        found = ts.find_chessboard(ts.draw_chessboard(8, 5, eye), 8, 5)
        assert found is not None
        there = board @ np.array(eye.rotation).T + eye.translation
        expected = np.c_[300 * there[:, 0] / there[:, 2] + 163, 305 * there[:, 1] / there[:, 2] + 118]
        if np.abs(found[::-1] - expected).max() < np.abs(found - expected).max():
            found = found[::-1]
        assert np.abs(found - expected).max() < 0.15
        points.append(board)
        pixels.append(found)
    result = ts.calibrate(points, pixels, (320, 240), free=["focal", "aspect", "centre"])
    pinhole = result.pinholes[0]
    assert result.rms < 0.1 and abs(pinhole.fx - 300) < 1.5 and abs(pinhole.fy - 305) < 1.5 and abs(pinhole.cx - 163) < 1.5 and abs(pinhole.cy - 118) < 1.5
    assert len(result.residuals) == 6 * 40
    with pytest.raises(ValueError, match="free: 'k9'"):
        ts.calibrate(points, pixels, (320, 240), free=["k9"])
    with pytest.raises(ValueError, match="expected as many"):
        ts.calibrate(points, pixels[1:], (320, 240))


# ---- depth ----


def test_depth_of_a_plane() -> None:
    rig = ts.Rig.make("pair", distance=4, baseline=0.3, width=96, height_pixels=64)
    shots = [ts.analytic("plane", c, (96, 64)) for c in rig.cameras]
    maps = ts.plane_sweep([s[0] for s in shots], rig.cameras, rig.cameras[0], nearest=2, farthest=9, method="volume")
    truth = shots[0][1]
    seen = (maps.valid > 0) & (truth > 0)
    assert seen.mean() > 0.5 and np.median(np.abs(maps.depth - truth)[seen] / truth[seen]) < 0.02
    with pytest.raises(ValueError, match="two at least"):
        ts.plane_sweep([shots[0][0]], rig.cameras[:1])
    with pytest.raises(ValueError, match="expected as many"):
        ts.plane_sweep([s[0] for s in shots], rig.cameras[:1])
    with pytest.raises(TypeError, match=r"images\[1\].*expected uint8"):
        ts.plane_sweep([shots[0][0], np.zeros((64, 96, 3))], rig.cameras)


def test_depth_codes_and_meshes() -> None:
    camera = ts.Camera.look_at((0, -4, 0), (0, 0, 0), fov=40, clip=(1, 10))
    depth = ts.analytic("sphere", camera, (64, 48))[1]
    for kind in ("window", "radial", "inverse", "eye_linear", "ndc"):
        back = ts.decode_depth(ts.encode_depth(depth, camera, kind=kind), camera, kind=kind)
        assert np.allclose(back, depth, rtol=1e-4, atol=1e-4), kind
    mesh, info = ts.depth_mesh(depth, camera, 0.02, discontinuity=0.5)
    assert info.max_error <= 0.02 and 10 < len(mesh.triangles) < 2 * 64 * 48
    pixels, depths = camera.project(mesh.vertices, (64, 48))
    at = np.floor(pixels).astype(int)
    assert np.allclose(depth[at[:, 1], at[:, 0]], depths, rtol=1e-4)


def test_fused_sphere() -> None:
    cameras = ts.Rig.make("ring", count=8, distance=4, width=96, height_pixels=72).cameras
    fusion = ts.Fusion(0.06)
    for camera in cameras:
        fusion.add(ts.analytic("sphere", camera, (96, 72))[1], camera)
    mesh = fusion.mesh()
    radius = np.linalg.norm(mesh.vertices, axis=1)
    assert fusion.describe().maps == 8 and abs(np.median(radius) - 1) < 0.02
    assert fusion.tiles().describe().count > 0


def test_reprojection_into_the_same_camera() -> None:
    camera = ts.Camera.look_at((0, -4, 0), (0, 0, 0), fov=40, clip=(1, 10))
    picture, depth = ts.analytic("sphere", camera, (64, 48))
    seen, there = ts.reproject(depth, camera, camera, (64, 48), picture, connect="none", point_size=1.0)
    both = (there > 0) & (depth > 0)
    assert both.sum() > 0.9 * (depth > 0).sum() and np.allclose(there[both], depth[both], rtol=1e-3)
    assert (seen.array[..., :3][both] == picture.array[both]).mean() > 0.9


# ---- vector fields ----


def turning(n: int = 16, spacing: float = 0.5) -> Any:
    """A body that turns about z with one radian per unit of time, its axis in the middle."""
    z, y, x = (np.mgrid[:n, :n, :n] - (n - 1) / 2) * spacing
    return ts.Field(np.stack([-y, x, np.zeros_like(x)], axis=-1), spacing=[spacing] * 3, origin=[-(n - 1) / 2 * spacing] * 3)


def test_field_of_a_turning_body(tmp_path: Path) -> None:
    field = turning()
    inner = (slice(2, -2),) * 3
    assert np.allclose(field.derive("vorticity").array[inner], 2, atol=1e-5)
    assert np.allclose(field.derive("divergence").array[inner], 0, atol=1e-5)
    lines = field.streamlines([(1.5, 0, 0), (0, 2, 1)], max_steps=400, step=0.2, max_length=8.0)
    assert len(lines) == 2 and len(lines.offsets) == 3
    for line, radius in zip(lines, (1.5, 2.0)):
        assert np.allclose(np.hypot(line[:, 0], line[:, 1]), radius, rtol=2e-3)
    assert np.allclose(lines.values("speed"), np.hypot(lines.positions[:, 0], lines.positions[:, 1]), rtol=1e-3)
    assert abs(lines.length - sum(np.linalg.norm(np.diff(line, axis=0), axis=1).sum() for line in lines)) < 1e-3
    tubes = lines.tubes(radius=0.05, sides=6, color="speed")
    assert tubes.colors is not None and len(tubes.triangles) > 100
    lines.write(tmp_path / "lines.vtk", ["speed"])
    assert (tmp_path / "lines.vtk").stat().st_size > 1000
    again = pickle.loads(pickle.dumps(lines))
    assert (again.positions == lines.positions).all() and (again.offsets == lines.offsets).all()
    with pytest.raises(ValueError, match="expected \\(z, y, x, 3\\)"):
        ts.Field(np.zeros((4, 4, 4)))
    with pytest.raises(ValueError, match="'speed', 'curvature'"):
        field.derive("colour")


def test_contours_meet_their_definition() -> None:
    """At a seed the direction of view is perpendicular to the vector and to the acceleration."""
    field = ts.Field.make("field-abc", size=(20, 20, 20))
    contours = ts.Contours(field)
    direction = np.array([0.3, 0.5, 0.8])
    seeds = contours.update(direction=direction.tolist())
    assert len(seeds) > 10
    sample = field.probe(seeds["at"][~seeds["coincident"].astype(bool)])
    share = np.abs(sample.v @ direction) / np.abs(sample.v).max()
    assert np.percentile(share, 95) < 0.02 and np.percentile(np.abs(sample.w @ direction) / np.abs(sample.w).max(), 95) < 0.02
    assert len(contours.trace(max_steps=5)) == len(seeds)
    with pytest.raises(ValueError, match="one of direction and eye"):
        contours.update()


# ---- fluids and light ----


def test_a_drop_falls() -> None:
    sim = ts.FluidSim(0.1, (-1, -1, 0), (1, 1, 4))
    sim.add_ball((0, 0, 3), 0.3)
    before = sim.describe()
    sim.advance(0.2)
    after = sim.describe()
    assert abs((before.centre[2] - after.centre[2]) - 0.5 * 9.81 * 0.2**2) < 0.01 and after.particles == before.particles
    points = sim.points()
    assert set(points.attributes) == {"density", "velocity"}
    velocity = points.attribute("velocity")
    assert velocity is not None and np.allclose(velocity.mean(axis=0), [0, 0, -9.81 * 0.2], atol=0.05)
    camera = ts.Camera.look_at((0, -4, 3), (0, 0, 2.8), fov=30)
    fluid = ts.Fluid()
    fluid.draw(points, camera, (80, 60), look="water", smoother="unsmoothed")
    depth = fluid.image("raw_depth")
    assert np.isfinite(depth).sum() > 20 and abs(np.nanmin(depth) - 3.7) < 0.1
    with pytest.raises(ValueError, match="radius"):
        fluid.draw(np.zeros((3, 3)), camera)
    with pytest.raises(ValueError, match="expected \\(n, 3\\)"):
        fluid.draw(np.zeros((3, 2)), camera, radius=1.0)


def test_light_passes_a_window() -> None:
    """Matter of the index 1 bends nothing, and what it absorbs is Lambert's law."""
    n = 16
    matter = ts.LightMatter(index=np.ones((n, n, n), np.float32), extinction=np.full((n, n, n), 0.05, np.float32))
    ends, speeds, lengths = matter.trace([(7.5, 7.5, 0.0)], [(0, 0.0, 1)])
    assert np.allclose(ends[0, :2], 7.5, atol=1e-4) and np.allclose(speeds[0] / np.linalg.norm(speeds[0]), (0, 0, 1), atol=1e-5)
    lit = matter.simulate([{"kind": "directional", "direction": (0, 0, -1), "color": (1, 1, 1)}], grid=16)
    start, absorbed = np.array(lit.report.start.power), np.array(lit.report.absorbed)
    assert np.allclose(absorbed / start, 1 - np.exp(-0.05 * n), rtol=0.05)
    with pytest.raises(TypeError, match="unknown volume 'indices'"):
        ts.LightMatter(indices=np.ones((4, 4, 4)))


# ---- films ----


def film(count: int = 3) -> Any:
    y, x = np.mgrid[:32, :48]
    return [np.stack([(x * 3 + 5 * k) % 256, (y * 5) % 256, (x + y) % 256], axis=-1).astype(np.uint8) for k in range(count)]


def test_frames() -> None:
    frame = ts.VideoFrame.from_image(film()[0], "444", range="full")
    again = ts.VideoFrame.from_planes(frame.planes, "444", range="full")
    assert np.isinf(frame.compare(again).psnr[0])
    assert np.abs(frame.to_image().array.astype(int) - film()[0]).max() <= 3
    for other in (copy.copy(frame), pickle.loads(pickle.dumps(frame))):
        assert all((a == b).all() for a, b in zip(other.planes, frame.planes))
    plane = frame.planes[0]
    del frame
    assert plane.sum() > 0
    with pytest.raises(ValueError, match="'420', '422', '444', '411', 'mono'"):
        ts.VideoFrame((8, 8), "421")
    with pytest.raises(ValueError, match=r"planes\[1\]"):
        ts.VideoFrame.from_planes([np.zeros((8, 8), np.uint8), np.zeros((3, 3), np.uint8), np.zeros((8, 8), np.uint8)], "444")


@pytest.mark.parametrize("options", [{"lossless": True}, {"lossless": True, "wavelet": 5}, {"coding": "arithmetic", "group": 2, "lossless": True}])
def test_dirac_without_loss(options: Any) -> None:
    given = [ts.VideoFrame.from_image(p, "420") for p in film(4)]
    stream = ts.dirac_encode(given, **options)
    assert isinstance(stream, bytes)
    back = list(ts.dirac_decode(stream))
    assert len(back) == 4 and all((a == b).all() for f, g in zip(given, back) for a, b in zip(f.planes, g.planes))
    kinds = [unit.name for unit in ts.dirac_inspect(stream)]
    assert kinds[0] == "sequence header" and sum("picture" in k for k in kinds) == 4


def test_damage_is_told() -> None:
    stream = bytearray(ts.dirac_encode([ts.VideoFrame.from_image(p, "420") for p in film(3)], lossless=True))
    for k in range(len(stream) // 2, len(stream) // 2 + 40):
        stream[k] ^= 0xFF
    decoder = ts.DiracDecoder()
    decoder.push(stream)
    decoder.end()
    frames = []
    while (frame := decoder.next_frame()) is not None:
        frames.append(frame)
    assert frames
    with pytest.raises(ts.FormatError):
        list(ts.dirac_decode(b"this is no film at all, not a byte of it", strict=True))
    with pytest.raises(TypeError, match="unknown option 'lossles'"):
        ts.DiracEncoder(lossles=True)


def test_writer_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="on purpose"):
        with ts.VideoWriter(tmp_path / "a.y4m", (48, 32)) as writer:
            writer.append(film()[0])
            raise RuntimeError("on purpose")
    assert not list(tmp_path.iterdir())
    with ts.VideoWriter(tmp_path / "a.y4m", (48, 32), chroma="444") as writer:
        for picture in film():
            writer.append(picture)
    reader = ts.VideoReader(tmp_path / "a.y4m")
    assert reader.info.format.chroma == "444"
    assert [np.abs(a.array.astype(int) - b).max() <= 5 for a, b in zip(reader, film())] == [True] * 3


def test_multiview_footage(tmp_path: Path) -> None:
    shown = ts.Footage(scene="sphere", steps=2, cameras=3, width=80, height=60, atlas=64)
    textures = shown.model.textures(shown.picture)
    visible = textures.visible
    assert visible is not None and visible.shape == (2, 3, 64, 64) and 0.05 < visible.mean() < 0.9
    assert all((plane[~visible] == 0).all() for plane in textures.planes)
    report = textures.write(tmp_path / "a.mvv", codec="spiht4d", group=2, lossless=True)
    back = ts.Multiview.read(tmp_path / "a.mvv")
    assert report.lossless == 1 and np.isinf(textures.compare(back).psnr_rgb)
    luma, count = textures.planes[0].astype(float), visible.sum(1, keepdims=True)
    average = np.where(count > 0, (luma * visible).sum(1, keepdims=True) / np.maximum(count, 1), 0)
    rest = textures.layer("differences", first_step=1, gain=2)
    assert rest.planes[0].shape == (1, 3, 64, 64) and np.array_equal(np.asarray(rest.visible), visible[1:])
    assert np.abs(rest.planes[0] - np.clip(128 + 2 * (luma - average)[1:], 0, 255))[visible[1:]].max() < 0.7
    with pytest.raises(ValueError, match="'residuals', expected one of 'textures', 'averages', 'master'"):
        textures.layer("residuals")
    picture = shown.model.draw(textures, 0, shown.model.camera[0][0], (80, 60))
    seen = picture.array[..., 3] == 255
    truth = shown.picture(0, 0).array.astype(int)
    assert np.abs(picture.array[..., :3].astype(int) - truth)[seen].mean() < 12
    masks = textures.write(tmp_path / "b.mvv", masks="rebuilt", lossless=True, codec="spiht4d", group=2)
    assert masks.file_bytes < report.file_bytes and np.array_equal(np.asarray(ts.Multiview.read(tmp_path / "b.mvv").visible), visible)


# ---- trees and speeds of one's own ----


def test_octree_leaves_are_the_volume() -> None:
    rng = np.random.default_rng(3)
    labels = np.kron(rng.integers(0, 4, (3, 4, 5)), np.ones((4, 4, 4), int)).astype(np.uint8)[:11, :15, :18]
    tree = ts.octree(labels)
    cubes, values = tree.cubes(), tree.means(labels)
    assert cubes["voxels"].sum() == labels.size
    for (corner, side, _), value in zip(cubes, values):
        x, y, z = corner
        assert (labels[z : z + side, y : y + side, x : x + side] == value).all()
    assert (tree.paint(values, dtype=np.uint8).array == labels).all()
    hits = tree.find([(0, 0, 0), (17, 14, 10), (18, 0, 0)])
    assert hits["leaf"][2] == -2 and values[hits["leaf"][1]] == labels[10, 14, 17]


def test_speed_in_python_is_the_built_in_one() -> None:
    a, b = ts.shape("sphere", radius=5, spacing=0.5), ts.shape("sphere", radius=5, spacing=0.5)
    ts.evolve(a, [{"kind": "speed", "value": 1.0}], duration=1.0)
    ts.evolve(b, speed=lambda x, y, z: np.ones_like(x), duration=1.0)
    assert abs(a.measure().volume / b.measure().volume - 1) < 1e-3
    c = ts.shape("sphere", radius=5, spacing=0.5)
    ts.evolve(c, speed=lambda x, y, z, t: 2.0 * t, duration=1.0, space="weno5", time="rk3")
    assert 5.5 < (c.measure().volume * 3 / 4 / np.pi) ** (1 / 3) < 6.05
    with pytest.raises(ValueError, match="that of the positions"):
        ts.evolve(c, speed=lambda x, y, z: np.zeros((2, 3)), duration=1.0)
    with pytest.raises(ValueError, match="not finite"):
        ts.evolve(c, speed=lambda x, y, z: np.nan * x, duration=1.0)
    with pytest.raises(ZeroDivisionError):
        ts.evolve(c, speed=lambda x, y, z: 1 / 0, duration=1.0)


def test_offset_is_exact() -> None:
    for distance in (1.5, -1.5):
        ball = ts.offset(ts.shape("sphere", radius=5, spacing=0.5), distance)
        assert abs((ball.measure().volume * 3 / 4 / np.pi) ** (1 / 3) - 5 - distance) < 0.02


def test_segmentation_in_a_world_of_its_own() -> None:
    """Seeds are in world units, whatever the axes of the voxels are."""
    z, y, x = np.mgrid[:24, :24, :24] - 11.5
    image = np.where(x * x + y * y + z * z < 64, 200, 50).astype(np.uint8)
    turned = ts.Volume(image, affine=[[0, -2, 0, 40], [2, 0, 0, -7], [0, 0, 2, 3], [0, 0, 0, 1]])
    centre = turned.affine @ [11.5, 11.5, 11.5, 1]
    mask = ts.segment(turned, [(*centre[:3], 8)], target=200, epsilon=60, alpha=0.8, max_steps=200)
    assert abs(mask.array.sum() / (image > 100).sum() - 1) < 0.15
