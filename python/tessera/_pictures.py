"""Pictures of volumes, meshes and level sets; what is in pictures."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Optional, Sequence, Union

import numpy as np

from . import _core
from ._cameras import as_image
from ._core import check, ffi, lib
from ._inputs import as_volume, beside, on_context, vec3
from ._interchange import coerce
from ._arrays import dtype_number, rows
from ._objects import Image, Mesh, Volume
from ._tiles import Tiles

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._cameras import Lens
    from ._inputs import VolumeLike
    from ._records import Records


def mip(volume: "VolumeLike", *, azimuth: float = 0.0, elevation: float = 0.0, size: tuple[int, int] = (512, 512), window: float = 0.0, level: float = 0.0) -> Image:
    """Maximum intensity projection of a volume of uint8 or uint16, from an angle (degrees).

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> ts.mip(np.zeros((8, 8, 8), np.uint8), size=(64, 48)).array.shape
    (48, 64, 1)
    """
    body, owner = on_context(as_volume(volume))
    frame, made = ffi.new("tsr_mip_frame **"), ffi.new("tsr_mip **")
    width, height = (int(v) for v in size)
    image = ffi.new("tsr_image *")
    with owner.lock:
        check(lib.tsr_mip_frame_create(owner._pointer, width, height, frame))
        try:
            check(lib.tsr_mip_build(owner._pointer, body._pointer, ffi.NULL, made))
            try:
                extent = np.asarray(body.shape, float) * np.asarray(body.spacing[::-1]) / min(body.spacing)
                zoom = min(width, height) / max(1.0, float(np.linalg.norm(extent)))
                view = ffi.new("tsr_mip_view *", lib.tsr_mip_orbit(float(azimuth), float(elevation), zoom))
                least = min(body.spacing)
                view.stretch = vec3([s / least for s in body.spacing])
                check(lib.tsr_mip_render(made[0], view, ffi.NULL, frame[0], ffi.NULL))
                check(lib.tsr_mip_frame_image(frame[0], dtype_number(body.dtype), float(window), float(level), image))
            finally:
                lib.tsr_mip_destroy(made)
        finally:
            lib.tsr_mip_frame_destroy(frame)
    return Image._taken(image)


class Transfer(_core.Struct):
    """A transfer function: opacities and colours of grey values, as tsr_transfer. It is one of `render`'s.

    Examples
    --------
    >>> import tessera as ts
    >>> bone = ts.Transfer.make("ct_bone")
    >>> bone(-900)[0], bone(1500)[0] > 0
    (0.0, True)
    """

    _type = "tsr_transfer"

    @classmethod
    def make(cls, preset: Union[str, int] = "grey", window: tuple[float, float] = (0.0, 255.0)) -> "Transfer":
        """A preset ("grey", "mri_head", "mri_brain", "ct_bone", "ct_soft") over a window of values."""
        made = ffi.new("tsr_transfer *")
        check(lib.tsr_transfer_make(_core.enum("tsr_transfer_preset", preset), float(window[0]), float(window[1]), made))
        return cls._taken(made)

    @classmethod
    def read(cls, path: "Union[str, os.PathLike[str]]") -> "Transfer":
        """A function of a file (docs/formats/transfer.md)."""
        made = ffi.new("tsr_transfer *")
        check(lib.tsr_transfer_read(os.fsencode(path), made))
        return cls._taken(made)

    @classmethod
    def _taken(cls, struct: Any) -> "Transfer":
        made: Transfer = cls._of(struct)
        return made

    def write(self, path: "Union[str, os.PathLike[str]]", overwrite: bool = True) -> None:
        """Writes the function: every number comes back bit for bit."""
        values, kept = _core.options("tsr_write_options", {"overwrite": overwrite})
        check(lib.tsr_transfer_write(self._struct, os.fsencode(path), values))
        del kept

    def __call__(self, value: float, gradient: float = 0.0, level: float = 0.0) -> tuple[float, tuple[float, float, float]]:
        """Opacity per voxel length, and sRGB colour (0 to 1), of a sample."""
        alpha, colour = ffi.new("double *"), ffi.new("tsr_color *")
        check(lib.tsr_transfer_sample(self._struct, float(value), float(gradient), float(level), alpha, colour))
        return float(alpha[0]), (float(colour.r), float(colour.g), float(colour.b))

    def probe(self, volume: "VolumeLike", points: Any, *, alpha: float = 0.5, colour: Sequence[float] = (1.0, 1.0, 1.0), by_gradient: bool = False) -> None:
        """Shows the tissue at points (n, 3) of the world: adds a Gaussian with the mean and the deviation of the values there."""
        where, body = rows(points, 3, "points"), as_volume(volume)
        r, g, b = (float(v) for v in colour)
        check(lib.tsr_transfer_probe(self._struct, body._pointer, ffi.cast("tsr_vec3 *", where.ctypes.data), len(where), int(by_gradient), float(alpha), ffi.new("tsr_color *", [r, g, b])[0]))


def render(
    thing: Any,
    *,
    volume: Optional["VolumeLike"] = None,
    mode: Union[str, int, None] = None,
    azimuth: float = 30.0,
    elevation: float = 20.0,
    size: tuple[int, int] = (640, 480),
    isovalue: Optional[float] = None,
    transfer: "Union[str, os.PathLike[str], Transfer, None]" = None,
    window: Optional[tuple[float, float]] = None,
    records: Optional["Records"] = None,
    **options: Any,
) -> Image:
    """A picture of a mesh, a level set, or a volume (its density, or with `isovalue` its surface), from an angle in degrees.

    Parameters
    ----------
    thing : Mesh, Tiles, Volume, array or object of another library
    volume : optional
        A volume to be drawn beside a mesh or level set.
    mode : str
        "surface", "volume", "combined" or "mip"; None: what fits.
    transfer : Transfer, str or path
        Preset of the volume's colours, as tsr_transfer_preset, e.g. "mri_head"; or a file (docs/formats/transfer.md): a path, or a name with a dot.
    window : pair of floats
        Grey values of the transfer function's ends.
    records : Records, optional
        Of a level set: its surface is met in them instead of searched for.
    **options
        supersampling, ambient_occlusion, surface_color, transparent, ...: as tsr_render_options.

    Examples
    --------
    >>> import tessera as ts
    >>> ts.render(ts.shape("sphere", radius=5, spacing=0.5), size=(64, 48)).array.shape
    (48, 64, 3)
    """
    body = thing if isinstance(thing, (Mesh, Tiles, Volume)) else coerce(thing, "any")
    if not isinstance(body, (Mesh, Tiles, Volume)):
        body = Volume(body)
    body, owner = on_context(body)
    source = None if volume is None else beside(as_volume(volume), body)
    scene, picture, image = ffi.new("tsr_scene **"), ffi.new("tsr_picture **"), ffi.new("tsr_image *")
    width, height = (int(v) for v in size)
    with owner.lock:
        check(lib.tsr_scene_create(owner._pointer, scene))
        try:
            if isinstance(body, Mesh):
                check(lib.tsr_scene_set_surface_mesh(scene[0], body._pointer))
            elif isinstance(body, Tiles):
                check(lib.tsr_scene_set_surface_tiles(scene[0], body._pointer))
                if records is not None:
                    check(lib.tsr_scene_set_surface_records(scene[0], records._pointer, 0))
            elif isovalue is not None:
                check(lib.tsr_scene_set_surface_volume(scene[0], body._pointer, float(isovalue), 0))
            else:
                source = body
            if source is not None:
                check(lib.tsr_scene_set_volume(scene[0], source._pointer))
            if mode is None:
                mode = "surface" if source is None else "volume" if source is body else "combined"
            info = _core.begun("tsr_scene_info")
            check(lib.tsr_scene_describe(scene[0], info))
            camera = ffi.new("tsr_camera *")
            space = source.space if source is not None else getattr(body, "space", None)
            check(lib.tsr_camera_orbit(ffi.addressof(info.bounds), {"ras": 1, "lps": 2}.get(space or "", 0), float(azimuth), float(elevation), 0, width / height, camera))
            values, kept = _core.options("tsr_render_options", {"mode": mode, **options})
            if transfer is not None:
                low, high = window if window is not None else (info.window_low, info.window_high)
                if isinstance(transfer, str) and "." not in transfer:
                    transfer = Transfer.make(transfer, (low, high))
                elif not isinstance(transfer, Transfer):
                    transfer = Transfer.read(transfer)
                values.transfer = transfer._struct
            elif window is not None:
                values.window_low, values.window_high = float(window[0]), float(window[1])
            check(lib.tsr_picture_create(owner._pointer, width, height, picture))
            try:
                check(lib.tsr_render(scene[0], camera, values, picture[0]))
                check(lib.tsr_picture_image(picture[0], 4 if options.get("transparent") else 3, image))
            finally:
                lib.tsr_picture_destroy(picture)
        finally:
            lib.tsr_scene_destroy(scene)
    return Image._taken(image)


def render_slice(
    volume: "VolumeLike",
    *,
    axis: Union[str, Sequence[float]] = "z",
    position: Optional[float] = None,
    surface: Any = None,
    isovalue: float = 0.0,
    size: tuple[int, int] = (512, 512),
    window: Optional[tuple[float, float]] = None,
    **options: Any,
) -> Image:
    """A slice of a volume as a picture, with the contour of a surface. With an anatomical frame it is shown as radiologists do.

    Parameters
    ----------
    volume : Volume, array or image of another library
    axis : str or 3 floats
        "x", "y", "z", or the normal of an oblique slice, of the world (with `up` and `centre`).
    position : float, optional
        Voxel index along the axis; None: the middle.
    surface : Tiles, or Volume or array of the same world, optional
        Its contour (of a volume at `isovalue`).
    window : pair of floats, optional
        Grey values of the palette's ends.
    **options
        up, centre, height, palette, line_width, line_color, nearest, supersampling: as tsr_slice_options.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> ts.render_slice(np.random.default_rng(1).random((8, 9, 10)), axis="x", size=(64, 48)).array.shape
    (48, 64, 3)
    """
    body, owner = on_context(as_volume(volume))
    shown = surface if surface is None or isinstance(surface, Tiles) else beside(as_volume(surface), body)
    given = {"axis": "xyz".index(axis)} if isinstance(axis, str) and axis in ("x", "y", "z") else None
    if given is None:
        if isinstance(axis, str):
            raise ValueError(f"axis {axis!r}, expected 'x', 'y', 'z' or a normal (x, y, z)")
        options = {"normal": tuple(axis), **options}
        given = {"axis": 3}
    if window is not None:
        given |= {"window_low": float(window[0]), "window_high": float(window[1])}  # type: ignore[dict-item]
    scene, picture, image = ffi.new("tsr_scene **"), ffi.new("tsr_picture **"), ffi.new("tsr_image *")
    values, kept = _core.options("tsr_slice_options", {**given, "position": float("nan") if position is None else position, **options})
    with owner.lock:
        check(lib.tsr_scene_create(owner._pointer, scene))
        try:
            check(lib.tsr_scene_set_volume(scene[0], body._pointer))
            if isinstance(shown, Tiles):
                check(lib.tsr_scene_set_surface_tiles(scene[0], shown._pointer))
            elif shown is not None:
                check(lib.tsr_scene_set_surface_volume(scene[0], shown._pointer, float(isovalue), 0))
            check(lib.tsr_picture_create(owner._pointer, *(int(v) for v in size), picture))
            try:
                check(lib.tsr_render_slice(scene[0], values, picture[0]))
                check(lib.tsr_picture_image(picture[0], 3, image))
            finally:
                lib.tsr_picture_destroy(picture)
        finally:
            lib.tsr_scene_destroy(scene)
    return Image._taken(image)


def features(
    frames: Any,
    *filters: str,
    previous: Any = None,
    keep: int = 1,
    lens: Optional["Lens"] = None,
    **options: Any,
) -> "NDArray[Any]":
    """The largest connected regions of pixels with a property, in one picture or several of one size.

    Parameters
    ----------
    frames : Image or array of uint8
        (height, width), (height, width, channels) or (frames, height, width, channels), channels 1, 3 or 4.
    *filters : str
        "luminance=200:255", "box=#101010:#80ff80", "distance=#ff2010:60", "hsv=340:20,128:255,80:255", "mask=4", "motion=25", "gradient=30", "smooth=6".
    previous : optional
        The frames before, for "motion".
    keep : int
        Regions of each filter, 1 to 4.
    **options
        connectivity, by_count, ycbcr: as tsr_features_options.

    Returns
    -------
    structured array (frames, filters, keep), of one picture (filters, keep): count (pixels; 0: there is none), lower, upper (x, y; half-open), centroid

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> a = np.zeros((32, 48), np.uint8); a[4:9, 10:20] = 250
    >>> found = ts.features(a, "luminance=200:255")[0, 0]
    >>> int(found["count"]), found["lower"].tolist(), found["upper"].tolist(), found["centroid"].tolist()
    (50, [10, 4], [20, 9], [14.5, 6.0])
    """
    film, single = _frames(frames, "frames")
    before = None if previous is None else _frames(previous, "previous")[0]
    if before is not None and before.shape != film.shape:
        raise ValueError(f"previous of shape {before.shape}, expected {film.shape}")
    if not filters:
        raise ValueError("no filter, expected one or more, such as 'luminance=200:255'")
    images, height, width, channels = film.shape
    values, kept = _core.options(
        "tsr_features_options", {"width": width, "height": height, "channels": channels, "images": images, "count": len(filters), "keep": keep, "lens": lens, **options}
    )
    if len(filters) > len(values.filter):
        raise ValueError(f"{len(filters)} filters, expected {len(values.filter)} at most")
    for k, text in enumerate(filters):
        check(lib.tsr_feature_filter_parse(text.encode(), ffi.addressof(values.filter, k)))
    owner = _core.context()
    bodies = [None if f is None else on_context(Volume(f.reshape(images, height, width * channels)))[0] for f in (film, before)]
    found = np.zeros((images, len(filters), keep), [("count", "i8"), ("lower", "i4", 2), ("upper", "i4", 2), ("centroid", "f8", 2)])
    made = ffi.new("tsr_features **")
    with owner.lock:
        check(lib.tsr_features_create(owner._pointer, values, made))
        try:
            check(lib.tsr_features_detect(made[0], _core.pointer(bodies[0]), _core.pointer(bodies[1])))
            check(lib.tsr_features_results(made[0], ffi.cast("tsr_feature *", found.ctypes.data)))
        finally:
            lib.tsr_features_destroy(made)
    del kept
    return found[0] if single else found


def _frames(given: Any, name: str) -> "tuple[NDArray[np.uint8], bool]":
    """Pictures as (frames, height, width, channels), and whether it is one alone."""
    array = np.asarray(given)
    if array.dtype != np.uint8:
        raise TypeError(f"{name} of {array.dtype}, expected uint8")
    single = array.ndim < 4
    if array.ndim == 2:
        array = array[:, :, None]
    if array.ndim == 3:
        array = array[None]
    if array.ndim != 4 or array.shape[3] not in (1, 3, 4) or array.size == 0:
        raise ValueError(f"{name} of shape {np.shape(given)}, expected (height, width), (height, width, channels) or (frames, height, width, channels)")
    return np.ascontiguousarray(array), single


def palette(image: Any, colours: int = 256, **options: Any) -> "tuple[NDArray[np.uint8], NDArray[np.uint16]]":
    """Few colours for a picture, by an octree of its colours: the palette (n, 3), and for each pixel (height, width) which of them it has.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> rng = np.random.default_rng(1)
    >>> a = rng.integers(0, 256, (5, 3), np.uint8)[rng.integers(0, 5, (20, 30))]
    >>> colours, indices = ts.palette(a, 5)
    >>> np.array_equal(colours[indices], a)
    True
    """
    picture = as_image(image)
    values, kept = _core.options("tsr_colours_options", {"colours": colours, **options})
    owner, made = _core.context(), ffi.new("tsr_colours **")
    struct = picture._struct()
    indices = np.zeros(picture.array.shape[:2], np.uint16)
    with owner.lock:
        check(lib.tsr_colours_create(owner._pointer, struct, values, made))
        try:
            entries = lib.tsr_colours_entries(made[0])
            found = np.array([list(entries[k].colour) for k in range(int(lib.tsr_colours_count(made[0])))], np.uint8).reshape(-1, 3)
            check(lib.tsr_colours_map(made[0], owner._pointer, struct, ffi.cast("uint16_t *", indices.ctypes.data)))
        finally:
            lib.tsr_colours_destroy(made)
    del kept
    return found, indices
