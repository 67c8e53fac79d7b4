"""Surfaces of points and of particles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from . import _core
from ._core import Progress, Progressed, Report, check, ffi, lib
from ._inputs import as_points, beside, on_context
from ._levelsets import evolve
from ._objects import Volume
from ._tiles import Tiles
from ._primitives import scatter
from ._volumes import smooth

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST = 256  # cells of the correction along an axis
_CHUNK = 1 << 20


def reconstruct(points: Any, *, fit: int = 2, progress: Progress = None, **options: Any) -> Tiles:
    """A closed surface through points, as a level set; normals are not needed.

    Parameters
    ----------
    points : Points, array (n, 3), or a cloud of another library
    fit : int
        Rounds of `fit_points` afterwards, which bring the surface nearer to the points by a factor of two to ten; 0: what the command line makes.
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
    tiles = Tiles._of(made, owner)
    if fit:
        fit_points(tiles, cloud, fit)
    return tiles


def reconstruct_plan(points: Any, **options: Any) -> Report:
    """What `reconstruct` would take, without running it: peak_bytes, seconds, points, lone (those left out), tiles and bytes of each level, ...

    Examples
    --------
    >>> import tessera as ts
    >>> ts.reconstruct_plan(ts.sampled("points-torus", 2000, seed=1), depth=7, start_depth=5).levels
    3
    """
    cloud, owner = on_context(as_points(points))
    made = _core.begun("tsr_reconstruct_plan")
    values, kept = _core.options("tsr_reconstruct_options", options)
    with owner.lock:
        check(lib.tsr_reconstruct_estimate(owner._pointer, cloud._pointer, values, made))
    del kept
    return _core.report(made)


def fit_points(tiles: Tiles, points: Any, rounds: int = 2, *, reach: float = 1.5, smoothing: float = 1.0) -> None:
    """Brings a level set nearer to points round its surface, in place: so often it is smoothed by its curvature, then moved by the mean distance of the points
    round each place. What is rough goes, and what the smoothing took comes back.

    Parameters
    ----------
    tiles : Tiles
        Changed.
    points : Points, array (n, 3), or a cloud of another library
    rounds : int
    reach : float
        Standard deviation of the weights of the points, in voxels (of at most 256 along an axis).
    smoothing : float
        Duration of the flow by curvature, in squares of a voxel.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> cloud = ts.sampled("points-torus", 5000, seed=1)
    >>> body = ts.reconstruct(cloud, depth=6, start_depth=5, fit=0)
    >>> before = np.abs(body.sample(cloud.positions)).mean()
    >>> ts.fit_points(body, cloud)
    >>> bool(np.abs(body.sample(cloud.positions)).mean() < 0.3 * before)
    True
    """
    cloud = as_points(points)
    where = (cloud if cloud.on_host else cloud.to("cpu")).positions
    h, band = min(tiles.spacing), float(tiles.describe().band)
    lower, upper = tiles.bounds
    extent = np.subtract(upper, lower)
    if not len(where) or not extent.all():
        return
    coarse = max(1, -(-int(extent.max()) // _MOST))
    margin = int(np.ceil(3 * reach)) * coarse
    shape = [int(n) // coarse + 2 * margin // coarse + 2 for n in reversed(extent.tolist())]
    affine = tiles.affine
    affine[:3, 3] += affine[:3, :3] @ (np.array(lower, float) - margin)
    affine[:3, :3] *= coarse
    cells = ((where - affine[:3, 3]) @ np.linalg.inv(affine[:3, :3]).T).astype(np.float32)
    weights = _spread(cells, None, shape, reach)
    weights += 1e-6 * weights.max()
    for _ in range(int(rounds)):
        if smoothing > 0:
            evolve(tiles, [{"kind": "curvature", "value": 1.0}], duration=float(smoothing) * h * h)
        away = (tiles if tiles.on_host else tiles.to("cpu")).sample(where)
        away[np.abs(away) >= 0.999 * band] = 0  # of places that this surface does not come near
        shift = _spread(cells, away, shape, reach)
        shift /= weights
        evolve(tiles, [{"kind": "speed_field", "value": 1.0, "field": [beside(Volume(shift, affine=affine), tiles)]}], duration=1.0)


def _spread(cells: "NDArray[np.float32]", values: "Optional[NDArray[np.float32]]", shape: "list[int]", reach: float) -> "NDArray[np.float32]":
    """Values (None: 1) of places (n, 3), x, y, z, in cells, added up with Gaussian weights in a volume (z, y, x)."""
    total = np.zeros(int(np.prod(shape)), np.float32)
    for first in range(0, len(cells), _CHUNK):
        some = cells[first : first + _CHUNK]
        lower = np.floor(some)
        part = some - lower
        x, y, z = lower.astype(np.int64).T
        place = (z * shape[1] + y) * shape[2] + x
        inside = ((lower >= 0) & (lower < np.array(shape[::-1]) - 1)).all(axis=1)
        indices, weights = [], []
        for corner in range(8):
            at = [corner >> k & 1 for k in range(3)]
            weight = np.ones(len(some), np.float32) if values is None else values[first : first + _CHUNK].copy()
            for k in range(3):
                weight *= part[:, k] if at[k] else 1 - part[:, k]
            indices.append(np.where(inside, place + (at[2] * shape[1] + at[1]) * shape[2] + at[0], -1))
            weights.append(weight)
        total, _ = scatter(np.concatenate(weights), np.concatenate(indices), total, "sum")
    with _core.context("cpu") if not _core.context().on_host else _core.context():
        return np.asarray(smooth(total.reshape(shape), reach).array)


def particles(points: Any, radius: Optional[float] = None, *, progress: Progress = None, **options: Any) -> Tiles:
    """The smooth surface of the particles of a fluid or a heap. `radius`: of a particle; None: of those that the points have.

    Further options: voxel, smooth, conserve, band, memory_limit, as tsr_particles_options.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> grid = np.stack(np.meshgrid(*[np.arange(6.0)] * 3), axis=-1).reshape(-1, 3)
    >>> ts.particles(grid, 0.9).measure().components
    1
    """
    body, owner = on_context(as_points(points))
    made = ffi.new("tsr_tiles **")
    with Progressed(progress) as told, owner.lock:
        values, kept = _core.options("tsr_particles_options", {"radius": radius, **options}, told)
        told.check(lib.tsr_particles_surface(owner._pointer, body._pointer, values, made))
    del kept
    return Tiles._of(made, owner)
