"""Segmentation, surfaces, distances, transforms and measures of volumes. Options have the names of the C library's option structs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Optional, Sequence, Union

import numpy as np

from . import _core
from ._core import Object, Progress, Progressed, Report, check, ffi, lib
from ._inputs import as_volume, beside, on_context, vec3, volume_call
from ._arrays import dtype_number
from ._objects import Mesh, Volume
from ._tiles import Tiles
from ._unstructured import Unstructured

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._inputs import VolumeLike


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
        channels = int(lib.tsr_volume_channels(volume._pointer))
        if channels > 1:
            raise ValueError(f"a picture of {channels} channels, expected one: picture.array[..., 0], or tessera.read(path, what='volume', channel=0)")
        values, kept = _core.options("tsr_segment_options", options)
        made = ffi.new("tsr_segmentation **")
        with owner.lock:
            check(lib.tsr_segmentation_create(owner._pointer, volume._pointer, values, made))
        super().__init__(made[0], owner, volume, kept)
        self._to_world = volume.affine
        self._flat = volume.shape[0] == 1

    def _call(self, name: str, *arguments: Any) -> None:
        assert self._context is not None
        with self._context.lock:
            check(getattr(lib, name)(self._pointer, *arguments))

    def _index(self, position: Sequence[float], name: str) -> Any:
        """A position of the world as a voxel index, which the C library takes here."""
        place = np.asarray(position, float).ravel()
        if place.size == 2 and self._flat:
            place = np.append(place, self._to_world[2, 3])
        if place.size != 3:
            raise ValueError(f"{name}: {place.size} numbers, expected 3 (x, y, z)" + (", or 2 of an image of one slice" if self._flat else ""))
        return vec3(np.linalg.solve(self._to_world[:3, :3], place - self._to_world[:3, 3]).tolist())

    def sphere(self, centre: Sequence[float], radius: float, erase: bool = False) -> None:
        """Adds (or takes away) a ball: centre and radius in world units."""
        self._call("tsr_segmentation_sphere", self._index(centre, "centre"), float(radius), int(erase))

    def stroke(self, start: Sequence[float], end: Sequence[float], radius: float, erase: bool = False) -> None:
        """Adds (or takes away) a capsule between two points of the world."""
        self._call("tsr_segmentation_stroke", self._index(start, "start"), self._index(end, "end"), float(radius), int(erase))

    def from_mask(self, mask: "VolumeLike") -> None:
        """Begins with a mask of the image's shape."""
        self._call("tsr_segmentation_from_mask", beside(as_volume(mask), self)._pointer)

    def from_field(self, field: "VolumeLike") -> None:
        """Begins with a field of the image's shape, negative inside."""
        self._call("tsr_segmentation_from_field", beside(as_volume(field), self)._pointer)

    def probe_undo(self) -> Report:
        """Takes the last probe back."""
        made = ffi.new("tsr_probe *")
        self._call("tsr_segmentation_probe_undo", made)
        return _core.report(made)

    def probe_reset(self) -> None:
        """Forgets all probes."""
        assert self._context is not None
        with self._context.lock:
            lib.tsr_segmentation_probe_reset(self._pointer)

    @property
    def probe_counts(self) -> "NDArray[np.int64]":
        """How many of the probed values lie in each of 256 equal parts of the image's range."""
        assert self._context is not None
        with self._context.lock:
            return np.frombuffer(ffi.buffer(lib.tsr_segmentation_probe_counts(self._pointer), 256 * 8), np.int64).copy()

    def probe(self, position: Sequence[float], radius: float) -> Report:
        """Grey values in a ball set target and epsilon."""
        made = ffi.new("tsr_probe *")
        self._call("tsr_segmentation_probe", self._index(position, "position"), float(radius), made)
        return _core.report(made)

    def set(self, **parameters: float) -> None:
        """Changes options from the next step on; those that the image and the list were made ready for (band, window, terms, ...) stay."""
        values = _core.begun("tsr_segment_options")
        self._call("tsr_segmentation_get_options", values)
        kept: list[Any] = []
        _core.fill(values, "tsr_segment_options", parameters, kept)
        self._call("tsr_segmentation_set_options", values)

    def run(self, *, progress: Progress = None, **parameters: float) -> Report:
        """Steps until a rule to stop fires; parameters are set first."""
        self.set(**parameters)
        made = _core.begun("tsr_segment_report")
        assert self._context is not None
        with Progressed(progress) as p, self._context.lock:
            p.check(lib.tsr_segmentation_run(self._pointer, p.pointer, made))
        return _core.report(made)

    def step(self, steps: int = 1, *, progress: Progress = None) -> Report:
        """So many steps."""
        made = _core.begun("tsr_segment_report")
        assert self._context is not None
        with Progressed(progress) as p, self._context.lock:
            p.check(lib.tsr_segmentation_step(self._pointer, int(steps), p.pointer, made))
        return _core.report(made)

    def undo(self) -> None:
        """Back to the last snapshot."""
        self._call("tsr_segmentation_undo")

    def redo(self) -> None:
        """Takes the last undo back."""
        self._call("tsr_segmentation_redo")

    def script(self, text: str, name: str = "script", *, progress: Progress = None) -> Report:
        """Commands, one a line: sphere, paint, erase, probe, set, step, run, snapshot, undo, redo, stop; positions are voxel indices (x, y, z)."""
        made = _core.begun("tsr_segment_report")
        assert self._context is not None
        with Progressed(progress) as p, self._context.lock:
            p.check(lib.tsr_segmentation_script(self._pointer, text.encode(), name.encode(), p.pointer, made))
        return _core.report(made)

    @property
    def log(self) -> str:
        """What was done so far, as a script that does it again exactly."""
        assert self._context is not None
        with self._context.lock:
            return str(ffi.string(lib.tsr_segmentation_log(self._pointer)).decode())

    def note(self, text: str) -> None:
        """A comment in the log."""
        self._call("tsr_segmentation_note", text.encode())

    def speed(self) -> Volume:
        """float32: the speed that grey values give at every voxel, alpha included."""
        return self._volume("tsr_segmentation_speed")

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


def segment(image: "VolumeLike", seeds: Iterable[Sequence[float]] = (), *, mask: Optional["VolumeLike"] = None, progress: Progress = None, **options: Any) -> Volume:
    """A mask of the part of an image round some seeds.

    Parameters
    ----------
    image : Volume, array, Image or image of another library
        Of one slice (a picture) it is segmented in two dimensions.
    seeds : iterable of (x, y, z, radius)
        Balls in world units; discs (x, y, radius) in two dimensions.
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
    >>> flat = ts.segment(image[12], [(12, 12, 3)], target=100, epsilon=40, alpha=0.9, max_steps=200)
    >>> flat.shape, int(flat.array[0, 12, 12])
    ((1, 24, 24), 1)
    """
    made = Segmentation(image, **options)
    if mask is not None:
        made.from_mask(mask)
    for *centre, radius in seeds:
        made.sphere(centre, radius)
    made.run(progress=progress)
    return made.mask()


# ---- surfaces ----------------------------------------------------------------------------------------------------------------------


def surface(thing: Any, isovalue: float = 0.0, *, normals: Union[str, int] = "none", **options: Any) -> Mesh:
    """Marching cubes: the surface of a level set, or of a volume at a value (in real units; inside = above it).

    Parameters
    ----------
    thing : Tiles, Volume, Unstructured, array or image of another library
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
    if isinstance(thing, Unstructured):
        owner = thing.context or _core.context()
        grid = thing if thing.context is owner else thing.to(owner)
        with owner.lock:
            check(lib.tsr_surface_extract_unstructured(owner._pointer, grid._pointer, values, made, ffi.NULL))
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
    return volume_call("tsr_distance_transform", volume, values, owner=owner)


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
    return volume_call("tsr_volume_smooth", body, values, owner=owner)


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


def wavelet_options(filter: Union[str, int], given: Mapping[str, Any]) -> tuple[Any, list[Any]]:
    """Options of a transform, whose steps may be text."""
    named = {"filter": filter, **given}
    if not isinstance(named.get("steps"), str):
        return _core.options("tsr_wavelet_options", named)
    steps, count = ffi.new("tsr_wavelet_step[]", lib.TSR_WAVELET_STEPS), ffi.new("int32_t *")
    check(lib.tsr_wavelet_steps_parse(named.pop("steps").encode(), steps, count))
    values, kept = _core.options("tsr_wavelet_options", named)
    values.steps, values.step_count = steps, count[0]
    return values, [*kept, steps]


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
        levels, axes, boundary, layout, ...: as tsr_wavelet_options; steps: those of filter "custom" as text, see `wavelet_steps`.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> x = np.random.default_rng(1).integers(0, 255, (16, 16, 16)).astype(np.uint8)
    >>> bool((ts.idwt(ts.dwt(x, "dd97", levels=2)).array == x).all())
    True
    """
    body, owner = on_context(as_volume(volume))
    values, kept = wavelet_options(filter, options)
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
    return volume_call("tsr_volume_idwt", body, owner=owner)


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
    info = _core.begun("tsr_compress_info")
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
    made = _core.begun("tsr_statistics")
    with owner.lock:
        check(lib.tsr_volume_statistics(owner._pointer, body._pointer, made))
    return _core.report(made)


def label(mask: "VolumeLike", connectivity: int = 6) -> tuple[Volume, int]:
    """Connected components of a mask: labels (uint32, 0 outside) and their number. `connectivity`: 6 or 26.

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
