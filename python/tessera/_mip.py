"""Maximum intensity projections from a pyramid that is built once and drawn from any angle."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Callable, Iterable, Sequence, Union

import numpy as np

from . import _core
from ._core import Context, Object, Progress, Progressed, Report, check, ffi, lib
from ._inputs import as_volume, on_context
from ._objects import Image, Volume

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._inputs import VolumeLike

    PathLike = Union[str, "os.PathLike[str]"]


def _numbers(info: Any) -> Any:
    return (info.size.x, info.size.y, info.size.z), (info.spacing.x, info.spacing.y, info.spacing.z), info.dtype


class _Projected(Object):
    """What is projected from any angle."""

    def _about(self) -> Any:
        """size and spacing (x, y, z), and the element type's number."""
        raise NotImplementedError

    def _draw(self, view: Any, options: Any, frame: Any) -> int:
        raise NotImplementedError

    def _frame(self, azimuth: float, elevation: float, zoom: float, size: Sequence[int], options: Any) -> Any:
        """A drawn frame. The lock is held."""
        frame, (extent, spacing, _) = ffi.new("tsr_mip_frame **"), self._about()
        width, height = (int(v) for v in size)
        stretch = np.array(spacing) / min(spacing)
        if zoom <= 0:
            zoom = min(width, height) / max(1.0, float(np.linalg.norm(np.array(extent) * stretch)))
        view = ffi.new("tsr_mip_view *", lib.tsr_mip_orbit(float(azimuth), float(elevation), float(zoom)))
        view.stretch = ffi.new("tsr_vec3 *", stretch.tolist())[0]
        values, kept = _core.options("tsr_mip_render_options", options)
        check(lib.tsr_mip_frame_create(self._owner._pointer, width, height, frame))
        made = ffi.gc(frame[0], lambda one: lib.tsr_mip_frame_destroy(ffi.new("tsr_mip_frame **", one)))
        check(self._draw(view, values, made))
        del kept
        return made

    def values(self, *, azimuth: float = 0.0, elevation: float = 0.0, zoom: float = 0.0, size: Sequence[int] = (512, 512), **options: Any) -> "NDArray[np.uint32]":
        """The projection as values of the volume (height, width), 0 where there is nothing.

        Parameters
        ----------
        azimuth, elevation : float
            Degrees: about the z axis, and towards the viewer.
        zoom : float
            Pixels a voxel; 0: all is seen.
        size : (width, height)
        **options
            mode ("splat", "cascade", "exact"), fraction, count, error, lower, upper, close, slab, finest: as tsr_mip_render_options.
        """
        width, height = (int(v) for v in size)
        with self._owner.lock:
            frame = self._frame(azimuth, elevation, zoom, size, options)
            made = np.zeros((height, width), np.uint32)
            check(lib.tsr_mip_frame_download(frame, ffi.from_buffer("uint32_t[]", made)))
        return made

    def render(self, *, azimuth: float = 0.0, elevation: float = 0.0, zoom: float = 0.0, size: Sequence[int] = (512, 512), window: float = 0.0, level: float = 0.0, **options: Any) -> Image:
        """The same as a picture: values from level - window / 2 to level + window / 2 become 0 to 255; 0 0: all."""
        made = ffi.new("tsr_image *")
        with self._owner.lock:
            frame = self._frame(azimuth, elevation, zoom, size, options)
            check(lib.tsr_mip_frame_image(frame, self._about()[2], float(window), float(level), made))
        return Image._taken(made)

    def _repr_png_(self) -> bytes:
        return self.render(azimuth=30, elevation=15)._repr_png_()


class Mip(_Projected):
    """A morphological pyramid of a volume: projections from any angle, of all or of the most important coefficients; the volume comes back bit for bit.

    Parameters
    ----------
    volume : Volume or array of uint8 or uint16
    **options
        levels, element, key, format, hide (drop what no ray can show), measure (errors by number of coefficients): as tsr_mip_options.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> v = np.random.default_rng(1).integers(0, 99, (8, 12, 16)).astype(np.uint8)
    >>> pyramid = ts.Mip(v)
    >>> bool((pyramid.reconstruct().array == v).all())
    True
    >>> pyramid.values(azimuth=40, size=(48, 32), mode="exact").shape
    (32, 48)
    """

    _kind = "tsr_mip"
    _destroy = "tsr_mip_destroy"

    def __init__(self, volume: "VolumeLike", *, progress: Progress = None, **options: Any) -> None:
        body, owner = on_context(as_volume(volume))
        made = ffi.new("tsr_mip **")
        with Progressed(progress) as p, owner.lock:
            values, kept = _core.options("tsr_mip_options", options, p)
            p.check(lib.tsr_mip_build(owner._pointer, body._pointer, values, made))
        super().__init__(made[0], owner)

    @classmethod
    def _of(cls, made: Any, owner: Context) -> "Mip":
        self = cls.__new__(cls)
        Object.__init__(self, made[0], owner)
        return self

    @classmethod
    def read(cls, path: "PathLike", *, progress: Progress = None, **options: Any) -> "Mip":
        """A pyramid of a file, .mip or .mip.gz."""
        owner, made = _core.context(), ffi.new("tsr_mip **")
        with Progressed(progress) as p, owner.lock:
            values, kept = _core.options("tsr_read_options", options, p)
            p.check(lib.tsr_mip_read(owner._pointer, os.fsencode(path), values, made))
        return cls._of(made, owner)

    def write(self, path: "PathLike", *, overwrite: bool = True, progress: Progress = None) -> None:
        """Writes the pyramid, .mip or .mip.gz."""
        with Progressed(progress) as p, self._owner.lock:
            values, kept = _core.options("tsr_write_options", {"overwrite": overwrite}, p)
            p.check(lib.tsr_mip_write(self._pointer, os.fsencode(path), values))

    def describe(self) -> Report:
        """size, spacing, levels, dtype, coefficients, by_level, steps and step (measured errors), device_bytes, ..."""
        return _core.report(lib.tsr_mip_describe(self._pointer))

    def reconstruct(self) -> Volume:
        """The volume, bit for bit."""
        made = ffi.new("tsr_volume **")
        with self._owner.lock:
            check(lib.tsr_mip_reconstruct(self._pointer, made))
        return Volume._of(made, self._owner)

    def keep(self, count: int) -> "Mip":
        """A pyramid of the first `count` coefficients."""
        made = ffi.new("tsr_mip **")
        with self._owner.lock:
            check(lib.tsr_mip_keep(self._pointer, int(count), made))
        return Mip._of(made, self._owner)

    @property
    def points(self) -> "NDArray[np.int8]":
        """The points of the structuring element (n, 3), x, y, z."""
        made = np.zeros((64, 3), np.int8)
        lib.tsr_mip_get_points(self._pointer, ffi.cast("int8_t (*)[3]", made.ctypes.data))
        return made[: int(lib.tsr_mip_describe(self._pointer).points)]

    def _about(self) -> Any:
        return _numbers(lib.tsr_mip_describe(self._pointer))

    def _draw(self, view: Any, options: Any, frame: Any) -> int:
        return int(lib.tsr_mip_render(self._pointer, view, options, frame, ffi.NULL))

    def __reduce__(self) -> Any:
        from ._files import contents

        return (_mip_again, (contents(self, ".mip"),))

    def __repr__(self) -> str:
        info = self.describe()
        return f"<tessera.Mip {'x'.join(str(n) for n in info.size)}, {info.coefficients} coefficients>"


def _mip_again(data: bytes) -> Mip:
    from ._files import from_contents

    made: Mip = from_contents(data, ".mip", Mip.read)
    return made


class MipStream(_Projected):
    """A pyramid in a file (.mip, not packed) that is drawn piece by piece: no more of it than `memory_limit` bytes (0: 256 MiB) is in memory at a time.

    Examples
    --------
    >>> import numpy as np, tessera as ts, tempfile, os
    >>> pyramid = ts.Mip(np.random.default_rng(1).integers(0, 99, (8, 12, 16)).astype(np.uint8))
    >>> with tempfile.TemporaryDirectory() as d:
    ...     pyramid.write(os.path.join(d, "a.mip"))
    ...     stream = ts.MipStream(os.path.join(d, "a.mip"))
    ...     bool((stream.values(azimuth=40, size=(48, 32)) == pyramid.values(azimuth=40, size=(48, 32))).all())
    True
    """

    _kind = "tsr_mip_stream"
    _destroy = "tsr_mip_stream_destroy"

    def __init__(self, path: "PathLike", *, memory_limit: int = 0, progress: Progress = None) -> None:
        self._progress = Progressed(None)  # the library keeps the struct
        owner, made = _core.context(), ffi.new("tsr_mip_stream **")
        with self._progress.again(progress) as p, owner.lock:
            values, kept = _core.options("tsr_mip_stream_options", {"memory_limit": memory_limit}, p)
            p.check(lib.tsr_mip_stream_create(owner._pointer, os.fsencode(path), values, made))
        super().__init__(made[0], owner, self._progress)
        self._progress.again(None)
        self._path = os.fspath(path)

    def describe(self) -> Report:
        """As that of `Mip`; device_bytes: of a piece."""
        return _core.report(lib.tsr_mip_stream_describe(self._pointer))

    def _about(self) -> Any:
        return _numbers(lib.tsr_mip_stream_describe(self._pointer))

    def _draw(self, view: Any, options: Any, frame: Any) -> int:
        return int(lib.tsr_mip_stream_render(self._pointer, view, options, frame, ffi.NULL))

    def __repr__(self) -> str:
        return f"<tessera.MipStream {self._path}>"


class MipGroup(_Projected):
    """A pyramid dealt out over several contexts (GPUs), each of which draws its part: the same pictures.

    Parameters
    ----------
    mip : Mip
        Of format "bricks".
    contexts : iterable of Context
        They may be of one device.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> pyramid = ts.Mip(np.random.default_rng(1).integers(0, 99, (8, 12, 16)).astype(np.uint8))
    >>> group = ts.MipGroup(pyramid, [ts.Context("cpu", 1), ts.Context("cpu", 1)])
    >>> bool((group.values(azimuth=40, size=(48, 32)) == pyramid.values(azimuth=40, size=(48, 32))).all())
    True
    """

    _kind = "tsr_mip_group"
    _destroy = "tsr_mip_group_destroy"

    def __init__(self, mip: Mip, contexts: Iterable[Context]) -> None:
        listed, made = list(contexts), ffi.new("tsr_mip_group **")
        if not listed:
            raise ValueError("no context, expected one or more")
        with mip._owner.lock:
            check(lib.tsr_mip_group_create(ffi.new("tsr_context *[]", [c._pointer for c in listed]), len(listed), mip._pointer, made))
        super().__init__(made[0], listed[0], *listed)
        self._listed = listed

    def describe(self) -> Report:
        """As that of `Mip`; device_bytes: of the largest part."""
        return _core.report(lib.tsr_mip_group_describe(self._pointer))

    def _about(self) -> Any:
        return _numbers(lib.tsr_mip_group_describe(self._pointer))

    def _draw(self, view: Any, options: Any, frame: Any) -> int:
        return int(lib.tsr_mip_group_render(self._pointer, view, options, frame, ffi.NULL))

    def __repr__(self) -> str:
        return f"<tessera.MipGroup of {len(self._listed)} contexts>"


class MipDense(_Projected):
    """Exact projections of a dense volume, ray by ray: what a pyramid's are compared with. Volumes are uint8 or uint16.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> v = np.random.default_rng(1).integers(0, 99, (8, 12, 16)).astype(np.uint8)
    >>> a, b = ts.MipDense(v), ts.Mip(v)
    >>> bool((a.values(azimuth=40, size=(48, 32)) == b.values(azimuth=40, size=(48, 32), mode="exact")).all())
    True
    """

    _kind = "tsr_mip_dense"
    _destroy = "tsr_mip_dense_destroy"

    def __init__(self, volume: "VolumeLike") -> None:
        body, owner = on_context(as_volume(volume))
        made = ffi.new("tsr_mip_dense **")
        with owner.lock:
            check(lib.tsr_mip_dense_create(owner._pointer, body._pointer, made))
        super().__init__(made[0], owner, body)
        self._volume = body

    def _about(self) -> Any:
        return tuple(reversed(self._volume.shape)), self._volume.spacing, lib.tsr_volume_dtype(self._volume._pointer)

    def _draw(self, view: Any, options: Any, frame: Any) -> int:
        return int(lib.tsr_mip_dense_render(self._pointer, view, options, frame))

    def __repr__(self) -> str:
        return f"<tessera.MipDense of {self._volume!r}>"


def mip_hide(volume: "VolumeLike", *, progress: Progress = None, **options: Any) -> tuple[Volume, int]:
    """The volume with every voxel lowered that no projection from any angle can show, and how many these were: its pyramid has fewer coefficients.

    Further options: element, points, as tsr_mip_options.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> v = np.full((9, 9, 9), 50, np.uint8); v[4, 4, 4] = 7
    >>> ts.mip_hide(v)[1] > 0
    True
    """
    body, owner = on_context(as_volume(volume))
    made, hidden = ffi.new("tsr_volume **"), ffi.new("int64_t *")
    with Progressed(progress) as p, owner.lock:
        values, kept = _core.options("tsr_mip_options", options, p)
        p.check(lib.tsr_mip_hide(owner._pointer, body._pointer, values, made, hidden))
    del kept
    return Volume._of(made, owner), int(hidden[0])


def mip_errors(thing: _Projected, reference: _Projected, *, azimuth: float = 0.0, elevation: float = 0.0, zoom: float = 0.0, size: Sequence[int] = (512, 512), **options: Any) -> Report:
    """How far a picture (of fewer coefficients, by the options) is from that of a reference of the same volume: maximum, relative, median, different.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> v = np.random.default_rng(1).integers(1, 99, (8, 12, 16)).astype(np.uint8)
    >>> ts.mip_errors(ts.Mip(v), ts.MipDense(v), azimuth=40, size=(48, 32), mode="exact").maximum
    0.0
    """
    made = _core.begun("tsr_mip_errors")
    with reference._owner.lock:
        second = reference._frame(azimuth, elevation, zoom, size, {})
        with thing._owner.lock:
            first = thing._frame(azimuth, elevation, zoom, size, options)
            check(lib.tsr_mip_compare(first, second, made))
    return _core.report(made)


class FilterPyramid(Object):
    """A pyramid whose coarse levels keep what is connected: by openings, or openings by reconstruction, instead of erosions.

    Parameters
    ----------
    volume : Volume or array of uint8 or uint16
    **options
        levels, element ("cube2", "cube3", "cross6"), filter ("erosion", "opening", "reconstruction"), iterations: as tsr_filter_pyramid_options.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> v = np.random.default_rng(1).integers(0, 99, (8, 12, 16)).astype(np.uint8)
    >>> pyramid = ts.FilterPyramid(v, filter="opening")
    >>> [level.shape for level in pyramid.levels], bool((pyramid.synthesise().array == v).all())
    ([(8, 12, 16), (4, 6, 8), (2, 3, 4)], True)
    """

    _kind = "tsr_filter_pyramid"
    _destroy = "tsr_filter_pyramid_destroy"

    def __init__(self, volume: "VolumeLike", *, progress: Progress = None, **options: Any) -> None:
        body, made = as_volume(volume), ffi.new("tsr_filter_pyramid **")
        with Progressed(progress) as p:
            values, kept = _core.options("tsr_filter_pyramid_options", options, p)
            p.check(lib.tsr_filter_pyramid_create(body._pointer, values, made))
        super().__init__(made[0], None)
        del kept

    def _all(self, at: Callable[[Any, int], Any]) -> list[Volume]:
        found: list[Volume] = []
        while True:
            one, made = at(self._pointer, len(found)), ffi.new("tsr_volume **")
            if not one:
                return found
            check(lib.tsr_volume_copy(one, ffi.NULL, made))
            found.append(Volume._of(made, None))

    @property
    def levels(self) -> list[Volume]:
        """The volume and its reductions: copies."""
        return self._all(lib.tsr_filter_pyramid_level)

    @property
    def details(self) -> list[Volume]:
        """What each level has beyond the expansion of the next, int32: copies."""
        return self._all(lib.tsr_filter_pyramid_detail)

    def synthesise(self, finest: int = 0) -> Volume:
        """The volume of the coarsest level and the details down to one: 0 gives it bit for bit."""
        made = ffi.new("tsr_volume **")
        check(lib.tsr_filter_pyramid_synthesise(self._pointer, int(finest), made))
        return Volume._of(made, None)
