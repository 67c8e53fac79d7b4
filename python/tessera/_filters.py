"""Volumes cut, turned, resampled and thresholded; histograms, label maps, attribute filters, winding numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, Optional, Sequence, Union

import numpy as np

from . import _core
from ._core import Object, Progress, Progressed, Report, check, ffi, lib
from ._inputs import as_mesh, as_volume, beside, on_context, vec3, volume_call
from ._arrays import geometry
from ._objects import Mesh, Volume

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._inputs import VolumeLike


def _size(values: Sequence[int], name: str) -> Any:
    numbers = [int(v) for v in values]
    if len(numbers) != 3:
        raise ValueError(f"{name}: {len(numbers)} numbers, expected 3 (x, y, z)")
    return ffi.new("tsr_size3 *", numbers)[0]


def _host(volume: "VolumeLike") -> Volume:
    body = as_volume(volume)
    return body if body.on_host else body.to("cpu")


# ---- cutting, turning, resampling ----------------------------------------------------------------------------------------------------


def crop(volume: "VolumeLike", begin: Sequence[int], end: Sequence[int]) -> Volume:
    """The voxels from index `begin` to before `end` (x, y, z), where they are in the world.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> part = ts.crop(np.arange(24).reshape(2, 3, 4), (1, 0, 1), (4, 3, 2))
    >>> part.shape, part.origin
    ((1, 3, 3), (1.0, 0.0, 1.0))
    """
    body, owner = on_context(as_volume(volume))
    return volume_call("tsr_volume_crop", body, _size(begin, "begin"), _size(end, "end"), owner=owner)


def pad(volume: "VolumeLike", before: Sequence[int], after: Sequence[int], border: str = "replicate", value: float = 0.0) -> Volume:
    """Voxels added at the lower and upper faces (x, y, z): "replicate", "mirror" or "constant", of a value.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> ts.pad(np.array([1, 2, 3]), (2, 0, 0), (1, 0, 0), "mirror").array.ravel().tolist()
    [3, 2, 1, 2, 3, 2]
    """
    body, owner = on_context(as_volume(volume))
    return volume_call("tsr_volume_pad", body, _size(before, "before"), _size(after, "after"), _core.enum("tsr_border", border), float(value), owner=owner)


def permute(volume: "VolumeLike", axes: Sequence[int], flip: Sequence[bool] = (False, False, False)) -> Volume:
    """Axis k of the result (0 is x) runs along axis axes[k] of the volume, backwards where flip[k]: each voxel stays where it is in the world.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> v = ts.permute(ts.Volume(np.arange(6).reshape(1, 2, 3), spacing=(1, 2, 3)), (1, 0, 2), (True, False, False))
    >>> v.array.tolist(), v.spacing
    ([[[3, 0], [4, 1], [5, 2]]], (2.0, 1.0, 3.0))
    """
    body, owner = on_context(as_volume(volume))
    if sorted(axes) != [0, 1, 2] or len(flip) != 3:
        raise ValueError(f"axes {tuple(axes)} and {len(flip)} flips, expected 0, 1 and 2 in some order, and 3")
    return volume_call("tsr_volume_permute", body, [int(a) for a in axes], [int(f) for f in flip], owner=owner)


def combine(first: "VolumeLike", second: Optional["VolumeLike"] = None, how: str = "linear", *, a: float = 1.0, b: float = 1.0, c: float = 0.0) -> Volume:
    """a * first + b * second + c ("linear"; without a second one a * first + c), a * first * b * second + c ("multiply"), or the "minimum" or "maximum" of
    a * first and b * second, plus c: float32 of real values, where the first lies in the world.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> ts.combine(np.arange(3), np.ones(3), b=2).array.ravel().tolist()
    [2.0, 3.0, 4.0]
    """
    body, owner = on_context(as_volume(first))
    other = None if second is None else beside(as_volume(second), body)
    made, number = ffi.new("tsr_volume **"), _core.enum("tsr_combination", how)
    with owner.lock:
        check(lib.tsr_volume_combine(owner._pointer, number, float(a), body._pointer, float(b), _core.pointer(other), float(c), made))
    return Volume._of(made, owner)


def redistance(field: "VolumeLike", *, progress: Progress = None, **options: Any) -> tuple[Volume, Report]:
    """A dense level set made a distance by evolution: method ("reinit", "source"), band, step, tolerance, ...: as tsr_distance_pde_options.

    Returns
    -------
    Volume, Report
        float32; steps, change.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> x = np.arange(12.0) - 5.3
    >>> d, told = ts.redistance(np.broadcast_to(3 * x, (3, 3, 12)).astype(np.float32).copy())
    >>> bool(np.abs(d.array[1, 1] - x).max() < 0.05)
    True
    """
    body, owner = on_context(as_volume(field))
    made, told = ffi.new("tsr_volume **"), _core.begun("tsr_distance_pde_report")
    with Progressed(progress) as p, owner.lock:
        values, kept = _core.options("tsr_distance_pde_options", options, p)
        p.check(lib.tsr_distance_evolve(owner._pointer, body._pointer, values, made, told))
    del kept
    return Volume._of(made, owner), _core.report(told)


def reorient(volume: "VolumeLike", letters: str = "RAS") -> Volume:
    """Axes turned so that x, y and z run as nearly as possible to the directions of three letters (R or L, A or P, S or I). No voxel is changed.

    Raises
    ------
    tessera.UnsupportedError
        The volume says nothing about what its world's axes mean.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> head = ts.Volume(np.arange(24).reshape(2, 3, 4), space="ras")
    >>> ts.reorient(head, "LAS").array[0, 0].tolist()
    [3, 2, 1, 0]
    """
    body, owner = on_context(as_volume(volume))
    return volume_call("tsr_volume_reorient", body, letters.encode(), owner=owner)


def resample(volume: "VolumeLike", *, spacing: Union[float, Sequence[float], None] = None, size: Optional[Sequence[int]] = None, like: Optional["VolumeLike"] = None, **options: Any) -> Volume:
    """The volume on another grid.

    Parameters
    ----------
    volume : Volume, array or image of another library
    spacing : float or 3 floats
        World units; or
    size : 3 ints
        Voxels along x, y, z: the faces stay where they are; or
    like : Volume
        The grid of another volume of the same world.
    **options
        interpolation ("linear", "nearest", "cubic", "label"), border ("replicate", "constant"), value: as tsr_resample_options.

    Returns
    -------
    Volume
        Of the same element type; smooth first where the grid is much coarser.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> half = ts.resample(np.arange(8, dtype=np.float32), size=(4, 1, 1))
    >>> half.array.ravel().tolist(), half.spacing[0]
    ([0.5, 2.5, 4.5, 6.5], 2.0)
    """
    if sum(v is not None for v in (spacing, size, like)) != 1:
        raise ValueError("expected one of spacing, size and like")
    body, owner = on_context(as_volume(volume))
    grid = as_volume(like) if like is not None else None
    if grid is not None:
        size = tuple(reversed((1, 1, 1, *grid.shape)[-3:]))
        options["geometry"] = grid._geometry()
    values, kept = _core.options("tsr_resample_options", {"spacing": None if spacing is None else np.broadcast_to(spacing, 3), "size": size, **options})
    return volume_call("tsr_volume_resample", body, values, owner=owner)


def laplacian(volume: "VolumeLike", sigma: float = 0.0, **options: Any) -> Volume:
    """Laplacian of the volume smoothed by a standard deviation (world units; 0: of itself), float32.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> z, y, x = np.mgrid[:5, :5, :5].astype(np.float32)
    >>> float(ts.laplacian(x * x + y * y).array[2, 2, 2])
    4.0
    """
    body, owner = on_context(as_volume(volume))
    values, kept = _core.options("tsr_smooth_options", {"sigma": sigma, **options})
    return volume_call("tsr_volume_laplacian", body, values, owner=owner)


# ---- masks ---------------------------------------------------------------------------------------------------------------------------


def threshold(volume: "VolumeLike", lower: float = -np.inf, upper: float = np.inf) -> Volume:
    """A mask (uint8) of the real values from `lower` to `upper`, both included; NaN is outside.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> ts.threshold(np.arange(5), 1, 3).array.ravel().tolist()
    [0, 1, 1, 1, 0]
    """
    body, owner = on_context(as_volume(volume))
    return volume_call("tsr_volume_threshold", body, float(lower), float(upper), owner=owner)


def flood(volume: "VolumeLike", seeds: Iterable[Sequence[int]], lower: float, upper: float, connectivity: int = 6) -> Volume:
    """A mask (uint8) of the voxels from `lower` to `upper` that hang together with a seed (voxel indices x, y, z). `connectivity`: 6 or 26.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> ts.flood(np.array([5, 5, 0, 5]), [(0, 0, 0)], 4, 6).array.ravel().tolist()
    [1, 1, 0, 0]
    """
    body, owner = on_context(as_volume(volume))
    listed = [_size(s, f"seeds[{k}]") for k, s in enumerate(seeds)]
    return volume_call("tsr_volume_connected_threshold", body, float(lower), float(upper), ffi.new("tsr_size3[]", listed), len(listed), int(connectivity), owner=owner)


def largest(mask: "VolumeLike", connectivity: int = 6) -> tuple[Volume, int]:
    """The connected component with most voxels as a mask (uint8), and how many it has. `connectivity`: 6 or 26.

    Raises
    ------
    tessera.StateError
        An empty mask.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> part, voxels = ts.largest(np.array([1, 0, 1, 1], np.uint8))
    >>> part.array.ravel().tolist(), voxels
    ([0, 0, 1, 1], 2)
    """
    body, owner = on_context(as_volume(mask))
    made, count = ffi.new("tsr_volume **"), ffi.new("int64_t *")
    with owner.lock:
        check(lib.tsr_volume_largest_component(owner._pointer, body._pointer, int(connectivity), made, count))
    return Volume._of(made, owner), int(count[0])


# ---- measuring -----------------------------------------------------------------------------------------------------------------------


def histogram(volume: "VolumeLike", bins: int = 256, range: Optional[Sequence[float]] = None) -> "tuple[NDArray[np.int64], NDArray[np.float64]]":
    """Counts of the real values in bins, and the edges of the bins, as `numpy.histogram`; range (lower, upper): None: that of the finite values.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> counts, edges = ts.histogram(np.arange(8), 4)
    >>> counts.tolist(), edges[:2].tolist()
    ([2, 2, 2, 2], [0.0, 1.75])
    """
    body, owner = on_context(as_volume(volume))
    if range is None:
        from ._volumes import statistics

        told = statistics(body)
        lower, upper = told.minimum, told.maximum
        lower, upper = (lower, upper) if upper > lower else (lower - 0.5, lower + 0.5) if upper == lower else (0.0, 1.0)
    else:
        lower, upper = (float(v) for v in range)
    counts = np.zeros(max(int(bins), 0) + 3, np.int64)
    with owner.lock:
        check(lib.tsr_volume_histogram(owner._pointer, body._pointer, lower, upper, int(bins), ffi.from_buffer("int64_t[]", counts)))
    return counts[:-3], np.linspace(lower, upper, int(bins) + 1)


def labels(volume: "VolumeLike", most: int = 0) -> list[Report]:
    """The labels of a label map in ascending order: value, voxels, volume (world units cubed), lower and upper (box of indices x, y, z, upper one past).

    Raises
    ------
    tessera.UnsupportedError
        More than `most` (0: 65536): a picture and no label map.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> [(one.value, one.voxels, one.lower) for one in ts.labels(np.array([0, 7, 7, -2]))]
    [(-2, 1, (3, 0, 0)), (7, 2, (1, 0, 0))]
    """
    body, owner = _host(volume), _core.context("cpu")
    made, count = ffi.new("tsr_label **"), ffi.new("int32_t *")
    with owner.lock:
        check(lib.tsr_labels_count(owner._pointer, body._pointer, int(most), made, count))
    try:
        found = [_core.report(made[0] + k) for k in np.arange(count[0]).tolist()]
    finally:
        lib.tsr_labels_destroy(made)
    if body.dtype == np.uint64:
        for one in found:
            one.__dict__["value"] %= 1 << 64
    return found


# ---- attribute filters ---------------------------------------------------------------------------------------------------------------


class MaxTree(Object):
    """The tree of the bright components of a volume: filters keep components by size or shape and never move an edge.

    Parameters
    ----------
    volume : Volume or array of uint8 or uint16
    neighbours : int
        That connect voxels: 6, 18 or 26.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> tree = ts.MaxTree(np.array([0, 9, 0, 5, 5, 5], np.uint8))
    >>> tree.filter("volume", 2).array.ravel().tolist()
    [0, 0, 0, 5, 5, 5]
    >>> tree.attributes("volume").tolist()
    [6.0, 3.0, 1.0]
    """

    _kind = "tsr_max_tree"
    _destroy = "tsr_max_tree_destroy"

    def __init__(self, volume: "VolumeLike", neighbours: int = 26, *, progress: Progress = None) -> None:
        made = ffi.new("tsr_max_tree **")
        body = as_volume(volume)
        with Progressed(progress) as p:
            values, kept = _core.options("tsr_max_tree_options", {"neighbours": neighbours}, p)
            p.check(lib.tsr_max_tree_create(body._pointer, values, made))
        super().__init__(made[0], None)

    def describe(self) -> Report:
        """size, dtype, neighbours, nodes, leaves."""
        return _core.report(lib.tsr_max_tree_describe(self._pointer))

    def _copy(self, function: str, kind: Any, count: int) -> Any:
        return np.frombuffer(ffi.buffer(getattr(lib, function)(self._pointer), count * np.dtype(kind).itemsize), kind).copy()

    @property
    def parents(self) -> "NDArray[np.uint32]":
        """The node that each node lies in (nodes,); the root, 0, in itself."""
        made: "NDArray[np.uint32]" = self._copy("tsr_max_tree_parents", np.uint32, self.describe().nodes)
        return made

    @property
    def values(self) -> "NDArray[np.uint16]":
        """Grey value of each node (nodes,)."""
        made: "NDArray[np.uint16]" = self._copy("tsr_max_tree_values", np.uint16, self.describe().nodes)
        return made

    @property
    def voxels(self) -> "NDArray[np.uint32]":
        """The node of each voxel (z, y, x)."""
        size = tuple(reversed(self.describe().size))
        made: "NDArray[np.uint32]" = self._copy("tsr_max_tree_voxels", np.uint32, int(np.prod(size))).reshape(size)
        return made

    def attributes(self, attribute: str) -> "NDArray[np.float64]":
        """An attribute of each node (nodes,): "volume", "height", "mass", "extent", "noncompactness"."""
        made = np.zeros(self.describe().nodes)
        check(lib.tsr_max_tree_attributes(self._pointer, _core.enum("tsr_max_tree_attribute", attribute), ffi.from_buffer("double[]", made)))
        return made

    def filter(self, attribute: str, threshold: float, rule: str = "direct") -> Volume:
        """The volume without the components whose attribute is below a threshold; rule: "direct", "min", "max", "subtractive"."""
        values, kept = _core.options("tsr_max_tree_filter_options", {"attribute": attribute, "threshold": threshold, "rule": rule})
        made = ffi.new("tsr_volume **")
        check(lib.tsr_max_tree_filter(ffi.NULL, self._pointer, values, made, ffi.NULL))
        return Volume._of(made, None)

    def __copy__(self) -> "MaxTree":
        return self  # nothing changes it

    def __deepcopy__(self, memo: Any) -> "MaxTree":
        return self

    def __repr__(self) -> str:
        info = self.describe()
        return f"<tessera.MaxTree {info.nodes} nodes, {info.leaves} leaves>"


# ---- winding numbers -----------------------------------------------------------------------------------------------------------------


def winding(mesh: Any, spacing: Union[float, Sequence[float]] = 1.0, *, origin: Sequence[float] = (0.0, 0.0, 0.0), margin: int = 1) -> Volume:
    """How often a mesh winds round each voxel, int32: 1 inside of a closed mesh, 0 outside, 2 where two bodies overlap.

    Parameters
    ----------
    mesh : Mesh, one of another library or a pair (vertices, triangles)
    spacing : float or 3 floats
        World units.
    origin : 3 floats
        Where a voxel lies.
    margin : int
        Voxels to spare round the mesh.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> ball = ts.surface(ts.shape("sphere", radius=5, spacing=1))
    >>> inside = ts.winding(ball, 0.5).array
    >>> bool(abs((inside == 1).sum() * 0.125 / ball.measure().volume - 1) < 0.02)
    True
    """
    body: Mesh = as_mesh(mesh)
    body = body if body.on_host else body.to("cpu")
    owner = body.context or _core.context("cpu")
    size, grid, made = ffi.new("tsr_size3 *"), geometry(), ffi.new("tsr_volume **")
    check(lib.tsr_winding_lattice(body._pointer, vec3(np.broadcast_to(np.asarray(spacing, float), 3).tolist()), vec3(origin), int(margin), size, grid))
    with owner.lock:
        check(lib.tsr_winding_volume(owner._pointer, body._pointer, size[0], grid, ffi.NULL, made, ffi.NULL))
    return Volume._of(made, owner)
