"""Files that may be larger than memory: a few planes at a time, from file to file, compressed in parts; several things in one file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Iterator, Sequence, Union

import numpy as np

from . import _core
from ._core import Object, Progress, Progressed, Report, check, ffi, lib
from ._inputs import as_volume
from ._arrays import DTYPES
from ._objects import Image, Mesh, Points, Volume
from ._tiles import Tiles

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._inputs import VolumeLike

    PathLike = Union[str, "os.PathLike[str]"]


class Planes(Object):
    """The planes of a file of a volume: planes[a:b] reads some, a loop gives one after another. The volume may be larger than memory.

    Parameters
    ----------
    path : str or path
    **options
        memory_limit (0: 256 MiB), frame, channel, format, ...: as tsr_read_options.

    Examples
    --------
    >>> import numpy as np, tessera as ts, tempfile, os
    >>> v = np.arange(24, dtype=np.int16).reshape(4, 2, 3)
    >>> with tempfile.TemporaryDirectory() as d:
    ...     ts.write(v, os.path.join(d, "a.nrrd"))
    ...     planes = ts.Planes(os.path.join(d, "a.nrrd"))
    ...     planes.shape, planes[1:3].tolist() == v[1:3].tolist(), [int(p.sum()) for p in planes], planes.statistics().mean
    ((4, 2, 3), True, [15, 51, 87, 123], 11.5)
    """

    _kind = "tsr_planes"
    _destroy = "tsr_planes_close"

    def __init__(self, path: "PathLike", **options: Any) -> None:
        made = ffi.new("tsr_planes **")
        for part in ("frame", "layer", "channel", "series", "level", "box"):
            if options.get(part) is not None:
                options[f"{part}_given"] = True
        values, kept = _core.options("tsr_read_options", options)
        check(lib.tsr_planes_open(os.fsencode(path), values, made))
        super().__init__(made[0], None)
        self._path = os.fspath(path)
        self._info = _core.begun("tsr_planes_info")
        check(lib.tsr_planes_describe(self._pointer, self._info))
        del kept

    @property
    def shape(self) -> tuple[int, int, int]:
        """Extents (z, y, x)."""
        size = self._info.size
        return (int(size.z), int(size.y), int(size.x))

    @property
    def dtype(self) -> "np.dtype[Any]":
        """Element type."""
        return np.dtype(DTYPES[int(self._info.dtype)])

    @property
    def scaling(self) -> tuple[float, float]:
        """(slope, intercept): the real value of a voxel is stored * slope + intercept."""
        return (float(self._info.slope), float(self._info.intercept))

    @property
    def affine(self) -> "NDArray[np.float64]":
        """4 x 4 matrix from the index (x, y, z, 1) to the world."""
        made = np.eye(4)
        for r in range(3):
            made[r] = list(self._info.geometry.affine[r])
        return made

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, which: Union[int, slice]) -> "NDArray[Any]":
        """Plane `which` (y, x), or planes (z, y, x) of a slice: a new array, cheapest in ascending order."""
        depth, height, width = self.shape
        if isinstance(which, slice):
            first, last, step = which.indices(depth)
            if step != 1:
                raise ValueError(f"a step of {step}, expected 1")
            made = np.empty((max(0, last - first), height, width), self.dtype)
            if made.size:
                check(lib.tsr_planes_read(self._pointer, first, last, ffi.cast("void *", made.ctypes.data)))
            return made
        number = int(which) + (depth if which < 0 else 0)
        if not 0 <= number < depth:
            raise IndexError(f"plane {which}, expected 0 to {depth - 1}")
        plane: "NDArray[Any]" = self[number : number + 1][0]
        return plane

    def __iter__(self) -> "Iterator[NDArray[Any]]":
        for k in range(len(self)):
            yield self[k]

    def statistics(self) -> Report:
        """Minimum, maximum, mean, deviation and more of all voxels, in real values."""
        made, owner = _core.begun("tsr_statistics"), _core.context("cpu")
        with owner.lock:
            check(lib.tsr_planes_statistics(owner._pointer, self._pointer, made))
        return _core.report(made)

    def _source(self) -> Any:
        source = _core.begun("tsr_planes_source")
        check(lib.tsr_planes_as_source(self._pointer, source))
        return source

    def surface(self, isovalue: float, *, planes: int = 0, **options: Any) -> Mesh:
        """`surface` of the whole volume, no more than `planes` planes of which are in memory at a time (0: as many as fill 64 MiB): the same mesh."""
        source, (values, kept) = self._source(), _core.options("tsr_surface_options", {"isovalue": isovalue, **options})
        made, owner = ffi.new("tsr_mesh **"), _core.context()
        with owner.lock:
            check(lib.tsr_surface_extract_source(owner._pointer, source, values, int(planes), made, ffi.NULL))
        del kept
        return Mesh._of(made, None)

    def points(self, classifier: Union[str, int] = "nonzero", *, normals: bool = False, inward: bool = False, planes: int = 0, **options: Any) -> Points:
        """`HistoPyramid(volume, classifier, order="row", ...).points()` of the whole volume, no more than `planes` planes of which are in memory at a time."""
        source = self._source()
        rule = {"classifier": classifier, "order": "row", **options}
        values, kept = _core.options("tsr_points_volume_options", {"pyramid": rule, "normals": normals, "inward": inward})
        made, owner = ffi.new("tsr_points **"), _core.context()
        with owner.lock:
            check(lib.tsr_points_from_source(owner._pointer, source, values, int(planes), made))
        del kept
        return Points._of(made, None)

    def __repr__(self) -> str:
        return f"<tessera.Planes {'x'.join(map(str, reversed(self.shape)))} {self.dtype} of {self._path}>"


def convert(source: "PathLike", path: "PathLike", *, overwrite: bool = True, memory_limit: int = 0, progress: Progress = None, **options: Any) -> None:
    """A file of a volume in another format, a slab at a time, in about `memory_limit` bytes (0: 256 MiB). Further options: as tsr_write_options.

    Examples
    --------
    >>> import numpy as np, tessera as ts, tempfile, os
    >>> with tempfile.TemporaryDirectory() as d:
    ...     ts.write(np.arange(24, dtype=np.int16).reshape(4, 2, 3), os.path.join(d, "a.nrrd"))
    ...     ts.convert(os.path.join(d, "a.nrrd"), os.path.join(d, "a.nii.gz"))
    ...     int(ts.read(os.path.join(d, "a.nii.gz")).array.sum())
    276
    """
    with Progressed(progress) as p:
        first, kept = _core.options("tsr_read_options", {"memory_limit": memory_limit}, p)
        second, held = _core.options("tsr_write_options", {"overwrite": overwrite, **options})
        p.check(lib.tsr_volume_transfer(os.fsencode(source), first, os.fsencode(path), second))
    del kept, held


def write_frames(frames: "Sequence[VolumeLike]", path: "PathLike", *, overwrite: bool = True, progress: Progress = None, **options: Any) -> None:
    """Volumes of one size and grid as the frames of one file: NIfTI, NRRD, TIFF or Zarr. `read(path, frame=k)` gives one back.

    Examples
    --------
    >>> import numpy as np, tessera as ts, tempfile, os
    >>> with tempfile.TemporaryDirectory() as d:
    ...     ts.write_frames([np.full((2, 3, 4), k, np.uint8) for k in range(3)], os.path.join(d, "a.nrrd"))
    ...     int(ts.read(os.path.join(d, "a.nrrd"), frame=2).array[0, 0, 0])
    2
    """
    bodies = [as_volume(f) for f in frames]
    bodies = [b if b.on_host else b.to("cpu") for b in bodies]
    if not bodies:
        raise ValueError("no frame, expected one or more")
    with Progressed(progress) as p:
        values, kept = _core.options("tsr_write_options", {"overwrite": overwrite, **options}, p)
        p.check(lib.tsr_volume_write_frames([b._pointer for b in bodies], len(bodies), os.fsencode(path), values))
    del kept


def add_grid(thing: "Union[Tiles, VolumeLike]", path: "PathLike", name: str = "tessera", *, progress: Progress = None) -> None:
    """Writes a level set (.nvdb) or a volume (.vdb, .nvdb: its voxels that are not 0) as one more grid of a file, whose grids stay; or of a new file.

    Examples
    --------
    >>> import numpy as np, tessera as ts, tempfile, os
    >>> with tempfile.TemporaryDirectory() as d:
    ...     for name, radius in (("small", 3), ("large", 5)):
    ...         ts.add_grid(ts.shape("sphere", radius=radius, spacing=1), os.path.join(d, "a.nvdb"), name)
    ...     ts.add_grid(np.ones((2, 2, 2), np.float32), os.path.join(d, "a.nvdb"), "smoke")
    ...     os.path.getsize(os.path.join(d, "a.nvdb")) > 0
    True
    """
    with Progressed(progress) as p:
        if isinstance(thing, Tiles):
            values, kept = _core.options("tsr_tiles_write_options", {"name": name}, p)
            with thing._lock:
                p.check(lib.tsr_tiles_add_grid(thing._pointer, os.fsencode(path), values))
            return
        body = as_volume(thing).copy() if as_volume(thing).on_host else as_volume(thing).to("cpu")
        for key in ("vdb.name", "nvdb.name"):
            body.set_meta(key, name)
        values, kept = _core.options("tsr_write_options", {}, p)
        p.check(lib.tsr_volume_add_grid(body._pointer, os.fsencode(path), values))
    del kept


def write_segments(labels: "VolumeLike", source: "PathLike", path: "PathLike", *, overwrite: bool = True, progress: Progress = None) -> None:
    """A label map (0: none) as a DICOM segmentation of the patient and study of a series, of which `source` is a file or the folder.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> ts.write_segments(np.ones((2, 3, 4), np.uint8), "no-such-folder", "a.dcm")
    Traceback (most recent call last):
    ...
    tessera._core.FileError: ...
    """
    body = as_volume(labels)
    body = body if body.on_host else body.to("cpu")
    with Progressed(progress) as p:
        values, kept = _core.options("tsr_write_options", {"overwrite": overwrite}, p)
        p.check(lib.tsr_volume_write_segments(body._pointer, os.fsencode(source), os.fsencode(path), values))
    del kept


# ---- compressed volumes --------------------------------------------------------------------------------------------------------------


def decompress(path: "PathLike", *, progress: Progress = None, **options: Any) -> tuple[Volume, Report]:
    """A compressed volume (.tsc), or a part of it: of the box, the resolution and the layers of quality that are asked for, and no more is decoded.

    Parameters
    ----------
    path : str or path
    **options
        box (two corners, x, y, z), reduce (1: half the resolution), layers, partial (take what is there of a damaged file), memory_limit, threads:
        as tsr_decompress_options.

    Returns
    -------
    Volume, Report
        coder, lossless, pieces, pieces_whole, ...

    Examples
    --------
    >>> import numpy as np, tessera as ts, tempfile, os
    >>> v = np.add.outer(np.add.outer(np.arange(32), np.arange(32)), np.arange(32)).astype(np.uint8)
    >>> with tempfile.TemporaryDirectory() as d:
    ...     _ = ts.compress(v, os.path.join(d, "v.tsc"))
    ...     part, told = ts.decompress(os.path.join(d, "v.tsc"), box=((2, 3, 4), (10, 9, 8)))
    >>> part.shape, bool((part.array == v[4:8, 3:9, 2:10]).all()), told.lossless
    ((4, 6, 8), True, 1)
    """
    made, info = ffi.new("tsr_volume **"), _core.begun("tsr_compress_info")
    with Progressed(progress) as p:
        values, kept = _core.options("tsr_decompress_options", options, p)
        p.check(lib.tsr_volume_decompress(os.fsencode(path), values, made, info))
    del kept
    return Volume._of(made, None), _core.report(info)


def decompress_file(path: "PathLike", output: "PathLike", *, overwrite: bool = True, progress: Progress = None, **options: Any) -> Report:
    """`decompress` from file to file, for volumes larger than memory: memory_limit bytes hold what is in work.

    Examples
    --------
    >>> import tessera as ts
    >>> ts.decompress_file("no-such-file.tsc", "a.nrrd")
    Traceback (most recent call last):
    ...
    tessera._core.FileError: ...
    """
    info = _core.begun("tsr_compress_info")
    with Progressed(progress) as p:
        values, kept = _core.options("tsr_decompress_options", options, p)
        second, held = _core.options("tsr_write_options", {"overwrite": overwrite})
        p.check(lib.tsr_file_decompress(os.fsencode(path), os.fsencode(output), values, second, info))
    del kept, held
    return _core.report(info)


def compressed_info(path: "PathLike") -> Report:
    """What a compressed file holds, and which of its pieces are there; nothing is decoded.

    Examples
    --------
    >>> import tessera as ts
    >>> ts.compressed_info("no-such-file.tsc")
    Traceback (most recent call last):
    ...
    tessera._core.FileError: ...
    """
    info = _core.begun("tsr_compress_info")
    check(lib.tsr_compress_describe(os.fsencode(path), info))
    return _core.report(info)


class Compressed(Object):
    """A compressed volume (.tsc) in the memory of a device: read once, decoded there as often as wanted (on GPUs: of coder "rans").

    Examples
    --------
    >>> import numpy as np, tessera as ts, tempfile, os
    >>> v = np.random.default_rng(1).integers(0, 9, (16, 17, 18)).astype(np.uint8)
    >>> with tempfile.TemporaryDirectory() as d:
    ...     _ = ts.compress(v, os.path.join(d, "v.tsc"), coder="rans")
    ...     held = ts.Compressed(os.path.join(d, "v.tsc"))
    >>> bool((held.decode().array == v).all()), held.decode(box=((0, 0, 0), (4, 4, 2))).shape
    (True, (2, 4, 4))
    """

    _kind = "tsr_compressed"
    _destroy = "tsr_compressed_destroy"

    def __init__(self, path: "PathLike", *, progress: Progress = None, **options: Any) -> None:
        owner, made = _core.context(), ffi.new("tsr_compressed **")
        with Progressed(progress) as p, owner.lock:
            values, kept = _core.options("tsr_decompress_options", options, p)
            p.check(lib.tsr_compressed_create(owner._pointer, os.fsencode(path), values, made))
        super().__init__(made[0], owner)
        del kept

    def decode(self, *, progress: Progress = None, **options: Any) -> Volume:
        """The volume, or a part of it: box, reduce, layers, as `decompress`."""
        made = ffi.new("tsr_volume **")
        with Progressed(progress) as p, self._owner.lock:
            values, kept = _core.options("tsr_decompress_options", options, p)
            p.check(lib.tsr_compressed_decode(self._pointer, values, made, ffi.NULL))
        del kept
        return Volume._of(made, self._owner)


def compress_image(image: Any, path: "PathLike", *, overwrite: bool = True, progress: Progress = None, **options: Any) -> Report:
    """`compress` of a picture, whose channels become slices.

    Examples
    --------
    >>> import numpy as np, tessera as ts, tempfile, os
    >>> with tempfile.TemporaryDirectory() as d:
    ...     ts.compress_image(np.zeros((32, 48, 3), np.uint8), os.path.join(d, "a.tsc")).image
    1
    """
    picture, info = image if isinstance(image, Image) else Image(image), _core.begun("tsr_compress_info")
    with Progressed(progress) as p:
        values, kept = _core.options("tsr_compress_options", {"overwrite": overwrite, **options}, p)
        p.check(lib.tsr_image_compress(picture._struct(), os.fsencode(path), values, info))
    del kept
    return _core.report(info)
