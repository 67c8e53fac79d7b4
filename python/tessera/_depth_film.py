"""Films of depth images of 16 bits, as sensors of robots give them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Union

import numpy as np

from . import _core
from ._core import Object, Report, check, ffi, lib

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    PathLike = Union[str, "os.PathLike[str]"]


class DepthFilm(Object):
    """A .tdf file: a sequence of arrays (height, width) of uint16, 0 where the sensor saw nothing.

    Parameters
    ----------
    path : str
    partial : bool
        Whether a file that is cut off or damaged is read as far as it goes.

    Examples
    --------
    >>> import numpy as np, tempfile, tessera as ts
    >>> frames = np.arange(2 * 4 * 6, dtype=np.uint16).reshape(2, 4, 6)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ts.write_depth_film(folder + "/a.tdf", frames)
    ...     film = ts.DepthFilm(folder + "/a.tdf")
    ...     len(film), film.info().scale, np.array_equal(film[1], frames[1])
    (2, 0.001, True)
    """

    _kind = "tsr_depth_film_reader"
    _destroy = "tsr_depth_film_reader_destroy"

    def __init__(self, path: "PathLike", partial: bool = False) -> None:
        made = ffi.new("tsr_depth_film_reader **")
        check(lib.tsr_depth_film_reader_create(os.fsencode(path), int(partial), made))
        super().__init__(made[0], None)

    def info(self) -> Report:
        """Size, frames, rate, scale and the largest error."""
        made = _core.begun("tsr_depth_film_info")
        check(lib.tsr_depth_film_reader_info(self._pointer, made))
        return _core.report(made)

    def __len__(self) -> int:
        return int(self.info().frames)

    def __getitem__(self, frame: int) -> "NDArray[np.uint16]":
        info = self.info()
        number = int(frame) + (int(info.frames) if frame < 0 else 0)
        if not 0 <= number < info.frames:
            raise IndexError(f"frame {frame} of {info.frames}")
        made = np.empty((info.height, info.width), np.uint16)
        check(lib.tsr_depth_film_reader_frame(self._pointer, number, ffi.cast("uint16_t *", made.ctypes.data)))
        return made

    def __iter__(self) -> "Iterator[NDArray[np.uint16]]":
        return (self[k] for k in range(len(self)))

    def __repr__(self) -> str:
        info = self.info()
        return f"<tessera.DepthFilm {info.width}x{info.height}, {info.frames} frames>"


def write_depth_film(path: "PathLike", frames: "Iterable[ArrayLike]", *, scale: float = 0.001, largest_error: float = 0.0, overwrite: bool = True, **options: Any) -> None:
    """Writes arrays (height, width) of uint16 as a .tdf file. `scale`: length of one unit; `largest_error`: what a sample may be off, 0: nothing.

    Examples
    --------
    >>> import numpy as np, tempfile, tessera as ts
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ts.write_depth_film(folder + "/a.tdf", [np.full((4, 6), 1000, np.uint16)], largest_error=0.002)
    ...     ts.DepthFilm(folder + "/a.tdf").info().largest_error
    0.002
    """
    values, kept = _core.options("tsr_depth_film_options", {"scale": scale, "largest_error": largest_error, "overwrite": overwrite, **options})
    made, size = ffi.new("tsr_depth_film_writer **"), None
    try:
        for number, frame in enumerate(frames):
            samples = np.asarray(frame)
            if samples.dtype != np.uint16 or samples.ndim != 2:
                raise TypeError(f"frame {number}: {samples.dtype} of shape {samples.shape}, expected uint16 of (height, width)")
            if size is None:
                size = samples.shape
                check(lib.tsr_depth_film_writer_create(os.fsencode(path), size[1], size[0], values, made))
            if samples.shape != size:
                raise ValueError(f"frame {number} of shape {samples.shape}, expected {size} as the first")
            samples = np.ascontiguousarray(samples)
            check(lib.tsr_depth_film_writer_append(made[0], ffi.cast("uint16_t *", samples.ctypes.data)))
        if size is None:
            raise ValueError("no frames, expected one or more")
        check(lib.tsr_depth_film_writer_finish(made))
    finally:
        lib.tsr_depth_film_writer_destroy(made)
        del kept
