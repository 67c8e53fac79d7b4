"""What can be done with volumes, meshes, points and level sets. Options have the names of the C library's option structs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Iterable, Literal, Optional, Sequence, Union, overload

import numpy as np

from . import _core
from ._core import Context, Object, Progress, Progressed, Report, check, ffi, lib
from ._interchange import coerce
from ._objects import Image, Mesh, Points, Tiles, Volume, dtype_number, geometry

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    VolumeLike = Union[Volume, ArrayLike, Any]


def as_volume(thing: Any) -> Volume:
    """A volume of an array, or of an image of nibabel, SimpleITK, xarray or pyvista."""
    if isinstance(thing, Volume):
        return thing
    made = coerce(thing, "volume")
    return made if isinstance(made, Volume) else Volume(made)


def as_mesh(thing: Any) -> Mesh:
    """A mesh of one of trimesh, meshio, pyvista or open3d, or of a pair (vertices, triangles)."""
    if isinstance(thing, Mesh):
        return thing
    if isinstance(thing, tuple) and len(thing) == 2:
        return Mesh(*thing)
    made = coerce(thing, "mesh")
    if isinstance(made, Mesh):
        return made
    raise TypeError(f"{type(thing).__name__}, expected a mesh or a pair (vertices, triangles)")


def as_points(thing: Any) -> Points:
    """Points of an array (n, 3), or of a cloud of open3d, trimesh or pyvista."""
    if isinstance(thing, Points):
        return thing
    made = coerce(thing, "points")
    return made if isinstance(made, Points) else Points(made)


def on_context(thing: Any) -> tuple[Any, Context]:
    """An object as calls can use it, and their context: its own, or, of host memory, the current one, to which it goes if that is a GPU."""
    owner = thing.context
    if owner is not None:
        return thing, owner
    current = _core.context()
    return (thing, current) if current.on_host else (thing.to(current), current)


def _volume_call(function: str, volume: Volume, *arguments: Any, owner: Context) -> Volume:
    made = ffi.new("tsr_volume **")
    with owner.lock:
        check(getattr(lib, function)(owner._pointer, volume._pointer, *arguments, made))
    return Volume._of(made, owner)


# ---- level sets --------------------------------------------------------------------------------------------------------------------


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


def reconstruct(points: Any, *, progress: Progress = None, **options: Any) -> Tiles:
    """A closed surface through points, as a level set; normals are not needed.

    Parameters
    ----------
    points : Points, array (n, 3), or a cloud of another library
    **options
        depth (2^depth voxels along an axis; 8), start_depth, power, theta, alpha, band, min_neighbours, ...: as tsr_reconstruct_options.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> x = np.random.default_rng(1).normal(size=(4000, 3)).astype(np.float32)
    >>> ball = ts.reconstruct(x / np.linalg.norm(x, axis=1, keepdims=True), depth=6, start_depth=5)
    >>> abs(ball.measure().volume / 4.18879 - 1) < 0.05
    True
    """
    cloud, owner = on_context(as_points(points))
    made = ffi.new("tsr_tiles **")
    with Progressed(progress) as p:
        made_options, kept = _core.options("tsr_reconstruct_options", options, p)
        with owner.lock:
            p.check(lib.tsr_reconstruct(owner._pointer, cloud._pointer, made_options, made, ffi.NULL))
    return Tiles._of(made, owner)


def evolve(tiles: Tiles, terms: Iterable[dict[str, Any]], *, duration: Optional[float] = None, steps: Optional[int] = None, progress: Progress = None, **options: Any) -> Report:
    """Moves a level set, in place, by the terms of the level-set equation, for a duration or a number of steps.

    Parameters
    ----------
    tiles : Tiles
        Changed.
    terms : iterable of dict
        Each with kind ("speed", "curvature", "velocity", "rotation", "mean_curvature", ...) and value; vector, centre, radius, ...: as tsr_levelset_term.
    duration, steps
        One of the two.
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
    listed = [dict(term) for term in terms]
    values, kept = _core.options("tsr_levelset_options", {"terms": listed, "term_count": len(listed), **options})
    solver = ffi.new("tsr_levelset **")
    report = ffi.new("tsr_levelset_report *")
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


def offset(thing: Any, distance: float, *, spacing: Optional[float] = None, progress: Progress = None) -> Tiles:
    """A body grown by a distance (shrunk by a negative one), world units: of a level set, or of a mesh that is voxelised with `spacing`.

    Examples
    --------
    >>> import tessera as ts
    >>> cube = ts.shape("box", half=(4, 4, 4), spacing=0.5)
    >>> ts.offset(cube, 1.0).measure().volume > cube.measure().volume
    True
    """
    if isinstance(thing, Tiles):
        body = thing.copy()
    else:
        mesh = as_mesh(thing)
        if spacing is None:
            extent = float(np.max(np.ptp(mesh.vertices, axis=0)))
            spacing = extent / 128
        body = voxelize(mesh, spacing, progress=progress)
    evolve(body, [{"kind": "speed", "value": 1.0 if distance > 0 else -1.0}], duration=abs(float(distance)), progress=progress)
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


# ---- segmentation ------------------------------------------------------------------------------------------------------------------


class Segmentation(Object):
    """A level set that grows over the grey values of an image.

    Parameters
    ----------
    image : Volume, array or image of another library
    **options
        target, epsilon, alpha, smoothing, max_steps, volume_tolerance, ...: as tsr_segment_options.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> z, y, x = np.mgrid[:32, :32, :32] - 16.0
    >>> image = np.where(x * x + y * y + z * z < 100, 200, 50).astype(np.uint8)
    >>> s = ts.Segmentation(image, target=200, epsilon=60, alpha=0.8)
    >>> s.sphere((16, 16, 16), 4)
    >>> _ = s.run(max_steps=300)
    >>> bool(abs(s.mask().array.sum() / (image > 100).sum() - 1) < 0.15)
    True
    """

    _kind = "tsr_segmentation"
    _destroy = "tsr_segmentation_destroy"

    def __init__(self, image: "VolumeLike", **options: Any) -> None:
        volume, owner = on_context(as_volume(image))
        values, kept = _core.options("tsr_segment_options", options)
        made = ffi.new("tsr_segmentation **")
        with owner.lock:
            check(lib.tsr_segmentation_create(owner._pointer, volume._pointer, values, made))
        super().__init__(made[0], owner, volume, kept)

    def _call(self, name: str, *arguments: Any) -> None:
        assert self._context is not None
        with self._context.lock:
            check(getattr(lib, name)(self._pointer, *arguments))

    def sphere(self, centre: Sequence[float], radius: float, erase: bool = False) -> None:
        """Adds (or takes away) a ball: centre and radius in world units."""
        self._call("tsr_segmentation_sphere", _vec3(centre), float(radius), int(erase))

    def stroke(self, start: Sequence[float], end: Sequence[float], radius: float, erase: bool = False) -> None:
        """Adds (or takes away) a capsule between two points of the world."""
        self._call("tsr_segmentation_stroke", _vec3(start), _vec3(end), float(radius), int(erase))

    def from_mask(self, mask: "VolumeLike") -> None:
        """Begins with a mask of the image's shape."""
        self._call("tsr_segmentation_from_mask", _beside(as_volume(mask), self)._pointer)

    def probe(self, position: Sequence[float], radius: float) -> Report:
        """Grey values in a ball set target and epsilon."""
        made = ffi.new("tsr_probe *")
        self._call("tsr_segmentation_probe", _vec3(position), float(radius), made)
        return _core.report(made)

    def set(self, **parameters: float) -> None:
        """Changes parameters from the next step on."""
        for name, value in parameters.items():
            self._call("tsr_segmentation_set", name.encode(), float(value))

    def run(self, *, progress: Progress = None, **parameters: float) -> Report:
        """Steps until a rule to stop fires; parameters are set first."""
        self.set(**parameters)
        made = ffi.new("tsr_segment_report *")
        assert self._context is not None
        with Progressed(progress) as p, self._context.lock:
            p.check(lib.tsr_segmentation_run(self._pointer, p.pointer, made))
        return _core.report(made)

    def step(self, steps: int = 1, *, progress: Progress = None) -> Report:
        """So many steps."""
        made = ffi.new("tsr_segment_report *")
        assert self._context is not None
        with Progressed(progress) as p, self._context.lock:
            p.check(lib.tsr_segmentation_step(self._pointer, int(steps), p.pointer, made))
        return _core.report(made)

    def undo(self) -> None:
        """Back to the last snapshot."""
        self._call("tsr_segmentation_undo")

    def snapshot(self) -> None:
        """Remembers the surface."""
        self._call("tsr_segmentation_snapshot")

    def _volume(self, name: str) -> Volume:
        made = ffi.new("tsr_volume **")
        self._call(name, made)
        return Volume._of(made, self._context)

    def mask(self) -> Volume:
        """uint8, 1 inside."""
        return self._volume("tsr_segmentation_mask")

    def field(self) -> Volume:
        """float32, negative inside."""
        return self._volume("tsr_segmentation_field")

    def tiles(self) -> Tiles:
        """A copy of the level set."""
        view = lib.tsr_segmentation_tiles(self._pointer)
        made = ffi.new("tsr_tiles **")
        assert self._context is not None
        with self._context.lock:
            check(lib.tsr_tiles_copy(view, self._context._pointer, made))
        return Tiles._of(made, self._context)


def _vec3(values: Sequence[float]) -> Any:
    x, y, z = (float(v) for v in values)
    return ffi.new("tsr_vec3 *", [x, y, z])[0]


def _beside(volume: Volume, other: Object) -> Volume:
    """The volume where the other object works."""
    if volume.on_host and other.on_host:
        return volume
    assert other.context is not None
    return volume if volume.context is other.context else volume.to(other.context)


def segment(image: "VolumeLike", seeds: Iterable[Sequence[float]] = (), *, mask: Optional["VolumeLike"] = None, progress: Progress = None, **options: Any) -> Volume:
    """A mask of the part of an image round some seeds.

    Parameters
    ----------
    image : Volume, array or image of another library
    seeds : iterable of (x, y, z, radius)
        Balls in world units.
    mask : Volume or array, optional
        A mask to begin with.
    **options
        target, epsilon, alpha, ...: as tsr_segment_options.

    Returns
    -------
    Volume
        uint8, 1 inside.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> image = np.zeros((24, 24, 24), np.uint8); image[6:18, 6:18, 6:18] = 100
    >>> m = ts.segment(image, [(12, 12, 12, 3)], target=100, epsilon=40, alpha=0.9, max_steps=200)
    >>> int(m.array[12, 12, 12]), int(m.array[0, 0, 0])
    (1, 0)
    """
    made = Segmentation(image, **options)
    if mask is not None:
        made.from_mask(mask)
    for x, y, z, radius in seeds:
        made.sphere((x, y, z), radius)
    made.run(progress=progress)
    return made.mask()


# ---- surfaces ----------------------------------------------------------------------------------------------------------------------


def surface(thing: Any, isovalue: float = 0.0, *, normals: Union[str, int] = "none", **options: Any) -> Mesh:
    """Marching cubes: the surface of a level set, or of a volume at a value (in real units; inside = above it).

    Parameters
    ----------
    thing : Tiles, Volume, array or image of another library
    isovalue : float
    normals : str
        "none", "forward", "central" or "trilinear".
    **options
        inside ("above", "below"), close, ambiguity, midpoints, nan: as tsr_surface_options.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> v = np.zeros((4, 4, 4), np.float32); v[1:3, 1:3, 1:3] = 1
    >>> ts.surface(v, 0.5).measure().boundary_edges
    0
    """
    made = ffi.new("tsr_mesh **")
    values, kept = _core.options("tsr_surface_options", {"isovalue": isovalue, "normals": normals, **options})
    if isinstance(thing, Tiles):
        owner = thing.context
        assert owner is not None
        with owner.lock:
            check(lib.tsr_surface_extract_tiles(owner._pointer, thing._pointer, values, made, ffi.NULL))
        return Mesh._of(made, owner)
    volume, owner = on_context(as_volume(thing))
    with owner.lock:
        check(lib.tsr_surface_extract(owner._pointer, volume._pointer, values, made, ffi.NULL))
    return Mesh._of(made, owner)


# ---- volumes -----------------------------------------------------------------------------------------------------------------------


def distance(mask: "VolumeLike", *, mode: Union[str, int, None] = None, band: float = 0.0) -> Volume:
    """Euclidean distance of every voxel in world units, float32, of a mask (inside is what is not 0).

    Parameters
    ----------
    mask : Volume, array or image of another library
    mode : str
        "signed" (the default): negative inside, from the faces between voxels; "to_mask": to the nearest voxel of the mask, 0 in it.
    band : float
        Distances are clamped to it; 0: not.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> m = np.zeros((1, 1, 5), np.uint8); m[0, 0, 2] = 1
    >>> ts.distance(m).shape
    (1, 1, 5)
    """
    volume, owner = on_context(as_volume(mask))
    values, kept = _core.options("tsr_distance_options", {"mode": mode, "band": band})
    return _volume_call("tsr_distance_transform", volume, values, owner=owner)


def smooth(volume: "VolumeLike", sigma: float, **options: Any) -> Volume:
    """Gaussian smoothing by a standard deviation in world units.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> v = np.zeros((9, 9, 9), np.float32); v[4, 4, 4] = 1
    >>> bool(0 < ts.smooth(v, 1.0).array[4, 4, 4] < 1)
    True
    """
    body, owner = on_context(as_volume(volume))
    values, kept = _core.options("tsr_smooth_options", {"sigma": sigma, **options})
    return _volume_call("tsr_volume_smooth", body, values, owner=owner)


def denoise(volume: "VolumeLike", *, progress: Progress = None, **options: Any) -> Volume:
    """Noise removed by shrinking wavelet coefficients: rule ("bayes", "universal"), hard, sigma (0: estimated), strength, levels, shifts, filter.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> noisy = np.random.default_rng(1).normal(100, 10, (32, 32, 32)).astype(np.float32)
    >>> bool(ts.denoise(noisy).array.std() < 5)
    True
    """
    body, owner = on_context(as_volume(volume))
    made = ffi.new("tsr_volume **")
    with Progressed(progress) as p:
        values, kept = _core.options("tsr_denoise_options", options, p)
        with owner.lock:
            p.check(lib.tsr_volume_denoise(owner._pointer, body._pointer, values, made, ffi.NULL))
    return Volume._of(made, owner)


def dwt(volume: "VolumeLike", filter: Union[str, int] = "legall53", *, dtype: Any = None, **options: Any) -> Volume:
    """Discrete wavelet transform: the coefficients, in a volume that says how they were made. Integers are transformed without loss.

    Parameters
    ----------
    volume : Volume, array or image of another library
    filter : str
        "haar", "legall53", "dd97", "dd137", "daub97", "fidelity", ...
    dtype : optional
        Of the coefficients; None: as wide as they need.
    **options
        levels, axes, boundary, layout, ...: as tsr_wavelet_options.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> x = np.random.default_rng(1).integers(0, 255, (16, 16, 16)).astype(np.uint8)
    >>> bool((ts.idwt(ts.dwt(x, "dd97", levels=2)).array == x).all())
    True
    """
    body, owner = on_context(as_volume(volume))
    values, kept = _core.options("tsr_wavelet_options", {"filter": filter, **options})
    made = ffi.new("tsr_volume **")
    with owner.lock:
        check(lib.tsr_volume_dwt(owner._pointer, body._pointer, values, lib.TSR_DTYPE_COUNT if dtype is None else dtype_number(dtype), made))
    return Volume._of(made, owner)


def idwt(coefficients: Volume) -> Volume:
    """The volume back from the coefficients of `dwt`.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> x = np.arange(8, dtype=np.uint8)
    >>> ts.idwt(ts.dwt(x, "haar")).array.ravel().tolist()
    [0, 1, 2, 3, 4, 5, 6, 7]
    """
    body, owner = on_context(as_volume(coefficients))
    return _volume_call("tsr_volume_idwt", body, owner=owner)


def compress(volume: "VolumeLike", path: Union[str, "os.PathLike[str]"], *, overwrite: bool = True, progress: Progress = None, **options: Any) -> Report:
    """Writes a compressed volume (.tsc): without loss, or with max_error, psnr or rate.

    Returns
    -------
    Report
        file_bytes, psnr, max_error, ...

    Examples
    --------
    >>> import numpy as np, tessera as ts, tempfile, os
    >>> v = np.add.outer(np.add.outer(np.arange(32), np.arange(32)), np.arange(32)).astype(np.uint8)
    >>> with tempfile.TemporaryDirectory() as d:
    ...     r = ts.compress(v, os.path.join(d, "v.tsc"))
    ...     same = bool((ts.read(os.path.join(d, "v.tsc")).array == v).all())
    >>> same, bool(r.file_bytes < v.nbytes)
    (True, True)
    """
    body = as_volume(volume)
    body = body if body.on_host else body.to("cpu")
    info = ffi.new("tsr_compress_info *")
    with Progressed(progress) as p:
        values, kept = _core.options("tsr_compress_options", {"overwrite": overwrite, **options}, p)
        p.check(lib.tsr_volume_compress(body._pointer, os.fsencode(path), values, info))
    return _core.report(info)


def statistics(volume: "VolumeLike") -> Report:
    """Minimum, maximum, mean, deviation and more, in real values.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> ts.statistics(np.arange(5, dtype=np.int16)).maximum
    4.0
    """
    body, owner = on_context(as_volume(volume))
    made = ffi.new("tsr_statistics *")
    with owner.lock:
        check(lib.tsr_volume_statistics(owner._pointer, body._pointer, made))
    return _core.report(made)


def label(mask: "VolumeLike", connectivity: int = 6) -> tuple[Volume, int]:
    """Connected components of a mask: labels (uint32, 0 outside) and their number. `connectivity`: 6, 18 or 26.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> m = np.zeros((1, 1, 5), np.uint8); m[0, 0, [0, 2, 3]] = 1
    >>> labels, count = ts.label(m)
    >>> count
    2
    """
    body, owner = on_context(as_volume(mask))
    made, count = ffi.new("tsr_volume **"), ffi.new("int64_t *")
    with owner.lock:
        check(lib.tsr_volume_components(owner._pointer, body._pointer, int(connectivity), made, count))
    return Volume._of(made, owner), int(count[0])


# ---- pictures ----------------------------------------------------------------------------------------------------------------------


def mip(volume: "VolumeLike", *, azimuth: float = 0.0, elevation: float = 0.0, size: tuple[int, int] = (512, 512), window: float = 0.0, level: float = 0.0) -> Image:
    """Maximum intensity projection of a volume of uint8 or uint16, from an angle (degrees).

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> ts.mip(np.zeros((8, 8, 8), np.uint8), size=(64, 48)).array.shape
    (48, 64, 1)
    """
    body, owner = on_context(as_volume(volume))
    frame, made = ffi.new("tsr_mip_frame **"), ffi.new("tsr_mip **")
    width, height = (int(v) for v in size)
    image = ffi.new("tsr_image *")
    with owner.lock:
        check(lib.tsr_mip_frame_create(owner._pointer, width, height, frame))
        try:
            check(lib.tsr_mip_build(owner._pointer, body._pointer, ffi.NULL, made))
            try:
                extent = np.asarray(body.shape, float) * np.asarray(body.spacing[::-1]) / min(body.spacing)
                zoom = min(width, height) / max(1.0, float(np.linalg.norm(extent)))
                view = ffi.new("tsr_mip_view *", lib.tsr_mip_orbit(float(azimuth), float(elevation), zoom))
                least = min(body.spacing)
                view.stretch = _vec3([s / least for s in body.spacing])
                check(lib.tsr_mip_render(made[0], view, ffi.NULL, frame[0], ffi.NULL))
                check(lib.tsr_mip_frame_image(frame[0], dtype_number(body.dtype), float(window), float(level), image))
            finally:
                lib.tsr_mip_destroy(made)
        finally:
            lib.tsr_mip_frame_destroy(frame)
    return Image._taken(image)


def render(
    thing: Any,
    *,
    volume: Optional["VolumeLike"] = None,
    mode: Union[str, int, None] = None,
    azimuth: float = 30.0,
    elevation: float = 20.0,
    size: tuple[int, int] = (640, 480),
    isovalue: Optional[float] = None,
    transfer: Optional[str] = None,
    window: Optional[tuple[float, float]] = None,
    **options: Any,
) -> Image:
    """A picture of a mesh, a level set, or a volume (its density, or with `isovalue` its surface), from an angle in degrees.

    Parameters
    ----------
    thing : Mesh, Tiles, Volume, array or object of another library
    volume : optional
        A volume to be drawn beside a mesh or level set.
    mode : str
        "surface", "volume", "combined" or "mip"; None: what fits.
    transfer : str
        Preset of the volume's colours, as tsr_transfer_preset, e.g. "mri_head".
    window : pair of floats
        Grey values of the transfer function's ends.
    **options
        supersampling, ambient_occlusion, surface_color, transparent, ...: as tsr_render_options.

    Examples
    --------
    >>> import tessera as ts
    >>> ts.render(ts.shape("sphere", radius=5, spacing=0.5), size=(64, 48)).array.shape
    (48, 64, 3)
    """
    body = thing if isinstance(thing, (Mesh, Tiles, Volume)) else coerce(thing, "any")
    if not isinstance(body, (Mesh, Tiles, Volume)):
        body = Volume(body)
    body, owner = on_context(body)
    source = None if volume is None else _beside(as_volume(volume), body)
    scene, picture, image = ffi.new("tsr_scene **"), ffi.new("tsr_picture **"), ffi.new("tsr_image *")
    width, height = (int(v) for v in size)
    with owner.lock:
        check(lib.tsr_scene_create(owner._pointer, scene))
        try:
            if isinstance(body, Mesh):
                check(lib.tsr_scene_set_surface_mesh(scene[0], body._pointer))
            elif isinstance(body, Tiles):
                check(lib.tsr_scene_set_surface_tiles(scene[0], body._pointer))
            elif isovalue is not None:
                check(lib.tsr_scene_set_surface_volume(scene[0], body._pointer, float(isovalue), 0))
            else:
                source = body
            if source is not None:
                check(lib.tsr_scene_set_volume(scene[0], source._pointer))
            if mode is None:
                mode = "surface" if source is None else "volume" if source is body else "combined"
            info = ffi.new("tsr_scene_info *")
            check(lib.tsr_scene_describe(scene[0], info))
            camera = ffi.new("tsr_camera *")
            space = source.space if source is not None else getattr(body, "space", None)
            check(lib.tsr_camera_orbit(ffi.addressof(info.bounds), {"ras": 1, "lps": 2}.get(space or "", 0), float(azimuth), float(elevation), 0, width / height, camera))
            values, kept = _core.options("tsr_render_options", {"mode": mode, **options})
            if transfer is not None:
                low, high = window if window is not None else (info.window_low, info.window_high)
                colours = ffi.new("tsr_transfer *")
                check(lib.tsr_transfer_make(_core.enum("tsr_transfer_preset", transfer), float(low), float(high), colours))
                values.transfer = colours
            elif window is not None:
                values.window_low, values.window_high = float(window[0]), float(window[1])
            check(lib.tsr_picture_create(owner._pointer, width, height, picture))
            try:
                check(lib.tsr_render(scene[0], camera, values, picture[0]))
                check(lib.tsr_picture_image(picture[0], 4 if options.get("transparent") else 3, image))
            finally:
                lib.tsr_picture_destroy(picture)
        finally:
            lib.tsr_scene_destroy(scene)
    return Image._taken(image)


# ---- trees -------------------------------------------------------------------------------------------------------------------------


class RegionTree(Object):
    """A quadtree (of an image) or octree (of a volume) of regions of the same class; see `octree`."""

    _kind = "tsr_region_tree"
    _destroy = "tsr_region_tree_destroy"

    def describe(self) -> Report:
        """Leaves, levels, size and more."""
        return _core.report(ffi.new("tsr_region_info *", lib.tsr_region_tree_describe(self._pointer)))

    def leaves(self) -> "NDArray[np.uint64]":
        """Keys of the leaves, a copy. tsr_region_leaf_of (tessera.c) takes them apart."""
        info = self.describe()
        if not self.on_host:
            raise TypeError("the tree lies on a GPU: make it on the CPU to see its leaves")
        keys = lib.tsr_region_tree_leaves(self._pointer)
        found: "NDArray[np.uint64]" = np.frombuffer(ffi.buffer(keys, int(info.leaves) * 8), np.uint64).copy()
        return found

    def __repr__(self) -> str:
        return f"<tessera.RegionTree {self.describe().leaves} leaves>"


def octree(volume: "VolumeLike", **options: Any) -> RegionTree:
    """The octree (of one slice: quadtree) of a volume: by default of equal values; rule, threshold, ... as tsr_region_options.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> v = np.zeros((8, 8, 8), np.uint8); v[:4] = 1
    >>> ts.octree(v).describe().leaves
    8
    """
    body, owner = on_context(as_volume(volume))
    values, kept = _core.options("tsr_region_options", {"rule": "spread", **options})
    made = ffi.new("tsr_region_tree **")
    with owner.lock:
        check(lib.tsr_region_tree_make(owner._pointer, ffi.new("tsr_volume *[1]", [body._pointer]), 1, values, made))
    tree = RegionTree.__new__(RegionTree)
    Object.__init__(tree, made[0], owner)
    return tree


quadtree = octree
