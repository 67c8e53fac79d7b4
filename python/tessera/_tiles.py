"""Level sets in tiles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence, Union

import numpy as np

from . import _core
from ._arrays import Placed, rows
from ._core import Context, Object, Report, check, ffi, lib
from ._objects import Volume

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class Tiles(Placed):
    """A level set: a signed distance that is kept in tiles near the surface alone, negative inside.

    Parameters
    ----------
    field : Volume or array_like of float32
        A dense level set. See also `voxelize`, `reconstruct`, `shape` and `read`.
    band : float, optional
        Half width of the band in world units; 0: 2.5 voxels.

    Examples
    --------
    >>> import tessera as ts
    >>> ball = ts.shape("sphere", radius=10, spacing=1)
    >>> round(ball.measure().volume / 4188.79, 2)
    1.0
    """

    _kind = "tsr_tiles"
    _destroy = "tsr_tiles_destroy"

    def __init__(self, field: Union[Volume, "ArrayLike"], **options: Any) -> None:
        from ._inputs import as_volume, on_context

        volume, owner = on_context(as_volume(field))
        if volume.dtype != np.float32:
            raise TypeError(f"field of {volume.dtype}, expected float32")
        z, y, x = volume.shape
        made_options, kept = _core.options("tsr_tiles_options", {"domain": (x, y, z), **options})
        made = ffi.new("tsr_tiles **")
        with owner.lock:
            check(lib.tsr_tiles_create(owner._pointer, volume._geometry(), made_options, made))
            super().__init__(made[0], owner)
            check(lib.tsr_tiles_load(self._pointer, volume._pointer))
        del kept

    @classmethod
    def _of(cls, made: Any, owner: Optional[Context], *kept: object) -> "Tiles":
        self = cls.__new__(cls)
        Object.__init__(self, made[0], owner, *kept)
        return self

    def _geometry(self) -> Any:
        return lib.tsr_tiles_geometry(self._pointer)

    @property
    def _lock(self) -> Any:
        assert self._context is not None
        return self._context.lock

    def describe(self) -> Report:
        """Tiles, active voxels, band, memory and more."""
        made = _core.begun("tsr_tiles_info")
        with self._lock:
            check(lib.tsr_tiles_describe(self._pointer, made))
        return _core.report(made)

    def measure(self) -> Report:
        """Volume, area, components and more of the inside."""
        made = _core.begun("tsr_tiles_measures")
        with self._lock:
            check(lib.tsr_tiles_measure(self._pointer, made))
        return _core.report(made)

    def volume(self) -> Volume:
        """The field as a dense float32 volume: its domain, or the stored tiles and a margin."""
        made = ffi.new("tsr_volume **")
        with self._lock:
            check(lib.tsr_tiles_field(self._pointer, made))
        return Volume._of(made, self._context)

    @property
    def array(self) -> "NDArray[np.float32]":
        """The field (z, y, x): a new array."""
        dense = self.volume()
        return dense.array if dense.on_host else dense.to("cpu").array

    def sample(self, positions: "ArrayLike") -> "NDArray[np.float32]":
        """Values at positions (n, 3) of the world (x, y, z), trilinear."""
        where = rows(positions, 3, "positions", np.float32)
        if not self.on_host:
            raise TypeError("samples of a level set on a GPU need arrays of that GPU: copy it to the CPU first")
        values = np.empty(len(where), np.float32)
        options, kept = _core.options("tsr_tiles_sample_options", {"world": True})
        with self._lock:
            check(
                lib.tsr_tiles_sample(
                    self._pointer, ffi.cast("float (*)[3]", ffi.from_buffer(where)), ffi.cast("float *", ffi.from_buffer(values)), len(where), options
                )
            )
            assert self._context is not None
            self._context.synchronize()
        del kept
        return values

    def copy(self) -> "Tiles":
        """A copy with memory of its own."""
        made = ffi.new("tsr_tiles **")
        assert self._context is not None
        with self._lock:
            check(lib.tsr_tiles_copy(self._pointer, self._context._pointer, made))
        return Tiles._of(made, self._context)

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> "Tiles":
        return self.copy()

    def __reduce__(self) -> Any:
        from ._files import contents

        return (_tiles_again, (contents(self, ".tsr"),))

    # ---- parts and places ----

    def components(self, connectivity: int = 26) -> list[Report]:
        """Connected parts of the inside: voxels, and first (index x, y, z of one of them). `connectivity`: 26 or 6."""
        count = ffi.new("int64_t *")
        with self._lock:
            check(lib.tsr_tiles_components(self._pointer, int(connectivity), ffi.NULL, 0, count))
            made = ffi.new("tsr_component[]", int(count[0]))
            check(lib.tsr_tiles_components(self._pointer, int(connectivity), made, int(count[0]), count))
        return [_core.report(made + k) for k in range(int(count[0]))]

    def keep(self, *numbers: int) -> "Tiles":
        """Some of the parts that `components()` lists, by number from 0. Distances near those that went are too small until `redistance`."""
        count = len(self.components())
        if any(not 0 <= n < count for n in numbers):
            raise ValueError(f"parts {', '.join(map(str, numbers))}, expected numbers from 0 to {count - 1}")
        stays, made = ffi.new("uint8_t[]", [k in numbers for k in range(count)]), ffi.new("tsr_tiles **")
        with self._lock:
            check(lib.tsr_tiles_keep(self._pointer, stays, count, made))
        return Tiles._of(made, self._context)

    def moved(self, shift: Sequence[float] = (0.0, 0.0, 0.0), *, axis: Sequence[float] = (0.0, 0.0, 1.0), angle: float = 0.0, scale: float = 1.0, centre: Sequence[float] = (0.0, 0.0, 0.0)) -> "Tiles":
        """Turned about an axis through `centre` by an angle (radians) and scaled, then shifted (world units): the field is sampled once."""
        motion, kept = ffi.new("tsr_motion *"), list[Any]()
        _core.fill(motion, "tsr_motion", {"centre": tuple(centre), "axis": tuple(axis), "angle": angle, "scale": scale, "shift": tuple(shift)}, kept)
        made = ffi.new("tsr_tiles **")
        with self._lock:
            check(lib.tsr_tiles_transform(self._pointer, motion, made))
        return Tiles._of(made, self._context)

    @property
    def bounds(self) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
        """Lower and upper corner (voxels x, y, z, upper one past) of the stored tiles."""
        lower, upper = ffi.new("int64_t[3]"), ffi.new("int64_t[3]")
        with self._lock:
            check(lib.tsr_tiles_bounds(self._pointer, lower, upper))
        return (int(lower[0]), int(lower[1]), int(lower[2])), (int(upper[0]), int(upper[1]), int(upper[2]))

    def to(self, device: Union[str, Context]) -> "Tiles":
        """A copy on another device ("cpu" or "cuda")."""
        target = device if isinstance(device, Context) else _core.context(device)
        made = ffi.new("tsr_tiles **")
        with self._lock, target.lock:
            check(lib.tsr_tiles_copy(self._pointer, target._pointer, made))
        return Tiles._of(made, target)

    def parts(self) -> "tuple[NDArray[np.int32], NDArray[np.float32]]":
        """The stored tiles as arrays, copies: coordinates (n, 3), x, y, z, of a tile's first voxel divided by the edge, and values (n, edge, edge, edge), z, y, x."""
        info = self.describe()
        places, values = np.zeros((int(info.count), 3), np.int32), np.zeros((int(info.count), *[int(info.edge)] * 3), np.float32)
        with self._lock:
            check(lib.tsr_tiles_download(self._pointer, ffi.cast("int32_t (*)[3]", places.ctypes.data), ffi.cast("float *", values.ctypes.data)))
        return places, values

    def box(self, first: Sequence[int], shape: Sequence[int]) -> "NDArray[np.float32]":
        """The field in a box of voxels that begins at `first` (x, y, z), an array (z, y, x); beyond the tiles it is the band."""
        owner, begin = self._host_context, [int(v) for v in first]
        if len(begin) != 3:
            raise ValueError(f"first: {len(begin)} numbers, expected 3 (x, y, z)")
        made = np.zeros([int(n) for n in shape], np.float32)
        body = Volume(made)
        with owner.lock:
            check(lib.tsr_tiles_store_box(self._pointer, begin, body._pointer))
            owner.synchronize()
        return made

    def _new(self, function: str, *arguments: Any) -> "Tiles":
        made = ffi.new("tsr_tiles **")
        with self._lock:
            check(getattr(lib, function)(self._pointer, *arguments, made))
        return Tiles._of(made, self._context)

    def finer(self) -> "Tiles":
        """The same at twice the resolution."""
        return self._new("tsr_tiles_upsample")

    def coarser(self) -> "Tiles":
        """The same at half the resolution."""
        return self._new("tsr_tiles_downsample")

    def shifted(self, tiles: Sequence[int]) -> "Tiles":
        """Moved by whole tiles (x, y, z): values stay bit for bit."""
        x, y, z = (int(v) for v in tiles)
        return self._new("tsr_tiles_translate", x, y, z)

    def interpolated(self, other: "Tiles", t: float) -> "Tiles":
        """(1 - t) times this field and t times another one, whose bands must reach each other: see `morph`."""
        return self._new("tsr_tiles_interpolate", other._pointer, float(t))

    def divided(self, **selection: Any) -> "tuple[Tiles, Tiles]":
        """What lies in a selection and what does not, severed by a wall of two voxels.

        Parameters
        ----------
        **selection
            kind ("box", "obox", "ball", "stroke", "lasso", "half"), box (two corners), centre, half, turn, radius, points, direction, eye: as tsr_selection.
        """
        values, kept = selected(selection)
        inner, outer = ffi.new("tsr_tiles **"), ffi.new("tsr_tiles **")
        with self._lock:
            check(lib.tsr_tiles_divide(self._pointer, values, inner, outer))
        del kept
        return Tiles._of(inner, self._context), Tiles._of(outer, self._context)

    def settle(self) -> int:
        """Before `surface` of bodies whose faces lie on voxels: samples on the surface take the side where edges stay sharp, in place. How many changed sides."""
        changed = ffi.new("int64_t *")
        with self._lock:
            check(lib.tsr_tiles_settle(self._pointer, changed))
        return int(changed[0])

    def set_origin(self, origin: Sequence[float]) -> None:
        """Moves the list in place: the world position of voxel (0, 0, 0)."""
        x, y, z = (float(v) for v in origin)
        with self._lock:
            check(lib.tsr_tiles_set_origin(self._pointer, ffi.new("tsr_vec3 *", [x, y, z])[0]))

    def reinitialise(self, sweeps: int = 10, space: str = "weno5") -> None:
        """Makes the field a distance again by sweeps of the reinitialisation equation, in place; the surface stays."""
        with self._lock:
            check(lib.tsr_levelset_reinitialise(self._pointer, _core.enum("tsr_stencil", space), int(sweeps), ffi.NULL))

    def compact(self) -> None:
        """Puts the tiles into order in memory after many changes; the field stays."""
        with self._lock:
            check(lib.tsr_tiles_compact(self._pointer, 0))

    def redistance(self, band: float = 0.0) -> None:
        """Makes the field a distance again, in place; the surface stays. `band`: as far as that, world units; 0: the whole band."""
        with self._lock:
            check(lib.tsr_levelset_redistance(self._pointer, float(band), ffi.NULL))

    def _combine(self, other: "Tiles", operation: str, radius: float = 0.0) -> "Tiles":
        if not isinstance(other, Tiles):
            raise TypeError(f"{type(other).__name__}, expected tessera.Tiles")
        made = ffi.new("tsr_tiles **")
        with self._lock:
            check(lib.tsr_tiles_combine(self._pointer, other._pointer, _core.enum("tsr_csg_operation", operation), radius, made))
        return Tiles._of(made, self._context)

    def __or__(self, other: "Tiles") -> "Tiles":
        return self._combine(other, "union")

    def __and__(self, other: "Tiles") -> "Tiles":
        return self._combine(other, "intersection")

    def __sub__(self, other: "Tiles") -> "Tiles":
        return self._combine(other, "difference")

    def __invert__(self) -> "Tiles":
        made = ffi.new("tsr_tiles **")
        with self._lock:
            check(lib.tsr_tiles_complement(self._pointer, made))
        return Tiles._of(made, self._context)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tiles):
            return NotImplemented
        same = ffi.new("int *")
        with self._lock:
            check(lib.tsr_tiles_equal(self._pointer, other._pointer, same))
        return bool(same[0])

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        info = self.describe()
        return f"<tessera.Tiles {info.count} tiles, spacing {', '.join(f'{s:g}' for s in self.spacing)}>"

    def _repr_png_(self) -> bytes:
        from ._volumes import surface

        return surface(self)._repr_png_()


def selected(given: Mapping[str, Any]) -> tuple[Any, list[Any]]:
    """A tsr_selection, and what must stay alive with it."""
    values = dict(given)
    corners = values.pop("points", None)
    made, kept = _core.options("tsr_selection", {k: {"lower": v[0], "upper": v[1]} if k == "box" and not hasattr(v, "keys") else v for k, v in values.items()})
    if corners is not None:
        where = rows(corners, 3, "points")
        made.points, made.count = ffi.cast("double (*)[3]", where.ctypes.data), len(where)
        kept.append(where)
    return made, kept


def _tiles_again(data: bytes) -> Tiles:
    from ._files import from_contents

    made: Tiles = from_contents(data, ".tsr")
    return made
