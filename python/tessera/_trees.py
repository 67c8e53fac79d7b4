"""Quadtrees and octrees of regions."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Optional, Sequence, Union

import numpy as np

from . import _core
from ._core import Object, Progress, Progressed, Report, check, ffi, lib
from ._files import contents, from_contents
from ._inputs import as_mesh, as_volume, host_context, on_context, vec3
from ._arrays import dtype_number, geometry, rows
from ._objects import Points, Volume

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ._inputs import VolumeLike

    PathLike = Union[str, "os.PathLike[str]"]


class RegionTree(Object):
    """A quadtree (of an image) or octree (of a volume) of regions of the same class; see `octree`.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> v = np.zeros((8, 8, 8), np.uint8); v[:4] = 1
    >>> tree = ts.octree(v)
    >>> tree.means(v)[tree.find([(7, 7, 0)])["leaf"]].tolist(), tree.cubes()["side"].tolist() == [4] * 8
    ([1.0], True)
    >>> tree.rays([(-1, 1, 1)], [(1, 0, 0)])[0]["leave"][0, :2].tolist(), tree.neighbours()[0].tolist()
    ([5.0, 9.0], [-1, 1, -1, 2, -1, 4])
    >>> ts.RegionTree.from_keys(tree.leaves(), (8, 8, 8)).describe().leaves, len(tree.runs()), tree.grade().describe().leaves
    (8, 64, 8)
    """

    _kind = "tsr_region_tree"
    _destroy = "tsr_region_tree_destroy"
    _noun = "tree"

    def describe(self) -> Report:
        """Leaves, levels, size and more."""
        return _core.report(lib.tsr_region_tree_describe(self._pointer))

    def leaves(self) -> "NDArray[np.uint64]":
        """Keys of the leaves, a copy. tsr_region_leaf_of (tessera.c) takes them apart."""
        info = self.describe()
        if not self.on_host:
            raise TypeError("the tree lies on a GPU: make it on the CPU to see its leaves")
        keys = lib.tsr_region_tree_leaves(self._pointer)
        found: "NDArray[np.uint64]" = np.frombuffer(ffi.buffer(keys, int(info.leaves) * 8), np.uint64).copy()
        return found

    def cubes(self) -> "NDArray[Any]":
        """The leaves as a structured array: corner (x, y, z), side, and voxels (those within the volume)."""
        info, keys = self.describe(), self.leaves()
        level, code = (keys & np.uint64(63)).astype(np.int64), keys >> np.uint64(6)
        made = np.zeros(len(keys), [("corner", "i8", 3), ("side", "i8"), ("voxels", "i8")])
        axes = int(info.dimensions)
        for axis in range(axes):
            for bit in range(58 // axes):
                made["corner"][:, axis] |= ((code >> np.uint64(bit * axes + axis)) & np.uint64(1)).astype(np.int64) << bit
        made["side"] = 1 << level
        size = np.array([info.size[k] for k in range(axes)])
        made["voxels"] = np.prod(np.minimum(made["corner"][:, :axes] + made["side"][:, None], size) - made["corner"][:, :axes], axis=1)
        return made

    def find(self, positions: "ArrayLike") -> "NDArray[Any]":
        """Where voxels (n, 3) lie, x, y, z: a structured array of leaf (its number; -1: nothing is kept there, -2: outside), level and lower corner of the cube."""
        where = rows(positions, 3, "positions", np.int32)
        made = np.zeros(len(where), [("leaf", "i8"), ("level", "i4"), ("lower", "i4", 3)])
        with self._host_context.lock:
            check(lib.tsr_region_tree_find(self._pointer, ffi.cast("int32_t *", ffi.from_buffer(where)), len(where), ffi.cast("tsr_region_hit *", made.ctypes.data)))
            self._host_context.synchronize()
        return made

    def statistics(self, volume: "VolumeLike") -> "NDArray[Any]":
        """mean, variance, least and most of a volume of the tree's size over each leaf, a structured array."""
        body = as_volume(volume)
        made = np.zeros(int(self.describe().leaves), [("mean", "f8"), ("variance", "f8"), ("least", "f8"), ("most", "f8")])
        with self._host_context.lock:
            check(lib.tsr_region_tree_statistics(self._pointer, body._pointer, ffi.cast("tsr_region_statistics *", made.ctypes.data)))
            self._host_context.synchronize()
        return made

    def means(self, volume: "VolumeLike") -> "NDArray[np.float32]":
        """Mean of a volume over each leaf."""
        body = as_volume(volume)
        made = np.zeros(int(self.describe().leaves), np.float32)
        with self._host_context.lock:
            check(lib.tsr_region_tree_means(self._pointer, body._pointer, ffi.cast("float *", ffi.from_buffer(made))))
            self._host_context.synchronize()
        return made

    def paint(self, values: Optional["ArrayLike"] = None, *, background: float = 0.0, dtype: Any = np.float32) -> Volume:
        """A volume of the tree's size with a value for each leaf (None: 1)."""
        given = None if values is None else np.ascontiguousarray(values, np.float32)
        if given is not None and given.shape != (int(self.describe().leaves),):
            raise ValueError(f"values of shape {given.shape}, expected ({int(self.describe().leaves)},)")
        made = ffi.new("tsr_volume **")
        with self._host_context.lock:
            check(lib.tsr_region_tree_paint(self._pointer, dtype_number(dtype), ffi.NULL if given is None else ffi.cast("float *", ffi.from_buffer(given)), float(background), made))
        return Volume._of(made, self._host_context)

    def components(self, values: Optional["ArrayLike"] = None, *, equal: bool = False) -> "tuple[NDArray[np.int32], NDArray[Any]]":
        """Connected parts of the leaves: the part of each leaf, from 0, and a structured array of the parts, the largest first.

        Parameters
        ----------
        values : array (leaves,), optional
            Of the leaves, for the means of the parts.
        equal : bool
            Only leaves of equal values belong together.

        Returns
        -------
        array (leaves,) of int32
        structured array
            leaves, voxels, lower, upper (indices x, y, z, upper one past), centre, mean.
        """
        count = int(self.describe().leaves)
        given = None if values is None else np.ascontiguousarray(values, np.float32)
        if given is not None and given.shape != (count,):
            raise ValueError(f"values of shape {given.shape}, expected ({count},)")
        made = ffi.new("tsr_region_components **")
        with self._host_context.lock:
            check(lib.tsr_region_components_create(self._pointer, ffi.NULL if given is None else ffi.from_buffer("float[]", given), int(equal), made))
        try:
            labels = np.frombuffer(ffi.buffer(lib.tsr_region_components_labels(made[0]), 4 * count), np.int32).copy()
            parts = int(lib.tsr_region_components_count(made[0]))
            kind = [("leaves", "i8"), ("voxels", "i8"), ("lower", "i8", 3), ("upper", "i8", 3), ("centre", "f8", 3), ("mean", "f8")]
            return labels, np.frombuffer(ffi.buffer(lib.tsr_region_components_list(made[0]), parts * ffi.sizeof("tsr_region_component")), kind).copy()
        finally:
            lib.tsr_region_components_destroy(made)

    @property
    def nodes(self) -> "NDArray[np.int32]":
        """Children of the nodes (nodes, 4 or 8), x the lowest bit of a child's number: 0 nothing, r > 0 node r, r < 0 leaf ~r. Node 0 is the root."""
        info = self.describe()
        with self._host_context.lock:
            self._host_context.synchronize()
            children = lib.tsr_region_tree_nodes(self._pointer)
            shape = (int(info.nodes), 1 << int(info.dimensions))
            if not shape[0]:
                return np.zeros(shape, np.int32)
            found: "NDArray[np.int32]" = np.frombuffer(ffi.buffer(children, shape[0] * shape[1] * 4), np.int32).reshape(shape).copy()
        return found

    def neighbours(self) -> "NDArray[np.int32]":
        """The leaf across the lower and the upper face of each leaf along x, y (and z), (leaves, 4 or 6), if it is as large or larger; else -1."""
        info = self.describe()
        made = np.zeros((int(info.leaves), 2 * int(info.dimensions)), np.int32)
        with self._host_context.lock:
            check(lib.tsr_region_tree_neighbours(self._pointer, ffi.cast("int32_t *", made.ctypes.data)))
            self._host_context.synchronize()
        return made

    def rays(self, origins: "ArrayLike", directions: "ArrayLike", *, most: float = np.inf, room: int = 64, gaps: bool = False, world: bool = False) -> "tuple[NDArray[Any], NDArray[np.int32]]":
        """The leaves that rays origin + t direction pass, 0 <= t <= most, in order.

        Parameters
        ----------
        origins, directions : array (n, 3)
            In voxel units: voxel (x, y, z) covers x to x + 1; with world in the world.
        room : int
            Leaves of each ray at most; 1: the first alone.
        gaps : bool
            The longest intervals in which nothing is kept, instead: what a ray caster may skip.

        Returns
        -------
        structured array (n, room) of leaf, enter and leave
        array (n,) of int32
            How many there are of each ray, beyond room too.
        """
        start, way = rows(origins, 3, "origins"), rows(directions, 3, "directions")
        if len(start) != len(way):
            raise ValueError(f"{len(start)} origins and {len(way)} directions, expected as many")
        given = np.zeros(len(start), [("origin", "f8", 3), ("direction", "f8", 3), ("most", "f8")])
        given["origin"], given["direction"], given["most"] = start, way, most
        if world:
            for k in range(len(given)):
                one = ffi.cast("tsr_region_ray *", given.ctypes.data) + k
                check(lib.tsr_region_ray_from_world(self._pointer, vec3(start[k].tolist()), vec3(way[k].tolist()), float(most), one))
        made, found = np.zeros((len(given), int(room)), [("leaf", "i8"), ("enter", "f8"), ("leave", "f8")]), np.zeros(len(given), np.int32)
        rays, spans, counts = ffi.cast("tsr_region_ray *", given.ctypes.data), ffi.cast("tsr_region_span *", made.ctypes.data), ffi.cast("int32_t *", found.ctypes.data)
        with self._host_context.lock:
            if gaps:
                check(lib.tsr_region_tree_gaps(self._pointer, rays, len(given), int(room), spans, counts))
            else:
                check(lib.tsr_region_tree_rays(self._pointer, rays, len(given), int(room), 0, spans, counts))
            self._host_context.synchronize()
        return made, found

    def grade(self, touch: str = "faces", *, progress: Progress = None) -> "RegionTree":
        """The tree with the fewest leaves that splits this one so that leaves that touch ("faces", "edges", "corners") differ by one level at most."""
        made = ffi.new("tsr_region_tree **")
        with Progressed(progress) as p, self._owner.lock:
            values, kept = _core.options("tsr_region_grading", {"touch": touch}, p)
            p.check(lib.tsr_region_tree_grade(self._pointer, values, ffi.NULL, made, ffi.NULL))
        return RegionTree._of(made, self._owner)

    def filter(self, least: int = 0, most: int = 62) -> "RegionTree":
        """The leaves of levels least to most alone (level k: 2^k voxels a side)."""
        made = ffi.new("tsr_region_tree **")
        with self._owner.lock:
            check(lib.tsr_region_tree_filter(self._pointer, int(least), int(most), ffi.NULL, made, ffi.NULL))
        return RegionTree._of(made, self._owner)

    def _plain(self) -> Any:
        """A copy on the host."""
        plain = ffi.new("tsr_region_tree **")
        with self._owner.lock:
            check(lib.tsr_region_tree_copy(self._pointer, ffi.NULL, plain))
        return ffi.gc(plain[0], lambda one: lib.tsr_region_tree_destroy(ffi.new("tsr_region_tree **", one)))

    def _of_leaves(self, values: Optional["ArrayLike"], name: str) -> "Optional[NDArray[np.float32]]":
        if values is None:
            return None
        given, count = np.ascontiguousarray(values, np.float32), int(self.describe().leaves)
        if given.shape != (count,):
            raise ValueError(f"{name} of shape {given.shape}, expected ({count},)")
        return given

    def runs(self, values: Optional["ArrayLike"] = None) -> "NDArray[Any]":
        """The longest runs of voxels along x that lie in leaves (of equal values, if there are some): start (index into the flattened array), length, leaf."""
        given, made, count = self._of_leaves(values, "values"), ffi.new("tsr_region_run **"), ffi.new("int64_t *")
        check(lib.tsr_region_runs(self._plain(), ffi.NULL if given is None else ffi.from_buffer("float[]", given), made, count))
        kind = [("start", "i8"), ("length", "i8"), ("leaf", "i8")]
        try:
            return np.frombuffer(ffi.buffer(made[0], int(count[0]) * 24), kind).copy() if count[0] else np.zeros(0, kind)
        finally:
            lib.tsr_region_runs_destroy(made)

    def batches(self, saliency: "ArrayLike", budget: Optional[int] = None) -> "NDArray[Any]":
        """The leaves by descending saliency (leaves,): leaf, saliency, and work: voxels of it and all before; of those alone that `budget` voxels pay for."""
        given = self._of_leaves(saliency, "saliency")
        made = np.zeros(int(self.describe().leaves), np.dtype([("leaf", "i8"), ("saliency", "f4"), ("work", "i8")], align=True))
        batches = ffi.cast("tsr_region_batch *", made.ctypes.data)
        check(lib.tsr_region_batches(self._plain(), ffi.from_buffer("float[]", given), batches))
        return made if budget is None else made[: int(lib.tsr_region_batches_within(batches, len(made), int(budget)))].copy()

    def write(self, path: "PathLike", *, overwrite: bool = True) -> None:
        """Writes the tree, .rgt or .rgt.gz."""
        options, kept = _core.options("tsr_write_options", {"overwrite": overwrite})
        plain = ffi.new("tsr_region_tree **")
        with self._owner.lock:
            check(lib.tsr_region_tree_copy(self._pointer, ffi.NULL, plain))
        try:
            check(lib.tsr_region_tree_write(plain[0], ffi.NULL, os.fsencode(path), options))
        finally:
            lib.tsr_region_tree_destroy(plain)

    @classmethod
    def read(cls, path: "PathLike", **options: Any) -> "RegionTree":
        """A tree of a file."""
        values, kept = _core.options("tsr_read_options", options)
        plain = ffi.new("tsr_region_tree **")
        check(lib.tsr_region_tree_read(os.fsencode(path), values, plain, ffi.NULL))
        return cls._of_plain(plain)

    @classmethod
    def from_keys(cls, keys: "ArrayLike", shape: Sequence[int]) -> "RegionTree":
        """The tree of leaves that are known already, as `leaves` gives them, of a volume (z, y, x) or picture (y, x)."""
        given, size = np.ascontiguousarray(keys, np.uint64).reshape(-1), [int(n) for n in reversed(list(shape))]
        if len(size) not in (2, 3):
            raise ValueError(f"shape of {len(size)} axes, expected 2 or 3")
        made, owner = ffi.new("tsr_region_tree **"), host_context()
        with owner.lock:
            check(lib.tsr_region_tree_from_keys(owner._pointer, ffi.from_buffer("uint64_t[]", given), len(given), ffi.new("tsr_size3 *", [*size, 1][:3])[0], len(size), ffi.NULL, made))
        return cls._of(made, owner)

    @classmethod
    def _of_plain(cls, plain: Any) -> "RegionTree":
        """ADOPTS a tree of the host, for a context of the CPU."""
        made, owner = ffi.new("tsr_region_tree **"), host_context()
        try:
            with owner.lock:
                check(lib.tsr_region_tree_copy(plain[0], owner._pointer, made))
        finally:
            lib.tsr_region_tree_destroy(plain)
        return cls._of(made, owner)

    @classmethod
    def _of(cls, made: Any, owner: _core.Context) -> "RegionTree":
        tree = cls.__new__(cls)
        Object.__init__(tree, made[0], owner)
        return tree

    def __reduce__(self) -> Any:
        return (_tree_again, (contents(self, ".rgt"),))

    def __copy__(self) -> "RegionTree":
        return self  # nothing changes it

    def __deepcopy__(self, memo: Any) -> "RegionTree":
        return self

    def __repr__(self) -> str:
        return f"<tessera.RegionTree {self.describe().leaves} leaves>"


def _tree_again(data: bytes) -> RegionTree:
    made: RegionTree = from_contents(data, ".rgt", RegionTree.read)
    return made


def octree(volume: "VolumeLike", **options: Any) -> RegionTree:
    """The octree (of one slice: quadtree) of a volume: by default of equal values; rule, threshold, ... as tsr_region_options.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> v = np.zeros((8, 8, 8), np.uint8); v[:4] = 1
    >>> ts.octree(v).describe().leaves
    8
    """
    body, owner = on_context(as_volume(volume))
    values, kept = _core.options("tsr_region_options", {"rule": "spread", **options})
    made = ffi.new("tsr_region_tree **")
    with owner.lock:
        check(lib.tsr_region_tree_make(owner._pointer, ffi.new("tsr_volume *[1]", [body._pointer]), 1, values, made))
    return RegionTree._of(made, owner)


quadtree = octree


# ---- in parts, and of meshes ---------------------------------------------------------------------------------------------------------


def octree_tiled(volume: "VolumeLike", tile: int = 0, *, means: bool = False, progress: Progress = None, **options: Any) -> "tuple[RegionTree, Optional[NDArray[np.float32]]]":
    """`octree` tile by tile, for volumes that do not fit the device or memory (files that `read` maps): the same tree.

    Parameters
    ----------
    volume : Volume or array of the host
    tile : int
        Voxels a side, a power of two; 0: 256.
    means : bool
        The mean of each leaf, too.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> v = np.zeros((40, 40, 40), np.uint8); v[7:31, 3:20] = 1
    >>> tree, values = ts.octree_tiled(v, 8, means=True)
    >>> tree.describe().leaves == ts.octree(v).describe().leaves, sorted(set(values.tolist()))
    (True, [0.0, 1.0])
    """
    body = as_volume(volume)
    body = body if body.on_host else body.to("cpu")
    owner, plain, values = _core.context(), ffi.new("tsr_region_tree **"), ffi.new("tsr_volume **")
    rules, kept = _core.options("tsr_region_options", {"rule": "spread", **options})
    with Progressed(progress) as p, owner.lock:
        tiling, held = _core.options("tsr_region_tiling", {"tile": tile, "means": means}, p)
        p.check(lib.tsr_region_tree_make_tiled(owner._pointer, ffi.new("tsr_volume *[1]", [body._pointer]), 1, rules, tiling, plain, values if means else ffi.NULL))
    del kept, held
    found = _values_of(values)
    return RegionTree._of_plain(plain), found


def _values_of(values: Any) -> "Optional[NDArray[np.float32]]":
    """ADOPTS values of leaves."""
    return None if not values[0] else np.array(Volume._of(values, None).array).reshape(-1)


def _lattice(mesh: Any, spacing: Union[float, Sequence[float]], origin: Sequence[float], margin: int) -> tuple[Any, Any]:
    size, grid = ffi.new("tsr_size3 *"), geometry()
    host = mesh if mesh.on_host else mesh.to("cpu")
    check(lib.tsr_winding_lattice(host._pointer, vec3(np.broadcast_to(np.asarray(spacing, float), 3).tolist()), vec3(origin), int(margin), size, grid))
    return size[0], grid


def octree_of_mesh(mesh: Any, spacing: Union[float, Sequence[float]] = 1.0, *, origin: Sequence[float] = (0.0, 0.0, 0.0), margin: int = 1, progress: Progress = None, **options: Any) -> "tuple[RegionTree, Report]":
    """The octree of the inside of a closed mesh on a lattice that may be finer than any volume: made tile by tile.

    Parameters
    ----------
    spacing : float or 3 floats
        World units a voxel.
    **options
        tile (voxels a side of a part); rule, classifier, lower, ...: as tsr_region_options, of winding numbers: by default those that are above 0.

    Returns
    -------
    RegionTree, Report
        triangles, boundary_edges, boundary_loops (0: the mesh is closed), misoriented_edges.

    Examples
    --------
    >>> import tessera as ts
    >>> ball = ts.surface(ts.shape("sphere", radius=5, spacing=0.5))
    >>> tree, told = ts.octree_of_mesh(ball, 0.25)
    >>> told.boundary_edges, bool(abs(tree.cubes()["voxels"].sum() * 0.25**3 / ball.measure().volume - 1) < 0.01)
    (0, True)
    """
    body, owner = on_context(as_mesh(mesh))
    size, grid = _lattice(body, spacing, origin, margin)
    told, plain = _core.begun("tsr_winding_report"), ffi.new("tsr_region_tree **")
    tile = options.pop("tile", 0)
    rules, kept = _core.options("tsr_region_options", {"rule": "classes", "classifier": "range", "lower": 1.0, "upper": np.inf, **options})
    with Progressed(progress) as p, owner.lock:
        tiling, held = _core.options("tsr_region_tiling", {"tile": tile}, p)
        p.check(lib.tsr_region_tree_from_mesh(owner._pointer, body._pointer, size, grid, rules, tiling, plain, ffi.NULL, told))
    del kept, held
    return RegionTree._of_plain(plain), _core.report(told)


def triangle_octree(
    mesh: Any, spacing: Union[float, Sequence[float]] = 1.0, *, origin: Sequence[float] = (0.0, 0.0, 0.0), margin: int = 1, progress: Progress = None, **options: Any
) -> "tuple[RegionTree, NDArray[np.uint64], NDArray[np.uint32]]":
    """An octree of the triangles of a mesh, refined where they crowd: which may be met where.

    Parameters
    ----------
    spacing : float or 3 floats
        World units of the finest cell.
    **options
        most (triangles that a leaf may hold; 1), voxels, centres: as tsr_triangle_tree_options.

    Returns
    -------
    RegionTree
    starts (leaves + 1,), triangles
        Those of leaf k are triangles[starts[k]:starts[k + 1]].

    Examples
    --------
    >>> import tessera as ts
    >>> ball = ts.surface(ts.shape("sphere", radius=5, spacing=1))
    >>> tree, starts, triangles = ts.triangle_octree(ball, 0.25, most=8)
    >>> len(starts) == tree.describe().leaves + 1, len(set(triangles.tolist())) == len(ball.triangles)
    (True, True)
    """
    body, owner = on_context(as_mesh(mesh))
    size, grid = _lattice(body, spacing, origin, margin)
    made, lists = ffi.new("tsr_region_tree **"), ffi.new("tsr_triangle_lists *")
    with Progressed(progress) as p, host_only(owner).lock:
        values, kept = _core.options("tsr_triangle_tree_options", options, p)
        try:
            p.check(lib.tsr_region_tree_from_triangles(owner._pointer, body._pointer, size, grid, values, made, lists))
            starts = np.frombuffer(ffi.buffer(lists.starts, (int(lists.leaves) + 1) * 8), np.uint64).copy() if lists.starts else np.zeros(1, np.uint64)
            found = np.frombuffer(ffi.buffer(lists.triangles, int(lists.pairs) * 4), np.uint32).copy() if lists.pairs else np.zeros(0, np.uint32)
        finally:
            lib.tsr_triangle_lists_destroy(lists)
    del kept
    return RegionTree._of(made, owner), starts, found


def host_only(owner: _core.Context) -> _core.Context:
    """The same, of results that NumPy takes."""
    if not owner.on_host:
        raise TypeError("the mesh lies on a GPU: copy it to the CPU first")
    return owner


def surface_points(mesh: Any, spacing: Union[float, Sequence[float]] = 1.0, *, normals: bool = False, origin: Sequence[float] = (0.0, 0.0, 0.0), margin: int = 1, progress: Progress = None) -> Points:
    """The surface voxels of a mesh as a cloud: a point in each, so that no place of the surface is far from one, whatever the triangles are like.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> cloud = ts.surface_points(ts.surface(ts.shape("sphere", radius=5, spacing=1)), 0.5, normals=True)
    >>> bool(np.abs(np.linalg.norm(cloud.positions, axis=1) - 5).max() < 0.6), cloud.normals.shape == cloud.positions.shape
    (True, True)
    """
    body, owner = on_context(as_mesh(mesh))
    size, grid = _lattice(body, spacing, origin, margin)
    made = ffi.new("tsr_points **")
    with Progressed(progress) as p, owner.lock:
        values, kept = _core.options("tsr_triangle_tree_options", {"voxels": True}, p)
        p.check(lib.tsr_points_from_surface(owner._pointer, body._pointer, size, grid, values, int(normals), made))
    del kept
    return Points._of(made, owner)


class RegionMerge(Object):
    """Tiles of 2^level voxels a side, each added by itself, merged to one octree (dimensions=2: quadtree): of volumes that grow, or in parts of different resolution.

    Parameters
    ----------
    level : int
    dimensions : int
        2 or 3.
    **options
        rule ("spread"), threshold, ...: as tsr_region_options.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> v = np.zeros((8, 16, 24), np.uint8); v[:, 3:10, 8:] = 1
    >>> merge = ts.RegionMerge(3)
    >>> for y in range(2):
    ...     for x in range(3):
    ...         merge.add(v[:, 8 * y : 8 * y + 8, 8 * x : 8 * x + 8], (x, y, 0))
    >>> merge.tree((8, 16, 24)).describe().leaves == ts.octree(v).describe().leaves, merge.describe().tiles
    (True, 6)
    """

    _kind = "tsr_region_merge"
    _destroy = "tsr_region_merge_destroy"

    def __init__(self, level: int, dimensions: int = 3, **options: Any) -> None:
        self._level, self._given = int(level), {"rule": "spread", **options, "dimensions": int(dimensions)}
        values, kept = _core.options("tsr_region_options", self._given)
        made = ffi.new("tsr_region_merge **")
        check(lib.tsr_region_merge_create(values, self._level, made))
        super().__init__(made[0], None)
        del kept

    def add(self, volume: "VolumeLike", tile: Sequence[int], *, shift: int = 0) -> None:
        """Adds tile (x, y, z), which covers the voxels from 2^level times it; its volume is sampled 2^shift times coarser."""
        body, owner = on_context(as_volume(volume))
        values, kept = _core.options("tsr_region_options", {**self._given, "top": self._level - int(shift)})
        place = [int(v) for v in tile]
        if len(place) != 3:
            raise ValueError(f"tile: {len(place)} numbers, expected 3 (x, y, z)")
        pyramid = ffi.new("tsr_region_pyramid **")
        with owner.lock:
            check(lib.tsr_region_pyramid_create(owner._pointer, lib.tsr_volume_size(body._pointer), values, pyramid))
            try:
                check(lib.tsr_region_pyramid_build(pyramid[0], ffi.new("tsr_volume *[1]", [body._pointer]), 1))
                check(lib.tsr_region_merge_add(self._pointer, pyramid[0], place, int(shift), ffi.NULL, 0))
            finally:
                lib.tsr_region_pyramid_destroy(pyramid)
        del kept

    def describe(self) -> Report:
        """tiles, leaves, nodes, bytes."""
        return _core.report(lib.tsr_region_merge_describe(self._pointer))

    def tree(self, shape: Sequence[int], first: Sequence[int] = (0, 0, 0)) -> RegionTree:
        """The tree of the volume (z, y, x) that begins at tile `first` (x, y, z). More may be added later, and the tree be made again."""
        size, plain = [int(n) for n in reversed(list(shape))], ffi.new("tsr_region_tree **")
        check(lib.tsr_region_merge_tree(self._pointer, [int(v) for v in first], ffi.new("tsr_size3 *", [*size, 1][:3])[0], ffi.NULL, plain, ffi.NULL))
        return RegionTree._of_plain(plain)
