"""Multi-view video: textures of a moving object from several cameras, and footage to try them on."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Optional, Sequence, Union

import numpy as np

from . import _core
from ._cameras import Camera, as_image, two
from ._core import Context, Object, Progress, Progressed, Report, check, ffi, lib
from ._objects import Image

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bytes = NDArray[np.uint8]
    PathLike = Union[str, "os.PathLike[str]"]


class Multiview(Object):
    """Textures [step][camera][height][width] of Y, U and V, with masks of what each camera sees.

    Examples
    --------
    >>> import tessera as ts, tempfile, os
    >>> m = ts.Multiview((32, 16), cameras=2, steps=2)
    >>> m.planes[0][:] = 100
    >>> m.visible = [[[[True] * 32] * 16] * 2] * 2
    >>> with tempfile.TemporaryDirectory() as d:
    ...     report = m.write(os.path.join(d, "a.mvv"))
    ...     back = ts.Multiview.read(os.path.join(d, "a.mvv"))
    >>> back.planes[0].shape, int(back.planes[0][1, 1, 0, 0])
    ((2, 2, 16, 32), 100)
    """

    _kind = "tsr_multiview"
    _destroy = "tsr_multiview_destroy"

    def __init__(self, size: Sequence[int], cameras: int, steps: int, masks: bool = True) -> None:
        owner = _core.context()
        width, height = two(size)
        made = ffi.new("tsr_multiview **")
        with owner.lock:
            check(lib.tsr_multiview_create(owner._pointer, width, height, int(cameras), int(steps), int(masks), made))
        super().__init__(made[0], owner)

    @classmethod
    def _made(cls, made: Any, owner: Context) -> "Multiview":
        self = cls.__new__(cls)
        Object.__init__(self, made[0], owner)
        return self

    @classmethod
    def read(cls, path: "PathLike", *, progress: Progress = None, **options: Any) -> "Multiview":
        """A .mvv file: first_step, steps, first_camera, cameras, bpp, partial, ... as tsr_multiview_read_options. Masks to be rebuilt are made from the model."""
        owner = _core.context()
        made, maker = ffi.new("tsr_multiview **"), ffi.new("tsr_mask_maker **")
        with Progressed(progress) as p, owner.lock:
            values, kept = _core.options("tsr_multiview_read_options", options, p)
            check(lib.tsr_mask_maker_create(owner._pointer, maker))
            try:
                values.rebuild, values.user = lib.tsr_mask_maker_rebuild, maker[0]
                p.check(lib.tsr_multiview_read(owner._pointer, os.fsencode(path), values, made))
            finally:
                lib.tsr_mask_maker_destroy(maker)
        return cls._made(made, owner)

    @staticmethod
    def inspect(path: "PathLike") -> Report:
        """What a .mvv file holds, without decoding a texture."""
        made, kept = _core.options("tsr_multiview_report", {})
        check(lib.tsr_multiview_inspect(os.fsencode(path), made))
        return _core.report(made)

    def write(self, path: "PathLike", *, overwrite: bool = True, progress: Progress = None, **options: Any) -> Report:
        """Writes a .mvv file: codec ("raw", "spiht4d", "diff2d"), bpp (of Y, U, V), lossless, masks, group, ... as tsr_multiview_write_options."""
        report, kept = _core.options("tsr_multiview_report", {})
        if np.ndim(options.get("bpp", ())) == 0:
            options["bpp"] = [float(options["bpp"])]
        assert self._context is not None
        with Progressed(progress) as p, self._context.lock:
            values, held = _core.options("tsr_multiview_write_options", {"overwrite": overwrite, **options}, p)
            p.check(lib.tsr_multiview_write(self._pointer, os.fsencode(path), values, report))
        return _core.report(report)

    def _view(self) -> Any:
        view = ffi.new("tsr_multiview_view *")
        check(lib.tsr_multiview_view_of(self._pointer, view))
        return view

    def _host(self) -> Any:
        if not self.on_host:
            raise TypeError("the textures lie on a GPU: read them in a context of the CPU")
        return self._view()

    @property
    def planes(self) -> "list[Bytes]":
        """Y, U and V: views (steps, cameras, height, width)."""
        v = self._host()
        shape = (v.steps, v.cameras, v.height, v.width)
        return [_bytes(v.plane[k], shape, np.uint8, self) for k in range(3)]

    @property
    def visible(self) -> "Optional[NDArray[np.bool_]]":
        """Which texels each camera sees (steps, cameras, height, width), a copy; None: all."""
        v = self._host()
        if not v.visible:
            return None
        words = (v.width + 63) // 64
        packed = _bytes(v.visible, (v.steps, v.cameras, v.height, words * 8), np.uint8, self)
        return np.unpackbits(packed, axis=-1, bitorder="little")[..., : v.width].astype(bool)

    @visible.setter
    def visible(self, masks: Any) -> None:
        v = self._host()
        if not v.visible:
            raise _core.StateError("the textures have no masks: make them with masks=True")
        given = np.asarray(masks, bool)
        if given.shape != (v.steps, v.cameras, v.height, v.width):
            raise ValueError(f"masks of shape {given.shape}, expected {(v.steps, v.cameras, v.height, v.width)}")
        words = (v.width + 63) // 64
        packed = _bytes(v.visible, (v.steps, v.cameras, v.height, words * 8), np.uint8, self)
        packed[...] = 0
        bits = np.packbits(given, axis=-1, bitorder="little")
        packed[..., : bits.shape[-1]] = bits
        atlas = _bytes(v.atlas, (v.height, words * 8), np.uint8, self)
        atlas[...] = np.bitwise_or.reduce(packed, axis=(0, 1)) | atlas

    @property
    def rate(self) -> tuple[int, int]:
        """Steps a second as a fraction."""
        made = ffi.new("int32_t[2]")
        lib.tsr_multiview_rate(self._pointer, made)
        return (int(made[0]), int(made[1]))

    @rate.setter
    def rate(self, rate: Sequence[int]) -> None:
        check(lib.tsr_multiview_set_rate(self._pointer, ffi.new("int32_t[2]", [int(r) for r in rate])))

    @property
    def names(self) -> list[str]:
        """Of the cameras."""
        return [ffi.string(lib.tsr_multiview_camera_name(self._pointer, k)).decode() for k in range(self._view().cameras)]

    @names.setter
    def names(self, names: Sequence[str]) -> None:
        for k, name in enumerate(names):
            check(lib.tsr_multiview_set_camera_name(self._pointer, k, name.encode()))

    def image(self, step: int, camera: int, alpha: bool = False) -> Image:
        """One texture as a picture."""
        made = ffi.new("tsr_image *")
        check(lib.tsr_multiview_image(self._pointer, int(step), int(camera), int(alpha), made))
        return Image._taken(made)

    def layer(self, name: str, *, first_step: int = 0, steps: Optional[int] = None, gain: float = 4) -> "Multiview":
        """What diff2d codes, to look at: "averages" over the cameras, their "master" over the steps, "differences" of textures to averages,
        "average_differences" of averages to the master (grey plus gain times the difference); "textures": a copy."""
        made = ffi.new("tsr_multiview **")
        count = self._view().steps - int(first_step) if steps is None else int(steps)
        assert self._context is not None
        with self._context.lock:
            check(lib.tsr_multiview_layer_of(self._pointer, _core.enum("tsr_multiview_layer", name), int(first_step), count, float(gain), made))
        return self._made(made, self._context)

    def compare(self, other: "Multiview") -> Report:
        """mse and psnr of Y, U, V and RGB on texels that both see."""
        made, kept = _core.options("tsr_multiview_difference", {})
        check(lib.tsr_multiview_compare(self._pointer, other._pointer, made))
        return _core.report(made)

    def __repr__(self) -> str:
        v = self._view()
        return f"<tessera.Multiview {v.width}x{v.height}, {v.cameras} cameras, {v.steps} steps>"

    def _repr_png_(self) -> bytes:
        return self.image(0, 0)._repr_png_()


class _Memory:
    def __init__(self, pointer: Any, shape: Sequence[int], kind: Any, owner: object) -> None:
        self.__array_interface__ = {"version": 3, "typestr": np.dtype(kind).str, "shape": tuple(int(n) for n in shape), "data": (int(ffi.cast("uintptr_t", pointer)), False)}
        self._owner = owner


def _bytes(pointer: Any, shape: Sequence[int], kind: Any, owner: object) -> "Bytes":
    return np.asarray(_Memory(pointer, shape, kind, owner))


class MultiviewModel(Object):
    """A moving mesh with an atlas, and the cameras that film it."""

    _kind = "tsr_multiview_model"
    _destroy = "tsr_multiview_model_destroy"

    @classmethod
    def read(cls, meshes: "PathLike", cameras: "PathLike", *, progress: Progress = None, **options: Any) -> "MultiviewModel":
        """Meshes of numbered files ("mesh-%04d.obj") and cameras of a rig."""
        made = ffi.new("tsr_multiview_model **")
        with Progressed(progress) as p:
            values, kept = _core.options("tsr_multiview_model_options", options, p)
            p.check(lib.tsr_multiview_model_read(os.fsencode(meshes), os.fsencode(cameras), values, made, ffi.NULL))
        self = cls.__new__(cls)
        Object.__init__(self, made[0], None)
        return self

    @property
    def shape(self) -> Report:
        """width and height of the atlas, cameras, steps, vertices, triangles."""
        parts = lib.tsr_multiview_model_parts(self._pointer)
        return Report({name: int(getattr(parts, name)) for name in ("width", "height", "cameras", "steps", "vertices", "places", "triangles")})

    @property
    def camera(self) -> list[list[Camera]]:
        """Of each step (one, if they stand still) and number."""
        parts = lib.tsr_multiview_model_parts(self._pointer)
        return [[Camera._of(parts.camera[t * parts.cameras + c]) for c in range(parts.cameras)] for t in range(parts.camera_steps)]

    @property
    def positions(self) -> "NDArray[np.float32]":
        """Vertices (steps, vertices, 3), a view."""
        parts = lib.tsr_multiview_model_parts(self._pointer)
        made: "NDArray[np.float32]" = np.asarray(_Memory(parts.position, (parts.steps, parts.vertices, 3), np.float32, self))
        return made

    @property
    def triangles(self) -> "NDArray[np.uint32]":
        """(triangles, 3), a view."""
        parts = lib.tsr_multiview_model_parts(self._pointer)
        made: "NDArray[np.uint32]" = np.asarray(_Memory(parts.triangle, (parts.triangles, 3), np.uint32, self))
        return made

    def textures(self, pictures: Any, *, sampling: str = "bilinear", steps: Optional[int] = None, progress: Progress = None) -> Multiview:
        """Textures of footage: `pictures` is a function of (step, camera), or a sequence of sequences, of pictures of uint8."""
        shape = self.shape
        owner = _core.context()
        count = shape.steps if steps is None else int(steps)
        made = Multiview((shape.width, shape.height), shape.cameras, count)
        texturer = ffi.new("tsr_texturer **")
        bar = Progressed(progress)
        with bar, owner.lock:
            check(lib.tsr_texturer_create(owner._pointer, self._pointer, texturer))
            try:
                view = made._view()
                texels, words = shape.width * shape.height * shape.cameras, (shape.width + 63) // 64 * shape.height * shape.cameras
                for t in range(count):
                    bar._reporter(t / count, "textures")
                    given = [as_image(pictures(t, c) if callable(pictures) else pictures[t][c]) for c in range(shape.cameras)]
                    kept = [g._struct() for g in given]
                    images = ffi.new("tsr_image[]", len(kept))
                    for place, struct in zip(images, kept):
                        place.width, place.height, place.channels, place.pixels = struct.width, struct.height, struct.channels, struct.pixels
                    planes = ffi.new("uint8_t *[3]", [view.plane[k] + t * texels for k in range(3)])
                    bar.check(lib.tsr_texturer_step(texturer[0], t, images, _core.enum("tsr_texture_sampling", sampling), planes, view.visible + t * words))
                check(lib.tsr_texturer_copy_atlas(texturer[0], view.atlas))
                owner.synchronize()
            finally:
                lib.tsr_texturer_destroy(texturer)
        data, size = ffi.new("uint8_t **"), ffi.new("size_t *")
        check(lib.tsr_multiview_model_pack(self._pointer, data, size))
        try:
            check(lib.tsr_multiview_set_model_bytes(made._pointer, data[0], size[0]))
        finally:
            _free(data[0])
        return made

    def draw(self, textures: Multiview, step: int, camera: Camera, size: Sequence[int] = (640, 480), **options: Any) -> Image:
        """The mesh of a step with the textures of that step from any camera: power, only, leave_out, background, ... as tsr_texturer_view."""
        owner = _core.context()
        shape, view = self.shape, textures._view()
        texturer, image = ffi.new("tsr_texturer **"), ffi.new("tsr_image *")
        values, kept = _core.options("tsr_texturer_view", options)
        texels, words = shape.width * shape.height * shape.cameras, (shape.width + 63) // 64 * shape.height * shape.cameras
        planes = ffi.new("uint8_t *[3]", [view.plane[k] + step * texels for k in range(3)])
        with owner.lock:
            check(lib.tsr_texturer_create(owner._pointer, self._pointer, texturer))
            try:
                check(lib.tsr_texturer_draw(texturer[0], int(step), planes, view.visible + step * words, camera._struct, *two(size), values, image, ffi.NULL))
            finally:
                lib.tsr_texturer_destroy(texturer)
        return Image._taken(image)

    def __repr__(self) -> str:
        s = self.shape
        return f"<tessera.MultiviewModel {s.triangles} triangles, {s.cameras} cameras, {s.steps} steps>"


def _free(pointer: Any) -> None:
    """free() of the C library, for what the library hands out as plain memory."""
    import ctypes

    free = ctypes.CDLL(None).free
    free.argtypes = [ctypes.c_void_p]
    free(int(ffi.cast("uintptr_t", pointer)))


class Footage(Object):
    """Generated footage of a thing that moves, with exact answers: scene ("dancer", "sphere", "cube"), steps, cameras, width, height, atlas, ... as
    tsr_footage_options.

    Examples
    --------
    >>> import tessera as ts
    >>> film = ts.Footage(scene="cube", steps=1, cameras=2, width=64, height=48, atlas=64)
    >>> textures = film.model.textures(film.picture)
    >>> textures
    <tessera.Multiview 64x64, 2 cameras, 1 steps>
    >>> bool(textures.visible.any())
    True
    """

    _kind = "tsr_footage"
    _destroy = "tsr_footage_destroy"

    def __init__(self, **options: Any) -> None:
        values, kept = _core.options("tsr_footage_options", options)
        made = ffi.new("tsr_footage **")
        check(lib.tsr_footage_create(values, made))
        super().__init__(made[0], None)

    @property
    def model(self) -> MultiviewModel:
        """The moving mesh and its cameras."""
        made = MultiviewModel.__new__(MultiviewModel)
        made._pointer, made._context, made._kept = lib.tsr_footage_model(self._pointer), None, (self,)
        return made

    def picture(self, step: int, camera: int) -> Image:
        """What a camera sees in a step."""
        made = ffi.new("tsr_image *")
        check(lib.tsr_footage_picture(self._pointer, int(step), int(camera), made))
        return Image._taken(made)

    def __repr__(self) -> str:
        return f"<tessera.Footage of {self.model!r}>"
