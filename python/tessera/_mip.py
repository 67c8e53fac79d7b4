"""Maximum intensity projections from a pyramid that is built once and drawn from any angle."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Sequence, Union

import numpy as np

from . import _core
from ._core import Context, Object, Progress, Progressed, Report, check, ffi, lib
from ._inputs import as_volume, on_context
from ._objects import Image, Volume

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._inputs import VolumeLike

    PathLike = Union[str, "os.PathLike[str]"]


class Mip(Object):
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

    def _frame(self, azimuth: float, elevation: float, zoom: float, size: Sequence[int], options: Any) -> Any:
        """A drawn frame. The lock is held."""
        frame, info = ffi.new("tsr_mip_frame **"), lib.tsr_mip_describe(self._pointer)
        width, height = (int(v) for v in size)
        spacing = np.array([info.spacing.x, info.spacing.y, info.spacing.z])
        stretch = spacing / spacing.min()
        if zoom <= 0:
            extent = np.array([info.size.x, info.size.y, info.size.z]) * stretch
            zoom = min(width, height) / max(1.0, float(np.linalg.norm(extent)))
        view = ffi.new("tsr_mip_view *", lib.tsr_mip_orbit(float(azimuth), float(elevation), float(zoom)))
        view.stretch = ffi.new("tsr_vec3 *", stretch.tolist())[0]
        values, kept = _core.options("tsr_mip_render_options", options)
        check(lib.tsr_mip_frame_create(self._owner._pointer, width, height, frame))
        made = ffi.gc(frame[0], lambda one: lib.tsr_mip_frame_destroy(ffi.new("tsr_mip_frame **", one)))
        check(lib.tsr_mip_render(self._pointer, view, values, made, ffi.NULL))
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
            check(lib.tsr_mip_frame_image(frame, lib.tsr_mip_describe(self._pointer).dtype, float(window), float(level), made))
        return Image._taken(made)

    def __reduce__(self) -> Any:
        from ._files import contents

        return (_mip_again, (contents(self, ".mip"),))

    def __repr__(self) -> str:
        info = self.describe()
        return f"<tessera.Mip {'x'.join(str(n) for n in info.size)}, {info.coefficients} coefficients>"

    def _repr_png_(self) -> bytes:
        return self.render(azimuth=30, elevation=15)._repr_png_()


def _mip_again(data: bytes) -> Mip:
    from ._files import from_contents

    made: Mip = from_contents(data, ".mip", Mip.read)
    return made
