"""What lies in the coefficients of `dwt`; transforms from file to file and over several devices."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Iterable, Optional, Sequence, Union

import numpy as np

from . import _core
from ._core import Context, Object, Progress, Progressed, Report, check, ffi, lib
from ._inputs import as_volume, on_context
from ._arrays import dtype_number
from ._objects import Image, Volume
from ._volumes import wavelet_options

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike, NDArray

    PathLike = Union[str, "os.PathLike[str]"]


def _on_host(coefficients: Volume) -> Volume:
    body = as_volume(coefficients)
    return body if body.on_host else body.to("cpu")


def wavelet_bands(coefficients: Volume) -> list[Report]:
    """The bands of coefficients that `dwt` made: the approximation, then those of the coarsest level, up to those of the finest.

    Returns
    -------
    list of Report
        array (z, y, x), a view of the coefficients; level (1: the finest), high (along which axes, such as "xz"; "": the approximation), weight (L2 norm of what a
        coefficient of 1 becomes), count, zeros, minimum, maximum, mean, variance, energy.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> bands = ts.wavelet_bands(ts.dwt(np.arange(64.0).reshape(1, 8, 8), "haar", levels=1))
    >>> [(b.high, b.array.shape) for b in bands]
    [('', (1, 4, 4)), ('x', (1, 4, 4)), ('y', (1, 4, 4)), ('xy', (1, 4, 4))]
    """
    body, room = _on_host(coefficients), 512
    made, count = ffi.new("tsr_wavelet_statistics[]", room), ffi.new("int32_t *")
    check(lib.tsr_wavelet_volume_statistics(body._pointer, made, room, count))
    flat, found = body.array.reshape(-1), []
    for k in range(int(count[0])):
        band = made[k].band
        size, stride = [int(band.size[a]) or 0 for a in (2, 1, 0)], [int(band.stride[a]) * flat.itemsize for a in (2, 1, 0)]
        view = np.lib.stride_tricks.as_strided(flat[int(band.offset) :], size, stride) if all(size) else np.zeros(size, flat.dtype)
        numbers = {n: getattr(made[k], n) for n in ("count", "zeros", "minimum", "maximum", "mean", "variance", "energy")}
        high = "".join(name for a, name in enumerate("xyz") if band.high >> a & 1)
        found.append(Report({"array": view, "level": int(band.level), "high": high, "weight": float(band.weight), **numbers}))
    return found


def wavelet_keep(coefficients: Volume, keep: float = 0.0, *, cut: float = 0.0, soft: bool = False, progress: Progress = None) -> tuple[Volume, Report]:
    """The coefficients that matter most, the others 0: `keep` percent of all, or those whose weighted magnitude is `cut` or more.

    Parameters
    ----------
    coefficients : Volume
        Of `dwt`; it stays as it is.
    soft : bool
        With cut: details move towards 0 by it.

    Returns
    -------
    Volume, Report
        coefficients, kept, nonzero, least.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> c, told = ts.wavelet_keep(ts.dwt(np.random.default_rng(1).random((8, 8, 8), np.float32), "daub97"), 10)
    >>> told.kept, int((c.array != 0).sum())
    (51, 51)
    """
    body, owner = on_context(as_volume(coefficients))
    made, info = body.copy(), _core.begun("tsr_wavelet_keep_info")
    with Progressed(progress) as p, owner.lock:
        values, kept = _core.options("tsr_wavelet_keep_options", {"keep": keep, "cut": cut, "soft": soft}, p)
        p.check(lib.tsr_wavelet_volume_keep(owner._pointer, made._pointer, values, info))
    del kept
    return made, _core.report(info)


def wavelet_mosaic(coefficients: Volume, z: int = 0) -> Image:
    """A picture of slice z of coefficients in layout "mallat": the approximation, and details round grey.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> ts.wavelet_mosaic(ts.dwt(np.random.default_rng(1).random((8, 12, 16)))).array.shape
    (12, 16, 1)
    """
    made = ffi.new("tsr_image *")
    check(lib.tsr_wavelet_mosaic(_on_host(coefficients)._pointer, int(z), made))
    return Image._taken(made)


def wavelet_steps(filter: Union[str, int]) -> str:
    """The lifting steps of a filter as text, which `dwt(..., "custom", steps=text)` takes: PARITY SIGN FIRST ROUNDING SHIFT RULE TAP..., ';' between steps.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> ts.wavelet_steps("legall53")
    '1 -1 -1 1 1 sum 1 1; 0 1 -1 2 2 sum 1 1'
    >>> x = np.arange(8, dtype=np.int16)
    >>> bool((ts.dwt(x, "custom", steps=ts.wavelet_steps("jpeg53")).array == ts.dwt(x, "jpeg53").array).all())
    True
    """
    steps, text = ffi.new("tsr_wavelet_step[]", lib.TSR_WAVELET_STEPS), ffi.new("char[4096]")
    count = lib.tsr_wavelet_filter_steps(_core.enum("tsr_wavelet_filter", filter), steps, ffi.NULL)
    lib.tsr_wavelet_steps_print(steps, count, text, 4096)
    return str(ffi.string(text).decode())


def wavelet_levels(shape: Sequence[int]) -> int:
    """How many levels a transform of an array of this shape can have: until every axis is of length 1.

    Examples
    --------
    >>> import tessera as ts
    >>> ts.wavelet_levels((100, 64, 5))
    7
    """
    size = [int(n) for n in reversed(list(shape))]
    return int(lib.tsr_wavelet_levels_possible(len(size), size, 0))


def _file_options(read: dict[str, Any], overwrite: bool, p: Progressed) -> tuple[Any, Any, list[Any]]:
    first, kept = _core.options("tsr_read_options", read, p)
    second, held = _core.options("tsr_write_options", {"overwrite": overwrite})
    return first, second, [*kept, *held]


def dwt_file(
    source: "PathLike", path: "PathLike", filter: Union[str, int] = "legall53", *, dtype: Any = None, memory_limit: int = 0, overwrite: bool = True, progress: Progress = None, **options: Any
) -> Report:
    """`dwt` of a file that may be larger than memory, into another that keeps metadata (.nrrd, .mhd, ...): the same coefficients.

    Returns
    -------
    Report
        parts, slices, memory_bytes.

    Examples
    --------
    >>> import numpy as np, tessera as ts, tempfile, os
    >>> x = np.random.default_rng(1).integers(0, 255, (9, 10, 11)).astype(np.uint8)
    >>> with tempfile.TemporaryDirectory() as d:
    ...     a, b, c = (os.path.join(d, n) for n in ("a.nrrd", "b.nrrd", "c.nrrd"))
    ...     ts.write(x, a)
    ...     _ = ts.dwt_file(a, b, "dd97", levels=2), ts.idwt_file(b, c)
    ...     bool((ts.read(c).array == x).all()), bool((ts.read(b).array == ts.dwt(x, "dd97", levels=2).array).all())
    (True, True)
    """
    owner, info = _core.context(), _core.begun("tsr_wavelet_file_info")
    values, kept = wavelet_options(filter, options)
    with Progressed(progress) as p, owner.lock:
        first, second, held = _file_options({"memory_limit": memory_limit}, overwrite, p)
        number = lib.TSR_DTYPE_COUNT if dtype is None else dtype_number(dtype)
        p.check(lib.tsr_file_dwt(owner._pointer, os.fsencode(source), first, values, number, os.fsencode(path), second, info))
    del kept, held
    return _core.report(info)


def idwt_file(source: "PathLike", path: "PathLike", *, memory_limit: int = 0, overwrite: bool = True, progress: Progress = None) -> Report:
    """`idwt` of a file of coefficients, into another.

    Examples
    --------
    >>> import tessera as ts
    >>> ts.idwt_file("no-such-file.nrrd", "a.nrrd")
    Traceback (most recent call last):
    ...
    tessera._core.FileError: ...
    """
    owner, info = _core.context(), _core.begun("tsr_wavelet_file_info")
    with Progressed(progress) as p, owner.lock:
        first, second, held = _file_options({"memory_limit": memory_limit}, overwrite, p)
        p.check(lib.tsr_file_idwt(owner._pointer, os.fsencode(source), first, os.fsencode(path), second, info))
    del held
    return _core.report(info)


class WaveletDomain(Object):
    """One transform over several devices: the array is cut along its first axis, and parts exchange what the filter reaches. The coefficients are those of one.

    Parameters
    ----------
    shape : (z, y, x) or (y, x)
    dtype : int16, int32, float32 or float64
    filter : str
    contexts : iterable of Context, optional
        One part each; they may be of one device. None: the current one.
    **options
        levels, boundary, axes, ...: as tsr_wavelet_options; layout "mallat".

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> x = np.random.default_rng(1).random((40, 9, 10)).astype(np.float32)
    >>> domain = ts.WaveletDomain(x.shape, x.dtype, "daub97", [ts.Context("cpu", 1), ts.Context("cpu", 1)], levels=2)
    >>> c = domain.forward(x)
    >>> bool((c == ts.dwt(x, "daub97", levels=2).array).all()), bool(np.abs(domain.inverse(c) - x).max() < 1e-5)
    (True, True)
    >>> [(part.begin, part.end) for part in domain.parts]
    [(0, 20), (20, 40)]
    """

    _kind = "tsr_wavelet_domain"
    _destroy = "tsr_wavelet_domain_destroy"

    def __init__(self, shape: Sequence[int], dtype: "DTypeLike", filter: Union[str, int] = "legall53", contexts: Optional[Iterable[Context]] = None, **options: Any) -> None:
        self._listed = [_core.context()] if contexts is None else list(contexts)
        if not self._listed:
            raise ValueError("no context, expected one or more")
        self._shape, self._dtype = tuple(int(n) for n in shape), np.dtype(dtype)
        if not 1 <= len(self._shape) <= 3:
            raise ValueError(f"shape of {len(self._shape)} axes, expected 1 to 3")
        values, kept = wavelet_options(filter, options)
        made = ffi.new("tsr_wavelet_domain **")
        check(
            lib.tsr_wavelet_domain_create(
                ffi.new("tsr_context *[]", [c._pointer for c in self._listed]),
                len(self._listed),
                ffi.NULL,
                dtype_number(self._dtype),
                len(self._shape),
                ffi.new("int64_t[]", list(reversed(self._shape))),
                values,
                made,
            )
        )
        super().__init__(made[0], self._listed[0], *self._listed)
        del kept

    @property
    def parts(self) -> list[Report]:
        """Of each context: axis (x is 0), begin and end of its samples, elements, halo, exchanged_bytes."""
        found = []
        for k in range(len(self._listed)):
            about = ffi.new("tsr_wavelet_part *")
            check(lib.tsr_wavelet_domain_part(self._pointer, k, about))
            found.append(_core.report(about))
        return found

    def _pieces(self, begins: "list[NDArray[Any]]") -> "list[Optional[Volume]]":
        """A volume for each part on its device, of flat arrays; None for those that are empty."""
        made = [Volume(a) if a.size else None for a in begins]
        return [v if v is None or c.on_host else v.to(c) for v, c in zip(made, self._listed)]

    def _run(self, function: str, begins: "list[NDArray[Any]]") -> "list[NDArray[Any]]":
        given, taken = self._pieces(begins), self._pieces([np.zeros_like(a) for a in begins])
        data = [[ffi.NULL if v is None else lib.tsr_volume_data(v._pointer) for v in volumes] for volumes in (given, taken)]
        check(getattr(lib, function)(self._pointer, ffi.new("void *[]", data[0]), ffi.new("void *[]", data[1])))
        return [np.zeros(0, self._dtype) if v is None else (v if v.on_host else v.to("cpu")).array.reshape(-1) for v in taken]

    def _checked(self, array: "ArrayLike", name: str) -> "NDArray[Any]":
        made = np.ascontiguousarray(array)
        if made.shape != self._shape or made.dtype != self._dtype:
            raise ValueError(f"{name} of shape {made.shape} and {made.dtype}, expected {self._shape} and {self._dtype}")
        return made

    def _place(self, part: int, some: "NDArray[Any]", whole: "NDArray[Any]", store: bool) -> None:
        if some.size:
            check(lib.tsr_wavelet_domain_place(self._pointer, part, ffi.cast("void *", some.ctypes.data), ffi.cast("void *", whole.ctypes.data), int(store)))

    def forward(self, samples: "ArrayLike") -> "NDArray[Any]":
        """The coefficients of an array of the domain's shape and type."""
        array = self._checked(samples, "samples")
        axis = len(self._shape) - 1 - int(self.parts[0].axis)
        cut = [np.ascontiguousarray(array.take(range(p.begin, p.end), axis)).reshape(-1) for p in self.parts]
        made = np.zeros(self._shape, self._dtype)
        for k, some in enumerate(self._run("tsr_wavelet_domain_forward", cut)):
            self._place(k, some, made, True)
        return made

    def inverse(self, coefficients: "ArrayLike") -> "NDArray[Any]":
        """The array back."""
        whole, parts = self._checked(coefficients, "coefficients").copy(), self.parts
        some = [np.zeros(p.elements, self._dtype) for p in parts]
        for k, place in enumerate(some):
            self._place(k, place, whole, False)
        axis = len(self._shape) - 1 - int(parts[0].axis)
        made = []
        for p, flat in zip(parts, self._run("tsr_wavelet_domain_inverse", some)):
            shape = list(self._shape)
            shape[axis] = p.end - p.begin
            made.append(flat.reshape(shape))
        return np.concatenate(made, axis)
