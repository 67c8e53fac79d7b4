"""How far two volumes, masks, label maps or meshes differ."""

from __future__ import annotations

from typing import Any, Optional

from . import _core
from ._core import Progress, Progressed, Report, ffi, lib
from ._inputs import as_mesh, as_volume
from ._interchange import coerce
from ._objects import Mesh


def compare(thing: Any, reference: Any, kind: Optional[str] = None, *, progress: Progress = None, **options: Any) -> Any:
    """How far something differs from a reference.

    Parameters
    ----------
    thing, reference : Volume, Mesh, array or object of another library
        Two of a kind, of host memory.
    kind : str, optional
        "masks" (Dice, Jaccard, surface distances; inside is what is not 0), "labels" (the same for each label), "volumes" (differences of values) or
        "meshes" (distances between surfaces). None: "meshes" for meshes, "masks" for bool arrays, else "volumes".
    **options
        ignore_geometry, tolerance, skip_distances: as tsr_compare_options.

    Returns
    -------
    Report; of "labels" a dict from label to Report

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> a, b = np.zeros((4, 4, 4), bool), np.zeros((4, 4, 4), bool)
    >>> a[:2] = True; b[:3] = True
    >>> ts.compare(a, b).dice
    0.8
    >>> ts.compare(np.arange(3.0), np.arange(3.0) + 0.5).maximum
    0.5
    """
    if kind not in (None, "masks", "labels", "volumes", "meshes"):
        raise ValueError(f"kind {kind!r}, expected 'masks', 'labels', 'volumes' or 'meshes'")
    given = [t if isinstance(t, tuple) else coerce(t, "any") for t in (thing, reference)]
    if kind is None:
        kind = "meshes" if isinstance(given[0], (Mesh, tuple)) else "masks" if all(getattr(t, "dtype", None) == bool for t in given) else "volumes"
    with Progressed(progress) as told:
        values, kept = _core.options("tsr_compare_options", options, told)
        if kind == "meshes":
            distances = ffi.new("tsr_surface_distances *")
            meshes = [as_mesh(t) for t in given]
            told.check(lib.tsr_compare_meshes(meshes[0]._pointer, meshes[1]._pointer, values, distances))
            return _core.report(distances)
        owner = _core.context("cpu")
        one, other = as_volume(given[0]), as_volume(given[1])
        with owner.lock:
            if kind == "labels":
                return _labels(owner, one, other, values, told)
            made = _core.begun("tsr_mask_comparison" if kind == "masks" else "tsr_volume_comparison")
            call = lib.tsr_compare_masks if kind == "masks" else lib.tsr_compare_volumes
            told.check(call(owner._pointer, one._pointer, other._pointer, values, made))
    del kept
    return _core.report(made)


def _labels(owner: Any, one: Any, other: Any, values: Any, told: Progressed) -> dict[int, Report]:
    found, count = ffi.new("tsr_label_comparison **"), ffi.new("int32_t *")
    told.check(lib.tsr_compare_labels(owner._pointer, one._pointer, other._pointer, values, found, count))
    try:
        return {int(found[0][k].value): _core.report(found[0][k].mask) for k in range(count[0])}
    finally:
        lib.tsr_label_comparisons_destroy(found)
