"""A function of your own in C over every element of volumes, on the CPU or a GPU."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Optional, Sequence, Union

import numpy as np

from . import _core
from ._core import check, ffi, lib
from ._inputs import as_volume, on_context
from ._arrays import DTYPES
from ._objects import Volume

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from ._inputs import VolumeLike

    PathLike = Union[str, "os.PathLike[str]"]


class Map:
    """A function of tessera/map.h, compiled as a module: called with volumes, it gives volumes.

    Parameters
    ----------
    path : str or path
        Of the module, with .so or without.
    data : bytes or array
        The struct that the function reads as `data`, such as an array of one structured element of NumPy.

    Examples
    --------
    >>> import tessera as ts
    >>> ts.Map("no-such-map.so")
    Traceback (most recent call last):
    ...
    tessera._core.FileError: ...
    """

    def __init__(self, path: "PathLike", data: Any = b"") -> None:
        self._context = _core.context()
        self._data = np.frombuffer(bytes(data) if isinstance(data, (bytes, bytearray)) else np.ascontiguousarray(data).tobytes(), np.uint8).copy()
        self._room = ffi.new("uint64_t[]", max(1, -(-self._data.size // 8)))
        ffi.memmove(self._room, ffi.from_buffer(self._data), self._data.size)
        self._map = ffi.new("tsr_map *")
        check(lib.tsr_map_load(self._context._pointer, os.fsencode(path), self._data.size, self._map))
        self._map.data = self._room

    @property
    def inputs(self) -> "list[Optional[np.dtype[Any]]]":
        """Element types of the inputs; None: any."""
        return self._types(0, int(self._map.module.inputs))

    @property
    def outputs(self) -> "list[Optional[np.dtype[Any]]]":
        """Element types of the outputs."""
        first = int(self._map.module.inputs)
        return self._types(first, first + int(self._map.module.outputs))

    def _types(self, first: int, end: int) -> "list[Optional[np.dtype[Any]]]":
        numbers = [int(self._map.module.types[k]) for k in range(first, end)]
        return [None if n < 0 else np.dtype(DTYPES[n]) for n in numbers]

    @property
    def classifier(self) -> int:
        """The largest multiplicity, if it is a rule for `HistoPyramid` (classifier="user", user=this map); else 0."""
        return int(self._map.module.most)

    def __call__(self, *inputs: "VolumeLike", size: Optional[Sequence[int]] = None) -> Union[Volume, list[Volume]]:
        """One pass over a domain of `size` (x, y, z; None: that of the first input): a volume, or a list of as many as there are outputs."""
        kinds = self.inputs
        if len(inputs) != len(kinds):
            raise TypeError(f"{len(inputs)} inputs, expected {len(kinds)}")
        bodies = []
        for k, (given, kind) in enumerate(zip(inputs, kinds)):
            body = as_volume(given)
            if kind is not None and body.dtype != kind:
                raise TypeError(f"inputs[{k}]: elements of {body.dtype}, expected {kind}")
            bodies.append(body if body.on_host and self._context.on_host else body.to(self._context))
        if size is None and not bodies:
            raise ValueError("no input, expected size (x, y, z)")
        extents = tuple(reversed(bodies[0].shape)) if size is None else tuple(int(n) for n in size)
        if len(extents) != 3:
            raise ValueError(f"size of {len(extents)} numbers, expected 3 (x, y, z)")
        made = [Volume(np.zeros(extents[::-1], kind or np.uint8), affine=bodies[0].affine if bodies else None) for kind in self.outputs]
        if not self._context.on_host:
            made = [on_context(m)[0] for m in made]
        with self._context.lock:
            check(
                lib.tsr_map_run(
                    self._context._pointer, self._map, ffi.new("tsr_size3 *", extents)[0], [b._pointer for b in bodies] or ffi.NULL, len(bodies), [m._pointer for m in made], len(made)
                )
            )
            self._context.synchronize()
        return made[0] if len(made) == 1 else made

    def __reduce__(self) -> Any:
        raise TypeError("tessera.Map cannot be copied or pickled: load the module again")

    def __repr__(self) -> str:
        said = [" ".join(str(k or "any") for k in kinds) for kinds in (self.inputs, self.outputs)]
        return f"<tessera.Map {said[0]} to {said[1]}>"
