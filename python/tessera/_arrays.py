"""The way of memory to and from arrays, and where voxels lie in the world."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence, Union, cast

import numpy as np

from . import _core
from ._core import Context, Object, Report, check, ffi, lib

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    AnyArray = NDArray[Any]
    PathLike = Union[str, "os.PathLike[str]"]

DTYPES = ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8")  # as tsr_dtype counts them
_SPACES = {None: 0, "ras": 1, "lps": 2}
SPACE_NAMES = {0: None, 1: "ras", 2: "lps"}


def dtype_number(dtype: Any) -> int:
    """The library's number of an element type of NumPy."""
    kind = np.dtype(dtype)
    code = kind.str[1:] if kind.kind != "b" else "u1"
    if code not in DTYPES:
        raise TypeError(f"elements of {kind}, expected integers of 8 to 64 bits, bool, float32 or float64" + (": convert with astype" if kind.kind in "fc" else ""))
    return DTYPES.index(code)


def prepare(array: Any, name: str = "array") -> "AnyArray":
    """An array as the library can take it: of the host, native byte order, aligned; the same memory where it is so already."""
    if hasattr(array, "__cuda_array_interface__"):
        raise TypeError(f"{name}: lies on a GPU: use tessera.from_dlpack")
    made = np.asarray(array)
    if made.dtype.kind == "O" and made.ndim == 0:
        raise TypeError(f"{name}: {type(array).__name__}, expected an array of numbers")
    dtype_number(made.dtype)
    if made.dtype.kind == "b":
        made = made.view(np.uint8)
    if not made.dtype.isnative:
        made = made.astype(made.dtype.newbyteorder("="))
    return np.require(made, requirements="A")


def view(array: "AnyArray") -> Any:
    """A tsr_array over the memory of a prepared array, which must outlive it."""
    made = ffi.new("tsr_array *")
    made.struct_size = ffi.sizeof("tsr_array")
    made.data = ffi.cast("void *", array.__array_interface__["data"][0])
    made.dtype = dtype_number(array.dtype)
    made.axes = array.ndim
    if array.ndim > 8:
        raise ValueError(f"array: {array.ndim} axes, expected 8 at most")
    for k in range(array.ndim):
        if array.strides[k] % array.itemsize:
            raise ValueError("array: rows that do not begin at whole elements: copy it")
        made.shape[k] = array.shape[k]
        made.stride[k] = array.strides[k] // array.itemsize
    made.read_only = not array.flags.writeable
    return made


def interface(array: Any, owner: Object) -> dict[str, Any]:
    """`__array_interface__` of a tsr_array."""
    if not owner.on_host:
        raise TypeError("the memory is on a GPU: .to('cpu') copies it, __dlpack__ shares it")
    item = np.dtype(DTYPES[int(array.dtype)]).itemsize
    return {
        "version": 3,
        "typestr": np.dtype(DTYPES[int(array.dtype)]).str,
        "shape": tuple(array.shape[k] for k in range(array.axes)),
        "strides": tuple(array.stride[k] * item for k in range(array.axes)),
        "data": (int(ffi.cast("uintptr_t", array.data)), bool(array.read_only)),
    }


class _Viewed:
    """Hands the memory of an object to NumPy: the array that is made keeps this alive, and this the object."""

    def __init__(self, array: Any, owner: Object) -> None:
        self.__array_interface__ = interface(array, owner)
        self._owner = owner


def numpy_view(call: str, owner: Object, *arguments: Any) -> "AnyArray":
    array = ffi.new("tsr_array *")
    check(getattr(lib, call)(owner._pointer, *arguments, array))
    if any(array.shape[k] == 0 for k in range(array.axes)):
        return np.empty(tuple(array.shape[k] for k in range(array.axes)), DTYPES[int(array.dtype)])
    return np.asarray(_Viewed(array, owner))


def converted(values: Any, kind: Any, name: str) -> "AnyArray":
    made = np.asarray(values)
    if made.dtype.kind not in "buif":
        raise TypeError(f"{name}: elements of {made.dtype}, expected numbers")
    if np.dtype(kind).kind == "u" and made.dtype.kind in "if" and made.size:
        if made.min() < 0 or made.max() > np.iinfo(kind).max or (made.dtype.kind == "f" and not np.all(made == np.floor(made))):
            raise ValueError(f"{name}: values that are no whole numbers from 0 to {np.iinfo(kind).max}")
    return prepare(np.ascontiguousarray(made, kind), name)


def rows(values: "ArrayLike", width: int, name: str, dtype: Any = np.float64) -> "AnyArray":
    """A C-contiguous array (n, width) of one element type."""
    given = np.asarray(values)
    if given.dtype.kind not in "buif":
        raise TypeError(f"{name}: elements of {given.dtype}, expected numbers")
    made = np.ascontiguousarray(np.atleast_2d(given), dtype)
    if made.ndim != 2 or made.shape[1] != width:
        raise ValueError(f"{name} of shape {given.shape}, expected (n, {width})")
    return made


# ---- geometry ----------------------------------------------------------------------------------------------------------------------


def geometry(spacing: Optional[Sequence[float]] = None, origin: Optional[Sequence[float]] = None, affine: Optional["ArrayLike"] = None, space: Optional[str] = None) -> Any:
    """A tsr_geometry from spacing and origin (x, y, z), or from a 4 x 4 or 3 x 4 matrix."""
    made = ffi.new("tsr_geometry *")
    made.space = space_number(space)
    if affine is not None:
        if spacing is not None or origin is not None:
            raise ValueError("affine is given beside spacing or origin, expected one way to place the voxels")
        matrix = np.asarray(affine, float)
        if matrix.shape not in ((3, 4), (4, 4)):
            raise ValueError(f"affine of shape {matrix.shape}, expected (4, 4) or (3, 4)")
    else:
        matrix = np.zeros((3, 4))
        matrix[:, :3] = np.diag([1.0] * 3 if spacing is None else _three(spacing, "spacing"))
        matrix[:, 3] = [0.0] * 3 if origin is None else _three(origin, "origin")
    for r in range(3):
        for k in range(4):
            made.affine[r][k] = matrix[r, k]
    return made


def space_number(space: Optional[str]) -> int:
    """The library's number of what the world's axes mean."""
    if space is not None and space.lower() not in _SPACES:
        raise ValueError(f"space {space!r}, expected 'ras', 'lps' or None")
    return _SPACES[space.lower() if space is not None else None]


def triple(place: Any) -> tuple[float, float, float]:
    return (place.x, place.y, place.z)


def world_place(place: Sequence[float]) -> Any:
    return ffi.new("tsr_vec3 *", _three(place, "origin"))[0]


def _three(values: Any, name: str) -> list[float]:
    numbers = [float(v) for v in (np.full(3, values) if np.ndim(values) == 0 else values)]
    if len(numbers) != 3:
        raise ValueError(f"{name}: {len(numbers)} numbers, expected 3 (x, y, z), or 1 for all")
    return numbers


class Placed(Object):
    """What lies on a grid in the world."""

    def _geometry(self) -> Any:
        raise NotImplementedError

    @property
    def affine(self) -> "NDArray[np.float64]":
        """4 x 4 matrix from the index (x, y, z, 1) to the world, as nibabel's."""
        g = self._geometry()
        made = np.eye(4)
        for r in range(3):
            made[r] = list(g.affine[r])
        return made

    @property
    def spacing(self) -> tuple[float, float, float]:
        """Lengths of a voxel along x, y and z in world units."""
        s = lib.tsr_geometry_spacing(self._geometry())
        return (s.x, s.y, s.z)

    @property
    def origin(self) -> tuple[float, float, float]:
        """World position of the voxel with index 0, 0, 0."""
        return cast("tuple[float, float, float]", tuple(self.affine[:3, 3].tolist()))

    @property
    def space(self) -> Optional[str]:
        """What the world's axes mean: "ras", "lps" or None."""
        return SPACE_NAMES[int(self._geometry().space)]
