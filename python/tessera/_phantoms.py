"""Volumes and clouds of points that are made from a name, a size and a seed: with the exact answer beside them, for tests and teaching."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Optional, Sequence, Union, overload

import numpy as np

from . import _core
from ._core import Progress, Progressed, Report, check, ffi, lib
from ._arrays import rows
from ._objects import Image, Points, Volume

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def phantoms() -> list[Report]:
    """What `phantom` makes: name, description, kind ("distance", "field" or "image"), size, noise and blur of each.

    Examples
    --------
    >>> import tessera as ts
    >>> [p.kind for p in ts.phantoms() if p.name == "leak"]
    ['image']
    """
    found: list[Report] = []
    while True:
        info = lib.tsr_phantom_at(len(found))
        if not info:
            return found
        found.append(_core.report(info))


@overload
def phantom(name: str, size: Optional[Sequence[int]] = None, *, truth: Literal[False] = False, progress: Progress = None, **options: Any) -> Volume: ...
@overload
def phantom(name: str, size: Optional[Sequence[int]] = None, *, truth: Literal[True], progress: Progress = None, **options: Any) -> tuple[Volume, Volume]: ...
def phantom(name: str, size: Optional[Sequence[int]] = None, *, truth: bool = False, progress: Progress = None, **options: Any) -> Union[Volume, tuple[Volume, Volume]]:
    """A volume of float32 by name (see `phantoms`): the same voxels on every machine.

    Parameters
    ----------
    name : str
    size : (x, y, z), optional
        None: the phantom's own.
    truth : bool
        Its exact mask or labels, too: uint8, before blur, bias and noise.
    **options
        spacing, seed, noise, bias, blur, parameter, threads: as tsr_phantom_options.

    Examples
    --------
    >>> import tessera as ts
    >>> image, mask = ts.phantom("leak", (24, 24, 24), seed=1, truth=True)
    >>> image.shape, image.dtype, mask.dtype
    ((24, 24, 24), dtype('float32'), dtype('uint8'))
    """
    volume, mask = ffi.new("tsr_volume **"), ffi.new("tsr_volume **")
    with Progressed(progress) as p:
        values, kept = _core.options("tsr_phantom_options", {"size": None if size is None else tuple(size), **options}, p)
        p.check(lib.tsr_phantom_make(name.encode(), values, volume, mask if truth else ffi.NULL))
    del kept
    made = Volume._of(volume, None)
    return (made, Volume._of(mask, None)) if truth else made


def sampled(name: str, count: int = 0, *, progress: Progress = None, **options: Any) -> Points:
    """Points on a shape whose surface is known exactly: see `shape_distance`.

    Parameters
    ----------
    name : str
        One of `sampled_shapes`, such as "points-torus".
    count : int
        0: 40000.
    **options
        seed, noise, outliers, density, missing, missing_radius, normals: as tsr_points_options.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> cloud = ts.sampled("points-torus", 1000, seed=1, normals=True)
    >>> len(cloud), bool(np.abs(ts.shape_distance("points-torus", cloud.positions)).max() < 1e-6)
    (1000, True)
    """
    made = ffi.new("tsr_points **")
    with Progressed(progress) as p:
        values, kept = _core.options("tsr_points_options", {"count": count, **options}, p)
        p.check(lib.tsr_points_make(name.encode(), values, made))
    del kept
    return Points._of(made, None)


def sampled_shapes() -> list[str]:
    """Names that `sampled` takes.

    Examples
    --------
    >>> import tessera as ts
    >>> "points-torus" in ts.sampled_shapes()
    True
    """
    found: list[str] = []
    while True:
        info = lib.tsr_points_shape_at(len(found))
        if not info:
            return found
        found.append(ffi.string(info.name).decode())


def shape_distance(name: str, positions: "ArrayLike") -> "NDArray[np.float64]":
    """Signed distances of positions (n, 3) from the exact surface of a shape of `sampled`, negative inside.

    Examples
    --------
    >>> import tessera as ts
    >>> ts.shape_distance("points-sphere", [(0, 0, 0), (3, 0, 0)]).round(6).tolist()
    [-0.8, 2.2]
    """
    given = rows(positions, 3, "positions")
    made = np.zeros(len(given))
    text = ffi.new("char[]", name.encode())
    for k in range(len(given)):
        check(lib.tsr_points_shape_distance(text, ffi.from_buffer("double[]", given[k]), ffi.from_buffer("double[]", made[k : k + 1])))
    return made


def pictures() -> list[Report]:
    """What `picture` makes: name, description, width, height, channels and frames of each.

    Examples
    --------
    >>> import tessera as ts
    >>> [p.frames for p in ts.pictures() if p.name == "picture-left"]
    [1]
    """
    found: list[Report] = []
    while True:
        info = lib.tsr_picture_at(len(found))
        if not info:
            return found
        found.append(_core.report(info))


def picture(name: str, **options: Any) -> Image:
    """A picture, or a frame of a film, by name (see `pictures`): width, height, frame, seed, ... as tsr_picture_options.

    Examples
    --------
    >>> import tessera as ts
    >>> ts.picture("picture-left", width=64, height=48).array.shape[:2]
    (48, 64)
    """
    values, kept = _core.options("tsr_picture_options", options)
    made = ffi.new("tsr_image *")
    check(lib.tsr_picture_make(name.encode(), values, made))
    del kept
    return Image._taken(made)
