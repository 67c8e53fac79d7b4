"""Vector fields: derived volumes, stream lines, contours."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Iterator, Optional, Sequence, Union

import numpy as np

from . import _core
from ._cameras import vec3
from ._core import Context, Object, Progress, Progressed, Report, check, ffi, lib
from ._arrays import rows
from ._objects import Image, Mesh, Volume
from ._inputs import as_volume

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    PathLike = Union[str, "os.PathLike[str]"]

SEED = np.dtype(
    [("at", "f8", 3), ("vertex", "i8"), ("curvature", "f4"), ("speed", "f4"), ("angle", "f4"), ("face", "u1"), ("root", "u1"), ("coincident", "u1"), ("reserved", "u1")]
)
_ENDS = ("not_traced", "steps", "length", "border", "stagnant", "outside", "stiff")


class Field(Object):
    """A vector field on a grid.

    Parameters
    ----------
    components : array (z, y, x, 3), or three Volumes or arrays
        Along x, y and z of the world.
    spacing, origin, affine, space : optional
        As of a Volume, where arrays are given.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> z, y, x = np.mgrid[:8, :8, :8].astype(np.float32)
    >>> turning = ts.Field(np.stack([-(y - 3.5), x - 3.5, np.zeros_like(x)], axis=-1))
    >>> round(float(turning.derive("vorticity").array[4, 4, 4]), 4)
    2.0
    """

    _kind = "tsr_vector_field"
    _destroy = "tsr_field_destroy"

    def __init__(
        self,
        components: Any,
        *,
        spacing: Optional[Sequence[float]] = None,
        origin: Optional[Sequence[float]] = None,
        affine: Optional["ArrayLike"] = None,
        space: Optional[str] = None,
    ) -> None:
        if isinstance(components, (tuple, list)) and len(components) == 3:
            parts = [as_volume(c) for c in components]
        else:
            array = np.asarray(components)
            if array.ndim != 4 or array.shape[3] != 3:
                raise ValueError(f"components of shape {array.shape}, expected (z, y, x, 3) or three volumes")
            parts = [Volume(np.ascontiguousarray(array[..., k]), spacing=spacing, origin=origin, affine=affine, space=space) for k in range(3)]
        self._start([p if p.on_host else p.to("cpu") for p in parts])

    def _start(self, parts: Sequence[Volume]) -> None:
        owner = _core.context()
        made = ffi.new("tsr_vector_field **")
        with owner.lock:
            check(lib.tsr_field_create(owner._pointer, ffi.new("tsr_volume *[3]", [p._pointer for p in parts]), made))
        Object.__init__(self, made[0], owner)

    @classmethod
    def _parts(cls, made: Any) -> "Field":
        self = cls.__new__(cls)
        self._start([Volume._of([made[k]], None) for k in range(3)])
        return self

    @classmethod
    def make(cls, name: str, *, size: Optional[Sequence[int]] = None, time: float = 0.0, progress: Progress = None) -> "Field":
        """An analytic field; `Field.names()` has the names."""
        made = ffi.new("tsr_volume *[3]")
        with Progressed(progress) as p:
            values, kept = _core.options("tsr_field_options", {"size": size, "time": time}, p)
            p.check(lib.tsr_field_make(name.encode(), values, made))
        return cls._parts(made)

    @staticmethod
    def names() -> dict[str, str]:
        """Names and descriptions of the analytic fields."""
        found: dict[str, str] = {}
        while shape := lib.tsr_field_shape_at(len(found)):
            found[ffi.string(shape.name).decode()] = ffi.string(shape.description).decode()
        return found

    @classmethod
    def read(cls, *paths: "PathLike", progress: Progress = None, **options: Any) -> "Field":
        """A field of one file of three components, or of three files."""
        names = [ffi.new("char[]", os.fsencode(path)) for path in paths]
        made = ffi.new("tsr_volume *[3]")
        with Progressed(progress) as p:
            values, kept = _core.options("tsr_read_options", options, p)
            p.check(lib.tsr_field_read(ffi.new("char *[]", names), len(names), values, made))
        return cls._parts(made)

    def describe(self) -> Report:
        """size, speed_max, speed_rms, accel_max, ..."""
        made, kept = _core.options("tsr_field_info", {})
        check(lib.tsr_field_describe(self._pointer, made))
        told = dict(_core.report(made))
        told.pop("geometry")
        return Report(told)

    def derive(self, quantity: str) -> Volume:
        """ "speed", "curvature", "vorticity", "divergence", "q", "helicity", "curl_x", "curl_y" or "curl_z" at every sample."""
        made = ffi.new("tsr_volume **")
        with self._owner.lock:
            check(lib.tsr_field_derive(self._pointer, _core.enum("tsr_field_quantity", quantity), made))
        return Volume._of(made, self._owner)

    def probe(self, positions: "ArrayLike") -> Report:
        """v and w (n, 3), curvature and vorticity (n,) at index positions (n, 3)."""
        where = rows(positions, 3, "positions")
        made = ffi.new("tsr_vector_sample[]", len(where))
        with self._owner.lock:
            check(lib.tsr_field_probe(self._pointer, ffi.cast("double *", ffi.from_buffer(where)), len(where), made))
        values = np.frombuffer(ffi.buffer(made), float).reshape(-1, 8).copy()
        return Report({"v": values[:, :3], "w": values[:, 3:6], "curvature": values[:, 6], "vorticity": values[:, 7]})

    def seeds(self, kind: str = "random", **options: Any) -> "NDArray[np.float64]":
        """Places (n, 3) of the world to start from: "grid", "line", "plane", "sphere", "ball" or "random"; count, point, radius, ... as tsr_seed_options."""
        values, kept = _core.options("tsr_seed_options", {"kind": kind, **options})
        made, count = ffi.new("double **"), ffi.new("int64_t *")
        check(lib.tsr_seeds_make(self._pointer, values, made, count))
        try:
            return np.frombuffer(ffi.buffer(made[0], count[0] * 24), float).reshape(-1, 3).copy()
        finally:
            lib.tsr_seeds_destroy(made)

    def streamlines(self, seeds: Optional["ArrayLike"] = None, *, progress: Progress = None, **options: Any) -> "Streamlines":
        """Lines through seeds (n, 3) of the world (None: 100 at random): method, parameter, direction, step, max_steps, ... as tsr_streamline_options."""
        where = rows(self.seeds() if seeds is None else seeds, 3, "seeds")
        made = ffi.new("tsr_streamlines **")
        with Progressed(progress) as p, self._owner.lock:
            values, kept = _core.options("tsr_streamline_options", options, p)
            p.check(lib.tsr_streamlines_trace(self._pointer, ffi.cast("double *", ffi.from_buffer(where)), len(where), values, made))
        return Streamlines._made(made, self._owner, self)

    def contours(
        self,
        direction: Optional[Sequence[float]] = None,
        eye: Optional[Sequence[float]] = None,
        *,
        relevance: Union[bool, dict[str, Any]] = False,
        contour: Optional[dict[str, Any]] = None,
        **options: Any,
    ) -> "Streamlines":
        """The contours that a view along `direction`, or from `eye`, has: Contours in one call."""
        found = Contours(self, **(contour or {}))
        found.update(direction, eye)
        return found.trace(relevance=relevance, **options)

    def __repr__(self) -> str:
        size = self.describe().size
        return f"<tessera.Field {'x'.join(str(n) for n in size)}>"


class Streamlines(Object):
    """Lines: `positions` (n, 3), and line i has the points offsets[i] to offsets[i + 1]; a sequence of arrays.

    Examples
    --------
    >>> import tessera as ts
    >>> lines = ts.Field.make("field-saddle", size=(16, 16, 16)).streamlines(max_steps=20)
    >>> len(lines), lines[0].shape[1], lines.values("length").shape == lines.parameter.shape
    (100, 3, True)
    """

    _kind = "tsr_streamlines"
    _destroy = "tsr_streamlines_destroy"
    field: Optional[Field]

    def __init__(self, positions: "ArrayLike", offsets: "ArrayLike") -> None:
        owner = _core.context()
        where, starts = rows(positions, 3, "positions", np.float32), np.ascontiguousarray(offsets, np.int64)
        if starts.ndim != 1 or len(starts) < 1 or starts[0] != 0 or starts[-1] != len(where) or np.any(np.diff(starts) < 0):
            raise ValueError(f"offsets: expected numbers that rise from 0 to {len(where)}")
        made = ffi.new("tsr_streamlines **")
        with owner.lock:
            check(lib.tsr_streamlines_create(owner._pointer, ffi.cast("float *", ffi.from_buffer(where)), ffi.cast("int64_t *", ffi.from_buffer(starts)), len(starts) - 1, made))
        super().__init__(made[0], owner)
        self.field = None

    @classmethod
    def _made(cls, made: Any, owner: Context, field: Optional[Field]) -> "Streamlines":
        self = cls.__new__(cls)
        Object.__init__(self, made[0], owner)
        self.field = field
        return self

    def __len__(self) -> int:
        return int(lib.tsr_streamlines_count(self._pointer))

    @property
    def offsets(self) -> "NDArray[np.int64]":
        """Where each line begins, and the end."""
        return np.frombuffer(ffi.buffer(lib.tsr_streamlines_offsets(self._pointer), (len(self) + 1) * 8), np.int64).copy()

    @property
    def ends(self) -> list[tuple[str, str]]:
        """Why the backward and the forward half of each line ended."""
        view = np.frombuffer(ffi.buffer(lib.tsr_streamlines_ends(self._pointer), len(self) * 2), np.uint8) if len(self) else np.empty(0, np.uint8)
        return [(_ENDS[a], _ENDS[b]) for a, b in view.reshape(-1, 2).tolist()]

    def _download(self, which: int) -> "NDArray[np.float32]":
        n = int(lib.tsr_streamlines_point_count(self._pointer))
        made = np.empty((n, 3) if which == 0 else n, np.float32)
        out = [ffi.NULL, ffi.NULL]
        out[which] = ffi.cast("float *", ffi.from_buffer(made))
        assert self._context is not None
        with self._context.lock:
            check(lib.tsr_streamlines_download(self._pointer, *out))
        return made

    @property
    def positions(self) -> "NDArray[np.float32]":
        """(n, 3), a copy."""
        return self._download(0)

    @property
    def parameter(self) -> "NDArray[np.float32]":
        """Signed length, or time, from the seed (n,)."""
        return self._download(1)

    def values(self, attribute: str, field: Optional[Field] = None) -> "NDArray[np.float32]":
        """ "speed", "curvature", "vorticity", "length" or "parameter" at the points (n,)."""
        made = np.empty(int(lib.tsr_streamlines_point_count(self._pointer)), np.float32)
        kind = ffi.new("tsr_stream_attribute *")
        check(lib.tsr_stream_attribute_parse(attribute.encode(), kind))
        assert self._context is not None
        with self._context.lock:
            check(lib.tsr_streamlines_values(self._pointer, _core.pointer(field or self.field), kind[0], ffi.cast("float *", ffi.from_buffer(made))))
        return made

    @property
    def length(self) -> float:
        """Of all lines together, world units."""
        made = ffi.new("double *")
        check(lib.tsr_streamlines_length(self._pointer, made))
        return float(made[0])

    def tubes(self, *, color: Optional[str] = None, **options: Any) -> Mesh:
        """Triangles around the lines: radius, sides, caps, color ("speed", ...), lower, upper, ... as tsr_tube_options."""
        if color is not None:
            kind = ffi.new("tsr_stream_attribute *")
            check(lib.tsr_stream_attribute_parse(color.encode(), kind))
            options = {"colored": 1, "color": int(kind[0]), **options}
        values, kept = _core.options("tsr_tube_options", options)
        made = ffi.new("tsr_mesh **")
        assert self._context is not None
        with self._context.lock:
            check(lib.tsr_streamlines_tubes(self._pointer, _core.pointer(self.field), values, made))
        return Mesh._of(made, self._context)

    def write(self, path: "PathLike", attributes: Sequence[str] = (), *, overwrite: bool = True, **options: Any) -> None:
        """Writes .vtk, .ply or .obj, with values at the points."""
        arrays = [self.values(a) for a in attributes]
        names = [ffi.new("char[]", a.encode()) for a in attributes]
        values, kept = _core.options("tsr_write_options", {"overwrite": overwrite, **options})
        check(
            lib.tsr_streamlines_write(
                self._pointer,
                ffi.new("char *[]", names) if names else ffi.NULL,
                ffi.new("float *[]", [ffi.cast("float *", ffi.from_buffer(a)) for a in arrays]) if names else ffi.NULL,
                len(names),
                os.fsencode(path),
                values,
            )
        )

    def __getitem__(self, index: int) -> "NDArray[np.float32]":
        offsets = self.offsets
        at = index + len(self) if index < 0 else index
        if not 0 <= at < len(self):
            raise IndexError(f"line {index} of {len(self)}")
        return self.positions[offsets[at] : offsets[at + 1]]

    def __iter__(self) -> "Iterator[NDArray[np.float32]]":
        return iter(np.split(self.positions, self.offsets[1:-1]))

    def __reduce__(self) -> Any:
        return (Streamlines, (self.positions, self.offsets))

    def __repr__(self) -> str:
        return f"<tessera.Streamlines {len(self)} lines, {int(lib.tsr_streamlines_point_count(self._pointer))} points>"

    def _repr_png_(self) -> bytes:
        return self.tubes(color="speed" if self.field is not None else None)._repr_png_()


class Contours(Object):
    """Contours of a field, for one view after the other: coincidence, merge, thinning, second_order as tsr_contour_options.

    Examples
    --------
    >>> import tessera as ts
    >>> contours = ts.Contours(ts.Field.make("field-taylor-green", size=(16, 16, 16)))
    >>> seeds = contours.update(direction=(1, 0.3, 0.2))
    >>> len(contours.trace(max_steps=20)) == len(seeds) > 0
    True
    """

    _kind = "tsr_contours"
    _destroy = "tsr_contours_destroy"

    def __init__(self, field: Field, **options: Any) -> None:
        values, kept = _core.options("tsr_contour_options", options)
        made = ffi.new("tsr_contours **")
        check(lib.tsr_contours_create(field._pointer, values, made))
        super().__init__(made[0], field.context, field)
        self.field = field

    def set_field(self, field: Field) -> None:
        """Another field of the same size, from the next update on."""
        check(lib.tsr_contours_set_field(self._pointer, field._pointer))
        self._kept = (field,)
        self.field = field

    @staticmethod
    def _view(direction: Optional[Sequence[float]], eye: Optional[Sequence[float]]) -> Any:
        if (direction is None) == (eye is None):
            raise ValueError("expected one of direction and eye")
        view = ffi.new("tsr_contour_view *")
        view.perspective = eye is not None
        if eye is not None:
            view.eye = vec3(eye, "eye")
        else:
            view.direction = vec3(direction or (), "direction")
        return view

    def update(self, direction: Optional[Sequence[float]] = None, eye: Optional[Sequence[float]] = None) -> "NDArray[Any]":
        """The seeds of a view: a structured array with at (index position), curvature, speed, angle, coincident, ..."""
        info, kept = _core.options("tsr_contour_info", {})
        owner = self.field._owner
        with owner.lock:
            check(lib.tsr_contours_update(self._pointer, self._view(direction, eye), info))
            made = np.empty(int(info.seeds), SEED)
            if len(made):
                check(lib.tsr_contours_download(self._pointer, 0, len(made), ffi.cast("tsr_contour_seed *", made.ctypes.data)))
        return made

    def trace(self, *, relevance: Union[bool, dict[str, Any]] = False, progress: Progress = None, **options: Any) -> Streamlines:
        """The lines through the seeds of the last update; with relevance they are as long as they matter."""
        made = ffi.new("tsr_streamlines **")
        owner = self.field._owner
        with Progressed(progress) as p, owner.lock:
            relevant, kept = _core.options("tsr_contour_relevance", {"use": int(bool(relevance)), **(relevance if isinstance(relevance, dict) else {})})
            values, held = _core.options("tsr_streamline_options", options, p)
            p.check(lib.tsr_contours_trace(self._pointer, relevant, values, made))
        return Streamlines._made(made, owner, self.field)

    def volume(self, which: str = "S", direction: Optional[Sequence[float]] = None, eye: Optional[Sequence[float]] = None) -> Volume:
        """ "S" or "T" at the samples."""
        if which not in ("S", "T"):
            raise ValueError(f"which {which!r}, expected 'S' or 'T'")
        made = ffi.new("tsr_volume **")
        owner = self.field._owner
        with owner.lock:
            check(lib.tsr_contours_volume(self._pointer, self._view(direction, eye), "ST".index(which), made))
        return Volume._of(made, owner)

    def eigenplanes(self, *, progress: Progress = None, **options: Any) -> tuple[list[Report], Image]:
        """Planes in which contours coincide, the best first, and a picture of all directions that were tried: views, planes, ... as tsr_eigenplane_options."""
        found, image = ffi.new("tsr_eigenplanes *"), ffi.new("tsr_image *")
        owner = self.field._owner
        with Progressed(progress) as p, owner.lock:
            values, kept = _core.options("tsr_eigenplane_options", options, p)
            p.check(lib.tsr_contours_eigenplanes(self._pointer, values, found))
        try:
            check(lib.tsr_eigenplanes_picture(found, 0, 256, image))
            return [_core.report(ffi.addressof(found.planes[k])) for k in range(found.count)], Image._taken(image)
        finally:
            lib.tsr_eigenplanes_destroy(found)


# ---- series in time ----------------------------------------------------------------------------------------------------------------


def _series(fields: Sequence[Field], times: Sequence[float], kept: list[Any]) -> Any:
    if len(fields) != len(times) or not len(fields):
        raise ValueError(f"{len(fields)} fields beside {len(times)} times, expected as many, one at least")
    pointers, moments = ffi.new("tsr_vector_field *[]", [f._pointer for f in fields]), ffi.new("double[]", [float(t) for t in times])
    kept += [pointers, moments, list(fields)]
    return ffi.new("tsr_field_series *", {"fields": pointers, "times": moments, "count": len(fields)})


def ftle(fields: Sequence[Field], times: Sequence[float], duration: float, *, start: Optional[float] = None, progress: Progress = None, **options: Any) -> Volume:
    """Finite-time Lyapunov exponents of a series of fields, for particles that move for `duration` (below 0: backward).

    Examples
    --------
    >>> import tessera as ts
    >>> saddle = ts.Field.make("field-saddle", size=(12, 12, 12))
    >>> ts.ftle([saddle], [0.0], 0.5).shape
    (12, 12, 12)
    """
    kept: list[Any] = []
    series = _series(fields, times, kept)
    made, owner = ffi.new("tsr_volume **"), fields[0]._owner
    with Progressed(progress) as p, owner.lock:
        values, held = _core.options("tsr_ftle_options", {"start": times[0] if start is None else start, "duration": duration, **options}, p)
        p.check(lib.tsr_field_ftle(series, values, made))
    return Volume._of(made, owner)


def pathlines(fields: Sequence[Field], times: Sequence[float], seeds: "ArrayLike", *, start: Optional[float] = None, progress: Progress = None, **options: Any) -> Streamlines:
    """Where particles go that start at seeds (n, 3).

    Examples
    --------
    >>> import tessera as ts
    >>> fields = [ts.Field.make("field-double-gyre", time=t) for t in (0.0, 1.0)]
    >>> len(ts.pathlines(fields, [0.0, 1.0], fields[0].seeds(count=5)))
    5
    """
    kept: list[Any] = []
    series, where = _series(fields, times, kept), rows(seeds, 3, "seeds")
    made, owner = ffi.new("tsr_streamlines **"), fields[0]._owner
    with Progressed(progress) as p, owner.lock:
        values, held = _core.options("tsr_streamline_options", {"parameter": "time", "direction": "forward", **options}, p)
        p.check(lib.tsr_streamlines_paths(series, float(times[0] if start is None else start), ffi.cast("double *", ffi.from_buffer(where)), len(where), values, made))
    return Streamlines._made(made, owner, fields[0])


def streaklines(
    fields: Sequence[Field], times: Sequence[float], seeds: "ArrayLike", *, start: float, end: float, releases: int = 100, progress: Progress = None, **options: Any
) -> Streamlines:
    """Where particles are at `end` that left seeds (n, 3) one after the other from `start` on.

    Examples
    --------
    >>> import tessera as ts
    >>> fields = [ts.Field.make("field-double-gyre", time=t) for t in (0.0, 1.0)]
    >>> len(ts.streaklines(fields, [0.0, 1.0], fields[0].seeds(count=5), start=0, end=1, releases=10))
    5
    """
    kept: list[Any] = []
    series, where = _series(fields, times, kept), rows(seeds, 3, "seeds")
    made, owner = ffi.new("tsr_streamlines **"), fields[0]._owner
    with Progressed(progress) as p, owner.lock:
        values, held = _core.options("tsr_streamline_options", {"parameter": "time", "direction": "forward", **options}, p)
        p.check(lib.tsr_streamlines_streaks(series, float(start), float(end), int(releases), ffi.cast("double *", ffi.from_buffer(where)), len(where), values, made))
    return Streamlines._made(made, owner, fields[-1])


