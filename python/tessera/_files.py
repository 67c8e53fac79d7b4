"""Reading and writing files of every format that the library knows."""

from __future__ import annotations

import os
from typing import Any, Callable, Optional, Union

from . import _core
from ._core import Progress, Progressed, check, ffi, lib
from ._objects import Image, Mesh, Points, Volume
from ._tiles import Tiles
from ._unstructured import Unstructured

PathLike = Union[str, "os.PathLike[str]"]
_KINDS = ("unknown", "volume", "mesh", "image", "tiles", "points", "video", "unstructured")


def kind(path: PathLike) -> tuple[str, Optional[str]]:
    """What a file holds ("volume", "mesh", "image", "tiles", "points", "video", "unstructured" or "unknown") and its format.

    Examples
    --------
    >>> import tessera as ts, tempfile, os
    >>> with tempfile.TemporaryDirectory() as d:
    ...     ts.write(ts.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]), os.path.join(d, "a.stl"))
    ...     ts.kind(os.path.join(d, "a.stl"))
    ('mesh', 'stl')
    """
    number, name = ffi.new("tsr_file_kind *"), ffi.new("const char **")
    check(lib.tsr_file_recognise(os.fsencode(path), number, name))
    return _KINDS[int(number[0])], ffi.string(name[0]).decode() if name[0] else None


def read(path: PathLike, *, what: Optional[str] = None, progress: Progress = None, **options: Any) -> Any:
    """A file as Volume, Mesh, Points, Tiles, Image or Unstructured, whatever it holds.

    Parameters
    ----------
    path : str or path
    what : str, optional
        "volume", "mesh", "points", "tiles", "image" or "unstructured", where the file may be taken in several ways (vertices of a mesh as points, a picture
        of 16 bits as a volume).
    **options
        frame, layer, channel, series, level, box (two corners, x, y, z), memory_limit, format, local_origin, ...: as tsr_read_options.
        values: of an unstructured grid, the name of the array that gives its values.

    Raises
    ------
    tessera.FileError, tessera.FormatError, tessera.UnsupportedError

    Examples
    --------
    >>> import numpy as np, tessera as ts, tempfile, os
    >>> with tempfile.TemporaryDirectory() as d:
    ...     ts.write(ts.Volume(np.arange(8).reshape(2, 2, 2).astype(np.int16), spacing=(1, 2, 3)), os.path.join(d, "a.nii.gz"))
    ...     back = ts.read(os.path.join(d, "a.nii.gz"))
    >>> back.spacing, back.dtype
    ((1.0, 2.0, 3.0), dtype('int16'))
    """
    name = os.fsencode(path)
    found = what if what is not None else kind(path)[0]
    for part in ("frame", "layer", "channel", "series", "level", "box"):
        if options.get(part) is not None:
            options[f"{part}_given"] = True
    with Progressed(progress) as p:
        if found == "tiles":
            owner = _core.context()
            values, kept = _core.options("tsr_tiles_read_options", options, p)
            made = ffi.new("tsr_tiles **")
            with owner.lock:
                p.check(lib.tsr_tiles_read(owner._pointer, name, values, made))
            return Tiles._of(made, owner)
        if found == "unstructured":
            return Unstructured.read(path, **options, progress=progress)
        values, kept = _core.options("tsr_read_options", options, p)
        if found == "image":
            image = ffi.new("tsr_image *")
            p.check(lib.tsr_image_read(name, values, image))
            return Image._taken(image)
        if found in ("volume", "unknown"):
            made = ffi.new("tsr_volume **")
            p.check(lib.tsr_volume_read(name, values, made))
            return Volume._of(made, None)
        if found == "mesh":
            made = ffi.new("tsr_mesh **")
            p.check(lib.tsr_mesh_read(name, values, made))
            return Mesh._of(made, None)
        if found == "points":
            made = ffi.new("tsr_points **")
            p.check(lib.tsr_points_read(name, values, made))
            return Points._of(made, None)
    hint = ": tessera.VideoReader reads it" if found == "video" else ""
    raise _core.UnsupportedError(f"{os.fspath(path)}: holds {found}, expected a volume, mesh, image, level set, points or an unstructured grid{hint}")


def write(thing: Any, path: PathLike, *, overwrite: bool = True, progress: Progress = None, **options: Any) -> None:
    """Writes a Volume, Mesh, Points, Tiles, Image or an array, by the name's extension. The file has its name when it is complete.

    Parameters
    ----------
    thing
        Objects of other libraries that tessera knows and arrays are taken, too.
    path : str or path
    overwrite : bool
        False: an existing file is an error.
    **options
        format, compression, ascii, big_endian, ...: as tsr_write_options.

    Examples
    --------
    >>> import tessera as ts, tempfile, os
    >>> with tempfile.TemporaryDirectory() as d:
    ...     ts.write(ts.surface(ts.shape("sphere", radius=3, spacing=1)), os.path.join(d, "ball.stl"))
    ...     os.path.getsize(os.path.join(d, "ball.stl")) > 84
    True
    """
    from ._inputs import as_volume

    name = os.fsencode(path)
    with Progressed(progress) as p:
        if isinstance(thing, Tiles):
            values, kept = _core.options("tsr_tiles_write_options", {"overwrite": overwrite, **options}, p)
            with thing._lock:
                p.check(lib.tsr_tiles_write(thing._pointer, name, values))
            return
        values, kept = _core.options("tsr_write_options", {"overwrite": overwrite, **options}, p)
        if isinstance(thing, Image):
            p.check(lib.tsr_image_write(thing._struct(), name, values))
        elif isinstance(thing, Points):
            p.check(lib.tsr_points_write((thing if thing.on_host else thing.to("cpu"))._pointer, name, values))
        else:
            from ._interchange import coerce

            body = thing if isinstance(thing, (Mesh, Volume)) else coerce(thing, "any")
            if isinstance(body, Points):
                p.check(lib.tsr_points_write(body._pointer, name, values))
            elif isinstance(body, Mesh):
                p.check(lib.tsr_mesh_write((body if body.on_host else body.to("cpu"))._pointer, name, values))
            else:
                volume = as_volume(body)
                p.check(lib.tsr_volume_write((volume if volume.on_host else volume.to("cpu"))._pointer, name, values))


def contents(thing: Any, ending: str) -> bytes:
    """The file of a thing as bytes: what pickling keeps of objects that have a file format of their own, without loss."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a" + ending)
        if hasattr(thing, "write"):
            thing.write(path)
        else:
            write(thing, path)
        with open(path, "rb") as file:
            return file.read()


def from_contents(data: bytes, ending: str, reader: Callable[[str], Any] = read) -> Any:
    """The opposite."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a" + ending)
        with open(path, "wb") as file:
            file.write(data)
        return reader(path)
