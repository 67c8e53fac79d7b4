"""Depth from pictures, depth maps to surfaces, and new views from depth maps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Sequence, Union

import numpy as np

from . import _core
from ._cameras import Camera, as_image, channels_of, flat, two
from ._core import Context, Object, Progress, Progressed, Report, check, ffi, lib
from ._objects import Image, Mesh, Volume
from ._tiles import Tiles
from ._inputs import as_volume

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Plane = NDArray[np.float32]


def _there(volume: Volume, owner: Context) -> Volume:
    return volume if owner.on_host else volume.to(owner)


def as_depth(depth: Any, name: str = "depth") -> Volume:
    """A depth map (height, width) as a volume of float32."""
    volume = as_volume(np.asarray(depth, np.float32) if not isinstance(depth, Volume) else depth)
    if volume.dtype != np.float32 or volume.shape[0] != 1:
        raise ValueError(f"{name} of shape {volume.shape} and {volume.dtype}, expected (height, width) and float32")
    return volume


def _plane(volume: Any, owner: Context) -> "Optional[NDArray[Any]]":
    if not volume:
        return None
    made = Volume._of([volume], owner)
    array: "NDArray[Any]" = (made if made.on_host else made.to("cpu")).array[0]
    return array


class DepthMaps:
    """Depth (float32, 0: none), valid, score, count, state and what was asked for beside: arrays (height, width); `camera` that they belong to."""

    depth: "Plane"
    valid: "NDArray[np.uint8]"
    score: "Plane"
    camera: Camera
    disparity: "Optional[Plane]"

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"depth maps have no {name!r}, they have {', '.join(self.__dict__)}")

    def mesh(self, tolerance: float = 0.0, **options: Any) -> Mesh:
        """The surface as triangles: see `depth_mesh`."""
        return depth_mesh(self.depth, self.camera, tolerance, **options)[0]

    def __repr__(self) -> str:
        return f"<tessera.DepthMaps {self.depth.shape[1]}x{self.depth.shape[0]}, {int(self.valid.sum())} valid>"

    def _repr_png_(self) -> bytes:
        return depth_image(self.depth)._repr_png_()


def depth_image(depth: Any) -> Image:
    """A depth map in grey, near is bright; without depth it is black.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> ts.depth_image(np.array([[0.0, 1.0, 2.0]])).array.ravel().tolist()
    [0, 255, 55]
    """
    values = np.asarray(depth, float)
    there = np.isfinite(values) & (values > 0)
    grey = np.zeros(values.shape, np.uint8)
    if there.any():
        near = 1 / values[there]
        low, high = np.percentile(near, (1, 99)) if near.size > 100 else (near.min(), near.max())
        grey[there] = np.clip(55 + 200 * (near - low) / max(high - low, 1e-30), 55, 255).astype(np.uint8)
    return Image(grey)


def plane_sweep(
    images: Sequence[Any],
    cameras: Sequence[Camera],
    camera: Optional[Camera] = None,
    *,
    masks: Optional[Sequence[Any]] = None,
    progress: Progress = None,
    **options: Any,
) -> DepthMaps:
    """Depth from pictures whose cameras are known.

    Parameters
    ----------
    images : pictures of uint8, (height, width) or (height, width, 3)
    cameras : a Camera for each
    camera : Camera, optional
        Along whose rays the depth is asked for; None: the one in the middle.
    masks : arrays of uint8, optional
        0: the pixel does not count.
    **options
        method ("stack", "mipmap", "volume"), cost, nearest, farthest, levels, ..., as tsr_plane_sweep_options.

    Examples
    --------
    >>> import tessera as ts
    >>> rig = ts.Rig.make("arc", count=3, degrees=20, distance=4, width=64, height_pixels=48)
    >>> pictures = [ts.analytic("spheres", c, (64, 48), backdrop=True)[0] for c in rig.cameras]
    >>> maps = ts.plane_sweep(pictures, rig.cameras, rig.cameras[1], nearest=2, farthest=12)
    >>> maps.depth.shape
    (48, 64)
    """
    if len(images) != len(cameras):
        raise ValueError(f"{len(images)} images beside {len(cameras)} cameras, expected as many")
    if len(images) < 2:
        raise ValueError(f"{len(images)} images, expected two at least")
    channels = {channels_of(i) for i in images}
    if len(channels) != 1:
        raise ValueError(f"images of {sorted(channels)} channels, expected all alike")
    owner = _core.context()
    pictures = [_there(flat(as_image(i, f"images[{k}]"), 0, f"images[{k}]"), owner) for k, i in enumerate(images)]
    shown = [None] * len(images) if masks is None else [_there(flat(m, 1, f"masks[{k}]"), owner) for k, m in enumerate(masks)]
    views = ffi.new("tsr_depth_view[]", len(images))
    for view, one, picture, mask in zip(views, cameras, pictures, shown):
        view.camera, view.image, view.mask = one._struct[0], picture._pointer, _core.pointer(mask)
    where = Camera.middle(cameras) if camera is None else camera
    made, kept = _core.options("tsr_depth_maps", {})
    with Progressed(progress) as p, owner.lock:
        values, held = _core.options("tsr_plane_sweep_options", {"channels": channels.pop(), **options}, p)
        p.check(lib.tsr_plane_sweep(owner._pointer, views, len(images), where._struct, values, made))
    names = ("depth", "valid", "score", "count", "hypothesis", "state", "disparity")
    told: dict[str, Any] = {name: _plane(getattr(made, name), owner) for name in names}
    if made.scores:
        volume = Volume._of([made.scores], owner)
        told["scores"] = (volume if volume.on_host else volume.to("cpu")).array.reshape(*told["depth"].shape, -1)
    return DepthMaps(camera=where, levels=int(made.levels), hypotheses=int(made.hypotheses), step=float(made.step), **told)


def stereo(left: Any, right: Any, *, progress: Progress = None, **options: Any) -> "tuple[Plane, NDArray[np.uint8]]":
    """Disparities of the left of two rectified pictures (NaN: none), and where they are valid: disparities, paths, p1, p2, ... as tsr_stereo_match_options.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> left = np.random.default_rng(1).integers(0, 255, (40, 60)).astype(np.uint8)
    >>> disparity, valid = ts.stereo(left, np.roll(left, -4, axis=1), disparities=16)
    >>> float(np.median(disparity[valid > 0]))
    4.0
    """
    a, b = as_image(left, "left"), as_image(right, "right")
    if a.array.shape != b.array.shape:
        raise ValueError(f"pictures of shapes {a.array.shape} and {b.array.shape}, expected the same")
    owner = _core.context()
    first, second = _there(flat(a, 0), owner), _there(flat(b, 0), owner)
    disparity, valid = ffi.new("tsr_volume **"), ffi.new("tsr_volume **")
    with Progressed(progress) as p, owner.lock:
        values, kept = _core.options("tsr_stereo_match_options", {"channels": channels_of(a), **options}, p)
        p.check(lib.tsr_stereo_match(owner._pointer, first._pointer, second._pointer, values, disparity, valid))
    one, two_ = _plane(disparity[0], owner), _plane(valid[0], owner)
    assert one is not None and two_ is not None
    return one, two_


def decode_depth(values: Any, camera: Camera, *, report: bool = False, **encoding: Any) -> Any:
    """Numbers of a depth image as distances along the camera's axis (0: none): kind ("eye", "window", "radial", "disparity", ...), bits, range, scale, ... as
    tsr_depth_encoding. With `report` also what was valid.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> ts.decode_depth(np.full((2, 2), 1500, np.uint16), ts.Camera(), kind="eye", bits=16, scale=0.001).tolist()
    [[1.5, 1.5], [1.5, 1.5]]
    """
    given = np.ascontiguousarray(values, np.float32)
    if given.ndim != 2:
        raise ValueError(f"values of shape {given.shape}, expected (height, width)")
    made = np.empty_like(given)
    told, kept = _core.options("tsr_depth_report", {})
    kind = _encoding(encoding)
    check(lib.tsr_depth_decode(camera._struct, kind, given.shape[1], given.shape[0], ffi.cast("float *", ffi.from_buffer(given)), ffi.cast("float *", ffi.from_buffer(made)), told))
    return (made, _core.report(told)) if report else made


def encode_depth(depth: Any, camera: Camera, **encoding: Any) -> "Plane":
    """Distances as the numbers of a depth image: the inverse of `decode_depth`.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> float(ts.encode_depth(np.array([[2.0]]), ts.Camera(), kind="inverse", range=(1, 4))[0, 0] - 1 / 3) < 1e-6
    True
    """
    given = np.ascontiguousarray(depth, np.float32)
    if given.ndim != 2:
        raise ValueError(f"depth of shape {given.shape}, expected (height, width)")
    made = np.empty_like(given)
    kind = _encoding(encoding)
    check(lib.tsr_depth_encode(camera._struct, kind, given.shape[1], given.shape[0], ffi.cast("float *", ffi.from_buffer(given)), ffi.cast("float *", ffi.from_buffer(made))))
    return made


def _encoding(values: dict[str, Any]) -> Any:
    made = ffi.new("tsr_depth_encoding *")
    _core.fill(made, "tsr_depth_encoding", values, [])
    return made


def depth_mesh(depth: Any, camera: Optional[Camera] = None, tolerance: float = 0.0, *, progress: Progress = None, **options: Any) -> tuple[Mesh, Report]:
    """A depth map as few triangles within a tolerance (world units), and their numbers; without a camera it is a height field.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> mesh, info = ts.depth_mesh(np.full((17, 17), 2.0), ts.Camera(), 0.01)
    >>> len(mesh.triangles), info.max_error <= 0.01
    (2, True)
    """
    volume = as_depth(depth)
    volume = volume if volume.on_host else volume.to("cpu")
    made, info = ffi.new("tsr_mesh **"), _core.begun("tsr_depth_mesh_info")
    with Progressed(progress) as p:
        values, kept = _core.options("tsr_depth_mesh_options", {"camera": camera, "tolerance": tolerance, **options}, p)
        p.check(lib.tsr_depth_mesh(volume._pointer, values, made, info))
    return Mesh._of(made, None), _core.report(info)


class Fusion(Object):
    """Many depth maps to one surface.

    Parameters
    ----------
    voxel : float
        Edge of a voxel, world units.
    **options
        truncation, nearest, farthest, weight, channels, ..., as tsr_fusion_options.

    Examples
    --------
    >>> import tessera as ts
    >>> fusion = ts.Fusion(0.05)
    >>> for camera in ts.Rig.make("ring", count=6, distance=4, height=1.5).cameras:
    ...     picture, depth = ts.analytic("spheres", camera, (80, 60))
    ...     fusion.add(depth, camera, picture)
    >>> len(fusion.mesh().triangles) > 1000
    True
    """

    _kind = "tsr_fusion"
    _destroy = "tsr_fusion_destroy"

    def __init__(self, voxel: float, **options: Any) -> None:
        owner = _core.context()
        values, kept = _core.options("tsr_fusion_options", {"voxel": voxel, **options})
        made = ffi.new("tsr_fusion **")
        check(lib.tsr_fusion_create(owner._pointer, values, made))
        super().__init__(made[0], owner)

    def add(self, depth: Any, camera: Camera, image: Any = None) -> None:
        """Takes one depth map and, if given, its picture."""
        volume = _there(as_depth(depth), self._owner)
        picture = None if image is None else _there(flat(as_image(image), 0), self._owner)
        with self._owner.lock:
            check(lib.tsr_fusion_add(self._pointer, volume._pointer, _core.pointer(picture), camera._struct))

    def describe(self) -> Report:
        """Maps, bricks, memory."""
        made, kept = _core.options("tsr_fusion_info", {})
        check(lib.tsr_fusion_describe(self._pointer, made))
        return _core.report(made)

    def mesh(self, *, progress: Progress = None, **options: Any) -> Mesh:
        """The surface: least_weight, closed, no_colors, least_triangles."""
        made = ffi.new("tsr_mesh **")
        with Progressed(progress) as p, self._owner.lock:
            values, kept = _core.options("tsr_fusion_mesh_options", options, p)
            p.check(lib.tsr_fusion_mesh(self._pointer, values, made))
        return Mesh._of(made, None)

    def tiles(self, least_weight: float = 0.0) -> Tiles:
        """The distance as a level set."""
        made = ffi.new("tsr_tiles **")
        with self._owner.lock:
            check(lib.tsr_fusion_tiles(self._pointer, float(least_weight), made))
        return Tiles._of(made, self._owner)

    def __repr__(self) -> str:
        info = self.describe()
        return f"<tessera.Fusion {info.maps} maps, {info.bricks} bricks>"


def fuse(depths: Sequence[Any], cameras: Sequence[Camera], voxel: float, images: Optional[Sequence[Any]] = None, **options: Any) -> Mesh:
    """The surface of several depth maps: Fusion in one call.

    Examples
    --------
    >>> import tessera as ts
    >>> cameras = ts.Rig.make("ring", count=6, distance=4).cameras
    >>> len(ts.fuse([ts.analytic("spheres", c, (80, 60))[1] for c in cameras], cameras, 0.05).triangles) > 1000
    True
    """
    if len(depths) != len(cameras) or (images is not None and len(images) != len(cameras)):
        raise ValueError(f"{len(depths)} depth maps, {len(cameras)} cameras and {len(images or [])} images, expected as many")
    fusion = Fusion(voxel, **options)
    for k, (depth, camera) in enumerate(zip(depths, cameras)):
        fusion.add(depth, camera, None if images is None else images[k])
    return fusion.mesh()


# ---- new views ---------------------------------------------------------------------------------------------------------------------


def _projector(depth: Any, camera: Camera, image: Any, owner: Context, kept: list[Any]) -> Any:
    made = ffi.new("tsr_projector *")
    volume = _there(as_depth(depth), owner)
    made.camera, made.depth = camera._struct[0], volume._pointer
    kept += [volume, made]
    if image is not None:
        colours = _there(flat(as_image(image), 3), owner)
        if channels_of(as_image(image)) != 3:
            raise ValueError("image: expected 3 channels")
        made.color = colours._pointer
        kept.append(colours)
    return made


def reproject(
    depths: Any,
    cameras: Union[Camera, Sequence[Camera]],
    camera: Camera,
    size: Sequence[int],
    images: Any = None,
    *,
    merge: Union[str, int] = "csg",
    blend: Optional[dict[str, Any]] = None,
    **options: Any,
) -> "tuple[Image, Plane]":
    """What another camera sees of the surface of one depth map or several: an image of 4 channels (alpha 0: nothing there) and its depth.

    Parameters
    ----------
    depths, cameras, images
        One of each, or sequences of as many; images are (height, width, 3), None: white.
    camera : Camera
        Of the new view.
    size : (width, height)
    merge : str
        "overlay", "blend", "csg" or "freespace", of several.
    blend : dict
        epsilon, power, feather, background_known, as tsr_blend_options.
    **options
        connect ("all", "threshold", "none"), ratio, point_size, diagonal, keep_far, faces ("front" is what csg and freespace want), as tsr_project_options.

    Examples
    --------
    >>> import tessera as ts
    >>> rig = ts.Rig.make("arc", count=3, degrees=20)
    >>> picture, depth = ts.analytic("spheres", rig.cameras[0], (64, 48))
    >>> seen, there = ts.reproject(depth, rig.cameras[0], rig.cameras[1], (64, 48), picture, connect="threshold")
    >>> seen.array.shape, bool((there > 0).any())
    ((48, 64, 4), True)
    """
    if isinstance(cameras, Camera):
        depths, cameras, images = [depths], [cameras], None if images is None else [images]
    if len(depths) != len(cameras) or not len(cameras) or (images is not None and len(images) != len(cameras)):
        raise ValueError(f"{len(depths)} depth maps beside {len(cameras)} cameras, expected as many, one at least")
    owner = _core.context()
    width, height = two(size)
    kept: list[Any] = []
    values, held = _core.options("tsr_project_options", options)
    blended, held_too = _core.options("tsr_blend_options", blend or {})
    made: list[Any] = []
    try:
        with owner.lock:
            projectors = [_projector(d, c, None if images is None else images[k], owner, kept) for k, (d, c) in enumerate(zip(depths, cameras))]
            for projector in projectors:
                view = ffi.new("tsr_novel **")
                check(lib.tsr_novel_create(owner._pointer, width, height, view))
                made.append(view)
                check(lib.tsr_novel_project(view[0], camera._struct, projector, values))
            result = made[0]
            if len(made) > 1:
                result = ffi.new("tsr_novel **")
                check(lib.tsr_novel_create(owner._pointer, width, height, result))
                made.append(result)
                views, given = ffi.new("tsr_novel *[]", [v[0] for v in made[:-1]]), ffi.new("tsr_projector *[]", projectors)
                check(lib.tsr_novel_merge(result[0], camera._struct, views, given, len(projectors), _core.enum("tsr_merge", merge), blended, ffi.NULL))
            depth, color = np.empty((height, width), np.float32), np.empty((height, width, 4), np.uint8)
            check(lib.tsr_novel_download(result[0], ffi.cast("float *", ffi.from_buffer(depth)), ffi.cast("uint8_t *", ffi.from_buffer(color))))
    finally:
        for view in made:
            lib.tsr_novel_destroy(view)
    return Image(color), depth


def analytic(name: str, camera: Camera, size: Sequence[int] = (640, 480), *, progress: Progress = None, **options: Any) -> "tuple[Image, Plane]":
    """A picture and exact depths of a scene of simple bodies: something to try depth on. `analytic_scenes()` has the names.

    Examples
    --------
    >>> import tessera as ts
    >>> picture, depth = ts.analytic("spheres", ts.Camera.look_at((0, -4, 0), (0, 0, 0)), (32, 24))
    >>> picture.array.shape, depth.shape
    ((24, 32, 3), (24, 32))
    """
    width, height = two(size)
    image, depth = ffi.new("tsr_image *"), np.empty((height, width), np.float32)
    with Progressed(progress) as p:
        values, kept = _core.options("tsr_analytic_options", options, p)
        p.check(lib.tsr_analytic_render(name.encode(), camera._struct, width, height, values, image, ffi.cast("float *", ffi.from_buffer(depth))))
    return Image._taken(image), depth


def analytic_scenes() -> dict[str, str]:
    """Names and descriptions of the scenes of `analytic`.

    Examples
    --------
    >>> import tessera as ts
    >>> len(ts.analytic_scenes()) > 3
    True
    """
    found: dict[str, str] = {}
    while info := lib.tsr_analytic_at(len(found)):
        found[ffi.string(info.name).decode()] = ffi.string(info.description).decode()
    return found


class Sweep(Object):
    """A fixed view of a scene that moving depth cameras pass: the nearest surface of all frames. `add` each, then `maps`.

    Examples
    --------
    >>> import tessera as ts
    >>> sweep = ts.Sweep(ts.Camera.look_at((0, -4, 0), (0, 0, 0), clip=(1, 10)), (32, 24))
    >>> for k, c in enumerate(ts.Rig.make("arc", count=3, degrees=20).cameras):
    ...     sweep.add(k, ts.analytic("spheres", c, (64, 48))[1], c)
    >>> sweep.maps().depth.shape
    (24, 32)
    """

    _kind = "tsr_sweep"
    _destroy = "tsr_sweep_destroy"

    def __init__(self, camera: Camera, size: Sequence[int]) -> None:
        owner = _core.context()
        self.size = two(size)
        made = ffi.new("tsr_sweep **")
        check(lib.tsr_sweep_create(owner._pointer, camera._struct, *self.size, made))
        super().__init__(made[0], owner)

    def add(self, number: int, depth: Any, camera: Camera, image: Any = None, **options: Any) -> None:
        """One frame: its number, depth, camera and picture."""
        assert self._context is not None
        kept: list[Any] = []
        values, held = _core.options("tsr_project_options", options)
        with self._context.lock:
            check(lib.tsr_sweep_add(self._pointer, int(number), _projector(depth, camera, image, self._context, kept), values))
            self._context.synchronize()

    def maps(self) -> Report:
        """depth, color, winner, first, hits, state (0 unknown, 1 surface, 2 empty) as arrays, and coverage."""
        width, height = self.size
        kinds = {"depth": "float32", "color": "uint8", "winner": "int32", "first": "int32", "hits": "int32", "state": "uint8"}
        arrays = {name: np.empty((height, width, 4) if name == "color" else (height, width), kind) for name, kind in kinds.items()}
        maps, coverage = ffi.new("tsr_sweep_maps *"), ffi.new("double *")
        for name, array in arrays.items():
            setattr(maps, name, ffi.cast(ffi.typeof(getattr(maps, name)), ffi.from_buffer(array)))
        assert self._context is not None
        with self._context.lock:
            check(lib.tsr_sweep_download(self._pointer, maps, coverage))
        return Report({**arrays, "coverage": float(coverage[0])})
