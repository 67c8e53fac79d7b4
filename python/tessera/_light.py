"""Light through matter whose index of refraction varies."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence, Union

import numpy as np

from . import _core
from ._cameras import Camera
from ._core import Context, Object, Progress, Progressed, Report, check, ffi, lib
from ._objects import Image, Volume
from ._inputs import as_volume

if TYPE_CHECKING:
    from numpy.typing import NDArray

    PathLike = Union[str, "os.PathLike[str]"]

RAY = np.dtype([("position", "f8", 3), ("speed", "f8", 3), ("optical", "f8")])


class LightMatter(Object):
    """Matter on a grid of cubic voxels.

    Parameters
    ----------
    index, asymmetry, opaque : Volume or array, optional
        Index of refraction; g of Henyey and Greenstein; coverage.
    extinction, scattering, emission, color : Volume or array, or three of them for r, g, b, optional
    smooth : float
        Gaussian of the index before its gradient is taken, in voxels.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> z, y, x = np.mgrid[:24, :24, :24] - 11.5
    >>> ball = np.where(x * x + y * y + z * z < 64, 1.4, 1.0).astype(np.float32)
    >>> glass = ts.LightMatter(index=ball, smooth=1.0)
    >>> lit = glass.simulate([{"kind": "directional", "direction": (0, 0, -1), "color": (1, 1, 1)}], grid=16)
    >>> lit.report.balance < 0.01
    True
    """

    _kind = "tsr_light_matter"
    _destroy = "tsr_light_matter_destroy"

    def __init__(self, *, smooth: float = 0.0, **volumes: Any) -> None:
        owner = _core.context()
        values, kept = _core.options("tsr_light_volumes", {"smooth": smooth})
        known = [name for name, _ in ffi.typeof("tsr_light_volumes").fields if name not in ("struct_size", "smooth")]
        for name, given in volumes.items():
            if name not in known:
                raise TypeError(f"unknown volume {name!r}, expected one of: {', '.join(known)}")
            if name in ("index", "asymmetry", "opaque"):
                volume = as_volume(given)
                kept.append(volume)
                setattr(values, name, volume._pointer)
            else:
                three = [as_volume(v) for v in given] if isinstance(given, (tuple, list)) and len(given) == 3 else [as_volume(given)] * 3
                kept.append(three)
                for k in range(3):
                    getattr(values, name)[k] = three[k]._pointer
        made = ffi.new("tsr_light_matter **")
        with owner.lock:
            check(lib.tsr_light_matter_create(owner._pointer, values, made))
        super().__init__(made[0], owner)

    @classmethod
    def _made(cls, made: Any, owner: Context) -> "LightMatter":
        self = cls.__new__(cls)
        Object.__init__(self, made[0], owner)
        return self

    def describe(self) -> Report:
        """size, voxel, bounds, indices, share that is empty."""
        made, kept = _core.options("tsr_light_matter_info", {})
        check(lib.tsr_light_matter_describe(self._pointer, made))
        return _core.report(made)

    def trace(self, positions: Any, directions: Any, **options: Any) -> "tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]":
        """Where rays from positions (n, 3) along directions (n, 3) end, their speeds there, and their optical lengths: integrator, step, steps, ..."""
        where, towards = np.atleast_2d(np.asarray(positions, float)), np.atleast_2d(np.asarray(directions, float))
        if where.ndim != 2 or where.shape[1] != 3 or where.shape != towards.shape:
            raise ValueError(f"positions of shape {where.shape} and directions of {towards.shape}, expected (n, 3) both")
        rays = np.zeros(len(where), RAY)
        rays["position"], rays["speed"] = where, towards
        values, kept = _core.options("tsr_light_trace_options", options)
        with self._owner.lock:
            check(lib.tsr_light_trace(self._owner._pointer, self._pointer, values, ffi.cast("tsr_light_ray *", rays.ctypes.data), len(rays)))
        return rays["position"].copy(), rays["speed"].copy(), rays["optical"].copy()

    def simulate(self, sources: Sequence[Mapping[str, Any]], *, progress: Progress = None, **options: Any) -> "LightField":
        """Light of sources (kind, position, direction, color, angle, soft as tsr_light_source) in every voxel: cfl, record, layers, grid, ground, ... as
        tsr_light_options."""
        kept: list[Any] = []
        given = ffi.new("tsr_light_source[]", len(sources))
        for place, source in zip(given, sources):
            _core.fill(place, "tsr_light_source", source, kept)
        return self._simulate(given, len(sources), options, progress)

    def _simulate(self, sources: Any, count: int, options: Any, progress: Progress) -> "LightField":
        made = ffi.new("tsr_light_field **")
        report, kept = _core.options("tsr_light_report", {})
        with Progressed(progress) as p, self._owner.lock:
            if isinstance(options, dict):
                options, held = _core.options("tsr_light_options", options, p)
            p.check(lib.tsr_light_simulate(self._owner._pointer, self._pointer, sources, count, options, made, report))
        field = LightField.__new__(LightField)
        Object.__init__(field, made[0], self._owner, self)
        field.matter, field.report = self, _core.report(report)
        return field

    def __repr__(self) -> str:
        size = self.describe().size
        return f"<tessera.LightMatter {'x'.join(map(str, size))}>"


class LightField(Object):
    """Light in every voxel of `matter`, and the `report` of its simulation."""

    _kind = "tsr_light_field"
    _destroy = "tsr_light_field_destroy"
    matter: LightMatter
    report: Report

    def __init__(self, matter: LightMatter, volume: Any) -> None:
        body = as_volume(volume)
        made = ffi.new("tsr_light_field **")
        with matter._owner.lock:
            check(lib.tsr_light_field_from_volume(matter._owner._pointer, matter._pointer, body._pointer, made))
        super().__init__(made[0], matter._owner, matter)
        self.matter, self.report = matter, Report({})

    def volume(self) -> Volume:
        """The light as one volume: blocks r, g, b of the irradiance and x, y, z of the direction, one above the other."""
        made, owner = ffi.new("tsr_volume **"), self.matter._owner
        with owner.lock:
            check(lib.tsr_light_field_to_volume(owner._pointer, self.matter._pointer, self._pointer, made))
        return Volume._of(made, None)

    def ground(self) -> "NDArray[np.float32]":
        """The floor's irradiance (texels, texels, 3)."""
        made, owner = ffi.new("tsr_volume **"), self.matter._owner
        with owner.lock:
            check(lib.tsr_light_field_ground(owner._pointer, self._pointer, made))
        array = Volume._of(made, None).array
        return array.reshape(array.shape[-2], -1, 3)

    def view(self, camera: Camera, *, tone: Optional[Mapping[str, Any]] = None, progress: Progress = None, **options: Any) -> Image:
        """A picture: width, height, samples, surroundings, floor, ... as tsr_light_view_options; key, white, exposure, ... of `tone` as tsr_light_tone_options."""
        with Progressed(progress) as p:
            values, kept = _core.options("tsr_light_view_options", options, p)
            toned, held = _core.options("tsr_light_tone_options", tone or {})
            return self._view(camera._struct, values, toned, p)

    def _view(self, camera: Any, values: Any, tone: Any, p: Progressed) -> Image:
        owner = self.matter._owner
        made, image = ffi.new("tsr_volume **"), ffi.new("tsr_image *")
        with owner.lock:
            p.check(lib.tsr_light_view(owner._pointer, self.matter._pointer, self._pointer, camera, values, made))
            picture = Volume._of(made, owner)
            check(lib.tsr_light_tone(owner._pointer, picture._pointer, tone, image))
        return Image._taken(image)

    def __repr__(self) -> str:
        return f"<tessera.LightField of {self.matter!r}>"


class LightScene(Object):
    """A scene of matter, lights, floor and camera: a name of `LightScene.names()`, or a text of a scene's file.

    Examples
    --------
    >>> import tessera as ts
    >>> name = next(iter(ts.LightScene.names()))
    >>> ts.LightScene(name).render((32, 24), resolution=16).array.shape
    (24, 32, 3)
    """

    _kind = "tsr_light_scene"
    _destroy = "tsr_light_scene_destroy"

    def __init__(self, name: str, text: Optional[str] = None, folder: Optional["PathLike"] = None) -> None:
        if text is None:
            known = self.names()
            if name not in known:
                raise ValueError(f"scene {name!r}, expected one of {', '.join(known)}")
            text = known[name][1]
        made = ffi.new("tsr_light_scene **")
        check(lib.tsr_light_scene_parse(text.encode(), name.encode(), ffi.NULL if folder is None else os.fsencode(folder), made))
        super().__init__(made[0], None)

    @classmethod
    def read(cls, path: "PathLike", **options: Any) -> "LightScene":
        """A scene's file."""
        made = ffi.new("tsr_light_scene **")
        values, kept = _core.options("tsr_read_options", options)
        check(lib.tsr_light_scene_read(os.fsencode(path), values, made))
        self = cls.__new__(cls)
        Object.__init__(self, made[0], None)
        return self

    @staticmethod
    def names() -> dict[str, tuple[str, str]]:
        """Description and text of the scenes that come with the library, by name."""
        found: dict[str, tuple[str, str]] = {}
        while info := lib.tsr_light_scene_at(len(found)):
            found[ffi.string(info.name).decode()] = (ffi.string(info.description).decode(), ffi.string(info.text).decode())
        return found

    @property
    def camera(self) -> Camera:
        """Its camera, a copy."""
        made: Camera = Camera._of(lib.tsr_light_scene_camera(self._pointer)[0])
        return made

    def matter(self, resolution: int = 0, *, progress: Progress = None) -> LightMatter:
        """Its matter, at so many voxels along the longest extent (0: as the scene says)."""
        owner = _core.context()
        made = ffi.new("tsr_light_matter **")
        with Progressed(progress) as p, owner.lock:
            p.check(lib.tsr_light_scene_matter(owner._pointer, self._pointer, int(resolution), p.pointer, made))
        return LightMatter._made(made, owner)

    def simulate(self, resolution: int = 0, *, progress: Progress = None) -> LightField:
        """Its light."""
        count = ffi.new("int32_t *")
        sources = lib.tsr_light_scene_sources(self._pointer, count)
        return self.matter(resolution, progress=progress)._simulate(sources, int(count[0]), lib.tsr_light_scene_options(self._pointer), progress)

    def render(self, size: Optional[Sequence[int]] = None, *, resolution: int = 0, camera: Optional[Camera] = None, progress: Progress = None) -> Image:
        """A picture of the scene."""
        field = self.simulate(resolution, progress=progress)
        values = ffi.new("tsr_light_view_options *", lib.tsr_light_scene_view(self._pointer)[0])
        if size is not None:
            values.width, values.height = int(size[0]), int(size[1])
        with Progressed(progress) as p:
            values.progress = p.struct
            return field._view((camera or self.camera)._struct, values, lib.tsr_light_scene_tone(self._pointer), p)
