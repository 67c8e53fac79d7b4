"""Cameras, lenses and rigs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Optional, Sequence, Union

import numpy as np

from . import _core
from ._core import Object, Progress, Progressed, Report, Struct, check, ffi, lib
from ._arrays import rows
from ._objects import Image, Volume

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    PathLike = Union[str, "os.PathLike[str]"]


def vec3(values: Sequence[float], name: str = "position") -> Any:
    """A tsr_vec3."""
    numbers = [float(v) for v in np.asarray(values, float).ravel()]
    if len(numbers) != 3:
        raise ValueError(f"{name}: {len(numbers)} numbers, expected 3 (x, y, z)")
    return ffi.new("tsr_vec3 *", numbers)[0]


def two(size: Sequence[int]) -> tuple[int, int]:
    """Width and height."""
    if len(size) != 2:
        raise ValueError(f"size of {len(size)} numbers, expected (width, height)")
    return int(size[0]), int(size[1])


def as_image(thing: Any, name: str = "image") -> Image:
    """An Image of an array (height, width) or (height, width, channels) of uint8."""
    if isinstance(thing, Image):
        return thing
    try:
        return Image(thing)
    except (TypeError, ValueError) as wrong:
        raise type(wrong)(f"{name}: {wrong}") from None


class Lens(Struct):
    """What a lens does to the image of a pinhole: model ("division", "poly", "fisheye"), k1 to k6, p1, p2, shift, focal, pixel_aspect, as tsr_lens.

    Examples
    --------
    >>> import tessera as ts
    >>> barrel = ts.Lens(model="poly", k1=-0.1)
    >>> x, y = barrel.distort([[0.0, 240.0]], (640, 480))[0]
    >>> round(float(x)), round(float(y))
    (32, 240)
    """

    _type = "tsr_lens"

    def _map(self, function: Any, points: "ArrayLike", size: Sequence[int]) -> "Floats":
        width, height = two(size)
        given = rows(points, 2, "points")
        made = np.empty_like(given)
        place, out = ffi.new("double[2]"), ffi.new("double[2]")
        for k, (x, y) in enumerate(given.tolist()):
            place[0], place[1] = x, y
            check(function(self._struct, width, height, place, out))
            made[k] = out[0], out[1]
        return made

    def distort(self, points: "ArrayLike", size: Sequence[int]) -> "Floats":
        """Where the camera saw points (n, 2) in pixels that a pinhole would have seen there."""
        return self._map(lib.tsr_lens_distort, points, size)

    def undistort(self, points: "ArrayLike", size: Sequence[int]) -> "Floats":
        """Where a pinhole would have seen points (n, 2) in pixels."""
        return self._map(lib.tsr_lens_undistort, points, size)

    def __bool__(self) -> bool:
        return bool(lib.tsr_lens_distorts(self._struct))


class Camera(Struct):
    """A camera: pose, projection and lens. Axes of the eye: x right, y up, z backward; pixels count from the upper left corner of the image.

    Parameters
    ----------
    **fields
        position, rotation, projection ("perspective", "orthographic", ...), fov (degrees, vertical), height, aspect, offset, clip, lens, as tsr_camera.

    Examples
    --------
    >>> import tessera as ts
    >>> eye = ts.Camera.look_at((0, -4, 0), (0, 0, 0), fov=40)
    >>> pixels, depths = eye.project([(0, 0, 0)], (640, 480))
    >>> pixels.tolist(), depths.tolist()
    ([[320.0, 240.0]], [4.0])
    """

    _type = "tsr_camera"

    def __init__(self, **fields: Any) -> None:
        super().__init__(**{"rotation": np.eye(3), "fov": 40.0, **fields})

    @classmethod
    def look_at(cls, eye: Sequence[float], target: Sequence[float], up: Sequence[float] = (0, 0, 1), **fields: Any) -> "Camera":
        """A camera at `eye` that looks to `target`."""
        made = cls(**fields)
        check(lib.tsr_camera_look_at(made._struct, vec3(eye, "eye"), vec3(target, "target"), vec3(up, "up")))
        return made

    @classmethod
    def orbit(cls, lower: Sequence[float], upper: Sequence[float], azimuth: float = 30.0, elevation: float = 20.0, *, aspect: float = 4 / 3, space: Optional[str] = None) -> "Camera":
        """A camera that sees all of a box, from angles in degrees."""
        bounds = ffi.new("tsr_box *", {"lower": vec3(lower), "upper": vec3(upper)})
        made = ffi.new("tsr_camera *")
        check(lib.tsr_camera_orbit(bounds, {"ras": 1, "lps": 2}.get(space or "", 0), float(azimuth), float(elevation), 0, float(aspect), made))
        camera: Camera = cls._of(made)
        return camera

    @classmethod
    def middle(cls, cameras: Sequence["Camera"]) -> "Camera":
        """The camera in the middle of others."""
        made = ffi.new("tsr_camera *")
        check(lib.tsr_camera_middle(structs("tsr_camera", cameras), len(cameras), made))
        camera: Camera = cls._of(made)
        return camera

    def frustum(self, left: float, right: float, bottom: float, top: float, near: float, far: float) -> None:
        """Sets the projection from glFrustum's numbers."""
        check(lib.tsr_camera_set_frustum(self._struct, left, right, bottom, top, near, far))

    def check(self) -> None:
        """Raises an ArgumentError that names the field which is wrong."""
        check(lib.tsr_camera_check(self._struct))

    def project(self, points: "ArrayLike", size: Sequence[int]) -> "tuple[Floats, Floats]":
        """Pixels (n, 2) where points (n, 3) of the world are seen, and their distances (n,) along the axis. NaN where a point is not in front."""
        width, height = two(size)
        given = rows(points, 3, "points")
        pixels, depths = np.full((len(given), 2), np.nan), np.full(len(given), np.nan)
        place, depth = ffi.new("double[2]"), ffi.new("double *")
        self.check()
        for k, point in enumerate(given.tolist()):
            if lib.tsr_camera_project(self._struct, width, height, ffi.new("tsr_vec3 *", point)[0], place, depth) == 0:
                pixels[k], depths[k] = (place[0], place[1]), depth[0]
        return pixels, depths

    def rays(self, pixels: "ArrayLike", size: Sequence[int]) -> "tuple[Floats, Floats]":
        """Origins and directions (n, 3) of the rays that are seen at pixels (n, 2); directions have length 1 along the axis."""
        width, height = two(size)
        given = rows(pixels, 2, "pixels")
        origins, directions = np.empty((len(given), 3)), np.empty((len(given), 3))
        place, origin, direction = ffi.new("double[2]"), ffi.new("tsr_vec3 *"), ffi.new("tsr_vec3 *")
        for k, (x, y) in enumerate(given.tolist()):
            place[0], place[1] = x, y
            check(lib.tsr_camera_ray(self._struct, width, height, place, origin, direction))
            origins[k], directions[k] = (origin.x, origin.y, origin.z), (direction.x, direction.y, direction.z)
        return origins, directions

    def matrices(self, size: Sequence[int]) -> "tuple[Floats, Floats]":
        """World to eye and eye to clip coordinates, 4 x 4 for column vectors."""
        view, projection = ffi.new("double[16]"), ffi.new("double[16]")
        check(lib.tsr_camera_matrices(self._struct, *two(size), view, projection))
        return np.array(list(view)).reshape(4, 4).T.copy(), np.array(list(projection)).reshape(4, 4).T.copy()

    def pinhole(self, size: Sequence[int]) -> "Pinhole":
        """Intrinsics in pixels, axes x right, y down, z forward: what OpenCV and COLMAP use."""
        made = ffi.new("tsr_pinhole *")
        check(lib.tsr_camera_to_pinhole(self._struct, *two(size), made))
        pinhole: Pinhole = Pinhole._of(made)
        return pinhole


class Pinhole(Struct):
    """A camera as calibrations have it: width, height, fx, fy, cx, cy, rotation, translation, k, p, fisheye, as tsr_pinhole.

    Examples
    --------
    >>> import tessera as ts
    >>> p = ts.Pinhole(width=640, height=480, fx=500, fy=500, cx=320, cy=240)
    >>> round(p.camera().pinhole((640, 480)).fx, 9)
    500.0
    """

    _type = "tsr_pinhole"

    def __init__(self, **fields: Any) -> None:
        super().__init__(**{"rotation": np.eye(3), **fields})

    def camera(self) -> Camera:
        """The same as a Camera."""
        made = ffi.new("tsr_camera *")
        check(lib.tsr_camera_from_pinhole(self._struct, made))
        camera: Camera = Camera._of(made)
        return camera


def structs(kind: str, items: Sequence[Any]) -> Any:
    """An array of structs in C."""
    made = ffi.new(f"{kind}[]", len(items))
    for k, item in enumerate(items):
        if not isinstance(item, Struct) or item._type != kind:
            raise TypeError(f"{type(item).__name__}, expected tessera.{kind[4:].title()}")
        made[k] = item._struct[0]
    return made


# ---- images of lenses ---------------------------------------------------------------------------------------------------------------


def flat(images: Any, channels: int, name: str = "image") -> Volume:
    """Pictures (height, width, channels), or (images, ...), as the volume that vision functions take: channels side by side along x."""
    array = images.array if isinstance(images, Image) else np.asarray(images)
    if array.dtype != np.uint8:
        raise TypeError(f"{name} of {array.dtype}, expected uint8")
    if array.ndim not in (2, 3, 4) or array.size == 0:
        raise ValueError(f"{name} of shape {array.shape}, expected (height, width) or (height, width, {channels})")
    if array.ndim > 2:
        array = array.reshape(*array.shape[:-2], -1)
    return Volume(np.ascontiguousarray(array))


def channels_of(image: Any) -> int:
    """Channels of a picture."""
    array = image.array if isinstance(image, Image) else np.asarray(image)
    return int(array.shape[2]) if array.ndim > 2 else 1


def undistort(image: Any, lens: Lens, **options: Any) -> Image:
    """A picture without the distortion of its lens (with `add`: with it).

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> board = ts.board(width=64, height=48, square=8, lens=ts.Lens(model="poly", k1=-0.2))
    >>> ts.undistort(board, ts.Lens(model="poly", k1=-0.2)).array.shape
    (48, 64, 1)
    """
    picture = as_image(image)
    channels = channels_of(picture)
    owner = _core.context()
    volume = flat(picture, channels) if owner.on_host else flat(picture, channels).to(owner)
    made = ffi.new("tsr_volume **")
    values, kept = _core.options("tsr_lens_warp_options", {"channels": channels, **options})
    with owner.lock:
        check(lib.tsr_lens_warp(owner._pointer, volume._pointer, lens._struct, values, made, ffi.NULL))
    warped = Volume._of(made, owner)
    return Image(np.array((warped if warped.on_host else warped.to("cpu")).array).reshape(picture.array.shape))


def find_lens(image: Any, *, progress: Progress = None, **options: Any) -> Report:
    """The lens that makes the lines of a picture straight: criterion ("concentration", "source", "lines"), lower, upper, step, ... as tsr_lens_search_options.

    Examples
    --------
    >>> import tessera as ts
    >>> barrel = ts.board(width=256, height=256, square=32, degrees=7, lens=ts.Lens(model="poly", k1=-0.08))
    >>> abs(ts.find_lens(barrel, criterion="lines", lens=ts.Lens(model="poly")).lens.k1 + 0.08) < 0.01
    True
    """
    picture = as_image(image)
    owner = _core.context()
    grey = picture.array if channels_of(picture) == 1 else np.round(picture.array[..., :3] @ [0.299, 0.587, 0.114]).astype(np.uint8)
    volume = flat(grey, 1) if owner.on_host else flat(grey, 1).to(owner)
    found = ffi.new("tsr_lens_found *")
    with Progressed(progress) as p, owner.lock:
        values, kept = _core.options("tsr_lens_search_options", options, p)
        p.check(lib.tsr_lens_search(owner._pointer, volume._pointer, values, found))
    try:
        told = dict(_core.report(found))
        told["lens"] = Lens._of(found.lens)
        told["candidate"] = [(c.k1, c.score) for c in (found.candidate[k] for k in range(found.candidates))]
        del told["histogram"]
        return Report(told)
    finally:
        lib.tsr_lens_found_destroy(found)


def board(**options: Any) -> Image:
    """A picture of a checkerboard as a lens sees it: width, height, square, degrees, noise, seed, lens, as tsr_board_options.

    Examples
    --------
    >>> import tessera as ts
    >>> ts.board(width=32, height=24).array.shape
    (24, 32, 1)
    """
    values, kept = _core.options("tsr_board_options", options)
    made = ffi.new("tsr_image *")
    check(lib.tsr_board_make(values, made))
    return Image._taken(made)


# ---- rigs -------------------------------------------------------------------------------------------------------------------------


class RigCamera:
    """One camera of a rig: name, camera, size, image and depth (paths), frame, time, and the encoding of its depth image, as tsr_depth_encoding."""

    def __init__(
        self,
        camera: Camera,
        name: str = "",
        size: Sequence[int] = (0, 0),
        image: str = "",
        depth: str = "",
        frame: int = -1,
        time: float = 0.0,
        encoding: "Union[Report, Mapping[str, Any], None]" = None,
    ) -> None:
        self.camera, self.name, self.size, self.image, self.depth, self.frame, self.time = camera, name, two(size), image, depth, frame, time
        self.encoding = dict(encoding) if encoding is not None else {}

    def __repr__(self) -> str:
        return f"<tessera.RigCamera {self.name!r} {self.size[0]}x{self.size[1]}>"


class Rig(Object):
    """Cameras with names, sizes and pictures: a sequence of RigCamera.

    Examples
    --------
    >>> import tessera as ts
    >>> rig = ts.Rig.make("ring", count=6, distance=3)
    >>> len(rig), rig[0].name, rig[0].size
    (6, 'camera00', (640, 480))
    """

    _kind = "tsr_rig"
    _destroy = "tsr_rig_destroy"

    def __init__(self, cameras: Sequence[Union[RigCamera, Camera]] = ()) -> None:
        made = ffi.new("tsr_rig **")
        check(lib.tsr_rig_create(made))
        super().__init__(made[0], None)
        for camera in cameras:
            self.append(camera)

    @classmethod
    def _made(cls, made: Any) -> "Rig":
        self = cls.__new__(cls)
        Object.__init__(self, made[0], None)
        return self

    @classmethod
    def make(cls, layout: str = "ring", **options: Any) -> "Rig":
        """A rig by rule: "ring", "grid", "pair", "sweep" or "arc"; count, target, distance, height, fov, width, height_pixels, ... as tsr_rig_layout_options."""
        made = ffi.new("tsr_rig **")
        values, kept = _core.options("tsr_rig_layout_options", options)
        check(lib.tsr_rig_make(_core.enum("tsr_rig_layout", layout), values, made))
        return cls._made(made)

    @classmethod
    def read(cls, path: "PathLike", **options: Any) -> "Rig":
        """Cameras of transforms.json, COLMAP, OpenCV, Middlebury, GeoCast, Bundler, TUM, KITTI and more, by content."""
        made = ffi.new("tsr_rig **")
        values, kept = _core.options("tsr_rig_read_options", options)
        check(lib.tsr_rig_read(os.fsencode(path), values, made))
        return cls._made(made)

    def write(self, path: "PathLike", *, overwrite: bool = True, **options: Any) -> None:
        """Writes the rig, by the name's extension (.json, .yml, a folder for COLMAP, ...)."""
        values, kept = _core.options("tsr_rig_write_options", {"overwrite": overwrite, **options})
        check(lib.tsr_rig_write(self._pointer, os.fsencode(path), values))

    def __len__(self) -> int:
        return int(lib.tsr_rig_count(self._pointer))

    def _entry(self, camera: Union[RigCamera, Camera], kept: list[Any]) -> Any:
        given = camera if isinstance(camera, RigCamera) else RigCamera(camera, f"camera{len(self):02d}")
        texts = [ffi.new("char[]", os.fsencode(text)) for text in (given.name, given.image, given.depth)]
        kept.extend(texts)
        entry = ffi.new("tsr_rig_camera *")
        entry.name, entry.image, entry.depth = texts
        entry.width, entry.height = given.size
        entry.camera = given.camera._struct[0]
        entry.frame, entry.time = given.frame, given.time
        _core.fill(entry.encoding, "tsr_depth_encoding", given.encoding, kept)
        return entry

    def append(self, camera: Union[RigCamera, Camera]) -> None:
        """Adds a camera."""
        kept: list[Any] = []
        check(lib.tsr_rig_add(self._pointer, self._entry(camera, kept)))

    def __setitem__(self, index: int, camera: Union[RigCamera, Camera]) -> None:
        kept: list[Any] = []
        check(lib.tsr_rig_set(self._pointer, self._index(index), self._entry(camera, kept)))

    def _index(self, index: int) -> int:
        at = index + len(self) if index < 0 else index
        if not 0 <= at < len(self):
            raise IndexError(f"camera {index} of {len(self)}")
        return at

    def __getitem__(self, index: Union[int, str]) -> RigCamera:
        if isinstance(index, str):
            number = int(lib.tsr_rig_find(self._pointer, index.encode()))
            if number < 0:
                raise KeyError(index)
        else:
            number = self._index(index)
        entry = ffi.new("tsr_rig_camera *")
        check(lib.tsr_rig_get(self._pointer, number, entry))
        name, image, depth = (os.fsdecode(ffi.string(t)) for t in (entry.name, entry.image, entry.depth))
        return RigCamera(Camera._of(entry.camera), name, (entry.width, entry.height), image, depth, int(entry.frame), float(entry.time), _core.report(entry.encoding))

    def __iter__(self) -> Iterator[RigCamera]:
        return (self[k] for k in range(len(self)))

    @property
    def cameras(self) -> list[Camera]:
        """The cameras alone."""
        return [entry.camera for entry in self]

    def along(self, t: float) -> Camera:
        """A camera on the way past all cameras in their order, from the first (t = 0) to the last (1): places on a smooth line, turns at a steady rate.

        Examples
        --------
        >>> import tessera as ts
        >>> rig = ts.Rig.make("ring", count=4)
        >>> way = [rig.along(k / 90) for k in range(91)]
        >>> way[0].position == rig.cameras[0].position
        True
        """
        camera = ffi.new("tsr_camera *")
        check(lib.tsr_rig_along(self._pointer, t, camera))
        return Camera._of(camera)

    def path(self, path: str, frame: int = 0) -> str:
        """A path of the rig as one that can be opened."""
        text = ffi.new("char[4096]")
        check(lib.tsr_rig_path(self._pointer, os.fsencode(path), frame, text, 4096))
        return os.fsdecode(ffi.string(text))

    def points(self) -> "Floats":
        """Points (n, 3) of the scene that came with the cameras."""
        out = ffi.new("const tsr_rig_point **")
        count = int(lib.tsr_rig_points(self._pointer, out))
        return np.array([list(out[0][k].position) for k in range(count)], float).reshape(-1, 3)

    def _listed(self, function: Any, kind: str) -> bytes:
        out = ffi.new(f"const {kind} **")
        count = int(function(self._pointer, out))
        return bytes(ffi.buffer(out[0], count * ffi.sizeof(kind))) if count else b""

    def __reduce__(self) -> Any:
        if lib.tsr_rig_unknown(self._pointer, 0) != ffi.NULL and ffi.string(lib.tsr_rig_unknown(self._pointer, 0)):
            raise TypeError("the rig's file has lines that tessera does not know, and only writing it keeps them")
        first, last = ffi.new("int32_t *"), ffi.new("int32_t *")
        lib.tsr_rig_sequence(self._pointer, first, last)
        lists = self._listed(lib.tsr_rig_points, "tsr_rig_point"), self._listed(lib.tsr_rig_sights, "tsr_rig_sight")
        return (_rig_again, (list(self), os.fsdecode(ffi.string(lib.tsr_rig_folder(self._pointer))), (first[0], last[0]), *lists))

    def __repr__(self) -> str:
        return f"<tessera.Rig {len(self)} cameras>"


def _rig_again(cameras: Sequence[RigCamera], folder: str, frames: Sequence[int], points: bytes, sights: bytes) -> Rig:
    made = Rig(cameras)
    check(lib.tsr_rig_set_folder(made._pointer, os.fsencode(folder)))
    lib.tsr_rig_set_sequence(made._pointer, *frames)
    for function, kind, data in ((lib.tsr_rig_add_points, "tsr_rig_point", points), (lib.tsr_rig_add_sights, "tsr_rig_sight", sights)):
        if data:
            check(function(made._pointer, ffi.from_buffer(f"{kind}[]", data), len(data) // ffi.sizeof(kind)))
    return made
