"""Quadtrees and octrees of regions."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np

from . import _core
from ._core import Object, Report, check, ffi, lib
from ._files import contents, from_contents
from ._objects import Volume, dtype_number, rows
from ._inputs import as_volume, on_context

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
        plain, made, owner = ffi.new("tsr_region_tree **"), ffi.new("tsr_region_tree **"), _core.context("cpu")
        check(lib.tsr_region_tree_read(os.fsencode(path), values, plain, ffi.NULL))
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
