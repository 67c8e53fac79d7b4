"""Cameras fitted by hand to something whose shape is known, colours matched between them, and what a projector must show."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Optional, Sequence, Union

import numpy as np

from . import _core
from ._cameras import Camera, Pinhole, Rig, as_image, two, vec3
from ._core import Object, Progress, Progressed, Report, check, ffi, lib
from ._inputs import as_mesh
from ._arrays import rows
from ._objects import Image

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    PathLike = Union[str, "os.PathLike[str]"]


# ---- lines on edges ----------------------------------------------------------------------------------------------------------------


def _lines_array(struct: Any, count: int) -> "Floats":
    made: "Floats" = np.frombuffer(ffi.buffer(struct, count * ffi.sizeof("tsr_align_line")), float).reshape(count, 3, 3).copy()
    return made


def pitch_lines() -> "Floats":
    """Lines of a football pitch (n, 3, 3): from, to, and the vector across the stripe. 105 x 68 m on the plane z = 0, its centre at 0.

    Examples
    --------
    >>> import tessera as ts
    >>> lines = ts.pitch_lines()
    >>> lines.shape[1:], round(float(lines[:, 0, 0].min()), 1)
    ((3, 3), -52.5)
    """
    count = int(lib.tsr_pitch_lines(ffi.NULL))
    made = ffi.new("tsr_align_line[]", count)
    lib.tsr_pitch_lines(made)
    return _lines_array(made, count)


def read_lines(path: "PathLike", **options: Any) -> "Floats":
    """Lines (n, 3, 3) of a text file, X,Y,Z,X,Y,Z in each line of it: from, to, and 0 across.

    Raises
    ------
    tessera.FileError, tessera.FormatError

    Examples
    --------
    >>> import tessera as ts, tempfile, os
    >>> with tempfile.TemporaryDirectory() as d:
    ...     name = os.path.join(d, "room.csv")
    ...     with open(name, "w") as file: _ = file.write("0,0,0,4,0,0")
    ...     ts.read_lines(name)[0, 1].tolist()
    [4.0, 0.0, 0.0]
    """
    values, kept = _core.options("tsr_read_options", options)
    made, count = ffi.new("tsr_align_line **"), ffi.new("int64_t *")
    check(lib.tsr_align_lines_read(os.fsencode(path), values, made, count))
    try:
        return _lines_array(made[0], int(count[0]))
    finally:
        lib.tsr_free(made[0])


def draw_pitch(camera: Pinhole, **options: Any) -> Image:
    """A football pitch as a camera sees it, grey: players, noise, blur, seed, as tsr_pitch_options.

    Examples
    --------
    >>> import tessera as ts
    >>> eye = ts.Camera.look_at((0, -75, 25), (0, 0, 0), fov=40).pinhole((160, 90))
    >>> ts.draw_pitch(eye).array.shape
    (90, 160, 1)
    """
    values, kept = _core.options("tsr_pitch_options", options)
    made = ffi.new("tsr_image *")
    check(lib.tsr_pitch_draw(camera._struct, values, made))
    return Image._taken(made)


def align(image: Any, start: Pinhole, lines: Optional["ArrayLike"] = None, *, mesh: Any = None, crease: float = 0.0, free: Sequence[str] = (), progress: Progress = None, **options: Any) -> Report:
    """The camera of a picture of something whose shape is known: lines of the model are laid on edges of the picture.

    Parameters
    ----------
    image : Image or array of uint8
    start : Pinhole
        A camera of the picture's size, up to several degrees off.
    lines : array (n, 2, 3) or (n, 3, 3), optional
        From and to, world units; and the vector across a painted stripe.
    mesh : Mesh or one of another library, optional
        Its creases and outlines count where they are not hidden.
    crease : float
        Degrees between the faces of an edge from which on it counts; 0: 25.
    free : names
        "focal", "centre", "k1", "k2", or "pose_only"; none: focal.
    **options
        degrees, distance, field, candidates, best, contrast, refine_only, seed: as tsr_align_options.

    Returns
    -------
    Report
        camera (a Pinhole), sigma, samples, matched, rms (pixels), condition, candidates.

    Raises
    ------
    tessera.ArgumentError
        No lines, or a start that does not see them.
    tessera.StateError
        Fewer than a fifth of the lines find an edge.

    Examples
    --------
    >>> import tessera as ts
    >>> true = ts.Camera.look_at((0, -75, 25), (5, 0, 0), fov=40).pinhole((640, 360))
    >>> start = ts.Camera.look_at((0.3, -75, 25), (5.5, 0, 0), fov=40.3).pinhole((640, 360))
    >>> found = ts.align(ts.draw_pitch(true), start, ts.pitch_lines(), refine_only=True)
    >>> abs(found.camera.fx / true.fx - 1) < 0.01
    True
    """
    from ._calibration import free_bits

    proxy = ffi.new("tsr_align_proxy *", {"crease": float(crease)})
    kept: list[Any] = []
    if lines is not None:
        given = np.asarray(lines, float)
        if given.ndim != 3 or given.shape[1] not in (2, 3) or given.shape[2] != 3:
            raise ValueError(f"lines of shape {given.shape}, expected (n, 2, 3) or (n, 3, 3)")
        whole = np.zeros((len(given), 3, 3))
        whole[:, : given.shape[1]] = given
        proxy.line, proxy.lines = ffi.cast("tsr_align_line *", ffi.from_buffer(whole)), len(whole)
        kept.append(whole)
    if mesh is not None:
        body = as_mesh(mesh)
        body = body if body.on_host else body.to("cpu")
        proxy.mesh = body._pointer
        kept.append(body)
    owner, made = _core.context(), _core.begun("tsr_align_result")
    picture = as_image(image)._struct()
    with Progressed(progress) as p, owner.lock:
        values, held = _core.options("tsr_align_options", {"free": free_bits(free), **options}, p)
        p.check(lib.tsr_align_edges(owner._pointer, picture, proxy, start._struct, values, made))
    return Report({**dict(_core.report(made)), "camera": Pinhole._of(made.camera)})


# ---- the editor ----------------------------------------------------------------------------------------------------------------------


def _place(user: Any, name: Any, path: Any, room: int, error: Any, error_room: int) -> int:
    found = os.path.join(ffi.from_handle(user), ffi.string(name))
    if len(found) < room:
        ffi.memmove(path, found + b"\0", len(found) + 1)
        return 0
    text = b"the path is too long"[: error_room - 1] + b"\0"
    ffi.memmove(error, text, len(text))
    return -1


_placed: Any = ffi.callback("int(void *, const char *, char *, size_t, char *, size_t)", _place, error=-1)


class RigEditor(Object):
    """Cameras that are fitted by hand to a proxy, a mesh or lines; every change is a step that `undo` takes back bit for bit.

    Each method runs one command of docs/formats/rig-session.md, and `run` any of them; `script` has what was done.

    Parameters
    ----------
    folder : path
        Where the files lie that commands name; names hold no blanks.
    memory_limit : int
        Bytes of a file's contents; 0: the machine's memory.

    Examples
    --------
    >>> import tessera as ts, tempfile, os
    >>> true = ts.Camera.look_at((0, -75, 25), (5, 0, 0), fov=40).pinhole((320, 180))
    >>> with tempfile.TemporaryDirectory() as d:
    ...     ts.draw_pitch(true).save(os.path.join(d, "left.png"))
    ...     editor = ts.RigEditor(d)
    ...     editor.proxy("pitch")
    ...     editor.image("left.png")
    >>> for x, y in ((0, 0), (16.5, 20.16), (-16.5, 9), (25, -5), (-25, -9.15)):
    ...     pixel = true.camera().project([(x, y, 0)], (320, 180))[0][0]
    ...     editor.pair((x, y, 0), pixel)
    >>> editor.solve()
    >>> abs(editor.camera(0).pinhole.fx / true.fx - 1) < 1e-6
    True
    >>> editor.undo(); editor.describe().redo
    1
    """

    _kind = "tsr_rig_editor"
    _destroy = "tsr_rig_editor_destroy"

    def __init__(self, folder: "PathLike" = ".", *, memory_limit: int = 0) -> None:
        owner = _core.context()
        self._progressed = Progressed(None)
        values, kept = _core.options("tsr_rig_editor_options", {"memory_limit": memory_limit}, self._progressed)
        handle = ffi.new_handle(os.fsencode(folder))
        values.path, values.user = _placed, handle
        made = ffi.new("tsr_rig_editor **")
        with owner.lock:
            check(lib.tsr_rig_editor_create(owner._pointer, values, made))
        super().__init__(made[0], owner, handle, kept)

    # ---- commands ----

    def run(self, text: str, *, progress: Progress = None) -> None:
        """Commands, one a line. Stops at the first that is refused, which changes nothing; the message names the word at fault, of several lines the line, too."""
        lines = text.split("\n")
        for number, line in enumerate(lines, 1):
            try:
                with self._owner.lock, self._progressed.again(progress) as p:
                    p.check(lib.tsr_rig_editor_run(self._pointer, line.encode()))
            except _core.Error as wrong:
                if len(lines) > 1:
                    wrong.args = (f"line {number}: {wrong}",)
                raise

    def _say(self, *words: Any, progress: Progress = None) -> None:
        """A command of words; numbers keep all of their bits."""
        said = [w if isinstance(w, str) else repr(int(w)) if isinstance(w, (int, np.integer)) else repr(float(w)) for w in words if w is not None]
        for word in said:
            if not word or any(c.isspace() for c in word):
                raise ValueError(f"{word!r}, expected a name without blanks")
        self.run(" ".join(said), progress=progress)

    def proxy(self, name: str = "pitch") -> None:
        """What cameras are fitted to: "pitch", a mesh, or a .csv of lines X,Y,Z,X,Y,Z."""
        self._say("proxy", name)

    def image(self, name: str, frame: Optional[int] = None) -> None:
        """One more camera: of a picture, or of a frame of a film. It becomes the active one."""
        self._say("image", name, frame)

    def load(self, name: str) -> None:
        """Cameras of a file that `Rig.read` takes: those whose name is that of an image get their numbers, others are added."""
        self._say("cameras", name)

    def activate(self, index: int) -> None:
        """Which camera is edited, from 0."""
        self._say("camera", int(index))

    def rigid(self, on: bool = True) -> None:
        """Whether moves of the active camera move all."""
        self._say("rig", "on" if on else "off")

    def turn(self, yaw: float = 0.0, pitch: float = 0.0, roll: float = 0.0) -> None:
        """Degrees to the right, up, clockwise, about the camera's own axes."""
        self._say("turn", float(yaw), float(pitch), float(roll))

    def move(self, right: float = 0.0, up: float = 0.0, forward: float = 0.0) -> None:
        """Along the camera's axes, scene units."""
        self._say("move", float(right), float(up), float(forward))

    def shift(self, shift: Sequence[float]) -> None:
        """Along the axes of the world, (x, y, z)."""
        self._say("shift", *_three(shift, "shift"))

    def orbit(self, around: float, over: float, centre: Sequence[float]) -> None:
        """Degrees about the vertical through a point and over the camera's horizon; the point stays where it is seen."""
        self._say("orbit", float(around), float(over), *_three(centre, "centre"))

    def dolly(self, degrees: float, point: Sequence[float]) -> None:
        """Changes the field of view and walks so that what is as deep as the point keeps its size."""
        self._say("dolly", float(degrees), *_three(point, "point"))

    def set(self, **parameters: float) -> None:
        """Parameters of the active camera: yaw, pitch, roll, x, y, z, fov, aspect, cx, cy, k1, k2, p1, p2; each is a step."""
        for name, value in parameters.items():
            self._say("set", name, float(value))

    def lock(self, *names: str) -> None:
        """Parameters that edits leave alone."""
        self._say("lock", *names)

    def unlock(self, *names: str) -> None:
        """The opposite of `lock`."""
        self._say("unlock", *names)

    def pair(self, point: Sequence[float], pixel: Sequence[float]) -> None:
        """A point of the proxy (x, y, z), and the pixel of the active camera's image where it is seen."""
        self._say("pair", *_three(point, "point"), *_pixel(pixel, "pixel"))

    def line(self, axis: str, start: Sequence[float], end: Sequence[float]) -> None:
        """A line of the image, from pixel to pixel, that runs along the axis "x", "y" or "z" of the world."""
        self._say("line", axis, *_pixel(start, "start"), *_pixel(end, "end"))

    def unpair(self, index: Optional[int] = None) -> None:
        """Takes away a pair of the active camera, from 0; None: all."""
        self._say("unpair", "all" if index is None else int(index))

    def unline(self, index: Optional[int] = None) -> None:
        """Takes away a line of the active camera, from 0; None: all."""
        self._say("unline", "all" if index is None else int(index))

    def solve(self, *free: str, all: bool = False, shared: bool = False, points: Optional[float] = None, progress: Progress = None) -> None:
        """The camera from its pairs; all: all cameras at once.

        Parameters
        ----------
        *free : names
            "k1", "k2", "centre", beside pose and field of view.
        all : bool
            All cameras with three pairs and more.
        shared : bool
            With all: one field of view and lens for all.
        points : float, optional
            With all: standard deviation of the points, scene units; pixels have 1.
        """
        joint = ["all", *(["shared"] if shared else []), *(["points", float(points)] if points is not None else [])]
        if not all and len(joint) > 1:
            raise ValueError("shared and points are for all cameras, expected all=True")
        self._say("solve", *(joint if all else []), *free, progress=progress)

    def vanish(self) -> None:
        """Direction and field of view from two and more lines along each of two axes; the eye stays."""
        self._say("vanish")

    def refine(self, *free: str, colours: bool = False, wide: bool = False, all: bool = False, progress: Progress = None) -> None:
        """The proxy's lines to edges of the image, or (colours) the image to what the others see; `free` as in `solve`, wide: from 5 degrees off."""
        self._say("refine", *(["colours"] if colours else []), *(["wide"] if wide else []), *(["all"] if all else []), *free, progress=progress)

    def match(self, *, vignette: bool = False, response: bool = False, all: bool = False, progress: Progress = None) -> None:
        """Gain of each colour of the active camera so that it sees the proxy as the others do; `camera(k).gain`, .vignetting and .response have it.

        Parameters
        ----------
        vignette : bool
            What darkens the corners, too.
        response : bool
            The curve from light to value, too.
        all : bool
            Of every camera but the first, at once.
        """
        self._say("match", *(["vignette"] if vignette else []), *(["response"] if response else []), *(["all"] if all else []), progress=progress)

    def unmatch(self) -> None:
        """The active camera's colours as they came."""
        self._say("match", "none")

    def snapshot(self, name: str) -> None:
        """Keeps all cameras, pairs and lines under a name."""
        self._say("snapshot", name)

    def restore(self, name: str) -> None:
        """Back to a snapshot."""
        self._say("restore", name)

    def reset(self) -> None:
        """The active camera as it was loaded."""
        self._say("reset")

    def undo(self) -> None:
        """Takes the last step back."""
        self._say("undo")

    def redo(self) -> None:
        """Takes the last undo back."""
        self._say("redo")

    # ---- what there is ----

    @property
    def script(self) -> str:
        """What was run, as text that gives the same cameras again."""
        with self._owner.lock:
            return str(ffi.string(lib.tsr_rig_editor_script(self._pointer)).decode())

    def describe(self) -> Report:
        """cameras, active, pairs, lines, undo, redo, snapshots, rig, bounds and diameter of the proxy, its name."""
        made = _core.begun("tsr_rig_editor_info")
        with self._owner.lock:
            check(lib.tsr_rig_editor_get_info(self._pointer, made))
            return _core.report(made)

    def _names(self, function: str) -> list[str]:
        found: list[str] = []
        with self._owner.lock:
            while name := getattr(lib, function)(self._pointer, len(found)):
                found.append(ffi.string(name).decode())
        return found

    @property
    def cameras(self) -> list[str]:
        """Names of the cameras."""
        return self._names("tsr_rig_editor_camera_name")

    @property
    def snapshots(self) -> list[str]:
        """Names of the snapshots."""
        return self._names("tsr_rig_editor_snapshot_name")

    def camera(self, index: Union[int, str, None] = None) -> Report:
        """A camera by number or name; None: the active one.

        Returns
        -------
        Report
            name, pinhole (a Pinhole), value and sigma (dicts by parameter), locked (names), pairs, pair_rms, edge, difference, condition, response, gain, vignetting.
        """
        if isinstance(index, str):
            if index not in self.cameras:
                raise KeyError(f"{index!r}, there are {', '.join(self.cameras) or 'no cameras'}")
            index = self.cameras.index(index)
        made = _core.begun("tsr_rig_editor_camera")
        with self._owner.lock:
            check(lib.tsr_rig_editor_get_camera(self._pointer, self.describe().active if index is None else int(index), made))
            told = dict(_core.report(made))
        names = [ffi.string(lib.tsr_rig_editor_parameter_name(k)).decode() for k in range(lib.TSR_RIG_PARAMETERS)]
        told["pinhole"] = Pinhole._of(made.pinhole)
        told["value"], told["sigma"] = dict(zip(names, told["value"])), dict(zip(names, told["sigma"]))
        told["locked"] = [name for k, name in enumerate(names) if told["locked"] >> k & 1]
        return Report(told)

    def rig(self) -> Rig:
        """All cameras with their names and images."""
        made = ffi.new("tsr_rig **")
        with self._owner.lock:
            check(lib.tsr_rig_editor_get_rig(self._pointer, made))
        return Rig._made(made)

    # ---- pictures ----

    def _pane(self, view: Optional[Camera], options: Any) -> Any:
        own = {"view": view} if view is not None else {"from_camera": True}
        return _core.options("tsr_rig_pane", {"zoom": 1.0, **own, **options})

    def draw(self, size: Sequence[int], view: Optional[Camera] = None, **options: Any) -> Image:
        """What the active camera saw, with the others' pictures; or, from a camera without a lens, the proxy with all pictures on it.

        Parameters
        ----------
        size : (width, height)
        view : Camera, optional
        **options
            blend ("alpha", "checker", "stripes", "difference", "edges", "onion"), mix, before, zoom, pan, no_lines, no_shadow, loupe: as tsr_rig_pane.
        """
        pane, kept = self._pane(view, options)
        made = ffi.new("tsr_image *")
        with self._owner.lock:
            check(lib.tsr_rig_editor_draw(self._pointer, pane, *two(size), made))
        return Image._taken(made)

    def pick(self, at: Sequence[float], size: Sequence[int], view: Optional[Camera] = None, *, snap: float = 0.0, **options: Any) -> "tuple[tuple[float, float], Optional[tuple[float, float, float]]]":
        """The pixel of the image and the point of the proxy (None where there is none) below a place of a picture that `draw` gave; snap: to a corner within so many pixels."""
        pane, kept = self._pane(view, options)
        pixel, point, found = ffi.new("double[2]"), ffi.new("tsr_vec3 *"), ffi.new("int *")
        with self._owner.lock:
            check(lib.tsr_rig_editor_pick(self._pointer, pane, *two(size), _pixel(at, "at"), float(snap), pixel, point, found))
        return (pixel[0], pixel[1]), (point.x, point.y, point.z) if found[0] else None

    def compensate(self, projector: str, lit: str, **options: Any) -> tuple[Image, Report]:
        """What a projector must show so that the canvas, the proxy, looks as wanted.

        Parameters
        ----------
        projector, lit : str
            Names of the camera that is the projector, and of the one that saw the canvas in its full light.
        **options
            dark, wanted (names of cameras), gamma, response, dim: as tsr_rig_compensate_options.

        Returns
        -------
        Image
            Of the projector's size, black beside the canvas.
        Report
            canvas (share of pixels), short_of_light, enough (the largest dim that 99 of 100 pixels can show).
        """
        values, kept = _core.options("tsr_rig_compensate_options", {"projector": projector, "lit": lit, **options})
        made, told = ffi.new("tsr_image *"), _core.begun("tsr_rig_compensated")
        with self._owner.lock:
            check(lib.tsr_rig_editor_compensate(self._pointer, values, made, told))
        return Image._taken(made), _core.report(told)

    def __repr__(self) -> str:
        info = self.describe()
        return f"<tessera.RigEditor {info.cameras} cameras, proxy {info.proxy or 'none'}>"


def _three(values: Sequence[float], name: str) -> list[float]:
    place = vec3(values, name)
    return [place.x, place.y, place.z]


def _pixel(values: Sequence[float], name: str) -> list[float]:
    x, y = rows(values, 2, name)[0].tolist()
    return [x, y]
