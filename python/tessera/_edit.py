"""Sculpting: a document of named level sets, operators on them, undo and redo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence, Union

import numpy as np

from . import _core
from ._core import Object, Progress, Progressed, Report, check, ffi, lib
from ._inputs import vec3
from ._arrays import geometry, rows
from ._tiles import Tiles, selected

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    Vector = Sequence[float]


class Editor(Object):
    """A document of named objects, level sets of one voxel size; every operator is a step that `undo` takes back bit for bit.

    Parameters
    ----------
    spacing : float or 3 floats
        World units per voxel, of all objects.
    **options
        band, edge, draft, memory_limit, history_limit: as tsr_editor_options.

    Examples
    --------
    >>> import tessera as ts
    >>> editor = ts.Editor(spacing=0.5)
    >>> editor.shape("part", "box", half=(8, 8, 4))
    >>> editor.shape("hole", "cylinder", radius=3, half=(3, 3, 8))
    >>> editor.combine("part", "hole", "difference")
    >>> editor.smooth("part", 0.2)
    >>> editor.objects, editor["part"].measure().components
    (['part', 'hole'], 1)
    >>> editor.undo(); editor.history().undo_steps
    3
    """

    _kind = "tsr_editor"
    _destroy = "tsr_editor_destroy"

    def __init__(self, spacing: Union[float, "Vector"] = 1.0, **options: Any) -> None:
        owner = _core.context()
        values, kept = _core.options("tsr_editor_options", options)
        values.geometry = geometry([float(v) for v in np.broadcast_to(np.asarray(spacing, float), 3)])[0]
        made = ffi.new("tsr_editor **")
        with owner.lock:
            check(lib.tsr_editor_create(owner._pointer, values, made))
        super().__init__(made[0], owner)
        del kept

    def _do(self, function: str, *arguments: Any, progress: Progress = None, told: bool = False) -> None:
        given = [a.encode() if isinstance(a, str) else a for a in arguments]
        with Progressed(progress) as report, self._owner.lock:
            report.check(getattr(lib, function)(self._pointer, *given, *([report.pointer] if told else [])))

    # ---- objects ----

    @property
    def objects(self) -> list[str]:
        """Names of the objects."""
        names: list[str] = []
        while True:
            name = lib.tsr_editor_object_at(self._pointer, len(names))
            if not name:
                return names
            names.append(ffi.string(name).decode())

    def __getitem__(self, name: str) -> Tiles:
        """A copy of an object."""
        owner = self._owner
        view, made = lib.tsr_editor_tiles(self._pointer, name.encode()), ffi.new("tsr_tiles **")
        if not view:
            raise KeyError(f"{name!r}, there are {', '.join(self.objects) or 'no objects'}")
        with owner.lock:
            check(lib.tsr_tiles_copy(view, owner._pointer, made))
        return Tiles._of(made, owner)

    def __contains__(self, name: object) -> bool:
        return name in self.objects

    def add(self, name: str, tiles: Tiles) -> None:
        """A new object, a copy of a level set of the document's spacing and band."""
        self._do("tsr_editor_add", name, tiles._pointer)

    def shape(self, name: str, kind: str, **parameters: Any) -> None:
        """A new object of a primitive: as `tessera.shape`."""
        body, kept = ffi.new("tsr_shape *"), list[Any]()
        _core.fill(body, "tsr_shape", {"kind": kind, **parameters}, kept)
        self._do("tsr_editor_shape", name, body)

    def duplicate(self, object: str, name: str) -> None:
        """A copy under another name."""
        self._do("tsr_editor_duplicate", object, name)

    def remove(self, object: str) -> None:
        """Takes an object away."""
        self._do("tsr_editor_remove", object)

    # ---- operators ----

    def combine(self, object: str, other: str, operation: str = "union", radius: float = 0.0) -> None:
        """object = object OPERATION other: "union", "intersection", "difference", "blend" (with a radius)."""
        self._do("tsr_editor_combine", object, other, _core.enum("tsr_csg_operation", operation), float(radius))

    def move(self, object: str, shift: "Vector") -> None:
        """Moves an object."""
        self._do("tsr_editor_move", object, vec3(shift))

    def offset(self, object: str, distance: float, *, progress: Progress = None) -> None:
        """Moves the whole surface outwards (inwards if negative)."""
        self._do("tsr_editor_offset", object, float(distance), progress=progress, told=True)

    def open(self, object: str, radius: float, *, progress: Progress = None) -> None:
        """Takes away what is thinner than two radii."""
        self._do("tsr_editor_open", object, float(radius), progress=progress, told=True)

    def close(self, object: str, radius: float, *, progress: Progress = None) -> None:
        """Fills slots that are narrower than two radii."""
        self._do("tsr_editor_close", object, float(radius), progress=progress, told=True)

    def smooth(self, object: str, time: float, *, conserve: bool = True, progress: Progress = None) -> None:
        """Flow by half the mean curvature; `conserve` keeps the volume."""
        self._do("tsr_editor_smooth", object, float(time), int(conserve), progress=progress, told=True)

    def brush(self, object: str, centre: "Vector", *, sigma: float, speed: float = 1.0, time: float, smooth: bool = False, progress: Progress = None) -> None:
        """Grows (speed < 0: shrinks) the surface near a place; `smooth`: smooths it there."""
        body = ffi.new("tsr_brush *", {"centre": vec3(centre), "sigma": float(sigma), "speed": float(speed), "time": float(time)})
        self._do("tsr_editor_smooth_brush" if smooth else "tsr_editor_brush", object, body, progress=progress, told=True)

    def attract(self, object: str, points: "ArrayLike", *, speed: float = 1.0, radius: float, time: float, progress: Progress = None, **options: Any) -> None:
        """Pulls the surface to points (n, 3) (speed < 0: pushes it away) within a radius; power, epsilon, tolerance: as tsr_attraction."""
        where, kept = rows(points, 3, "points"), list[Any]()
        body = ffi.new("tsr_attraction *", {"points": ffi.cast("double (*)[3]", where.ctypes.data), "count": len(where)})
        _core.fill(body, "tsr_attraction", {"speed": speed, "radius": radius, "time": time, **options}, kept)
        self._do("tsr_editor_attract", object, body, progress=progress, told=True)

    def redistance(self, object: str) -> None:
        """Makes the field a distance again without moving the surface."""
        self._do("tsr_editor_redistance", object)

    # ---- selections ----

    def _part(self, function: str, object: str, selection: Mapping[str, Any], at: Optional["Vector"], *rest: Any) -> None:
        made, kept = selected(selection)
        place = ffi.NULL if at is None else ffi.new("tsr_vec3 *", vec3(at))
        self._do(function, object, made, place, *rest)
        del kept

    def cut(self, object: str, name: str, selection: Mapping[str, Any], at: Optional["Vector"] = None) -> None:
        """Moves what lies in a selection into a new object: {"box": ((x, y, z), (x, y, z))}, {"kind": "ball", "centre": ..., "radius": ...}, "obox",
        "stroke", "lasso", "half", as tsr_selection. `at`: of that the connected part at a place alone."""
        self._part("tsr_editor_cut", object, selection, at, name)

    def copy_out(self, object: str, name: str, selection: Mapping[str, Any], at: Optional["Vector"] = None) -> None:
        """Copies what lies in a selection into a new object."""
        self._part("tsr_editor_copy_out", object, selection, at, name)

    def delete(self, object: str, selection: Mapping[str, Any], at: Optional["Vector"] = None) -> None:
        """Takes away what lies in a selection."""
        self._part("tsr_editor_delete", object, selection, at)

    def keep(self, object: str, selection: Optional[Mapping[str, Any]] = None, at: Optional["Vector"] = None) -> None:
        """Keeps what lies in a selection; without one the largest component, or the one at a place."""
        if selection is not None:
            self._part("tsr_editor_keep", object, selection, at)
        else:
            self._do("tsr_editor_keep", object, ffi.NULL, ffi.NULL if at is None else ffi.new("tsr_vec3 *", vec3(at)))

    def split(self, object: str) -> int:
        """Every component but the largest becomes an object of its own, OBJECT.1, OBJECT.2, ...; how many there are."""
        pieces = ffi.new("int64_t *")
        self._do("tsr_editor_split", object, pieces)
        return int(pieces[0])

    # ---- history ----

    def undo(self) -> None:
        """Takes the last step back."""
        self._do("tsr_editor_undo")

    def redo(self) -> None:
        """Does again what was undone."""
        self._do("tsr_editor_redo")

    def history(self) -> Report:
        """Steps to undo and redo, and what they keep."""
        made = _core.begun("tsr_edit_history")
        check(lib.tsr_editor_history(self._pointer, made))
        return _core.report(made)

    def run(self, script: str, name: str = "script") -> None:
        """Runs the commands of a script, as `tessera edit` does, but for those that read and write files."""
        self._do("tsr_editor_script", script, name, ffi.NULL)

    def __repr__(self) -> str:
        return f"<tessera.Editor {', '.join(self.objects) or 'empty'}>"
