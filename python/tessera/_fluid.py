"""Liquids: a simulator of particles, and pictures of particles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Sequence, Union

import numpy as np

from . import _core
from ._cameras import Camera, two, vec3
from ._core import Object, Progress, Progressed, Report, Struct, check, ffi, lib
from ._arrays import rows
from ._objects import Image, Mesh, Points, Volume
from ._inputs import as_mesh

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float32]


class FluidSim(Object):
    """A simulator of liquids by particles; metres, seconds, kilograms, z is up.

    Parameters
    ----------
    spacing : float
        Of the particles at rest.
    lower, upper : sequences of 3 floats
        The region.
    **options
        gravity, density, viscosity, tension, friction, ..., as tsr_fluid_sim_options.

    Examples
    --------
    >>> import tessera as ts
    >>> sim = ts.FluidSim(0.1, (0, 0, 0), (1, 1, 1))
    >>> sim.add_room((0, 0, 0), (1, 1, 1))
    >>> sim.add_block((0, 0, 0), (0.5, 0.5, 0.5))
    >>> sim.advance(0.02)
    >>> len(sim), sim.points().positions.shape
    (125, (125, 3))
    """

    _kind = "tsr_fluid_sim"
    _scene: Any = None
    _destroy = "tsr_fluid_sim_destroy"

    def __init__(self, spacing: float, lower: Sequence[float], upper: Sequence[float], **options: Any) -> None:
        owner = _core.context()
        values, kept = _core.options("tsr_fluid_sim_options", {"spacing": spacing, "lower": lower, "upper": upper, **options})
        made = ffi.new("tsr_fluid_sim **")
        with owner.lock:
            check(lib.tsr_fluid_sim_create(owner._pointer, values, made))
        super().__init__(made[0], owner)

    @classmethod
    def scene(cls, name: str, *, count: int = 0, seconds: float = 0.0, empty: bool = False, **options: Any) -> "FluidSim":
        """A scene of known name; `FluidSim.scenes()` has the names. `empty`: its solids alone, so that others can be added before `fill`."""
        owner = _core.context()
        values, kept = _core.options("tsr_fluid_scene_options", {"count": count, "seconds": seconds, "sim": options})
        made = ffi.new("tsr_fluid_sim **")
        with owner.lock:
            check((lib.tsr_fluid_scene_create_empty if empty else lib.tsr_fluid_scene_create)(owner._pointer, name.encode(), values, made))
        self = cls.__new__(cls)
        Object.__init__(self, made[0], owner)
        self._scene = (name, values, kept)
        return self

    def fill(self) -> None:
        """The fluid of a scene that was made empty."""
        if self._scene is None:
            raise _core.StateError("no scene was made empty: FluidSim.scene(name, empty=True)")
        name, values, _ = self._scene
        self._call("tsr_fluid_scene_fill", name.encode(), values)

    @staticmethod
    def scenes() -> dict[str, str]:
        """Names and descriptions of the scenes."""
        found: dict[str, str] = {}
        while scene := lib.tsr_fluid_scene_at(len(found)):
            found[ffi.string(scene.name).decode()] = ffi.string(scene.description).decode()
        return found

    def _call(self, name: str, *arguments: Any) -> None:
        assert self._context is not None
        with self._context.lock:
            check(getattr(lib, name)(self._pointer, *arguments))

    def add_plane(self, point: Sequence[float], normal: Sequence[float]) -> None:
        """A solid half-space; `normal` points into the fluid."""
        self._call("tsr_fluid_sim_add_plane", vec3(point, "point"), vec3(normal, "normal"))

    def add_room(self, lower: Sequence[float], upper: Sequence[float]) -> None:
        """Everything outside of the box is solid."""
        self._call("tsr_fluid_sim_add_room", vec3(lower, "lower"), vec3(upper, "upper"))

    def add_box(self, lower: Sequence[float], upper: Sequence[float]) -> None:
        """A solid box."""
        self._call("tsr_fluid_sim_add_box", vec3(lower, "lower"), vec3(upper, "upper"))

    def add_sphere(self, centre: Sequence[float], radius: float) -> None:
        """A solid ball."""
        self._call("tsr_fluid_sim_add_sphere", vec3(centre, "centre"), float(radius))

    def add_glass(self, bottom: Sequence[float], axis: Sequence[float], radius: float, height: float, thickness: float) -> None:
        """A round glass."""
        self._call("tsr_fluid_sim_add_glass", vec3(bottom, "bottom"), vec3(axis, "axis"), float(radius), float(height), float(thickness))

    def add_mesh(self, mesh: Any, voxel: float = 0.0, hollow: bool = False) -> None:
        """A closed mesh: solid inside, or with `hollow` outside."""
        body = as_mesh(mesh)
        self._call("tsr_fluid_sim_add_mesh", (body if body.on_host else body.to("cpu"))._pointer, float(voxel), int(hollow))

    def add_block(self, lower: Sequence[float], upper: Sequence[float], velocity: Sequence[float] = (0, 0, 0)) -> None:
        """A box full of fluid."""
        self._call("tsr_fluid_sim_add_block", vec3(lower, "lower"), vec3(upper, "upper"), vec3(velocity, "velocity"))

    def add_ball(self, centre: Sequence[float], radius: float, velocity: Sequence[float] = (0, 0, 0)) -> None:
        """A ball of fluid."""
        self._call("tsr_fluid_sim_add_ball", vec3(centre, "centre"), float(radius), vec3(velocity, "velocity"))

    def add_particles(self, positions: "ArrayLike", velocities: Optional["ArrayLike"] = None) -> None:
        """Particles (n, 3) as they are."""
        where = rows(positions, 3, "positions", np.float32)
        moving = None if velocities is None else rows(velocities, 3, "velocities", np.float32)
        if moving is not None and len(moving) != len(where):
            raise ValueError(f"{len(moving)} velocities beside {len(where)} positions, expected as many")
        self._call("tsr_fluid_sim_add_particles", _floats(where), _floats(moving), len(where))

    def add_inflow(
        self,
        centre: Sequence[float],
        velocity: Sequence[float],
        radius: float,
        *,
        across: Sequence[float] = (0, 0, 0),
        half_width: float = 0.0,
        start: float = 0.0,
        end: float = 0.0,
    ) -> None:
        """A jet."""
        self._call("tsr_fluid_sim_add_inflow", vec3(centre, "centre"), vec3(velocity, "velocity"), float(radius), vec3(across, "across"), float(half_width), float(start), float(end))

    def advance(self, seconds: float, *, progress: Progress = None) -> None:
        """Goes on in time."""
        assert self._context is not None
        with Progressed(progress) as p, self._context.lock:
            p.check(lib.tsr_fluid_sim_advance(self._pointer, float(seconds), p.pointer))

    def describe(self) -> Report:
        """time, particles, steps, speed, energies, ..."""
        made, kept = _core.options("tsr_fluid_sim_info", {})
        self._call("tsr_fluid_sim_describe", made)
        return _core.report(made)

    def points(self) -> Points:
        """The particles with radii, and the attributes "density" and "velocity"."""
        made = ffi.new("tsr_points **")
        self._call("tsr_fluid_sim_points", made)
        return Points._of(made, None)

    def solids(self) -> Mesh:
        """The solids, to be drawn beside the fluid."""
        made = ffi.new("tsr_mesh **")
        self._call("tsr_fluid_sim_solids", made)
        return Mesh._of(made, None)

    def __len__(self) -> int:
        return int(lib.tsr_fluid_sim_count(self._pointer))

    def __repr__(self) -> str:
        return f"<tessera.FluidSim {len(self)} particles, {self.describe().time:.3f} s>"


def _floats(array: Any) -> Any:
    return ffi.NULL if array is None else ffi.cast("float *", ffi.from_buffer(array))


class FluidLook(Struct):
    """What a fluid looks like: color, absorption, fresnel, specular, foam, ..., as tsr_fluid_look; FluidLook.make("water", radius) begins.

    Examples
    --------
    >>> import tessera as ts
    >>> look = ts.FluidLook.make("oil", 0.05)
    >>> look.refraction = 0
    >>> look.refraction
    0.0
    """

    _type = "tsr_fluid_look"

    @classmethod
    def make(cls, preset: str, radius: float) -> "FluidLook":
        """ "water", "oil", "milk", "lava" or "honey" for particles of a radius."""
        made = ffi.new("tsr_fluid_look *", {"struct_size": ffi.sizeof("tsr_fluid_look")})
        check(lib.tsr_fluid_look_make(_core.enum("tsr_fluid_preset", preset), float(radius), made))
        look: FluidLook = cls._of(made)
        return look


class Fluid(Object):
    """Draws pictures of liquids from particles; keeps what a row of frames carries on.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> drops = np.random.default_rng(1).normal(0, 0.3, (500, 3))
    >>> picture = ts.Fluid().draw(drops, ts.Camera.look_at((0, -4, 1), (0, 0, 0)), (64, 48), radius=0.1, look="water")
    >>> picture.array.shape
    (48, 64, 3)
    """

    _kind = "tsr_fluid"
    _destroy = "tsr_fluid_destroy"

    def __init__(self) -> None:
        owner = _core.context()
        made = ffi.new("tsr_fluid **")
        with owner.lock:
            check(lib.tsr_fluid_create(owner._pointer, made))
        super().__init__(made[0], owner)
        self.info: Optional[Report] = None

    def sky(self, name: str = "day", up: Sequence[float] = (0, 0, 1), *, turn: float = 0.0, level: float = 1.0) -> None:
        """ "day", "sunset", "overcast", "studio" or "night", turned by degrees about `up` and its light multiplied."""
        with self._owner.lock:
            check(lib.tsr_fluid_set_sky(self._pointer, name.encode(), vec3(up, "up")))
            check(lib.tsr_fluid_adjust_sky(self._pointer, float(turn), float(level)))

    def panorama(self, rgb: "ArrayLike", up: Sequence[float] = (0, 0, 1)) -> None:
        """A panorama (height, width, 3) of linear light as the sky."""
        array = np.ascontiguousarray(rgb, np.float32)
        if array.ndim != 3 or array.shape[2] != 3:
            raise ValueError(f"rgb of shape {array.shape}, expected (height, width, 3)")
        planes = Volume(np.ascontiguousarray(np.moveaxis(array, 2, 0)))
        with self._owner.lock:
            check(lib.tsr_fluid_set_panorama(self._pointer, planes._pointer, vec3(up, "up")))

    def _particles(self, particles: Any, radius: Optional[float], radii: Any, densities: Any, velocities: Any, kept: list[Any]) -> Any:
        if not self._owner.on_host:
            raise TypeError("pictures of fluids from arrays need a context of the CPU: with tessera.Context('cpu')")
        if isinstance(particles, Points):
            points = particles if particles.on_host else particles.to("cpu")
            positions = points.positions
            radii = points.radii if radii is None and radius is None else radii
            if velocities is None:
                velocities = points.attribute("velocity")
        else:
            positions = rows(particles, 3, "particles", np.float32)
        made, held = _core.options("tsr_fluid_particles", {})
        made.count = len(positions)
        for name, array, width in (("positions", positions, 3), ("radii", radii, 0), ("densities", densities, 0), ("velocities", velocities, 3)):
            if array is None:
                continue
            values = rows(array, 3, name, np.float32) if width else np.ascontiguousarray(array, np.float32)
            if len(values) != len(positions):
                raise ValueError(f"{name}: {len(values)}, expected {len(positions)} as positions")
            kept.append(values)
            setattr(made, name, _floats(values))
        if radii is None and radius is None:
            raise ValueError("radius: expected one, or radii of the particles")
        made.radius = float(np.mean(np.asarray(radii))) if radius is None else float(radius)
        return made

    def agitate(self, particles: Any, seconds: float, *, velocities: Optional["ArrayLike"] = None, radius: float = 1.0, threshold: float = 1.0, cooling: float = 0.5) -> None:
        """Particles whose velocity changed by more than `threshold` since the frame before foam in the drawings that follow."""
        kept: list[Any] = []
        made = self._particles(particles, radius, None, None, velocities, kept)
        with self._owner.lock:
            check(lib.tsr_fluid_agitate(self._pointer, made, float(seconds), float(threshold), float(cooling)))

    def draw(
        self,
        particles: Any,
        camera: Camera,
        size: Sequence[int] = (640, 480),
        *,
        radius: Optional[float] = None,
        radii: Optional["ArrayLike"] = None,
        densities: Optional["ArrayLike"] = None,
        velocities: Optional["ArrayLike"] = None,
        look: Union[str, FluidLook] = "water",
        floor: Optional[Sequence[Sequence[float]]] = None,
        scenery: Optional[str] = None,
        shadow: bool = True,
        exposure: float = 0.0,
        **options: Any,
    ) -> Image:
        """A picture of particles.

        Parameters
        ----------
        particles : Points or array (n, 3)
        camera : Camera
        size : (width, height)
        radius, radii : float, or array (n,)
        look : name or FluidLook
            "water", "oil", "milk", "lava", "honey".
        floor : (lower, upper)
            Bounds of a checkered floor, or with scenery="room" of a corridor.
        **options
            smoother, iterations, resolution, layers, anisotropic, ..., as tsr_fluid_options.
        """
        kept: list[Any] = []
        made = self._particles(particles, radius, radii, densities, velocities, kept)
        width, height = two(size)
        backdrop, held = _core.options("tsr_fluid_backdrop", {})
        if floor is not None:
            lower, upper = floor
            backdrop.scenery = _core.enum("tsr_fluid_scenery", scenery or "floor")
            backdrop.bounds.lower, backdrop.bounds.upper = vec3(lower, "floor"), vec3(upper, "floor")
            if shadow and made.count:
                positions = np.frombuffer(ffi.buffer(made.positions, made.count * 12), np.float32).reshape(-1, 3)
                backdrop.shadow = 1
                backdrop.shadow_bounds.lower, backdrop.shadow_bounds.upper = vec3(positions.min(axis=0)), vec3(positions.max(axis=0))
        if isinstance(look, str):
            look = FluidLook.make(look, made.radius)
        info, held_too = _core.options("tsr_fluid_info", {})
        image = ffi.new("tsr_image *")
        values, held_more = _core.options("tsr_fluid_options", {"width": width, "height": height, **options})
        with self._owner.lock:
            check(lib.tsr_fluid_draw(self._pointer, made, camera._struct, backdrop, look._struct, values, info))
            check(lib.tsr_fluid_picture(self._pointer, float(exposure), image))
        self.info = _core.report(info)
        return Image._taken(image)

    def image(self, name: str) -> "Floats":
        """A pass of the last drawing: "color", "depth", "raw_depth", "surface", "thickness", "normal", "curvature", "noise", "foam" or "spray"."""
        which = _core.enum("tsr_fluid_image", name)
        shape = [ffi.new("int32_t *") for _ in range(3)]
        with self._owner.lock:
            check(lib.tsr_fluid_image_shape(self._pointer, which, *shape))
            width, height, channels = (int(s[0]) for s in shape)
            made = np.empty((height, width, channels) if channels > 1 else (height, width), np.float32)
            check(lib.tsr_fluid_download(self._pointer, which, _floats(made)))
        return made

    def __repr__(self) -> str:
        return "<tessera.Fluid>"
