"""HistoPyramids: lists of voxels by what they are, without a pass over the volume for each; and pyramids of sums, extremes and averages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np

from . import _core
from ._core import Object, Report, check, ffi, lib
from ._inputs import as_volume, on_context
from ._objects import Points, Volume

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ._inputs import VolumeLike


class HistoPyramid(Object):
    """The voxels of a volume that a rule keeps, as a list that is never written unless it is asked for: item k is found by a descent.

    Parameters
    ----------
    volume : Volume or array_like
    classifier : str
        "user" with user=a `Map` that is a classifier, "nonzero", "range" (lower <= value < upper), "label" (value == lower), "magnitude" (|value| > lower), "surface" (cells of an isosurface at `lower`),
        "boundary", "crossings" (edges that the isosurface at `lower` cuts) or "counts" (the value says how often).
    lower, upper : float
    order : str
        "row" (as NumPy counts), "morton" or "view".
    **options
        fanout, reverse, most, ...: as tsr_pyramid_options.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> v = np.zeros((4, 5, 6), np.uint8); v[1, 2, 3] = v[3, 0, 5] = 7
    >>> p = ts.HistoPyramid(v)
    >>> len(p), p.positions().tolist(), np.flatnonzero(v).tolist() == p.voxels().tolist()
    (2, [[3, 2, 1], [5, 0, 3]], True)
    >>> p.rank([33 + 60]), p.select([0])["voxel"].tolist()
    (array([1], dtype=uint64), [45])
    """

    _kind = "tsr_pyramid"
    _destroy = "tsr_pyramid_destroy"
    _noun = "pyramid"

    def __init__(self, volume: "VolumeLike", classifier: Union[str, int] = "nonzero", *, lower: float = 0.0, upper: float = 0.0, order: Union[str, int] = "row", **options: Any) -> None:
        body, owner = on_context(as_volume(volume))
        rule = options.get("user")
        if rule is not None:  # a Map, which stays
            options = {**options, "user": rule._map}
        values, kept = _core.options("tsr_pyramid_options", {"classifier": classifier, "lower": lower, "upper": upper, "order": order, **options})
        made = ffi.new("tsr_pyramid **")
        with owner.lock:
            check(lib.tsr_pyramid_create(owner._pointer, lib.tsr_volume_size(body._pointer), values, made))
            super().__init__(made[0], owner, body, rule)
            check(lib.tsr_pyramid_build(self._pointer, body._pointer))
            owner.synchronize()
        self._volume, self._options = body, {"classifier": classifier, "lower": lower, "upper": upper, "order": order, **options}
        del kept

    def describe(self) -> Report:
        """Total, levels, bytes, and how many values are NaN."""
        made = _core.begun("tsr_pyramid_info")
        check(lib.tsr_pyramid_describe(self._pointer, made))
        return _core.report(made)

    def __len__(self) -> int:
        return int(self.describe().total)

    def voxels(self, first: int = 0, count: Optional[int] = None) -> "NDArray[np.uint64]":
        """Indices into the flattened array (z, y, x) of items first, first + 1, ... (count None: all that are left)."""
        total = len(self)
        if first < 0 or first > total:
            raise ValueError(f"first {first}, expected 0 to {total}")
        some = total - first if count is None else min(int(count), total - first)
        if some < 0:
            raise ValueError(f"count {count}, expected 0 or more")
        made = np.empty(some, np.uint64)
        with self._host_context.lock:
            check(lib.tsr_pyramid_indices(self._pointer, first, some, lib.TSR_U64, ffi.cast("void *", made.ctypes.data)))
            self._host_context.synchronize()
        return made

    def positions(self) -> "NDArray[np.int64]":
        """Where the items lie, (n, 3) as x, y, z."""
        z, y, x = np.unravel_index(self.voxels().astype(np.int64), self._volume.shape)
        return np.stack([x, y, z], axis=1).astype(np.int64)

    def select(self, keys: "ArrayLike") -> "NDArray[Any]":
        """Items by their numbers, a descent each: a structured array of voxel (index into the flattened array; -1: no such item) and copy."""
        given = np.ascontiguousarray(keys, np.uint64).reshape(-1)
        made = np.zeros(len(given), [("voxel", "i8"), ("copy", "i8")])
        with self._host_context.lock:
            check(lib.tsr_pyramid_select(self._pointer, ffi.cast("uint64_t *", given.ctypes.data), len(given), ffi.cast("tsr_pyramid_entry *", made.ctypes.data)))
            self._host_context.synchronize()
        return made

    def rank(self, voxels: "ArrayLike") -> "NDArray[np.uint64]":
        """How many items come before voxels (indices into the flattened array): the inverse of `select`."""
        given = np.ascontiguousarray(voxels, np.int64).reshape(-1)
        made = np.zeros(len(given), np.uint64)
        with self._host_context.lock:
            check(lib.tsr_pyramid_rank(self._pointer, ffi.cast("int64_t *", given.ctypes.data), len(given), ffi.cast("uint64_t *", made.ctypes.data)))
            self._host_context.synchronize()
        return made

    def points(self, *, normals: bool = False, inward: bool = False) -> Points:
        """The items as a cloud in the world; of "crossings" the points where the isosurface cuts edges. `normals`: along the gradient."""
        values, kept = _core.options("tsr_points_volume_options", {"pyramid": self._options, "normals": normals, "inward": inward})
        made = ffi.new("tsr_points **")
        owner = self._owner
        with owner.lock:
            check(lib.tsr_points_from_volume(owner._pointer, self._volume._pointer, values, made))
        del kept
        return Points._of(made, owner)

    def __repr__(self) -> str:
        return f"<tessera.HistoPyramid of {len(self)} voxels>"


def histopyramid(volume: "VolumeLike", classifier: Union[str, int] = "nonzero", **options: Any) -> HistoPyramid:
    """The voxels of a volume that a rule keeps, as a list that can be asked in parts; see `HistoPyramid`.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> len(ts.histopyramid(np.arange(24).reshape(2, 3, 4), "range", lower=5, upper=9))
    4
    """
    return HistoPyramid(volume, classifier, **options)


def levels(volume: "VolumeLike", rule: Union[str, int] = "average", mask: Optional["VolumeLike"] = None) -> list[Volume]:
    """A pyramid of a volume: each level halves every axis. `rule`: "average", "sum", "min" or "max"; `mask`: voxels that are 0 there count for nothing.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> [v.array.ravel().tolist() for v in ts.levels(np.arange(8.0).reshape(1, 2, 4))]
    [[2.5, 4.5], [3.5]]
    """
    body, owner = on_context(as_volume(volume))
    weights = None if mask is None else as_volume(mask)
    if weights is not None and not body.on_host:
        weights = weights.to(owner)
    made, copy = ffi.new("tsr_levels **"), ffi.new("tsr_volume **")
    found = []
    with owner.lock:
        check(lib.tsr_levels_create(owner._pointer, lib.tsr_volume_size(body._pointer), lib.tsr_volume_dtype(body._pointer), _core.enum("tsr_level_rule", rule), made))
        try:
            check(lib.tsr_levels_build(made[0], body._pointer, _core.pointer(weights)))
            owner.synchronize()
            for level in range(1, int(lib.tsr_levels_count(made[0])) + 1):
                check(lib.tsr_volume_copy(lib.tsr_levels_volume(made[0], level), owner._pointer, copy))
                found.append(Volume._of(copy, owner))
        finally:
            lib.tsr_levels_destroy(made)
    return found
