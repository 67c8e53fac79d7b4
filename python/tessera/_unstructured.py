"""Unstructured grids: cells of four to eight points anywhere, with a value at each point."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Mapping, Optional, Union

import numpy as np

from . import _core
from ._core import Context, Object, Progress, Progressed, Report, check, ffi, lib
from ._arrays import rows, space_number
from ._objects import Mesh

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    PathLike = Union[str, "os.PathLike[str]"]

_CORNERS = {"tetrahedron": 4, "voxel": 8, "hexahedron": 8, "wedge": 6, "pyramid": 5}


class Unstructured(Object):
    """An unstructured grid, of which `surface` gives the surface of a value.

    Parameters
    ----------
    points : array (n, 3)
        World coordinates.
    cells : array (m, 4) of whole numbers, or a dict of such arrays
        Corners of tetrahedra; by name: "tetrahedron" (m, 4), "voxel" and "hexahedron" (m, 8), "wedge" (m, 6), "pyramid" (m, 5), corners in VTK's order.
    values : array (n,), optional
        Of the points; none: all 0.
    space : str, optional
        What the world's axes mean: "ras", "lps" or None.

    Raises
    ------
    ValueError
        A corner that is no point, a coordinate that is not finite, arrays of other shapes.

    Examples
    --------
    >>> import tessera as ts
    >>> grid = ts.Unstructured([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 1, 2, 3]], [1, 0, 0, 0])
    >>> grid.describe().tetrahedra, len(ts.surface(grid, 0.5).triangles)
    (1, 1)
    """

    _kind = "tsr_unstructured"
    _destroy = "tsr_unstructured_destroy"

    def __init__(self, points: "ArrayLike", cells: "Union[ArrayLike, Mapping[str, ArrayLike]]", values: Optional["ArrayLike"] = None, *, space: Optional[str] = None) -> None:
        places = rows(points, 3, "points")
        given: "Mapping[str, Any]" = cells if hasattr(cells, "keys") else {"tetrahedron": cells}  # type: ignore[assignment]
        types, corners = [np.empty(0, np.uint8)], [np.empty(0, np.uint32)]
        for name, listed in given.items():
            if name not in _CORNERS:
                raise ValueError(f"cells: {name!r}, expected {', '.join(map(repr, _CORNERS))}")
            whole = np.asarray(listed)
            if whole.dtype.kind not in "ui" or (whole.size and (whole.min() < 0 or whole.max() >= len(places))):
                raise ValueError(f"cells[{name!r}]: expected numbers of points, 0 to {len(places) - 1}")
            table = rows(whole, _CORNERS[name], f"cells[{name!r}]", np.uint32)
            types.append(np.full(len(table), _core.enum("tsr_cell_type", name), np.uint8))
            corners.append(table.ravel())
        kinds, all_corners = np.concatenate(types), np.concatenate(corners)
        source = _core.begun("tsr_unstructured_source")
        source.point_count, source.points = len(places), ffi.from_buffer("double[]", places)
        source.cell_count, source.types = len(kinds), ffi.from_buffer("uint8_t[]", kinds)
        source.corner_count, source.corners = len(all_corners), ffi.from_buffer("uint32_t[]", all_corners)
        source.space = space_number(space)
        made = ffi.new("tsr_unstructured **")
        check(lib.tsr_unstructured_create(ffi.NULL, source, made))
        super().__init__(made[0], None)
        if values is not None:
            self.set_values(values)

    @classmethod
    def _of(cls, made: Any, owner: Optional[Context]) -> "Unstructured":
        self = cls.__new__(cls)
        Object.__init__(self, made[0], owner)
        return self

    @classmethod
    def read(cls, path: "PathLike", values: Optional[str] = None, *, progress: Progress = None, **options: Any) -> "Unstructured":
        """A grid of a legacy VTK file; `values` names the array of point data that gives the values (none: the first; "": all are 0)."""
        made = ffi.new("tsr_unstructured **")
        with Progressed(progress) as p:
            given, kept = _core.options("tsr_read_options", options, p)
            p.check(lib.tsr_unstructured_read(os.fsencode(path), given, ffi.NULL if values is None else values.encode(), made))
        return cls._of(made, None)

    def describe(self) -> Report:
        """points, cells, passed_over, turned, tetrahedra, edges, bytes, arrays (of a file: names of arrays that could be its values)."""
        return _core.report(lib.tsr_unstructured_describe(self._pointer))

    def set_values(self, values: "ArrayLike") -> None:
        """Other values (n,) at the same points."""
        given = np.ascontiguousarray(values, float)
        if given.shape != (self.describe().points,):
            raise ValueError(f"values of shape {given.shape}, expected ({self.describe().points},)")
        check(lib.tsr_unstructured_set_values(self._pointer, ffi.from_buffer("double[]", given)))

    def surface(self, isovalue: float = 0.0, **options: Any) -> Mesh:
        """The surface of a value, by marching tetrahedra: as `tessera.surface`."""
        from ._volumes import surface

        return surface(self, isovalue, **options)

    def to(self, device: Union[str, Context]) -> "Unstructured":
        """A copy on another device."""
        target = device if isinstance(device, Context) else _core.context(device)
        made = ffi.new("tsr_unstructured **")
        with target.lock:
            check(lib.tsr_unstructured_copy(self._pointer, target._pointer, made))
        return Unstructured._of(made, target)

    def copy(self) -> "Unstructured":
        """A copy with memory of its own."""
        made = ffi.new("tsr_unstructured **")
        check(lib.tsr_unstructured_copy(self._pointer, self._context._pointer if self._context else ffi.NULL, made))
        return Unstructured._of(made, self._context)

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> "Unstructured":
        return self.copy()

    def __repr__(self) -> str:
        info = self.describe()
        return f"<tessera.Unstructured {info.points} points, {info.cells} cells>"
