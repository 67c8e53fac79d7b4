"""Reductions, scans, selections, sorts, gathers and scatters of arrays: the same bits with every number of threads, sums of floats included."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Sequence, Union

import numpy as np

from . import _core
from ._core import Context, Report, check, ffi, lib
from ._inputs import host_context
from ._arrays import dtype_number, prepare

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def _flat(values: "ArrayLike", name: str, kinds: str = "") -> "NDArray[Any]":
    """All elements one behind the other, of element types by their codes ("u1 u4"; empty: any)."""
    given = prepare(values, name)
    if kinds and given.dtype.str[1:] not in kinds.split():
        raise TypeError(f"{name}: elements of {given.dtype}, expected {', '.join(str(np.dtype(k)) for k in kinds.split())}")
    return np.ascontiguousarray(given).reshape(-1)


def _indices(values: "ArrayLike", name: str) -> "NDArray[Any]":
    """Indices as uint32 or uint64; those below 0 become such as lie outside of everything."""
    given = _flat(values, name)
    if given.dtype.kind == "f":
        raise TypeError(f"{name}: elements of {given.dtype}, expected whole numbers")
    return given if given.dtype in (np.uint32, np.uint64) else given.astype(np.int64).view(np.uint64)


def _place(array: "NDArray[Any]", kind: str = "void *") -> Any:
    return ffi.cast(kind, array.ctypes.data)


class _Work:
    """Memory for a call, aligned to 64 bytes."""

    def __init__(self, function: str, owner: Context, *arguments: Any) -> None:
        size = ffi.new("size_t *")
        check(getattr(lib, function)(owner._pointer, *arguments, size))
        self.bytes = int(size[0])
        self._memory = np.empty(self.bytes + 64, np.uint8)
        at = self._memory.ctypes.data
        self.pointer = ffi.cast("void *", at + -at % 64)


def _offsets(offsets: "ArrayLike", count: int) -> "NDArray[Any]":
    made = _indices(offsets, "offsets")
    if len(made) < 1 or int(made[-1]) > count or bool((made[1:] < made[:-1]).any()):
        raise ValueError(f"offsets: expected ascending numbers from 0 to {count}, one more than there are segments")
    return made


def _reduced(kind: "np.dtype[Any]") -> "np.dtype[Any]":
    return np.dtype({"u": np.uint64, "i": np.int64, "f": np.float64}[kind.kind])


def reduce(values: "ArrayLike", rule: str = "sum", *, offsets: Optional["ArrayLike"] = None) -> Any:
    """The sum, least ("min") or largest ("max") element of an array: of all, or of each segment offsets[k] <= i < offsets[k + 1] of it.

    Sums of integers are of 64 bits, of floats in float64 and in a fixed order: the same bits with any number of threads. min and max pass NaN over.

    Returns
    -------
    number, or with offsets an array of one for each segment

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> a = np.array([3, 1, 4, 1, 5], np.uint8)
    >>> int(ts.reduce(a)), int(ts.reduce(a, "max")), ts.reduce(a, offsets=[0, 2, 2, 5]).tolist()
    (14, 5, [4, 0, 10])
    """
    data, owner = _flat(values, "values"), host_context()
    number, kind = _core.enum("tsr_reduction", rule), _reduced(data.dtype)
    with owner.lock:
        if offsets is None:
            made = np.zeros(1, kind)
            check(lib.tsr_reduce_host(owner._pointer, number, dtype_number(data.dtype), _place(data), data.size, _place(made, "tsr_reduced *")))
            return made[0]
        ends = _offsets(offsets, data.size)
        made = np.zeros(len(ends) - 1, kind)
        work = _Work("tsr_segmented_reduce_workspace", owner, data.size, len(made))
        check(
            lib.tsr_segmented_reduce(
                owner._pointer, number, dtype_number(data.dtype), _place(data), data.size, dtype_number(ends.dtype), _place(ends), len(made), _place(made, "tsr_reduced *"), work.pointer, work.bytes
            )
        )
        owner.synchronize()
    return made


def scan(values: "ArrayLike", *, inclusive: bool = True, offsets: Optional["ArrayLike"] = None) -> "NDArray[np.uint64]":
    """Sums of the elements of an array up to each one, with it or (inclusive False) without it; with offsets anew in each segment.

    Parameters
    ----------
    values : array of bool, uint8, uint32 or uint64
    offsets : array, optional
        Segment k holds elements offsets[k] <= i < offsets[k + 1].

    Returns
    -------
    array of uint64 (n,)

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> ts.scan(np.array([1, 2, 3, 4], np.uint32), inclusive=False).tolist()
    [0, 1, 3, 6]
    >>> ts.scan(np.array([1, 2, 3, 4], np.uint32), offsets=[0, 2, 4]).tolist()
    [1, 3, 3, 7]
    """
    data, owner = _flat(values, "values", "u1 u4 u8"), host_context()
    made = np.zeros(data.size, np.uint64)
    kind = lib.TSR_SCAN_INCLUSIVE if inclusive else lib.TSR_SCAN_EXCLUSIVE
    with owner.lock:
        if offsets is None:
            work = _Work("tsr_scan_workspace", owner, data.size)
            check(lib.tsr_scan(owner._pointer, kind, dtype_number(data.dtype), _place(data), data.size, lib.TSR_U64, _place(made), work.pointer, work.bytes))
        else:
            ends = _offsets(offsets, data.size)
            work = _Work("tsr_segmented_scan_workspace", owner, data.size)
            check(
                lib.tsr_segmented_scan(
                    owner._pointer, kind, dtype_number(data.dtype), _place(data), data.size, ffi.NULL, dtype_number(ends.dtype), _place(ends), len(ends) - 1, lib.TSR_U64, _place(made), work.pointer, work.bytes
                )
            )
        owner.synchronize()
    return made


def segments(flags: "ArrayLike") -> "NDArray[np.uint64]":
    """Where segments begin, from flags that are not 0 at the first element of each: offsets for `reduce` and `scan`, the last one the end.

    Examples
    --------
    >>> import tessera as ts
    >>> ts.segments([True, False, True, False, False]).tolist()
    [0, 2, 5]
    """
    heads, owner = _flat(np.asarray(flags) != 0, "flags"), host_context()
    found, made = np.zeros(1, np.uint64), np.zeros(heads.size + 1, np.uint64)
    with owner.lock:
        work = _Work("tsr_segments_workspace", owner, heads.size)
        check(
            lib.tsr_segments_from_flags(owner._pointer, _place(heads, "uint8_t *"), heads.size, lib.TSR_U64, _place(made), heads.size, _place(found, "uint64_t *"), work.pointer, work.bytes)
        )
        owner.synchronize()
    return made[: int(found[0]) + 1].copy()


def select(values: "ArrayLike", *, lower: Optional[float] = None, upper: Optional[float] = None, flags: Optional["ArrayLike"] = None) -> "NDArray[Any]":
    """The elements that are kept, in order: indices of those that are not 0, or that lie from lower to upper; or with flags the values themselves whose flag is not 0.

    Parameters
    ----------
    values : array of bool, uint8, uint16 or float32; with flags of any type
        NaN is not kept.
    lower, upper : float, optional
        Both ends count.
    flags : array, optional

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> a = np.array([0, 7, 0, 9], np.uint8)
    >>> ts.select(a).tolist(), ts.select(a, lower=8).tolist(), ts.select(a, flags=[1, 0, 0, 1]).tolist()
    ([1, 3], [3], [0, 9])
    """
    owner, found = host_context(), np.zeros(1, np.uint64)
    data = _flat(values, "values", "" if flags is not None else "u1 u2 f4")
    with owner.lock:
        work = _Work("tsr_select_workspace", owner, data.size)
        if flags is not None:
            if lower is not None or upper is not None:
                raise ValueError("flags are given beside lower or upper, expected one way to choose")
            kept = _flat(np.asarray(flags) != 0, "flags")
            if kept.size != data.size:
                raise ValueError(f"flags: {kept.size} elements, expected {data.size}, as many as values")
            made: "NDArray[Any]" = np.empty_like(data)
            check(
                lib.tsr_select_values(owner._pointer, _place(kept, "uint8_t *"), _place(data), data.itemsize, data.size, _place(made), data.size, _place(found, "uint64_t *"), work.pointer, work.bytes)
            )
        else:
            made = np.empty(data.size, np.uint64)
            keep = _predicate(lower, upper)
            check(
                lib.tsr_select_indices(owner._pointer, keep, dtype_number(data.dtype), _place(data), data.size, lib.TSR_U64, _place(made), data.size, _place(found, "uint64_t *"), work.pointer, work.bytes)
            )
        owner.synchronize()
    return made[: int(found[0])].copy()


def _predicate(lower: Optional[float], upper: Optional[float]) -> Any:
    inside = lower is not None or upper is not None
    return ffi.new(
        "tsr_predicate *",
        {"kind": lib.TSR_KEEP_RANGE if inside else lib.TSR_KEEP_NONZERO, "lower": -np.inf if lower is None else float(lower), "upper": np.inf if upper is None else float(upper)},
    )[0]


def count(values: "ArrayLike", *, lower: Optional[float] = None, upper: Optional[float] = None) -> int:
    """How many elements of uint8, uint16 or float32 `select` keeps.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> ts.count(np.arange(10, dtype=np.uint16), lower=3, upper=5)
    3
    """
    data, owner, found = _flat(values, "values", "u1 u2 f4"), host_context(), ffi.new("int64_t *")
    with owner.lock:
        check(lib.tsr_count_host(owner._pointer, _predicate(lower, upper), dtype_number(data.dtype), _place(data), data.size, found))
    return int(found[0])


def sort(keys: "ArrayLike", payload: Optional["ArrayLike"] = None, *, bits: Sequence[int] = (0, 0)) -> Any:
    """Keys of uint32 or uint64 in ascending order; elements with equal keys stay in theirs.

    Parameters
    ----------
    keys : array (n,)
    payload : array (n,) of uint32, optional
        Goes with the keys.
    bits : (first, last)
        Only these bits of the keys count, last one past; (0, 0): all.

    Returns
    -------
    array, or with payload (keys, payload)

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> keys, places = ts.sort(np.array([30, 10, 20], np.uint32), np.arange(3))
    >>> keys.tolist(), places.tolist()
    ([10, 20, 30], [1, 2, 0])
    """
    data, owner = _flat(keys, "keys", "u4 u8"), host_context()
    made = np.empty_like(data)
    first, last = (int(b) for b in bits)
    beside = moved = None
    if payload is not None:
        beside = np.ascontiguousarray(payload, np.uint32).reshape(-1)
        if beside.size != data.size:
            raise ValueError(f"payload: {beside.size} elements, expected {data.size}, as many as keys")
        moved = np.empty_like(beside)
    with owner.lock:
        work = _Work("tsr_sort_workspace", owner, dtype_number(data.dtype), int(beside is not None), data.size)
        check(
            lib.tsr_sort(
                owner._pointer,
                dtype_number(data.dtype),
                _place(data),
                _place(made),
                ffi.NULL if beside is None else _place(beside, "uint32_t *"),
                ffi.NULL if moved is None else _place(moved, "uint32_t *"),
                data.size,
                first,
                last or data.itemsize * 8,
                work.pointer,
                work.bytes,
            )
        )
        owner.synchronize()
    return made if moved is None else (made, moved)


def gather(values: "ArrayLike", indices: "ArrayLike", outside: float = 0) -> "NDArray[Any]":
    """values[indices], and `outside` where an index is below 0 or beyond the end.

    Examples
    --------
    >>> import tessera as ts
    >>> ts.gather([10, 20, 30], [2, 0, -1, 9], outside=5).tolist()
    [30, 10, 5, 5]
    """
    data, where, owner = _flat(values, "values"), _indices(indices, "indices"), host_context()
    made, other = np.empty(where.size, data.dtype), np.array([outside], data.dtype)
    with owner.lock:
        check(lib.tsr_gather(owner._pointer, _place(data), data.itemsize, data.size, dtype_number(where.dtype), _place(where), where.size, _place(other), _place(made)))
        owner.synchronize()
    return made.reshape(np.shape(indices))


def scatter(values: "ArrayLike", indices: "ArrayLike", out: Union[int, "ArrayLike"], rule: str = "exclusive") -> "tuple[NDArray[Any], Report]":
    """Puts values[i] at out[indices[i]], by a rule that says what stays where indices meet.

    Parameters
    ----------
    values : array (n,)
    indices : array (n,)
        Those outside of `out` are left out, and counted.
    out : int or array
        How many elements the result has (0 where no index points), or what it begins as: a copy is changed.
    rule : str
        "exclusive" (indices that meet are an error), "common" (values that differ are), "arbitrary", "first", "last"; "sum", "min" or "max" combine the values with
        what is there, of floats in a fixed order (values of 32 or 64 bits).

    Returns
    -------
    array, Report
        outside, conflicts, ... (of the rules up to "last").

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> ts.scatter(np.array([1, 2, 3], np.int32), [3, 0, 3], 5, "last")[0].tolist()
    [2, 0, 0, 3, 0]
    >>> ts.scatter(np.array([1, 2, 3], np.int32), [3, 0, 3], 5, "sum")[0].tolist()
    [2, 0, 0, 4, 0]
    """
    data, where, owner = _flat(values, "values"), _indices(indices, "indices"), host_context()
    if data.size != where.size:
        raise ValueError(f"values: {data.size} elements, expected {where.size}, as many as indices")
    made = np.zeros(int(out), data.dtype) if isinstance(out, (int, np.integer)) else np.array(out, data.dtype).reshape(-1)
    number, told = _core.enum("tsr_scatter_rule", rule), np.zeros(4, np.uint64)
    with owner.lock:
        if number >= lib.TSR_SCATTER_SUM:
            work = _Work("tsr_scatter_combine_workspace", owner, dtype_number(data.dtype), dtype_number(where.dtype), data.size, made.size)
            check(
                lib.tsr_scatter_combine(
                    owner._pointer, number, dtype_number(data.dtype), _place(data), dtype_number(where.dtype), _place(where), data.size, _place(made), made.size, work.pointer, work.bytes
                )
            )
            owner.synchronize()
            return made, Report({"outside": int((where >= made.size).sum())})
        work = _Work("tsr_scatter_workspace", owner, made.size)
        report = _place(told, "tsr_scatter_report *")
        check(
            lib.tsr_scatter(
                owner._pointer, number, _place(data), data.itemsize, dtype_number(where.dtype), _place(where), data.size, _place(made), made.size, report, work.pointer, work.bytes
            )
        )
        host = ffi.new("tsr_scatter_report *")
        check(lib.tsr_scatter_check(owner._pointer, report, host))
    return made, _core.report(host)


def invert(indices: "ArrayLike", size: int) -> "tuple[NDArray[np.uint64], NDArray[np.uint32]]":
    """The inverse of a list of indices: which i have indices[i] == j, as starts (size + 1,) and sources: sources[starts[j]:starts[j + 1]], ascending.

    Examples
    --------
    >>> import tessera as ts
    >>> starts, sources = ts.invert([2, 0, 2], 3)
    >>> starts.tolist(), sources.tolist()
    ([0, 1, 1, 3], [1, 0, 2])
    """
    where, owner = _indices(indices, "indices"), host_context()
    starts, sources = np.zeros(int(size) + 1, np.uint64), np.zeros(where.size, np.uint32)
    with owner.lock:
        work = _Work("tsr_invert_workspace", owner, dtype_number(where.dtype), where.size)
        check(
            lib.tsr_invert(
                owner._pointer, dtype_number(where.dtype), _place(where), where.size, int(size), _place(starts, "uint64_t *"), _place(sources, "uint32_t *"), work.pointer, work.bytes
            )
        )
        owner.synchronize()
    return starts, sources


def joint_histogram(*values: "ArrayLike", bins: Sequence[int], range: Sequence[Sequence[float]], weights: Optional["ArrayLike"] = None, fraction_bits: int = 20) -> "NDArray[np.float64]":
    """How many elements (or the sum of their weights) have the first value in a bin, and the second, and the third: of 1 to 3 arrays of one size.

    Parameters
    ----------
    *values : arrays of uint8, uint16 or float32
    bins : ints
        Of each array.
    range : pairs of floats
        Of each array: lower <= value < upper; others and NaN are left out.
    weights : array of float32, optional
        Taken to the nearest multiple of 2^-fraction_bits, so that the sums do not depend on an order.

    Returns
    -------
    array of float64
        The first array's bins first, as numpy.histogramdd.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> a, b = np.array([0, 0, 1, 3], np.uint8), np.array([1, 1, 0, 1], np.uint8)
    >>> ts.joint_histogram(a, b, bins=(2, 2), range=[(0, 4), (0, 2)]).tolist()
    [[1.0, 2.0], [0.0, 1.0]]
    """
    if not 1 <= len(values) <= 3 or len(bins) != len(values) or len(range) != len(values):
        raise ValueError(f"{len(values)} arrays, {len(bins)} bins and {len(range)} ranges, expected 1 to 3 of each")
    owner = host_context()
    data = [_flat(v, f"values[{k}]", "u1 u2 f4") for k, v in enumerate(values)]
    given = None if weights is None else np.ascontiguousarray(weights, np.float32).reshape(-1)
    for name, array in [(f"values[{k}]", d) for k, d in enumerate(data)] + ([] if given is None else [("weights", given)]):
        if array.size != data[0].size:
            raise ValueError(f"{name}: {array.size} elements, expected {data[0].size}, as many as values[0]")
    axes = ffi.new("tsr_histogram_axis[]", len(data))
    for axis, d, n, (lower, upper) in zip(axes, data, bins, range):
        axis.dtype, axis.data, axis.lower, axis.upper, axis.bins = dtype_number(d.dtype), _place(d), float(lower), float(upper), int(n)
    made = np.zeros([int(n) for n in reversed(bins)], np.int64)
    bits = 0 if given is None else int(fraction_bits)
    with owner.lock:
        check(lib.tsr_histogram_joint(owner._pointer, axes, len(data), data[0].size, ffi.NULL if given is None else _place(given, "float *"), bits, _place(made, "int64_t *")))
        owner.synchronize()
    return np.asarray(made.T * 2.0**-bits, np.float64)


def matrix(dense: "ArrayLike", tolerance: float = 0.0) -> "tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[Any]]":
    """A dense matrix (rows, columns) in compressed rows: starts, columns and values of its entries beyond the tolerance, as scipy.sparse.csr_matrix takes them
    (in the order values, columns, starts).

    Examples
    --------
    >>> import tessera as ts
    >>> starts, columns, values = ts.matrix([[0.0, 2.0], [3.0, 0.0], [0.0, 0.0]])
    >>> starts.tolist(), columns.tolist(), values.tolist()
    ([0, 1, 2, 2], [1, 0], [2.0, 3.0])
    """
    from ._objects import Volume

    given = prepare(dense, "dense")
    if given.ndim != 2 or given.size == 0:
        raise ValueError(f"dense of shape {given.shape}, expected (rows, columns)")
    owner, made = host_context(), ffi.new("tsr_matrix *")
    body = Volume(np.ascontiguousarray(given))
    with owner.lock:
        try:
            check(lib.tsr_matrix_from_dense(owner._pointer, body._pointer, float(tolerance), made))
            starts, columns = _taken(made.starts, made.rows + 1, np.uint64), _taken(made.columns, made.nonzeros, np.uint32)
            return starts, columns, _taken(made.values, made.nonzeros, given.dtype)
        finally:
            lib.tsr_matrix_destroy(made)


def _taken(pointer: Any, count: int, kind: Any) -> "NDArray[Any]":
    return np.frombuffer(ffi.buffer(pointer, int(count) * np.dtype(kind).itemsize), kind).copy() if count else np.zeros(0, kind)
