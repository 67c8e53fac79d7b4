"""Volumes, meshes, points and images, and their way to and from arrays."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence, Union

import numpy as np

from . import _core
from ._arrays import DTYPES, SPACE_NAMES, Placed, converted, dtype_number, geometry, numpy_view, prepare, space_number, triple, view, world_place
from ._core import Context, Object, Report, check, ffi, lib

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    AnyArray = NDArray[Any]
    PathLike = Union[str, "os.PathLike[str]"]


# ---- volumes -----------------------------------------------------------------------------------------------------------------------


class Volume(Placed):
    """A dense volume with geometry and metadata. Its array has the axes (z, y, x), as in SimpleITK and scikit-image.

    Parameters
    ----------
    array : array_like
        One to three axes, the last one is x. C-contiguous memory is used as it is, without a copy, and stays alive with the volume; other
        memory is copied.
    spacing, origin : sequence of 3 floats, optional
        Along x, y and z, world units (millimetres unless `unit` says otherwise).
    affine : array_like, optional
        Index (x, y, z) to world, instead of spacing and origin.
    space : str, optional
        What the world's axes mean: "ras", "lps" or None.
    unit : str, optional
        "mm", "um", "m", ...

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> v = ts.Volume(np.zeros((4, 5, 6), np.float32), spacing=(1, 1, 2))
    >>> v.shape, v.spacing
    ((4, 5, 6), (1.0, 1.0, 2.0))
    >>> np.shares_memory(v.array, np.asarray(v))
    True
    """

    _kind = "tsr_volume"
    _destroy = "tsr_volume_destroy"

    def __init__(
        self,
        array: "ArrayLike",
        *,
        spacing: Optional[Sequence[float]] = None,
        origin: Optional[Sequence[float]] = None,
        affine: Optional["ArrayLike"] = None,
        space: Optional[str] = None,
        unit: Optional[str] = None,
    ) -> None:
        data = prepare(array)
        if data.ndim < 1 or data.ndim > 3:
            raise ValueError(f"array: {data.ndim} axes, expected 1 to 3 (z, y, x)")
        if data.size == 0:
            raise ValueError(f"array: shape {data.shape} has no elements")
        made = ffi.new("tsr_volume **")
        check(lib.tsr_volume_from_array(ffi.NULL, view(data), geometry(spacing, origin, affine, space), made))
        super().__init__(made[0], None, data)
        if unit is not None:
            check(lib.tsr_volume_set_unit(self._pointer, unit.encode()))

    @classmethod
    def _of(cls, made: Any, owner: Optional[Context]) -> "Volume":
        self = cls.__new__(cls)
        Object.__init__(self, made[0], owner)
        return self

    def _geometry(self) -> Any:
        return lib.tsr_volume_geometry(self._pointer)

    @property
    def array(self) -> "AnyArray":
        """The stored values (z, y, x): a view of the volume's memory, which stays alive with it."""
        return numpy_view("tsr_volume_array", self)

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> "AnyArray":
        values = self.array
        if dtype is not None and np.dtype(dtype) != values.dtype:
            if copy is False:
                raise ValueError(f"elements of {values.dtype} cannot be seen as {np.dtype(dtype)} without a copy")
            return values.astype(dtype)
        return values.copy() if copy else values

    def __dlpack__(self, *, stream: Any = None, max_version: Optional[tuple[int, int]] = None, dl_device: Optional[tuple[int, int]] = None, copy: Optional[bool] = None) -> Any:
        """A capsule of DLPack: of version 1 where it is asked for (read-only memory and GPUs, too), else of the older kind that NumPy makes."""
        if max_version is None and self.on_host:
            return self.array.__dlpack__()
        from ._dlpack import give

        return give(self, lambda array: lib.tsr_volume_array(self._pointer, array), stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        device = lib.tsr_volume_device(self._pointer)
        return (2, int(device.index)) if device.kind == 1 else (1, 0)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Extents (z, y, x)."""
        size = lib.tsr_volume_size(self._pointer)
        return (size.z, size.y, size.x)

    @property
    def dtype(self) -> "np.dtype[Any]":
        """Element type."""
        return np.dtype(DTYPES[int(lib.tsr_volume_dtype(self._pointer))])

    @property
    def scaling(self) -> tuple[float, float]:
        """(slope, intercept): the real value of a voxel is stored * slope + intercept."""
        s = ffi.new("double[2]")
        lib.tsr_volume_scaling(self._pointer, s, s + 1)
        return (s[0], s[1])

    @scaling.setter
    def scaling(self, value: tuple[float, float]) -> None:
        check(lib.tsr_volume_set_scaling(self._pointer, float(value[0]), float(value[1])))

    @property
    def unit(self) -> Optional[str]:
        """Unit of length of the world, None where the file says nothing (millimetres)."""
        name = lib.tsr_volume_unit_name(self._pointer)
        return ffi.string(name).decode() if name else None

    @property
    def meta(self) -> dict[str, str]:
        """Metadata of the file it came from: a copy; set_meta changes them."""
        key, value = ffi.new("const char **"), ffi.new("const char **")
        found: dict[str, str] = {}
        while lib.tsr_volume_meta_at(self._pointer, len(found), key, value):
            found[ffi.string(key[0]).decode(errors="replace")] = ffi.string(value[0]).decode(errors="replace")
        return found

    @property
    def parts(self) -> tuple[int, int, int]:
        """How many frames, layers and channels the file had that it was read from."""
        frames, layers, channels = ffi.new("int64_t *"), ffi.new("int64_t *"), ffi.new("int64_t *")
        lib.tsr_volume_parts(self._pointer, frames, layers, channels)
        return int(frames[0]), int(layers[0]), int(channels[0])

    @property
    def holds_labels(self) -> bool:
        """Whether the file it came from says that its values are labels."""
        return bool(lib.tsr_volume_holds_labels(self._pointer))

    def set_meta(self, key: str, value: Optional[str]) -> None:
        """Sets one entry of the metadata; None removes it."""
        check(lib.tsr_volume_set_meta(self._pointer, key.encode(), ffi.NULL if value is None else value.encode()))

    def to(self, device: Union[str, Context]) -> "Volume":
        """A copy on another device ("cpu" or "cuda")."""
        target = device if isinstance(device, Context) else _core.context(device)
        made = ffi.new("tsr_volume **")
        with target.lock:
            check(lib.tsr_volume_copy(self._pointer, target._pointer, made))
        return Volume._of(made, target)

    def copy(self) -> "Volume":
        """A copy with memory of its own."""
        made = ffi.new("tsr_volume **")
        check(lib.tsr_volume_copy(self._pointer, self._context._pointer if self._context else ffi.NULL, made))
        return Volume._of(made, self._context)

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> "Volume":
        return self.copy()

    def __reduce__(self) -> Any:
        return (_volume_again, (np.array(self.to("cpu").array if not self.on_host else self.array), self.affine, self.space, self.scaling, self.meta, self.unit))

    def __repr__(self) -> str:
        return f"<tessera.Volume {'x'.join(map(str, reversed(self.shape)))} {self.dtype}, spacing {', '.join(f'{s:g}' for s in self.spacing)}>"

    def _repr_png_(self) -> bytes:
        from ._display import volume_png

        return volume_png(self)


def _volume_again(array: Any, affine: Any, space: Any, scaling: Any, meta: Mapping[str, str], unit: Optional[str]) -> Volume:
    made = Volume(array, affine=affine, space=space, unit=unit)
    made.scaling = scaling
    for key, value in meta.items():
        made.set_meta(key, value)
    return made


# ---- meshes ------------------------------------------------------------------------------------------------------------------------


class Mesh(Object):
    """An indexed triangle mesh.

    Parameters
    ----------
    vertices : array_like of float32, shape (n, 3)
    triangles : array_like of uint32, shape (m, 3)
    normals : array_like of float32, shape (n, 3), optional
    colors : array_like of uint8, shape (n, 4), optional
        Other element types are converted; memory that fits is used without a copy.

    Examples
    --------
    >>> import tessera as ts
    >>> m = ts.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    >>> len(m.vertices), len(m.triangles), m.measure().area
    (3, 1, 0.5)
    """

    _kind = "tsr_mesh"
    _destroy = "tsr_mesh_destroy"

    def __init__(self, vertices: "ArrayLike", triangles: "ArrayLike", *, normals: Optional["ArrayLike"] = None, colors: Optional["ArrayLike"] = None, space: Optional[str] = None) -> None:
        given = []
        for values, kind, name in ((vertices, np.float32, "vertices"), (triangles, np.uint32, "triangles"), (normals, np.float32, "normals"), (colors, np.uint8, "colors")):
            given.append(None if values is None else converted(values, kind, name))
        made = ffi.new("tsr_mesh **")
        views = [ffi.NULL if a is None else view(a) for a in given]
        check(lib.tsr_mesh_from_arrays(ffi.NULL, *views, made))
        super().__init__(made[0], None, *given)
        if space is not None:
            lib.tsr_mesh_set_space(self._pointer, space_number(space))

    @classmethod
    def _of(cls, made: Any, owner: Optional[Context]) -> "Mesh":
        self = cls.__new__(cls)
        Object.__init__(self, made[0], owner)
        return self

    def _part(self, number: int) -> "AnyArray":
        return numpy_view("tsr_mesh_array", self, number)

    @property
    def vertices(self) -> "NDArray[np.float32]":
        """(n, 3), a view."""
        return self._part(0)

    @property
    def normals(self) -> Optional["NDArray[np.float32]"]:
        """(n, 3), a view; None without normals."""
        return self._part(1) if lib.tsr_mesh_normals_const(self._pointer) else None

    @property
    def triangles(self) -> "NDArray[np.uint32]":
        """(m, 3), a view."""
        return self._part(2)

    @property
    def colors(self) -> Optional["NDArray[np.uint8]"]:
        """(n, 4), a view; None without colours."""
        return self._part(3) if lib.tsr_mesh_colors_const(self._pointer) else None

    @property
    def space(self) -> Optional[str]:
        """What the world's axes mean: "ras", "lps" or None."""
        return SPACE_NAMES[int(lib.tsr_mesh_space(self._pointer))]

    @property
    def origin(self) -> tuple[float, float, float]:
        """World position of the point that vertices count from: 0 but for files that were read with local_origin."""
        return triple(lib.tsr_mesh_origin(self._pointer))

    @origin.setter
    def origin(self, origin: Sequence[float]) -> None:
        lib.tsr_mesh_set_origin(self._pointer, world_place(origin))

    @property
    def parts(self) -> list[tuple[int, str, int]]:
        """Value, name and number of triangles, one after another, of each part of a mesh that has some."""
        made = ffi.new("tsr_mesh_part *")
        found: list[tuple[int, str, int]] = []
        while lib.tsr_mesh_part_at(self._pointer, len(found), made):
            found.append((int(made.value), ffi.string(made.name).decode(errors="replace") if made.name else "", int(made.triangles)))
        return found

    @parts.setter
    def parts(self, parts: Sequence[tuple[int, str, int]]) -> None:
        made, names = ffi.new("tsr_mesh_part[]", len(parts)), [ffi.new("char[]", name.encode()) if name else ffi.NULL for _, name, _ in parts]
        for place, text, (value, _, count) in zip(made, names, parts):
            place.value, place.name, place.triangles = int(value), text, int(count)
        check(lib.tsr_mesh_set_parts(self._pointer, made, len(parts)))

    def in_space(self, space: str) -> "Mesh":
        """A copy in the other convention ("ras", "lps"): signs of x and y change where they differ."""
        made = self.to("cpu")
        check(lib.tsr_mesh_convert_space(made._pointer, space_number(space)))
        return made

    def counted_from(self, origin: Sequence[float]) -> "Mesh":
        """A copy of the same places, counted from another origin: each vertex is rounded once."""
        made = self.to("cpu")
        made.origin = self.origin
        check(lib.tsr_mesh_change_origin(made._pointer, world_place(origin)))
        return made

    def points(self) -> "Points":
        """The vertices, with their normals, as a cloud: a copy."""
        made = ffi.new("tsr_points **")
        check(lib.tsr_points_from_mesh(self._pointer, made))
        return Points._of(made, self._context)

    def without_slivers(self) -> "Mesh":
        """A copy in which triangles whose corners are in one place are gone, and what only touches stays apart: see `welded`."""
        host, made = self if self.on_host else self.to("cpu"), ffi.new("tsr_mesh **")
        check(lib.tsr_surface_contract(host._pointer, made))
        return Mesh._of(made, host.context) if made[0] else host.copy()

    def welded(self) -> "Mesh":
        """A copy in which vertices at the same place are one, and triangles without area are gone."""
        host, made = self if self.on_host else self.to("cpu"), ffi.new("tsr_mesh **")
        check(lib.tsr_mesh_weld(host._pointer, made))
        return Mesh._of(made, host.context)

    def measure(self) -> Report:
        """Area, volume, components, boundary edges and more."""
        made = _core.begun("tsr_mesh_measures")
        check(lib.tsr_mesh_measure(self._pointer, made))
        return _core.report(made)

    def to(self, device: Union[str, Context]) -> "Mesh":
        """A copy on another device."""
        target = device if isinstance(device, Context) else _core.context(device)
        made = ffi.new("tsr_mesh **")
        with target.lock:
            check(lib.tsr_mesh_copy(self._pointer, target._pointer, made))
        return Mesh._of(made, target)

    def copy(self) -> "Mesh":
        """A copy with memory of its own."""
        made = ffi.new("tsr_mesh **")
        check(lib.tsr_mesh_copy(self._pointer, self._context._pointer if self._context else ffi.NULL, made))
        return Mesh._of(made, self._context)

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> "Mesh":
        return self.copy()

    def __reduce__(self) -> Any:
        host = self if self.on_host else self.to("cpu")
        parts = [None if a is None else np.array(a) for a in (host.vertices, host.triangles, host.normals, host.colors)]
        return (_mesh_again, (*parts, self.space, self.origin, self.parts))

    def __repr__(self) -> str:
        return f"<tessera.Mesh {lib.tsr_mesh_vertex_count(self._pointer)} vertices, {lib.tsr_mesh_triangle_count(self._pointer)} triangles>"

    def _repr_png_(self) -> bytes:
        from ._display import mesh_png

        return mesh_png(self)


def _mesh_again(vertices: Any, triangles: Any, normals: Any, colors: Any, space: Any, origin: Any, parts: Sequence[tuple[int, str, int]]) -> Mesh:
    made = Mesh(vertices, triangles, normals=normals, colors=colors, space=space)
    made.origin = origin
    if parts:
        made.parts = list(parts)
    return made


# ---- points ------------------------------------------------------------------------------------------------------------------------


class Points(Object):
    """A point cloud.

    Parameters
    ----------
    positions : array_like of float32, shape (n, 3)
    normals : array_like of float32, shape (n, 3), optional
    radii : array_like of float32, shape (n,), optional

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> p = ts.Points(np.random.default_rng(1).random((10, 3), np.float32))
    >>> p.positions.shape, p.normals is None
    ((10, 3), True)
    """

    _kind = "tsr_points"
    _destroy = "tsr_points_destroy"

    def __init__(self, positions: "ArrayLike", *, normals: Optional["ArrayLike"] = None, radii: Optional["ArrayLike"] = None, space: Optional[str] = None) -> None:
        given = [None if a is None else converted(a, np.float32, n) for a, n in ((positions, "positions"), (normals, "normals"), (radii, "radii"))]
        made = ffi.new("tsr_points **")
        check(lib.tsr_points_from_arrays(ffi.NULL, *[ffi.NULL if a is None else view(a) for a in given], made))
        super().__init__(made[0], None, *given)
        if space is not None:
            lib.tsr_points_set_space(self._pointer, space_number(space))

    @classmethod
    def _of(cls, made: Any, owner: Optional[Context]) -> "Points":
        self = cls.__new__(cls)
        Object.__init__(self, made[0], owner)
        return self

    @property
    def positions(self) -> "NDArray[np.float32]":
        """(n, 3), a view."""
        return numpy_view("tsr_points_array", self, 0)

    @property
    def normals(self) -> Optional["NDArray[np.float32]"]:
        """(n, 3), a view; None without normals."""
        return numpy_view("tsr_points_array", self, 1) if lib.tsr_points_normals_const(self._pointer) else None

    @property
    def radii(self) -> Optional["NDArray[np.float32]"]:
        """(n,), a view; None without radii."""
        return numpy_view("tsr_points_array", self, 2) if lib.tsr_points_radii_const(self._pointer) else None

    @property
    def space(self) -> Optional[str]:
        """What the world's axes mean: "ras", "lps" or None."""
        return SPACE_NAMES[int(lib.tsr_points_space(self._pointer))]

    @property
    def origin(self) -> tuple[float, float, float]:
        """World position of the point that positions count from: 0 but for files that were read with local_origin."""
        return triple(lib.tsr_points_origin(self._pointer))

    @origin.setter
    def origin(self, origin: Sequence[float]) -> None:
        lib.tsr_points_set_origin(self._pointer, world_place(origin))

    @property
    def attributes(self) -> dict[str, int]:
        """Names of further values of each point, and their components."""
        name, components = ffi.new("const char **"), ffi.new("int32_t *")
        found: dict[str, int] = {}
        while lib.tsr_points_attribute_at(self._pointer, len(found), name, components):
            found[ffi.string(name[0]).decode(errors="replace")] = int(components[0])
        return found

    def attribute(self, name: str) -> Optional["NDArray[np.float32]"]:
        """Values of an attribute (n,) or (n, components), a copy; None if there is none."""
        components = ffi.new("int32_t *")
        host = self if self.on_host else self.to("cpu")
        values = lib.tsr_points_attribute_const(host._pointer, name.encode(), components)
        if not values:
            return None
        made: "NDArray[np.float32]" = np.frombuffer(ffi.buffer(values, len(self) * components[0] * 4), np.float32).copy()
        return made.reshape(len(self), components[0]) if components[0] > 1 else made

    def set_attribute(self, name: str, values: Optional["ArrayLike"]) -> None:
        """Adds values (n,) or (n, components); None removes them."""
        if values is None:
            lib.tsr_points_remove_attribute(self._pointer, name.encode())
            return
        given = np.ascontiguousarray(values, np.float32)
        if given.ndim not in (1, 2) or len(given) != len(self):
            raise ValueError(f"{name}: shape {given.shape}, expected ({len(self)},) or ({len(self)}, components)")
        data = ffi.new("float **")
        check(lib.tsr_points_add_attribute(self._pointer, name.encode(), 1 if given.ndim == 1 else given.shape[1], data))
        ffi.memmove(data[0], ffi.from_buffer(given), given.nbytes)

    def __len__(self) -> int:
        return int(lib.tsr_points_count(self._pointer))

    def to(self, device: Union[str, Context]) -> "Points":
        """A copy on another device."""
        target = device if isinstance(device, Context) else _core.context(device)
        made = ffi.new("tsr_points **")
        with target.lock:
            check(lib.tsr_points_copy(self._pointer, target._pointer, made))
        return Points._of(made, target)

    def __reduce__(self) -> Any:
        host = self if self.on_host else self.to("cpu")
        parts = tuple(None if a is None else np.array(a) for a in (host.positions, host.normals, host.radii))
        return (_points_again, (*parts, {name: host.attribute(name) for name in host.attributes}, self.space, self.origin))

    def copy(self) -> "Points":
        """A copy with memory of its own."""
        made = ffi.new("tsr_points **")
        check(lib.tsr_points_copy(self._pointer, self._context._pointer if self._context else ffi.NULL, made))
        return Points._of(made, self._context)

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> "Points":
        return self.copy()

    def __repr__(self) -> str:
        return f"<tessera.Points {len(self)}>"


def _points_again(positions: Any, normals: Any, radii: Any, attributes: Mapping[str, Any], space: Any, origin: Any) -> Points:
    made = Points(positions, normals=normals, radii=radii, space=space)
    made.origin = origin
    for name, values in attributes.items():
        made.set_attribute(name, values)
    return made


# ---- images ------------------------------------------------------------------------------------------------------------------------


class Image:
    """A picture of 8 bits: `array` is (height, width, channels), row 0 on top. Shows itself in notebooks; `save` writes PNG or JPEG.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> ts.Image(np.zeros((2, 3, 3), np.uint8)).array.shape
    (2, 3, 3)
    """

    def __init__(self, array: "ArrayLike") -> None:
        made = np.asarray(array)
        if made.dtype != np.uint8:
            raise TypeError(f"array of {made.dtype}, expected uint8")
        if made.ndim == 2:
            made = made[:, :, None]
        if made.ndim != 3 or made.shape[2] not in (1, 3, 4) or made.size == 0:
            raise ValueError(f"array of shape {made.shape}, expected (height, width) or (height, width, 1, 3 or 4)")
        self.array: "NDArray[np.uint8]" = np.ascontiguousarray(made)

    @classmethod
    def _taken(cls, struct: Any) -> "Image":
        """ADOPTS a tsr_image, whose pixels are the array's: they go with the last view of it."""
        own = ffi.new("tsr_image *", struct[0])
        pixels = ffi.gc(struct.pixels, lambda _: lib.tsr_image_destroy(own))
        struct[0] = ffi.new("tsr_image *")[0]
        count = own.width * own.height * own.channels
        return cls(np.frombuffer(ffi.buffer(pixels, count), np.uint8).reshape(own.height, own.width, own.channels))

    def _struct(self) -> Any:
        height, width, channels = self.array.shape
        array = self.array
        made = ffi.new("tsr_image *", {"width": width, "height": height, "channels": channels, "pixels": ffi.cast("uint8_t *", ffi.from_buffer(array))})
        return ffi.gc(made, lambda _: array)  # the pixels live as long as the struct

    def save(self, path: "PathLike", overwrite: bool = True) -> None:
        """Writes a PNG or another picture file, by the name's extension."""
        options, kept = _core.options("tsr_write_options", {"overwrite": overwrite})
        check(lib.tsr_image_write(self._struct(), os.fsencode(path), options))
        del kept

    def jpeg(self, quality: int = 90, *, subsampled: bool = False) -> bytes:
        """The picture as a JPEG file in memory; alpha is left out. quality: 1 to 100."""
        data, size = ffi.new("uint8_t **"), ffi.new("size_t *")
        check(lib.tsr_image_pack_jpeg(self._struct(), int(quality), int(subsampled), data, size))
        try:
            return bytes(ffi.buffer(data[0], size[0]))
        finally:
            lib.tsr_free(data[0])

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> "AnyArray":
        return np.array(self.array, dtype=dtype) if copy or dtype is not None else self.array

    def __repr__(self) -> str:
        height, width, channels = self.array.shape
        return f"<tessera.Image {width}x{height}, {channels} channels>"

    def _repr_png_(self) -> bytes:
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "image.png")
            self.save(path)
            with open(path, "rb") as file:
                return file.read()
