"""Level sets: made, combined and moved. Options have the names of the C library's option structs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Callable, Iterable, Literal, Optional, Sequence, Union, overload

import numpy as np

from . import _core
from ._core import Progress, Progressed, Report, check, ffi, lib
from ._inputs import as_mesh, beside, on_context
from ._arrays import dtype_number, geometry, rows
from ._objects import Volume
from ._tiles import Tiles

if TYPE_CHECKING:
    from numpy.typing import NDArray


def shape(kind: str, *, spacing: Union[float, Sequence[float]] = 1.0, band: float = 0.0, **parameters: Any) -> Tiles:
    """A primitive as a level set.

    Parameters
    ----------
    kind : str
        "sphere", "box", "torus", "cylinder", "capsule" or "ellipsoid".
    spacing : float or 3 floats
        World units per voxel.
    band : float
        Half width of the band in world units; 0: 2.5 voxels.
    **parameters
        centre, half (half extents), radius, minor, turn (axis times angle), shell: as tsr_shape.

    Examples
    --------
    >>> import tessera as ts
    >>> ts.shape("box", half=(3, 2, 1), spacing=0.25).measure().components
    1
    """
    owner = _core.context()
    three = [float(v) for v in np.broadcast_to(np.asarray(spacing, float), 3)]
    options, kept = _core.options("tsr_tiles_options", {"band": band})
    body = ffi.new("tsr_shape *")
    _core.fill(body, "tsr_shape", {"kind": kind, **parameters}, kept)
    made = ffi.new("tsr_tiles **")
    with owner.lock:
        check(lib.tsr_tiles_shape(owner._pointer, geometry(three), options, body, made))
    return Tiles._of(made, owner)


def csg(first: Tiles, second: Tiles, operation: str = "union", *, radius: float = 0.0) -> Tiles:
    """Union, intersection, difference, or blend (a union whose seam is filled by an arc of `radius`) of two level sets. `a | b`, `a & b` and `a - b` are the
    first three.

    Examples
    --------
    >>> import tessera as ts
    >>> a, b = ts.shape("sphere", radius=5, spacing=0.5), ts.shape("box", half=(3, 3, 3), spacing=0.5)
    >>> ts.csg(a, b, "difference") == a - b
    True
    """
    return first._combine(second, operation, radius)


@overload
def voxelize(
    mesh: Any, spacing: Union[float, Sequence[float]], *, dense: Literal[False] = False, dtype: Any = np.float32, progress: Progress = None, **options: Any
) -> Tiles: ...
@overload
def voxelize(mesh: Any, spacing: Union[float, Sequence[float]], *, dense: Literal[True], dtype: Any = np.float32, progress: Progress = None, **options: Any) -> Volume: ...
def voxelize(mesh: Any, spacing: Union[float, Sequence[float]], *, dense: bool = False, dtype: Any = np.float32, progress: Progress = None, **options: Any) -> Union[Tiles, Volume]:
    """A mesh as a level set, or (dense) as a volume: float32 distances clamped to the band, or a uint8 mask.

    Parameters
    ----------
    mesh : Mesh, a mesh of another library, or (vertices, triangles)
    spacing : float or 3 floats
        World units per voxel.
    dense : bool
        A Volume instead of Tiles.
    dtype : float32 or uint8
        Of the dense volume.
    **options
        origin, band, edge, rule ("nonzero", "even_odd", "positive", "shell"), thickness, memory_limit, size: as tsr_voxelize_options.

    Examples
    --------
    >>> import tessera as ts
    >>> ball = ts.surface(ts.shape("sphere", radius=5, spacing=0.5))
    >>> ts.voxelize(ball, 0.5).measure().components
    1
    """
    body, owner = on_context(as_mesh(mesh))
    three = [float(v) for v in np.broadcast_to(np.asarray(spacing, float), 3)]
    with Progressed(progress) as p:
        made_options, kept = _core.options("tsr_voxelize_options", {"spacing": three, **options}, p)
        with owner.lock:
            if dense:
                made = ffi.new("tsr_volume **")
                p.check(lib.tsr_volume_from_mesh(owner._pointer, body._pointer, dtype_number(dtype), made_options, made, ffi.NULL))
                return Volume._of(made, owner)
            made = ffi.new("tsr_tiles **")
            p.check(lib.tsr_tiles_from_mesh(owner._pointer, body._pointer, made_options, made, ffi.NULL))
    return Tiles._of(made, owner)


def evolve(
    tiles: Tiles,
    terms: Iterable[dict[str, Any]] = (),
    *,
    duration: Optional[float] = None,
    steps: Optional[int] = None,
    speed: Optional[Callable[..., Any]] = None,
    progress: Progress = None,
    **options: Any,
) -> Report:
    """Moves a level set, in place, by the terms of the level-set equation, for a duration or a number of steps.

    Parameters
    ----------
    tiles : Tiles
        Changed.
    terms : iterable of dict
        Each with kind ("speed", "curvature", "velocity", "rotation", "mean_curvature", ...) and value; vector, centre, radius, ...: as tsr_levelset_term.
    duration, steps
        One of the two.
    speed : callable, optional
        A speed of your own beside the terms: speed(x, y, z) or speed(x, y, z, t) of arrays of world positions gives an array, positive = outwards. It is asked round
        the surface again and again as that moves, with t before every step. Terms in C that a GPU runs, too: `load_term`.
    **options
        space ("upwind", "godunov", "eno2", "weno5"), time ("euler", "rk2", "rk3"), time_step, cfl, ...: as tsr_levelset_options.

    Returns
    -------
    Report
        steps, time, tiles, ...

    Examples
    --------
    >>> import tessera as ts
    >>> ball = ts.shape("sphere", radius=5, spacing=0.25)
    >>> _ = ts.evolve(ball, [{"kind": "speed", "value": 1.0}], duration=1.0)
    >>> round((ball.measure().volume * 3 / 4 / 3.14159) ** (1 / 3), 1)
    6.0
    """
    if (duration is None) == (steps is None):
        raise ValueError("expected one of duration and steps")
    if speed is not None:
        if duration is None:
            raise ValueError("a speed of your own needs a duration")
        return _evolve_by(tiles, speed, [dict(term) for term in terms], float(duration), progress, options)
    listed = [dict(term) for term in terms]
    values, kept = _core.options("tsr_levelset_options", {"terms": listed, "term_count": len(listed), **options})
    solver = ffi.new("tsr_levelset **")
    report = _core.begun("tsr_levelset_report")
    with Progressed(progress) as p, tiles._lock:
        check(lib.tsr_levelset_create(tiles._pointer, values, solver))
        try:
            if duration is not None:
                p.check(lib.tsr_levelset_advance(solver[0], float(duration), p.pointer, report))
            else:
                p.check(lib.tsr_levelset_step(solver[0], int(steps or 0), p.pointer, report))
        finally:
            lib.tsr_levelset_destroy(solver)
    return _core.report(report)


def _evolve_by(tiles: Tiles, speed: Callable[..., Any], terms: list[dict[str, Any]], duration: float, progress: Progress, options: dict[str, Any]) -> Report:
    """evolve() with a speed in Python: as a field on the tiles' own grid and a margin, for as long as the surface cannot leave it."""
    import inspect

    margin = 8
    timed = len(inspect.signature(speed).parameters) > 3
    least = min(tiles.spacing)
    done, steps, told = 0.0, 0, Report({})
    while done < duration * (1 - 1e-12):
        dense = tiles.volume()
        affine, shape = dense.affine, tuple(n + 2 * margin for n in dense.shape)
        affine[:3, 3] = affine[:3] @ [-margin, -margin, -margin, 1]
        del dense
        places = [affine[r, 0] * np.arange(shape[2]) + (affine[r, 1] * np.arange(shape[1]))[:, None] + (affine[r, 2] * np.arange(shape[0]))[:, None, None] + affine[r, 3] for r in range(3)]
        values = _speeds(speed(*places, done) if timed else speed(*places), shape)
        most = float(np.abs(values).max()) + sum(abs(float(t.get("value", 0.0))) for t in terms)
        part = min(duration - done, (least if timed else (margin - 2) * least) / max(most, 1e-30))
        if timed:  # of the middle of a short step
            part = min(part, duration / 32)
            values = _speeds(speed(*places, done + part / 2), shape)
        own = {"kind": "speed_field", "value": 1.0, "field": [beside(Volume(values, affine=affine), tiles)]}
        told = evolve(tiles, [own, *terms], duration=part, progress=progress, **options)
        done += part
        steps += told.steps
    return Report({**dict(told), "steps": steps, "time": done})


def _speeds(given: Any, shape: tuple[int, ...]) -> "NDArray[np.float32]":
    values = np.asarray(given)
    if values.dtype.kind not in "fiub":
        raise TypeError(f"speed gave {values.dtype}, expected numbers")
    try:
        made = np.ascontiguousarray(np.broadcast_to(values, shape), np.float32)
    except ValueError:
        raise ValueError(f"speed gave an array of shape {values.shape}, expected {shape}, that of the positions") from None
    if not np.isfinite(made).all():
        raise ValueError("speed gave values that are not finite")
    return made


def load_term(path: Union[str, "os.PathLike[str]"], data: bytes = b"") -> dict[str, Any]:
    """A term of the level-set equation in your own C (tessera/levelset_term.h), compiled as a module: to be one of `evolve`'s terms.

    Examples
    --------
    >>> import tessera as ts
    >>> ts.load_term("no-such-term.so")
    Traceback (most recent call last):
    ...
    tessera._core.FileError: ...
    """
    user = ffi.new("tsr_levelset_user *")
    check(lib.tsr_term_load(_core.context()._pointer, os.fsencode(path), len(data), user))
    kept = ffi.new("char[]", data or b"\0")
    user.data = kept
    return {"kind": "user", "value": 1.0, "user": _Loaded(user, kept)}


class _Loaded(_core.Struct):
    """A term that was loaded, and its data."""

    _type = "tsr_levelset_user"

    def __init__(self, user: Any, kept: Any) -> None:
        self.__dict__.update(_struct=user, _held=[kept])


def offset(thing: Any, distance: float, *, spacing: Optional[float] = None, progress: Progress = None) -> Tiles:
    """A body grown by a distance (shrunk by a negative one), world units: of a level set, or of a mesh that is voxelised with `spacing`.

    Examples
    --------
    >>> import tessera as ts
    >>> ball = ts.offset(ts.shape("sphere", radius=5, spacing=0.5), 2.0)
    >>> round((ball.measure().volume * 3 / 4 / 3.14159265) ** (1 / 3), 2)
    7.0
    """
    if isinstance(thing, Tiles):
        body = thing.copy()
    else:
        mesh = as_mesh(thing)
        if spacing is None:
            extent = float(np.max(np.ptp(mesh.vertices, axis=0)))
            spacing = extent / 128
        body = voxelize(mesh, spacing, progress=progress)
    far = abs(float(distance))
    if far >= 8 * min(body.spacing) and far >= body.describe().band:  # as the command line: the distance itself says where the surface comes to
        made = ffi.new("tsr_tiles **")
        with Progressed(progress) as p, body._lock:
            p.check(lib.tsr_tiles_offset(body._pointer, float(distance), p.pointer, made))
        return Tiles._of(made, body.context)
    if distance:
        speed = {"kind": "speed", "value": 1.0 if distance > 0 else -1.0}
        evolve(body, [speed], duration=abs(float(distance)), space="weno5", time="rk3", progress=progress)
    return body


def morph(first: Tiles, second: Tiles, t: Union[float, Sequence[float]], *, progress: Progress = None, **options: Any) -> Union[Tiles, list[Tiles]]:
    """Shapes between two level sets: at t from 0 (the first) to 1 (the second); several t give a list.

    Examples
    --------
    >>> import tessera as ts
    >>> a, b = ts.shape("sphere", radius=4, spacing=0.5), ts.shape("box", half=(4, 4, 4), spacing=0.5)
    >>> a.measure().volume < ts.morph(a, b, 0.5).measure().volume < b.measure().volume
    True
    """
    times = [float(v) for v in np.atleast_1d(np.asarray(t, float))]
    made = ffi.new("tsr_tiles *[]", len(times))
    with Progressed(progress) as p, first._lock:
        values, kept = _core.options("tsr_morph_options", options)
        p.check(lib.tsr_tiles_morph(first._pointer, second._pointer, times, len(times), values, p.pointer, made))
    results = [Tiles._of([pointer], first.context) for pointer in made]
    return results[0] if np.ndim(t) == 0 else results


def animal(size: float = 2.0, *, spacing: Union[float, Sequence[float]] = 0.05, centre: Sequence[float] = (0.0, 0.0, 0.0), band: float = 0.0) -> Tiles:
    """A body with a neck, a head, four legs and a tail, `size` long, as a level set: what level sets are tried on.

    Examples
    --------
    >>> import tessera as ts
    >>> ts.animal().measure().components
    1
    """
    owner, made = _core.context(), ffi.new("tsr_tiles **")
    three = [float(v) for v in np.broadcast_to(np.asarray(spacing, float), 3)]
    options, kept = _core.options("tsr_tiles_options", {"band": band})
    x, y, z = (float(v) for v in centre)
    with owner.lock:
        check(lib.tsr_tiles_animal(owner._pointer, geometry(three), options, ffi.new("tsr_vec3 *", [x, y, z])[0], float(size), made))
    del kept
    return Tiles._of(made, owner)


def tiles_from_parts(places: Any, values: Any, *, spacing: Union[float, Sequence[float]] = 1.0, origin: Optional[Sequence[float]] = None, **options: Any) -> Tiles:
    """A level set of its tiles, as `Tiles.parts` gives them: ordered by z, then y, then x.

    Parameters
    ----------
    places : array (n, 3) of int32
        x, y, z of a tile's first voxel divided by the edge.
    values : array (n, edge, edge, edge) of float32
        z, y, x.
    **options
        band, domain, ...: as tsr_tiles_options.

    Examples
    --------
    >>> import tessera as ts
    >>> ball = ts.shape("sphere", radius=5, spacing=0.5)
    >>> ts.tiles_from_parts(*ball.parts(), spacing=0.5, band=ball.describe().band) == ball
    True
    """
    where, field = rows(places, 3, "places", np.int32), np.ascontiguousarray(values, np.float32)
    if field.ndim != 4 or len(field) != len(where) or len(set(field.shape[1:])) != 1:
        raise ValueError(f"values of shape {field.shape}, expected ({len(where)}, edge, edge, edge)")
    three = [float(v) for v in np.broadcast_to(np.asarray(spacing, float), 3)]
    owner, made, contents = _core.context(), ffi.new("tsr_tiles **"), _core.begun("tsr_tiles_contents")
    contents.count, contents.coordinates, contents.values = len(where), ffi.cast("int32_t (*)[3]", where.ctypes.data), ffi.cast("float *", field.ctypes.data)
    given, kept = _core.options("tsr_tiles_options", {"edge": field.shape[1], **options})
    with owner.lock:
        check(lib.tsr_tiles_assemble(owner._pointer, geometry(three, origin), given, contents, made))
    del kept
    return Tiles._of(made, owner)
