"""Surfaces in other ways: as compact records, followed as a level set changes, of several values or of labels at once, in the order of a view."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, Optional, Sequence, Union

import numpy as np

from . import _core
from ._cameras import Camera
from ._core import Context, Object, Report, check, ffi, lib
from ._inputs import as_mesh, as_volume, on_context, vec3
from ._objects import Image, Mesh, Volume
from ._tiles import Tiles

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._inputs import VolumeLike


def _picture(draw: Any, owner: Context, size: Sequence[int], channels: int) -> Image:
    """An Image of what `draw` draws into a tsr_picture. The lock is held."""
    width, height = (int(v) for v in size)
    picture, image = ffi.new("tsr_picture **"), ffi.new("tsr_image *")
    check(lib.tsr_picture_create(owner._pointer, width, height, picture))
    try:
        check(draw(picture[0]))
        check(lib.tsr_picture_image(picture[0], channels, image))
    finally:
        lib.tsr_picture_destroy(picture)
    return Image._taken(image)


class Records(Object):
    """The surface of a level set as records of 15 bytes for each cell that it cuts: triangles are made when they are drawn, or asked for.

    Parameters
    ----------
    tiles : Tiles
    isovalue : float
        Smaller than the band.

    Examples
    --------
    >>> import tessera as ts
    >>> ball = ts.shape("sphere", radius=5, spacing=0.5)
    >>> records = ts.Records(ball)
    >>> len(records.mesh().triangles) == len(ts.surface(ball).triangles), records.positions.shape == (len(records), 3)
    (True, True)
    >>> records.render(ts.Camera.look_at((0, -20, 0), (0, 0, 0), fov=40), (64, 48)).array.shape
    (48, 64, 3)
    """

    _kind = "tsr_records"
    _destroy = "tsr_records_destroy"

    def __init__(self, tiles: Tiles, isovalue: float = 0.0) -> None:
        made = ffi.new("tsr_records **")
        with tiles._lock:
            check(lib.tsr_records_extract(tiles._owner._pointer, tiles._pointer, float(isovalue), made))
        super().__init__(made[0], tiles._owner)

    def __len__(self) -> int:
        return int(lib.tsr_records_count(self._pointer))

    @property
    def isovalue(self) -> float:
        """Value of the surface."""
        return float(lib.tsr_records_isovalue(self._pointer))

    def _download(self, place: int, shape: tuple[int, ...], dtype: Any, kind: str) -> "NDArray[Any]":
        made = np.zeros(shape, dtype)
        arguments = [ffi.NULL, ffi.NULL, ffi.NULL]
        arguments[place] = ffi.cast(kind, made.ctypes.data)
        with self._owner.lock:
            check(lib.tsr_records_download(self._pointer, *arguments))
        return made

    @property
    def positions(self) -> "NDArray[np.int64]":
        """The voxel at the lowest corner of each cell (n, 3), x, y, z."""
        return self._download(0, (len(self), 3), np.int64, "int64_t (*)[3]")

    @property
    def cases(self) -> "NDArray[np.uint8]":
        """Which corners of each cell are inside (n,): bit 4 z + 2 y + x."""
        return self._download(1, (len(self),), np.uint8, "uint8_t *")

    @property
    def values(self) -> "NDArray[np.uint8]":
        """Codes of the values at the corners (n, 8), in the order of the bits: v stands for ((v + 0.5) / 128 - 1) bands, less the isovalue."""
        return self._download(2, (len(self), 8), np.uint8, "uint8_t (*)[8]")

    def mesh(self, ambiguity: str = "separate_inside") -> Mesh:
        """The triangles, each with three vertices of its own. ambiguity: "separate_inside" or "separate_outside"."""
        made = ffi.new("tsr_mesh **")
        with self._owner.lock:
            check(lib.tsr_records_mesh(self._pointer, _core.enum("tsr_surface_ambiguity", ambiguity), made))
        return Mesh._of(made, self._owner)

    def render(self, camera: Camera, size: Sequence[int] = (640, 480), *, cull: bool = True, **options: Any) -> Image:
        """A picture from a camera. cull: only fronts of triangles are drawn. Options: background, transparent, surface_color, specular, supersampling, flat, ..."""
        values, kept = _core.options("tsr_render_options", options)
        with self._owner.lock:
            made = _picture(lambda picture: lib.tsr_records_draw(self._pointer, camera._struct, values, int(cull), picture), self._owner, size, 4 if options.get("transparent") else 3)
        del kept
        return made

    def __repr__(self) -> str:
        return f"<tessera.Records {len(self)}>"


class RecordsTracker(Object):
    """Records of a level set that changes in places, kept from call to call: only what changed is made anew.

    Examples
    --------
    >>> import tessera as ts
    >>> ball, tracker = ts.shape("sphere", radius=5, spacing=0.5), ts.RecordsTracker()
    >>> first = tracker.update(ball)
    >>> first.records == len(ts.Records(ball)), tracker.update(ball).renewed
    (True, 0)
    >>> len(tracker.mesh().triangles) == len(ts.surface(ball).triangles)
    True
    """

    _kind = "tsr_records_tracker"
    _destroy = "tsr_records_tracker_destroy"

    def __init__(self, isovalue: float = 0.0) -> None:
        owner, made = _core.context(), ffi.new("tsr_records_tracker **")
        with owner.lock:
            check(lib.tsr_records_tracker_create(owner._pointer, float(isovalue), made))
        super().__init__(made[0], owner)
        self._records = ffi.new("const tsr_records **")

    def update(self, tiles: Tiles, region: Optional[Sequence[Sequence[int]]] = None) -> Report:
        """The records of a list as it is now.

        Parameters
        ----------
        region : (lower, upper), optional
            Voxels (x, y, z) whose values may have changed, upper one past; None: found by a look at all values.

        Returns
        -------
        Report
            tiles, changed, renewed, records, bytes.
        """
        made = _core.begun("tsr_records_update_report")
        with self._owner.lock:
            check(lib.tsr_records_update(self._pointer, tiles._pointer, _region(region), self._records, made))
        return _core.report(made)

    def mesh(self, ambiguity: str = "separate_inside") -> Mesh:
        """The triangles of the last update."""
        if not self._records[0]:
            raise ValueError("no records, expected an update before")
        made = ffi.new("tsr_mesh **")
        with self._owner.lock:
            check(lib.tsr_records_mesh(self._records[0], _core.enum("tsr_surface_ambiguity", ambiguity), made))
        return Mesh._of(made, self._owner)

    def render(self, camera: Camera, size: Sequence[int] = (640, 480), *, cull: bool = True, **options: Any) -> Image:
        """A picture of the records of the last update, as `Records.render`."""
        values, kept = _core.options("tsr_render_options", options)
        with self._owner.lock:
            made = _picture(lambda picture: lib.tsr_records_redraw(self._pointer, camera._struct, values, int(cull), picture, ffi.NULL), self._owner, size, 4 if options.get("transparent") else 3)
        del kept
        return made


def _region(region: Optional[Sequence[Sequence[int]]]) -> Any:
    if region is None:
        return ffi.NULL
    lower, upper = ([int(v) for v in corner] for corner in region)
    if len(lower) != 3 or len(upper) != 3:
        raise ValueError("region: expected two corners of 3 numbers (x, y, z)")
    return ffi.new("tsr_surface_region *", {"lower": lower, "upper": upper})


class SurfaceTracker(Object):
    """The surface of a level set that changes in places, kept from call to call: only triangles of what changed are made anew.

    Parameters
    ----------
    **options
        isovalue, normals, ambiguity, midpoints: as tsr_surface_options.

    Examples
    --------
    >>> import tessera as ts
    >>> ball, tracker = ts.shape("sphere", radius=5, spacing=0.5), ts.SurfaceTracker()
    >>> mesh, told = tracker.update(ball)
    >>> told.triangles == len(ts.surface(ball).triangles), tracker.update(ball)[1].renewed
    (True, 0)
    """

    _kind = "tsr_surface_tracker"
    _destroy = "tsr_surface_tracker_destroy"

    def __init__(self, **options: Any) -> None:
        owner, made = _core.context(), ffi.new("tsr_surface_tracker **")
        values, kept = _core.options("tsr_surface_options", options)
        with owner.lock:
            check(lib.tsr_surface_tracker_create(owner._pointer, values, made))
        super().__init__(made[0], owner)
        del kept

    def update(self, tiles: Tiles, region: Optional[Sequence[Sequence[int]]] = None) -> tuple[Mesh, Report]:
        """The surface of a list as it is now: a copy of the mesh with the gaps that it has (triangles 0 0 0), and tiles, changed, renewed, vertices, triangles."""
        mesh, told, made = ffi.new("const tsr_mesh **"), _core.begun("tsr_surface_update_report"), ffi.new("tsr_mesh **")
        with self._owner.lock:
            check(lib.tsr_surface_update(self._pointer, tiles._pointer, _region(region), mesh, told))
            check(lib.tsr_mesh_copy(mesh[0], self._owner._pointer, made))
        return Mesh._of(made, self._owner), _core.report(told)


# ---- several at once -----------------------------------------------------------------------------------------------------------------


def surfaces(volume: "VolumeLike", isovalues: Sequence[float], **options: Any) -> list[Mesh]:
    """`surface` of a volume at several values (64 at most), which are found in one pass.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> v = np.linalg.norm(np.mgrid[:16, :16, :16] - 8.0, axis=0).astype(np.float32)
    >>> [len(m.triangles) == len(ts.surface(v, r).triangles) for m, r in zip(ts.surfaces(v, [3, 5]), [3, 5])]
    [True, True]
    """
    body, owner = on_context(as_volume(volume))
    values, kept = _core.options("tsr_surface_options", options)
    wanted = [float(v) for v in isovalues]
    made = ffi.new("tsr_mesh *[]", max(1, len(wanted)))
    with owner.lock:
        check(lib.tsr_surface_extract_several(owner._pointer, body._pointer, values, wanted, len(wanted), made, ffi.NULL))
    del kept
    return [Mesh._of([one], owner) for one in made[0 : len(wanted)]]


def surface_labels(volume: "VolumeLike", wanted: Optional[Iterable[int]] = None, **options: Any) -> Mesh:
    """The surfaces of the labels of a label map (None: all but 0) as one mesh, a part each: see `Mesh.parts`.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> v = np.zeros((8, 8, 8), np.uint8); v[1:4, 1:4, 1:4] = 3; v[5:7, 5:7, 5:7] = 9
    >>> [(value, count > 0) for value, _, count in ts.surface_labels(v).parts]
    [(3, True), (9, True)]
    """
    body, owner = on_context(as_volume(volume))
    host, counter = body if body.on_host else body.to("cpu"), _core.context("cpu")
    labels, count, chosen = ffi.new("tsr_label **"), ffi.new("int32_t *"), None if wanted is None else {int(v) for v in wanted}
    values, kept = _core.options("tsr_surface_options", options)
    with counter.lock:
        check(lib.tsr_labels_count(counter._pointer, host._pointer, 0, labels, count))
    try:
        found = [k for k in range(int(count[0])) if (labels[0][k].value != 0 if chosen is None else labels[0][k].value in chosen)]
        missing = set() if chosen is None else chosen - {int(labels[0][k].value) for k in found}
        if missing:
            raise ValueError(f"labels {', '.join(map(str, sorted(missing)))}, expected such as the volume has")
        meshes = []
        for k in found:
            made = ffi.new("tsr_mesh **")
            with owner.lock:
                check(lib.tsr_surface_extract_label(owner._pointer, body._pointer, labels[0] + k, values, made, ffi.NULL))
            mesh = Mesh._of(made, owner)
            meshes.append(mesh if mesh.on_host else mesh.to("cpu"))
        numbers = [int(labels[0][k].value) for k in found]
    finally:
        lib.tsr_labels_destroy(labels)
    del kept
    return join(meshes, numbers)


def join(meshes: Sequence[Any], values: Optional[Sequence[int]] = None, names: Optional[Sequence[str]] = None) -> Mesh:
    """Several meshes as one, a part each, with values (None: 1, 2, ...) and names: see `Mesh.parts`.

    Examples
    --------
    >>> import tessera as ts
    >>> a = ts.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    >>> ts.join([a, a], names=["first", "second"]).parts
    [(1, 'first', 1), (2, 'second', 1)]
    """
    bodies = [as_mesh(m) for m in meshes]
    bodies = [m if m.on_host else m.to("cpu") for m in bodies]
    numbers = list(range(1, len(bodies) + 1)) if values is None else [int(v) for v in values]
    if not bodies or len(numbers) != len(bodies) or (names is not None and len(names) != len(bodies)):
        raise ValueError(f"{len(bodies)} meshes, {len(numbers)} values" + ("" if names is None else f", {len(names)} names") + ", expected as many, one at least")
    parts, texts = ffi.new("tsr_mesh_part[]", len(bodies)), [ffi.NULL if names is None else ffi.new("char[]", names[k].encode()) for k in range(len(bodies))]
    for part, text, number, mesh in zip(parts, texts, numbers, bodies):
        part.value, part.name, part.triangles = number, text, lib.tsr_mesh_triangle_count(mesh._pointer)
    made = ffi.new("tsr_mesh **")
    check(lib.tsr_mesh_join([m._pointer for m in bodies], parts, len(bodies), made))
    return Mesh._of(made, None)


def order(mesh: Any, grid: Union[Volume, Tiles], *, direction: Sequence[float] = (0.0, 0.0, 0.0), eye: Optional[Sequence[float]] = None, nearest_first: bool = False) -> Mesh:
    """A copy of a surface whose triangles come in the order of a view, the farthest first: as translucent triangles are drawn.

    Parameters
    ----------
    mesh : Mesh
    grid : Volume or Tiles
        Of which it is the surface.
    direction : 3 floats
        Of looking, from afar; or
    eye : 3 floats
        Where the eye is.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> ball = ts.shape("sphere", radius=5, spacing=0.5)
    >>> seen = ts.order(ts.surface(ball), ball, direction=(0, 0, 1))
    >>> z = seen.vertices[seen.triangles].mean(axis=1)[:, 2]
    >>> bool(z[0] > 4 and z[-1] < -4)
    True
    """
    body, owner = on_context(as_mesh(mesh))
    made: Mesh = body.to(owner)
    view = _core.begun("tsr_surface_view")
    view.perspective, view.nearest_first = int(eye is not None), int(nearest_first)
    view.direction, view.eye = vec3(direction), vec3((0, 0, 0) if eye is None else eye)
    with owner.lock:
        check(lib.tsr_surface_order(owner._pointer, made._pointer, grid._geometry(), view))
        owner.synchronize()
    return made


def unindexed(mesh: Any) -> Mesh:
    """A mesh in which each triangle has three vertices of its own.

    Examples
    --------
    >>> import tessera as ts
    >>> m = ts.unindexed(ts.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], [[0, 1, 2], [2, 1, 3]]))
    >>> len(m.vertices), m.triangles.tolist()
    (6, [[0, 1, 2], [3, 4, 5]])
    """
    body, owner = on_context(as_mesh(mesh))
    made = ffi.new("tsr_mesh **")
    with owner.lock:
        check(lib.tsr_surface_unindex(owner._pointer, (body if body.context is owner else body.to(owner))._pointer, made))
    return Mesh._of(made, owner)
