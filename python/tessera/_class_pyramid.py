"""Histograms of parts of pictures, and what follows from a histogram."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Sequence

import numpy as np

from . import _core
from ._core import Object, check, ffi, lib
from ._inputs import on_context
from ._arrays import rows
from ._objects import Image, Volume

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class ClassPyramid(Object):
    """Counts of the classes of grey values over every part of a picture: the histogram of any box costs no more than its rim.

    Parameters
    ----------
    image : Image or array (height, width) of uint8
    classes : int
        Bins of the range, 1 to 256; with bits 1 to 8.
    range : pair of floats, optional
        None: 0 to 256.
    bits : bool
        Bit c of a pixel says whether it is of class c: of several, or none.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> a = np.zeros((40, 60), np.uint8); a[10:20, 5:25] = 200
    >>> p = ts.ClassPyramid(a, 4)
    >>> p.histogram().tolist(), p.count([(0, 0, 60, 15), (5, 10, 25, 20)]).tolist()
    ([2200, 0, 0, 200], [[800, 0, 0, 100], [0, 0, 0, 200]])
    """

    _kind = "tsr_class_pyramid"
    _destroy = "tsr_class_pyramid_destroy"
    _noun = "pyramid"

    def __init__(self, image: Any, classes: int = 256, *, range: Optional[Sequence[float]] = None, bits: bool = False) -> None:
        array = image.array if isinstance(image, Image) else np.asarray(image)
        if array.dtype != np.uint8:
            raise TypeError(f"image of {array.dtype}, expected uint8")
        if array.ndim == 3 and array.shape[2] == 1:
            array = array[:, :, 0]
        if array.ndim != 2 or array.size == 0:
            raise ValueError(f"image of shape {array.shape}, expected (height, width)")
        body, owner = on_context(Volume(np.ascontiguousarray(array)))
        lower, upper = (0.0, 0.0) if range is None else (float(v) for v in range)
        height, width = array.shape
        values, kept = _core.options("tsr_class_options", {"width": width, "height": height, "classes": classes, "lower": lower, "upper": upper, "bits": bits})
        made = ffi.new("tsr_class_pyramid **")
        with owner.lock:
            check(lib.tsr_class_pyramid_create(owner._pointer, values, made))
            super().__init__(made[0], owner, body)
            check(lib.tsr_class_pyramid_build(self._pointer, body._pointer))
            owner.synchronize()
        self._classes = int(classes)
        del kept

    def histogram(self) -> "NDArray[np.uint64]":
        """Counts of the whole picture (classes,)."""
        made = np.zeros(self._classes, np.uint64)
        with self._owner.lock:
            check(lib.tsr_class_pyramid_histogram(self._pointer, ffi.from_buffer("uint64_t[]", made)))
        return made

    def count(self, boxes: "ArrayLike") -> "NDArray[np.uint64]":
        """Counts of boxes (n, 4), x0, y0, x1, y1, half-open and cut to the picture: (n, classes)."""
        given = rows(boxes, 4, "boxes", np.int32)
        made = np.zeros((len(given), self._classes), np.uint64)
        with self._host_context.lock:
            check(lib.tsr_class_pyramid_count(self._pointer, ffi.cast("int32_t *", given.ctypes.data), len(given), ffi.cast("uint64_t *", made.ctypes.data)))
            self._host_context.synchronize()
        return made

    @property
    def top(self) -> int:
        """The level of one cell; levels from 3 on are kept."""
        return int(lib.tsr_class_pyramid_top(self._pointer))

    def level(self, level: int) -> "NDArray[Any]":
        """Counts of the cells of 2^level pixels of a level from 3 to `top`: (rows, columns, classes), a copy."""
        columns, lines, size, counts = ffi.new("int64_t *"), ffi.new("int64_t *"), ffi.new("int32_t *"), ffi.new("const void **")
        with self._host_context.lock:
            self._host_context.synchronize()
            check(lib.tsr_class_pyramid_level(self._pointer, int(level), columns, lines, size, counts))
            shape = (int(lines[0]), int(columns[0]), self._classes)
            return np.frombuffer(ffi.buffer(counts[0], int(np.prod(shape)) * size[0]), f"u{size[0]}").reshape(shape).copy()

    def __repr__(self) -> str:
        return f"<tessera.ClassPyramid of {self._classes} classes>"


def _counts(counts: "ArrayLike") -> "NDArray[np.uint64]":
    given = np.asarray(counts)
    if given.ndim != 1 or given.size == 0 or given.dtype.kind not in "iu" or bool((given < 0).any()):
        raise ValueError(f"counts of shape {given.shape} and {given.dtype}, expected (bins,) whole numbers from 0 on")
    return np.ascontiguousarray(given, np.uint64)


def otsu(counts: "ArrayLike") -> int:
    """Otsu's threshold of a histogram: the bin up to which, and above which, the counts lie furthest apart; -1 if fewer than two bins hold anything.

    Examples
    --------
    >>> import tessera as ts
    >>> ts.otsu([9, 9, 0, 0, 5, 9])
    1
    """
    given = _counts(counts)
    return int(lib.tsr_histogram_otsu(ffi.from_buffer("uint64_t[]", given), len(given)))


def percentile(counts: "ArrayLike", share: float) -> int:
    """The least bin of a histogram with at least a share (0 to 1) of all counts in it and below; -1 of an empty one.

    Examples
    --------
    >>> import tessera as ts
    >>> ts.percentile([1, 1, 1, 1], 0.5)
    1
    """
    given = _counts(counts)
    return int(lib.tsr_histogram_percentile(ffi.from_buffer("uint64_t[]", given), len(given), float(share)))
